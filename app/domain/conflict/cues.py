"""Words that say that something changed, ended, was wrong, is one more, or is only planned."""

import re
from typing import Final

from app.core.text.normal import normalise
from app.domain.conflict.quantities import with_digits
from app.domain.extraction.candidates import Change

LONGEST: Final = 2_000
"""Characters of a text that are read for cues."""

_CORRECTS: Final = re.compile(
    r"\b(?:mis(?:spoke|said|typed|remembered|heard|stated)|i meant|meant to say|correction|corrected|"
    r"(?:was|were|is|be) (?:wrong|mistaken|a mistake|an error|incorrect)|by mistake|my mistake|typo|"
    r"got (?:it|that) wrong|wrongly|misunderstanding|mis(?:took|read|labelled)|mixed (?:\w+ ){0,3}?up|mix-?up|"
    r"confused (?:things|it|them|the)|(?:was|were|has|have) never(?! been to)\b|"
    r"never (?:actually )?(?:was|were|had been)|never (?:actually )?\w+ed\b[^.]{1,40}, (?:it|that|they)(?: was| is|"
    r"['’]s)\b|"
    r"^\W*actually\b|\bnot (?:an? |the )?[\w .'-]{1,40}?, (?:it|that|they)(?: is|['’]s| are)\b|"
    r"not (?:in |on |at |to |from )?[\w .'-]{1,40}?,? but (?:rather )?(?!not\b|also\b|only\b|still\b)|"
    r"actually\b(?=.*\bnot\b)|not\b.*\bactually|rather than\b.*\bas (?:said|stated))"
    r"|(?:记|说|搞|写|弄|听|打|讲|填|认)错|[搞弄记][混反]|误会|误解|从来?没有?[当做是住在叫]过?|并[不非]|更正|"
    r"纠正|口误|笔误|有误|不对[,，:：]|"
    r"(?:不是|并非)[^,，。;；]{1,20}(?:[,，][^,，。;；]{0,8}?)?(?:而是|是)(?!否)|其实(?:不是|是)|^\W*(?:其实|"
    r"实际上)|应该是|才对"
)
_GIVES_WAY: Final = re.compile(
    r"\b(?:(?:moved|moving|relocated|switch(?:ed|es)?|chang(?:ed|es)|migrated|converted|went|gone|grew|grown|"
    r"rose|risen|raised|fell|fallen|dropped|increased|decreased|lowered|cut|reduced|upgraded|downgraded|renamed|"
    r"promoted|"
    r"transferred|shifted|postponed|pushed|rescheduled|delayed|extended|brought forward|turned over)"
    r"(?:\s\w+){0,3}?\s(?:to|into|in|until|back to)\b|moved from|"
    r"(?:has |have |had )?(?:joined|become|became)\b|turned \d|(?:down|up) to \d|instead(?: of)?\b|replac(?:es|ed|"
    r"ing)\b|"
    r"in place of|took over from|gave way to|no longer\b.*\bbut\b|from \S+(?: \S+)? to\b)"
    r"|改成|改为|改用|改到|调[高低整][到至为成]|(?:追加|放宽|缩短|压缩|扩大)[到至为成]|改在|改去|改喝|改吃|改学|"
    r"改做|改名|改叫|改由|搬到|搬去|搬进|搬回|搬来|换成|换到|换用|换为|"
    r"换去|换了|迁移?[到至]|跳槽[到去]|[涨升降跌增减长调转变提延推挪][到至为成]|[推延]迟到|提前到|升级[到为]|"
    r"升[任职]|变成|变为|转[用去]|取代|代替|替换|[满刚]\d+岁|从.{1,12}[到换改迁转]"
)
_ADDS: Final = re.compile(
    r"\b(?:also|as well(?: as)?|too|in addition|additionally|another|besides|besides that|on top of)\b"
    r"|[也还又](?!是不)|另外|此外|同时|除了|再加|以及"
)
_NOW: Final = re.compile(
    r"\b(?:change of plans?|now|nowadays|these days|from now on|currently|as of|lately|since (?:last|this)|going "
    r"forward|new)\b"
    r"|现在|如今|目前|今后|以后|从今|最近|眼下|这阵子|新的"
)
_ENDS: Final = re.compile(
    r"\b(?:no longer|any ?more|any longer|stopped|stops|quit|quits|gave up|given up|gives up|has ended|ended|"
    r"is over|are over|passed away|died|has died|cancel(?:l?ed|s)|called off|lifted|revoked|abolished|withdrawn|"
    r"sold|broke up|got rid of|dropped|used to|formerly|previously|abandoned|finished|"
    r"retired|(?:has |have )?left|resigned|divorced|deleted|uninstalled|scrapped|expired|outgrew|outgrown|"
    r"(?:fell|fallen|falls) through|(?:is|are|was|were) off(?=[,.;!]|$)|"
    r"(?:not|n['’]t) (?:happening|going ahead|happen)|not .{1,40}\bnow|"
    r"gone off|went off|(?:lost|no) interest in|cured|recovered|healed|ceased|no more)\b"
    r"|不再|再也[不没]|已经?[不没]|戒(?:[了掉]|[烟酒赌糖])|[卖丢送扔][了掉]|取消|停[止用办了]|[辞离]职|退出|退役|"
    r"放弃|结束|去世|过世|"
    r"泡汤|黄了|[去办成]不[成了]了?|退[了掉]?[机车船门]?票|[听看吃喝玩]腻了?|离世|死了|走了|分手|离婚|曾经?|以前|从前|过去|作废|废除|废止|解除|撤销|失效|卸载|康复|痊愈|治好|好了|"
    r"不[^,，。]{1,12}了|没有?[^,，。]{1,12}了|离开"
)
_TENTATIVE: Final = re.compile(
    r"\b(?:plans?|planning|hopes?|hoping|wants?|wanting|would like|would love|may|might|maybe|perhaps|"
    r"consider(?:s|ing)?|thinking (?:of|about)|dreams? of|will|going to|intends?|if|wonder(?:s|ing)?|"
    r"about to|looking (?:for|into)|interested in|considered|tempted|one day|someday)\b"
    r"|打算|计划|希望|考虑|想[要去搬换学买试]|可能|也许|或许|要是|如果|假如|准备|将要|即将|有意|将来"
)
_BY_NEGATION: Final = re.compile(
    r"\b(?:no longer|any ?more|any longer|no more|not)\b|n['’]t\b|不再|再也[不没]|已经?[不没]|[不没][^,，。]{1,12}了"
)
_BY_WORD: Final = re.compile(
    r"\b(?:stopp?(?:ed|s)|quits?|gave up|given up|ended|cancel(?:l?ed|s)|called off|lifted|revoked|abolished|"
    r"withdrawn|dropped|scrapped|expired|(?:fell|fallen|falls) through|off(?=[,.;!]|$)|"
    r"(?:not|n['’]t) (?:happening|going ahead|happen))\b|泡汤|黄了|[去办成]不[成了]了?|"
    r"退[了掉]?[机车船门]?票|取消|停止|放弃|结束|作废|废除|解除|撤销|失效|戒[了掉烟酒赌糖]"
)
_BEFORE: Final = re.compile(
    r"\b(?:instead of|in place of|rather than|replac(?:es|ed|ing)) (?P<a>[\w .+#'-]{1,40}?)"
    r"(?= from now| now| with| by| these|[,.;]|$)"
    r"|\bfrom (?P<b>[\w .+#'-]{1,40}?) to\b"
    r"|\bnot (?:in |on |at )?(?P<c>[\w .+#'-]{1,40}?),? but\b"
    r"|,? not (?:in |on |at |an? |the )?(?P<d>[\w .+#'-]{1,40}?)(?=[,;!]|\.?$)"
    r"|[把将](?P<e>.{1,16}?)(?:换|改|变|替换|升级|迁移)[成为到]"
    r"|从(?P<f>.{1,16}?)(?:换|改|搬|迁|转|跳槽|升|降|涨|变)[成为到至了]?"
    r"|(?:不是|并非)(?P<g>[^,，。;；]{1,20}?)[,，]"
    r"|不再?(?P<i>[^,，。]{1,12})了[,，]"
    r"|用.{1,16}?(?:代替|取代|替换)了?(?P<h>[^,，。]{1,16})"
)
_PAST: Final = re.compile(r"\b(?:used to|formerly|previously|once)\b|曾经?|以前|从前|过去")


def change_of(text: str, *, has_value: bool | None = None) -> Change | None:
    """What a text says about what was known before, by its words; None where it says nothing of the kind.

    Args:
        text: A sentence.
        has_value: Whether it brings a new value; None where this is not known.
    """
    plain = _plain(text)
    ends = _ENDS.search(plain) is not None
    if _CORRECTS.search(plain):
        return "corrects"
    if _GIVES_WAY.search(plain) and has_value is not False:
        return "replaces"
    if ends and has_value and _NOW.search(plain) and not _PAST.search(plain):
        return "replaces"
    if ends and (not _ADDS.search(plain) or _BY_NEGATION.search(plain)):
        return "ends"
    if _ADDS.search(plain):
        return "adds"
    return "replaces" if _NOW.search(plain) else None


def is_tentative(text: str) -> bool:
    """Whether it is only planned, wished or possible."""
    return _TENTATIVE.search(_plain(text)) is not None


def ends_by_negation(text: str) -> bool:
    """Whether it ends something by denying it (no longer, 不再), not by a word for the end (cancelled, 取消)."""
    plain = _plain(text)
    return _BY_NEGATION.search(plain) is not None and _BY_WORD.search(plain) is None


def before_of(text: str) -> str | None:
    """What a sentence says was so before, as it stands there: "from A to B", "instead of A", 把 A 换成 B; else None."""
    match = _BEFORE.search(_plain(text))
    return None if match is None else next(group for group in match.groups() if group is not None).strip()


def denied_of(text: str) -> str | None:
    """What a sentence denies in favour of something else: "not A but B", "B, not A", 不是 A，是 B; else None."""
    match = _BEFORE.search(_plain(text))
    if match is None:
        return None
    found = match["c"] or match["d"] or match["g"]
    return None if found is None else found.strip()


def _plain(text: str) -> str:
    return with_digits(normalise(text[:LONGEST]))
