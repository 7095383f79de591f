"""The use case of asking for a context."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast
from uuid import UUID

from app.core import clock
from app.domain.budget import estimate_tokens
from app.domain.context.layout import Shown
from app.domain.context.parts import Count, Spoken
from app.domain.principal import Principal
from app.repositories.contexts import Kept
from app.schemas.context import (
    Context,
    ContextConflict,
    ContextItem,
    ContextRequest,
    ContextSection,
    DroppedItem,
    RecentMessage,
)
from app.services.accesses import AccessLog
from app.services.context.choosing import Chooser
from app.services.context.composing import Composed, compose_context
from app.services.context.gathered import (
    LEAST_COST,
    LEAST_RECENT,
    MOST_WHOLE,
    Gathered,
    first_facts,
    open_messages,
    open_stretches,
    read_summaries,
    recent_messages,
    turns_of,
    window_of,
)
from app.services.context.plan import Plan
from app.services.context.prefetching import TURNS, PrefetchService, is_default
from app.services.context.recalled import Recalled
from app.services.context.retrieving import MOST_CHARACTERS, Retrieving, Wanted, skipped_for
from app.services.redacting import Redacting
from app.services.sessions import alive, no_session
from app.uow import Transaction, UnitOfWork


@dataclass(frozen=True, slots=True)
class ContextService:
    """Puts together what a model sees next."""

    uow: UnitOfWork
    retrieving: Retrieving
    prefetch: PrefetchService
    redacting: Redacting
    accesses: AccessLog
    count: Count = estimate_tokens
    chooser: Chooser | None = None

    async def make(self, principal: Principal, session_id: str, request: ContextRequest) -> Context:
        """A context for a session's next call of a model."""
        principal.require("sessions:read")
        principal.require("memories:read")
        self.prefetch.demand.note(principal.tenant_id, clock.now())
        request = (await self.redacting.clean(principal, request)).request
        plan = plan_of(principal, request, self.count)
        async with self.uow.begin(principal) as tx:
            found, kept = await _at_hand(tx, session_id, plan)
            wanted = wanted_of(request, found)
            recalled = _without_search(found, wanted)
            if recalled is not None:
                await read_summaries(tx, found)
            elif wanted is not None and is_default(wanted):
                recalled = await self.prefetch.matching(tx, kept, found, wanted, principal)
        if recalled is None and wanted is not None:
            recalled = await self._found(principal, plan, found, wanted)
        recalled = recalled or Recalled("")
        composed = await asyncio.to_thread(compose_context, found, recalled, plan)
        self.accesses.note(principal.tenant_id, _served(composed), clock.now())
        return _answer(session_id, request, plan, composed, recalled)

    async def _found(self, principal: Principal, plan: Plan, found: Gathered, wanted: Wanted) -> Recalled:
        """What there is for a question that nobody has prepared for."""

        async def further(tx: Transaction, related: Sequence[int]) -> None:
            await read_summaries(tx, found)
            if plan.strategy == "selective":
                await open_messages(tx, found, related)
            elif plan.strategy == "hierarchical":
                await open_stretches(tx, found, related)

        recalled = await self.retrieving.recall(principal, found.session, wanted, further)
        return await self._chosen(plan, found, recalled)

    async def _chosen(self, plan: Plan, found: Gathered, recalled: Recalled) -> Recalled:
        """Of the messages that were found those that a language model holds for needed, where one is asked."""
        if self.chooser is None or plan.strategy != "selective" or not found.around:
            return recalled
        seqs = await self.chooser.choose(recalled.searched or recalled.query, found.around)
        if seqs is None:
            return replace(recalled, degraded=(*recalled.degraded, "llm"))
        kept = set(seqs)
        found.around = [row for row in found.around if row["seq"] in kept]
        related = tuple((seq, 1.0 - place / len(seqs)) for place, seq in enumerate(seqs))
        return replace(recalled, related=related)


def plan_of(principal: Principal, request: ContextRequest, count: Count) -> Plan:
    """The request over the tenant's own over the default."""
    own = principal.defaults.context
    return Plan(
        strategy=request.strategy or own.strategy,
        budget=request.token_budget or own.token_budget,
        memory_share=own.memory_share if request.memory_share is None else request.memory_share,
        window_turns=request.window_turns or own.window_turns,
        window_tokens=request.window_tokens,
        summary_tokens=own.summary_max_tokens,
        order=own.order,
        key=principal.defaults.fence_key,
        count=count,
    )


def wanted_of(request: ContextRequest, found: Gathered) -> Wanted | None:
    """What memories are looked up for; None where nobody has said or asked anything."""
    query = request.query or found.asked
    if query is None or not query.strip():
        return None
    asked = found.question is not None and (request.query is None or request.query == found.asked)
    before = found.before if asked else found.recent
    first = found.first if asked or not found.recent else False
    turns = turns_of(before, TURNS)
    return Wanted(
        query=query,
        turns=turns,
        first=first,
        retrieval=request.retrieval,
        kinds=tuple(request.kinds),
        weights=request.weights,
        uncertain=request.include_uncertain,
        at=request.now,
    )


def _recent(plan: Plan, messages: int) -> int:
    """How many of the last messages are read."""
    if plan.strategy == "full":
        # What cannot fit needs not be read: the summary stands for it.
        return messages if messages * LEAST_COST <= plan.budget and messages <= MOST_WHOLE else LEAST_RECENT
    return window_of(plan.window_turns)


async def _at_hand(tx: Transaction, session_id: str, plan: Plan) -> tuple[Gathered, Sequence[Kept]]:
    """The session as it stands, and what was prepared for it."""
    there = await tx.contexts.at_hand(session_id)
    if there is None:
        raise no_session()
    session = alive(there.session)
    found = Gathered(session, await recent_messages(tx, session, _recent(plan, session["message_count"])))
    found.state = there.state
    found.blocks = there.blocks if session["memory"] != "off" else ()
    found.profile = await first_facts(tx, found)
    return found, there.kept


def _without_search(found: Gathered, wanted: Wanted | None) -> Recalled | None:
    """What is recalled where no memories are looked for; None where they are."""
    if wanted is None:
        return Recalled("", skipped="memory_off" if found.session["memory"] == "off" else None)
    skipped = skipped_for(found.session, wanted.retrieval, wanted.query[:MOST_CHARACTERS])
    return None if skipped is None else Recalled(wanted.query, skipped=skipped)


def _served(composed: Composed) -> list[UUID]:
    return [UUID(name) for name in _memory_ids(composed.layout.sections())]


def _memory_ids(sections: Sequence[Shown]) -> list[str]:
    return [piece.details["memory_id"] for one in sections for piece in one.pieces if "memory_id" in piece.details]


def _answer(
    session_id: str,
    request: ContextRequest,
    plan: Plan,
    composed: Composed,
    recalled: Recalled,
) -> Context:
    layout = composed.layout
    shown = layout.sections()
    by_name = {one.name: one for one in shown}
    empty = [
        ContextSection(name=name, text="", tokens=0, items=[])
        for name in plan.order
        if name not in by_name and name not in {"messages", "question"}
    ]
    told = {one.name: _section(one) for one in shown} | {one.name: one for one in empty}
    skipped = recalled.skipped
    return Context(
        session_id=session_id,
        strategy=composed.strategy,
        fell_back_from=plan.strategy if plan.strategy != composed.strategy else None,
        token_budget=plan.budget,
        tokens=layout.tokens(),
        sections=[told[name] for name in plan.order if name in told],
        recent=[_recent_message(one) for one in layout.spoken],
        messages=layout.messages() if request.format == "messages" else None,
        text=layout.text() if request.format == "text" else None,
        dropped=[DroppedItem(section=section, name=name) for section, name in composed.dropped],
        memory_ids=_memory_ids(shown),
        conflicts=[
            ContextConflict(memory_id=one.fact.id, stored=one.fact.row["text"], said=one.said, seq=one.seq)
            for one in composed.contradicted
        ],
        prefetched=recalled.analysis is not None,
        skipped=cast("Any", skipped),
        rewritten_query=recalled.rewritten,
        degraded=[*recalled.degraded, *(["summary"] if composed.missing else [])],
    )


def _section(one: Shown) -> ContextSection:
    items = [
        ContextItem(name=piece.name, text=piece.text, tokens=piece.tokens, **piece.details) for piece in one.pieces
    ]
    return ContextSection(name=one.name, text=one.text, tokens=one.tokens, items=items)


def _recent_message(one: Spoken) -> RecentMessage:
    return RecentMessage(seq=one.seq, role=one.role, tokens=one.tokens)
