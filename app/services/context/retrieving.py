"""Retrieval for a context: whose rows it may hold is another question than whose a search is about."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from app.core import clock
from app.domain.fusion import Leg
from app.domain.memory import Kind
from app.domain.principal import Principal
from app.domain.scope import Scope
from app.domain.scoring import Weights
from app.domain.smalltalk import worth_retrieving
from app.repositories.base import RowLike
from app.repositories.owners import CorpusSize
from app.repositories.reach import ContextSelection
from app.repositories.search import Period
from app.repositories.selection import Then
from app.schemas.search import FactorWeights, LegWeights
from app.services.candidates import leg_query, path_for, way_to_messages, zone_of
from app.services.context.facts import current_of
from app.services.context.hints import hints_for
from app.services.context.recalled import Fact, Recalled
from app.services.embedding import Embedder
from app.services.news import likeness_of_news
from app.services.questions import Question, ask
from app.services.ranking import Pool, Scored, Scoring, rank
from app.services.retrieval import leg_weights, scored_by
from app.services.rewriting import QueryRewriter
from app.services.shortlist import Limits, relevant, shortlist
from app.services.sizes import Sizes
from app.services.texts import Texts, read_contenders
from app.uow import Transaction, UnitOfWork

MOST_FACTS: Final = 16
SPARE: Final = 10
LEAST_RELEVANCE: Final = 0.05
LEAST_RELATED: Final = 0.02
"""Of a session's own earlier messages: one too many costs a line, one too few the answer."""

FIRST_FACTS: Final = 5
"""Of what matters most about a user, so much stands in a session's first context."""

MOST_RELATED: Final = 8
MOST_CHARACTERS: Final = 2_000
"""Of a question, so much is searched for: a user's message may be a document."""


Further = Callable[[Transaction, Sequence[int]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for.

    Args:
        query: The question.
        turns: What was said before it, oldest first.
        first: Whether it is the first of its session.
        retrieval: auto, always or never.
        kinds: Of memories.
        weights: Of the factors, over the tenant's.
        uncertain: Whether what is not served as fact is wanted too.
        at: From when recency and "last week" are counted.
    """

    query: str
    turns: Sequence[str]
    first: bool
    retrieval: str
    kinds: Sequence[Kind]
    weights: FactorWeights
    uncertain: bool
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Retrieving:
    """Finds memories and earlier messages for a context. No connection is held while a model works."""

    uow: UnitOfWork
    embedder: Embedder
    rewriter: QueryRewriter
    sizes: Sizes = field(default_factory=Sizes)

    async def recall(
        self, principal: Principal, session: RowLike, wanted: Wanted, further: Further | None = None
    ) -> Recalled:
        """What there is for a question, and the versions of the memories that it was found among.

        `further` reads on in the same transaction, given the messages that are related to the question.
        """
        query = wanted.query[:MOST_CHARACTERS]
        skipped = skipped_for(session, wanted.retrieval, query)
        if skipped is not None:
            return Recalled(wanted.query, skipped=skipped)
        rewritten = await self.rewriter.rewrite(query, wanted.turns)
        at = wanted.at or clock.now()
        question, degraded = await ask(self.embedder, rewritten.text, leg_weights(principal, LegWeights()), at)
        scope = Scope(None, session["agent_id"], session["app_id"], session["id"])
        owners = owners_of(session)
        async with self.uow.begin(principal, planned_once=True) as tx:
            versions = await tx.owners.memory_versions(owners)  # before what is found: what comes between is noticed
            if question.time is not None:
                question = question.in_zone(await zone_of(tx, principal, session["user_id"], session["timezone"]), at)
            size = await self.sizes.about(tx, principal.tenant_id, owners, messages=True)
            selection = ContextSelection(
                scope=scope,
                at=clock.now(),
                shared_owners=owners[1:],
                kinds=list(wanted.kinds),
                uncertain=wanted.uncertain,
                owner=owners[0],
                then=Then(known_at=session["known_at"]),
            )
            scoring = scoring_for(principal, wanted.weights, at)
            facts = await _facts(tx, size, selection, question, scoring, wanted)
            hints = await hints_for(tx, owners, selection, question, scoring) if size.memories else ()
            related = await _related(tx, size, session, question, scoring)
            if further is not None:
                await further(tx, [seq for seq, _ in related])
            number = None if session["user_id"] is None else await tx.sessions.ordinal(owners[0], session["created_at"])
        return Recalled(
            query=wanted.query,
            searched=rewritten.text if rewritten.by is not None else query,
            facts=facts,
            hints=hints,
            related=related,
            number=number,
            degraded=(*rewritten.degraded, *degraded),
            lasting=question.time is None and not question.latest,
            versions=versions,
        )


def skipped_for(session: RowLike, retrieval: str, query: str) -> str | None:
    """Why no memories are looked for; None where they are."""
    if session["memory"] == "off":
        return "memory_off"
    if retrieval == "never":
        return "never"
    return "small_talk" if retrieval == "auto" and not worth_retrieving(query) else None


def owners_of(session: RowLike) -> list[str]:
    """Whose memories may stand in a session's context: its owner's, then the levels above."""
    own: str = session["owner"]
    above = Scope(None, session["agent_id"], session["app_id"]).shared_owners()
    return [own, *(owner for owner in above if owner != own)]


def scoring_for(principal: Principal, asked: FactorWeights, at: datetime) -> Scoring:
    """The request's weights over the tenant's over the default ones."""
    base = Scoring(Weights(), at)
    return scored_by(asked, scored_by(FactorWeights.model_validate(principal.defaults.factors), base))


async def _facts(
    tx: Transaction,
    size: CorpusSize,
    selection: ContextSelection,
    question: Question,
    scoring: Scoring,
    wanted: Wanted,
) -> tuple[Fact, ...]:
    if not size.memories and not selection.then.past:
        return ()
    path = await path_for(tx, "memories", size.memories)
    query = replace(
        leg_query(question, size.owners, MOST_FACTS + SPARE, path),
        keys=question.keys,
        constraints=question.rule.weights.get(Leg.CONSTRAINT, 0) > 0,
    )
    pool = Pool.of_memories(await tx.search.memories(query, selection))
    found, _ = relevant(rank(pool, question, scoring), LEAST_RELEVANCE)
    best, texts = await read_contenders(tx, found, MOST_FACTS + SPARE, selection.then)
    likeness = None if selection.then.past else await likeness_of_news(tx, question, best, texts.rows)
    limits = Limits(MOST_FACTS, 0.0, None, collapse=True, every_constraint=True)
    chosen = shortlist(best, texts.rows, limits, likeness=likeness)
    session_id = selection.scope.session_id or ""
    facts = [_fact(one.hit, texts, session_id) for one in chosen.kept]
    if wanted.first:
        facts += await _most_important(tx, selection, {fact.id for fact in facts}, session_id)
    return tuple(facts) if selection.then.past else current_of(facts)


def _fact(hit: Scored, texts: Texts, session_id: str) -> Fact:
    row = texts.rows[hit.id]
    pinned = row["pinned"] and row["category"] == "constraint"
    return Fact.of(row, texts.sources.get(hit.id, []), session_id, constraint=pinned, relevance=hit.relevance)


async def _most_important(tx: Transaction, selection: ContextSelection, known: set[str], session_id: str) -> list[Fact]:
    """What a session begins with: the owner's most important memories, the newest of equals first."""
    rows = await tx.memories.important(selection, FIRST_FACTS)
    return [
        Fact.of(row, [], session_id, constraint=row["pinned"] and row["category"] == "constraint", relevance=0.0)
        for row in rows
        if str(row["id"]) not in known
    ]


async def _related(
    tx: Transaction, size: CorpusSize, session: RowLike, question: Question, scoring: Scoring
) -> tuple[tuple[int, float], ...]:
    """Earlier messages of the session that the question is about."""
    if not session["summarized_seq"]:
        return ()  # everything is still there as it was said
    own = replace(size, owners=[session["owner"]])
    scope = Scope(session["user_id"], session_id=session["id"])
    owners, path = await way_to_messages(tx, own, scope, Period())
    pool = Pool.of_messages(
        await tx.search.messages(replace(leg_query(question, owners, MOST_RELATED, path), neighbours=True), scope)
    )
    found = rank(pool, question, scoring)
    return tuple(
        (pool.places[hit.row][1], round(hit.relevance, 4))
        for hit in found[: 2 * MOST_RELATED]
        if hit.relevance >= LEAST_RELATED
    )
