"""What was found among memories and earlier messages for a context, and how it is kept until it is asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, Self

from app.domain.procedure import Outcome
from app.repositories.base import RowLike
from app.schemas.memories import MemorySource
from app.services.context.analysis import Analysis

_PLAIN: Final = (
    *("text", "kind", "category", "key", "value", "source", "uncertain", "confidence", "importance", "sensitive"),
)


@dataclass(frozen=True, slots=True)
class Fact:
    """A memory that was found.

    Args:
        id: The memory's.
        row: What is shown and compared of it, as JSON holds it.
        said_at: From when it holds.
        dated: When its event was.
        until: When it ends.
        seqs: The messages of this session that it comes from.
        constraint: Whether it is pinned.
        relevance: How relevant it is to the question, in [0, 1].
    """

    id: str
    row: Mapping[str, Any]
    said_at: datetime
    dated: datetime
    until: datetime | None
    seqs: tuple[int, ...]
    constraint: bool
    relevance: float

    @classmethod
    def of(
        cls, row: RowLike, sources: Sequence[MemorySource], session_id: str, *, constraint: bool, relevance: float
    ) -> Self:
        """From its row."""
        plain = {name: row[name] for name in _PLAIN} | {"disputed": row["status"] == "disputed"}
        plain["confirm"] = row["needs_confirmation"]
        ends = [end for end in (row["valid_to"], row["expires_at"]) if end is not None]
        seqs = tuple(seq for source in sources if source.session_id == session_id for seq in source.seqs)
        return cls(
            id=str(row["id"]),
            row=plain,
            said_at=row["valid_from"] or row["created_at"],
            dated=row["occurred_at"] or row["valid_from"] or row["created_at"],
            until=min(ends, default=None),
            seqs=seqs,
            constraint=constraint,
            relevance=relevance,
        )

    def stored(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "id": self.id,
            "row": dict(self.row),
            "said_at": self.said_at.isoformat(),
            "dated": self.dated.isoformat(),
            "until": None if self.until is None else self.until.isoformat(),
            "seqs": list(self.seqs),
            "constraint": self.constraint,
            "relevance": self.relevance,
        }

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Self:
        """From JSON."""
        times = {name: datetime.fromisoformat(stored[name]) for name in ("said_at", "dated")}
        until = None if stored["until"] is None else datetime.fromisoformat(stored["until"])
        return cls(
            id=stored["id"],
            row=stored["row"],
            until=until,
            seqs=tuple(stored["seqs"]),
            constraint=stored["constraint"],
            relevance=stored["relevance"],
            **times,
        )


@dataclass(frozen=True, slots=True)
class Hint:
    """A lesson or a procedure that helps with the question.

    Args:
        id: Its memory's, a procedure's own as well.
        sort: Which of the two.
        text: A line: what a lesson says; a procedure's title and when it is used.
        dated: When it was last changed.
        until: When it ends.
        source: Of a lesson's memory.
        outcome: Of the attempts that a lesson comes from.
    """

    id: str
    sort: Literal["lesson", "procedure"]
    text: str
    dated: datetime
    until: datetime | None
    source: str | None = None
    outcome: Outcome | None = None

    def stored(self) -> dict[str, Any]:
        """As JSON."""
        until = None if self.until is None else self.until.isoformat()
        return asdict(self) | {"dated": self.dated.isoformat(), "until": until}

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Self:
        """From JSON."""
        until = None if stored["until"] is None else datetime.fromisoformat(stored["until"])
        return cls(**{**stored, "dated": datetime.fromisoformat(stored["dated"]), "until": until})


@dataclass(frozen=True, slots=True)
class Recalled:
    """What was found for a question.

    Args:
        query: The question, as it was asked.
        searched: The question, as it was searched for; None where nothing was searched.
        facts: Memories, best first, constraints among them.
        hints: Lessons and procedures, in the order in which they are shown.
        related: Messages of the session that are related to it: (number, relevance), best first.
        number: The how manieth session of its user this is; None where it is nobody's.
        skipped: Why nothing was looked for.
        degraded: What was missing.
        analysis: What was worked out beforehand; None where it is yet to be done.
        lasting: Whether the same question finds the same a moment later: not where it speaks of a time.
    """

    query: str
    searched: str | None = None
    facts: tuple[Fact, ...] = ()
    hints: tuple[Hint, ...] = ()
    related: tuple[tuple[int, float], ...] = ()
    number: int | None = None
    skipped: str | None = None
    degraded: tuple[str, ...] = ()
    lasting: bool = True
    versions: Mapping[str, int] = field(default_factory=dict)
    analysis: Analysis | None = None

    @property
    def until(self) -> datetime | None:
        """When the first of its memories ends."""
        ends = [*(fact.until for fact in self.facts), *(hint.until for hint in self.hints)]
        return min((end for end in ends if end is not None), default=None)

    @property
    def rewritten(self) -> str | None:
        """The question that was searched for, where it is not the one that was asked."""
        return self.searched if self.searched is not None and self.searched != self.query else None

    def stored(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "query": self.query,
            "searched": self.searched,
            "facts": [fact.stored() for fact in self.facts],
            "hints": [hint.stored() for hint in self.hints],
            "related": [list(one) for one in self.related],
            "number": self.number,
            "skipped": self.skipped,
            "versions": dict(self.versions),
            "analysis": None if self.analysis is None else self.analysis.stored(),
        }

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Self:
        """From JSON."""
        return cls(
            query=stored["query"],
            searched=stored["searched"],
            facts=tuple(Fact.read(one) for one in stored["facts"]),
            hints=tuple(Hint.read(one) for one in stored["hints"]),
            related=tuple((seq, relevance) for seq, relevance in stored["related"]),
            number=stored["number"],
            skipped=stored["skipped"],
            versions=stored["versions"],
            analysis=None if stored["analysis"] is None else Analysis.read(stored["analysis"]),
        )
