"""When it is time to reflect: enough has come together since the last time."""

from dataclasses import dataclass
from uuid import UUID

from app.core import clock
from app.domain.scope import Scope
from app.services.tenancy import tenant_defaults
from app.uow import Transaction, UnitOfWork


@dataclass(frozen=True, slots=True)
class ReflectionTurns:
    """The use cases of the sweep and of extraction. Nothing is queued where the tenant reflects by hand."""

    uow: UnitOfWork

    async def of_owner(self, tenant_id: UUID, owner: str) -> bool:
        """Queue the job if it is an owner's turn."""
        async with self.uow.begin_tenant(tenant_id) as tx:
            return await self._queue(tx, owner)

    async def after_session(self, tenant_id: UUID, session_id: str) -> bool:
        """The same for whose memories a session has just added to."""
        async with self.uow.begin_tenant(tenant_id) as tx:
            session = await tx.sessions.get(session_id)
            return session is not None and await self._queue(tx, session["owner"])

    @staticmethod
    async def _queue(tx: Transaction, owner: str) -> bool:
        user_id, at = Scope.of_owner(owner).user_id, clock.now()
        policy = (await tenant_defaults(tx)).reflection
        if user_id is None or not policy.auto:
            return False
        if not policy.due(*await tx.insights.gathered(owner, await tx.insights.last(owner), at)):
            return False
        await tx.jobs.enqueue("reflect", owner, at, user_id=user_id)
        return True
