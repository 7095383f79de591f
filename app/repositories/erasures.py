"""What was erased and for whom: the receipts, which are tombstones too."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from sqlalchemy import RowMapping, select, update
from sqlalchemy.dialects.postgresql import insert

from app.db.models import erasures
from app.repositories.base import Repository


class ErasureRepository(Repository):
    """erasures. `subject` is the user's pseudonym."""

    async def add(self, erasure_id: UUID, subject: str, actor: str, at: datetime) -> RowMapping:
        """Enter an erasure that begins."""
        row = {"tenant_id": self._tenant_id, "id": erasure_id, "subject": subject, "state": "running"}
        row |= {"requested_by": actor, "requested_at": at}
        return await self._one_row(insert(erasures).values(row).returning(erasures))

    async def get(self, erasure_id: UUID) -> RowMapping | None:
        """One erasure."""
        return await self._first(
            select(erasures).where(erasures.c.tenant_id == self._tenant_id, erasures.c.id == erasure_id)
        )

    async def running(self, subject: str) -> RowMapping | None:
        """The erasure of a user that goes on at the moment."""
        statement = select(erasures).where(
            erasures.c.tenant_id == self._tenant_id, erasures.c.subject == subject, erasures.c.state == "running"
        )
        return await self._first(statement.limit(1))

    async def add_counts(self, erasure_id: UUID, counts: Mapping[str, int]) -> None:
        """Note what more is gone."""
        mine = (erasures.c.tenant_id == self._tenant_id, erasures.c.id == erasure_id)
        row = await self._one_row(select(erasures.c.counts).where(*mine).with_for_update())
        known: dict[str, int] = dict(row["counts"])
        for table, number in counts.items():
            known[table] = known.get(table, 0) + number
        await self._run(update(erasures).where(*mine).values(counts=known))

    async def finish(self, erasure_id: UUID, at: datetime) -> None:
        """Note that all is gone."""
        await self._run(
            update(erasures)
            .where(erasures.c.tenant_id == self._tenant_id, erasures.c.id == erasure_id)
            .values(state="finished", finished_at=at)
        )

    async def attest(self, erasure_id: UUID, position: int, digest: bytes) -> None:
        """Note where the audit log's chain stood when it was finished."""
        await self._run(
            update(erasures)
            .where(erasures.c.tenant_id == self._tenant_id, erasures.c.id == erasure_id)
            .values(chain_position=position, chain_hash=digest)
        )
