"""The register of embedding models, and the HNSW indexes that belong to each."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import asyncpg
from sqlalchemy import ColumnElement, RowMapping, exists, insert, or_, select, text, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from app.core.errors import ConfigurationError
from app.db.faults import driver_error
from app.db.models import embedding_models, memory_vectors, message_vectors, store_texts
from app.domain.calibration import Calibration
from app.domain.embedding import ModelStatus


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """A registered model: its small id stands in every vector and, as a literal, in every vector query.

    Its calibration is the one that was measured and kept, None where none was.
    """

    id: int
    name: str
    dimension: int
    status: ModelStatus
    calibration: Calibration | None = None


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

    async def active_for_update(self) -> list[ModelRecord]:
        """Every active model, locked: nobody registers one, and none gets a vector, until this transaction ends."""
        await self._connection.execute(text("LOCK TABLE embedding_models IN SHARE ROW EXCLUSIVE MODE"))
        statement = select(embedding_models).where(embedding_models.c.status == "active").with_for_update()
        return [model_record(row) for row in (await self._connection.execute(statement)).mappings()]

    async def has_vectors(self, model_id: int) -> bool:
        """Whether any tenant has a vector of this model: for the migrator.

        Raises:
            ConfigurationError: Row-level security would hide the vectors from the acting role.
        """
        # Without this a role that the policies bind would find nothing, and silently.
        await self._connection.execute(text("SET LOCAL row_security = off"))
        made = [
            exists().where(table.c.model_id == model_id) for table in (memory_vectors, message_vectors, store_texts)
        ]
        made.append(exists().where(store_texts.c.second_model_id == model_id))
        try:
            return bool((await self._connection.execute(select(or_(*made)))).scalar_one())
        except DBAPIError as error:
            if isinstance(driver_error(error), asyncpg.InsufficientPrivilegeError):
                raise ConfigurationError(
                    "The role of MIGRATION_DATABASE_URL cannot see all tenants' vectors: give it BYPASSRLS."
                ) from error
            raise

    async def add(self, name: str, dimension: int, at: datetime, status: ModelStatus = "active") -> ModelRecord:
        """Enter a model; by default as the active one."""
        values = {"name": name, "dimension": dimension, "metric": "cosine", "status": status}
        activated = at if status == "active" else None
        statement = (
            insert(embedding_models).values(**values, created_at=at, activated_at=activated).returning(embedding_models)
        )
        return model_record((await self._connection.execute(statement)).mappings().one())

    async def kept_up(self) -> list[ModelRecord]:
        """The models that get a vector of every text, the one that serves first."""
        table = embedding_models
        statement = select(table).where(table.c.status != "retired").order_by(table.c.status != "active", table.c.id)
        return [model_record(row) for row in (await self._connection.execute(statement)).mappings()]

    async def lock(self) -> None:
        """Nobody else changes which model serves until this transaction ends; whoever reads or embeds goes on."""
        await self._connection.execute(_SWITCHES)

    async def all(self) -> list[RowMapping]:
        """Every model that was ever registered, with its dates and its progress."""
        statement = select(embedding_models).order_by(embedding_models.c.id)
        return list((await self._connection.execute(statement)).mappings())

    async def one(self, model_id: int) -> RowMapping | None:
        """The same of one."""
        statement = select(embedding_models).where(embedding_models.c.id == model_id)
        return (await self._connection.execute(statement)).mappings().first()

    async def note(self, model_id: int, progress: Mapping[str, Any]) -> None:
        """Write down how far a model's vectors are."""
        table = embedding_models
        await self._connection.execute(update(table).where(table.c.id == model_id).values(progress=dict(progress)))

    async def calibrate(self, model_id: int, calibration: Mapping[str, Any]) -> None:
        """Keep what was measured of a model; nothing: forget it."""
        table = embedding_models
        statement = update(table).where(table.c.id == model_id).values(calibration=dict(calibration))
        await self._connection.execute(statement)

    async def valid_indexes(self) -> set[str]:
        """The names of the vector indexes that searches can use."""
        return set((await self._connection.execute(_VALID_INDEXES)).scalars())

    async def build(self, model_id: int, at: datetime) -> ModelRecord:
        """Let a model get vectors of everything, from the beginning; one that is new to it counts from now."""
        return await self._moved(model_id, {"status": "building", "created_at": at, "retired_at": None, "progress": {}})

    async def activate(self, model_id: int, at: datetime) -> ModelRecord:
        """Let a known model serve (again)."""
        return await self._moved(model_id, {"status": "active", "activated_at": at, "retired_at": None})

    async def stand_by(self, model_id: int) -> ModelRecord:
        """Let a model keep its vectors up to date without serving."""
        return await self._moved(model_id, {"status": "standby"})

    async def retire(self, model_id: int, at: datetime) -> ModelRecord:
        """Let a model serve no longer."""
        return await self._moved(model_id, {"status": "retired", "retired_at": at})

    async def _moved(self, model_id: int, values: dict[str, Any]) -> ModelRecord:
        table = embedding_models
        statement = update(table).where(table.c.id == model_id).values(**values).returning(table)
        return model_record((await self._connection.execute(statement)).mappings().one())

    async def _one(self, condition: ColumnElement[bool]) -> ModelRecord | None:
        statement = select(embedding_models).where(condition).order_by(embedding_models.c.id)
        row = (await self._connection.execute(statement)).mappings().first()
        return None if row is None else model_record(row)


def model_record(row: RowMapping) -> ModelRecord:
    """A row of the register."""
    kept = Calibration.of_json(row["calibration"])
    return ModelRecord(row["id"], row["name"], row["dimension"], row["status"], kept)


def index_names(model_id: int) -> list[str]:
    """The names of a model's partial HNSW indexes."""
    return [f"hnsw_{table}_{model_id}" for table in INDEXED]


def index_statements(model: ModelRecord) -> list[str]:
    """DDL of a model's partial HNSW indexes; to be run by the migrator, outside of a transaction."""
    return [
        f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {table} "
        f"USING hnsw ((embedding::halfvec({model.dimension})) halfvec_cosine_ops) WHERE model_id = {model.id}"
        for name, table in zip(index_names(model.id), INDEXED, strict=True)
    ]


INDEXED: Final = (memory_vectors.name, message_vectors.name)
"""The tables whose vectors are found by an approximate index."""

_SWITCHES = text(f"SELECT pg_advisory_xact_lock({0x6D6E656D_73776974})")

_VALID_INDEXES = text(
    "SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
    "WHERE i.indisvalid AND c.relname LIKE 'hnsw\\_%'"
)


INVALID_INDEXES = (
    "SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
    "WHERE NOT i.indisvalid AND c.relname LIKE 'hnsw\\_%'"
)

INDEX_LOCK = f"SELECT pg_try_advisory_lock({0x6D6E656D_696E6478})"
"""One migrator at a time builds indexes; held until its connection ends."""
