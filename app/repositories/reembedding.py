"""Texts and vectors window by window, for a model that is being built, compared for gaps, or removed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal
from uuid import UUID

from pgvector import HalfVector
from sqlalchemy import (
    Column,
    ColumnElement,
    Table,
    Text,
    and_,
    case,
    delete,
    func,
    literal,
    or_,
    select,
    true,
    tuple_,
    update,
)

from app.db.models import memories, memory_vectors, message_vectors, messages, store_texts
from app.repositories.base import Repository, Row
from app.repositories.vectors import embedded_text

Corpus = Literal["memories", "messages", "store"]
CORPORA: Final[tuple[Corpus, ...]] = ("memories", "messages", "store")

_FIRST: Final = UUID(int=0)


@dataclass(frozen=True, slots=True)
class _Place:
    rows: Table
    text: ColumnElement[str]
    vectors: Table
    target: str
    whose: str
    kept: ColumnElement[bool]

    @property
    def of(self) -> Column[Any]:
        return self.vectors.c[self.target]


_PLACES: Final = {
    "memories": _Place(memories, embedded_text(), memory_vectors, "memory_id", "owner", memories.c.sealed.is_(None)),
    "messages": _Place(
        messages, messages.c.text, message_vectors, "message_id", "session_id", messages.c.redacted_at.is_(None)
    ),
}


@dataclass(frozen=True, slots=True)
class StoredVector:
    """The vector of an item's text, which must still be that text when it is stored."""

    item_id: UUID
    part: int
    text: str
    vector: Any


@dataclass(frozen=True, slots=True)
class Window:
    """What was found in a window of rows, and the last row in it; None: nothing came after the given place."""

    count: int
    last: list[str] | None
    rows: int = 0


class ReembeddingRepository(Repository):
    """Everything that is embedded. A place is `[id]`, or `[item id, part]` in the store; None: before the first."""

    async def total(self) -> int:
        """How many texts the tenant has."""
        counts = [
            select(func.count()).select_from(table).where(table.c.tenant_id == self._tenant_id).scalar_subquery()
            for table in (memories, messages, store_texts)
        ]
        first, *others = counts
        return int((await self._connection.execute(select(sum(others, first)))).scalar_one())

    async def window(self, corpus: Corpus, model_id: int, after: Sequence[str] | None, size: int) -> list[Row]:
        """The next `size` texts in the order of their ids.

        Columns: id, part (None but in the store), whose (the owner, or the session of a message), content_hash (None in
        the store), and text: None where the text has its vector by the model already.
        """
        if corpus == "store":
            return await self._all(self._store_window(model_id, after, size))
        place = _PLACES[corpus]
        page, fresh = self._page(place, after, size), place.vectors.alias("fresh")
        statement = (
            select(
                page.c.id,
                literal(None).label("part"),
                page.c.whose,
                page.c.content_hash,
                case((and_(page.c.kept, fresh.c[place.target].is_(None)), page.c.text)).label("text"),
            )
            .select_from(page.outerjoin(fresh, self._fresh(place, page, fresh, model_id)))
            .order_by(page.c.id)
        )
        return await self._all(statement)

    async def put_store(self, model_id: int, vectors: Sequence[StoredVector]) -> int:
        """Store vectors of items' texts beside those of the other model; how many texts were still the same."""
        stored = 0
        for one in vectors:
            texts = store_texts.c
            beside = and_(texts.model_id.is_not(None), texts.model_id != model_id)
            vector = HalfVector(one.vector)
            statement = (
                update(store_texts)
                .where(
                    texts.tenant_id == self._tenant_id,
                    texts.item_id == one.item_id,
                    texts.part == one.part,
                    _words() == one.text,
                )
                .values(
                    model_id=case((beside, texts.model_id), else_=model_id),
                    embedding=case((beside, texts.embedding), else_=vector),
                    second_model_id=case((beside, model_id), else_=texts.second_model_id),
                    second_embedding=case((beside, vector), else_=texts.second_embedding),
                )
            )
            stored += await self._run(statement)
        return stored

    async def gaps(self, corpus: Corpus, serving: int, model_id: int, after: Sequence[str] | None, size: int) -> Window:
        """Among the next `size` texts: those that have a vector by the model that serves, and none by the other."""
        if corpus == "store":
            texts = store_texts.c
            served = or_(texts.model_id == serving, texts.second_model_id == serving)
            window = select(texts.item_id, texts.part, and_(served, self._lacks(model_id)).label("gap"))
            window = self._store_page(window, after, size)
            return _window(await self._all(window), ("item_id", "part"))
        place = _PLACES[corpus]
        page = self._page(place, after, size)
        # A subquery with a limit is entered row by row: a join of this many rows would read all vectors of the tenant.
        one, other = [
            select(literal(value=True).label("there"))
            .select_from(vectors)
            .where(self._fresh(place, page, vectors, model))
            .limit(1)
            .lateral(name)
            for name, model, vectors in (
                ("one", serving, place.vectors.alias("first")),
                ("other", model_id, place.vectors.alias("second")),
            )
        ]
        joined = page.outerjoin(one, true()).outerjoin(other, true())
        gap = and_(page.c.kept, one.c.there.is_not(None), other.c.there.is_(None))
        statement = select(page.c.id, gap.label("gap")).select_from(joined).order_by(page.c.id)
        return _window(await self._all(statement), ("id",))

    async def remove(self, corpus: Corpus, model_id: int, after: Sequence[str] | None, size: int) -> Window:
        """Remove a model's vectors among those of the next `size` rows; how many that were."""
        if corpus == "store":
            return await self._remove_stored(model_id, after, size)
        place = _PLACES[corpus]
        vectors, key = place.vectors.c, place.of
        page = (
            select(key.label("id"), (vectors.model_id == model_id).label("gap"))
            .where(vectors.tenant_id == self._tenant_id, key > _id(after))
            .order_by(key, vectors.model_id)
            .limit(size)
        )
        found = _window(await self._all(page), ("id",))
        if found.last is not None:
            statement = delete(place.vectors).where(
                vectors.tenant_id == self._tenant_id,
                key > _id(after),
                key <= UUID(found.last[0]),
                vectors.model_id == model_id,
            )
            return Window(await self._run(statement), found.last, found.rows)
        return found

    async def _remove_stored(self, model_id: int, after: Sequence[str] | None, size: int) -> Window:
        texts = store_texts.c
        either = or_(texts.model_id == model_id, texts.second_model_id == model_id)
        page = self._store_page(
            select(texts.item_id, texts.part, func.coalesce(either, False).label("gap")), after, size
        )
        found = _window(await self._all(page), ("item_id", "part"))
        if found.last is None:
            return found
        first = texts.model_id == model_id
        place = tuple_(texts.item_id, texts.part)
        statement = (
            update(store_texts)
            .where(texts.tenant_id == self._tenant_id, place > _item(after), place <= _item(found.last), either)
            .values(
                model_id=case((first, texts.second_model_id), else_=texts.model_id),
                embedding=case((first, texts.second_embedding), else_=texts.embedding),
                second_model_id=None,
                second_embedding=None,
            )
        )
        return Window(await self._run(statement), found.last, found.rows)

    def _page(self, place: _Place, after: Sequence[str] | None, size: int) -> Any:  # noqa: ANN401 - a subquery
        """The texts of a window; apart, so that their vectors are looked up one by one and not all of them read."""
        rows = place.rows.c
        return (
            select(
                rows.id,
                rows[place.whose].label("whose"),
                rows.content_hash,
                place.text.label("text"),
                place.kept.label("kept"),
            )
            .where(rows.tenant_id == self._tenant_id, rows.id > _id(after))
            .order_by(rows.id)
            .limit(size)
            .subquery("page")
        )

    def _fresh(self, place: _Place, page: Any, vectors: Any, model_id: int) -> ColumnElement[bool]:  # noqa: ANN401
        """That a vector is the one of a text as it is."""
        return and_(
            vectors.c.tenant_id == self._tenant_id,
            vectors.c[place.target] == page.c.id,
            vectors.c.model_id == model_id,
            vectors.c.text_hash == page.c.content_hash,
        )

    def _lacks(self, model_id: int) -> ColumnElement[bool]:
        texts = store_texts.c
        return and_(texts.model_id.is_distinct_from(model_id), texts.second_model_id.is_distinct_from(model_id))

    def _store_window(self, model_id: int, after: Sequence[str] | None, size: int) -> Any:  # noqa: ANN401 - a Select
        texts = store_texts.c
        chosen = select(
            texts.item_id.label("id"),
            texts.part,
            literal(None).label("whose"),
            literal(None).label("content_hash"),
            case((self._lacks(model_id), _words())).label("text"),
        )
        return self._store_page(chosen, after, size)

    def _store_page(self, chosen: Any, after: Sequence[str] | None, size: int) -> Any:  # noqa: ANN401 - a Select
        texts = store_texts.c
        return (
            chosen.where(texts.tenant_id == self._tenant_id, tuple_(texts.item_id, texts.part) > _item(after))
            .order_by(texts.item_id, texts.part)
            .limit(size)
        )


def _words() -> ColumnElement[str]:
    """What is embedded of an item's text; of one that was stored before its words were kept, its tokens."""
    tokens = func.array_to_string(store_texts.c.tokens, " ", type_=Text())
    return func.coalesce(store_texts.c.text, tokens)


def _id(after: Sequence[str] | None) -> UUID:
    return UUID(after[0]) if after else _FIRST


def _item(after: Sequence[str] | None) -> Any:  # noqa: ANN401 - a row of bound values
    item_id, part = (UUID(after[0]), int(after[1])) if after else (_FIRST, -1)
    return tuple_(literal(item_id), literal(part))


def _window(rows: Sequence[Row], key: Sequence[str]) -> Window:
    last = [str(rows[-1][name]) for name in key] if rows else None
    return Window(sum(bool(row["gap"]) for row in rows), last, len(rows))
