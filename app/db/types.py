"""Column types that SQLAlchemy does not bring."""

from typing import Any

import asyncpg
from pgvector import HalfVector
from sqlalchemy.types import UserDefinedType


class Halfvec(UserDefinedType[Any]):
    """pgvector's `halfvec`, in columns without a declared dimension, so that models of any size share one table.

    Values go in and come out as `pgvector.HalfVector`; the codec is set once per connection by `register_halfvec`.
    """

    cache_ok = True

    def __init__(self, dimension: int | None = None) -> None:
        self.dimension = dimension

    def get_col_spec(self, **_: Any) -> str:  # noqa: ANN401 - SQLAlchemy's signature
        """The type's name in DDL and casts."""
        return "halfvec" if self.dimension is None else f"halfvec({self.dimension})"


async def register_halfvec_within(connection: "asyncpg.Connection[Any]") -> None:
    """The same inside a transaction: else a pooler may change the server connection between question and answer."""
    async with connection.transaction():
        await register_halfvec(connection)


async def register_halfvec(connection: "asyncpg.Connection[Any]") -> None:
    """Teach an asyncpg connection the binary form of `halfvec`; a database without the extension is left alone."""
    schema = await connection.fetchval(
        "SELECT n.nspname FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace WHERE t.typname = 'halfvec'"
    )
    if schema is None:
        return
    await connection.set_type_codec(
        "halfvec",
        schema=schema,
        encoder=lambda value: value.to_binary(),
        decoder=HalfVector.from_binary,
        format="binary",
    )
