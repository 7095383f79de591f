"""The sections of memories: constraints that hold, and facts with whence and since when."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from app.domain.conflict.deciding import decide
from app.domain.conflict.statements import Statement
from app.domain.context.parts import Count, Part, Piece
from app.domain.context.words import HEADINGS, Tongue, marks_of
from app.domain.extraction.candidates import Candidate
from app.domain.extraction.rules import extract
from app.domain.extraction.turns import Turn
from app.domain.fence import cut
from app.domain.keys import built_in
from app.domain.summary.changing import overtakes, says_change
from app.repositories.base import RowLike
from app.services.context.recalled import Fact
from app.services.neighbours import statement_in

_SOME_TIME: Final = datetime(2000, 1, 1, tzinfo=UTC)
_UTC: Final = ZoneInfo("UTC")
_DISPLACED: Final = frozenset({"supersede", "correct", "retract", "contradict"})
LONGEST_MESSAGE: Final = 4_000


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A memory, and what the user has said since."""

    fact: Fact
    said: str
    seq: int


def contradictions(facts: Iterable[Fact], recent: Sequence[RowLike]) -> list[Contradiction]:
    """Memories that the user's own newer words in this session contradict: the last such words of each.

    Extraction will come to the same result a moment later, where it is on; the next call of a model cannot wait.
    """
    said = [row for row in recent if row["role"] == "user"]
    found = []
    for fact in facts:
        for row in reversed(said):
            if row["seq"] in fact.seqs or row["occurred_at"] <= fact.said_at:
                break
            words = _denying(fact, row["text"])
            if words is not None:
                found.append(Contradiction(fact, words, row["seq"]))
                break
    return found


def current_of(facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """The memories without those that a newer one of them says to be no longer so; what is disputed stays so.

    Two that merely differ were judged when they were written: here only those count that speak of a change.
    """
    stated = [fact for fact in facts if fact.row["source"] == "user_stated" and not fact.row["disputed"]]
    gone = {
        old.id
        for old in stated
        for new in stated
        if new.said_at > old.said_at and not old.constraint and _replaces(new.row["text"], old.row["text"])
    }
    return tuple(fact for fact in facts if fact.id not in gone)


def _replaces(new: str, old: str) -> bool:
    return says_change(new) and overtakes(new, old)


def fact_parts(facts: Sequence[Fact], tongue: Tongue, count: Count) -> tuple[Part, Part, Part]:
    """The sections `constraints`, `facts` and `confirm`; of the others the best first, in case not all fit."""
    heading = HEADINGS[tongue]
    pinned = [_piece(fact, count, 1_000.0 - place) for place, fact in enumerate(facts) if fact.constraint]
    others = [(-float(place), fact) for place, fact in enumerate(facts) if not fact.constraint]
    known = [_piece(fact, count, rank) for rank, fact in others if not fact.row["confirm"]]
    asked = [_piece(fact, count, rank) for rank, fact in others if fact.row["confirm"]]
    return (
        Part("constraints", heading["constraints"], "memories", tuple(pinned)),
        Part("facts", heading["facts"], "memories", tuple(known)),
        Part("confirm", heading["confirm"], "memories", tuple(asked)),
    )


def _piece(fact: Fact, count: Count, rank: float) -> Piece:
    row = fact.row
    marks = marks_of(row["source"], fact.dated.date().isoformat(), uncertain=row["uncertain"], disputed=row["disputed"])
    text = f"- {' '.join(row['text'].split())} {marks}"
    details = {
        "memory_id": fact.id,
        "source": row["source"],
        "category": row["category"],
        "date": fact.dated,
        "uncertain": row["uncertain"],
        "disputed": row["disputed"],
    }
    return Piece(text, count(text) + 1, fact.id, rank, details)


def _denying(fact: Fact, text: str) -> str | None:
    """The words of a message that contradict a memory."""
    old = statement_in(fact.row, fact.said_at)
    for candidate in statements_of(text[:LONGEST_MESSAGE]):
        if candidate.source == "user_stated" and _contradicts(candidate, old):
            return candidate.quote or candidate.text
    return None


@lru_cache(maxsize=4_096)
def statements_of(text: str) -> tuple[Candidate, ...]:
    """What a message of a user's states, by rule."""
    return tuple(extract([Turn(1, "user", cut(text), _SOME_TIME, _UTC)]))


def _contradicts(candidate: Candidate, old: Statement) -> bool:
    new = Statement(
        text=candidate.text,
        key=candidate.key,
        value=candidate.value,
        kind=candidate.kind,
        category=candidate.category,
        source="user_stated",
        occurred_at=datetime.max.replace(tzinfo=UTC),
        change=candidate.change,
        before=candidate.before,
    )
    entry = None if candidate.key is None else built_in(candidate.key)
    many = entry is not None and entry.multi_valued
    return decide(new, old, similarity=None, multivalued=many).verdict in _DISPLACED or overtakes(new.text, old.text)
