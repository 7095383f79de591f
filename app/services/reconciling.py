"""A new statement among what is stored: written beside it, over it, or not at all, as the rules of conflict decide."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from app.core.text.tokens import tokens
from app.domain.calibration import Calibration
from app.domain.conflict.settling import Plan, settle
from app.domain.conflict.statements import DISPLACING, Statement
from app.domain.extraction.candidates import Candidate
from app.domain.scope import Scope
from app.repositories.base import Row
from app.repositories.models import ModelRecord
from app.repositories.search import DenseQuery, LegQuery
from app.repositories.selection import Selection
from app.repositories.vectors import Embedded
from app.services.closing import since, supersede
from app.services.conflicts import forget_conflicts
from app.services.history import event_row
from app.services.keys import CanonicalKey, canonical_key
from app.services.procedural import facts_among
from app.services.writing import Draft, MemoryWriter
from app.uow import Transaction

NEIGHBOURS: Final = 8
"""Memories near a text by meaning, and as many by words, that it is compared with."""

WORDS: Final = 32


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What became of one statement.

    Args:
        memory_id: The memory that says it now; None where it is not kept.
        created: Whether that is a new one.
        verdict: What it did to its neighbours.
        displaced: Memories that are history because of it.
        disputed: Memories that stand against it until somebody decides.
    """

    memory_id: UUID | None
    created: bool
    verdict: str
    displaced: list[UUID] = field(default_factory=list)
    disputed: list[UUID] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Reconciler:
    """Writes within a transaction that holds the owner's lock: what is read here cannot change before the commit."""

    tx: Transaction
    actor: str
    at: datetime
    scope: Scope
    model: ModelRecord
    calibration: Calibration

    async def write(self, candidate: Candidate, draft: Draft, vector: Embedded | None) -> Reconciled:
        """Decide about a candidate and what it means for its neighbours, and write both."""
        key = None if candidate.key is None else await canonical_key(self.tx, candidate.key)
        new = _statement_of(candidate, draft, key)
        olds = await self._neighbours(new, draft, vector)
        rows = {row["id"]: row for row, _ in olds}
        near = [(row["id"], _statement(row), similarity) for row, similarity in olds]
        plan = settle(new, near, multivalued=key is not None and key.multi_valued)
        if plan.outcome == "ignore":
            return Reconciled(None, created=False, verdict=plan.verdict)
        writer = MemoryWriter(self.tx, self.actor, self.at, settles_keys=False)
        if plan.outcome == "reinforce" and plan.target is not None:
            said, created = await writer.repeat(rows[plan.target], draft), False
        else:
            draft.row.update(key=plan.key, uncertain=draft.row["uncertain"] or plan.uncertain)
            draft.row["value"] = draft.row["value"] if plan.key is not None else None
            draft.row["pinned"] = draft.row["pinned"] and not draft.row["uncertain"]
            (memory,) = await writer.run([draft], [] if vector is None else [vector], self.model.id)
            created = memory.id == str(draft.row["id"])
            (said,) = await self.tx.memories.by_ids([UUID(memory.id)])
        displaced = await self._close([rows[one] for one in plan.ids(*DISPLACING) if one != said["id"]], said, plan)
        if plan.superseded_by is not None and created:
            await self._close([said], rows[plan.superseded_by], plan)
        disputed = await self._dispute([rows[one] for one in plan.ids("contradict")], said, plan)
        return Reconciled(said["id"], created, plan.verdict, displaced, disputed)

    async def _neighbours(
        self, new: Statement, draft: Draft, vector: Embedded | None
    ) -> list[tuple[Row, float | None]]:
        """What is current under the statement's key, and what is near its text."""
        dense = None if vector is None else DenseQuery(vector.vector, self.model)
        words = list(dict.fromkeys(tokens(f"{new.text} {new.before or ''}")))[:WORDS]
        query = LegQuery([self.scope.owner], words, dense, NEIGHBOURS)
        found = await self.tx.search.memories(query, Selection(self.scope, self.at, uncertain=True))
        cosines = {row["id"]: row["cosine"] for row in found}
        similar = {one: None if raw is None else self.calibration.similarity(raw) for one, raw in cosines.items()}
        keyed = []
        if new.key is not None:
            keyed = await self.tx.facts.current(self.scope.owner, new.key, self.at)
        ids = dict.fromkeys([*(row["id"] for row in keyed), *similar])
        found_rows = await self.tx.memories.by_ids([one for one in ids if one != draft.row["id"]])
        rows = await facts_among(self.tx, found_rows)
        return [(row, similar.get(row["id"])) for row in sorted(rows, key=lambda row: row["id"])]

    async def _close(self, rows: Sequence[Row], by: Row, plan: Plan[UUID]) -> list[UUID]:
        """Make rows history in favour of another one; what contradicted them stands undisputed."""
        closed = await supersede(self.tx, rows, by, self.actor, self.at, _why(plan))
        await forget_conflicts(self.tx, [row["id"] for row in rows], self.actor, self.at)
        return [row["id"] for row in closed]

    async def _dispute(self, rows: Sequence[Row], said: Row, plan: Plan[UUID]) -> list[UUID]:
        """Mark statements that cannot both be true, where nobody can say which is."""
        if not rows:
            return []
        for row in (*rows, said):
            if row["status"] == "active":
                changed = await self.tx.memories.change(row["id"], {"status": "disputed", "updated_at": self.at})
                event = event_row("disputed", row, changed, self.actor, self.at, {"status"})
                await self.tx.memories.record([event | {"reason": _why(plan)}])
        others = [row["id"] for row in rows]
        await self.tx.conflicts.open(said["id"], others, plan.reason, self.at)
        return others


def _why(plan: Plan[UUID]) -> str:
    return f"{plan.verdict}: {plan.reason}"


def _statement_of(candidate: Candidate, draft: Draft, key: CanonicalKey | None) -> Statement:
    return Statement(
        text=candidate.text,
        key=None if key is None else key.key,
        value=candidate.value,
        kind=candidate.kind,
        category=candidate.category,
        source=candidate.source,
        occurred_at=draft.row["valid_from"],
        uncertain=draft.row["uncertain"],
        change=candidate.change,
        before=candidate.before,
    )


def _statement(row: Row) -> Statement:
    return Statement(
        text=row["text"],
        key=row["key"],
        value=row["value"],
        kind=row["kind"],
        category=row["category"],
        source=row["source"],
        occurred_at=since(row),
        uncertain=row["uncertain"],
    )
