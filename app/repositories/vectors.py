"""Vectors: each carries its model and the hash of the text it was made from, and is used only while both match."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

import numpy as np
import numpy.typing as npt
from pgvector import HalfVector
from sqlalchemy import ARRAY, ColumnElement, LargeBinary, Table, Uuid, bindparam, func, select
from sqlalchemy.dialects.postgresql import Insert, insert

from app.db.models import lessons, memories, memory_vectors, message_vectors, messages
from app.db.types import Halfvec
from app.domain.procedure import SUBJECT_LENGTH
from app.repositories.base import Repository
from app.repositories.prepared import Prepared

_SOURCE: Final[dict[str, tuple[Table, str]]] = {
    memory_vectors.name: (memories, "memory_id"),
    message_vectors.name: (messages, "message_id"),
}


def embedded_text() -> ColumnElement[str]:
    """What of a memory is embedded: its text; of a lesson the task that taught it, by which it is found again."""
    task = (
        select(func.left(lessons.c.task, SUBJECT_LENGTH))
        .where(lessons.c.tenant_id == memories.c.tenant_id, lessons.c.id == memories.c.id)
        .scalar_subquery()
    )
    return func.coalesce(task, memories.c.text)


def _put(table: Table) -> Insert:
    source, column = _SOURCE[table.name]
    given = (
        func.unnest(
            bindparam("targets", type_=ARRAY(Uuid())),
            bindparam("hashes", type_=ARRAY(LargeBinary())),
            bindparam("embeddings", type_=ARRAY(Halfvec())),
        )
        .table_valued("target", "text_hash", "embedding")
        .render_derived()
    )
    model = bindparam("model", type_=table.c.model_id.type)
    rows = (
        select(source.c.tenant_id, source.c.id, model, source.c.owner, given.c.text_hash, given.c.embedding)
        .join_from(given, source, source.c.id == given.c.target)
        .where(
            source.c.tenant_id == bindparam("tenant", type_=Uuid()),
            source.c.content_hash == given.c.text_hash,
        )
        .order_by(source.c.id)
    )
    statement = insert(table).from_select(["tenant_id", column, "model_id", "owner", "text_hash", "embedding"], rows)
    replaced = ("embedding", "text_hash", "owner")
    return statement.on_conflict_do_update(
        index_elements=["tenant_id", column, "model_id"],
        set_={name: statement.excluded[name] for name in replaced},
    )


_PUT: Final[dict[str, Insert]] = {table.name: _put(table) for table in (memory_vectors, message_vectors)}
"""Built once: a vector is stored for every message and memory."""

OF_TEXTS: Final = Prepared(
    """
SELECT t.id, v.embedding::real[] AS vector
FROM memories t JOIN memory_vectors v ON v.tenant_id = $1 AND v.memory_id = t.id AND v.model_id = $2
WHERE t.tenant_id = $1 AND t.id = ANY($3::uuid[]) AND v.text_hash = t.content_hash
UNION ALL
SELECT t.id, v.embedding::real[]
FROM messages t JOIN message_vectors v ON v.tenant_id = $1 AND v.message_id = t.id AND v.model_id = $2
WHERE t.tenant_id = $1 AND t.id = ANY($3::uuid[]) AND v.text_hash = t.content_hash
""",
    ("tenant_id", "model_id", "ids"),
    {},
)
"""In the path of searches: the driver reads the numbers itself."""

Vector = npt.NDArray[np.float32]
"""Of a text, shape (dimension,)."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """A text's vector, (dimension,) float32, with the hash of that text.

    Args:
        target: The text.
        text_hash: Of its words.
        vector: By the model that serves.
        model_id: That model; None where whoever stores the vector says it.
        others: Vectors of the same text by models that are being built or stand by, by model.
    """

    target: UUID
    text_hash: bytes
    vector: Any
    model_id: int | None = None
    others: Mapping[int, Any] = field(default_factory=dict)

    def of(self, model_id: int) -> Any:  # noqa: ANN401 - an array
        """The vector by one model; None where there is none: the model came to serve after the text was embedded."""
        return self.vector if self.model_id in {None, model_id} else self.others.get(model_id)

    def by_model(self, model_id: int) -> dict[int, Any]:
        """All vectors by model; `model_id` is the model of one that does not name its own."""
        return {self.model_id or model_id: self.vector, **self.others}


class VectorRepository(Repository):
    """memory_vectors and message_vectors. A vector copies its text's owner: hold the session, or the owner, before."""

    async def put_messages(self, model_id: int, vectors: Sequence[Embedded]) -> int:
        """Store vectors of messages that still have the text they were made from; how many that were.

        `model_id` is the model of those that do not name theirs.
        """
        return await self._put(message_vectors, model_id, vectors)

    async def put_memories(self, model_id: int, vectors: Sequence[Embedded]) -> int:
        """Store vectors of memories that still have the text they were made from; how many that were.

        `model_id` is the model of those that do not name theirs.
        """
        return await self._put(memory_vectors, model_id, vectors)

    async def of_memories(self, model_id: int, ids: Sequence[UUID]) -> dict[UUID, Vector]:
        """The vectors of these memories' present texts, as far as there are any."""
        vectors = memory_vectors.c
        statement = (
            select(vectors.memory_id, vectors.embedding)
            .join_from(memory_vectors, memories, memories.c.id == vectors.memory_id)
            .where(
                vectors.tenant_id == self._tenant_id,
                memories.c.tenant_id == self._tenant_id,
                vectors.memory_id == func.any(list(ids)),
                vectors.model_id == model_id,
                vectors.text_hash == memories.c.content_hash,
            )
        )
        rows = (await self._connection.execute(statement)).all()
        return {row.memory_id: row.embedding.to_numpy().astype(np.float32) for row in rows}

    async def of_texts(self, model_id: int, ids: Sequence[UUID]) -> dict[UUID, Vector]:
        """The vectors of memories' and messages' present texts by the texts' ids, as far as there are any."""
        values = {"tenant_id": self._tenant_id, "model_id": model_id, "ids": list(ids)}
        return {row["id"]: np.array(row["vector"], np.float32) for row in await OF_TEXTS.run(self._connection, values)}

    async def memories_without(self, model_id: int, ids: Sequence[UUID]) -> list[Any]:
        """Of these memories, those whose text has no vector of the model: rows of (id, text, content_hash)."""
        vectors = memory_vectors
        fresh = (
            select(vectors.c.memory_id)
            .where(
                vectors.c.tenant_id == self._tenant_id,
                vectors.c.memory_id == memories.c.id,
                vectors.c.model_id == model_id,
                vectors.c.text_hash == memories.c.content_hash,
            )
            .exists()
        )
        statement = select(memories.c.id, embedded_text().label("text"), memories.c.content_hash).where(
            memories.c.tenant_id == self._tenant_id,
            memories.c.id == func.any(list(ids)),
            memories.c.sealed.is_(None),
            ~fresh,
        )
        return await self._all(statement)

    async def _put(self, table: Table, model_id: int, vectors: Sequence[Embedded]) -> int:
        """Store the vectors of every model; how many the first one's are."""
        by_model: dict[int, list[Embedded]] = {}
        for one in vectors:
            for model, vector in one.by_model(model_id).items():
                by_model.setdefault(model, []).append(Embedded(one.target, one.text_hash, vector))
        stored = [await self._put_of(table, model, by_model[model]) for model in by_model]
        return stored[0] if stored else 0

    async def _put_of(self, table: Table, model_id: int, vectors: Sequence[Embedded]) -> int:
        values = {
            "tenant": self._tenant_id,
            "model": model_id,
            "targets": [vector.target for vector in vectors],
            "hashes": [vector.text_hash for vector in vectors],
            "embeddings": [HalfVector(vector.vector) for vector in vectors],
        }
        return await self._run(_PUT[table.name], values)
