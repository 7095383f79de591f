"""LangGraph's store: items, namespaces, filters, searches and lives."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, PutOp, SearchOp
from sqlalchemy import func, select

from app.core import clock
from app.db.models import store_items
from mnemic_client.errors import ConflictError, ProblemError
from mnemic_client.langgraph import AsyncMnemicStore, MnemicStore
from mnemic_client.transport import AsyncTransport
from tests.conftest import Tenant
from tests.sdk.conftest import within


@pytest.fixture
async def store(transport: AsyncTransport) -> AsyncMnemicStore:
    """A store with the admin's key."""
    return AsyncMnemicStore(transport=transport)


async def keys(store: AsyncMnemicStore, *prefix: str, **asked: Any) -> list[str]:
    return [item.key for item in await store.asearch(prefix, **asked)]


async def test_an_item_is_written_read_replaced_and_deleted(store: AsyncMnemicStore) -> None:
    await store.aput(("users", "ada"), "tea", {"text": "绿茶", "n": [1, None]})
    item = await store.aget(("users", "ada"), "tea")
    assert item is not None
    assert (item.namespace, item.key, item.value) == (("users", "ada"), "tea", {"text": "绿茶", "n": [1, None]})
    await store.aput(("users", "ada"), "tea", {"text": "black"})
    again = await store.aget(("users", "ada"), "tea")
    assert again is not None
    assert (again.value, again.created_at) == ({"text": "black"}, item.created_at)
    assert again.updated_at > item.updated_at
    await store.adelete(("users", "ada"), "tea")
    await store.adelete(("users", "ada"), "tea")
    assert await store.aget(("users", "ada"), "tea") is None


async def test_a_batch_answers_in_the_order_of_its_operations(store: AsyncMnemicStore) -> None:
    results = await store.abatch(
        [
            GetOp(("a",), "k"),
            PutOp(("a",), "k", {"n": 1}),
            GetOp(("a",), "k"),
            GetOp(("a",), "absent"),
            PutOp(("a", "b"), "k", {"n": 2}),
            SearchOp(("a",)),
            ListNamespacesOp(),
            PutOp(("a",), "k", None),
            GetOp(("a",), "k"),
        ]
    )
    values: list[Any] = [getattr(result, "value", result) for result in results]
    assert values[:5] == [None, None, {"n": 1}, None, None]
    assert {item.key for item in values[5]} == {"k"}
    assert len(values[5]) == 2
    assert values[6:] == [[("a",), ("a", "b")], None, None]
    assert await store.abatch([]) == []


async def test_a_batch_is_done_as_a_whole_or_not_at_all(tenant: Tenant, store: AsyncMnemicStore) -> None:
    await store.aput(("a",), "taken", {"n": 1})
    async with within(tenant, await tenant.key("member", ["ada"])) as transport:
        hers = AsyncMnemicStore(transport=transport)
        with pytest.raises(ConflictError, match="id_taken"):
            await hers.abatch([PutOp(("a",), "new", {"n": 2}), PutOp(("a",), "taken", {"n": 2})])
    assert await store.aget(("a",), "new") is None


async def test_a_namespace_is_matched_segment_by_segment(store: AsyncMnemicStore) -> None:
    for namespace in (("a",), ("a", "b"), ("ab",), ("a%",), ("a_", "b"), ("A", "b"), ("a", "%"), ("a b", "中文")):
        await store.aput(namespace, "k", {"in": list(namespace)})
    assert {item.namespace for item in await store.asearch(("a",))} == {("a",), ("a", "b"), ("a", "%")}
    assert [item.namespace for item in await store.asearch(("a%",))] == [("a%",)]
    assert [item.namespace for item in await store.asearch(("a_",))] == [("a_", "b")]
    assert len(await store.asearch((), limit=100)) == 8
    assert await store.alist_namespaces(prefix=("a", "*")) == [("a", "%"), ("a", "b")]
    assert await store.alist_namespaces(suffix=("b",)) == [("A", "b"), ("a", "b"), ("a_", "b")]
    assert await store.alist_namespaces(prefix=("*",), suffix=("中文",)) == [("a b", "中文")]


async def test_namespaces_are_cut_paged_and_listed_once(store: AsyncMnemicStore) -> None:
    for number in range(6):
        await store.aput(("docs", f"d{number % 3}", f"v{number}"), "k", {})
    assert await store.alist_namespaces(prefix=("docs",), max_depth=2) == [("docs", f"d{n}") for n in range(3)]
    assert await store.alist_namespaces(max_depth=2, limit=2, offset=1) == [("docs", "d1"), ("docs", "d2")]
    condition = MatchCondition(match_type="suffix", path=("*", "v4"))
    assert await store.abatch([ListNamespacesOp(match_conditions=(condition,))]) == [[("docs", "d1", "v4")]]


FILTERS = {
    "a value": ({"kind": "note"}, {"one", "two"}),
    "several keys": ({"kind": "note", "n": 2}, {"two"}),
    "$eq": ({"n": {"$eq": 1}}, {"one"}),
    "$ne": ({"kind": {"$ne": "note"}}, {"three", "four"}),
    "$gt": ({"n": {"$gt": 1}}, {"two", "three"}),
    "$gte and $lt": ({"n": {"$gte": 2, "$lt": 10}}, {"two"}),
    "$lte": ({"n": {"$lte": 1}}, {"one"}),
    "an order of texts": ({"kind": {"$gt": "note"}}, {"three"}),
    "an object inside": ({"in": {"deep": True}}, {"one"}),
    "null or absent": ({"kind": None}, {"four"}),
    "a list": ({"tags": ["红", "b"]}, {"two"}),
    "a key with a dot": ({"a.b": 1}, {"four"}),
}


@pytest.mark.parametrize("name", FILTERS)
async def test_a_filter_leaves_what_meets_it(store: AsyncMnemicStore, name: str) -> None:
    await store.aput(("f",), "one", {"kind": "note", "n": 1, "in": {"deep": True, "x": 1}})
    await store.aput(("f",), "two", {"kind": "note", "n": 2, "tags": ["红", "b"]})
    await store.aput(("f",), "three", {"kind": "task", "n": 10})
    await store.aput(("f",), "four", {"n": "text", "a.b": 1})
    asked, expected = FILTERS[name]
    assert set(await keys(store, "f", filter=asked)) == expected
    assert set(await keys(store, "f", filter=asked, query="anything")) == expected


async def test_an_operator_that_is_unknown_is_refused(store: AsyncMnemicStore) -> None:
    with pytest.raises(ProblemError, match="bad_filter"):
        await store.asearch(("f",), filter={"n": {"$near": 1}})


async def test_a_search_finds_by_meaning_and_by_words_in_both_languages(store: AsyncMnemicStore) -> None:
    await store.aput(("m",), "tea", {"text": "She drinks green tea every morning."})
    await store.aput(("m",), "train", {"text": "The train to Lisbon leaves at nine."})
    await store.aput(("m",), "汇率", {"text": "公司用的外币汇率每周一更新。"})
    await store.aput(("m",), "ticket", {"text": "Ticket ABC-1234 is about the login page."})
    assert (await keys(store, "m", query="Which beverage does she like?"))[0] == "tea"
    assert (await keys(store, "m", query="汇率"))[0] == "汇率"
    assert (await keys(store, "m", query="ABC-1234"))[0] == "ticket"
    best, *others = await store.asearch(("m",), query="She drinks green tea every morning.", limit=3)
    assert best.key == "tea"
    assert best.score is not None
    assert 0.3 < best.score <= 1
    assert all(item.score is not None and item.score < best.score for item in others)


async def test_what_is_searched_of_an_item_is_what_its_fields_say(transport: AsyncTransport) -> None:
    store = AsyncMnemicStore(transport=transport, fields=["title", "parts[*].text", "last[-1]"])
    await store.aput(("i",), "title", {"title": "kingfisher", "body": "heron"})
    await store.aput(("i",), "parts", {"parts": [{"text": "heron"}, {"text": "鹈鹕"}], "last": ["a", "osprey"]})
    await store.aput(("i",), "own", {"title": "x", "body": "flamingo"}, index=["body"])
    await store.aput(("i",), "none", {"title": "kingfisher heron 鹈鹕"}, index=False)
    for query, expected in (("kingfisher", "title"), ("鹈鹕", "parts"), ("osprey", "parts"), ("flamingo", "own")):
        (best, *_) = await store.asearch(("i",), query=query)
        assert best.key == expected, query
    scored = {item.key: item.score for item in await store.asearch(("i",), query="kingfisher")}
    assert scored.pop("none") is None
    assert None not in scored.values()


async def test_pages_of_a_search_have_each_item_once(store: AsyncMnemicStore) -> None:
    for number in range(12):
        await store.aput(
            ("p",),
            f"k{number}",
            {"text": f"note number {number} about trains"},
            index=False if number % 4 == 0 else None,
        )
    for asked in ({}, {"query": "trains"}):
        pages = [await keys(store, "p", limit=5, offset=offset, **asked) for offset in (0, 5, 10)]
        assert sorted(key for page in pages for key in page) == sorted(f"k{n}" for n in range(12))


async def test_an_item_is_served_until_its_time_and_swept_after_it(tenant: Tenant, store: AsyncMnemicStore) -> None:
    await store.aput(("t",), "short", {"text": "tea"}, ttl=10)
    await store.aput(("t",), "long", {"text": "tea"})
    start = clock.now()
    with time_machine.travel(start + timedelta(minutes=8), tick=False):
        assert await store.aget(("t",), "short", refresh_ttl=False) is not None
        assert await store.aget(("t",), "short") is not None
    with time_machine.travel(start + timedelta(minutes=16), tick=False):
        assert set(await keys(store, "t", query="tea")) == {"short", "long"}
    with time_machine.travel(start + timedelta(minutes=24), tick=False):
        assert len(await keys(store, "t", refresh_ttl=False)) == 2
    with time_machine.travel(start + timedelta(minutes=27), tick=False):
        assert await store.aget(("t",), "short") is None
        assert await keys(store, "t", query="tea") == ["long"]
        async with tenant.services.uow.begin_tenant(tenant.id) as tx:
            await tx.jobs.enqueue("sweep", "tenant", clock.now())
        await tenant.work()
    async with tenant.services.uow.begin_tenant(tenant.id) as tx:
        statement = select(func.count()).select_from(store_items).where(store_items.c.tenant_id == tenant.id)
        assert (await tx._bound.connection.execute(statement)).scalar_one() == 1


async def test_the_default_life_comes_from_the_stores_configuration(transport: AsyncTransport) -> None:
    store = AsyncMnemicStore(transport=transport, ttl={"default_ttl": 1, "refresh_on_read": False})
    await store.aput(("t",), "k", {})
    await store.aput(("t",), "ever", {}, ttl=None)
    await store.aget(("t",), "k")
    with time_machine.travel(clock.now() + timedelta(minutes=2), tick=False):
        assert await keys(store, "t") == ["ever"]


async def test_a_key_bound_to_a_user_has_that_users_items_alone(tenant: Tenant, store: AsyncMnemicStore) -> None:
    await store.aput(("n",), "nobody's", {"text": "tea"})
    async with within(tenant, await tenant.key("member", ["ada"])) as transport:
        ada = AsyncMnemicStore(transport=transport)
        await ada.aput(("n",), "hers", {"text": "tea"})
        assert await keys(ada, "n", query="tea") == ["hers"]
        assert await ada.alist_namespaces() == [("n",)]
        assert await ada.aget(("n",), "nobody's") is None
        await ada.adelete(("n",), "nobody's")
    async with within(tenant, await tenant.key("member", ["bob"])) as transport:
        bob = AsyncMnemicStore(transport=transport)
        assert await keys(bob) == []
        assert await keys(bob, query="tea") == []
        assert await bob.alist_namespaces() == []
        with pytest.raises(ConflictError, match="id_taken"):
            await bob.aput(("n",), "hers", {"text": "his"})
        await bob.adelete(("n",), "hers")
    assert set(await keys(store, "n")) == {"nobody's", "hers"}


async def test_first_writes_of_one_key_at_once_leave_one_item(store: AsyncMnemicStore) -> None:
    await asyncio.gather(*(store.aput(("c",), "k", {"text": f"tea {number}"}) for number in range(12)))
    (item,) = await store.asearch(("c",), query="tea")
    assert item.value["text"].startswith("tea ")


async def test_a_secret_in_a_value_is_taken_out(store: AsyncMnemicStore) -> None:
    await store.aput(("s",), "k", {"note": "my password is kestrel77pw"})
    item = await store.aget(("s",), "k")
    assert item is not None
    assert "kestrel77" not in str(item.value)


async def test_a_nul_is_refused_in_values_keys_and_namespaces(store: AsyncMnemicStore) -> None:
    for op in (PutOp(("a",), "k", {"v": "\0"}), PutOp(("a",), "k\0", {}), PutOp(("a\x1f",), "k", {})):
        with pytest.raises(ProblemError) as refused:
            await store.abatch([op])
        assert refused.value.status == 422


async def test_the_sync_store_does_the_same_over_the_wire(live: str, api_key: str) -> None:
    def used() -> tuple[Any, ...]:
        with MnemicStore(live, api_key) as store:
            store.put(("a",), "k", {"text": "green tea"})
            item = store.get(("a",), "k")
            found = [one.key for one in store.search(("a",), query="tea")]
            namespaces = store.list_namespaces()
            store.delete(("a",), "k")
            return item.value if item else None, found, namespaces, store.get(("a",), "k")

    assert await asyncio.to_thread(used) == ({"text": "green tea"}, ["k"], [("a",)], None)
