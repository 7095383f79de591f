"""Connections that lie open in the pool are lent and given back at once: nothing has to be waited for.

SQLAlchemy makes a greenlet, with memory mapped for it, around every call that might wait. Most of those here do not:
only one that opens a connection does, or one that waits until somebody gives one back.
"""

from typing import Any, Final
from weakref import WeakKeyDictionary

import asyncpg
from sqlalchemy import Engine, event
from sqlalchemy.exc import MissingGreenlet
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

_to_open: Final[WeakKeyDictionary[Engine, set[int]]] = WeakKeyDictionary()
"""By engine, the places in its pool whose connection was thrown away: whoever takes one has to open another."""


def watch(engine: AsyncEngine) -> None:
    """Know which places in the pool are open. An engine that is not watched lends nothing at once."""
    to_open = _to_open[engine.sync_engine] = set()

    @event.listens_for(engine.sync_engine, "invalidate")
    def thrown_away(_connection: Any, record: Any, _error: Any) -> None:  # noqa: ANN401 - SQLAlchemy's own
        to_open.add(id(record))

    @event.listens_for(engine.sync_engine, "connect")
    def opened(_connection: Any, record: Any) -> None:  # noqa: ANN401 - SQLAlchemy's own
        to_open.discard(id(record))

    @event.listens_for(engine.sync_engine, "handle_error")
    def one_is_gone(context: Any) -> None:  # noqa: ANN401 - SQLAlchemy's own
        context.invalidate_pool_on_disconnect = False  # each other one is tried by its next BEGIN


def lent(engine: AsyncEngine) -> AsyncConnection | None:
    """An open connection of the pool; None where one must be opened or waited for."""
    if _to_open.get(engine.sync_engine, {0}) or not engine.pool.checkedin():  # type: ignore[attr-defined]
        return None
    try:
        return AsyncConnection(engine, engine.sync_engine.connect())
    except MissingGreenlet:  # it had to be opened after all
        return None


def given_back(connection: AsyncConnection) -> bool:
    """Whether a connection outside of a transaction could be given back at once."""
    try:
        connection.sync_connection.close()  # type: ignore[union-attr]
    except MissingGreenlet:
        return False
    return True


def driver_of(connection: AsyncConnection) -> "asyncpg.Connection[Any]":
    """The driver's own connection under one that is open."""
    driver: asyncpg.Connection[Any] = connection.sync_connection.connection.driver_connection  # type: ignore[union-attr, assignment]
    return driver
