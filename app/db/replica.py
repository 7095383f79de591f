"""A read replica beside the primary: for reads whose caller allows them to lag."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from app.core import clock
from app.core.errors import Unavailable
from app.db.scoped import Database

log = structlog.get_logger()

PAUSE_SECONDS: Final = 5.0
"""How long a replica that did not answer is left alone: until then reads go to the primary at once."""


@dataclass(slots=True)
class Replica:
    """Transactions that only read: on the replica, or on the primary while the replica does not answer."""

    database: Database
    primary: Database
    _away_until: float = field(default=0.0)

    @property
    def is_away(self) -> bool:
        """Whether it is left alone at the moment."""
        return clock.monotonic() < self._away_until

    @asynccontextmanager
    async def transaction(
        self, tenant_id: UUID | None, *, planned_once: bool = False
    ) -> AsyncIterator[AsyncConnection]:
        """As `Database.transaction`; a replica that cannot be reached, or that has no free connection, costs nothing.

        Raises:
            Unavailable: The primary cannot be reached either, or the replica broke off in the middle.
            ConfigurationError: Row-level security would not bind the acting role.
        """
        async with AsyncExitStack() as stack:
            connection = None
            if not self.is_away:
                opening = self.database.transaction(tenant_id, planned_once=planned_once)
                try:
                    connection = await stack.enter_async_context(opening)
                except Unavailable as problem:
                    self._away_until = clock.monotonic() + PAUSE_SECONDS
                    log.warning("replica_away", reason=problem.code)
            if connection is None:
                opening = self.primary.transaction(tenant_id, planned_once=planned_once)
                connection = await stack.enter_async_context(opening)
            yield connection

    async def look(self) -> str:
        """What there is to say of it, for an operator; an attempt is made also while it is left alone."""
        try:
            async with self.database.transaction(None) as connection:
                await connection.exec_driver_sql("SELECT 1")
        except Unavailable:
            return "away: the primary answers instead"
        self._away_until = 0.0
        return "ok"
