"""Statements that are built and compiled once and then run with values alone, by the driver itself.

For statements in the path of every search: building a large SQL expression, finding it again in SQLAlchemy's cache, and
handing its rows through SQLAlchemy's results take longer than running it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

import asyncpg
from sqlalchemy import Select
from sqlalchemy.dialects.postgresql.asyncpg import dialect
from sqlalchemy.ext.asyncio import AsyncConnection

from app.db import changes
from app.db.lending import driver_of

_DIALECT: Final = dialect()  # type: ignore[no-untyped-call]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A statement that runs again and again.

    Args:
        text: The statement.
        names: The names of its parameters in their order.
        constants: Those with a value of their own.
    """

    text: str
    names: tuple[str, ...]
    constants: Mapping[str, Any]

    @classmethod
    def of(cls, statement: Select[Any]) -> Self:
        """Compile. The statement must have no parameter that expands, such as a list behind IN."""
        compiled = statement.compile(dialect=_DIALECT)
        names = tuple(getattr(compiled, "positiontup", None) or ())
        constants = {name: value for name, value in compiled.params.items() if value is not None}
        return cls(str(compiled), names, constants)

    async def run(self, connection: AsyncConnection, values: Mapping[str, Any]) -> list["asyncpg.Record"]:
        """The rows as the driver gives them, by name or position."""
        given = {**self.constants, **values}
        return await self.fetch(connection, [given[name] for name in self.names])

    async def read(self, connection: AsyncConnection, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The rows as mappings of column names to values."""
        return [dict(row) for row in await self.run(connection, values)]

    async def fetch(self, connection: AsyncConnection, arguments: list[Any]) -> list["asyncpg.Record"]:
        """Send it; the driver keeps the plan."""
        rows = await driver_of(connection).fetch(self.text, *arguments)
        changes.written_out(connection, self.text, len(rows))
        return rows
