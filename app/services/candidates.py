"""The candidates of a search: by which path, among whose rows, found in one statement for each corpus."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from app.core import clock
from app.domain.filters import parse_filter
from app.domain.fusion import Leg
from app.domain.principal import Principal
from app.domain.scope import Scope
from app.repositories.corpus import Path
from app.repositories.owners import CorpusSize
from app.repositories.search import EXACT_UP_TO, Extent, LegQuery, Period, TimeQuery
from app.repositories.selection import Selection, Then
from app.schemas.search import SearchRequest
from app.services.questions import Question
from app.services.ranking import Pool
from app.services.sizes import Sizes
from app.uow import Transaction

LEAST_CANDIDATES: Final = 50
CANDIDATES_PER_HIT: Final = 3

COMPARE_MS: Final = 0.001
WALK_MS: Final = 5.0
WALK_MS_PER_SHARE: Final = 2.75
"""Measured (ADR 6): comparing one vector; walking to the nearest of all; how much longer the walk takes the smaller the
share of the rows in scope is, for it meets the others' on its way."""


def owners_in_scope(scope: Scope, principal: Principal, shared: Sequence[str]) -> list[str] | None:
    """Whose rows can be in scope at all; None where that is every owner's."""
    if scope.user_id is not None:
        return [scope.owner, *shared]
    if principal.user_ids is None:
        return None
    return [f"u:{user_id}" for user_id in sorted(principal.user_ids)] + list(shared)


def leg_query(question: Question, owners: Sequence[str], hits: int, path: Path) -> LegQuery:
    """What a question asks of one corpus, for so many hits."""
    time = None if question.time is None else TimeQuery(question.time.since, question.time.until)
    return LegQuery(
        owners=owners,
        tokens=question.tokens,
        dense=question.dense,
        limit=max(LEAST_CANDIDATES, CANDIDATES_PER_HIT * hits),
        path=path,
        time=TimeQuery() if question.latest else time,
    )


@dataclass(slots=True)
class Way:
    """Which way a search went, corpus by corpus."""

    paths: dict[str, str] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    candidates: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Lookup:
    """One search's candidates within its transaction.

    Args:
        tx: The transaction.
        principal: Whose key asks.
        scope: Among whose rows.
        question: What is looked for.
        request: The search as it was asked.
        depth: How many candidates may become hits.
        sizes: How much owners have, as last seen.
    """

    tx: Transaction
    principal: Principal
    scope: Scope
    question: Question
    request: SearchRequest
    depth: int
    sizes: Sizes
    way: Way = field(default_factory=Way)

    async def pools(self) -> list[Pool]:
        """The candidates among memories, and among messages where asked for."""
        shared = self.scope.shared_owners() if self.request.include_shared else []
        size = await self._size(owners_in_scope(self.scope, self.principal, shared))
        self.way.rows["memories"] = size.memories
        beyond = self.request.past or self.request.include_archived  # what is not current is not counted
        found = [await self._memories(size, shared)] if size.memories or beyond else []
        if self.request.include_messages:
            self.way.rows["messages"] = size.messages
        if self.request.include_messages and size.messages:
            found.append(await self._messages(size))
        return found

    async def _size(self, owners: list[str] | None) -> CorpusSize:
        """How much there is about; an explanation has it exactly."""
        if owners is None or self.request.explain:
            return await self.tx.owners.size(owners)
        tenant_id, messages = self.principal.tenant_id, self.request.include_messages
        return await self.sizes.about(self.tx, tenant_id, owners, messages=messages)

    async def _memories(self, size: CorpusSize, shared: Sequence[str]) -> Pool:
        request = self.request
        selection = Selection(
            scope=self.scope,
            at=clock.now(),
            shared_owners=shared,
            kinds=request.kinds,
            uncertain=request.include_uncertain,
            sessions_apart=True,
            filter=None if request.filters is None else parse_filter(request.filters),
            then=Then(request.as_of, request.known_at),
            archived=request.include_archived,
        )
        owners, path = size.owners, await path_for(self.tx, "memories", size.memories)
        large = size.memories > EXACT_UP_TO
        if selection.narrow and large:
            extent = await self.tx.search.extent_of_memories(selection, EXACT_UP_TO + 1)
            owners, path = narrowed(extent, owners, path)
        query = replace(
            leg_query(self.question, owners, self.depth, path),
            keys=self.question.keys,
            constraints=self.question.rule.weights.get(Leg.CONSTRAINT, 0) > 0,
        )
        self._note("memories", "memory", query)
        pool = Pool.of_memories(await self.tx.search.memories(query, selection))
        self.way.candidates["memory"] = len(pool.ids)
        return pool

    async def _messages(self, size: CorpusSize) -> Pool:
        said = Period(until=min((at for at in (self.request.as_of, self.request.known_at) if at), default=None))
        owners, path = await way_to_messages(self.tx, size, self.scope, said)
        query = replace(leg_query(self.question, owners, self.depth, path), neighbours=True)
        self._note("messages", "message", query)
        pool = Pool.of_messages(await self.tx.search.messages(query, self.scope, said))
        self.way.candidates["message"] = len(pool.ids)
        return pool

    def _note(self, corpus: str, kind: str, query: LegQuery) -> None:
        self.way.paths[corpus] = query.path if query.dense is not None else "lexical"
        self.way.candidates[kind] = 0


async def path_for(tx: Transaction, corpus: Literal["memories", "messages"], rows: int) -> Path:
    """How the nearest are looked for among so many rows of some owners: by whichever way visits fewer (ADR 6)."""
    if rows <= EXACT_UP_TO:
        return "exact"
    indexed = max(rows, await tx.search.indexed(corpus))
    walking = WALK_MS + WALK_MS_PER_SHARE * indexed / rows
    return "exact" if rows * COMPARE_MS <= walking else "hnsw"


async def way_to_messages(tx: Transaction, size: CorpusSize, scope: Scope, period: Period) -> tuple[list[str], Path]:
    """Among whose messages the nearest are looked for, and how."""
    path = await path_for(tx, "messages", size.messages)
    narrow = period.restricts or any(value is not None for value in (scope.agent_id, scope.app_id, scope.session_id))
    if size.messages <= EXACT_UP_TO or not narrow:
        return size.owners, path
    return narrowed(await tx.search.extent_of_messages(scope, period, EXACT_UP_TO + 1), size.owners, path)


def narrowed(extent: Extent, owners: list[str], path: Path) -> tuple[list[str], Path]:
    """A selection that leaves few rows of many is searched row by row, and only among those whose rows they are."""
    return (extent.owners, "selected") if extent.rows <= EXACT_UP_TO else (owners, path)


async def zone_of(tx: Transaction, principal: Principal, user_id: str | None, asked: str | None) -> str:
    """The zone in which a question's 昨天 is meant."""
    if asked is not None:
        return asked
    user = None if user_id is None else await tx.users.get(user_id)
    return (None if user is None else user["timezone"]) or principal.defaults.timezone or "UTC"
