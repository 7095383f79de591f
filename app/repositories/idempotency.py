"""Answers already given: the same key, the same answer."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import delete, select, update
from sqlalchemy.dialects.postgresql import insert

from app.db.models import idempotency_keys
from app.repositories.base import Repository

PENDING = 0


@dataclass(frozen=True, slots=True)
class IdempotencyClaim:
    """Which call this is: who, what, under which key, with which body."""

    principal_id: UUID
    method: str
    route: str
    key: str
    request_hash: bytes


class IdempotencyRepository(Repository):
    """The unique key makes a twin wait until the first call has committed or failed."""

    async def claim(self, claim: IdempotencyClaim, at: datetime, expired_before: datetime) -> dict[str, Any] | None:
        """Take the key for this transaction, or return the stored answer of the call that had it first.

        The answer has `request_hash`, `status` and `body`.
        """
        row = {"tenant_id": self._tenant_id, **_columns(claim), "request_hash": claim.request_hash}
        fresh = {"status": PENDING, "body": "", "created_at": at}
        statement = insert(idempotency_keys).values(**row, **fresh)
        taken = statement.on_conflict_do_update(
            index_elements=["tenant_id", "principal_id", "method", "route", "key"],
            set_={"request_hash": claim.request_hash, **fresh},
            where=idempotency_keys.c.created_at < expired_before,
        ).returning(idempotency_keys.c.key)
        if await self._first(taken) is not None:
            return None
        found = await self._first(select(idempotency_keys).where(*self._mine(claim)))
        return None if found is None else dict(found)

    async def store(self, claim: IdempotencyClaim, status: int, body: str, user_id: str | None) -> None:
        """Keep the answer; it becomes visible with the commit of what it answers."""
        values = {"status": status, "body": body, "user_id": user_id}
        await self._run(update(idempotency_keys).where(*self._mine(claim)).values(values))

    async def sweep(self, before: datetime) -> int:
        """Forget answers older than an instant."""
        statement = delete(idempotency_keys).where(
            idempotency_keys.c.tenant_id == self._tenant_id, idempotency_keys.c.created_at < before
        )
        return await self._run(statement)

    def _mine(self, claim: IdempotencyClaim) -> list[Any]:
        equal = [idempotency_keys.c[name] == value for name, value in _columns(claim).items()]
        return [idempotency_keys.c.tenant_id == self._tenant_id, *equal]


def _columns(claim: IdempotencyClaim) -> dict[str, Any]:
    return {
        "principal_id": claim.principal_id,
        "method": claim.method,
        "route": claim.route,
        "key": claim.key,
    }
