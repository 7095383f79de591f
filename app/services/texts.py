"""What candidates say and where it comes from, read for those that may become hits."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from app.domain.memory import VISIBLE_STATUSES
from app.repositories.base import RowLike
from app.repositories.selection import PAST_STATUSES, Then
from app.schemas.memories import MemorySource
from app.services.past import as_known
from app.services.ranking import Scored
from app.services.shortlist import contenders
from app.services.succession import Lineage, Succession, succeeded
from app.uow import Transaction


@dataclass(frozen=True, slots=True)
class Texts:
    """The contenders' rows, where memories come from, and what became of messages."""

    rows: dict[UUID, RowLike]
    sources: dict[UUID, list[MemorySource]]
    lineage: Lineage
    replaced: list[tuple[Scored, UUID]] = field(default_factory=list)


NOW: Final = Then()


async def read_contenders(
    tx: Transaction, found: Sequence[Scored], depth: int, then: Then = NOW, *, archived: bool = False
) -> tuple[list[Scored], Texts]:
    """The best so many candidates and their rows: one statement for messages, one for memories with their sources.

    A message that says what is history gives its place to what is true now, unless the question is about the past.
    What is no longer current has no row, unless it is archived and that is asked for: a replay meets it.
    """
    best = contenders(found, depth)
    said = [hit.id for hit in best if hit.type == "message"]
    messages = await tx.messages.with_memories(said) if said else []
    lineage = Lineage.of(messages)
    succession = Succession(best, []) if then.past else succeeded(best, found, lineage)
    memories = [hit.id for hit in succession.hits if hit.type == "memory"]
    kept = await tx.memories.with_sources(memories) if memories else []
    visible = (*VISIBLE_STATUSES, "archived") if archived else VISIBLE_STATUSES
    statuses = PAST_STATUSES if then.past else visible
    current = await as_known(tx, [row for row in kept if row["status"] in statuses], then.known_at)
    current = tx.shown(current)
    sources = {row["id"]: [MemorySource(**source) for source in row["sources"]] for row in kept}
    rows: dict[UUID, RowLike] = {row["id"]: row for row in [*current, *messages]}
    return succession.hits, Texts(rows, sources, lineage, succession.replaced)
