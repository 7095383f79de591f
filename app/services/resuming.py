"""Where was I: what a session is taken up again with."""

from dataclasses import dataclass
from typing import Any

from app.domain.principal import Principal
from app.schemas.resuming import LastSummary, Resume
from app.services.sessions import alive, session_of
from app.services.states import state_of
from app.services.summaries.reading import read_summary
from app.uow import UnitOfWork


@dataclass(frozen=True, slots=True)
class ResumeService:
    """The use case of taking a session up again."""

    uow: UnitOfWork

    async def get(self, principal: Principal, session_id: str) -> Resume:
        """The session, its state as it is stored, what is still to be done, and the last summary."""
        principal.require("sessions:read")
        async with self.uow.begin(principal) as tx:
            session = alive(await tx.sessions.get(session_id))
            state = state_of(session_id, await tx.states.current(session_id))
            summary = await read_summary(tx, session, principal.defaults.context)
        task: Any = state.state.get("task")
        steps = task.get("pending_steps") if isinstance(task, dict) else None
        return Resume(
            session=session_of(session),
            state=state,
            open_steps=list(steps) if isinstance(steps, list) else [],
            summary=LastSummary(
                text=summary.text,
                tokens=summary.tokens,
                from_seq=summary.from_seq,
                to_seq=summary.to_seq,
                unfolded=summary.unfolded,
            ),
        )
