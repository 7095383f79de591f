"""What candidates say and where it comes from, read for those that may become hits."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from app.domain.memory import VISIBLE_STATUSES
from app.repositories.base import RowLike
from app.schemas.memories import MemorySource
from app.services.ranking import Scored
from app.uow import Transaction


@dataclass(frozen=True, slots=True)
class Texts:
    """The contenders' rows and where memories come from."""

    rows: dict[UUID, RowLike]
    sources: dict[UUID, list[MemorySource]]


async def read_texts(tx: Transaction, hits: Sequence[Scored]) -> Texts:
    """Rows of candidates: one statement for memories with their sources, one for messages, where there are any.

    What is no longer current has none: a replay meets it.
    """
    memories = [hit.id for hit in hits if hit.type == "memory"]
    said = [hit.id for hit in hits if hit.type == "message"]
    kept = await tx.memories.with_sources(memories) if memories else []
    current = [row for row in kept if row["status"] in VISIBLE_STATUSES]
    sources = {row["id"]: [MemorySource(**source) for source in row["sources"]] for row in current}
    rows = [*current, *(await tx.messages.by_ids(said) if said else [])]
    return Texts({row["id"]: row for row in rows}, sources)
