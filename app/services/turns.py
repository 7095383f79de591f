"""A turn written all or nothing, and the way back into a session that was interrupted."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from app.core import clock
from app.core.errors import Conflict
from app.domain.principal import Principal
from app.schemas.messages import Message
from app.schemas.states import State, Task
from app.schemas.turns import LastSummary, Resumed, Turn, TurnCreate, TurnState
from app.services.answers import Answer, Write
from app.services.checkpointing import take_checkpoint, wanted_of
from app.services.messages import Appended, Appending, MessageService, message_of, told_of, write_appending
from app.services.redacting import Cleaned, Redacting
from app.services.sessions import alive, session_of
from app.services.states import Stating, patched_by, replaced_by, state_at
from app.services.summaries.reading import read_summary
from app.uow import Transaction, UnitOfWork

LAST_CALLS: Final = 50
"""Among so many of the last messages an open tool call is looked for."""


@dataclass(frozen=True, slots=True)
class TurnService:
    """The use cases of writing a turn and of resuming."""

    uow: UnitOfWork
    redacting: Redacting
    messages: MessageService

    async def write(self, write: Write, session_id: str, request: TurnCreate) -> Answer:
        """Append messages, write the state, take a checkpoint in one transaction; messages make an absent session.

        Each part prepares itself before the transaction and then writes within it, the session's row locked. What else
        belongs to a turn joins in `work`, after the messages.

        Raises:
            Conflict: The session is someone else's, or closed.
            PreconditionFailed: `expected_seq`, the state's version, or the checkpoint's parent is not the current one.
        """
        principal = write.principal
        principal.require("sessions:write")
        cleaned = await self.redacting.clean(principal, request)
        request = cleaned.request
        at = clock.now()
        given = request.messages
        appending = await self.messages.prepare(principal, session_id, request, given, request.timezone, at)
        stating = None if request.state is None else _stating(request.state, write, at)
        wanted = None if request.checkpoint is None else await wanted_of(request.checkpoint)

        async def work(tx: Transaction, appending: Appending) -> Answer:
            appended = await appending.write(tx) if given else await _locked(tx, session_id)
            state = None if stating is None else await stating.write(tx, session_id, appended.last_seq)
            turn = _turn(session_id, appended, state, cleaned)
            if wanted is None:
                return Answer(201, turn)
            then = {**appended.session, "last_seq": appended.last_seq}
            return Answer(201, turn.model_copy(update={"checkpoint": await take_checkpoint(tx, then, wanted, at)}))

        return await write_appending(self.uow, write, Turn, appending, work)

    async def resume(self, principal: Principal, session_id: str, messages: int) -> Resumed:
        """Where a session stood: its task and next step, its last summary and messages, calls without an answer."""
        principal.require("sessions:read")
        async with self.uow.begin(principal) as tx:
            session = alive(await tx.sessions.get(session_id))
            state = state_at(session_id, await tx.states.current(session_id))
            summary = await read_summary(tx, session, principal.defaults.context)
            rows = await tx.messages.page(
                session_id, after=None, limit=max(messages, LAST_CALLS), newest_first=True, from_seq=0, to_seq=None
            )
        last = [message_of(row) for row in reversed(rows)]
        task = Task.model_validate(state.state.get("task") or {})
        return Resumed(
            session=session_of(session),
            task=task,
            next_step=task.pending_steps[0] if task.pending_steps else None,
            state=state,
            summary=LastSummary(**{name: getattr(summary, name) for name in LastSummary.model_fields}),
            messages=last[len(last) - min(messages, len(last)) :],
            open_tool_calls=_open_calls(last),
        )


async def _locked(tx: Transaction, session_id: str) -> Appended:
    """A session that a turn without messages is about."""
    session = alive(await tx.sessions.get_for_update(session_id))
    if session["status"] == "closed":
        raise Conflict("This session is closed: reopen it, or append to another.", code="session_closed")
    return Appended(session, [])


def _stating(asked: TurnState, write: Write, at: datetime) -> Stating:
    new = replaced_by(asked.state) if asked.state is not None else patched_by(asked.patch or {})
    return Stating(new, asked.version, write.principal.actor, at)


def _turn(session_id: str, appended: Appended, state: State | None, cleaned: Cleaned[TurnCreate]) -> Turn:
    if state is not None:
        state = state.model_copy(update={"redacted": cleaned.kinds("state")})
    results = told_of(appended.messages, cleaned)
    return Turn(
        session_id=session_id,
        results=results,
        remembered=appended.remembered,
        forgotten=appended.forgotten,
        state=state,
        redacted=cleaned.kinds(),
    )


def _open_calls(last: Sequence[Message]) -> list[dict[str, Any]]:
    """Tool calls of the last assistant message that has some, but for those that were answered after it."""
    calling = next((place for place in reversed(range(len(last))) if last[place].tool_calls), None)
    if calling is None:
        return []
    answered = {message.tool_call_id for message in last[calling + 1 :] if message.role == "tool"}
    return [call for call in last[calling].tool_calls or [] if call.get("id") not in answered]
