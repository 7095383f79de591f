"""Whose turn it is to dream: looked at with every sweep, and when a session is closed."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID
from zoneinfo import ZoneInfo

from app.core import clock
from app.domain.dreaming.policy import A_WEEK, REST, Dreamer
from app.domain.scope import Scope
from app.services.tenancy import tenant_defaults
from app.uow import UnitOfWork

MANY: Final = 200
"""Owners that one sweep looks at: those whose last dream was the longest ago."""


@dataclass(frozen=True, slots=True)
class DreamTurns:
    """The use case of the sweep."""

    uow: UnitOfWork

    async def queue(self, tenant_id: UUID) -> int:
        """Queue the dreams that are due; how many."""
        at = clock.now()
        async with self.uow.begin_tenant(tenant_id) as tx:
            defaults = await tenant_defaults(tx)
            policy = defaults.dreaming
            if not policy.by_time:
                return 0
            rest = A_WEEK if set(policy.when) <= {"weekly", "session_closed"} else REST
            zone = ZoneInfo(defaults.timezone or "UTC")
            due: list[str] = []
            for row in await tx.owners.dreamers(at - rest, MANY):
                active_at = await tx.sessions.last_active(row["owner"])
                newest = await tx.forgetting.newest(row["owner"])
                times = [one for one in (active_at, newest) if one is not None]
                one = Dreamer(row["dreamed_at"], max(times, default=None), row["memory_count"])
                trigger = policy.due(one, at, zone, defaults.forgetting.capacity)
                if trigger is not None:
                    due.append(row["owner"])
                    user_id = Scope.of_owner(row["owner"]).user_id
                    await tx.jobs.enqueue("dream", row["owner"], at, user_id=user_id, payload={"trigger": trigger})
            if due:
                await tx.owners.dreamed(due, at)
        return len(due)
