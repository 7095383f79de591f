"""Sessions: created at the first message or by hand, locked by whoever appends or works on them."""

from datetime import datetime
from typing import Any, Final, Literal

from sqlalchemy import (
    ColumnElement,
    DateTime,
    RowMapping,
    Select,
    Text,
    Uuid,
    bindparam,
    delete,
    func,
    literal_column,
    or_,
    select,
    tuple_,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from app.db.models import jobs, sessions
from app.domain.scope import Scope
from app.repositories.base import Repository
from app.repositories.prepared import Prepared

FILTERS = ("user_id", "agent_id", "app_id", "status")


Lagging = Literal["embed_messages", "extract", "summarise"]

_LAG: Final[dict[Lagging, tuple[ColumnElement[bool], ...]]] = {
    "embed_messages": (sessions.c.embedded_seq < sessions.c.last_seq,),
    "summarise": (sessions.c.weighed_seq < sessions.c.last_seq,),
    "extract": (sessions.c.extracted_seq < sessions.c.last_seq, sessions.c.memory == literal_column("'on'")),
}
"""As the indexes have it, so that they serve."""

_TENANT: Final = sessions.c.tenant_id == bindparam("tenant_id", type_=Uuid())
_ONE: Final = select(sessions).where(_TENANT, sessions.c.id == bindparam("session", type_=Text(collation="C")))
_ONE_LOCKED: Final = _ONE.with_for_update()
"""Built once: every call and every job reads its session."""

_ORDINAL: Final = Prepared.of(
    select(func.count().label("place"))
    .select_from(sessions)
    .where(
        _TENANT,
        sessions.c.owner == bindparam("owner", type_=Text(collation="C")),
        sessions.c.created_at <= bindparam("at", type_=DateTime(timezone=True)),
    )
)
"""In the path of every search for a context."""


class SessionRepository(Repository):
    """The sessions of a tenant that the key may see."""

    async def get(self, session_id: str) -> RowMapping | None:
        """One session; None where it is absent or another's."""
        return await self._first(self._of_mine(_ONE), self._named(session_id))

    async def get_for_update(self, session_id: str) -> RowMapping | None:
        """The same, its row locked until the commit."""
        return await self._first(self._of_mine(_ONE_LOCKED), self._named(session_id))

    async def hold(self, session_id: str, at: datetime, changed_at: datetime | None = None) -> bool:
        """Whether there is such a session that has not expired; if so, it stays until the commit.

        With `changed_at`, only one that was not changed since that instant.
        """
        unchanged = [] if changed_at is None else [sessions.c.updated_at == changed_at]
        statement = select(sessions.c.id).where(*self._mine(session_id), *self._alive(at), *unchanged)
        return await self._first(statement.with_for_update(read=True, key_share=True)) is not None

    async def expired(self, at: datetime, limit: int) -> list[str]:
        """Sessions that are past their time."""
        statement = select(sessions.c.id).where(sessions.c.tenant_id == self._tenant_id, sessions.c.expires_at <= at)
        return list((await self._connection.execute(statement.limit(limit))).scalars().all())

    async def create(self, row: dict[str, Any]) -> RowMapping | None:
        """A new session; None where the id is taken, by whomever."""
        statement = insert(sessions).values(self._row(row)).on_conflict_do_nothing(index_elements=["tenant_id", "id"])
        return await self._first(statement.returning(sessions))

    async def create_or_lock(self, row: dict[str, Any], *, messages: int) -> RowMapping:
        """The session of this id, made if absent, its row locked and `messages` sequence numbers taken.

        The row comes back as it is after that, also where it belongs to someone else: the caller must look. `created`
        says that it is new: its user must then be entered.
        """
        at = row["updated_at"]
        values = self._row(row) | {"last_seq": messages, "message_count": messages, "last_message_at": at}
        statement = insert(sessions).values(values)
        upsert = statement.on_conflict_do_update(
            index_elements=["tenant_id", "id"],
            set_={
                "last_seq": sessions.c.last_seq + messages,
                "message_count": sessions.c.message_count + messages,
                "last_message_at": at,
                "updated_at": at,
            },
        ).returning(sessions, literal_column("(xmax = 0)").label("created"))
        return await self._one_row(upsert)

    async def shrink(self, session_id: str, messages: int, at: datetime) -> None:
        """Count messages as gone from a session whose row is locked; its numbers go on."""
        left = func.greatest(sessions.c.message_count - messages, 0)
        await self._run(update(sessions).where(*self._mine(session_id)).values(message_count=left, updated_at=at))

    async def grow(self, session_id: str, messages: int, last_at: datetime | None) -> RowMapping:
        """Count messages that came with their numbers, the last of them at that time."""
        statement = update(sessions).where(*self._mine(session_id))
        counted = statement.values(message_count=sessions.c.message_count + messages, last_message_at=last_at)
        return await self._one_row(counted.returning(sessions))

    async def take_sequence(self, session_id: str, messages: int) -> int:
        """Take sequence numbers in a session whose row is locked; the last one taken comes back."""
        statement = (
            update(sessions)
            .where(*self._mine(session_id))
            .values(last_seq=sessions.c.last_seq + messages, message_count=sessions.c.message_count + messages)
            .returning(sessions.c.last_seq)
        )
        return int((await self._connection.execute(statement)).scalar_one())

    async def page(
        self, filters: dict[str, str], after: tuple[datetime, str] | None, limit: int, at: datetime | None = None
    ) -> list[RowMapping]:
        """Sessions, newest first, after a keyset position (created_at, id); with `at`, none that has expired."""
        statement = select(sessions).where(*self._filtered(filters), *self._alive(at))
        if after is not None:
            statement = statement.where(tuple_(sessions.c.created_at, sessions.c.id) < tuple_(*after))
        return await self._all(statement.order_by(sessions.c.created_at.desc(), sessions.c.id.desc()).limit(limit))

    async def last_of(self, owner: str, limit: int) -> list[RowMapping]:
        """The last sessions of an owner that have messages which extraction is done with, newest first."""
        statement = select(sessions).where(
            sessions.c.tenant_id == self._tenant_id,
            sessions.c.owner == owner,
            sessions.c.extracted_seq > 0,
            self._outside_expired(sessions.c.id),
        )
        return await self._all(statement.order_by(sessions.c.created_at.desc(), sessions.c.id.desc()).limit(limit))

    async def last_active(self, owner: str) -> datetime | None:
        """When the last message came among an owner's newest sessions; None where there is none."""
        newest = (
            select(sessions.c.last_message_at)
            .where(sessions.c.tenant_id == self._tenant_id, sessions.c.owner == owner)
            .order_by(sessions.c.created_at.desc(), sessions.c.id.desc())
            .limit(20)
            .subquery()
        )
        found: datetime | None = (
            await self._connection.execute(select(func.max(newest.c.last_message_at)))
        ).scalar_one()
        return found

    async def count(self, filters: dict[str, str], at: datetime | None = None) -> int:
        """How many sessions the filters leave; with `at`, without those that have expired by then."""
        statement = select(func.count()).select_from(sessions).where(*self._filtered(filters), *self._alive(at))
        return int((await self._connection.execute(statement)).scalar_one())

    async def change(self, session_id: str, values: dict[str, Any]) -> RowMapping | None:
        """Write columns and raise the version."""
        statement = update(sessions).where(*self._mine(session_id))
        return await self._first(statement.values(version=sessions.c.version + 1, **values).returning(sessions))

    async def delete(self, session_id: str) -> bool:
        """Remove a session with its messages, summaries, state and the memories scoped to it."""
        return await self._run(delete(sessions).where(*self._mine(session_id))) > 0

    async def embedded_to(self, session_id: str, seq: int) -> None:
        """Move the embedding cursor forward, never back."""
        statement = update(sessions).where(*self._mine(session_id), sessions.c.embedded_seq < seq)
        await self._run(statement.values(embedded_seq=seq))

    async def extracted_to(self, session_id: str, seq: int) -> None:
        """Move the extraction cursor forward, never back."""
        statement = update(sessions).where(*self._mine(session_id), sessions.c.extracted_seq < seq)
        await self._run(statement.values(extracted_seq=seq))

    async def summarized_to(self, session_id: str, seq: int, weighed: int) -> None:
        """Move the cursor of folding forward, never back, and note up to where it was looked what has to be folded."""
        moved = {
            "summarized_seq": func.greatest(sessions.c.summarized_seq, seq),
            "weighed_seq": func.greatest(sessions.c.weighed_seq, weighed),
        }
        await self._run(update(sessions).where(*self._mine(session_id)).values(moved))

    async def ordinal(self, owner: str, at: datetime) -> int:
        """The how manieth session of its owner one is that was made at an instant."""
        rows = await _ORDINAL.run(self._connection, {"tenant_id": self._tenant_id, "owner": owner, "at": at})
        return int(rows[0]["place"])

    async def lagging(self, kind: Lagging, before: datetime, limit: int) -> list[str]:
        """Sessions with messages that wait for a kind of job since before an instant, oldest first.

        Left out are those that a job takes care of, and those whose job died or was cancelled since they last moved:
        these are left to a person.
        """
        cared_for = (
            select(jobs.c.id)
            .where(
                jobs.c.tenant_id == sessions.c.tenant_id,
                jobs.c.kind == kind,
                jobs.c.subject == sessions.c.id,
                or_(
                    jobs.c.state.in_(("queued", "running")),
                    jobs.c.state.in_(("dead", "cancelled")) & (jobs.c.finished_at >= sessions.c.updated_at),
                ),
            )
            .exists()
        )
        statement = (
            select(sessions.c.id)
            .where(
                sessions.c.tenant_id == self._tenant_id,
                *_LAG[kind],
                sessions.c.updated_at < before,
                ~cared_for,
            )
            .order_by(sessions.c.updated_at)
            .limit(limit)
        )
        return list((await self._connection.execute(statement)).scalars().all())

    def _row(self, row: dict[str, Any]) -> dict[str, Any]:
        return {"tenant_id": self._tenant_id, **row}

    def _of_mine(self, statement: Select[Any]) -> Select[Any]:
        return statement if self._user_ids is None else statement.where(*self._own(sessions.c.user_id))

    def _named(self, session_id: str) -> dict[str, Any]:
        return {"tenant_id": self._tenant_id, "session": session_id}

    def _mine(self, session_id: str) -> list[Any]:
        return [
            sessions.c.tenant_id == self._tenant_id,
            sessions.c.id == session_id,
            *self._own(sessions.c.user_id),
        ]

    @staticmethod
    def _alive(at: datetime | None) -> list[Any]:
        return [] if at is None else [or_(sessions.c.expires_at.is_(None), sessions.c.expires_at > at)]

    def _filtered(self, filters: dict[str, str]) -> list[Any]:
        """A user's sessions are named by their owner too: that is what the index knows."""
        chosen = [sessions.c.tenant_id == self._tenant_id, *self._own(sessions.c.user_id)]
        chosen += [sessions.c[name] == value for name, value in filters.items()]
        if "user_id" in filters:
            chosen.append(sessions.c.owner == Scope(filters["user_id"]).owner)
        elif self._user_ids is not None:
            chosen.append(sessions.c.owner.in_([Scope(user_id).owner for user_id in sorted(self._user_ids)]))
        return chosen
