"""Items of agents' key-value store, by key, by namespace, by value, by words and by meaning."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from pgvector import HalfVector
from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Double,
    Text,
    bindparam,
    case,
    column,
    delete,
    func,
    or_,
    select,
    tuple_,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from app.db.models import store_items, store_texts
from app.db.types import Halfvec
from app.domain.filters import Filter
from app.domain.store import below
from app.repositories.base import Repository, Row, filled
from app.repositories.filters import filter_condition
from app.repositories.search import DenseQuery

_ITEM = tuple(
    store_items.c[name]
    for name in ("id", "path", "key", "value", "ttl_minutes", "created_at", "updated_at", "expires_at")
)


@dataclass(frozen=True, slots=True)
class Within:
    """Which items: below a path, whose values a filter leaves, not past their time."""

    path: str
    at: datetime
    filter: Filter | None = None


@dataclass(frozen=True, slots=True)
class IndexedText:
    """What is searched of an item: its tokens, their number with repetitions, its words, and its vectors if there are.

    `vectors` are by model, the one that serves first; two at most.
    """

    tokens: Sequence[str]
    length: int
    text: str | None = None
    vectors: Mapping[int, Any] = field(default_factory=dict)

    @property
    def columns(self) -> dict[str, Any]:
        """The vectors as the table has them."""
        made: list[tuple[int, Any]] = list(self.vectors.items())
        (first, one), (second, other) = (*made, *[(None, None)] * 2)[:2]
        return {
            "model_id": first,
            "embedding": None if one is None else HalfVector(one),
            "second_model_id": second,
            "second_embedding": None if other is None else HalfVector(other),
        }


class StoreRepository(Repository):
    """store_items and store_texts. A key that is bound to users sees their items and no others."""

    async def get(self, places: Sequence[tuple[str, str]], at: datetime) -> list[Row]:
        """The items at these paths and keys that are there."""
        given = (
            func.unnest(_texts([path for path, _ in places]), _texts([key for _, key in places]))
            .table_valued(column("path", Text(collation="C")), column("key", Text(collation="C")))
            .render_derived()
        )
        statement = (
            select(*_ITEM)
            .join_from(given, store_items, (store_items.c.path == given.c.path) & (store_items.c.key == given.c.key))
            .where(*self._alive(at))
        )
        return await self._all(statement)

    async def put(self, row: dict[str, Any], texts: Sequence[IndexedText]) -> bool:
        """Store an item in place of the one before, with what is searched of it; False where it is another's.

        `row` has id, path, key, user_id, value, ttl_minutes, expires_at, created_at and updated_at.
        """
        items = store_items.c
        statement = insert(store_items).values(tenant_id=self._tenant_id, **row)
        fresh = statement.excluded
        mine = [] if row["user_id"] is None else [items.user_id == row["user_id"]]
        upsert = statement.on_conflict_do_update(
            index_elements=["tenant_id", "path", "key"],
            set_={
                **{name: fresh[name] for name in ("value", "ttl_minutes", "expires_at", "updated_at")},
                "created_at": case((items.expires_at <= row["updated_at"], fresh.created_at), else_=items.created_at),
            },
            where=func.coalesce(_all_of([*mine, *self._own(items.user_id)]), False),
        )
        stored = await self._first(upsert.returning(items.id))
        if stored is None:
            return False
        texts_of = (store_texts.c.tenant_id == self._tenant_id, store_texts.c.item_id == stored["id"])
        await self._run(delete(store_texts).where(*texts_of))
        if texts:
            parts = [
                {
                    "tenant_id": self._tenant_id,
                    "item_id": stored["id"],
                    "part": part,
                    "length": text.length,
                    "tokens": list(text.tokens),
                    "text": text.text,
                    **text.columns,
                }
                for part, text in enumerate(texts)
            ]
            await self._run(*filled(insert(store_texts), parts))
        return True

    async def delete(self, path: str, key: str) -> None:
        """Remove an item, if it is there and the key may see it."""
        statement = delete(store_items).where(
            store_items.c.tenant_id == self._tenant_id,
            store_items.c.path == path,
            store_items.c.key == key,
            *self._own(store_items.c.user_id),
        )
        await self._run(statement)

    async def page(self, within: Within, limit: int, offset: int, besides: Sequence[UUID] = ()) -> list[Row]:
        """Items, those that were written last first, without some."""
        statement = select(*_ITEM).where(*self._within(within))
        if besides:
            statement = statement.where(store_items.c.id.not_in(list(besides)))
        newest = (store_items.c.updated_at.desc(), store_items.c.path, store_items.c.key)
        return await self._all(statement.order_by(*newest).limit(limit).offset(offset))

    async def candidates(
        self, within: Within, tokens: Sequence[str], dense: DenseQuery | None, limit: int
    ) -> list[Row]:
        """Texts of items that are near a question, or share words with it; every text in scope is compared.

        Columns: item_id, length, cosine (None without a vector of the model), words (those shared), and of all texts in
        scope: texts, mean_length, frequencies (a word to the number of texts that have it; None if none does).
        """
        asked = _texts(tokens)
        token = func.unnest(store_texts.c.tokens).table_valued(column("token", Text(collation="C")), name="token")
        shared = select(token.c.token).where(token.c.token == func.any(asked)).correlate(store_texts)
        cosine: ColumnElement[Any] = bindparam(None, None, type_=Double())
        if dense is not None:
            question = bindparam(None, HalfVector(dense.vector), type_=Halfvec())
            places = ((store_texts.c.model_id, "embedding"), (store_texts.c.second_model_id, "second_embedding"))
            cosine = case(
                *(
                    (model == dense.model.id, 1.0 - store_texts.c[place].op("<=>", return_type=Double())(question))
                    for model, place in places
                )
            )
        scope = (
            select(
                store_texts.c.item_id,
                store_texts.c.length,
                cosine.label("cosine"),
                func.array(shared.scalar_subquery(), type_=ARRAY(Text())).label("words"),
            )
            .join_from(
                store_items,
                store_texts,
                (store_texts.c.tenant_id == store_items.c.tenant_id) & (store_texts.c.item_id == store_items.c.id),
            )
            .where(*self._within(within))
            .cte("scope")
            .prefix_with("MATERIALIZED")
        )
        word = select(func.unnest(scope.c.words, type_=Text()).label("word")).subquery("word")
        each = select(word.c.word, func.count().label("texts")).group_by(word.c.word).subquery("counted")
        ranked = select(
            scope,
            func.row_number().over(order_by=scope.c.cosine.desc().nulls_last()).label("by_meaning"),
            func.row_number().over(order_by=func.cardinality(scope.c.words).desc()).label("by_words"),
        ).subquery("ranked")
        statement = select(
            *(ranked.c[name] for name in ("item_id", "length", "cosine", "words")),
            select(func.count()).select_from(scope).scalar_subquery().label("texts"),
            select(func.avg(scope.c.length).cast(Double())).scalar_subquery().label("mean_length"),
            select(func.jsonb_object_agg(each.c.word, each.c.texts)).scalar_subquery().label("frequencies"),
        ).where(
            or_(
                (ranked.c.by_meaning <= limit) & ranked.c.cosine.is_not(None),
                (ranked.c.by_words <= limit) & (func.cardinality(ranked.c.words) > 0),
            )
        )
        return await self._all(statement)

    async def by_ids(self, ids: Sequence[UUID]) -> dict[UUID, Row]:
        """These items."""
        statement = select(*_ITEM).where(store_items.c.tenant_id == self._tenant_id, store_items.c.id.in_(list(ids)))
        return {row["id"]: row for row in await self._all(statement)}

    async def paths(self, path: str, at: datetime) -> list[str]:
        """The paths below one that have items."""
        statement = select(store_items.c.path).where(*self._within(Within(path, at))).distinct()
        return [row["path"] for row in await self._all(statement)]

    async def refresh(self, ids: Sequence[UUID], at: datetime) -> None:
        """Let items with a time to live begin it anew."""
        life = func.make_interval(0, 0, 0, 0, 0, 0, store_items.c.ttl_minutes * 60.0)
        statement = update(store_items).where(
            store_items.c.tenant_id == self._tenant_id,
            store_items.c.id.in_(list(ids)),
            store_items.c.ttl_minutes.is_not(None),
        )
        await self._run(statement.values(expires_at=bindparam(None, at, type_=store_items.c.expires_at.type) + life))

    async def forget(self, at: datetime, limit: int) -> int:
        """Remove items that are past their time; how many."""
        late = (
            select(store_items.c.path, store_items.c.key)
            .where(store_items.c.tenant_id == self._tenant_id, store_items.c.expires_at <= at)
            .order_by(store_items.c.expires_at)
            .limit(limit)
        )
        statement = delete(store_items).where(
            store_items.c.tenant_id == self._tenant_id,
            tuple_(store_items.c.path, store_items.c.key).in_(late),
            store_items.c.expires_at <= at,
        )
        return await self._run(statement)

    def _alive(self, at: datetime) -> list[ColumnElement[bool]]:
        expires = store_items.c.expires_at
        return [
            store_items.c.tenant_id == self._tenant_id,
            or_(expires.is_(None), expires > at),
            *self._own(store_items.c.user_id),
        ]

    def _within(self, within: Within) -> list[ColumnElement[bool]]:
        conditions = [*self._alive(within.at), store_items.c.path >= within.path]
        if (end := below(within.path)) is not None:
            conditions.append(store_items.c.path < end)
        if within.filter is not None:
            conditions.append(filter_condition(store_items, within.filter))
        return conditions


def _all_of(conditions: Sequence[ColumnElement[bool]]) -> ColumnElement[bool]:
    """True without conditions."""
    whole: ColumnElement[bool] = bindparam(None, value=True)
    for condition in conditions:
        whole = whole & condition
    return whole


def _texts(values: Sequence[str]) -> Any:  # noqa: ANN401 - a bound parameter
    return bindparam(None, list(values), type_=ARRAY(Text(collation="C")))
