"""Session state: written whole or by merge patch, compared and set, every version readable and restorable."""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from pydantic import ValidationError

from app.core import clock
from app.core.errors import Invalid, NotFound
from app.domain.merging import merge_patch
from app.domain.principal import Principal
from app.domain.redaction import SecretKind
from app.repositories.base import RowLike
from app.schemas.lists import Page, decode_cursor, encode_cursor
from app.schemas.states import State, StateDocument, StatePatch, StatePut, StateRestore
from app.services.answers import Answer, Write, write_once
from app.services.redacting import Redacting
from app.services.sessions import alive, check_version
from app.uow import Transaction, UnitOfWork

MAX_STATE_BYTES: Final = 1024 * 1024

NewDocument = Callable[[Transaction, dict[str, Any]], Awaitable[dict[str, Any]]]
"""Makes a state's next document of its current one, within a transaction."""


@dataclass(frozen=True, slots=True)
class StateService:
    """The use cases of session state."""

    uow: UnitOfWork
    redacting: Redacting

    async def get(self, principal: Principal, session_id: str) -> State:
        """The current state; empty at version 0 where none was written."""
        principal.require("sessions:read")
        async with self.uow.begin(principal, reading=True) as tx:
            alive(await tx.sessions.get(session_id))
            return state_at(session_id, await tx.states.current(session_id))

    async def put(self, write: Write, session_id: str, request: StatePut) -> Answer:
        """Replace the state."""
        write.principal.require("sessions:write")
        cleaned = await self.redacting.clean(write.principal, request)
        new = replaced_by(cleaned.request.state)
        return await self._write(write, session_id, request.version, new, cleaned.kinds())

    async def patch(self, write: Write, session_id: str, request: StatePatch) -> Answer:
        """Change the state by merge patch."""
        write.principal.require("sessions:write")
        cleaned = await self.redacting.clean(write.principal, request)
        new = patched_by(cleaned.request.patch)
        return await self._write(write, session_id, request.version, new, cleaned.kinds())

    async def restore(self, write: Write, session_id: str, request: StateRestore) -> Answer:
        """Make an older version the newest again; what came after it stays in the history."""

        async def new(tx: Transaction, _state: dict[str, Any]) -> dict[str, Any]:
            older = await tx.states.version(session_id, request.to_version)
            if older is None:
                raise NotFound("This session's state never had that version.", code="version_not_found")
            document: dict[str, Any] = older["document"]
            return document

        return await self._write(write, session_id, request.version, new)

    async def history(
        self, principal: Principal, session_id: str, cursor: str | None, limit: int, *, count: bool
    ) -> Page[State]:
        """Every version, newest first."""
        principal.require("sessions:read")
        before = decode_cursor(cursor, int)
        async with self.uow.begin(principal, reading=True) as tx:
            alive(await tx.sessions.get(session_id))
            rows = await tx.states.page(session_id, None if before is None else before[0], limit + 1)
            total = _version(await tx.states.current(session_id)) if count else None
        more = len(rows) > limit
        return Page(
            results=[state_at(session_id, row) for row in rows[:limit]],
            next_cursor=encode_cursor(rows[limit - 1]["version"]) if more else None,
            total=total,
        )

    async def _write(
        self,
        write: Write,
        session_id: str,
        version: int | None,
        new: NewDocument,
        redacted: Sequence[SecretKind] = (),
    ) -> Answer:
        write.principal.require("sessions:write")

        async def work(tx: Transaction) -> Answer:
            session = alive(await tx.sessions.get_for_update(session_id))
            stating = Stating(new, write.expected(version), write.principal.actor, clock.now())
            state = await stating.write(tx, session_id, session["last_seq"])
            return Answer(200, state.model_copy(update={"redacted": list(redacted)}))

        return await write_once(self.uow, write, State, work)


@dataclass(frozen=True, slots=True)
class Stating:
    """A further version of a state, to be written in a transaction that may do more.

    Args:
        new: Makes the document of the one before.
        expected: The version that must be current; None takes any.
        actor: Whose doing it is.
        at: When.
    """

    new: NewDocument
    expected: int | None
    actor: str
    at: datetime

    async def write(self, tx: Transaction, session_id: str, at_seq: int) -> State:
        """Write it; the session's row is locked, and `at_seq` is the last number it has given.

        Raises:
            PreconditionFailed: Another version is current.
            Invalid: The document is too large, or its task, artifacts or environment have another shape.
        """
        current = await tx.states.current(session_id)
        check_version(_version(current), self.expected)
        document = await self.new(tx, {} if current is None else current["document"])
        check_document(document)
        row = await tx.states.add(session_id, _version(current) + 1, document, self.actor, self.at, at_seq)
        return state_at(session_id, row)


def replaced_by(document: dict[str, Any]) -> NewDocument:
    """A whole new state."""

    async def new(_tx: Transaction, _state: dict[str, Any]) -> dict[str, Any]:
        return document

    return new


def patched_by(patch: dict[str, Any]) -> NewDocument:
    """The state with a merge patch."""

    async def new(_tx: Transaction, state: dict[str, Any]) -> dict[str, Any]:
        merged: dict[str, Any] = merge_patch(state, patch)
        return merged

    return new


def check_document(document: dict[str, Any]) -> None:
    """Raise `Invalid` where a state is too large, or its known parts have another shape."""
    size = len(json.dumps(document, ensure_ascii=False).encode())
    if size > MAX_STATE_BYTES:
        raise Invalid(
            f"The state has {size} bytes, {MAX_STATE_BYTES} are kept: store large things elsewhere and their place in "
            "artifacts.",
            code="state_too_large",
        )
    try:
        StateDocument.model_validate(document)
    except ValidationError as error:
        faults = [
            {"loc": ["body", "state", *fault["loc"]], "msg": fault["msg"], "type": fault["type"]}
            for fault in error.errors(include_url=False, include_context=False, include_input=False)
        ]
        raise Invalid("The state's task, artifacts or environment have another shape.", errors=faults) from error


def _version(row: RowLike | None) -> int:
    return 0 if row is None else int(row["version"])


def state_at(session_id: str, row: RowLike | None) -> State:
    """A version of a state as answers have it; version 0 where none was written."""
    if row is None:
        return State(session_id=session_id, state={}, version=0, actor=None, created_at=None, at_seq=None)
    return State(
        session_id=session_id,
        state=row["document"],
        version=row["version"],
        actor=row["actor"],
        created_at=row["created_at"],
        at_seq=row["at_seq"],
    )
