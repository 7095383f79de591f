"""What LangGraph's own suite does not notice, and what only a service has to answer for."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from langgraph.checkpoint.base import Checkpoint, CheckpointTuple
from langgraph.checkpoint.base.id import uuid6
from langgraph.checkpoint.serde.types import ERROR, INTERRUPT, RESUME, SCHEDULED
from sqlalchemy import func, select

from app.db.models import checkpoint_blobs, checkpoint_writes
from mnemic_client.errors import ConflictError, ProblemError
from mnemic_client.langgraph import AsyncMnemicSaver
from mnemic_client.langgraph.wire import next_version
from tests.conftest import Tenant
from tests.sdk.conftest import within

Config = dict[str, dict[str, Any]]


def config(thread: str = "t", ns: str | None = "", checkpoint_id: str | None = None) -> Any:
    named = {"thread_id": thread, "checkpoint_ns": ns, "checkpoint_id": checkpoint_id}
    return {"configurable": {name: value for name, value in named.items() if value is not None}}


def checkpoint(values: dict[str, Any], versions: dict[str, Any]) -> Checkpoint:
    return Checkpoint(
        v=4,
        id=str(uuid6()),
        ts="2026-06-01T00:00:00+00:00",
        channel_values=values,
        channel_versions=versions,
        versions_seen={},
        updated_channels=None,
    )


async def put(
    saver: AsyncMnemicSaver,
    values: dict[str, Any],
    *,
    parent: Any = None,
    versions: dict[str, Any] | None = None,
    new: Sequence[str] | None = None,
    thread: str = "t",
    ns: str = "",
    **metadata: Any,
) -> Any:
    """Store a checkpoint whose new channels are all of its values, or those of `new`."""
    known = versions or {name: next_version(None) for name in values}
    made = checkpoint(values, known)
    changed = {name: known[name] for name in (known if new is None else new)}
    place = config(thread, ns) if parent is None else parent
    return await saver.aput(place, made, {"source": "loop", "step": 1, **metadata}, changed)


async def listed(saver: AsyncMnemicSaver, *asked: Any, **options: Any) -> list[CheckpointTuple]:
    return [found async for found in saver.alist(*asked, **options)]


async def rows(tenant: Tenant, table: Any) -> int:
    """How many rows of a table the tenant has."""
    async with tenant.services.uow.begin_tenant(tenant.id) as tx:
        statement = select(func.count()).select_from(table).where(table.c.tenant_id == tenant.id)
        return int((await tx._bound.connection.execute(statement)).scalar_one())


async def values_of(saver: AsyncMnemicSaver, place: Any) -> dict[str, Any]:
    found = await saver.aget_tuple(place)
    assert found is not None
    return dict(found.checkpoint["channel_values"])


async def writes_of(saver: AsyncMnemicSaver, place: Any) -> list[tuple[str, str, Any]]:
    found = await saver.aget_tuple(place)
    assert found is not None
    return list(found.pending_writes or ())


async def test_a_write_to_a_special_channel_replaces_the_one_before(saver: AsyncMnemicSaver) -> None:
    place = await put(saver, {"n": 1})
    for channel in (ERROR, SCHEDULED, INTERRUPT, RESUME):
        await saver.aput_writes(place, [(channel, "first")], "task")
        await saver.aput_writes(place, [(channel, "second")], "task")
    assert {channel: value for _, channel, value in await writes_of(saver, place)} == dict.fromkeys(
        (ERROR, SCHEDULED, INTERRUPT, RESUME), "second"
    )


async def test_of_two_writes_to_one_special_channel_in_a_call_the_last_is_kept(saver: AsyncMnemicSaver) -> None:
    place = await put(saver, {"n": 1})
    await saver.aput_writes(place, [(INTERRUPT, "first"), (INTERRUPT, "second")], "task")
    assert await writes_of(saver, place) == [("task", INTERRUPT, "second")]


async def test_an_ordinary_write_is_never_overwritten(saver: AsyncMnemicSaver) -> None:
    place = await put(saver, {"n": 1})
    await saver.aput_writes(place, [("a", "first"), ("b", 1)], "task")
    await saver.aput_writes(place, [("a", "second"), ("b", 2), ("c", 3)], "task")
    await saver.aput_writes(place, [("a", "third"), (ERROR, "e")], "task")
    assert await writes_of(saver, place) == [
        ("task", ERROR, "e"),
        ("task", "a", "first"),
        ("task", "b", 1),
        ("task", "c", 3),
    ]


async def test_writes_come_back_by_path_then_task_then_number(saver: AsyncMnemicSaver) -> None:
    place = await put(saver, {"n": 1})
    await saver.aput_writes(place, [("x", 1), ("y", 2)], "a", "~2")
    await saver.aput_writes(place, [("x", 3)], "z", "~1")
    await saver.aput_writes(place, [("x", 4)], "b", "~1")
    await saver.aput_writes(place, [("x", number) for number in range(12)], "m")
    expected = [("m", "x", number) for number in range(12)]
    expected += [("b", "x", 4), ("z", "x", 3), ("a", "x", 1), ("a", "y", 2)]
    assert await writes_of(saver, place) == expected
    (found,) = await listed(saver, config())
    assert found.pending_writes == expected


async def test_a_list_without_a_namespace_has_every_namespace(saver: AsyncMnemicSaver) -> None:
    for ns in ("", "child:1", "child:1|grandchild:2"):
        await put(saver, {"n": 1}, ns=ns)
    await put(saver, {"n": 1}, thread="other")
    assert {found.config["configurable"]["checkpoint_ns"] for found in await listed(saver, config(ns=None))} == {
        "",
        "child:1",
        "child:1|grandchild:2",
    }
    assert len(await listed(saver, config(ns=""))) == 1
    assert len(await listed(saver, None)) == 4


async def test_a_long_list_visits_every_checkpoint_once_newest_first(saver: AsyncMnemicSaver) -> None:
    stored = [await put(saver, {}, thread=f"t{n % 3}", ns=f"n{n % 2}") for n in range(45)]
    ids = [place["configurable"]["checkpoint_id"] for place in stored]
    found = [one.checkpoint["id"] for one in await listed(saver, None)]
    assert found == sorted(ids, reverse=True)
    before = config("t0", checkpoint_id=ids[30])
    assert [one.checkpoint["id"] for one in await listed(saver, None, before=before, limit=25)] == found[15:40]


async def test_every_key_of_a_filter_must_match(saver: AsyncMnemicSaver) -> None:
    await put(saver, {}, source="input", step=1)
    await put(saver, {}, source="input", step=2)
    assert len(await listed(saver, config(), filter={"source": "input"})) == 2
    (found,) = await listed(saver, config(), filter={"source": "input", "step": 2})
    assert found.metadata["step"] == 2
    assert await listed(saver, config(), filter={"source": "input", "nothing": 1}) == []


async def test_a_value_at_a_version_is_never_overwritten(saver: AsyncMnemicSaver) -> None:
    first = await put(saver, {"a": "first"}, versions={"a": "1"})
    second = await put(saver, {"a": "second"}, versions={"a": "1"}, parent=first)
    assert await values_of(saver, first) == {"a": "first"}
    assert await values_of(saver, second) == {"a": "first"}


async def test_two_branches_that_count_to_the_same_version_keep_their_own_values(saver: AsyncMnemicSaver) -> None:
    root = await put(saver, {"a": 0})
    ones = [next_version(next_version(None)) for _ in range(2)]
    left = await put(saver, {"a": "left"}, versions={"a": ones[0]}, parent=root)
    right = await put(saver, {"a": "right"}, versions={"a": ones[1]}, parent=root)
    assert (await values_of(saver, left), await values_of(saver, right)) == ({"a": "left"}, {"a": "right"})


async def test_pruning_keeps_every_value_that_the_newest_checkpoint_names(
    tenant: Tenant, saver: AsyncMnemicSaver
) -> None:
    first = await put(saver, {"kept": "from the first", "gone": "old"}, versions={"kept": "1", "gone": "1"})
    second = await put(
        saver,
        {"kept": "from the first", "gone": "new"},
        versions={"kept": "1", "gone": "2"},
        new=["gone"],
        parent=first,
    )
    child = await put(saver, {"c": 1}, ns="child:1")
    assert await rows(tenant, checkpoint_blobs) == 4
    await saver.aprune(["t"])
    assert await values_of(saver, second) == {"kept": "from the first", "gone": "new"}
    assert await values_of(saver, child) == {"c": 1}
    assert await saver.aget_tuple(first) is None
    assert await rows(tenant, checkpoint_blobs) == 3


async def test_pruning_leaves_writes_whose_checkpoint_is_still_on_its_way(saver: AsyncMnemicSaver) -> None:
    first = await put(saver, {"n": 1})
    coming = checkpoint({"n": 2}, {"n": "2"})
    await saver.aput_writes(config(checkpoint_id=coming["id"]), [("n", "early")], "task")
    await put(saver, {"n": 3}, parent=first)
    await saver.aprune(["t"])
    await saver.aput(first, coming, {"source": "loop", "step": 2}, {"n": "2"})
    assert await writes_of(saver, config(checkpoint_id=coming["id"])) == [("task", "n", "early")]


async def test_a_thread_that_keeps_changes_is_not_pruned(saver: AsyncMnemicSaver) -> None:
    first = await put(saver, {"a": 1}, counters_since_delta_snapshot={"a": [1, 1]})
    await put(saver, {"a": 2}, parent=first)
    with pytest.raises(ConflictError, match="delta_channel"):
        await saver.aprune(["t"])
    assert len(await listed(saver, config())) == 2


async def test_deleting_runs_leaves_neither_writes_nor_values_behind(tenant: Tenant, saver: AsyncMnemicSaver) -> None:
    kept = await put(saver, {"a": "kept"}, versions={"a": "1"}, run_id="other")
    gone = await put(
        saver, {"a": "kept", "b": "gone"}, versions={"a": "1", "b": "1"}, new=["b"], parent=kept, run_id="run"
    )
    await saver.aput_writes(kept, [("a", 1)], "task")
    await saver.aput_writes(gone, [("a", 1), ("b", 2)], "task")
    await saver.adelete_for_runs(["run"])
    assert await saver.aget_tuple(gone) is None
    assert await values_of(saver, kept) == {"a": "kept"}
    assert (await rows(tenant, checkpoint_writes), await rows(tenant, checkpoint_blobs)) == (1, 1)


@pytest.mark.parametrize(
    "value", ["a\0b", b"\0\xff\x00", None, "", [], {"k": {"n": None}}, "汉字 \U0001f600", float("inf"), 2**62]
)
async def test_a_value_comes_back_as_it_was(saver: AsyncMnemicSaver, value: Any) -> None:
    place = await put(saver, {"v": value})
    await saver.aput_writes(place, [("v", value)], "task")
    assert await values_of(saver, place) == {"v": value}
    assert await writes_of(saver, place) == [("task", "v", value)]


async def test_a_channel_without_a_value_is_told_from_one_that_has_none(saver: AsyncMnemicSaver) -> None:
    place = await put(saver, {"none": None}, versions={"none": "1", "empty": "1"})
    assert await values_of(saver, place) == {"none": None}


async def test_a_nul_in_metadata_is_taken_out_at_any_depth(saver: AsyncMnemicSaver) -> None:
    place = await put(saver, {}, note="a\0b", deep={"list": ["c\0d", {"e\0": float("nan")}]})
    found = await saver.aget_tuple(place)
    assert found is not None
    assert found.metadata["note"] == "ab"  # type: ignore[typeddict-item]
    assert found.metadata["deep"] == {"list": ["cd", {"e": "nan"}]}  # type: ignore[typeddict-item]


async def test_a_nul_in_an_id_is_refused(saver: AsyncMnemicSaver) -> None:
    with pytest.raises(ProblemError) as refused:
        await put(saver, {}, thread="a\0b")
    assert refused.value.status == 422


async def test_a_secret_in_metadata_is_taken_out(saver: AsyncMnemicSaver) -> None:
    place = await put(saver, {}, password="hunter2hunter2")
    found = await saver.aget_tuple(place)
    assert found is not None
    assert found.metadata["password"] == "[redacted:password]"  # type: ignore[typeddict-item]


async def test_first_writes_of_a_thread_at_once_are_all_kept(saver: AsyncMnemicSaver) -> None:
    puts = [put(saver, {"n": number}, thread="new") for number in range(16)]
    writes = [
        saver.aput_writes(config("new", checkpoint_id="later"), [("x", number)], f"task{number}")
        for number in range(16)
    ]
    await asyncio.gather(*puts, *writes)
    found = await listed(saver, config("new"))
    assert sorted(one.checkpoint["channel_values"]["n"] for one in found) == list(range(16))


async def test_writes_prunes_and_puts_at_once_lose_nothing_that_is_named(saver: AsyncMnemicSaver) -> None:
    place = await put(saver, {"base": "base"}, versions={"base": "1"})
    for number in range(6):
        versions = {"base": "1", "n": str(number)}
        following = put(saver, {"base": "base", "n": number}, versions=versions, new=["n"], parent=place)
        place, *_ = await asyncio.gather(
            following, saver.aprune(["t"]), saver.aput_writes(place, [("x", 1)], "task"), saver.aprune(["t"])
        )
        assert await values_of(saver, place) == {"base": "base", "n": number}


async def test_large_values_are_kept_small_and_come_back_whole(tenant: Tenant, saver: AsyncMnemicSaver) -> None:
    text = "The same again. 又是一样。" * 20_000
    place = await put(saver, {"text": text})
    assert await values_of(saver, place) == {"text": text}
    async with tenant.services.uow.begin_tenant(tenant.id) as tx:
        statement = select(func.length(checkpoint_blobs.c.blob)).where(checkpoint_blobs.c.tenant_id == tenant.id)
        assert (await tx._bound.connection.execute(statement)).scalar_one() < len(text.encode()) / 20


async def test_a_value_above_the_limit_is_refused_by_name(saver: AsyncMnemicSaver) -> None:
    with pytest.raises(ProblemError, match="value_too_large") as refused:
        await put(saver, {"huge": b"x" * (6 * 1024 * 1024 + 1)})
    assert refused.value.status == 413
    assert "huge" in refused.value.detail


async def test_a_key_bound_to_a_user_sees_that_users_threads_alone(tenant: Tenant, saver: AsyncMnemicSaver) -> None:
    await put(saver, {"n": "nobody's"}, thread="nobody")
    async with within(tenant, await tenant.key("member", ["ada"])) as transport:
        ada = AsyncMnemicSaver(transport=transport)
        place = await put(ada, {"n": "ada's"}, thread="hers")
        assert [one.config["configurable"]["thread_id"] for one in await listed(ada, None)] == ["hers"]
        assert await ada.aget_tuple(config("nobody")) is None
    assert (await values_of(saver, place)) == {"n": "ada's"}
    async with within(tenant, await tenant.key("member", ["bob"])) as transport:
        bob = AsyncMnemicSaver(transport=transport)
        assert await bob.aget_tuple(place) is None
        assert await listed(bob, config("hers", None)) == []
        for taken in (
            put(bob, {"n": 1}, thread="hers"),
            bob.aput_writes(place, [("n", 1)], "task"),
            put(bob, {"n": 1}, thread="nobody"),
        ):
            with pytest.raises(ConflictError, match="id_taken"):
                await taken
        for nothing in (bob.adelete_thread("hers"), bob.aprune(["hers"], strategy="delete")):
            await nothing
        with pytest.raises(ProblemError, match="thread_not_found"):
            await bob.acopy_thread("hers", "mine")
        await put(bob, {"n": 1}, thread="his")
        with pytest.raises(ProblemError, match="thread_not_found"):
            await bob.acopy_thread("hers", "his")
    assert await writes_of(saver, place) == []


async def test_a_thread_belongs_to_the_user_who_is_named_first(tenant: Tenant, saver: AsyncMnemicSaver) -> None:
    named = config("hers") | {}
    named["configurable"]["mnemic_user_id"] = "ada"
    await put(saver, {"n": 1}, parent=named)
    await put(saver, {"n": 2}, thread="hers")
    named["configurable"]["mnemic_user_id"] = "bob"
    with pytest.raises(ConflictError, match="id_taken"):
        await put(saver, {"n": 3}, parent=named)
    async with within(tenant, await tenant.key("member", ["ada"])) as transport:
        assert len(await listed(AsyncMnemicSaver(transport=transport), config("hers"))) == 2


async def test_an_id_with_anything_in_it_is_a_thread_of_its_own(saver: AsyncMnemicSaver) -> None:
    for thread in ("a/b", "a%2Fb", "a b", "旅行/计划", "..a"):
        await put(saver, {"n": thread}, thread=thread)
        assert await values_of(saver, config(thread)) == {"n": thread}


async def test_copying_into_a_thread_keeps_what_is_there(saver: AsyncMnemicSaver) -> None:
    place = await put(saver, {"n": 1}, thread="from")
    await saver.aput_writes(place, [("x", 1)], "task")
    await put(saver, {"n": 2}, thread="to", ns="own")
    await saver.acopy_thread("from", "to")
    await saver.acopy_thread("from", "to")
    assert await values_of(saver, config("to")) == {"n": 1}
    assert await writes_of(saver, config("to")) == [("task", "x", 1)]
    assert len(await listed(saver, config("to", None))) == 2


async def test_the_methods_without_an_a_work_from_other_threads(saver: AsyncMnemicSaver) -> None:
    place = await put(saver, {"n": 1})

    def elsewhere() -> tuple[Any, int]:
        saver.put_writes(place, [("x", 1)], "task")
        found = saver.get_tuple(place)
        assert found is not None
        return found.pending_writes, len(list(saver.list(config())))

    assert await asyncio.to_thread(elsewhere) == ([("task", "x", 1)], 1)
    with pytest.raises(RuntimeError, match="event loop"):
        saver.get_tuple(place)
