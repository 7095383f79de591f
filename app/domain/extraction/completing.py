"""Clauses that say nothing without the one before them: contrasts, remarks, reasons; and what is said with a laugh."""

import re
from typing import Final

from app.domain.extraction.candidates import Candidate
from app.domain.extraction.clauses import Clause
from app.domain.keys import built_in

_CONTRAST_ZH: Final = re.compile(r"(?:别|不要|不用|而不是|不是)")
_HEADLESS: Final = re.compile(
    r".*(?:\b(?:that|this|so) (?:short|long|way|much|many|early|late|simple|small|big|often)|\bfor it .{2,30}|"
    r"\b(?:it|them|those|that one|this one))$|.{0,8}(?:喜欢|讨厌|想要|爱)(?:太)?.{1,2}的$|我(?:怕|嫌|懒|胃|忙).{1,4}$"
)
_REMARK: Final = re.compile(
    r"(?:my (?:stomach|back|head|skin|lips?|eyes?|throat|body|doctor)|(?:we|i) (?:got burned|learn(?:ed|t)(?: \w+)? the hard way)|"
    r"it(?:'s| is| was)|that(?:'s| is| was)|which|because|since|otherwise|too |so (?:that|it|they)\b)|"
    r"(?:上次|毕竟|反正|免得|省得|太|那样|这样|不然|否则|理由|原因|免|怕|好让)|.{0,8}(?:受不了|太累|太贵|太远|太慢|太麻烦|定的|起的|拍的板)$|"
    r".{1,6}才(?:有|能|行).{1,4}$"
)
_EXACT: Final = re.compile(r"\d|[a-z][_./@][a-z]")
MOST_CONTRAST: Final = 8
"""Characters of the longest 别…, that only says the opposite of what stands before it."""

_LAUGH: Final = re.compile(r"(?:\b(?:lol|lmao|rofl|ha(?:ha)+h?)|哈哈+|hhh+|233+)[\W_]*$")
_LAUGH_NEXT: Final = re.compile(r"[,，~\s]*(?:哈哈|hhh|233|lol\b)")
_LAUGHS_FIRST: Final = re.compile(r"(?:lol|lmao|rofl|wow|whoa|omg)\b")


def completes(clause: Clause, found: Candidate, before: Candidate, *, carried: bool) -> bool:
    """Whether what a rule knows belongs to the statement before it in its sentence.

    Args:
        clause: As it is written.
        found: What a rule makes of it.
        before: What its sentence has said before.
        carried: Whether its subject is that of the clause before.
    """
    plain = clause.plain
    if found.change is not None or before.replaced:
        return False
    if _HEADLESS.match(plain):
        return True
    if clause.chinese and _CONTRAST_ZH.match(plain) and len(plain) <= MOST_CONTRAST:
        return True
    keyed = found.key is not None and built_in(found.key) is not None and found.key != "preference.dislike"
    if keyed or _EXACT.search(plain):
        return False
    return bool(_REMARK.match(plain)) or (carried and clause.chinese and found.category in {"identity", "tool_config"})


def is_remark(clause: Clause, *, has_time: bool) -> bool:
    """Whether a clause that no rule knows only comments on the one before it."""
    return _REMARK.match(clause.plain) is not None and not has_time and not _EXACT.search(clause.plain)


def is_laughing(plain: str, after: str) -> bool:
    """Whether a folded sentence ends with a laugh, or one follows it directly: it need not be meant."""
    return _LAUGH.search(plain) is not None or _LAUGH_NEXT.match(after) is not None


def is_laughed_at(clause: Clause) -> bool:
    """Whether an exclamation stands before a clause: it reacts to what was said."""
    return _LAUGHS_FIRST.match(clause.lead) is not None
