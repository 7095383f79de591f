"""What a transaction has changed, counted as its statements run; and what goes out with its COMMIT."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import TextClause, event
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

_CHANGED: Final = "mnemic_changed"
_AT_COMMIT: Final = "mnemic_at_commit"
_WRITES: Final = re.compile(r"\b(INSERT INTO|DELETE FROM|(?<!DO )(?<!FOR )UPDATE) ([a-z_]+)")


def watch(engine: AsyncEngine) -> None:
    """Count changed rows by table and verb on every connection of an engine, in the connection's own notes."""

    @event.listens_for(engine.sync_engine, "after_execute", named=True)
    def count(**given: Any) -> None:  # noqa: ANN401 - SQLAlchemy's own arguments
        connection, statement, result = given["conn"], given["clauseelement"], given["result"]
        if isinstance(statement, TextClause):
            _count_written(connection.info, statement.text, result.rowcount)
            return
        if not getattr(statement, "is_dml", False):
            return
        rows = result.rowcount
        if rows:
            counted = connection.info.setdefault(_CHANGED, {})
            name = f"{statement.table.name}.{statement.__visit_name__}"
            counted[name] = counted.get(name, 0) + max(rows, 1)


def written_out(connection: AsyncConnection, text: str, rows: int) -> None:
    """Count what a statement that goes to the driver directly has changed; `rows` that came back."""
    _count_written(connection.sync_connection.info, text, rows)  # type: ignore[union-attr]


def _count_written(info: dict[Any, Any], text: str, rows: int) -> None:
    """One at least where rows came back or were touched: a statement of several parts does not say which."""
    found = _written(text)
    if rows and found:
        counted = info.setdefault(_CHANGED, {})
        for name in found:
            counted[name] = counted.get(name, 0) + 1


@lru_cache(maxsize=256)
def _written(text: str) -> tuple[str, ...]:
    """What a statement writes, as table and verb."""
    verbs = {"INSERT INTO": "insert", "DELETE FROM": "delete", "UPDATE": "update"}
    return tuple(dict.fromkeys(f"{table}.{verbs[verb]}" for verb, table in _WRITES.findall(text)))


def begin(connection: AsyncConnection) -> None:
    """Forget what an earlier transaction on this connection has left."""
    for name in (_CHANGED, _AT_COMMIT):
        connection.sync_connection.info.pop(name, None)  # type: ignore[union-attr]


def changed(connection: AsyncConnection) -> Mapping[str, int]:
    """How many rows the transaction has changed so far, by table and verb: `sessions.update`."""
    found: Mapping[str, int] = connection.sync_connection.info.get(_CHANGED, {})  # type: ignore[union-attr]
    return found


def at_commit(connection: AsyncConnection, script: str) -> None:
    """Send a script in the round trip of the COMMIT, before it."""
    info = connection.sync_connection.info  # type: ignore[union-attr]
    info[_AT_COMMIT] = f"{info.get(_AT_COMMIT, '')}{script}; "


def script_at_commit(connection: AsyncConnection) -> str:
    """What goes out before the COMMIT."""
    return str(connection.sync_connection.info.get(_AT_COMMIT, ""))  # type: ignore[union-attr]
