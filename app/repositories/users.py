"""The people of a tenant."""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from sqlalchemy import RowMapping, select
from sqlalchemy.dialects.postgresql import Insert, insert

from app.db.models import users
from app.repositories.base import Repository


def first_sight(tenant_id: UUID, user_ids: Iterable[str], at: datetime) -> Insert:
    """The statement that enters users who are new, in a fixed order, so that two writers never wait for each other."""
    rows = [
        {"tenant_id": tenant_id, "id": user_id, "first_seen_at": at, "updated_at": at}
        for user_id in sorted(set(user_ids))
    ]
    return insert(users).values(rows).on_conflict_do_nothing(index_elements=["tenant_id", "id"])


class UserRepository(Repository):
    """Users are entered when they are first seen; the tombstone of an erased one stays."""

    async def touch(self, user_ids: Iterable[str], at: datetime) -> None:
        """Enter users who are new."""
        await self._run(first_sight(self._tenant_id, user_ids, at))

    async def get(self, user_id: str) -> RowMapping | None:
        """One user."""
        return await self._first(select(users).where(users.c.tenant_id == self._tenant_id, users.c.id == user_id))
