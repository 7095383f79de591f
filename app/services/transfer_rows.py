"""Rows as lines of an export, and back: every value as JSON that comes out the same again."""

import base64
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from app.core.errors import Invalid
from app.core.strict_json import fault_of
from app.repositories.base import RowLike
from app.repositories.transfer import TABLES, carried
from app.schemas.fields import MAX_YEAR, MIN_YEAR
from app.services.transfer_shapes import check_shape, is_shaped

FORMAT: Final = "mnemic-export"
VERSION: Final = 1
LINKS: Final = "memory_links"


def line_of(table: str, row: Mapping[str, Any]) -> str:
    """One line."""
    body = {"table": table, "row": row}
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"


def header(scope: str) -> str:
    """The first line: it tells nothing of when and where, so that equal contents make equal exports."""
    body = {"format": FORMAT, "version": VERSION, "scope": scope}
    return json.dumps(body, separators=(",", ":")) + "\n"


def row_out(table: str, row: RowLike) -> dict[str, Any]:
    """A row's carried columns as JSON."""
    return {column.name: _out(row[column.name]) for column in carried(TABLES[table])}


def row_in(table: str, given: Mapping[str, Any], number: int) -> dict[str, Any]:
    """A row as the database takes it. Raises `Invalid` where it is none, naming the line."""
    columns = {column.name: column for column in _columns(table)}
    if unknown := sorted(set(given) - set(columns)):
        raise bad_line(number, f"{table} has no column {unknown[0]}")
    row: dict[str, Any] = {}
    for name, column in columns.items():
        if table == LINKS and given.get(name) is None:
            raise bad_line(number, f"{table} needs {name}")
        if name not in given:
            if not column.nullable and column.server_default is None:
                raise bad_line(number, f"{table} needs {name}")
            continue
        try:
            row[name] = _in(column.type, given[name])
            _check(table, column, given[name])
        except (ValueError, TypeError, AttributeError, OverflowError) as error:
            raise bad_line(number, f"{name} of {table} is not what it should be") from error
    return row


def _columns(table: str) -> list[Any]:
    """The columns that a line of a table, or of links, may have."""
    if table == LINKS:
        return [TABLES["memories"].c.id, TABLES["memories"].c.superseded_by]
    return carried(TABLES[table])


def bad_line(number: int, why: str) -> Invalid:
    """What an import answers about a line. What was stored before it stays: the rest can be sent again."""
    return Invalid(f"Line {number}: {why}.", code="bad_import_line")


def _out(value: Any) -> Any:  # noqa: ANN401 - a column's value
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, bytes | memoryview):
        return base64.b64encode(bytes(value)).decode()
    return [_out(part) for part in value] if isinstance(value, list) else value


def _in(column: Any, value: Any) -> Any:  # noqa: ANN401 - a column's type; JSON is anything
    """A value of a column, from JSON."""
    kind = dict if type(column).__name__ == "JSONB" else column.python_type
    if value is None or kind is dict:
        return value
    if kind is list:
        if not isinstance(value, list) or None in value:
            raise TypeError
        return [_in(column.item_type, part) for part in value]
    return _READERS[kind](value) if kind is not int else _whole(value, _BITS[type(column).__name__])


def _check(table: str, column: Any, value: Any) -> None:  # noqa: ANN401 - a column; JSON is anything
    """Raise `ValueError` where the database, or whoever reads a value, could not take it."""
    if value is None:
        plain_json = type(column.type).__name__ == "JSONB" and not column.type.none_as_null
        if not column.nullable and (not plain_json or is_shaped(table, column.name)):
            raise ValueError(column.name)
        return
    if fault := fault_of(value):
        raise ValueError(fault)
    check_shape(table, column.name, value)


def _instant(value: str) -> datetime:
    found = datetime.fromisoformat(value)
    if found.tzinfo is None or not MIN_YEAR <= found.year <= MAX_YEAR:
        raise ValueError
    return found


def _whole(value: Any, bits: int) -> int:  # noqa: ANN401 - JSON is anything
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError
    if not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
        raise ValueError
    return value


def _number(value: Any) -> float:  # noqa: ANN401 - JSON is anything
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError
    return float(value)


def _word(value: Any) -> str:  # noqa: ANN401 - JSON is anything
    if not isinstance(value, str):
        raise TypeError
    return value


def _truth(value: Any) -> bool:  # noqa: ANN401 - JSON is anything
    if not isinstance(value, bool):
        raise TypeError
    return value


def _bytes(value: str) -> bytes:
    return base64.b64decode(value, validate=True)


_BITS: Final[Mapping[str, int]] = {"SmallInteger": 16, "Integer": 32, "BigInteger": 64}
_READERS: Final[Mapping[type, Callable[[Any], Any]]] = {
    datetime: _instant,
    UUID: UUID,
    bytes: _bytes,
    float: _number,
    str: _word,
    bool: _truth,
}
