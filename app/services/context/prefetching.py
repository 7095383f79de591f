"""The memories of the next context, found before it is asked for; served only while nothing has changed since."""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final, Literal
from uuid import UUID

from app.core import clock
from app.core.metrics import Metrics
from app.core.text.digest import text_hash
from app.core.text.normal import normalise
from app.domain.principal import ROLE_SCOPES, Principal, TenantDefaults
from app.domain.rewriting import RECENT_TURNS
from app.repositories.base import RowLike
from app.repositories.contexts import Kept
from app.schemas.context import ContextWarm, Prepared
from app.schemas.search import FactorWeights
from app.services.context.analysing import analysed
from app.services.context.demand import Demand
from app.services.context.gathered import (
    Gathered,
    open_messages,
    open_stretches,
    read_summaries,
    recent_messages,
    turns_of,
    window_of,
)
from app.services.context.recalled import Recalled
from app.services.context.retrieving import Retrieving, Wanted, owners_of
from app.services.redacting import Redacting
from app.services.sessions import alive
from app.services.tenancy import tenant_defaults
from app.services.vectorising import JobRun
from app.uow import Transaction, UnitOfWork

KINDS: Final = ("episodic", "semantic")
KEPT_FOR: Final = timedelta(hours=1)
"""Recency moves on: what was prepared longer ago is found anew."""

FORM: Final = 4
"""Counted up where what is kept changes: what another release has prepared is found anew."""

TURNS: Final = RECENT_TURNS + 2
NOBODY: Final = UUID(int=0)

Variant = Literal["turn", "typed"]


@dataclass(frozen=True, slots=True)
class PrefetchService:
    """The use cases of the job `prefetch`, of warming by what is typed, and of looking for what is there."""

    uow: UnitOfWork
    retrieving: Retrieving
    redacting: Redacting
    metrics: Metrics
    demand: Demand = field(default_factory=Demand)

    async def run(self, run: JobRun) -> None:
        """Prepare for the last turn, if its user said it."""
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            principal = service_principal(run.tenant_id, await tenant_defaults(tx))
            session = await tx.sessions.get(run.subject)
            recent = [] if session is None else await recent_messages(tx, session, _window(principal))
        memories = 0
        if session is not None and recent:
            found = Gathered(session, recent)
            if found.asked is not None:
                memories = len((await self._prepare(principal, found, found.asked, "turn")).facts)
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            await run.finish(tx, {"memories": memories})

    async def warm(self, principal: Principal, session_id: str, request: ContextWarm) -> Prepared:
        """Prepare for what somebody is typing, or for the last turn."""
        principal.require("sessions:read")
        principal.require("memories:read")
        self.demand.note(principal.tenant_id, clock.now())
        request = (await self.redacting.clean(principal, request)).request
        async with self.uow.begin(principal) as tx:
            session = alive(await tx.sessions.get(session_id))
            found = Gathered(session, await recent_messages(tx, session, _window(principal)))
        query = request.partial_input or found.asked
        if query is None or not query.strip():
            return Prepared(session_id=session_id, prepared=False, query=None, memories=0, last_seq=session["last_seq"])
        variant: Variant = "turn" if request.partial_input is None else "typed"
        recalled = await self._prepare(principal, found, query, variant)
        return Prepared(
            session_id=session_id,
            prepared=recalled.skipped is None and recalled.lasting,
            query=query,
            memories=len(recalled.facts),
            last_seq=session["last_seq"],
        )

    async def _prepare(self, principal: Principal, found: Gathered, query: str, variant: Variant) -> Recalled:
        """Find and keep; what is typed is asked after everything that was said."""
        before = found.before if variant == "turn" else found.recent
        first = found.first if variant == "turn" else not found.recent and not found.session["summarized_seq"]
        # What is sealed stays so: the context is kept in clear, and may be asked for by a key that may not read it.
        anybody = replace(principal, scopes=principal.scopes - {"sensitive"})
        wanted = wanted_by_default(query, before, first=first)

        async def further(tx: Transaction, related: Sequence[int]) -> None:
            await read_summaries(tx, found)
            await open_messages(tx, found, related)
            await open_stretches(tx, found, related)

        recalled = await self.retrieving.recall(anybody, found.session, wanted, further)
        if recalled.skipped is not None or not recalled.lasting or recalled.degraded:
            return recalled
        recalled = replace(recalled, analysis=await asyncio.to_thread(analysed, found, recalled))
        content = recalled.stored() | {
            "before_seq": before[-1]["seq"] if before else 0,
            "settings": digest_of(principal.defaults),
            "until": None if recalled.until is None else recalled.until.isoformat(),
            "summarized_seq": found.session["summarized_seq"],
        }
        version, last = sum(recalled.versions.values()), found.session["last_seq"]
        async with self.uow.begin_tenant(principal.tenant_id) as tx:
            # Of a message that was taken back meanwhile nothing is kept.
            if await tx.sessions.hold(found.session["id"], clock.now(), found.session["updated_at"]):
                await tx.contexts.prepare(found.session["id"], variant, version, last, content, clock.now())
        return recalled

    async def refresh(self, tenant_id: UUID, session_id: str) -> None:
        """Prepare anew what was prepared, after memories or summaries of a session have changed."""
        async with self.uow.begin_tenant(tenant_id) as tx:
            session = await tx.sessions.get(session_id)
            if session is None or session["status"] == "closed" or session["memory"] == "off":
                return
            if not any(row["last_seq"] == session["last_seq"] for row in await tx.contexts.prepared(session_id)):
                return
            last = await tx.messages.last(session_id, 1)
            if last and last[-1]["role"] == "user":
                await tx.jobs.enqueue("prefetch", session_id, clock.now(), user_id=session["user_id"])

    async def matching(
        self,
        tx: Transaction,
        kept: Sequence[Kept],
        found: Gathered,
        wanted: Wanted,
        principal: Principal,
    ) -> Recalled | None:
        """What was prepared for this very question in this very place, if nothing has changed since.

        Where something sealed is in it, it is none for a key that may read that.
        """
        versions = await tx.owners.memory_versions(owners_of(found.session)) if kept else {}
        defaults = principal.defaults
        at = clock.now()
        asked = found.asked is not None and _same(wanted.query, found.asked)
        before = found.before if asked else found.recent
        place = before[-1]["seq"] if before else 0
        for content, made_at in kept:
            if (
                content["settings"] == digest_of(defaults)
                and _covers(content["query"], wanted.query)
                and content["before_seq"] == place
                and content["versions"] == dict(versions)
                and content["summarized_seq"] == found.session["summarized_seq"]
                and _lasts(content, made_at, at)
            ):
                recalled = Recalled.read(content)
                if "sensitive" in principal.scopes and any(fact.row.get("sensitive") for fact in recalled.facts):
                    continue
                self.metrics.prefetches.labels("hit").inc()
                return recalled
        self.metrics.prefetches.labels("stale" if kept else "miss").inc()
        return None


def wanted_by_default(query: str, before: Sequence[RowLike], *, first: bool) -> Wanted:
    """A question as a request without further wishes asks it."""
    return Wanted(query, turns_of(before, TURNS), first, "auto", KINDS, FactorWeights(), uncertain=False, at=None)


def is_default(wanted: Wanted) -> bool:
    """Whether what is prepared answers to it: it has no wishes of its own."""
    return (
        wanted.retrieval == "auto"
        and tuple(wanted.kinds) == KINDS
        and wanted.weights == FactorWeights()
        and not wanted.uncertain
        and wanted.at is None
    )


def _window(principal: Principal) -> int:
    return window_of(principal.defaults.context.window_turns)


def service_principal(tenant_id: UUID, defaults: TenantDefaults) -> Principal:
    """The service itself at work within a tenant."""
    return Principal(tenant_id, NOBODY, "service", "admin", ROLE_SCOPES["admin"], None, defaults)


def digest_of(defaults: TenantDefaults) -> str:
    """What of a tenant's settings a retrieval depends on, and the form in which what was prepared is kept."""
    given: dict[str, Any] = {
        "form": FORM,
        "legs": dict(defaults.legs),
        "factors": dict(defaults.factors),
        "timezone": defaults.timezone,
    }
    return text_hash(json.dumps(given, sort_keys=True, default=str)).hex()[:16]


def _same(one: str, other: str) -> bool:
    return normalise(one).strip() == normalise(other).strip()


def _covers(prepared: str, asked: str) -> bool:
    """Whether a question that was typed in part was all of the one that is asked, but for signs at its end.

    Words that no index keeps count too: May, Will and "when" may be all that a question is about.
    """
    if _same(prepared, asked):
        return True
    begun, whole = normalise(prepared).strip(), normalise(asked).strip()
    return whole.startswith(begun) and re.search(r"\w", whole[len(begun) :]) is None


def _lasts(content: Mapping[str, Any], made_at: datetime, at: datetime) -> bool:
    until = None if content["until"] is None else datetime.fromisoformat(content["until"])
    return at - made_at < KEPT_FOR and (until is None or at < until)
