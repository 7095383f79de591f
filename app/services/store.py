"""The key-value store of agents, as LangGraph's BaseStore wants it: batches of reads, writes, searches, listings."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Final, assert_never
from uuid import UUID

import numpy as np

from app.core import clock, ids
from app.domain.fusion import DEFAULT_WEIGHTS, Evidence, FusionRule, Leg, relevance
from app.domain.store import (
    MatchCondition,
    Words,
    known_beginning,
    matching,
    namespace_of,
    parse_store_filter,
    path_of,
    texts_of,
)
from app.repositories.base import Row
from app.repositories.search import DenseQuery
from app.repositories.store import IndexedText, Within
from app.schemas.store import (
    FoundItem,
    StoreBatch,
    StoreGet,
    StoreItem,
    StoreNamespaces,
    StoreOp,
    StorePut,
    StoreResults,
    StoreSearch,
)
from app.services.analysis import analyse_all
from app.services.answers import Answer, Write, write_once
from app.services.embedding import Embedder, TextToEmbed
from app.services.questions import ask
from app.services.redacting import Redacting
from app.services.sessions import id_taken
from app.uow import Transaction, UnitOfWork

WHOLE: Final = ("$",)
BESIDES: Final = 50
"""Candidates of each leg beyond those that are asked for: what both find rises."""

ONLY_TEXT: Final[Mapping[Leg, float | None]] = {Leg.TIME: 0.0, Leg.KEY: 0.0, Leg.CONSTRAINT: 0.0}


@dataclass(frozen=True, slots=True)
class Question:
    """A query, embedded and in words."""

    tokens: Sequence[str]
    dense: DenseQuery | None
    rule: FusionRule


@dataclass(slots=True)
class Prepared:
    """What a batch needs that takes time and no connection: texts and questions with their vectors."""

    texts: dict[int, list[IndexedText]] = field(default_factory=dict)
    questions: dict[str, Question] = field(default_factory=dict)
    degraded: bool = False


@dataclass(frozen=True, slots=True)
class StoreService:
    """The use case of the store."""

    uow: UnitOfWork
    embedder: Embedder
    redacting: Redacting

    async def batch(self, write: Write, request: StoreBatch) -> Answer:
        """Do operations one after the other, all or none; their results in the same order."""
        principal = write.principal
        writes = any(isinstance(op, StorePut) for op in request.ops)
        principal.require("memories:write" if writes else "memories:read")
        user_id = principal.own_user(request.user_id) if writes else None
        request = (await self.redacting.clean(principal, request)).request
        prepared = await self._prepared(request.ops)

        async def work(tx: Transaction) -> Answer:
            at, results = clock.now(), list[Any]()
            for kind, numbered in groupby(enumerate(request.ops), key=lambda pair: type(pair[1])):
                pairs = list(numbered)
                if kind is StoreGet:
                    results += await _get(tx, [op for _, op in pairs if isinstance(op, StoreGet)], at)
                    continue
                results += [await self._do(tx, op, number, prepared, user_id, at) for number, op in pairs]
            return Answer(200, StoreResults(results=results, degraded=["embedding"] if prepared.degraded else []))

        return await write_once(self.uow, write, StoreResults, work)

    async def _do(
        self, tx: Transaction, op: StoreOp, number: int, prepared: Prepared, user_id: str | None, at: datetime
    ) -> Any:  # noqa: ANN401 - a result of any kind
        match op:
            case StorePut():
                await _put(tx, op, prepared.texts.get(number, ()), user_id, at)
                return None
            case StoreSearch():
                question = None if op.query is None else prepared.questions.get(op.query)
                return await self._search(tx, op, question, at)
            case StoreNamespaces():
                return await _namespaces(tx, op, at)
            case StoreGet():
                return (await _get(tx, [op], at))[0]
            case _:
                assert_never(op)

    async def _search(
        self, tx: Transaction, op: StoreSearch, question: Question | None, at: datetime
    ) -> list[FoundItem]:
        asked = None if op.filter is None else parse_store_filter(op.filter)
        within = Within(path_of(op.namespace_prefix), at, asked)
        found: list[tuple[Row, float | None]]
        if question is None:
            found = [(row, None) for row in await tx.store.page(within, op.limit, op.offset)]
        else:
            found = await self._matching(tx, within, op, question)
        if op.refresh_ttl and (living := [row["id"] for row, _ in found if row["ttl_minutes"] is not None]):
            await tx.store.refresh(living, at)
        return [FoundItem(**_item(row), score=score) for row, score in found]

    async def _matching(
        self, tx: Transaction, within: Within, op: StoreSearch, question: Question
    ) -> list[tuple[Row, float | None]]:
        """The best first; where fewer match than are asked for, others fill the page without a score."""
        wanted = op.offset + op.limit
        rows = await tx.store.candidates(within, question.tokens, question.dense, wanted + BESIDES)
        scores = self._scores(rows, question)
        order = sorted(scores, key=lambda item: (-scores[item], item))
        page = order[op.offset : wanted]
        items = await tx.store.by_ids(page) if page else {}
        found: list[tuple[Row, float | None]] = [(items[item], scores[item]) for item in page if item in items]
        if (room := op.limit - len(found)) > 0:
            skipped = max(0, op.offset - len(order))
            found += [(row, None) for row in await tx.store.page(within, room, skipped, order)]
        return found

    def _scores(self, rows: Sequence[Row], question: Question) -> dict[UUID, float]:
        """The relevance of each item: of its best text."""
        if not rows:
            return {}
        words = Words(rows[0]["texts"], rows[0]["mean_length"], rows[0]["frequencies"] or {})
        evidence = Evidence(
            cosine=np.array([row["cosine"] for row in rows], np.float64),
            bm25=np.array([words.bm25(row["words"], row["length"]) if row["words"] else np.nan for row in rows]),
            coverage=np.array([words.coverage(row["words"], question.tokens) for row in rows]),
        )
        best: dict[UUID, float] = {}
        for row, score in zip(
            rows, relevance(evidence, question.rule, self.embedder.calibration).tolist(), strict=True
        ):
            best[row["item_id"]] = max(score, best.get(row["item_id"], 0.0))
        return best

    async def _prepared(self, ops: Sequence[StoreOp]) -> Prepared:
        prepared = Prepared()
        texts = [
            (number, text)
            for number, op in enumerate(ops)
            if isinstance(op, StorePut) and op.value is not None and op.index is not False
            for text in texts_of(op.value, WHOLE if op.index is None else op.index)
        ]
        if texts:
            await self._embed(texts, prepared)
        for query in {op.query for op in ops if isinstance(op, StoreSearch) and op.query}:
            question, missing = await ask(self.embedder, query, ONLY_TEXT, clock.now())
            weights = {
                leg: DEFAULT_WEIGHTS[leg]
                for leg, speaks in ((Leg.DENSE, question.dense is not None), (Leg.LEXICAL, bool(question.tokens)))
                if speaks
            }
            prepared.questions[query] = Question(question.tokens, question.dense, FusionRule(weights=weights))
            prepared.degraded = prepared.degraded or bool(missing)
        return prepared

    async def _embed(self, texts: Sequence[tuple[int, str]], prepared: Prepared) -> None:
        analyses = await analyse_all([text for _, text in texts])
        named = [
            TextToEmbed(ids.new_id(), text, analysis.content_hash)
            for (_, text), analysis in zip(texts, analyses, strict=True)
        ]
        model_id = (await self.embedder.record()).id
        vectors = {one.target: one.by_model(model_id) for one in await self.embedder.passages_if_up(named)}
        prepared.degraded = len(vectors) < len(named)
        for (number, words), analysis, text in zip(texts, analyses, named, strict=True):
            made = vectors.get(text.target, {})
            indexed = IndexedText(list(analysis.frequencies), analysis.length, words, made)
            prepared.texts.setdefault(number, []).append(indexed)


async def _get(tx: Transaction, ops: Sequence[StoreGet], at: datetime) -> list[StoreItem | None]:
    places = [(path_of(op.namespace), op.key) for op in ops]
    rows = {(row["path"], row["key"]): row for row in await tx.store.get(sorted(set(places)), at)}
    living = [
        rows[place]["id"]
        for place, op in zip(places, ops, strict=True)
        if place in rows and op.refresh_ttl and rows[place]["ttl_minutes"] is not None
    ]
    if living:
        await tx.store.refresh(living, at)
    return [StoreItem(**_item(rows[place])) if place in rows else None for place in places]


async def _put(
    tx: Transaction,
    op: StorePut,
    texts: Iterable[IndexedText],
    user_id: str | None,
    at: datetime,
) -> None:
    path = path_of(op.namespace)
    if op.value is None:
        await tx.store.delete(path, op.key)
        return
    if user_id is not None:
        await tx.users.touch([user_id], at)
    row = {
        "id": ids.new_id(),
        "path": path,
        "key": op.key,
        "user_id": user_id,
        "value": op.value,
        "ttl_minutes": op.ttl,
        "expires_at": None if op.ttl is None else at + timedelta(minutes=op.ttl),
        "created_at": at,
        "updated_at": at,
    }
    if not await tx.store.put(row, list(texts)):
        raise id_taken()


async def _namespaces(tx: Transaction, op: StoreNamespaces, at: datetime) -> list[list[str]]:
    conditions = [MatchCondition(one.match_type, tuple(one.path)) for one in op.match_conditions]
    paths = await tx.store.paths(path_of(known_beginning(conditions)), at)
    found = matching([namespace_of(path) for path in paths], conditions, op.max_depth)
    return [list(namespace) for namespace in found[op.offset : op.offset + op.limit]]


def _item(row: Row) -> dict[str, Any]:
    own = {name: row[name] for name in ("key", "value", "created_at", "updated_at")}
    return {"namespace": namespace_of(row["path"]), **own}
