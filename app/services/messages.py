"""Messages: appended in one short transaction, searchable by their words at once, by their meaning a moment later."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from app.core import clock, ids
from app.core.errors import Conflict, NotFound, PreconditionFailed, QuotaExceeded
from app.domain.jobs import JobKind
from app.domain.principal import Principal
from app.domain.redaction import SecretKind
from app.domain.scope import Scope
from app.repositories.base import Row, RowLike
from app.repositories.idempotency import IdempotencyClaim
from app.repositories.owners import OwnerChange
from app.repositories.postings import Posting
from app.schemas.fields import ResponseModel
from app.schemas.lists import Page, decode_cursor, encode_cursor
from app.schemas.messages import (
    AppendedMessage,
    AppendedMessages,
    Beside,
    Message,
    MessageAppend,
    MessageIn,
    MessagesAppend,
    text_of,
)
from app.services.analysis import Analysis, analyse_all
from app.services.answers import Answer, Write, write_once
from app.services.context.demand import Demand
from app.services.redacting import Cleaned, Redacting
from app.services.remembering import Asked, Remembering
from app.services.sessions import alive, expiry, forget_expired, id_taken, session_row
from app.uow import Transaction, UnitOfWork


@dataclass(frozen=True, slots=True)
class MessageService:
    """The use cases of messages."""

    uow: UnitOfWork
    work_after: Mapping[JobKind, timedelta]
    """What is done with appended messages, and how long they gather before it."""
    redacting: Redacting
    remembering: Remembering
    demand: Demand = field(default_factory=Demand)
    """Whether a context is to be prepared."""

    async def append(
        self,
        principal: Principal,
        session_id: str,
        request: MessageAppend | MessagesAppend,
        claim: IdempotencyClaim | None,
    ) -> Answer:
        """Append to a session, which is made if absent; all messages are stored or none.

        Raises:
            Conflict: The session is someone else's.
            PreconditionFailed: `expected_seq` is not the last one assigned.
        """
        principal.require("sessions:write")
        cleaned = await self.redacting.clean(principal, request)
        request = cleaned.request
        given = request.messages if isinstance(request, MessagesAppend) else [request]
        shape = AppendedMessages if isinstance(request, MessagesAppend) else AppendedMessage
        appending = await self.prepare(principal, session_id, request, given, request.timezone, clock.now())

        async def work(tx: Transaction, appending: Appending) -> Answer:
            appended = await appending.write(tx)
            if isinstance(request, MessagesAppend):
                results = told_of(appended.messages, cleaned)
                return Answer(201, AppendedMessages(results=results, **appended.at_once()))
            told = _told(appended.messages[0], cleaned.kinds()).model_dump()
            return Answer(201, AppendedMessage(**told, **appended.at_once()))

        return await write_appending(self.uow, Write(principal, claim), shape, appending, work)

    async def prepare(
        self,
        principal: Principal,
        session_id: str,
        beside: Beside,
        given: Sequence[MessageIn],
        timezone: str | None,
        at: datetime,
    ) -> "Appending":
        """All of an append that needs no transaction: what it then does in one can share it with other writes."""
        analyses = await analyse_all([text_of(message.content) for message in given])
        scope = Scope(principal.own_user(beside.user_id), beside.agent_id, beside.app_id)
        session = session_row(
            session_id, scope, at, timezone=principal.defaults.timezone, expires_at=expiry(principal, None, at)
        )
        asked = await self.remembering.asked(principal, session, given, timezone, at)
        window, asks = principal.defaults.context.window_turns, self.demand.of(principal.tenant_id, at)
        return Appending(self, session, given, analyses, beside.expected_seq, timezone, asked, at, window, asks)

    async def page(
        self,
        principal: Principal,
        session_id: str,
        cursor: str | None,
        limit: int,
        *,
        newest_first: bool,
        from_seq: int,
        to_seq: int | None,
        count: bool,
    ) -> Page[Message]:
        """A session's messages by sequence number."""
        principal.require("sessions:read")
        after = decode_cursor(cursor, int)
        async with self.uow.begin(principal, reading=True) as tx:
            alive(await tx.sessions.get(session_id))
            rows = await tx.messages.page(
                session_id,
                after=None if after is None else after[0],
                limit=limit + 1,
                newest_first=newest_first,
                from_seq=from_seq,
                to_seq=to_seq,
            )
            total = await tx.messages.count(session_id, from_seq, to_seq) if count else None
        more = len(rows) > limit
        return Page(
            results=[message_of(row) for row in rows[:limit]],
            next_cursor=encode_cursor(rows[limit - 1]["seq"]) if more else None,
            total=total,
        )

    async def get(self, principal: Principal, session_id: str, seq: int) -> Message:
        """One message."""
        principal.require("sessions:read")
        async with self.uow.begin(principal, reading=True) as tx:
            alive(await tx.sessions.get(session_id))
            row = await tx.messages.get(session_id, seq)
        if row is None:
            raise no_message()
        return message_of(row)


@dataclass(frozen=True, slots=True)
class Appended:
    """What an append has done: the session as it is locked, its messages in order, memories written and deleted."""

    session: Row
    messages: list[Message]
    remembered: list[str] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)

    def at_once(self) -> dict[str, list[str]]:
        """What the answer tells of memories."""
        return {"remembered": self.remembered, "forgotten": self.forgotten}

    @property
    def last_seq(self) -> int:
        """The last number that the session has given."""
        return max([int(self.session["last_seq"]), *(message.seq for message in self.messages)])


@dataclass(frozen=True, slots=True)
class Appending:
    """An append that is ready to be written. `write` may be called again where its transaction was undone."""

    service: MessageService
    session: dict[str, Any]
    given: Sequence[MessageIn]
    analyses: Sequence[Analysis]
    expected_seq: int | None
    timezone: str | None
    asked: Asked | None
    at: datetime
    window_turns: int
    asks_for_contexts: bool

    async def write(self, tx: Transaction) -> Appended:
        """Store the messages; the session's row is locked from here on."""
        append = _Append(tx, self.at, self.service.work_after, self.timezone, self.window_turns, self.asks_for_contexts)
        locked, stored = await append.run(self.session, self.given, self.analyses, self.expected_seq)
        if self.asked is None:
            return Appended(locked, stored)
        kept = await self.service.remembering.keep(tx, locked, self.asked, stored, self.at)
        return Appended(locked, stored, [str(one) for one in kept.written], [str(one) for one in kept.forgotten])


async def write_appending(
    uow: UnitOfWork,
    write: Write,
    shape: type[ResponseModel],
    appending: Appending,
    work: Callable[[Transaction, Appending], Awaitable[Answer]],
) -> Answer:
    """Write an append with what goes with it, once.

    Where there is no room for memories, nothing is remembered at once: the messages are kept, and learnt from later.
    """
    try:
        return await write_once(uow, write, shape, lambda tx: work(tx, appending))
    except QuotaExceeded as full:
        if appending.asked is None or full.quota != "memories":
            raise
        bare = replace(appending, asked=None)
        return await write_once(uow, write, shape, lambda tx: work(tx, bare))


@dataclass(frozen=True, slots=True)
class _Append:
    """One append within its transaction. Lock order: session, user, owner_stats, jobs."""

    tx: Transaction
    at: datetime
    work_after: Mapping[JobKind, timedelta]
    timezone: str | None
    window_turns: int
    asks_for_contexts: bool

    async def run(
        self, session: dict[str, Any], given: Sequence[MessageIn], analyses: Sequence[Analysis], expected: int | None
    ) -> tuple[Row, list[Message]]:
        external = [message.external_id for message in given if message.external_id is not None]
        locked = await self._lock(session, messages=0 if external else len(given))
        _check_owner(locked, session, self.tx)
        if locked["status"] == "closed":
            raise Conflict("This session is closed: reopen it, or append to another.", code="session_closed")
        taken = 0 if external else len(given)
        _check_seq(locked["last_seq"] - taken, expected)
        known: dict[str, Message] = {}
        if external:
            rows = await self.tx.messages.by_external_ids(session["id"], external)
            known = {row["external_id"]: message_of(row) for row in rows}
        fresh = _fresh(given, analyses, set(known))
        last = locked["last_seq"]
        if external and fresh:
            last = await self.tx.sessions.take_sequence(session["id"], len(fresh))
        stored = await self._store(locked, fresh, last - len(fresh))
        known |= {message.external_id: message for message in stored if message.external_id is not None}
        unnamed = iter([message for message in stored if message.external_id is None])
        return locked, [next(unnamed) if one.external_id is None else known[one.external_id] for one in given]

    async def _lock(self, session: dict[str, Any], messages: int) -> Row:
        """The session, made if it is absent or has expired. While it is locked its user is not merged away."""
        locked = await self.tx.sessions.create_or_lock(session, messages=messages)
        over = locked["expires_at"] is not None and locked["expires_at"] <= self.at
        if session["user_id"] is not None and (locked["created"] or over):
            await self.tx.users.touch([session["user_id"]], self.at)
        if over and await forget_expired(self.tx, session["id"], self.at):
            return await self.tx.sessions.create_or_lock(session, messages=messages)
        return locked

    async def _store(self, session: Row, fresh: Sequence[tuple[MessageIn, Analysis]], before: int) -> list[Message]:
        if not fresh:
            return []
        rows = [self._row(session, message, analysis, seq) for seq, (message, analysis) in enumerate(fresh, before + 1)]
        postings = [
            Posting(row["id"], analysis.frequencies, analysis.length)
            for row, (_, analysis) in zip(rows, fresh, strict=True)
        ]
        await self.tx.messages.insert(session["owner"], rows, postings)
        length = sum(analysis.length for _, analysis in fresh)
        await self.tx.owners.lock_and_change(session["owner"], OwnerChange(messages=len(rows), message_tokens=length))
        unfolded = before + len(rows) - session["summarized_seq"]
        idle = {
            "prefetch": not self.asks_for_contexts or session["memory"] == "off" or rows[-1]["role"] != "user",
            "extract": session["memory"] != "on",
            "summarise": unfolded <= self.window_turns,  # a turn has a message at least
        }
        delays: dict[JobKind, timedelta] = {
            kind: pause for kind, pause in self.work_after.items() if not idle.get(kind, False)
        }
        await self.tx.jobs.enqueue_all(delays, session["id"], self.at, user_id=session["user_id"])
        return [message_of(row) for row in rows]

    def _row(self, session: Row, message: MessageIn, analysis: Analysis, seq: int) -> dict[str, Any]:
        content = message.content
        return {
            "id": ids.new_id(),
            "session_id": session["id"],
            "seq": seq,
            "role": message.role,
            "text": text_of(content),
            "parts": None if isinstance(content, str) else content,
            "name": message.name,
            "tool_calls": message.tool_calls,
            "tool_call_id": message.tool_call_id,
            "external_id": message.external_id,
            "timezone": message.timezone or self.timezone,
            "tokens": analysis.tokens,
            "length": analysis.length,
            "content_hash": analysis.content_hash,
            "metadata": message.metadata,
            "occurred_at": message.occurred_at or self.at,
            "created_at": self.at,
            "redacted_at": None,
        }


def told_of(stored: Sequence[Message], cleaned: Cleaned[Any]) -> list[Message]:
    """Messages with the kinds of secrets that were taken out of each."""
    return [_told(message, cleaned.kinds("messages", place)) for place, message in enumerate(stored)]


def _told(message: Message, redacted: list[SecretKind]) -> Message:
    return message.model_copy(update={"redacted": redacted}) if redacted else message


def _fresh(
    given: Sequence[MessageIn], analyses: Sequence[Analysis], known: set[str]
) -> list[tuple[MessageIn, Analysis]]:
    """What is to be stored: an external id counts once, within the request too."""
    fresh = []
    seen = set(known)
    for message, analysis in zip(given, analyses, strict=True):
        if message.external_id is None or message.external_id not in seen:
            fresh.append((message, analysis))
        if message.external_id is not None:
            seen.add(message.external_id)
    return fresh


def _check_owner(locked: Row, session: dict[str, Any], tx: Transaction) -> None:
    """An existing session keeps its user; a named agent or app must be its own."""
    if not tx.may_see_user(locked["user_id"]):
        raise id_taken()
    for name in ("user_id", "agent_id", "app_id"):
        if session[name] is not None and locked[name] != session[name]:
            raise id_taken()


def _check_seq(current: int, expected: int | None) -> None:
    if expected is not None and expected != current:
        raise PreconditionFailed(
            f"The last seq is {current}, not {expected}.", code="seq_mismatch", extra={"current_seq": current}
        )


def no_message() -> NotFound:
    """An absent message."""
    return NotFound("There is no such message.", code="message_not_found")


def message_of(row: RowLike) -> Message:
    """A message as answers have it: its content as it was given."""
    return Message(
        id=str(row["id"]),
        content=row["text"] if row["parts"] is None else row["parts"],
        **{name: row[name] for name in Message.model_fields if name not in {"id", "content", "redacted"}},
    )
