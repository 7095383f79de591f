"""Archived memories that were found when somebody asked for them: they are current again."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from app.core import clock, ids
from app.repositories.base import Row
from app.services.forgetting.marking import Marker, locked
from app.services.ranking import Scored
from app.services.vectorising import JobRun
from app.uow import Transaction, UnitOfWork

WORTH_REVIVING: Final = 0.8
"""Of the relevance of the best hit, so much has one at least that is revived: the rest only came along."""

LIKE_THE_QUESTION: Final = 0.4
"""Calibrated similarity to the question, or..."""

WORDS_OF_THE_QUESTION: Final = 0.5
"""...the share of what its words tell, that answers it: where nothing has so much, the best hit is no answer either.

Measured on 12 questions in each language to whose subject old episodes belong, and 12 to which none does: of the first
23 find one that is revived, of the others none.
"""


def hit_again(hits: Sequence[Scored], archived: Sequence[UUID]) -> list[UUID]:
    """Of the archived memories among hits those that answered the question."""
    known = set(archived)
    best = max((hit.relevance for hit in hits), default=0.0)
    return [hit.id for hit in hits if hit.id in known and hit.relevance >= WORTH_REVIVING * best and _answers(hit)]


def _answers(hit: Scored) -> bool:
    likeness, words = hit.similarity or 0.0, hit.coverage or 0.0
    return likeness >= LIKE_THE_QUESTION or words >= WORDS_OF_THE_QUESTION


@dataclass(frozen=True, slots=True)
class RevivalService:
    """The use case of the job `revive`, and of asking for it."""

    uow: UnitOfWork

    async def later(self, tenant_id: UUID, memory_ids: Sequence[UUID], user_id: str | None) -> None:
        """Queue it: a search changes nothing itself."""
        if not memory_ids:
            return
        async with self.uow.begin_tenant(tenant_id) as tx:
            payload = {"memory_ids": [str(one) for one in memory_ids]}
            await tx.jobs.enqueue("revive", str(ids.new_id()), clock.now(), user_id=user_id, payload=payload)

    async def run(self, run: JobRun) -> None:
        """Make them current, as far as they still are archived and nothing current says the same."""
        at = clock.now()
        wanted = [UUID(one) for one in run.payload["memory_ids"]]
        revived: list[str] = []
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            for owner in await tx.owners.of_memories(wanted):
                rows = [row for row in await locked(tx, owner, wanted) if await _can_be(tx, row)]
                changed = await Marker.of(tx, run, at).mark(
                    rows, "revived", {"status": "active", "archived_at": None, "last_accessed_at": at}
                )
                revived += [str(row["id"]) for row in changed]
            await run.finish(tx, {"memory_ids": revived, "undo_id": str(run.fence.job_id)})


async def _can_be(tx: Transaction, row: Row) -> bool:
    over = row["expires_at"] is not None and row["expires_at"] <= clock.now()
    return row["status"] == "archived" and not over and await tx.memories.twin(row) is None
