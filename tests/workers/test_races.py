"""Writers that meet: each order that locks allow leaves what one after the other would have left."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from app.core import clock
from app.domain.principal import Principal
from app.domain.scope import Scope
from app.repositories.memories import MemoryRepository
from app.repositories.owners import OwnerChange
from app.repositories.selection import Selection
from app.schemas.blocks import BlockPut
from app.schemas.curation import MemoriesDelete
from app.schemas.memories import MemoriesAdd, MemoryAdd
from app.schemas.messages import MessageAppend
from app.schemas.sessions import SessionCreate
from app.schemas.users import UserMerge
from app.services import answers
from app.services.answers import Answer, Write, write_once
from app.services.blocks import BlockAddress
from app.services.bulk import delete_selected
from app.services.users import UserService
from app.services.vectorising import Vectorising
from app.uow import Transaction, UnitOfWork
from tests.workers.conftest import Desk, until
from tests.workers.test_interleaving import SlowAppend

Call = Callable[[Any, Principal, Desk], Coroutine[Any, Any, object]]


@dataclass
class Held:
    """Transactions that have written all and wait before their commit; only those that used a given repository."""

    uow: UnitOfWork
    used: str
    written: asyncio.Event = field(default_factory=asyncio.Event)
    may_commit: asyncio.Event = field(default_factory=asyncio.Event)

    @asynccontextmanager
    async def begin(self, principal: Principal, *, planned_once: bool = False) -> AsyncIterator[Transaction]:
        async with self.uow.begin(principal, planned_once=planned_once) as tx:
            yield tx
            await self._hold(tx)

    @asynccontextmanager
    async def begin_tenant(self, tenant_id: UUID, user_ids: frozenset[str] | None = None) -> AsyncIterator[Transaction]:
        async with self.uow.begin_tenant(tenant_id, user_ids) as tx:
            yield tx
            await self._hold(tx)

    async def _hold(self, tx: Transaction) -> None:
        if self.used in tx.__dict__:
            self.written.set()
            await self.may_commit.wait()


@pytest.fixture(autouse=True)
def no_second_try(monkeypatch: pytest.MonkeyPatch) -> None:
    """Locks are taken in one order: nothing here needs to be done again."""
    monkeypatch.setattr(answers, "ATTEMPTS", 1)


@pytest.fixture
async def principal(desk: Desk) -> Principal:
    return await desk.tenant.principal()


async def add(desk: Desk, principal: Principal, **given: Any) -> UUID:
    answer = await desk.services.memories.add(principal, MemoryAdd.model_validate(given), None)
    return UUID(answer.body.id)  # type: ignore[union-attr]


async def append(service: Any, principal: Principal, session: str = "s", **given: Any) -> object:
    said = {"role": "user", "content": "The tram is late.", "user_id": "old", **given}
    return await service.append(principal, session, MessageAppend.model_validate(said), None)


async def merge(service: UserService, principal: Principal) -> Answer:
    return await service.merge(Write(principal), "ada", UserMerge(from_user_id="old"))


async def in_turn(desk: Desk, held: Held, first: Coroutine[Any, Any, object], second: Any) -> None:
    """Run `first` up to its commit, then `second` until it waits for a lock, then both to their end."""
    one = asyncio.create_task(first)  # type: ignore[var-annotated]
    written = asyncio.create_task(held.written.wait())
    await asyncio.wait({one, written}, return_when=asyncio.FIRST_COMPLETED)
    assert held.written.is_set(), one
    other = asyncio.create_task(second)
    await until(desk.waits_for_a_lock)
    held.may_commit.set()
    await asyncio.gather(one, other)


STRAY = """
SELECT DISTINCT x.user_id FROM (SELECT tenant_id, user_id FROM memories UNION SELECT tenant_id, user_id FROM sessions
                                   UNION SELECT tenant_id, user_id FROM blocks) x
    LEFT JOIN users u ON u.tenant_id = x.tenant_id AND u.id = x.user_id
    WHERE x.tenant_id = $1 AND x.user_id IS NOT NULL AND u.id IS NULL
"""
FOREIGN = """
SELECT v.owner FROM {one}_vectors v JOIN {many} m ON m.tenant_id = v.tenant_id AND m.id = v.{one}_id
    WHERE v.tenant_id = $1 AND v.owner <> m.owner
UNION ALL SELECT v.owner FROM {one}_postings v JOIN {many} m ON m.tenant_id = v.tenant_id AND m.id = v.{one}_id
    WHERE v.tenant_id = $1 AND v.owner <> m.owner
"""


async def assert_whole(desk: Desk) -> None:
    """Every user is there, every index row is its text's owner's, every counter is what the rows say."""
    assert await desk.sql(STRAY, desk.tenant.id) == []
    for one, many in (("message", "messages"), ("memory", "memories")):
        assert await desk.sql(FOREIGN.format(one=one, many=many), desk.tenant.id) == []
    async with desk.services.uow.begin_tenant(desk.tenant.id) as tx:
        owners = [owner for owner, _ in await tx.owners.after(None, 100)]
        assert await tx.owners.differing(owners) == []


async def test_message_vectors_written_during_a_merge_are_the_new_users(desk: Desk, principal: Principal) -> None:
    await append(desk.services.messages, principal)
    held = Held(desk.services.uow, "vectors")
    slow = Vectorising(held, desk.services.embedder)  # type: ignore[arg-type]
    desk.tenant.services = replace(desk.services, vectorising=slow)
    run = desk.run((await desk.jobs(kind="embed_messages"))[0]["id"])
    await in_turn(desk, held, run, merge(desk.services.users, principal))
    assert await desk.vectors() == 1
    await assert_whole(desk)


async def test_memory_vectors_written_during_a_merge_are_the_new_users(desk: Desk, principal: Principal) -> None:
    many = [{"text": f"Number {n}", "user_id": "old"} for n in range(101)]
    await desk.services.memories.add(principal, MemoriesAdd.model_validate({"memories": many}), None)
    held = Held(desk.services.uow, "owners")
    slow = Vectorising(held, desk.services.embedder)  # type: ignore[arg-type]
    desk.tenant.services = replace(desk.services, vectorising=slow)
    run = desk.run((await desk.jobs(kind="embed_memories"))[0]["id"])
    await in_turn(desk, held, run, merge(desk.services.users, principal))
    rows = await desk.sql("SELECT owner FROM memory_vectors WHERE tenant_id = $1", desk.tenant.id)
    assert [row["owner"] for row in rows] == ["u:ada"] * 101
    await assert_whole(desk)


async def appended(uow: Any, principal: Principal, desk: Desk) -> object:
    return await append(replace(desk.services.messages, uow=uow), principal, "new")


async def appended_to_the_known(uow: Any, principal: Principal, desk: Desk) -> object:
    return await append(replace(desk.services.messages, uow=uow), principal, "s", user_id=None)


async def added(uow: Any, principal: Principal, desk: Desk) -> object:
    service = replace(desk.services.memories, uow=uow)
    return await service.add(principal, MemoryAdd(user_id="old", text="Likes tea."), None)


async def opened(uow: Any, principal: Principal, desk: Desk) -> object:
    return await replace(desk.services.sessions, uow=uow).create(
        principal, SessionCreate(id="new", user_id="old"), None
    )


async def noted(uow: Any, principal: Principal, desk: Desk) -> object:
    service = replace(desk.services.blocks, uow=uow)
    return await service.put(Write(principal), BlockAddress("persona", "old", None), BlockPut(text="Kind."))


WRITES = {appended: "sessions", appended_to_the_known: "sessions", added: "owners", opened: "sessions", noted: "blocks"}


@pytest.mark.parametrize("write", WRITES)
async def test_a_merge_waits_for_a_write_and_takes_it_along(desk: Desk, principal: Principal, write: Call) -> None:
    await append(desk.services.messages, principal)
    held = Held(desk.services.uow, WRITES[write])
    await in_turn(desk, held, write(held, principal, desk), merge(desk.services.users, principal))
    for table in ("sessions", "memories", "blocks"):
        rows = await desk.sql(f"SELECT DISTINCT user_id FROM {table} WHERE tenant_id = $1", desk.tenant.id)
        assert {row["user_id"] for row in rows} <= {"ada"}
    await assert_whole(desk)


@pytest.mark.parametrize("write", WRITES)
async def test_a_write_that_waited_for_a_merge_leaves_no_data_without_a_user(
    desk: Desk, principal: Principal, write: Call
) -> None:
    await append(desk.services.messages, principal)
    held = Held(desk.services.uow, "merging")
    service = replace(desk.services.users, uow=held)
    await in_turn(desk, held, merge(service, principal), write(desk.services.uow, principal, desk))
    await assert_whole(desk)


async def test_an_append_that_has_its_session_and_not_yet_its_owner_meets_a_merge_without_a_deadlock(
    desk: Desk, principal: Principal
) -> None:
    await append(desk.services.messages, principal)
    slow = SlowAppend(desk.services.uow)
    slow.may_commit.set()
    one = slow.start(principal, "And the tram again.")
    await slow.numbered.wait()
    other = asyncio.create_task(merge(desk.services.users, principal))
    await until(desk.waits_for_a_lock)
    slow.may_queue.set()
    await asyncio.gather(one, other)
    rows = await desk.sql("SELECT owner FROM messages WHERE tenant_id = $1", desk.tenant.id)
    assert [row["owner"] for row in rows] == ["u:ada"] * 2
    await assert_whole(desk)


async def test_an_expired_twin_takes_nothing_visible_along_in_a_merge(desk: Desk, principal: Principal) -> None:
    over = await add(desk, principal, user_id="ada", text="我喜欢喝茶。")
    kept = await add(desk, principal, user_id="old", text="我喜欢喝茶。")
    async with desk.services.uow.begin_tenant(desk.tenant.id) as tx:
        await tx.memories.change(over, {"expires_at": clock.now() - timedelta(seconds=1)})
    assert (await merge(desk.services.users, principal)).body.superseded == 0  # type: ignore[union-attr]
    listed = (await desk.api.get("/v1/memories?user_id=ada")).json()["results"]
    assert [memory["id"] for memory in listed] == [str(kept)]
    async with desk.services.uow.begin_tenant(desk.tenant.id) as tx:
        row = await tx.memories.get_any(over)
    assert row is not None
    assert row["status"] == "expired"
    await assert_whole(desk)


@pytest.mark.parametrize("memories", [False, True])
async def test_a_memory_deleted_while_its_session_is_removed_is_counted_once(
    desk: Desk, principal: Principal, memories: bool
) -> None:
    await append(desk.services.messages, principal)
    source = [{"session_id": "s", "seqs": [1], "quote": "tram"}]
    gone = await add(desk, principal, user_id="old", text="One", session_id="s", sources=source)
    await add(desk, principal, user_id="old", text="Two", session_id="s")
    await add(desk, principal, user_id="old", text="Three")
    held = Held(desk.services.uow, "memories")
    delete = replace(desk.services.memories, uow=held).delete(principal, gone, None)
    await in_turn(desk, held, delete, desk.services.sessions.delete(principal, "s", memories=memories))
    await assert_whole(desk)


async def test_a_bulk_delete_leaves_rows_of_owners_that_it_has_not_locked(
    desk: Desk, principal: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add(desk, principal, agent_id="helper", text="One")
    seen = MemoryRepository.owners_of

    async def owners_of(repository: MemoryRepository, selection: Selection) -> list[str]:
        owners = await seen(repository, selection)
        await add(desk, principal, agent_id="helper", user_id="late", text="Two")
        return owners

    monkeypatch.setattr(MemoryRepository, "owners_of", owners_of)
    selection = Selection(Scope(agent_id="helper"), clock.now(), uncertain=True)
    async with desk.services.uow.begin(principal) as tx:
        assert await delete_selected(tx, selection, "me", UUID(int=1), clock.now()) == 1
    left = (await desk.api.get("/v1/memories?agent_id=helper")).json()["results"]
    assert [memory["text"] for memory in left] == ["Two"]
    await assert_whole(desk)


async def test_bulk_adds_and_bulk_deletes_never_fall_into_a_deadlock(desk: Desk, principal: Principal) -> None:
    async def adds(n: int) -> None:
        many = [{"text": f"{n} {k}", "user_id": f"u{(n * 7 + k * 5) % 6}", "agent_id": "helper"} for k in range(12)]
        await desk.services.memories.add(principal, MemoriesAdd.model_validate({"memories": many}), None)

    async def deletes() -> None:
        await desk.services.bulk.delete(Write(principal), MemoriesDelete(agent_id="helper"))

    for turn in range(5):
        await asyncio.gather(*(adds(turn * 3 + n) for n in range(3)), deletes(), deletes())
    await assert_whole(desk)


@pytest.mark.parametrize("attempts", [1, 4])
async def test_a_write_that_fell_into_a_deadlock_is_done_again(
    desk: Desk, principal: Principal, monkeypatch: pytest.MonkeyPatch, attempts: int
) -> None:
    monkeypatch.setattr(answers, "ATTEMPTS", attempts)
    met = asyncio.Barrier(2)
    begun: list[str] = []

    async def write(first: str, second: str) -> Answer:
        async def work(tx: Transaction) -> Answer:
            again = first in begun
            begun.append(first)
            await tx.owners.lock_and_change(first, OwnerChange(memories=1))
            if not again:
                await met.wait()
            await tx.owners.lock_and_change(second, OwnerChange(memories=1))
            return Answer(204, None)

        return await write_once(desk.services.uow, Write(principal), None, work)

    ends = await asyncio.gather(write("a:1", "a:2"), write("a:2", "a:1"), return_exceptions=True)
    done = [end for end in ends if isinstance(end, Answer)]
    assert len(done) == (1 if attempts == 1 else 2), ends
    async with desk.services.uow.begin_tenant(desk.tenant.id) as tx:
        assert [count for _, count in await tx.owners.after(None, 10)] == [len(done)] * 2
