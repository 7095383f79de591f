"""Corrections of what was said just before: "no, I meant Thursday", 不对，是周四, 不是三点，是四点."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from app.domain.extraction.candidates import Candidate
from app.domain.extraction.clauses import Clause
from app.domain.extraction.dating import dated
from app.domain.extraction.folding import folded
from app.domain.extraction.turns import Turn

_WRONG: Final = r"(?:说|写|打|搞|记|弄)错"
_SET_TO: Final = r"(?:改|换|调)(?:成|为|到|在|至)"
_CUE: Final = re.compile(
    r"(?:well|oh|ah|hmm|ok|but|and|,|\s)*(?:no(?! longer| more| one|body)|nope|"
    r"wait|sorry|actually|oops|correction|scratch that|i misspoke|my (?:mistake|"
    r"bad)|i was wrong|typo|i meant|i mean|"
    r"rather|not (?!only|just|sure)|it's|it is|make (?:that|it)|(?:it|that) should be|"
    r"不对|不是|(?:我|刚才|刚刚|前面|上面|哦|啊|,)*(?:说错|错了|口误|更正|纠正|"
    r"搞错|记错|写错|打错)|[^,，。我不]{2,10}?"
    + _WRONG
    + r"|(?:哦|其实|,)*应该是|(?:那就|那|就|还是|,)*"
    + _SET_TO
    + r")(?![a-z])"
)
_EN: Final = re.compile(
    r"(?:(?:no|nope|wait|sorry|actually|oops|correction|scratch that|i misspoke|"
    r"my mistake|my bad|i was wrong|typo|hmm|well|i said it wrong)[\s,.:;!-]+)*"
    r"(?P<meant>i meant(?: to say)?|i mean|i should have said|make (?:that|it)|"
    r"it's|it is|that's|that should be|it should be|should be|it was|the right one is)?\s*"
    r"(?:not (?P<before>[^,]{1,60}?)(?:,? but|,? it's|,) (?:but |rather |it's |"
    r"it is )?(?P<value>[^,]{1,60})|(?P<right>[^,]{1,60}?)(?:,? (?:and )?not (?P<wrong>[^,]{1,60})"
    r"|,? instead of (?P<instead>[^,]{1,60}))?)$"
)
_ZH: Final = re.compile(
    r"(?:(?:不对|不是|啊|哦|等等|等下|抱歉|不好意思|我?(?:刚才|刚刚|前面)?(?:说|"
    r"写|打|搞|记)错了|(?P<topic>[^,，。我]{2,10}?)" + _WRONG + r"了|错了|口误|更正(?:一下)?|纠正(?:一下)?)[,\s]*)*"
    r"(?:我(?:的意思|想说的?|指的)?|应该|其实|准确(?:地)?说|,)*"
    r"(?:(?<!不)不是(?P<before>[^,]{1,30}?),?(?:而|应该)?是(?P<value>[^,]{1,30})|"
    r"(?:是|(?:那就|那|就|还是)*" + _SET_TO + r")(?P<right>[^,]{1,30}?)吧?"
    r"(?:,?(?:而)?不是(?P<wrong>[^,]{1,30}))?)$"
)
_KINDS: Final = (
    re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|(?:周|星期|礼拜)[一二三四五六日天]"),
    re.compile(
        r"\b(?:january|february|march|april|may|june|july|august|september|october|"
        r"november|december) \d{1,2}(?:st|nd|rd|th)?\b|"
        r"[\d一二三四五六七八九十]{1,3}月[\d一二三四五六七八九十]{1,3}[日号]?"
    ),
    re.compile(
        r"\b\d{1,2}(?::\d\d)? ?(?:am|pm)\b|\b\d{1,2}:\d\d\b|"
        r"(?:上午|下午|早上|晚上)?[\d一二三四五六七八九十]{1,3}点(?:半|[\d一二三四五六七八九十]+分?)?"
    ),
    re.compile(r"(?<![\w-])(?:[a-z]{1,4}-?\d[\w-]*|\d+[a-z]{1,3}(?!\w))", re.ASCII),
    re.compile(r"(?<![\d.:-])\d[\d,.]*\d|(?<![\d.:-])\d(?![\d-])"),
)
_HALF: Final = re.compile(r"上午|下午|早上|晚上")
_STAMP: Final = re.compile(r" \(\d{4}[-\d to/]*\)|（\d{4}[-\d至/]*）")
_STATEMENT: Final = re.compile(r"(?:i|i'm|i've|we|we're|my|our)\b|我|咱|俺")
"""Begins what says by itself what is right."""

_SETS: Final = re.compile(
    r"(?:please )?(?:make|set|change|put|move) (?:it|that|(?:the|my|our) (?P<topic>[\w' -]{1,40}?))"
    r"(?: to| at| for| on)? |"
    r"(?:the|my|our) (?P<thing>[\w' -]{1,40}?) (?:is|was|are|were|costs?|should be)(?: in fact)? ",
    re.IGNORECASE,
)
_UNIT: Final = re.compile(r" ?(?!(?:a|per|an|and|or|in|on|at|for|of|to)\b)[^\W\d_]{1,12}", re.ASCII)
"""The word behind a number in English; a Chinese measure is written without a space, and read with the value."""

MOST_WORDS: Final = 6


def corrected(sentence: Clause, turn: Turn, earlier: Sequence[Candidate]) -> tuple[int, Candidate] | None:
    """What a correction makes of one of the candidates before it: its place, and the candidate that is right.

    Only the part of the same kind is replaced (a day by a day, a number by a number, the value by a value), or the one
    that the correction names; without such a part nothing is concluded.
    """
    told = f"{sentence.lead}{sentence.plain}"
    if not _CUE.match(told):
        return None
    match = (_ZH if sentence.chinese else _EN).fullmatch(sentence.plain)
    if match is None:
        return None
    groups = {name: match.span(name) for name, text in match.groupdict().items() if text}
    right = groups.get("value") or groups.get("right")
    wrong = groups.get("before") or groups.get("wrong") or groups.get("instead")
    if right is None or len(sentence.text[slice(*right)].split()) > MOST_WORDS:
        return None
    if _STATEMENT.match(sentence.plain[slice(*right)]):
        return None
    said_so = sentence.chinese or ("meant" in groups and sentence.plain.find("meant") >= 0)
    value = sentence.text[slice(*right)].strip(" ,，。.“”\"'")
    before = sentence.text[slice(*wrong)].strip(" ,，。.“”\"'") if wrong else None
    topic = sentence.plain[slice(*groups["topic"])] if "topic" in groups else None
    for place in range(len(earlier) - 1, -1, -1):
        old = earlier[place]
        if old.replaced or old.source != "user_stated" or (topic and topic not in folded(old.text)):
            continue
        part = _part(old, value, before, latest=said_so and place == len(earlier) - 1)
        if part is not None:
            return place, _with(old, *part, sentence, turn)
    return None


def _part(old: Candidate, value: str, before: str | None, *, latest: bool) -> tuple[tuple[int, int], str] | None:
    """Which part of an earlier candidate's text is wrong, and what stands there instead."""
    text = folded(_STAMP.sub("", old.text))
    if before is not None:
        place = text.find(folded(before))
        return ((place, place + len(before)), value) if place >= 0 else None
    for kind in _KINDS:
        new = kind.search(folded(value))
        if new is not None:
            found = [match.span() for match in kind.finditer(text)]
            begin = _begin(value[: new.start()], text)
            if len(found) != 1 or begin is None:
                return None
            if kind is _KINDS[-1]:
                return _with_unit(text, found[0], value[begin:], new.end() - begin)
            return _with_half(text, found[0], new.group()), value[begin:]
    if latest and old.value:
        place = text.find(folded(old.value))
        return ((place, place + len(old.value)), value) if place >= 0 else None
    return None


def _begin(lead: str, text: str) -> int | None:
    """Where the value begins behind "make the budget"; None where that is about something else than the text."""
    verb = _SETS.fullmatch(lead)
    if verb is None:
        return 0
    known = set(text.split())
    return len(lead) if all(word in known for word in folded(verb["topic"] or verb["thing"] or "").split()) else None


def _with_half(text: str, hour: tuple[int, int], new: str) -> tuple[int, int]:
    """The hour that is wrong; the half of the day before it stays, where the right one names none: 下午三点, 四点."""
    half = _HALF.match(text, hour[0])
    return (half.end(), hour[1]) if half is not None and not _HALF.match(new) else hour


def _with_unit(text: str, number: tuple[int, int], value: str, end: int) -> tuple[tuple[int, int], str]:
    """A number is put right together with its unit, where both have one: 900 euros, 950 dollars."""
    held = _UNIT.match(text, number[1])
    return ((number[0], held.end()) if held is not None and _UNIT.match(value, end) else number), value


def _with(old: Candidate, span: tuple[int, int], value: str, sentence: Clause, turn: Turn) -> Candidate:
    bare = _STAMP.sub("", old.text)
    wrong = bare[slice(*span)]
    times = dated(bare[: span[0]] + value + bare[span[1] :], turn)
    held = old.value.replace(wrong, value) if old.value and wrong in old.value else old.value
    return replace(
        old,
        text=times.text,
        seqs=(*(seq for seq in old.seqs if seq != turn.seq), turn.seq),
        quote=sentence.text,
        value=held,
        change="corrects",
        before=wrong,
        occurred_at=times.event if times.event and old.kind == "episodic" else turn.occurred_at,
        expires_at=times.expires_at,
    )
