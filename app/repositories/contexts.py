"""What contexts are made from, and what was prepared of the next: that is lost with a crash, and made again."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ARRAY, Text, Uuid, and_, bindparam, delete, func, literal_column, or_, select
from sqlalchemy.dialects.postgresql import aggregate_order_by, insert

from app.db.models import blocks, context_cache, session_states, sessions
from app.repositories.base import Repository
from app.repositories.prepared import Prepared

_BLOCK: Final = ("label", "text", "user_id", "agent_id")
_TENANT: Final = bindparam("tenant_id", type_=Uuid())
_SESSION: Final = bindparam("session", type_=Text(collation="C"))
_OF_SESSION: Final = Prepared.of(
    select(context_cache.c.variant, context_cache.c.last_seq).where(
        context_cache.c.tenant_id == _TENANT, context_cache.c.session_id == _SESSION
    )
)
_STATE: Final = (
    select(session_states.c.document)
    .where(session_states.c.tenant_id == _TENANT, session_states.c.session_id == _SESSION)
    .order_by(session_states.c.version.desc())
    .limit(literal_column("1"))
)
_KEPT: Final = select(
    func.json_agg(
        aggregate_order_by(
            func.json_build_array(context_cache.c.content, context_cache.c.created_at),
            context_cache.c.created_at.desc(),
        )
    )
).where(context_cache.c.tenant_id == _TENANT, context_cache.c.session_id == _SESSION)
_IN_REACH: Final = (
    select(
        func.json_agg(
            aggregate_order_by(
                func.json_build_array(blocks.c.label, blocks.c.text, blocks.c.user_id, blocks.c.agent_id),
                blocks.c.label,
                blocks.c.id,
            )
        )
    )
    .where(
        blocks.c.tenant_id == _TENANT,
        or_(
            *(
                and_(
                    blocks.c.user_id.is_(None) if user is None else blocks.c.user_id == user,
                    blocks.c.agent_id.is_(None) if agent is None else blocks.c.agent_id == agent,
                )
                for user in (sessions.c.user_id, None)
                for agent in (sessions.c.agent_id, None)
            )
        ),
    )
    .correlate(sessions)
)
_AT_HAND: Final = select(
    sessions,
    _STATE.scalar_subquery().label("state"),
    _KEPT.scalar_subquery().label("kept"),
    _IN_REACH.scalar_subquery().label("blocks"),
).where(sessions.c.tenant_id == _TENANT, sessions.c.id == _SESSION)
_OF_ANYBODY: Final = Prepared.of(_AT_HAND)
_OF_THOSE: Final = Prepared.of(
    _AT_HAND.where(sessions.c.user_id == func.any(bindparam("users", type_=ARRAY(Text(collation="C")))))
)
"""What a context begins with, in one round trip."""


Kept = tuple[dict[str, Any], datetime]
"""What was prepared, and when."""


@dataclass(frozen=True, slots=True)
class AtHand:
    """What there is for a session's context beside its messages.

    Args:
        session: Its row.
        state: The newest document of its state; empty where there is none.
        kept: What was prepared, the newest first.
        blocks: Core memory in reach, by label: `label`, `text`, `user_id`, `agent_id`.
    """

    session: dict[str, Any]
    state: dict[str, Any]
    kept: list[Kept]
    blocks: list[dict[str, Any]]


class ContextRepository(Repository):
    """What contexts are made from. But for `at_hand` the caller has looked whether the key may see the session."""

    async def at_hand(self, session_id: str) -> AtHand | None:
        """A session with what its context needs beside messages; None where it is absent or another's."""
        values: dict[str, Any] = {"tenant_id": self._tenant_id, "session": session_id}
        if self._user_ids is None:
            rows = await _OF_ANYBODY.read(self._connection, values)
        else:
            rows = await _OF_THOSE.read(self._connection, values | {"users": sorted(self._user_ids)})
        if not rows:
            return None
        row = rows[0]
        state, kept, blocks = row.pop("state"), row.pop("kept"), row.pop("blocks")
        self._meet(row)
        return AtHand(
            session=row,
            state=state or {},
            kept=[(content, datetime.fromisoformat(at)) for content, at in kept or ()],
            blocks=[dict(zip(_BLOCK, one, strict=True)) for one in blocks or ()],
        )

    async def prepared(self, session_id: str) -> list[dict[str, Any]]:
        """What there is by `variant`, for the last turn or what somebody types: up to which message, `last_seq`."""
        return await _OF_SESSION.read(self._connection, {"tenant_id": self._tenant_id, "session": session_id})

    async def prepare(
        self, session_id: str, variant: str, owner_version: int, last_seq: int, content: dict[str, Any], at: datetime
    ) -> None:
        """Keep it in the place of what was prepared before."""
        values = {"owner_version": owner_version, "last_seq": last_seq, "content": content, "created_at": at}
        row = {"tenant_id": self._tenant_id, "session_id": session_id, "variant": variant}
        statement = insert(context_cache).values(row | values)
        await self._run(
            statement.on_conflict_do_update(index_elements=["tenant_id", "session_id", "variant"], set_=values)
        )

    async def expire(self, before: datetime) -> int:
        """Drop what was prepared before an instant: it is served no more, and may hold what was erased since."""
        statement = delete(context_cache).where(context_cache.c.tenant_id == self._tenant_id)
        return await self._run(statement.where(context_cache.c.created_at < before))

    async def forget(self, session_id: str) -> None:
        """Drop what was prepared for a session."""
        statement = delete(context_cache).where(context_cache.c.tenant_id == self._tenant_id)
        await self._run(statement.where(context_cache.c.session_id == session_id))
