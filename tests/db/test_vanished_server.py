"""A server that vanishes in the middle of an exchange, in all the words that the driver has for it."""

import asyncpg
import pytest
from sqlalchemy.exc import InternalError

from app.core.errors import Unavailable
from app.db.faults import problem_of

WORDS = [
    asyncpg.InternalClientError("cannot switch to state 12; another operation (2) is in progress"),
    asyncpg.ConnectionDoesNotExistError("connection was closed in the middle of operation"),
    asyncpg.InterfaceError("connection is closed"),
    asyncpg.AdminShutdownError("terminating connection due to unexpected postmaster exit"),
    asyncpg.CannotConnectNowError("the database system is starting up"),
    ConnectionResetError(104, "Connection reset by peer"),
    ConnectionRefusedError(111, "Connection refused"),
]


@pytest.mark.parametrize("error", WORDS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("wrapped", [False, True])
def test_vanished_server_is_a_reason_to_try_again(error: Exception, wrapped: bool) -> None:
    found = problem_of(as_sqlalchemy_raises(error) if wrapped else error)
    assert isinstance(found, Unavailable)
    assert found.code == "database_unavailable"


def as_sqlalchemy_raises(error: Exception) -> Exception:
    """The driver's error is the cause of the dialect's, which is wrapped once more."""
    translated = Exception(str(error))
    translated.__cause__ = error
    return InternalError("SELECT 1", {}, translated)
