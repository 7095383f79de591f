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
    r"(?:my (?:stomach|back|head|skin|lips?|eyes?|throat|body|doctor)|(?:we|i) (?:got burned|learn(?:ed|"
    r"t)(?: \w+)? the hard way)|"
    r"it(?:'s| is| was)|that(?:'s| is| was)|which|because|since|otherwise|too |so (?:that|it|they)\b)|"
    r"(?:上次|毕竟|反正|免得|省得|太|那样|这样|不然|否则|理由|原因|免|怕|好让)|.{0,8}(?:受不了|太累|太贵|太远|太慢|"
    r"太麻烦|定的|起的|拍的板)$|"
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


_IMPERATIVE: Final = re.compile(
    r"(?:please |and |but |also |just |then )*(?:don't|do not|no|never|avoid|keep|make|use|without|max|under|only|"
    r"stick|write|start|end|add|"
    r"skip|leave|put)\b|(?:请|也|但|都|尽量|最好|,)*(?:不要|别|不用|不能|语气|控制在|字数|用|标题|格式|加上?|写得?|"
    r"结尾|开头)"
)
_STANDING: Final = re.compile(
    r"\b(?:always|from now on|every time|each time|whenever|in (?:the )?future|going forward|generally|by default|"
    r"for me|ever)\b|"
    r"以后|今后|每次|永远|一律|一直|凡是|从现在|平时|都用|都要"
)
_COMMON: Final = re.compile(
    r"[\w .+#-]{2,30}?(?:'s)? (?:default |runs on |listens on |uses ).{1,40}\bby default$|"
    r"(?!my |our )[a-z][\w.+-]*(?:'s)? default \w+ is\b|"
    r"(?:the )?(?:ceo|president|capital|founder|author|king|queen|population|inventor) of (?!our|my|the (?:company|"
    r"team|project))[a-z ]{2,30} (?:is|was)\b|"
    r"to \w+ an? [\w ]{2,30},? you (?:run|need|use|have|can)\b|[\w .]{2,20} is (?:in|before|after|part of|"
    r"located in) (?:europe|asia|africa|[a-z]+day)\b|"
    r"[a-z][\w .+-]{1,20}(?:的)?默认(?:编码|端口|值|配置|版本)(?:是|为)|.{2,8}的(?:ceo|首都|总统|创始人|作者|"
    r"发明者)是|部署.{2,12}应用要|"
    r"(?:所有)?人都|一般人|.{1,8}(?:光速|公里每小时)|(?:the )?deadline for taxes|.{0,4}报税"
)


def is_of_the_task(clause: Clause) -> bool:
    """Whether a clause beside a request says how that is to be done, and not how everything is."""
    return _IMPERATIVE.match(clause.plain) is not None and _STANDING.search(clause.plain) is None


def is_common_knowledge(plain: str) -> bool:
    """Whether a folded clause tells what anybody can look up."""
    return _COMMON.match(plain) is not None


def is_laughing(plain: str, after: str) -> bool:
    """Whether a folded sentence ends with a laugh, or one follows it directly: it need not be meant."""
    return _LAUGH.search(plain) is not None or _LAUGH_NEXT.match(after) is not None


def is_laughed_at(clause: Clause) -> bool:
    """Whether an exclamation stands before a clause: it reacts to what was said."""
    return _LAUGHS_FIRST.match(clause.lead) is not None
