"""The register of embedding models, and the HNSW indexes that belong to each."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from app.db.models import embedding_models
from app.domain.embedding import ModelStatus


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """A registered model: its small id stands in every vector and, as a literal, in every vector query."""

    id: int
    name: str
    dimension: int
    status: ModelStatus


class ModelRepository:
    """Global: works in a transaction without a tenant."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def by_name(self, name: str) -> ModelRecord | None:
        """The model of this name."""
        return await self._one(embedding_models.c.name == name)

    async def active(self) -> ModelRecord | None:
        """The model that serves."""
        return await self._one(embedding_models.c.status == "active")

    async def register(self, name: str, dimension: int, at: datetime) -> ModelRecord:
        """Enter a model as the active one; a model of this name that is known already stays as it is."""
        statement = (
            insert(embedding_models)
            .values(name=name, dimension=dimension, metric="cosine", status="active", created_at=at, activated_at=at)
            .on_conflict_do_nothing(index_elements=["name"])
        )
        await self._connection.execute(statement)
        found = await self.by_name(name)
        if found is None:
            raise RuntimeError(f"The embedding model {name} could not be registered.")
        return found

    async def set_status(self, model_id: int, status: ModelStatus) -> None:
        """Move a model along its life."""
        await self._connection.execute(
            update(embedding_models).where(embedding_models.c.id == model_id).values(status=status)
        )

    async def _one(self, condition: ColumnElement[bool]) -> ModelRecord | None:
        statement = select(embedding_models).where(condition).order_by(embedding_models.c.id)
        row = (await self._connection.execute(statement)).mappings().first()
        return None if row is None else ModelRecord(row["id"], row["name"], row["dimension"], row["status"])


def index_statements(model: ModelRecord) -> list[str]:
    """DDL of a model's partial HNSW indexes; to be run by the migrator, outside of a transaction."""
    return [
        f"CREATE INDEX CONCURRENTLY IF NOT EXISTS hnsw_{table}_{model.id} ON {table} "
        f"USING hnsw ((embedding::halfvec({model.dimension})) halfvec_cosine_ops) WHERE model_id = {model.id}"
        for table in ("memory_vectors", "message_vectors")
    ]


INVALID_INDEXES = (
    "SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
    "WHERE NOT i.indisvalid AND c.relname LIKE 'hnsw\\_%'"
)
