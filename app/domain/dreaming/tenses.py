"""From what is to come to what has been: plans whose day is over, in Chinese and English. By rule; pure."""

import re
from collections.abc import Mapping
from typing import Final

_WENT_ON: Final = "去到飞看听吃见考住参观办"
_WITH_GUO: Final = re.compile(
    rf"(参加|拜访|访问|看望|参观|飞往|前往|出席|考察|体检|面试|出差|旅行|旅游|开会|见面|聚餐|上(?=[课班学台任岗])|[{_WENT_ON}])"
    rf"(?![过了{_WENT_ON}])"
)
_WITH_LE: Final = re.compile(
    r"(搬到|搬去|搬家|入职|离职|结婚|毕业|退休|转到|换到|买下|开始|完成|提交|上线|发布|启动)(?![过了])"
)
_WILL_ZH: Final = re.compile(
    r"(?:^|(?<=^[我他她您])|(?<=^[我咱他她]们)|(?<=^用户))[要将会](?![议员面见])|计划|打算|准备|将要|即将|将会|想要"
)
_WILL_AT_END: Final = re.compile(r"(?:计划|打算|准备|将要|即将|将会|想要|[要将会])\s*$")
_PARTED: Final = re.compile(r"(开|见|聚|出|考|体|结)(会|面|餐|差|试|检)(?![了过])")

_PAST_OF: Final[Mapping[str, str]] = {
    "be": "was", "begin": "began", "bring": "brought", "buy": "bought", "catch": "caught", "choose": "chose",
    "come": "came", "do": "did", "drive": "drove", "eat": "ate", "fly": "flew", "get": "got", "give": "gave",
    "go": "went", "have": "had", "hold": "held", "leave": "left", "make": "made", "meet": "met", "pay": "paid",
    "read": "read", "ride": "rode", "run": "ran", "see": "saw", "sell": "sold", "send": "sent", "sing": "sang",
    "speak": "spoke", "spend": "spent", "swim": "swam", "take": "took", "teach": "taught", "tell": "told",
    "think": "thought", "travel": "travelled", "visit": "visited", "wear": "wore", "write": "wrote",
    "present": "presented", "submit": "submitted", "start": "started", "quit": "quit", "set": "set", "plan": "planned",
}  # fmt: skip
_PAST_FORM: Final = re.compile(
    rf"\b(?:{'|'.join(sorted({one for one in _PAST_OF.values() if one not in _PAST_OF}))})\b|\(past\)|（已过）"
)
_DETERMINER: Final = r"(?:the|a|an|my|his|her|their|our|this|that)\b"
_WILL_EN: Final = re.compile(
    r"\b(?:will|shall|(?:(?:is|am|are) )?(?:going to|planning to|due to|about to|scheduled to|set to|supposed to)|"
    rf"plans? to|intends? to|hopes? to|wants? to|needs? to|has to|have to|must) (?!{_DETERMINER})([a-z]+)\b"
)
_IS_DOING: Final = re.compile(r"(?:\b(?:is|am|are) |(?<=\w)['’](?:m|s|re) )([a-z]{2,20}ing)\b")
_DOING: Final = re.compile(r"^([A-Z]?[a-z]{1,20}ing)\b(?= )")
_SIMPLE: Final = re.compile(
    r"\b(has|have|is|are|am|goes|flies|leaves|moves|starts|begins|meets|visits|travels|takes|gives|runs|presents|attends)\b"
)
_SIMPLE_PAST: Final[Mapping[str, str]] = {
    "has": "had", "have": "had", "is": "was", "are": "were", "am": "was", "goes": "went", "flies": "flew",
    "leaves": "left", "moves": "moved", "starts": "started", "begins": "began", "meets": "met", "visits": "visited",
    "travels": "travelled", "takes": "took", "gives": "gave", "runs": "ran", "presents": "presented",
    "attends": "attended",
}  # fmt: skip


def past_zh(text: str) -> str:
    """What stands behind the date in a Chinese plan as what was done: 去新加坡 becomes 去过新加坡."""
    plain = _WILL_ZH.sub("", text, count=1)
    if plain.startswith("有"):
        return f"有过{plain[1:]}"
    found = _PARTED.search(plain)
    if found is not None and _WITH_LE.search(plain) is None and not _WITH_GUO.search(plain[: found.start()]):
        return f"{plain[: found.end(1)]}过{plain[found.start(2) :]}"
    for verbs, mark in ((_WITH_LE, "了"), (_WITH_GUO, "过")):
        found = verbs.search(plain)
        if found is not None:
            return f"{plain[: found.end()]}{mark}{plain[found.end() :]}"
    return f"{text}（已过）" if text[-1:] not in "。！!." else f"{text[:-1]}（已过）{text[-1]}"


def without_will(head: str) -> str:
    """What stands before the date, without a word for the future at its end: 用户打算."""
    return _WILL_AT_END.sub("", head).rstrip()


def is_past(text: str) -> bool:
    """Whether one of the past forms that are made here stands in a text."""
    return _PAST_FORM.search(text) is not None


def past_en(text: str) -> str:
    """The same in English: "Going to Singapore" becomes "Went to Singapore"."""
    for pattern in (_WILL_EN, _IS_DOING):
        found = pattern.search(text)
        if found is not None:
            verb = found.group(1)
            past = _of_doing(verb) if pattern is _IS_DOING else _of_base(verb)
            gap = " " if found.group(0)[0] in "'’" else ""
            return _begun(f"{text[: found.start()]}{gap}{past}{text[found.end() :]}", text)
    found = _DOING.search(text)
    if found is not None:
        return _begun(f"{_of_doing(found.group(1).lower())}{text[found.end() :]}", text)
    found = _SIMPLE.search(text)
    if found is not None:
        return f"{text[: found.start()]}{_SIMPLE_PAST[found.group(1)]}{text[found.end() :]}"
    return f"{text} (past)" if text[-1:] not in ".!" else f"{text[:-1]} (past){text[-1]}"


def _begun(text: str, before: str) -> str:
    """A sentence begins as it did: with a capital letter, if it had one."""
    return text[:1].upper() + text[1:] if before[:1].isupper() else text


def _of_base(verb: str) -> str:
    known = _PAST_OF.get(verb)
    if known is not None:
        return known
    if verb.endswith("e"):
        return f"{verb}d"
    return f"{verb[:-1]}ied" if re.search(r"[^aeiou]y$", verb) else f"{verb}ed"


def _of_doing(verb: str) -> str:
    stem = verb[:-3]
    for base in (stem, f"{stem}e", stem[:-1] if len(stem) > 2 and stem[-1:] == stem[-2:-1] else stem):  # noqa: PLR2004 - a doubled letter
        if base in _PAST_OF:
            return _PAST_OF[base]
    return f"{stem}ed"
