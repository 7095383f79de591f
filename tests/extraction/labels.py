"""Labelled dialogues and pairs: what an extractor must keep and leave, and what a new fact does to an old one.

`tuning` may be looked at while rules are written, `heldout` never: once its failures were read, it is tuning data, and
a fresh one, by another author, takes its place. Where there is none, only `tuning` is scored.
"""

import json
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Literal, get_args
from zoneinfo import ZoneInfo

from app.domain.memory import Category, Source

DATA: Final = Path(__file__).parent / "data"

Language = Literal["en", "zh"]
LANGUAGES: Final[tuple[Language, ...]] = get_args(Language)

Split = Literal["tuning", "heldout"]
SPLITS: Final[tuple[Split, ...]] = tuple(split for split in get_args(Split) if (DATA / f"{split}_en.jsonl").exists())

Role = Literal["system", "user", "assistant", "tool"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)

Why = Literal[
    "greeting",
    "acknowledgement",
    "small_talk",
    "question",
    "request",  # of one time: "translate this"; also what the assistant made of it
    "momentary",  # "I am tired now"
    "pasted",  # log, code, foreign document
    "quoted",  # what another person wrote
    "recalled",  # what the service itself served, and answers that only repeat it
    "instruction",  # the system's
    "hypothetical",
    "fiction",  # role play, the user's novel
    "joke",
    "general_knowledge",
    "invention",  # the assistant claims what the user never said
    "forget",  # the wish itself
    "tool_noise",
]
WHYS: Final[tuple[Why, ...]] = get_args(Why)

Verdict = Literal["add", "reinforce", "complement", "correct", "supersede", "retract", "contradict"]
VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)


@dataclass(frozen=True, slots=True)
class LabelledTurn:
    """One message, with the fields of an extractor's turn."""

    seq: int
    role: Role
    text: str
    occurred_at: datetime
    zone: ZoneInfo
    name: str | None


@dataclass(frozen=True, slots=True)
class Fact:
    """What is true and worth keeping.

    Args:
        about: Sequence numbers of the turns that state it; a memory has to cite one of them.
        category: What it is about.
        key: Its canonical slot, if it has one.
        words: Alternatives; all words of one alternative stand in a memory that holds the fact.
        subject: Whom it is about if not the user: one of these stands in the memory, or it says a lie about the user.
        current: False if it was replaced, ended or taken back later in the dialogue.
        source: Who said it.
        explicit: Whether the user asked for it to be remembered.
        expires: The last day, in the sender's zone, on which it holds.
        date: The day, in the sender's zone, that its relative or partial date means.
        optional: Right if kept, but not missed if not.
    """

    about: tuple[int, ...]
    category: Category
    key: str | None
    words: tuple[tuple[str, ...], ...]
    subject: tuple[str, ...]
    current: bool
    source: Source
    explicit: bool
    expires: date | None
    date: date | None
    optional: bool


@dataclass(frozen=True, slots=True)
class Junk:
    """A turn from which, apart from its facts, nothing may become a memory, and why."""

    seq: int
    why: Why


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A dialogue with all that is to be learnt from it."""

    id: str
    language: Language
    zone: ZoneInfo
    turns: tuple[LabelledTurn, ...]
    facts: tuple[Fact, ...]
    junk: tuple[Junk, ...]

    def turn(self, seq: int) -> LabelledTurn | None:
        """The turn of this number, which counts from 1."""
        return self.turns[seq - 1] if 1 <= seq <= len(self.turns) else None


@dataclass(frozen=True, slots=True)
class Statement:
    """One side of a pair: a memory's text, with key and value where it has them."""

    text: str
    key: str | None
    value: str | None


@dataclass(frozen=True, slots=True)
class Pair:
    """A memory, what is said after it, and what the new does to the old.

    `cue` holds the words that say that something changed, ended or was wrong, or None. `trap` says what is deceiving
    about the pair.
    """

    id: str
    language: Language
    old: Statement
    new: Statement
    cue: str | None
    verdict: Verdict
    trap: str | None


def rows(name: str) -> list[dict[str, Any]]:
    """A data file as it is written, one object a line."""
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines() if line.strip()]


def dialogues(split: Split, language: Language) -> list[Dialogue]:
    """The dialogues of a file."""
    return [_dialogue(row, language) for row in rows(f"{split}_{language}")]


def pairs(language: Language) -> list[Pair]:
    """The pairs of a language."""
    return [
        Pair(
            id=row["id"],
            language=language,
            old=_statement(row["old"]),
            new=_statement(row["new"]),
            cue=row["new"].get("cue"),
            verdict=row["verdict"],
            trap=row.get("trap"),
        )
        for row in rows(f"conflicts_{language}")
    ]


def _statement(row: dict[str, Any]) -> Statement:
    return Statement(row["text"], row.get("key"), row.get("value"))


def _dialogue(row: dict[str, Any], language: Language) -> Dialogue:
    zone, started_at = ZoneInfo(row["zone"]), datetime.fromisoformat(row["started_at"])
    return Dialogue(
        id=row["id"],
        language=language,
        zone=zone,
        turns=tuple(
            _turn(seq, turn, started_at, zone, previous)
            for seq, (turn, previous) in enumerate(zip(row["turns"], _minutes(row["turns"]), strict=True), start=1)
        ),
        facts=tuple(_fact(fact) for fact in row["facts"]),
        junk=tuple(Junk(junk["seq"], junk["why"]) for junk in row["junk"]),
    )


def _minutes(turns: list[dict[str, Any]]) -> list[int]:
    """When each turn was said, in minutes after the start: one after the turn before where it is not given."""
    minutes: list[int] = []
    for turn in turns:
        minutes.append(turn.get("minutes_after_start", minutes[-1] + 1 if minutes else 0))
    return minutes


def _turn(seq: int, row: dict[str, Any], started_at: datetime, zone: ZoneInfo, minutes: int) -> LabelledTurn:
    at = (started_at + timedelta(minutes=minutes)).astimezone(ZoneInfo("UTC"))
    return LabelledTurn(seq, row["role"], row["text"], at, zone, row.get("name"))


def _fact(row: dict[str, Any]) -> Fact:
    return Fact(
        about=tuple(row["about"]),
        category=row["category"],
        key=row["key"],
        words=tuple(map(tuple, row["words"])),
        subject=tuple(row["subject"]),
        current=row["current"],
        source=row["source"],
        explicit=row["explicit"],
        expires=_day(row["expires"]),
        date=_day(row["date"]),
        optional=row["optional"],
    )


def _day(written: str | None) -> date | None:
    return None if written is None else date.fromisoformat(written)
