"""Reads the clauses of a message for slots, and keeps in mind what was announced or given up just before."""

from dataclasses import dataclass, replace
from typing import Final

from app.domain.extraction.clauses import Clause
from app.domain.extraction.frames import chinese, chinese_topics, english, english_topics
from app.domain.extraction.frames.frame import Frame

MOST_CHARACTERS: Final = 120
"""Of a clause that is read for a slot."""

MOST_SENTENCES: Final = 1
"""Sentences from an announcement to what completes it."""


@dataclass(frozen=True, slots=True)
class Framed:
    """A slot, and the clause that it began with where one announced it."""

    frame: Frame
    since: Clause | None = None


@dataclass(frozen=True, slots=True)
class _Open:
    """An announcement that nothing has completed yet."""

    clause: Clause
    topic: str | None
    before: str | None


def _of_tail(clause: Clause) -> Frame | None:
    """The slot of the last part of an English clause that was not cut: "Ann left, Bob is the project lead now"."""
    cut = clause.plain.rfind(", ")
    if clause.chinese or cut < 0:
        return None
    start = cut + 2
    tail = replace(clause, start=clause.start + start, text=clause.text[start:], plain=clause.plain[start:])
    frame = english.frame_of(tail)
    return frame if frame is not None and frame.firm and frame.change is not None else None


def alone(clause: Clause) -> Framed | None:
    """The slot that a clause fills by itself, whatever was announced before it."""
    grammar = chinese if clause.chinese else english
    frame = grammar.frame_of(clause) if len(clause.plain) <= MOST_CHARACTERS else None
    return None if frame is None else Framed(frame)


class Framing:
    """Of one message."""

    def __init__(self) -> None:
        self._open: _Open | None = None

    def of(self, clause: Clause) -> Framed | None:
        """What a clause says fills which slot; None where it says nothing of the kind."""
        if len(clause.plain) > MOST_CHARACTERS:
            return None
        grammar, topics = (chinese, chinese_topics) if clause.chinese else (english, english_topics)
        framed = self._completing(clause)
        if framed is not None:
            self._open = None
            return framed
        frame = grammar.frame_of(clause) or topics.announced_at_once(clause) or _of_tail(clause)
        if frame is None or not frame.firm:
            topic, before = topics.announced(clause), topics.given_up(clause)
            if topic is not None or before is not None:
                self._open = _Open(clause, topic, before)
        return None if frame is None else Framed(frame)

    def _completing(self, clause: Clause) -> Framed | None:
        opened = self._open
        if opened is None or not 0 <= clause.sentence - opened.clause.sentence <= MOST_SENTENCES:
            return None
        if clause.chinese != opened.clause.chinese:
            return None
        topics = chinese_topics if clause.chinese else english_topics
        frame = None
        if opened.topic is not None:
            frame = topics.completed(clause, opened.topic)
        if frame is None and opened.before is not None:
            frame = topics.in_place_of(clause, opened.before)
        return None if frame is None else Framed(frame, opened.clause)
