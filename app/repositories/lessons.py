"""Lessons: what memories of this category carry beside their text, and the experiences that they come from."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import RowMapping, Select, select, update
from sqlalchemy.dialects.postgresql import insert

from app.db.models import experiences, lessons, memories
from app.domain.procedure import Outcome
from app.domain.scope import Scope
from app.repositories.base import Repository
from app.repositories.selection import current_at

_SHOWN = (
    *("text", "user_id", "agent_id", "app_id", "source", "confidence", "seen_count", "status"),
    *("created_at", "updated_at", "version"),
)
_BOTH = select(lessons, *(memories.c[name] for name in _SHOWN)).join_from(
    lessons, memories, (memories.c.tenant_id == lessons.c.tenant_id) & (memories.c.id == lessons.c.id)
)


class LessonRepository(Repository):
    """The lessons that the key may see: its users' and those of no user."""

    async def get(self, lesson_id: UUID, at: datetime) -> RowMapping | None:
        """One current lesson."""
        return await self._first(self._current(at).where(lessons.c.id == lesson_id))

    async def by_ids(self, ids: Sequence[UUID], at: datetime) -> list[RowMapping]:
        """Those of the ids that are lessons, and current."""
        return await self._all(self._current(at).where(lessons.c.id.in_(list(ids))))

    async def page(
        self, scope: Scope, outcome: Outcome | None, after: UUID | None, limit: int, at: datetime
    ) -> list[RowMapping]:
        """Lessons, newest first; an absent scope field does not restrict."""
        statement = self._listed(scope, outcome, at)
        if after is not None:
            statement = statement.where(lessons.c.id < after, memories.c.id < after)
        return await self._all(statement.order_by(lessons.c.id.desc()).limit(limit))

    async def count(self, scope: Scope, outcome: Outcome | None, at: datetime) -> int:
        """How many there are."""
        return await self._count(self._listed(scope, outcome, at))

    async def taught(self, lesson_id: UUID, owner: str, outcome: Outcome, task: str) -> RowMapping:
        """Enter a lesson, or count one more time that its way worked; that a failure repeats makes it no worse."""
        worked = int(outcome == "success")
        row = {"id": lesson_id, "owner": owner, "outcome": outcome, "task": task, "successes": worked}
        statement = insert(lessons).values(tenant_id=self._tenant_id, **row)
        again = statement.on_conflict_do_update(
            index_elements=["tenant_id", "id"], set_={"successes": lessons.c.successes + worked}
        )
        return await self._one_row(again.returning(lessons))

    async def count_outcome(self, lesson_id: UUID, outcome: Outcome) -> RowMapping:
        """Count a use that went well or did not."""
        name = "successes" if outcome == "success" else "failures"
        statement = update(lessons).where(lessons.c.tenant_id == self._tenant_id, lessons.c.id == lesson_id)
        return await self._one_row(statement.values({name: lessons.c[name] + 1}).returning(lessons))

    async def add_experience(self, row: dict[str, Any]) -> None:
        """Keep what a lesson comes from."""
        await self._run(insert(experiences).values(tenant_id=self._tenant_id, **row))

    async def experiences(self, lesson_id: UUID, limit: int) -> list[RowMapping]:
        """What a lesson comes from, newest first."""
        statement = select(experiences).where(
            experiences.c.tenant_id == self._tenant_id, experiences.c.lesson_id == lesson_id
        )
        return await self._all(statement.order_by(experiences.c.id.desc()).limit(limit))

    def _current(self, at: datetime) -> Select[Any]:
        return _BOTH.where(
            lessons.c.tenant_id == self._tenant_id,
            memories.c.kind == "procedural",  # as all of them are: it tells the planner how few there are
            *current_at(at),
            *self._own_or_shared(memories.c.user_id, memories.c.session_id),
        )

    def _listed(self, scope: Scope, outcome: Outcome | None, at: datetime) -> Select[Any]:
        statement = self._current(at)
        if scope.user_id is not None:
            statement = statement.where(lessons.c.owner == Scope(scope.user_id).owner)
        if scope.agent_id is not None:
            statement = statement.where(memories.c.agent_id == scope.agent_id)
        if scope.app_id is not None:
            statement = statement.where(memories.c.app_id == scope.app_id)
        return statement if outcome is None else statement.where(lessons.c.outcome == outcome)
