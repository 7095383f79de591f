"""A dispute lasts as long as both of its sides are there: it ends with either, comes back with it, and is shown."""

import random
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest
import time_machine

from app.core import clock
from tests.conftest import Tenant
from tests.routers.calls import add, body_of, every
from tests.routers.test_consolidation import consolidate
from tests.routers.test_forgetting import ADA, everything
from tests.routers.test_memory_file import entries, send, served

PAIRS = {
    "en": ("Deploys are allowed on Fridays.", "Deploys are not allowed on Fridays."),
    "zh": ("周五可以部署。", "周五不可以部署。"),
}
MARKS = {"en": " (disputed)", "zh": "（有争议）"}
LANGUAGES = ("en", "zh")

Memory = dict[str, Any]


@pytest.fixture
def tenant(learning_tenant: Tenant) -> Tenant:
    """A fresh tenant of a service that compares what is added."""
    return learning_tenant


async def disputed(api: httpx.AsyncClient, tenant: Tenant, language: str = "en", **fields: Any) -> list[Memory]:
    """Two memories that stand against each other, the elder first; `fields` are the elder's."""
    one, other = PAIRS[language]
    pair = [await add(api, one, **fields), await add(api, other)]
    await tenant.work()
    assert await standing(api, pair) == (["disputed", "disputed"], 1)
    return pair


async def standing(api: httpx.AsyncClient, memories: list[Memory]) -> tuple[list[str], int]:
    """The statuses, of what is deleted too, and how many conflicts are open."""
    known = {
        one["id"]: status
        for status in ("active", "disputed", "superseded", "expired", "deleted")
        for one in await every(api, "/v1/memories", status=status, **ADA)
    }
    return [known[one["id"]] for one in memories], len(await every(api, "/v1/conflicts"))


async def last_change(api: httpx.AsyncClient, memory: Memory) -> dict[str, str]:
    """What undoes the memory's last change."""
    events = body_of(await api.get(f"/v1/memories/{memory['id']}/history"))["results"]
    return {"event_id": max(events, key=lambda event: str(event["id"]))["id"]}


Way = Callable[[httpx.AsyncClient, Tenant, Memory], Awaitable[dict[str, str]]]
"""Takes a memory out of sight; what undoes that."""


async def delete(api: httpx.AsyncClient, _: Tenant, memory: Memory) -> dict[str, str]:
    assert (await api.delete(f"/v1/memories/{memory['id']}")).status_code == 204
    return await last_change(api, memory)


async def reject(api: httpx.AsyncClient, _: Tenant, memory: Memory) -> dict[str, str]:
    body_of(await api.post(f"/v1/memories/{memory['id']}/reject", json={}))
    return await last_change(api, memory)


async def delete_many(api: httpx.AsyncClient, _: Tenant, memory: Memory) -> dict[str, str]:
    request = {**ADA, "filters": {"importance": {"gte": 9}}, "dry_run": False}
    done = body_of(await api.post("/v1/memories/delete", json=request))
    assert done["deleted"] == 1
    return {"undo_id": done["undo_id"]}


async def edit_the_file(api: httpx.AsyncClient, _: Tenant, memory: Memory) -> dict[str, str]:
    text, etag = await served(api)
    (line,) = [one for one in text.splitlines() if one.startswith(f"- {memory['text']}")]
    done = body_of(await send(api, text.replace(f"{line}\n", ""), etag))
    return {"undo_id": done["undo_id"]}


async def replace(api: httpx.AsyncClient, tenant: Tenant, memory: Memory) -> dict[str, str]:
    (conflict,) = await every(api, "/v1/conflicts")
    newer = conflict["memories"][0]["id"] == memory["id"]
    body_of(await api.post(f"/v1/conflicts/{conflict['id']}/resolve", json={"keep": "older" if newer else "newer"}))
    return await last_change(api, memory)


async def expire(api: httpx.AsyncClient, tenant: Tenant, memory: Memory) -> dict[str, str]:
    soon = clock.now() + timedelta(seconds=5)
    body_of(await api.patch(f"/v1/memories/{memory['id']}", json={"expires_at": soon.isoformat()}))
    with time_machine.travel(soon + timedelta(seconds=1), tick=True):
        async with tenant.services.uow.begin_tenant(tenant.id) as tx:
            await tx.jobs.enqueue("expire", "tenant", clock.now())
        await tenant.work()
    return await last_change(api, memory)


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("way", [delete, reject, delete_many, edit_the_file, replace, expire])
async def test_a_dispute_ends_with_either_side_however_it_goes_and_stands_again_when_that_is_undone(
    api: httpx.AsyncClient, tenant: Tenant, way: Way, side: int
) -> None:
    pair = await disputed(api, tenant)
    gone, left = pair[side], pair[1 - side]
    body_of(await api.patch(f"/v1/memories/{gone['id']}", json={"importance": 9}))
    before = await everything(tenant, *(one["id"] for one in pair))
    undo = await way(api, tenant, gone)
    (now, stands), conflicts = await standing(api, [gone, left])
    assert (now in {"deleted", "superseded", "expired"}, stands, conflicts) == (True, "active", 0)
    body_of(await api.post("/v1/undo", json=undo))
    if way is expire:  # it is over all the same
        return
    assert await standing(api, pair) == (["disputed", "disputed"], 1)
    assert await everything(tenant, *(one["id"] for one in pair)) == before


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
async def test_a_dispute_stands_again_once_both_sides_are_back_in_whatever_order(
    api: httpx.AsyncClient, tenant: Tenant, language: str, order: tuple[int, int]
) -> None:
    pair = await disputed(api, tenant, language)
    undo = [await delete(api, tenant, one) for one in pair]
    assert await standing(api, pair) == (["deleted", "deleted"], 0)
    body_of(await api.post("/v1/undo", json=undo[order[0]]))
    alone = ["deleted", "deleted"]
    alone[order[0]] = "active"
    assert await standing(api, pair) == (alone, 0)
    body_of(await api.post("/v1/undo", json=undo[order[1]]))
    assert await standing(api, pair) == (["disputed", "disputed"], 1)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_what_is_restored_is_disputed_as_before(api: httpx.AsyncClient, tenant: Tenant, language: str) -> None:
    pair = await disputed(api, tenant, language)
    await delete(api, tenant, pair[1])
    restored = body_of(await api.post(f"/v1/memories/{pair[1]['id']}/restore"))
    assert restored["status"] == "disputed"
    assert await standing(api, pair) == (["disputed", "disputed"], 1)
    await replace(api, tenant, pair[0])
    body_of(await api.post(f"/v1/memories/{pair[0]['id']}/restore"))
    assert await standing(api, pair) == (["disputed", "disputed"], 1), "nobody has decided between two that are there"


async def test_what_has_expired_and_is_restored_is_disputed_still(api: httpx.AsyncClient, tenant: Tenant) -> None:
    pair = await disputed(api, tenant)
    path = f"/v1/memories/{pair[1]['id']}"
    body_of(await api.patch(path, json={"expires_at": "2026-01-01T00:00:00Z"}))
    assert await every(api, "/v1/conflicts") == [], "what is over stands against nothing from that instant on"
    assert body_of(await api.post(f"{path}/restore"))["status"] == "disputed"
    assert await standing(api, pair) == (["disputed", "disputed"], 1)
    await delete(api, tenant, pair[1])
    assert await standing(api, pair) == (["active", "deleted"], 0)


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_decision_that_both_hold_can_be_undone_and_that_too(
    api: httpx.AsyncClient, tenant: Tenant, language: str, side: int
) -> None:
    pair = await disputed(api, tenant, language)
    (conflict,) = await every(api, "/v1/conflicts")
    body_of(await api.post(f"/v1/conflicts/{conflict['id']}/resolve", json={"keep": "both"}))
    assert await standing(api, pair) == (["active", "active"], 0)
    for now in ((["disputed", "disputed"], 1), (["active", "active"], 0)):
        body_of(await api.post("/v1/undo", json=await last_change(api, pair[side])))
        assert await standing(api, pair) == now


@pytest.mark.parametrize("decided", [True, False])
async def test_an_import_disputes_what_it_brings_and_what_was_there(
    api: httpx.AsyncClient, tenant: Tenant, decided: bool
) -> None:
    pair = await disputed(api, tenant)
    exported = (await api.get("/v1/users/ada/export")).content
    if decided:
        await replace(api, tenant, pair[1])
    assert (await api.delete(f"/v1/memories/{pair[1]['id']}?erase=true")).status_code == 204
    body_of(await api.post("/v1/users/ada/import", content=exported))
    assert await standing(api, pair) == (["disputed", "disputed"], 1)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_two_users_who_are_one_have_each_dispute_once(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    pair = await disputed(api, tenant, language)
    for text in PAIRS[language]:
        await add(api, text, user_id="other")
    await tenant.work()
    assert len(await every(api, "/v1/conflicts")) == 2
    body_of(await api.post("/v1/users/ada/merge", json={"from_user_id": "other"}))
    assert await standing(api, pair) == (["disputed", "disputed"], 1)
    assert {one["id"] for one in await every(api, "/v1/memories", **ADA)} == {one["id"] for one in pair}


@pytest.mark.parametrize("language", LANGUAGES)
async def test_what_is_erased_disputes_nothing(api: httpx.AsyncClient, tenant: Tenant, language: str) -> None:
    first, second = await disputed(api, tenant, language)
    assert (await api.delete(f"/v1/memories/{second['id']}?erase=true")).status_code == 204
    assert await standing(api, [first]) == (["active"], 0)


@pytest.mark.parametrize(
    ("fact", "other"), [("Ada lives in Lisbon.", "Ada lives in Porto."), ("艾达住在里斯本。", "艾达住在波尔图。")]
)
async def test_a_fact_that_is_taken_back_leaves_nothing_disputed(
    api: httpx.AsyncClient, tenant: Tenant, fact: str, other: str
) -> None:
    keyed = await add(api, fact, key="home_city", value="Lisbon")
    plain = await add(api, other)
    await dispute(tenant, plain, keyed)
    assert (await api.delete("/v1/users/ada/facts/home_city")).status_code == 204
    assert await standing(api, [keyed, plain]) == (["deleted", "active"], 0)
    body_of(await api.post("/v1/undo", json=await last_change(api, keyed)))
    assert await standing(api, [keyed, plain]) == (["disputed", "disputed"], 1)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_what_is_said_again_is_the_same_memory_and_disputed_still(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    pair = await disputed(api, tenant, language)
    again = await add(api, pair[0]["text"])
    assert (again["id"], again["status"], again["seen_count"]) == (pair[0]["id"], "disputed", 2)
    await tenant.work()
    assert await standing(api, pair) == (["disputed", "disputed"], 1)


@pytest.mark.parametrize("seed", range(6))
async def test_disputes_and_conflicts_agree_whatever_is_done_in_whatever_order(
    api: httpx.AsyncClient, tenant: Tenant, seed: int
) -> None:
    chance = random.Random(seed)
    language = LANGUAGES[seed % 2]
    pair = await disputed(api, tenant, language)
    for step in range(20):
        memory = chance.choice(pair)
        path = f"/v1/memories/{memory['id']}"
        match chance.randrange(7):
            case 0:
                await api.delete(path)
            case 1:
                await api.post(f"{path}/restore")
            case 2:
                await api.post(f"{path}/reject", json={})
            case 3:
                events = (await api.get(f"{path}/history")).json().get("results", [])
                if events:
                    await api.post("/v1/undo", json={"event_id": chance.choice(events)["id"]})
            case 4:
                for conflict in await every(api, "/v1/conflicts"):
                    keep = chance.choice(["newer", "older", "both", "neither"])
                    await api.post(f"/v1/conflicts/{conflict['id']}/resolve", json={"keep": keep})
            case 5:
                await add(api, memory["text"])
            case _:
                await tenant.work()
        marked = {one["id"] for one in await every(api, "/v1/memories", status="disputed", **ADA)}
        current = {one["id"] for one in await every(api, "/v1/memories", **ADA)}
        conflicts = await every(api, "/v1/conflicts")
        sides = {one["id"] for conflict in conflicts for one in conflict["memories"]}
        assert (marked, marked - current) == (sides, set()), (seed, step)


@pytest.mark.parametrize(
    ("texts", "against"),
    [
        (
            ("The weekly report is sent every Monday at 9.", "Every Monday at 9 the weekly report is sent."),
            "The weekly report is not sent every Monday at 9.",
        ),
        (("周报每周一上午九点发送。", "每周一上午九点发送周报。"), "周报不在每周一上午九点发送。"),
    ],
)
async def test_a_duplicate_of_a_disputed_memory_joins_it_and_the_dispute_with_it_and_back(
    api: httpx.AsyncClient, tenant: Tenant, texts: tuple[str, str], against: str
) -> None:
    first, other = await add(api, texts[0]), await add(api, against)
    await dispute(tenant, other, first)
    again = await add(api, texts[1])
    everyone = [first, other, again]
    before = await everything(tenant, *(one["id"] for one in everyone))
    assert await standing(api, everyone) == (["disputed", "disputed", "active"], 1)
    result = await consolidate(api, tenant)
    assert result["merged"] == 1
    (conflict,) = await every(api, "/v1/conflicts")
    assert {one["id"] for one in conflict["memories"]} == {again["id"], other["id"]}
    assert (await standing(api, everyone))[0] == ["superseded", "disputed", "disputed"]
    body_of(await api.post("/v1/undo", json={"undo_id": result["undo_id"]}))
    assert await standing(api, everyone) == (["disputed", "disputed", "active"], 1)
    assert await everything(tenant, *(one["id"] for one in everyone)) == before


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_file_marks_both_sides_and_the_mark_is_no_edit(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    pair = await disputed(api, tenant, language)
    text, etag = await served(api)
    marked = [f"{one['text']}{MARKS[language]}" for one in pair]
    assert entries(text) == marked
    for same in (text, text.replace(MARKS[language], "")):
        done = body_of(await send(api, same, etag))
        assert (done["added"], done["changed"], done["removed"]) == ([], [], [])
    other = {"en": "Deploys are allowed on Thursdays.", "zh": "周四可以部署。"}[language]
    done = body_of(await send(api, text.replace(pair[0]["text"], other), etag))
    assert [one["text"] for one in done["changed"]] == [other]
    assert entries((await served(api))[0]) == [pair[1]["text"], other]
    body_of(await api.post("/v1/undo", json={"undo_id": done["undo_id"]}))
    assert await served(api) == (text, etag)
    assert await standing(api, pair) == (["disputed", "disputed"], 1)


@pytest.mark.parametrize(
    "texts",
    [
        ["The API port is 8080.", "The API port is 9090.", "The API port is 7070."],
        ["接口端口是8080。", "接口端口是9090。", "接口端口是7070。"],
    ],
)
async def test_of_three_that_contradict_each_other_every_two_are_in_a_conflict(
    api: httpx.AsyncClient, tenant: Tenant, texts: list[str]
) -> None:
    body = {"memories": [{"text": text, **ADA} for text in texts]}
    three = body_of(await api.post("/v1/memories", json=body), 201)["results"]
    await tenant.work()
    assert await standing(api, three) == (["disputed"] * 3, 3)
    await delete(api, tenant, three[0])
    assert await standing(api, three) == (["deleted", "disputed", "disputed"], 1)


@pytest.mark.parametrize(("language", "twin"), [("en", "Deploys are allowed on Fridays"), ("zh", "周五可以部署")])
async def test_what_says_the_same_in_other_words_is_disputed_too(
    api: httpx.AsyncClient, tenant: Tenant, language: str, twin: str
) -> None:
    pair = await disputed(api, tenant, language)
    again = await add(api, twin)
    await tenant.work()
    assert await standing(api, [*pair, again]) == (["disputed"] * 3, 2)
    await delete(api, tenant, pair[0])
    assert await standing(api, [pair[1], again]) == (["disputed"] * 2, 1)


async def test_an_import_that_stops_or_comes_in_parts_leaves_nothing_torn(
    api: httpx.AsyncClient, tenant: Tenant
) -> None:
    pair = await disputed(api, tenant)
    lines = (await api.get("/v1/users/ada/export")).text.splitlines()
    first = next(place for place, line in enumerate(lines) if '"memory_conflicts"' in line)
    for one in pair:
        assert (await api.delete(f"/v1/memories/{one['id']}?erase=true")).status_code == 204
    broken = "\n".join([*lines[:first], "{bad"])
    assert (await api.post("/v1/users/ada/import", content=broken)).status_code == 422
    assert await standing(api, pair) == (["active", "active"], 0)
    body_of(await api.post("/v1/users/ada/import", content="\n".join([lines[0], *lines[first:]])))
    assert await standing(api, pair) == (["disputed", "disputed"], 1)


async def test_a_side_that_a_change_lets_expire_leaves_the_other_undisputed_at_once(
    api: httpx.AsyncClient, tenant: Tenant
) -> None:
    pair = await disputed(api, tenant)
    body_of(await api.patch(f"/v1/memories/{pair[0]['id']}", json={"expires_at": "2026-01-01T00:00:00Z"}))
    assert body_of(await api.get(f"/v1/memories/{pair[1]['id']}"))["status"] == "active"


@pytest.mark.parametrize(
    ("language", "marked"),
    [
        ("en", "- (disputed) {}"),
        ("en", "- {} (Disputed)"),
        ("en", "- {}(disputed) (disputed)"),
        ("zh", "- {}(有争议)"),
        ("zh", "- （有争议）{}"),
    ],
)
async def test_a_mark_that_stands_elsewhere_or_otherwise_is_no_edit_either(
    api: httpx.AsyncClient, tenant: Tenant, language: str, marked: str
) -> None:
    await disputed(api, tenant, language)
    await add(api, "The red cat sleeps on the sofa.")
    text, etag = await served(api)
    plain = [line.removeprefix("- ").removesuffix(MARKS[language]) for line in text.splitlines() if line[:2] == "- "]
    edited = "\n".join(
        marked.format(line.removeprefix("- ").removesuffix(MARKS[language])) if line[:2] == "- " else line
        for line in text.splitlines()
    )
    assert len(plain) == 3
    done = body_of(await send(api, edited, etag))
    assert (done["added"], done["changed"], done["removed"]) == ([], [], [])


async def dispute(tenant: Tenant, newer: Memory, older: Memory) -> None:
    """Mark two memories as a job does that finds that they contradict each other."""
    async with tenant.services.uow.begin_tenant(tenant.id) as tx:
        for one in (newer, older):
            await tx.memories.change(UUID(one["id"]), {"status": "disputed"})
        await tx.conflicts.open(UUID(newer["id"]), [UUID(older["id"])], "contradict", clock.now())
