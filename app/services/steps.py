"""Steps of a run: what each gave is kept once, so that nothing is computed twice; and the trace of them all."""

import asyncio
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from app.core import clock
from app.core.errors import NotFound
from app.domain.principal import Principal
from app.repositories.base import Row
from app.schemas.lists import Page, decode_cursor, encode_cursor
from app.schemas.snapshots import SnapshotSettings, Step, StepPut, StoredStep, TraceEntry
from app.services.answers import Answer, Write, write_once
from app.services.checkpointing import PackedState, Wanted, info_of, no_checkpoint, take_checkpoint
from app.services.redacting import Redacting
from app.services.sessions import alive
from app.uow import Transaction, UnitOfWork


@dataclass(frozen=True, slots=True)
class StepService:
    """The use cases of steps."""

    uow: UnitOfWork
    redacting: Redacting

    async def put(self, write: Write, session_id: str, step_id: str, request: StepPut) -> Answer:
        """Keep what a step gave, with a checkpoint if it is to make one; or say what it gave at first.

        201 where the step is new; 200 where it was there: a step without an output gets one, any other stays.
        """
        write.principal.require("sessions:write")
        cleaned = await self.redacting.clean(write.principal, request)
        request = cleaned.request
        state = None if request.state is None else await asyncio.to_thread(PackedState.of, request.state)

        async def work(tx: Transaction) -> Answer:
            session = alive(await tx.sessions.get(session_id))
            known = await tx.snapshots.step(session_id, step_id)
            if known is not None and (request.output is None or known["output"] is not None):
                return Answer(200, _stored(session_id, known))
            at = clock.now()
            thread = await tx.snapshots.advance(session_id, session["user_id"], at)
            newest = await tx.snapshots.newest(session_id)
            step = {
                "step_id": step_id,
                "checkpoint_id": None if newest is None else newest["id"],
                "position": thread["last_position"],
                "input": request.input,
                "output": request.output,
                "created_at": at,
            }
            row = await tx.snapshots.add_step(session_id, step)
            status = 200 if row is None else 201
            if row is None and request.output is not None:
                row = await tx.snapshots.complete_step(session_id, step)
            if row is None:
                return Answer(200, _stored(session_id, _there(await tx.snapshots.step(session_id, step_id))))
            made = None
            if _makes_a_checkpoint(request, SnapshotSettings.model_validate(thread["settings"])):
                wanted = Wanted(state, metadata={"step_id": step_id}, carry=True)
                made = await take_checkpoint(tx, session, wanted, at)
            answer = _stored(session_id, row).model_copy(update={"checkpoint": made, "redacted": cleaned.kinds()})
            return Answer(status, answer)

        return await write_once(self.uow, write, StoredStep, work)

    async def get(self, principal: Principal, session_id: str, step_id: str) -> Step:
        """What a step gave."""
        principal.require("sessions:read")
        async with self.uow.begin(principal) as tx:
            alive(await tx.sessions.get(session_id))
            return step_of(session_id, _there(await tx.snapshots.step(session_id, step_id)))

    async def page(
        self, principal: Principal, session_id: str, cursor: str | None, limit: int, *, count: bool
    ) -> Page[Step]:
        """Steps in their order."""
        principal.require("sessions:read")
        after = decode_cursor(cursor, int)
        async with self.uow.begin(principal) as tx:
            alive(await tx.sessions.get(session_id))
            rows = await tx.snapshots.steps(session_id, 0 if after is None else after[0], limit + 1)
            total = await tx.snapshots.count_steps(session_id) if count else None
        return Page(
            results=[step_of(session_id, row) for row in rows[:limit]],
            next_cursor=encode_cursor(rows[limit - 1]["position"]) if len(rows) > limit else None,
            total=total,
        )

    async def replay(
        self, principal: Principal, session_id: str, upto: str | None, cursor: str | None, limit: int
    ) -> Page[TraceEntry]:
        """Checkpoints and steps in the order in which they were made: of all, or of what led to one checkpoint."""
        principal.require("sessions:read")
        after = decode_cursor(cursor, int)
        start = 0 if after is None else after[0]
        async with self.uow.begin(principal) as tx:
            alive(await tx.sessions.get(session_id))
            line = None if upto is None else set(await tx.snapshots.ancestors(session_id, upto))
            if line is not None and not line:
                raise no_checkpoint()
            checkpoints = await tx.snapshots.after(session_id, start, limit + 1)
            steps = await tx.snapshots.steps(session_id, start, limit + 1)
        entries = [*map(_of_checkpoint(session_id), checkpoints), *map(_of_step(session_id), steps)]
        entries.sort(key=attrgetter("position"))
        shown = entries[:limit]
        return Page(
            results=[entry for entry in shown if line is None or _leads(entry, line, upto)],
            next_cursor=encode_cursor(shown[-1].position) if len(entries) > limit else None,
            total=None,
        )


def step_of(session_id: str, row: Row) -> Step:
    """A step as answers have it."""
    own = [name for name in Step.model_fields if name not in {"session_id", "redacted"}]
    return Step(session_id=session_id, **{name: row[name] for name in own})


def _makes_a_checkpoint(request: StepPut, settings: SnapshotSettings) -> bool:
    """As the request says; else as the settings say of finished steps: one with an input alone has only begun."""
    if request.auto_checkpoint is not None:
        return request.auto_checkpoint
    begun = request.input is not None and "output" not in request.model_fields_set
    return settings.auto_checkpoint and not begun


def _stored(session_id: str, row: Row) -> StoredStep:
    return StoredStep(**step_of(session_id, row).model_dump())


def _of_checkpoint(session_id: str) -> Any:  # noqa: ANN401 - a function of a row
    def entry(row: Row) -> TraceEntry:
        shown = info_of(session_id, row)
        return TraceEntry(type="checkpoint", position=shown.position, created_at=shown.created_at, checkpoint=shown)

    return entry


def _of_step(session_id: str) -> Any:  # noqa: ANN401 - a function of a row
    def entry(row: Row) -> TraceEntry:
        shown = step_of(session_id, row)
        return TraceEntry(type="step", position=shown.position, created_at=shown.created_at, step=shown)

    return entry


def _leads(entry: TraceEntry, line: set[str], upto: str | None) -> bool:
    """Whether an event belongs to the line that ends with a checkpoint: steps after it do not."""
    if entry.checkpoint is not None:
        return entry.checkpoint.id in line
    step = entry.step
    return (
        step is not None and step.checkpoint_id != upto and (step.checkpoint_id is None or step.checkpoint_id in line)
    )


def _there(row: Row | None) -> Row:
    if row is None:
        raise NotFound("There is no such step.", code="step_not_found")
    return row
