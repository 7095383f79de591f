"""The life of a session: closed, reopened, forked."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from app.core import clock, ids
from app.domain.dreaming.policy import AFTER_CLOSING
from app.domain.jobs import JobKind
from app.domain.scope import Scope
from app.domain.session import SessionStatus
from app.repositories.base import Row
from app.repositories.owners import OwnerChange
from app.schemas.lifecycle import SessionFork
from app.schemas.sessions import ClosedSession, Session
from app.services.answers import Answer, Write, write_once
from app.services.redacting import Redacting
from app.services.sessions import alive, id_taken, session_of
from app.uow import Transaction, UnitOfWork

COPIED_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True)
class LifecycleService:
    """The use cases of opening and closing."""

    uow: UnitOfWork
    redacting: Redacting
    last_work: Sequence[JobKind]
    """What is done with the messages of a session that is closed: its last extraction, its last summary."""

    async def close(self, write: Write, session_id: str) -> Answer:
        """Close a session: it takes no more messages until it is reopened. Closing it twice changes nothing.

        Jobs learn from what is left of it and make its last summary, of everything in it.
        """
        write.principal.require("sessions:write")
        at = clock.now()

        async def work(tx: Transaction) -> Answer:
            before, after = await _turned(tx, session_id, "closed", at)
            due = [] if after is before else [kind for kind in self.last_work if _behind(kind, before)]
            job_ids = [str(await self._finish(tx, kind, before, at)) for kind in due]
            if after is not before and "session_closed" in write.principal.defaults.dreaming.when:
                await _dream_later(tx, before["user_id"], at)
            return Answer(200, ClosedSession(**session_of(after).model_dump(), job_ids=job_ids))

        return await write_once(self.uow, write, ClosedSession, work)

    async def reopen(self, write: Write, session_id: str) -> Answer:
        """Open a closed session again."""
        write.principal.require("sessions:write")
        at = clock.now()

        async def work(tx: Transaction) -> Answer:
            _, after = await _turned(tx, session_id, "open", at)
            return Answer(200, session_of(after))

        return await write_once(self.uow, write, Session, work)

    async def fork(self, write: Write, session_id: str, request: SessionFork) -> Answer:
        """Copy a session with its messages up to a number, its state and summaries of then; memories stay."""
        write.principal.require("sessions:write")
        cleaned = await self.redacting.clean(write.principal, request)
        request = cleaned.request
        copy_id = request.id or str(ids.new_id())

        async def work(tx: Transaction) -> Answer:
            original = alive(await tx.sessions.get_for_update(session_id))
            copying = Copying(copy_id, request.up_to_seq, request.title)
            if request.as_known_then:
                copying = replace(copying, known_at=await _time_of(tx, original, request.up_to_seq))
            grown = await copy_session(tx, original, copying)
            await _copy_state(tx, session_id, copy_id, grown["forked_at_seq"], write.principal.actor)
            return Answer(201, session_of(grown).model_copy(update={"redacted": cleaned.kinds()}))

        return await write_once(self.uow, write, Session, work)

    @staticmethod
    async def _finish(tx: Transaction, kind: JobKind, session: Row, at: datetime) -> UUID:
        """A job that is due at once, whatever it waited for."""
        job_id = await tx.jobs.enqueue(kind, session["id"], at, user_id=session["user_id"])
        await tx.jobs.hasten(job_id, at)
        return job_id


async def _turned(tx: Transaction, session_id: str, status: SessionStatus, at: datetime) -> tuple[Row, Row]:
    """Set a session's status: it before and after, one and the same row where it had that status already."""
    before = alive(await tx.sessions.get_for_update(session_id))
    if before["status"] == status:
        return before, before
    closed_at = at if status == "closed" else None
    values = {"status": status, "closed_at": closed_at, "updated_at": at}
    return before, alive(await tx.sessions.change(session_id, values))


async def _dream_later(tx: Transaction, user_id: str | None, at: datetime) -> None:
    """A dream of whose session was closed; one that waits already is joined."""
    if user_id is not None:
        await tx.jobs.enqueue("dream", Scope(user_id).owner, at, delay=AFTER_CLOSING, user_id=user_id)


def _behind(kind: JobKind, session: Row) -> bool:
    """Whether a session has messages that a kind of job has not been at."""
    if kind == "extract":
        return session["memory"] == "on" and bool(session["extracted_seq"] < session["last_seq"])
    return bool(session["summarized_seq"] < session["last_seq"])


@dataclass(frozen=True, slots=True)
class Copying:
    """How a session is copied: under which id, up to which message (None: all), and what its contexts may know."""

    id: str
    up_to_seq: int | None
    title: str | None
    known_at: datetime | None = None


async def _time_of(tx: Transaction, original: Row, up_to_seq: int | None) -> datetime:
    """When the last message that is copied came; the session's own beginning if there is none."""
    rows = await tx.messages.page(original["id"], after=None, limit=1, newest_first=True, from_seq=0, to_seq=up_to_seq)
    at: datetime = rows[0]["created_at"] if rows else original["created_at"]
    return at


async def copy_session(tx: Transaction, original: Row, copying: Copying) -> Row:
    """Copy a locked session with its messages up to a number (None: all) and the summaries of then.

    The state is the caller's to copy.

    Raises:
        Conflict: The id is taken.
    """
    copy_id, wanted = copying.id, copying.up_to_seq
    last = original["last_seq"] if wanted is None else min(wanted, original["last_seq"])
    copy = await tx.sessions.create(_copy(original, last, copying))
    if copy is None:
        raise id_taken()
    count, length, last_at = await _copy_messages(tx, original, copy, last)
    await tx.owners.lock_and_change(copy["owner"], OwnerChange(messages=count, message_tokens=length))
    folded = await tx.forks.copy_summaries(original["id"], copy_id, last)
    if folded:
        await tx.sessions.summarized_to(copy_id, folded, folded)
    if count and copy["embedded_seq"] < last:
        await tx.jobs.enqueue("embed_messages", copy_id, clock.now(), user_id=copy["user_id"])
    return await tx.sessions.grow(copy_id, count, last_at)


async def _copy_messages(tx: Transaction, original: Row, copy: Row, last: int) -> tuple[int, int, datetime | None]:
    """Copy messages with their numbers, postings and vectors; how many, their length, the last one's time."""
    after, count, length = 0, 0, 0
    last_at: datetime | None = None
    while True:
        rows = await tx.messages.page(
            original["id"], after=after, limit=COPIED_AT_ONCE, newest_first=False, from_seq=0, to_seq=last
        )
        if not rows:
            return count, length, last_at
        pairs: list[tuple[UUID, UUID]] = [(row["id"], ids.new_id()) for row in rows]
        copies = [
            {name: row[name] for name in row if name not in {"tenant_id", "owner"}}
            | {"id": new, "session_id": copy["id"]}
            for row, (_, new) in zip(rows, pairs, strict=True)
        ]
        await tx.messages.insert(copy["owner"], copies, [])
        await tx.messages.copy_index(pairs, copy["owner"])
        after, count = rows[-1]["seq"], count + len(rows)
        length += sum(row["length"] for row in rows)
        last_at = rows[-1]["created_at"]


async def _copy_state(tx: Transaction, session_id: str, copy_id: str, last: int, actor: str) -> None:
    """The state as it was when the last copied message was the last one."""
    then = await tx.states.at_message(session_id, last)
    if then is not None:
        await tx.states.add(copy_id, 1, then["document"], actor, clock.now(), last)


def _copy(original: Row, last: int, copying: Copying) -> dict[str, Any]:
    at, copy_id = clock.now(), copying.id
    kept = ("owner", "user_id", "agent_id", "app_id", "timezone", "metadata", "memory", "expires_at")
    owner = original["owner"]
    return {name: original[name] for name in kept} | {
        "id": copy_id,
        "owner": f"s:{copy_id}" if owner.startswith("s:") else owner,
        "title": original["title"] if copying.title is None else copying.title,
        "known_at": copying.known_at,
        "status": "open",
        "last_seq": last,
        "embedded_seq": min(original["embedded_seq"], last),
        "extracted_seq": last,  # what was said is learnt where it was said
        "forked_from": original["id"],
        "forked_at_seq": last,
        "created_at": at,
        "updated_at": at,
    }
