"""Sentences that a later one has overtaken: what was so is not told as if it were."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

from app.core.text.normal import normalise
from app.core.text.tokens import tokens
from app.domain.conflict.cues import change_of, is_tentative
from app.domain.conflict.deciding import decide
from app.domain.conflict.quantities import quantities, with_digits
from app.domain.conflict.statements import Statement
from app.domain.extraction.clauses import sentences_of
from app.domain.summary.sentences import Sentence

_OVERTAKEN: Final = frozenset({"supersede", "correct", "retract", "contradict"})
_STEADY: Final = frozenset({"system", "question", "result"})
_CHANGING: Final = """
change changed raise raised increase lower lowered move moved update updated set go went switch switched postpone
postponed extend extended cut reduce reduced now new actually instead please let make correction
改 改成 改为 改到 改用 换 换成 提高 提高到 降低 降 涨 调整 调整为 推迟 提前 更新 现在 最新 新 其实
更正 变成 定 定为 变 改在 上调 下调
"""
_OF_CHANGE: Final = frozenset(token for word in _CHANGING.split() for token in (word, *tokens(word)))
_CUE: Final = re.compile(
    r"\b(?:raised?|lower(?:ed)?|increased?|decreased?|cut|reduced?|bump(?:ed)?|moved?|changed?|set|push(?:ed)?|extend(?:ed)?|"
    r"postponed?|switch(?:ed)?|renamed?|update[sd]?)\b.{0,40}?\bto\b|\b(?:is|are) now\b|"
    r"\bmake (?:it|that|the|our|my)\b.{0,40}?\d"
    r"|(?:提高|提升|增加|上调|下调|降低|减少|加|减|降|涨|调整?|缩减|延长|推迟|提前|更新|改|换|搬|移)(?:到|至|成|为|在|用)|现在[是为]"
)
_IS: Final = re.compile(r"\b(?:is|are|was|will be)\b|[=:：]|[是为叫]|[定设]在|改(?:到|至|成|为|在)")
TELLING: Final = 4
"""Words of a sentence by which others are found that may overtake it, from the rarest."""

MOST_ALIKE: Final = 24
MOST_OF_A_VALUE: Final = 4
"""Words of what a short statement says of its subject: only there a new value without figures takes its place."""

_ZERO: Final = datetime(2000, 1, 1, tzinfo=UTC)


def without_overtaken(
    sentences: Sequence[Sentence], later: Sequence[Sentence] = (), settled: Collection[Sentence] = ()
) -> list[Sentence]:
    """The sentences that no later one of theirs, or of `later`, has made history, in their order."""
    return [one for one in still_true(sentences, later, settled) if one is not None]


def still_true(
    sentences: Sequence[Sentence], later: Sequence[Sentence] = (), settled: Collection[Sentence] = ()
) -> list[Sentence | None]:
    """What is left of each sentence: None of one that a later one, or one of `later`, has made history.

    The last word holds: within one conversation the newer of two statements that cannot both be true is current. It
    matters as much as what it took the place of. Of a sentence with several clauses those stay that nobody took back.
    Those that are `settled` were held against each other before, and are not again.
    """
    every = [*sentences, *later]
    known = frozenset(place for place, one in enumerate(sentences) if one in settled) if settled else frozenset[int]()
    spoken: dict[str, list[int]] = {}
    for place, one in enumerate(every):
        if one.sort not in _STEADY and one.role != "tool":
            for word in _words(one.text):
                spoken.setdefault(word, []).append(place)
    heirs: dict[int, float] = {}
    left: list[Sentence | None] = list(sentences)
    for place, one in enumerate(sentences):
        near = () if one.sort in _STEADY else sorted(_near(one, spoken))
        for other in near if place not in known else (other for other in near if other not in known):
            now = left[place]
            if now is not None and _after(every[other], one) and overtakes(every[other].text, now.text):
                left[place] = _rest(every[other].text, now)
                heirs[other] = max(heirs.get(other, 0.0), one.score, heirs.get(place, 0.0))
    return [
        one if one is None or place not in heirs else replace(one, score=max(one.score, heirs[place]))
        for place, one in enumerate(left)
    ]


def _rest(new: str, old: Sentence) -> Sentence | None:
    """The clauses of a sentence that a newer one leaves as they are; None where it takes all of it."""
    clauses = [clause for sentence in sentences_of(old.text) for clause in sentence]
    kept = [clause.text for clause in clauses if not overtakes(new, clause.text)]
    if len(kept) == len(clauses) or not any(len(_words(text)) > 1 for text in kept):
        return None
    return replace(old, text=", ".join(kept) if old.text.isascii() else "，".join(kept))


def _near(one: Sentence, spoken: Mapping[str, Sequence[int]]) -> set[int]:
    """The sentences that may be about the same: those that share one of its rarer words.

    What all of them have in common tells none from another; a long list of one form is not compared each with each.
    """
    shared = sorted((spoken[word] for word in _words(one.text) if len(spoken.get(word, ())) > 1), key=len)
    telling = [places for places in shared[:TELLING] if len(places) <= MOST_ALIKE] or shared[:1]
    return {place for places in telling for place in places}


def _after(other: Sentence, one: Sentence) -> bool:
    return other.from_seq > one.to_seq and not (one.sort == "constraint" and other.role == "assistant")


@lru_cache(maxsize=16_384)
def overtakes(new: str, old: str) -> bool:
    """Whether a later statement makes an earlier one history."""
    said, stored = _words(new), _words(old)
    if not said & stored:
        return False
    if says_change(new) and not is_tentative(old):
        topic = said - _OF_CHANGE
        if _other_figure(new, old):
            return bool(topic) and (topic <= stored or stored - _OF_CHANGE <= topic)
        if _renames(new, old):
            return True
    elif not _could_contradict(new, old):
        return False
    decision = decide(_statement(new, 1), _statement(old, 0), similarity=None, multivalued=False)
    return decision.verdict in _OVERTAKEN


def _could_contradict(new: str, old: str) -> bool:
    """Whether one without a word of change may be about the same: it shares half of its words and all but one figure.

    A row of orders, each with its number and its price, is no row of contradictions.
    """
    said, stored = _words(new), _words(old)
    if 2 * len(said & stored) < min(len(said), len(stored)) or change_of(new) == "ends":
        return change_of(new) == "ends"
    fresh = {token for token, _ in _figures(new)} - {token for token, _ in _figures(old)}
    return len(fresh) <= 1


def _other_figure(new: str, old: str) -> bool:
    """Whether both have a figure of one sort, and it is another one."""
    said, stored = _figures(new), _figures(old)
    return any(sort == other and token != held for token, sort in said for held, other in stored) and not {
        token for token, _ in said
    } <= {token for token, _ in stored}


@lru_cache(maxsize=4_096)
def _figures(text: str) -> frozenset[tuple[str, str]]:
    return frozenset((one.token, one.sort) for one in quantities(with_digits(normalise(text))))


@lru_cache(maxsize=4_096)
def _words(text: str) -> frozenset[str]:
    """What it is about: its words without figures and units."""
    plain = with_digits(normalise(text))
    bare = list(plain)
    for one in quantities(plain):
        bare[one.start : one.end] = " " * (one.end - one.start)
    return frozenset(token for token in tokens("".join(bare)) if not token.isdigit())


@lru_cache(maxsize=4_096)
def says_change(text: str) -> bool:
    """Whether a sentence says that something has a new value."""
    return _CUE.search(normalise(text)) is not None or change_of(text) in {"replaces", "corrects"}


def _renames(new: str, old: str) -> bool:
    """Whether a subject that was said to be one thing is said to have become another: 会议室改为红枫厅."""
    plain = normalise(new)
    cue, copula = _CUE.search(plain), _IS.search(normalise(old))
    if cue is None or copula is None:
        return False
    subject, value = _words(plain[: cue.start()]) - _OF_CHANGE, _words(plain[cue.end() :]) - _OF_CHANGE
    held = normalise(old)
    about, was = _words(held[: copula.start()]) - _OF_CHANGE, _words(held[copula.end() :]) - _OF_CHANGE
    return bool(subject) and subject == about and bool(value - was) and len(was) <= MOST_OF_A_VALUE


def _statement(text: str, order: int) -> Statement:
    at = _ZERO + timedelta(minutes=order)
    return Statement(text, None, None, "semantic", "other", "user_stated", at)
