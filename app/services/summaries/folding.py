"""The job that folds what has left a session's window, killed anywhere without loss or repetition."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final
from uuid import UUID

from app.core import clock
from app.core.errors import Conflict
from app.domain.budget import estimate_tokens
from app.domain.principal import TenantDefaults
from app.domain.summary.choosing import room_for
from app.domain.summary.lines import Line
from app.domain.summary.sentences import Sentence
from app.domain.summary.tree import Node, corrected, rolled, to_roll
from app.domain.summary.windows import beyond_window, segments
from app.repositories.base import RowLike
from app.schemas.summaries import Summary, SummaryFold
from app.services.answers import Answer, Write, write_once
from app.services.drafting import zone_of_sender
from app.services.sessions import alive
from app.services.summaries.reading import read_summary
from app.services.summaries.rows import lines_of, node_of, said_anew, summary_row
from app.services.summaries.summarisers import Summarised, Summariser
from app.services.tenancy import tenant_defaults
from app.services.vectorising import JobRun
from app.uow import Transaction, UnitOfWork

READ_AT_ONCE: Final = 240
"""Messages that are looked at between two commits."""

WORTH_FOLDING: Final = 4
"""Turns beyond the window for which the job takes up its work: one call of a model for several turns."""

TOKENS_WORTH_FOLDING: Final = 1_200

MOST_ROUNDS: Final = 200

Check = Callable[[Transaction], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Unfolded:
    """What is to be folded of a session as it stood when it was read."""

    cursor: int
    weighed: int
    stretches: list[list[Line]]
    nodes: list[Node]
    before: Line | None

    def places(self) -> Iterator[tuple[list[Line], Line | None]]:
        """Each stretch with the message before it."""
        before = self.before
        for stretch in self.stretches:
            yield stretch, before
            before = stretch[-1]


@dataclass(slots=True)
class Folded:
    """What was done."""

    stretches: int = 0
    messages: int = 0
    dropped: int = 0
    first: int | None = None
    last: int | None = None
    by: set[str] = field(default_factory=set)

    def note(self, stretches: Sequence[Sequence[Line]], made: Sequence[Summarised]) -> None:
        """Count what was committed."""
        self.stretches += len(stretches)
        self.messages += sum(map(len, stretches))
        self.dropped += sum(one.dropped for one in made)
        self.first = stretches[0][0].seq if self.first is None else self.first
        self.last = stretches[-1][-1].seq
        self.by |= {one.by for one in made}


@dataclass(frozen=True, slots=True)
class FoldingService:
    """The use cases of the job `summarise` and of folding on demand."""

    uow: UnitOfWork
    summariser: Summariser

    async def run(self, run: JobRun) -> None:
        """Fold what has left the window; of a closed session everything."""
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            defaults = await tenant_defaults(tx)
        folded = await self._fold(run.tenant_id, run.subject, defaults, None, run.check)
        result: dict[str, Any] = {
            "stretches": folded.stretches,
            "messages": folded.messages,
            "dropped": folded.dropped,
            "by": sorted(folded.by),
        }
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            await run.finish(tx, result, {"from_seq": folded.first, "to_seq": folded.last})

    async def fold_now(self, write: Write, session_id: str, request: SummaryFold) -> Answer:
        """Fold at once what lies before the last turns. The same call again folds nothing, and gets the same answer.

        Raises:
            Conflict: There is nothing to fold.
        """
        principal = write.principal
        principal.require("sessions:write")
        async with self.uow.begin(principal) as tx:
            alive(await tx.sessions.get(session_id))
        keep = principal.defaults.context.window_turns if request.keep_turns is None else request.keep_turns
        folded = await self._fold(principal.tenant_id, session_id, principal.defaults, keep, _unchecked)

        async def work(tx: Transaction) -> Answer:
            if folded.last is None:
                raise Conflict(
                    f"Nothing lies before the last {keep} turns that is not in the summary already.",
                    code="nothing_to_fold",
                )
            session = alive(await tx.sessions.get(session_id))
            return Answer(200, await read_summary(tx, session, principal.defaults.context))

        return await write_once(self.uow, write, Summary, work)

    async def _fold(
        self, tenant_id: UUID, session_id: str, defaults: TenantDefaults, keep: int | None, check: Check
    ) -> Folded:
        """Stretch by stretch; the cursor moves with what was written. `keep` is None for the job's own judgement."""
        folded = Folded()
        for _ in range(MOST_ROUNDS):
            unfolded = await self._read(tenant_id, session_id, defaults, keep)
            if unfolded is None:
                break
            made = [
                await self.summariser.summarise(stretch, room_for(sum(line.tokens for line in stretch)), before)
                for stretch, before in unfolded.places()
            ]
            if await self._store(tenant_id, session_id, unfolded, made, check):
                folded.note(unfolded.stretches, made)
                await self._roll(tenant_id, session_id, defaults.context.summary_max_tokens, check)
        return folded

    async def _read(
        self, tenant_id: UUID, session_id: str, defaults: TenantDefaults, keep: int | None
    ) -> Unfolded | None:
        """What has left the window, under the session's lock: an append that has no commit yet is waited for."""
        async with self.uow.begin_tenant(tenant_id) as tx:
            session = await tx.sessions.get_for_update(session_id)
            if session is None:
                return None
            cursor = session["summarized_seq"]
            rows = await tx.messages.said(session_id, cursor, READ_AT_ONCE, 1)
            earlier = [row for row in rows if row["seq"] <= cursor]
            rows = rows[len(earlier) :]
            user = None if session["user_id"] is None else await tx.users.get(session["user_id"])
            zone = zone_of_sender(None, session, user)
            lines = lines_of(rows, zone)
            gone = to_fold(lines, session, defaults.context.window_turns, keep, more=len(rows) == READ_AT_ONCE)
            if not gone:
                await tx.sessions.summarized_to(session_id, 0, session["last_seq"])
                return None
            nodes = [node_of(row) for row in await tx.summaries.current(session_id)]
        before = next(iter(lines_of(earlier, zone)), None)
        return Unfolded(cursor, session["last_seq"], segments(gone), nodes, before)

    async def _store(
        self, tenant_id: UUID, session_id: str, read: Unfolded, made: Sequence[Summarised], check: Check
    ) -> bool:
        """Write the summaries and move the cursor; False where somebody else has moved it: it is read anew."""
        at = clock.now()
        fresh = list(chain.from_iterable(one.sentences for one in made))
        changed, current = await asyncio.to_thread(corrected, read.nodes, fresh, estimate_tokens)
        rows = [
            summary_row(
                session_id,
                0,
                (stretch[0].seq, stretch[-1].seq),
                _within(current, stretch),
                by=one.by,
                count=estimate_tokens,
                at=at,
            )
            for stretch, one in zip(read.stretches, made, strict=True)
        ]
        async with self.uow.begin_tenant(tenant_id) as tx:
            session = await tx.sessions.get_for_update(session_id)
            if session is None or session["summarized_seq"] != read.cursor:
                return False
            await tx.summaries.add(rows)
            for node in changed:
                await tx.summaries.change(node.id, said_anew(node.sentences, "rules", estimate_tokens))
            await tx.sessions.summarized_to(session_id, read.stretches[-1][-1].seq, 0)
            await check(tx)
        return True

    async def _roll(self, tenant_id: UUID, session_id: str, most_tokens: int, check: Check) -> None:
        """Gather summaries as long as too many, or too long ones, stand beside each other."""
        for _ in range(MOST_ROUNDS):
            async with self.uow.begin_tenant(tenant_id) as tx:
                nodes = [node_of(row) for row in await tx.summaries.current(session_id)]
            gathered = to_roll(nodes, most_tokens)
            if not gathered:
                return
            sentences = await asyncio.to_thread(rolled, gathered, most_tokens, estimate_tokens)
            names = [node.id for node in gathered]
            at = clock.now()
            row = summary_row(
                session_id,
                max(node.level for node in gathered) + 1,
                (gathered[0].from_seq, gathered[-1].to_seq),
                sentences,
                parents=names,
                by="rules",
                count=estimate_tokens,
                at=at,
            )
            async with self.uow.begin_tenant(tenant_id) as tx:
                if await tx.sessions.get_for_update(session_id) is None:
                    return
                standing = {one["id"] for one in await tx.summaries.current(session_id)}
                if not standing.issuperset(names):
                    continue  # somebody else has gathered them, or a message was taken away: it is read anew
                await tx.summaries.supersede(names, at)
                await tx.summaries.add([row])
                await check(tx)


def to_fold(
    lines: Sequence[Line], session: RowLike, window_turns: int, keep: int | None, *, more: bool
) -> list[list[Line]]:
    """The turns that are to be folded now.

    Args:
        lines: What comes after the cursor.
        session: The row; a closed session has no window.
        window_turns: The tenant's window.
        keep: Turns to keep where somebody asks for it; then any turn beyond them is worth folding.
        more: Whether there are further messages behind these.
    """
    closed = session["status"] == "closed"
    kept = (0 if closed else window_turns) if keep is None else keep
    gone = beyond_window(lines, kept if not more else max(kept, 1))
    if keep is not None or closed or more:
        return gone
    enough = len(gone) >= WORTH_FOLDING or sum(line.tokens for turn in gone for line in turn) >= TOKENS_WORTH_FOLDING
    return gone if enough else []


def _within(sentences: Sequence[Sentence], stretch: Sequence[Line]) -> list[Sentence]:
    """What ends in a stretch: an answer at its beginning may begin with the question before it."""
    return [one for one in sentences if stretch[0].seq <= one.to_seq <= stretch[-1].seq]


async def _unchecked(_tx: Transaction) -> None:
    """Nobody can take the work away."""
