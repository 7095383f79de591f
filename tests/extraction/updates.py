"""What was said once and said anew later, in other words: how often memory holds the new and has closed the old."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from app.domain.conflict.keys import canonical
from app.domain.conflict.settling import settle
from app.domain.conflict.statements import DISPLACING, Statement
from app.domain.extraction.candidates import Candidate
from app.domain.extraction.rules import extract
from app.domain.extraction.turns import Turn
from app.domain.keys import built_in
from app.domain.memory import traits_of
from app.services.drafting import judged
from tests.extraction.labels import SPLITS, Language, Split, rows
from tests.extraction.matching import folded
from tests.extraction.scores import Share

STARTED: Final = datetime(2026, 1, 5, 9, tzinfo=UTC)
STEP: Final = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Update:
    """A statement, and a later one that replaces it.

    Args:
        id: Its own.
        slot: What both are about, for people; each slot occurs once with one user.
        old: What is said first.
        new: What is said later.
        question: What is asked in the end.
        was: A word of the old value, as it stands in `old`.
        now: A word of the new value, as it stands in `new`.
    """

    id: str
    slot: str
    old: str
    new: str
    question: str
    was: str
    now: str


def updates(split: Split, language: Language) -> list[Update]:
    """The updates of a file."""
    return [
        Update(row["id"], row["slot"], row["old"], row["new"], row["question"], row["was"], row["is"])
        for row in (rows(f"updates_{split}_{language}") if split in SPLITS else [])
    ]


def users(found: Sequence[Update]) -> list[list[Update]]:
    """The updates by user: each tells of a slot once, and of all slots that are left."""
    groups: list[list[Update]] = []
    for one in found:
        group = next((group for group in groups if all(other.slot != one.slot for other in group)), None)
        if group is None:
            groups.append([one])
        else:
            group.append(one)
    return groups


@dataclass(slots=True)
class Held:
    """A memory, the turn it came from, and whether it is current."""

    statement: Statement
    seq: int
    words: str
    active: bool = True
    closed_by: str = ""


@dataclass(slots=True)
class Store:
    """One user's memories, written by the rules of conflict as the service writes them."""

    held: list[Held] = field(default_factory=list)

    def write(self, candidate: Candidate, at: datetime) -> None:
        """Decide about a candidate and what it means for what is current."""
        key = None if candidate.key is None else canonical(candidate.key)
        known = None if key is None else built_in(key)
        new = Statement(
            candidate.text,
            key,
            candidate.value,
            candidate.kind,
            candidate.category,
            candidate.source,
            at,
            uncertain=traits_of(candidate.source).uncertain,
            change=candidate.change,
            before=candidate.before,
        )
        near = [(place, one.statement, None) for place, one in enumerate(self.held) if one.active]
        plan = settle(new, near, multivalued=known is not None and known.multi_valued)
        for place in plan.ids(*DISPLACING):
            self.held[place].active = False
            self.held[place].closed_by = candidate.text
        if plan.outcome != "add":
            return
        ends = candidate.change == "ends"
        kept = None if ends else plan.key
        stored = Statement(
            new.text,
            kept,
            None if kept is None else new.value,
            new.kind,
            new.category,
            new.source,
            at,
            uncertain=new.uncertain or plan.uncertain,
        )
        words = folded(f"{candidate.text} {candidate.value or ''}")
        self.held.append(Held(stored, candidate.seqs[-1], words, plan.superseded_by is None))


@dataclass(frozen=True, slots=True)
class UpdateReport:
    """How updates ended.

    Args:
        told: Updates of which both statements became memories.
        current: Those whose new value is current in the end.
        closed: Those whose old value is current no more, though it was kept.
        both: Those of which both is so: the figure that counts.
        errors: A line for each of the others.
    """

    told: Share
    current: Share
    closed: Share
    both: Share
    errors: Sequence[str]


def score_updates(groups: Sequence[Sequence[Update]], noise: Sequence[str] = ()) -> UpdateReport:
    """Tell each user's old statements, then the new ones, with small talk between them, and look at what is held."""
    counts = {"told": 0, "current": 0, "closed": 0, "both": 0}
    errors = []
    for group in groups:
        store = Store()
        olds = tell(store, [one.old for one in group], 0, noise)
        news = tell(store, [one.new for one in group], 1, noise)
        for one, old, new in zip(group, olds, news, strict=True):
            first = [held for held in store.held if held.seq == old and folded(one.was) in held.words]
            second = [held for held in store.held if held.seq == new and folded(one.now) in held.words]
            current = any(held.active for held in second)
            closed = bool(first) and not any(held.active for held in first)
            for name, good in (
                ("told", first and second),
                ("current", current),
                ("closed", closed),
                ("both", current and closed),
            ):
                counts[name] += bool(good)
            if not (current and closed):
                errors.append(_error(one, first, second))
    whole = sum(map(len, groups))
    return UpdateReport(**{name: Share(part, whole) for name, part in counts.items()}, errors=errors)


def _error(one: Update, first: Sequence[Held], second: Sequence[Held]) -> str:
    def shown(held: Sequence[Held]) -> str:
        said = (
            f"{h.statement.key}={h.statement.value!r}{'' if h.active else f' closed by {h.closed_by!r}'}" for h in held
        )
        return "; ".join(said) or "nothing"

    return f"{one.id} [{one.slot}] {one.old!r}: {shown(first)} -> {one.new!r}: {shown(second)}"


def tell(store: Store, texts: Sequence[str], step: int, noise: Sequence[str] = ()) -> list[int]:
    """Extract a session as a whole and write what the gate lets pass; the numbers of the turns with the texts."""
    said: list[str] = []
    places = []
    for place, text in enumerate(texts):
        said.append(text)
        places.append(step * 10_000 + len(said))
        if noise:
            said.append(noise[place % len(noise)])
    at = STARTED + step * STEP
    turns = [
        Turn(step * 10_000 + number, "user", text, at + timedelta(minutes=number), UTC)
        for number, text in enumerate(said, start=1)
    ]
    by_seq = {turn.seq: turn for turn in turns}
    for one in judged(extract(turns), turns):
        if one.passed:
            store.write(one.candidate, max(by_seq[seq].occurred_at for seq in one.candidate.seqs))
    return places
