"""What was found in a conversation, written down: new memories, what they end, and what is to be forgotten."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from app.core.text.tokens import tokens
from app.domain.calibration import Calibration
from app.domain.conflict.meaning import Meaning
from app.domain.conflict.values import same_value
from app.domain.extraction.asking import Forget, forgets, is_meant_by
from app.domain.extraction.candidates import Candidate
from app.domain.extraction.turns import Turn
from app.repositories.base import Row
from app.repositories.models import ModelRecord
from app.repositories.owners import OwnerChange
from app.repositories.search import LegQuery
from app.repositories.selection import Selection
from app.repositories.vectors import Embedded
from app.services.closing import remove
from app.services.drafting import Origin
from app.services.judging import Verdicts
from app.services.procedural import facts_among
from app.services.reconciling import Reconciled, Reconciler
from app.services.writing import Draft, embed_later
from app.uow import Transaction

MOST_FORGOTTEN: Final = 20
"""Memories that are looked at for one request to forget."""


MOST_REJECTED: Final = 500
"""Rejected memories of an owner that a claim is compared with: the newest."""


@dataclass(frozen=True, slots=True)
class Learnt:
    """Memories that were written or reinforced, that ended, and that were forgotten."""

    written: list[UUID] = field(default_factory=list)
    forgotten: list[UUID] = field(default_factory=list)
    done: list[Reconciled] = field(default_factory=list)
    """What became of each statement, in their order."""

    @property
    def changes_something(self) -> bool:
        """Whether any memory is not what it was before."""
        return bool(self.written or self.forgotten or self.ended)

    @property
    def ended(self) -> list[UUID]:
        """What is history because of it."""
        return [memory_id for one in self.done for memory_id in one.displaced]

    def and_then(self, other: "Learnt") -> "Learnt":
        """Both."""
        return Learnt(self.written + other.written, self.forgotten + other.forgotten, self.done + other.done)


@dataclass(frozen=True, slots=True)
class Learner:
    """Writes within a transaction that holds the session's lock; takes the owner's."""

    tx: Transaction
    actor: str
    at: datetime
    origin: Origin
    model: ModelRecord
    calibration: Calibration
    verdicts: Verdicts = field(default_factory=Verdicts.none)

    async def learn(
        self,
        candidates: Sequence[Candidate],
        drafts: Sequence[Draft],
        vectors: Sequence[Embedded],
        turns: Sequence[Turn],
    ) -> Learnt:
        """Write drafts one after the other, each of the candidate at its place, and do what the turns ask to forget.

        What the same turn has given before, as when it asked to be remembered, is passed over, and so is what nobody
        said and somebody has rejected: only the user's own words bring that back.
        """
        asked = [forget for turn in turns for forget in forgets(turn)]
        if not candidates and not asked:
            return Learnt()
        await self.tx.owners.lock_and_change(self.origin.scope.owner, OwnerChange())
        forgotten = await self._forget(asked)
        known = await self._drawn(turns)
        doubtful = any(draft.row["uncertain"] for draft in drafts)
        rejected = await self.tx.history.rejected(self.origin.scope.owner, MOST_REJECTED) if doubtful else []
        made = {vector.target: vector for vector in vectors}
        reconciler = Reconciler(
            self.tx, self.actor, self.at, self.origin.scope, self.model, self.calibration, self.verdicts
        )
        written: dict[UUID, bool] = {}
        outcomes: list[Reconciled] = []
        for candidate, draft in zip(candidates, drafts, strict=True):
            if any((seq, draft.row["content_hash"]) in known for seq in candidate.seqs):
                outcomes.append(Reconciled(None, created=False, verdict="known"))
                continue
            if any(_says(row, draft) for row in rejected if draft.row["uncertain"]):
                outcomes.append(Reconciled(None, created=False, verdict="rejected"))
                continue
            done = await reconciler.write(candidate, draft, made.get(draft.row["id"]))
            outcomes.append(done)
            if done.memory_id is not None:
                written[done.memory_id] = written.get(done.memory_id, False) or (done.created and not made)
        if bare := [memory_id for memory_id, lacking in written.items() if lacking]:
            await embed_later(self.tx, bare, self.at, self.origin.scope.user_id)
        return Learnt(list(written), forgotten, outcomes)

    async def _drawn(self, turns: Sequence[Turn]) -> set[tuple[int, bytes]]:
        """What the turns have given already: their numbers with the hash of each text."""
        if self.origin.session_id is None:
            return set()
        rows = await self.tx.memories.drawn(self.origin.session_id, [turn.seq for turn in turns])
        return {(seq, bytes(row["content_hash"])) for row in rows for seq in row["seqs"]}

    async def _forget(self, asked: Sequence[Forget]) -> list[UUID]:
        """Delete what turns ask to forget; it can be brought back for a while, as after any deletion."""
        gone: list[UUID] = []
        for forget in asked:
            for row in await self._meant(forget):
                await remove(self.tx, row, self.actor, self.at)
                gone.append(row["id"])
        return gone

    async def _meant(self, forget: Forget) -> list[Row]:
        """The owner's memories that a request to forget is about, by the words that it has."""
        words = list(dict.fromkeys(tokens(forget.what)))
        if not words:
            return []
        scope = self.origin.scope
        query = LegQuery([scope.owner], words, None, MOST_FORGOTTEN)
        found = await self.tx.search.memories(query, Selection(scope, self.at, uncertain=True))
        rows = await facts_among(self.tx, await self.tx.memories.by_ids([row["id"] for row in found]))
        return [row for row in rows if is_meant_by(forget, f"{row['text']} {row['value'] or ''}")]


def _says(rejected: Row, draft: Draft) -> bool:
    """Whether a draft is what was rejected: by its text, in other words too, or by its value."""
    if bytes(rejected["content_hash"]) == draft.row["content_hash"]:
        return True
    if rejected["key"] is not None and rejected["key"] == draft.row["key"]:
        return same_value(rejected["value"], draft.row["value"])
    return Meaning.of(rejected["text"]).says_the_same_as(Meaning.of(draft.row["text"]))
