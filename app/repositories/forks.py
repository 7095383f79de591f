"""What a session's copy takes along beside its messages, and where an interrupted one stood."""

from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from app.core import ids
from app.db.models import summaries
from app.repositories.base import Repository, filled

ROWS_OF_ONE_STATEMENT: Final = 500


class ForkRepository(Repository):
    """summaries of sessions that the caller has looked at: whether the key may see them, and is not past its time."""

    async def copy_summaries(self, session_id: str, copy_id: str, last_seq: int) -> int:
        """Give a copy the summaries of what it has; the last number that they cover, 0 where there are none."""
        statement = select(summaries).where(*self._of(session_id), summaries.c.to_seq <= last_seq)
        rows = await self._all(statement.order_by(summaries.c.level, summaries.c.from_seq))
        if not rows:
            return 0
        names = {row["id"]: ids.new_id() for row in rows}
        copies: list[dict[str, Any]] = [
            {**row, "id": names[row["id"]], "session_id": copy_id}
            | {"parents": [names[parent] for parent in row["parents"] if parent in names]}
            for row in rows
        ]
        for start in range(0, len(copies), ROWS_OF_ONE_STATEMENT):
            await self._run(*filled(insert(summaries), copies[start : start + ROWS_OF_ONE_STATEMENT]))
        return max(int(row["to_seq"]) for row in rows)

    def _of(self, session_id: str) -> list[Any]:
        return [summaries.c.tenant_id == self._tenant_id, summaries.c.session_id == session_id]
