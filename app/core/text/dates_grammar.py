"""Phrases of time in a text: what was found is joined ("March" with "last year") and related ("since")."""

import re
from dataclasses import dataclass, replace
from enum import Enum, auto
from itertools import pairwise
from typing import Final

from app.core.text import dates_en, dates_en_names, dates_holidays, dates_numeric, dates_zh, dates_zh_names
from app.core.text.dates import Cycle, Cyclic, Expression, Hours, Slot, Third, Token, third_of
from app.core.text.dates_fold import fold


class Relation(Enum):
    """How a phrase relates to the time it names."""

    IN = auto()
    SINCE = auto()
    AFTER = auto()
    BEFORE = auto()
    UNTIL = auto()


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase at [start, end) of a text; `last` is the end of a range from `first`.

    `listed` is true if an "and" binds it to the phrase before it.
    """

    start: int
    end: int
    first: Expression
    last: Expression | None = None
    relation: Relation = Relation.IN
    listed: bool = False


_NEAR: Final = re.compile(r"[\s,(]{0,3}(?:(?:of|in|on|during|the|'s?|的|在|，|、)\s?){0,3}", re.ASCII)
_FAR: Final = 40
_BREAK: Final = re.compile(r"[.!?;。！？；\n]")
_TO: Final = re.compile(
    r"\s{0,2}(?:(?:份|的)?[-~到至]|to|through|thru|until|till|up to)\s{0,2}(?:the\s|early\s|了)?", re.ASCII
)
_AND: Final = re.compile(r"\s{0,2}(?:and|&|和|与|跟|及)\s{0,2}(?:the\s|in\s|on\s)?", re.ASCII)
_LIST: Final = re.compile(
    r"\s{0,2}(?:,|，|、)?\s{0,2}(?:and|or|vs\.?|versus|和|与|跟|或|还有|以及|、)?\s{0,2}(?:in\s|on\s|the\s)?", re.ASCII
)
_FROM: Final = re.compile(r"(?:\bfrom|\bbetween|从|自)\s{0,2}(?:the\s|about\s|early\s)?$", re.ASCII)
_BETWEEN_AFTER: Final = re.compile(r"\s?(?:的)?(?:之间|期间|这段)")
_PREFIXES: Final = (
    (
        Relation.SINCE,
        re.compile(
            r"(?:\bever since|\bsince|\bstarting(?: in| on| from)?)\s(?:the\s|about\s|around\s)?$|自从?$", re.ASCII
        ),
    ),
    (
        Relation.BEFORE,
        re.compile(r"\b(?:before|prior to|earlier than|older than)\s(?:the\s)?$|(?:早于|先于)$", re.ASCII),
    ),
    (Relation.AFTER, re.compile(r"\b(?:after|later than|newer than)\s(?:the\s)?$|晚于$", re.ASCII)),
    (
        Relation.UNTIL,
        re.compile(r"\b(?:until|till|up until|up to|by|through)\s(?:the\s)?$|(?:截至|截止到?|直到)$", re.ASCII),
    ),
)
_FROM_ZH: Final = re.compile(r"(?<![自服听])从$")
_SPANNING: Final = re.compile("[-~到至]")
_SUFFIXES: Final = (
    (
        Relation.SINCE,
        re.compile(
            r"以来|起(?!来|床|飞|身|码|草|诉|点|初)|开始|至今|到现在|到今天|\s?(?:onwards?|up to now)\b", re.ASCII
        ),
    ),
    (
        Relation.BEFORE,
        re.compile(r"之前|以前|前(?!半|几|两|三|期|往|面|台|后|来|天|端|夫|女友|男友|任|辈|线|景|妻|年|一|往)"),
    ),
    (Relation.AFTER, re.compile(r"之后|以后|后(?!来|面|天|悔|台|端|续|半|期|果|代|勤|院|备|排|背|年|一)")),
    (Relation.UNTIL, re.compile(r"为止")),
)
_LOOK_BACK: Final = 24


def phrases(text: str) -> list[Phrase]:
    """The phrases of time in a text in their order, apart from one another. Total, and linear in the length."""
    folded = fold(text)
    tokens = _joined(_apart(_tokens(folded, text)), folded)
    return _related(tokens, folded)


def _tokens(folded: str, text: str) -> list[Token]:
    tokens: list[Token] = []
    if dates_en.TRIGGER.search(folded):
        tokens += [*dates_en.find(folded), *dates_en_names.find(folded, text), *dates_numeric.find(folded)]
    if not folded.isascii() and dates_zh.TRIGGER.search(folded):
        tokens += [*dates_zh.find(folded), *dates_zh_names.find(folded)]
    return [*tokens, *dates_holidays.find(folded)]


def _apart(tokens: list[Token]) -> list[Token]:
    """The first of those that overlap, of two from one place the longer."""
    kept: list[Token] = []
    for token in sorted(tokens, key=lambda token: (token.start, -token.end, token.weak)):
        if not kept or token.start >= kept[-1].end:
            kept.append(token)
    return kept


def _joined(tokens: list[Token], folded: str) -> list[Token]:
    joined: list[Token] = []
    for token in tokens:
        gap = folded[joined[-1].end : token.start] if joined and token.start - joined[-1].end <= _FAR else None
        both = None if gap is None else _join(joined[-1], gap, token)
        if both:
            joined[-1] = both
        else:
            joined.append(token)
    return joined


def _join(first: Token, gap: str, second: Token) -> Token | None:
    near = _NEAR.fullmatch(gap) is not None
    value: Expression | None = None
    match first.value, second.value:
        case Third(index), Cyclic() as whole if near or gap == "-":
            value = third_of(whole, index)
        case (Cyclic() as one, Hours(start, end)) | (Hours(start, end), Cyclic() as one) if near:
            value = _at(one, (start, end))
        case Cyclic() as one, Cyclic() as other if near:
            value = _within(one, other) or _within(other, one) or _dated(one, other)
        case Cyclic() as one, Cyclic() as other if not _BREAK.search(gap):
            value = None if one.cycle is Cycle.DAY else _within(one, other)
        case _:
            pass
    return Token(first.start, second.end, value) if value else None


def _at(value: Cyclic, hours: tuple[int, int]) -> Cyclic | None:
    is_a_day = value.slot.long_days == 1 and value.hours is None
    return replace(value, hours=hours) if is_a_day else None


def _within(outer: Cyclic, inner: Cyclic) -> Cyclic | None:
    """The slot of `inner` in the turn that `outer` says: March in last year, the 7th in last month."""
    if not inner.floating or inner.whole:
        return None
    if outer.whole and outer.cycle is inner.cycle and not outer.floating:
        return replace(inner, offset=outer.offset, year=outer.year)
    if inner.cycle is Cycle.MONTH and outer.cycle is Cycle.YEAR and outer.slot.long_months == 1:
        slot = Slot(outer.slot.months, inner.slot.days, 0, inner.slot.long_days)
        return replace(outer, slot=slot, hours=inner.hours)
    return None


def _dated(one: Cyclic, other: Cyclic) -> Cyclic | None:
    """Of a date and the name of its day beside it, the date."""
    for date, name in ((one, other), (other, one)):
        if date.cycle is Cycle.YEAR and date.slot.long_days == 1 and name.cycle is Cycle.WEEK and name.floating:
            return date
    return None


def _related(tokens: list[Token], folded: str) -> list[Phrase]:
    found: list[Phrase] = []
    place = 0
    while place < len(tokens):
        token = tokens[place]
        after = tokens[place + 1] if place + 1 < len(tokens) else None
        phrase = _range(token, after, folded) if after else None
        place += 2 if phrase else 1
        phrase = phrase or _single(token, folded)
        if phrase:
            found.append(phrase)
    return _listed(found, folded)


def _range(first: Token, last: Token, folded: str) -> Phrase | None:
    if not (isinstance(first.value, Expression) and isinstance(last.value, Expression)):
        return None
    gap = folded[first.end : last.start] if last.start - first.end <= _FAR else "."
    before = _before(_FROM, first, folded)
    by_and = _AND.fullmatch(gap) and (
        _BETWEEN_AFTER.match(folded, last.end) or (before and before[0].startswith("between"))
    )
    if not (by_and or _TO.fullmatch(gap)) or (first.weak and not before):
        return None
    after = _BETWEEN_AFTER.match(folded, last.end)
    return Phrase(
        before.start() if before else first.start, after.end() if after else last.end, first.value, last.value
    )


def _single(token: Token, folded: str) -> Phrase | None:
    if token.weak or not isinstance(token.value, Expression):
        return None
    for relation, pattern in _SUFFIXES:
        if after := pattern.match(folded, token.end):
            before = _before(_FROM, token, folded)
            return Phrase(before.start() if before else token.start, after.end(), token.value, None, relation)
    for relation, pattern in _PREFIXES:
        if before := _before(pattern, token, folded):
            return Phrase(before.start(), token.end, token.value, None, relation)
    before = _before(_FROM_ZH, token, folded)
    if before and folded[token.end : token.end + 1] != "的" and not _SPANNING.search(folded, token.start, token.end):
        return Phrase(before.start(), token.end, token.value, None, Relation.SINCE)
    return Phrase(token.start, token.end, token.value)


def _before(pattern: re.Pattern[str], token: Token, folded: str) -> re.Match[str] | None:
    return pattern.search(folded, max(0, token.start - _LOOK_BACK), token.start)


def _listed(found: list[Phrase], folded: str) -> list[Phrase]:
    if not found:
        return []
    bound = [
        second.start - first.end <= _LOOK_BACK and _LIST.fullmatch(folded, first.end, second.start) is not None
        for first, second in pairwise(found)
    ]
    return [replace(phrase, listed=listed) for phrase, listed in zip(found, [False, *bound], strict=True)]
