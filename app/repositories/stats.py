"""How much a tenant has of what."""

from sqlalchemy import func, select

from app.db.models import jobs, memories, messages, sessions, users
from app.repositories.base import Repository


class StatsRepository(Repository):
    """Counts within one tenant."""

    async def counts(self) -> dict[str, int]:
        """Users, sessions and messages."""
        found = {}
        for name, table in (("users", users), ("sessions", sessions), ("messages", messages)):
            statement = select(func.count()).select_from(table).where(table.c.tenant_id == self._tenant_id)
            found[name] = int((await self._connection.execute(statement)).scalar_one())
        return found

    async def memories_by_status(self) -> dict[str, int]:
        """Memories by status."""
        statement = select(memories.c.status, func.count()).where(memories.c.tenant_id == self._tenant_id)
        return {row[0]: row[1] for row in (await self._connection.execute(statement.group_by(memories.c.status))).all()}

    async def jobs_by_state(self) -> dict[str, int]:
        """Jobs by state."""
        statement = select(jobs.c.state, func.count()).where(jobs.c.tenant_id == self._tenant_id)
        return {row[0]: row[1] for row in (await self._connection.execute(statement.group_by(jobs.c.state))).all()}
