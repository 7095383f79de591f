"""A new statement among what is stored: written beside it, over it, or not at all, as the rules of conflict decide."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from app.domain.calibration import Calibration
from app.domain.conflict.settling import Plan, settle
from app.domain.conflict.statements import DISPLACING, Statement
from app.domain.extraction.candidates import Candidate
from app.domain.scope import Scope
from app.repositories.base import Row
from app.repositories.models import ModelRecord
from app.repositories.vectors import Embedded, Vector
from app.services.closing import since, supersede
from app.services.disputes import agree, hand_over
from app.services.history import event_row
from app.services.judging import Verdicts
from app.services.keys import CanonicalKey, canonical_key
from app.services.neighbours import Neighbour, Neighbours, statement_in, statement_of
from app.services.writing import Draft, MemoryWriter
from app.uow import Transaction


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
    verdicts: Verdicts = field(default_factory=Verdicts.none)

    async def write(self, candidate: Candidate, draft: Draft, vector: Embedded | None) -> Reconciled:
        """Decide about a candidate and what it means for its neighbours, and write both."""
        key = None if candidate.key is None else await canonical_key(self.tx, candidate.key)
        new = statement_of(candidate, draft, key)
        near = await self._near(new, draft.row["id"], None if vector is None else vector.of(self.model.id))
        rows = {one.row["id"]: one.row for one in near}
        plan = self._settled(new, draft.row["id"], key, near)
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

    async def review(self, row: Row, vector: Vector | None) -> Reconciled:
        """Decide what a stored memory means for its neighbours; it itself stays as it is, or becomes disputed."""
        key = None if row["key"] is None else await canonical_key(self.tx, row["key"])
        new = statement_in(row, since(row))
        near = [one for one in await self._near(new, row["id"], vector) if _one_scope(one.row, row)]
        rows = {one.row["id"]: one.row for one in near}
        plan = self._settled(new, row["id"], key, near)
        displaced = await self._close([rows[one] for one in plan.ids(*DISPLACING)], row, plan)
        disputed = await self._dispute([rows[one] for one in plan.ids("contradict")], row, plan)
        if plan.outcome == "reinforce" and plan.target is not None:  # says the same, so the same stands against it
            disputed += await hand_over(self.tx, [plan.target], row["id"], self.at)
            await agree(self.tx, [row["owner"]] if disputed else [], self.actor, self.at)
        return Reconciled(row["id"], created=False, verdict=plan.verdict, displaced=displaced, disputed=disputed)

    async def _near(self, new: Statement, own: UUID, vector: Vector | None) -> list[Neighbour]:
        """What a statement is compared with."""
        return await Neighbours(self.tx, self.at, self.scope, self.model, self.calibration).of(new, own, vector)

    def _settled(self, new: Statement, own: UUID, key: CanonicalKey | None, near: Sequence[Neighbour]) -> Plan[UUID]:
        """What a statement means for its neighbours together, by the rules and the verdicts that still hold."""
        judged = self.verdicts.of(own, [one.row for one in near])
        olds = [(one.row["id"], one.statement, one.similarity) for one in near]
        return settle(new, olds, multivalued=key is not None and key.multi_valued, judged=judged)

    async def _close(self, rows: Sequence[Row], by: Row, plan: Plan[UUID]) -> list[UUID]:
        """Make rows history in favour of another one."""
        closed = await supersede(self.tx, rows, by, self.actor, self.at, _why(plan))
        return [row["id"] for row in closed]

    async def _dispute(self, rows: Sequence[Row], said: Row, plan: Plan[UUID]) -> list[UUID]:
        return await self.dispute(rows, said, plan.reason, _why(plan))

    async def dispute(self, rows: Sequence[Row], said: Row, reason: str, told: str) -> list[UUID]:
        """Mark statements that cannot both be true, where nobody can say which is; a pair that is marked stays so.

        Args:
            rows: What stands against the other one.
            said: The other one.
            reason: A word for the conflict.
            told: What history says.
        """
        open_ones = await self.tx.conflicts.touching([said["id"]]) if rows else []
        pairs = [{one["memory_id"], one["other_id"]} for one in open_ones]
        rows = [row for row in rows if {row["id"], said["id"]} not in pairs]
        if not rows:
            return []
        for row in (*rows, said):
            if row["status"] == "active":
                changed = await self.tx.memories.change(row["id"], {"status": "disputed", "updated_at": self.at})
                event = event_row("disputed", row, changed, self.actor, self.at, {"status"})
                await self.tx.memories.record([event | {"reason": told}])
        others = [row["id"] for row in rows]
        await self.tx.conflicts.open(said["id"], others, reason, self.at)
        return others


def _one_scope(row: Row, other: Row) -> bool:
    """Whether both are for the same agent, app and session; what was learnt is for all of them."""
    scope = ("agent_id", "app_id", "session_id")
    return row["extracted"] or all(row[name] == other[name] for name in scope)


def _why(plan: Plan[UUID]) -> str:
    return f"{plan.verdict}: {plan.reason}"
