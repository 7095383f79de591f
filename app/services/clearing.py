"""Messages taken back: one redacted, the last one popped, all cleared. Numbers are never used again."""

from dataclasses import dataclass

from app.core import clock
from app.core.text.digest import text_hash
from app.repositories.base import Row
from app.repositories.owners import OwnerChange
from app.schemas.lifecycle import ClearedMessages, PoppedMessage
from app.services.answers import Answer, Write, write_once
from app.services.messages import message_of, no_message
from app.services.sessions import alive
from app.services.summaries.forgetting import forget_everything, forget_message
from app.uow import Transaction, UnitOfWork


@dataclass(frozen=True, slots=True)
class ClearingService:
    """The use cases of taking messages back."""

    uow: UnitOfWork

    async def redact(self, write: Write, session_id: str, seq: int) -> Answer:
        """Take a message's content away for good; its place in the session stays."""
        write.principal.require("sessions:write")

        async def work(tx: Transaction) -> Answer:
            session = await _locked(tx, session_id)
            message = await tx.messages.get(session_id, seq)
            if message is None:
                raise no_message()
            blank = {"text": "", "parts": None, "tool_calls": None, "tool_call_id": None, "name": None}
            empty = {"metadata": {}, "tokens": 0, "length": 0, "content_hash": text_hash("")}
            await tx.messages.redact(message["id"], blank | empty | {"redacted_at": clock.now()})
            await forget_message(tx, session, seq)
            await _take_away(tx, session, 0, message["length"])
            return Answer(204, None)

        return await write_once(self.uow, write, None, work)

    async def pop(self, write: Write, session_id: str) -> Answer:
        """Remove the last message and return it; two callers never get the same one."""
        write.principal.require("sessions:write")

        async def work(tx: Transaction) -> Answer:
            session = await _locked(tx, session_id)
            message = await tx.messages.pop(session_id)
            if message is None:
                return Answer(200, PoppedMessage(message=None))
            await forget_message(tx, session, message["seq"])
            await _take_away(tx, session, 1, message["length"])
            return Answer(200, PoppedMessage(message=message_of(message)))

        return await write_once(self.uow, write, PoppedMessage, work)

    async def clear(self, write: Write, session_id: str) -> Answer:
        """Remove every message; the next one's number goes on from where it was."""
        write.principal.require("sessions:write")

        async def work(tx: Transaction) -> Answer:
            session = await _locked(tx, session_id)
            count, length = await tx.messages.extent(session_id)
            await tx.messages.clear(session_id)
            await forget_everything(tx, session)
            await _take_away(tx, session, count, length)
            return Answer(200, ClearedMessages(deleted=count))

        return await write_once(self.uow, write, ClearedMessages, work)


async def _locked(tx: Transaction, session_id: str) -> Row:
    return alive(await tx.sessions.get_for_update(session_id))


async def _take_away(tx: Transaction, session: Row, messages: int, length: int) -> None:
    await tx.sessions.shrink(session["id"], messages, clock.now())
    await tx.owners.lock_and_change(session["owner"], OwnerChange(messages=-messages, message_tokens=-length))
