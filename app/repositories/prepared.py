"""Statements that are built and compiled once and then run with values alone.

Building a large SQL expression, and finding it again in SQLAlchemy's cache, takes longer than running it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from sqlalchemy.dialects.postgresql.asyncpg import dialect
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql import ClauseElement

_DIALECT: Final = dialect()  # type: ignore[no-untyped-call]


@dataclass(frozen=True, slots=True)
class Prepared:
    """The text of a statement and the names of its parameters in their order; `constants` are those with a value."""

    text: str
    names: tuple[str, ...]
    constants: Mapping[str, Any]

    @classmethod
    def of(cls, statement: ClauseElement) -> Self:
        """Compile. The statement must have no parameter that expands, such as a list behind IN."""
        compiled = statement.compile(dialect=_DIALECT)
        names = tuple(getattr(compiled, "positiontup", None) or ())
        constants = {name: value for name, value in compiled.params.items() if value is not None}
        return cls(str(compiled), names, constants)

    async def run(self, connection: AsyncConnection, values: Mapping[str, Any]) -> list[Any]:
        """The rows, as the driver gives them: JSON as text."""
        given = {**self.constants, **values}
        result = await connection.exec_driver_sql(self.text, tuple(given[name] for name in self.names))
        return list(result.all())
