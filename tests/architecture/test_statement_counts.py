"""How often the commonest calls go to the database: each round trip costs every caller.

`sent` are the statements that SQLAlchemy or a repository's prepared statement executes. `all` adds what else the driver
sends: BEGIN with its settings, COMMIT (one round trip each) and the dispatcher's INSERT. The lookup of the key has a
transaction of its own and is cached for seconds; the services here are called without it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import pytest
from asyncpg import Connection
from sqlalchemy import event

from app.composition import Services
from app.schemas.memories import MemoryAdd
from app.schemas.messages import MessageAppend, MessagesAppend
from app.schemas.search import SearchRequest
from tests.conftest import Tenant

COUNTED: ContextVar[bool] = ContextVar("counted", default=False)
"""True in the task that counts and in those that it starts: other services of this process send statements too."""


@dataclass
class Traffic:
    """What was sent, in order."""

    sent: list[str] = field(default_factory=list)
    past: list[str] = field(default_factory=list)

    @property
    def all(self) -> list[str]:
        return self.sent + self.past


@contextmanager
def counted(services: Services, monkeypatch: pytest.MonkeyPatch) -> Iterator[Traffic]:
    """Count while the block runs."""
    traffic = Traffic()
    engine = services.uow.database.engine.sync_engine

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if COUNTED.get():
            traffic.sent.append(statement)

    def past(name: str) -> Any:
        original = getattr(Connection, name)

        async def execute(connection: Any, statement: str, *arguments: Any, **options: Any) -> Any:
            if COUNTED.get():
                (traffic.sent if name == "fetch" else traffic.past).append(statement)
            return await original(connection, statement, *arguments, **options)

        return execute

    event.listen(engine, "before_cursor_execute", note)
    with monkeypatch.context() as patch:
        for name in ("execute", "fetch", "fetchrow", "fetchval"):
            patch.setattr(Connection, name, past(name))
        token = COUNTED.set(True)
        yield traffic
        COUNTED.reset(token)
    event.remove(engine, "before_cursor_execute", note)


def append(text: str, **given: Any) -> MessageAppend:
    return MessageAppend.model_validate({"user_id": "ada", "role": "user", "content": text, **given})


async def test_an_append_sends_at_most_eight_statements(
    services: Services, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    principal = await tenant.principal()
    await services.messages.append(principal, "s", append("warm up"), None)
    for given in (append("我上周搬到了里斯本。"), append("And the office moved too.", external_id="m-1")):
        with counted(services, monkeypatch) as traffic:
            await services.messages.append(principal, "s", given, None)
        assert len(traffic.sent) <= 8, traffic.sent
        assert len(traffic.all) <= 10, traffic.all  # with BEGIN and COMMIT; the waiting job is joined, not queued anew


async def test_the_first_append_of_a_session_sends_at_most_eight_statements(
    services: Services, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    principal = await tenant.principal()
    with counted(services, monkeypatch) as traffic:
        await services.messages.append(principal, "new", append("The first."), None)
    assert len(traffic.sent) <= 8, traffic.sent
    assert len(traffic.all) <= 11, traffic.all  # with BEGIN, COMMIT and the dispatcher's INSERT


async def test_a_search_sends_at_most_four_statements(
    services: Services, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    principal = await tenant.principal()
    await services.memories.add(principal, MemoryAdd(user_id="ada", text="She moved to Lisbon."), None)
    request = SearchRequest(query="Where does she live?", user_id="ada")
    await services.retrieval.search(principal, request)
    with counted(services, monkeypatch) as traffic:
        found = await services.retrieval.search(principal, request)
    assert found.results
    assert len(traffic.sent) <= 4, traffic.sent
    assert len(traffic.all) <= 6, traffic.all  # with BEGIN and COMMIT


async def test_what_is_sent_does_not_grow_with_the_messages_of_an_append(
    services: Services, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    principal = await tenant.principal()
    many = [{"role": "user", "content": f"Number {n}"} for n in range(200)]
    with counted(services, monkeypatch) as traffic:
        await services.messages.append(
            principal, "many", MessagesAppend.model_validate({"user_id": "ada", "messages": many}), None
        )
    assert len(traffic.sent) <= 8, traffic.sent
