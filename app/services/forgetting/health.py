"""How well memories serve, for a tenant or one user: what admins look at, and what Prometheus scrapes."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from app.core import clock
from app.domain.principal import Principal
from app.domain.scope import Scope
from app.schemas.forgetting import MemoryHealth
from app.services.users import known_user
from app.uow import Transaction, UnitOfWork


@dataclass(frozen=True, slots=True)
class MemoryHealthService:
    """The use cases of looking at it. Reads only."""

    uow: UnitOfWork

    async def of_tenant(self, principal: Principal) -> MemoryHealth:
        """All memories of the tenant."""
        principal.require_administration()
        async with self.uow.begin_tenant(principal.tenant_id) as tx:
            return health_of(await counts_of(tx))

    async def of_user(self, principal: Principal, user_id: str) -> MemoryHealth:
        """The memories of one user."""
        principal.require("memories:read")
        async with self.uow.begin(principal) as tx:
            await known_user(tx, user_id)
            return health_of(await counts_of(tx, Scope(user_id).owner))

    async def tally(self, tenants: Sequence[UUID]) -> Counter[str]:
        """The counts of all tenants together."""
        total: Counter[str] = Counter()
        for tenant_id in tenants:
            async with self.uow.begin_tenant(tenant_id) as tx:
                total.update(await counts_of(tx))
        return total


async def counts_of(tx: Transaction, owner: str | None = None) -> dict[str, int]:
    """What there is to count."""
    counts = {name: int(value) for name, value in (await tx.health.counts(clock.now(), owner)).items()}
    return counts | {"contradictions": await tx.health.contradictions(owner)}


def health_of(counts: dict[str, int]) -> MemoryHealth:
    """The report."""
    judged = counts["used"] + counts["ignored"] + counts["wrong"]
    return MemoryHealth(
        written=counts["written"],
        current=counts["current"],
        archived=counts["archived"],
        junk_rate=_share(counts["junk_now"], counts["current"]),
        pollution=_share(counts["junk"], counts["written"]),
        noise=_share(counts["ignored"], judged),
        wrong=_share(counts["wrong"], judged),
        contradictions=counts["contradictions"],
        duplicates=counts["current"] - counts["texts"],
        to_confirm=counts["to_confirm"],
        retrieval_hits=counts["hits"],
        served=counts["served"],
        never_used=counts["never_used"],
    )


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
