"""Sessions: created, listed, changed, deleted."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from app.core import clock, ids
from app.core.errors import Conflict, NotFound, PreconditionFailed
from app.domain.principal import Principal
from app.domain.scope import Scope
from app.repositories.base import Row, RowLike
from app.repositories.idempotency import IdempotencyClaim
from app.repositories.owners import OwnerChange
from app.schemas.lists import Page, decode_cursor, encode_cursor
from app.schemas.sessions import Session, SessionChange, SessionCreate
from app.services.answers import Answer, Write, write_once
from app.services.history import event_row
from app.services.redacting import Redacting
from app.uow import Transaction, UnitOfWork

_Found = TypeVar("_Found", bound=RowLike)


@dataclass(frozen=True, slots=True)
class SessionService:
    """The use cases of sessions."""

    uow: UnitOfWork
    redacting: Redacting

    async def create(self, principal: Principal, request: SessionCreate, claim: IdempotencyClaim | None) -> Answer:
        """Open a session. Raises `Conflict` where its id is taken."""
        principal.require("sessions:write")
        at = clock.now()
        cleaned = await self.redacting.clean(principal, request)
        request = cleaned.request
        row = session_row(
            request.id or str(ids.new_id()),
            Scope(principal.own_user(request.user_id), request.agent_id, request.app_id),
            at,
            title=request.title,
            timezone=request.timezone or principal.defaults.timezone,
            metadata=request.metadata,
            memory=request.memory,
            expires_at=expiry(principal, request.ttl, at),
        )

        async def work(tx: Transaction) -> Answer:
            created = await tx.sessions.create(row)
            over = created is None and await _locked_if_over(tx, row["id"], at)
            if row["user_id"] is not None:
                await tx.users.touch([row["user_id"]], at)
            if over:
                await remove(tx, row["id"])
                created = await tx.sessions.create(row)
            if created is None:
                raise id_taken()
            return Answer(201, session_of(created).model_copy(update={"redacted": cleaned.kinds()}))

        return await write_once(self.uow, Write(principal, claim), Session, work)

    async def get(self, principal: Principal, session_id: str) -> Session:
        """One session."""
        principal.require("sessions:read")
        async with self.uow.begin(principal, reading=True) as tx:
            return session_of(alive(await tx.sessions.get(session_id)))

    async def page(
        self, principal: Principal, filters: dict[str, str], cursor: str | None, limit: int, *, count: bool
    ) -> Page[Session]:
        """Sessions, newest first."""
        principal.require("sessions:read")
        after = decode_cursor(cursor, datetime, str)
        at = clock.now()
        async with self.uow.begin(principal, reading=True) as tx:
            rows = await tx.sessions.page(filters, None if after is None else (after[0], after[1]), limit + 1, at)
            total = await tx.sessions.count(filters, at) if count else None
        last = rows[limit - 1] if len(rows) > limit else None
        return Page(
            results=[session_of(row) for row in rows[:limit]],
            next_cursor=None if last is None else encode_cursor(last["created_at"].isoformat(), last["id"]),
            total=total,
        )

    async def change(
        self,
        principal: Principal,
        session_id: str,
        request: SessionChange,
        if_match: int | None,
        claim: IdempotencyClaim | None = None,
    ) -> Answer:
        """Write the fields that the request names."""
        principal.require("sessions:write")
        at = clock.now()
        cleaned = await self.redacting.clean(principal, request)
        request = cleaned.request
        values: dict[str, Any] = request.model_dump(exclude_unset=True, exclude={"version"})
        expected = if_match if if_match is not None else request.version

        async def work(tx: Transaction) -> Answer:
            current = alive(await tx.sessions.get_for_update(session_id))
            check_version(current["version"], expected)
            if values.get("memory") == "on" and current["memory"] != "on":
                values["extracted_seq"] = current["last_seq"]  # what was said while it was off is not learnt from
            changed = await tx.sessions.change(session_id, values | {"updated_at": at})
            return Answer(200, session_of(_there(changed)).model_copy(update={"redacted": cleaned.kinds()}))

        return await write_once(self.uow, Write(principal, claim), Session, work)

    async def delete(
        self, principal: Principal, session_id: str, claim: IdempotencyClaim | None = None, *, memories: bool = False
    ) -> Answer:
        """Remove a session with its messages.

        Memories drawn from it stay, with their quotes; with `memories` those go that come from nowhere else.
        """
        principal.require("sessions:write")
        if memories:
            principal.require("memories:write")

        async def work(tx: Transaction) -> Answer:
            _there(await tx.sessions.get_for_update(session_id))
            if memories:
                await tx.owners.lock(await tx.owners.of_session(session_id, drawn=True))
                await delete_drawn(tx, session_id, principal.actor, clock.now())
            await remove(tx, session_id)
            return Answer(204, None)

        return await write_once(self.uow, Write(principal, claim), None, work)


async def remove(tx: Transaction, session_id: str) -> None:
    """Remove a session whose row is locked, and take what goes with it out of its owners' counters.

    The owners are locked before anything is counted: who deletes one of the memories at the same moment has counted it.
    """
    await tx.owners.lock(await tx.owners.of_session(session_id))
    for owner, change in await tx.owners.held_by_session(session_id):
        await tx.owners.lock_and_change(owner, change)
    await tx.sessions.delete(session_id)


async def forget_expired(tx: Transaction, session_id: str, at: datetime) -> bool:
    """Make an id free again whose session has expired; False where it has not, or is another's."""
    over = await _locked_if_over(tx, session_id, at)
    if over:
        await remove(tx, session_id)
    return over


async def _locked_if_over(tx: Transaction, session_id: str, at: datetime) -> bool:
    """Whether this session of the caller's has expired; its row is then locked."""
    row = await tx.sessions.get_for_update(session_id)
    return row is not None and row["expires_at"] is not None and row["expires_at"] <= at


def expiry(principal: Principal, ttl: int | None, at: datetime) -> datetime | None:
    """When a session goes: after its own life, else after the tenant's default one, else never."""
    seconds = principal.defaults.session_ttl if ttl is None else ttl
    return None if seconds is None else at + timedelta(seconds=seconds)


async def delete_drawn(tx: Transaction, session_id: str, actor: str, at: datetime) -> None:
    """Delete the memories that come from this session alone. Their owners must be locked."""
    rows = await tx.memories.drawn_from_only(session_id)
    lengths: dict[str, list[int]] = {}
    for row in rows:
        lengths.setdefault(row["owner"], []).append(row["length"])
    for owner in sorted(lengths):
        await tx.owners.lock_and_change(owner, OwnerChange(-len(lengths[owner]), -sum(lengths[owner])))
    values = {"status": "deleted", "deleted_at": at, "updated_at": at}
    changed = [(row, await tx.memories.change(row["id"], values)) for row in rows]
    await tx.memories.record([event_row("deleted", old, new, actor, at, {"status"}) for old, new in changed])


def session_row(session_id: str, scope: Scope, at: datetime, **given: Any) -> dict[str, Any]:  # noqa: ANN401 - columns
    """The columns of a new session."""
    owner = Scope(scope.user_id, scope.agent_id, scope.app_id, session_id).owner
    return {
        "id": session_id,
        "owner": owner,
        "user_id": scope.user_id,
        "agent_id": scope.agent_id,
        "app_id": scope.app_id,
        "memory": "on",
        "status": "open",
        "created_at": at,
        "updated_at": at,
        **given,
    }


def session_of(row: Row) -> Session:
    """A session as answers have it."""
    return Session(**{name: row[name] for name in Session.model_fields if name != "redacted"})


def check_version(current: int, expected: int | None) -> None:
    """Raise `PreconditionFailed` unless the caller's version is the current one."""
    if expected is not None and expected != current:
        raise PreconditionFailed(
            f"The current version is {current}, not {expected}: read it again and repeat the change.",
            extra={"current_version": current},
        )


def no_session() -> NotFound:
    """An absent or a foreign session: the answer is the same."""
    return NotFound("There is no such session.", code="session_not_found")


def id_taken() -> Conflict:
    """An id that cannot be had; nothing is said about who has it."""
    return Conflict("This id is taken.", code="id_taken")


def _there(row: _Found | None) -> _Found:
    if row is None:
        raise no_session()
    return row


def alive(row: _Found | None) -> _Found:
    """A session that is there and has not expired; raises `NotFound`."""
    found = _there(row)
    if found["expires_at"] is not None and found["expires_at"] <= clock.now():
        raise no_session()
    return found
