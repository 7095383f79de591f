"""What nobody uses is archived, what is past its time is gone, and what was done can be undone to the last column."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest
import time_machine

from app.core import clock
from tests.conftest import Tenant
from tests.routers.calls import add, body_of, every, problem_of, search, texts_found

ADA = {"user_id": "ada"}
UNTOUCHED = {"version", "updated_at"}


@contextmanager
def later(days: float) -> Iterator[None]:
    """So many days from now."""
    with time_machine.travel(clock.now() + timedelta(days=days), tick=True):
        yield


async def maintain(api: httpx.AsyncClient, tenant: Tenant, *policies: str) -> dict[str, Any]:
    """Apply rules of forgetting to Ada's memories; the job's result."""
    body = {"policies": list(policies)} if policies else {}
    asked = body_of(await api.post("/v1/users/ada/maintain", json=body), 202)
    await tenant.work()
    job = body_of(await api.get(f"/v1/jobs/{asked['job_id']}"))
    assert job["status"] == "succeeded", job
    assert asked["undo_id"] == asked["job_id"] == job["result"]["undo_id"]
    result: dict[str, Any] = job["result"]
    return result


async def rehearse(api: httpx.AsyncClient, *policies: str) -> dict[str, Any]:
    asked = {"policies": list(policies), "dry_run": True} if policies else {"dry_run": True}
    told: dict[str, Any] = body_of(await api.post("/v1/users/ada/maintain", json=asked))
    return told


async def set_policy(api: httpx.AsyncClient, **settings: Any) -> None:
    body_of(await api.patch("/v1/admin/settings", json=settings))


async def status_of(api: httpx.AsyncClient, memory: dict[str, Any]) -> str:
    status: str = body_of(await api.get(f"/v1/memories/{memory['id']}"))["status"]
    return status


async def everything(tenant: Tenant, *ids: str) -> dict[str, Any]:
    """All that there is of memories: columns, sources, words, vectors."""
    wanted = [UUID(one) for one in ids]
    async with tenant.services.uow.begin_tenant(tenant.id) as tx:
        rows = await tx.memories.by_ids(wanted)
        sources = await tx.memories.sources(wanted)
        vectors = await tx.vectors.of_memories((await tenant.services.embedder.record()).id, wanted)
    places = sorted(str({name: row[name] for name in ("memory_id", "session_id", "seqs", "quote")}) for row in sources)
    columns = {row["id"]: {name: row[name] for name in row if name not in UNTOUCHED} for row in rows}
    return {
        "columns": columns,
        "sources": places,
        "vectors": {name: vector.tolist() for name, vector in vectors.items()},
    }


LITTLE = [
    ("Ada saw a heron at the pond.", "The pond had a heron?", "heron"),
    ("艾达在池塘边看见了一只苍鹭。", "池塘边有苍鹭吗?", "苍鹭"),
]


@pytest.mark.parametrize(("text", "question", "word"), LITTLE)
async def test_what_nobody_uses_is_archived_and_found_only_on_demand(
    api: httpx.AsyncClient, tenant: Tenant, text: str, question: str, word: str
) -> None:
    memory = await add(api, text, kind="episodic")
    assert (await rehearse(api))["changed"] == 0
    with later(100):
        told = await rehearse(api)
        assert [(one["memory_id"], one["policy"], one["action"]) for one in told["changes"]] == [
            (memory["id"], "decay", "archive")
        ]
        assert (told["changes"][0]["before"], told["changes"][0]["after"]) == (
            {"status": "active"},
            {"status": "archived"},
        )
        assert 0 < told["changes"][0]["strength"] < 0.25
        assert await status_of(api, memory) == "active"
        assert (await maintain(api, tenant))["archived"] == 1
        assert await texts_found(api, question, **ADA) == []
        assert await every(api, "/v1/memories") == []
        assert [one["id"] for one in await every(api, "/v1/memories", status="archived")] == [memory["id"]]
        (hit,) = (await search(api, word, include_archived=True, **ADA))["results"]
        assert (hit["id"], hit["archived"]) == (memory["id"], True)
        assert (await maintain(api, tenant)).get("archived", 0) == 0


@pytest.mark.parametrize(("text", "question", "word"), LITTLE)
async def test_maintenance_is_undone_but_for_what_came_to_use_again(
    api: httpx.AsyncClient, tenant: Tenant, text: str, question: str, word: str
) -> None:
    revived = await add(api, text, kind="episodic")
    others = [await add(api, one, kind="episodic") for one in ("The printer was out of toner.", "打印机没有墨粉了。")]
    with later(100):
        job = await maintain(api, tenant)
        assert job["archived"] == 3
        await search(api, question, include_archived=True, **ADA)
        await tenant.work()
        assert [await status_of(api, one) for one in (revived, *others)] == ["active", "archived", "archived"]
        undone = body_of(await api.post("/v1/undo", json={"job_id": job["undo_id"]}))
        assert undone["left_ids"] == [revived["id"]]
        assert sorted(undone["memory_ids"]) == sorted(one["id"] for one in others)
        assert [await status_of(api, one) for one in (revived, *others)] == ["active"] * 3
        assert "undone" not in {event["action"] for event in await history_of(api, revived)}
        problem_of(await api.post("/v1/undo", json={"job_id": job["undo_id"]}), 409, "later_change")


async def history_of(api: httpx.AsyncClient, memory: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = body_of(await api.get(f"/v1/memories/{memory['id']}/history"))["results"]
    return found


async def test_a_hit_revives_what_was_archived(api: httpx.AsyncClient, tenant: Tenant) -> None:
    memory = await add(api, "Ada saw a heron at the pond.", kind="episodic")
    other = await add(api, "The printer was out of toner on Monday.", kind="episodic")
    with later(100):
        await maintain(api, tenant)
        await search(api, "Where did Ada see a heron?", include_archived=True, explain=True, **ADA)
        await tenant.work()
        assert await status_of(api, memory) == "archived"
        await search(api, "Where did Ada see a heron?", include_archived=True, **ADA)
        await tenant.work()
        assert [await status_of(api, one) for one in (memory, other)] == ["active", "archived"]
        assert await texts_found(api, "heron", **ADA) == [memory["text"]]
        assert (await maintain(api, tenant)).get("archived", 0) == 0
        (job,) = [one for one in await every(api, "/v1/jobs") if one["kind"] == "revive"]
        body_of(await api.post("/v1/undo", json={"undo_id": job["id"]}))
        assert await status_of(api, memory) == "archived"


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Ada planted the first tomatoes this morning.", "What is my favourite colour?"),
        ("艾达今天早上种了第一批西红柿。", "我最喜欢什么颜色？"),
        ("Ada watched a film at the Odeon with her sister.", "What is the name of my sister's school?"),
        ("艾达的电费退了一部分。", "关于预算我说了什么？"),
    ],
)
async def test_the_best_of_hits_that_do_not_answer_is_not_revived(
    api: httpx.AsyncClient, tenant: Tenant, text: str, question: str
) -> None:
    memory = await add(api, text, kind="episodic")
    with later(100):
        await maintain(api, tenant)
        assert (await search(api, question, include_archived=True, **ADA))["results"] != []
        await tenant.work()
        assert await status_of(api, memory) == "archived"


@pytest.mark.parametrize("way", ["restore", "feedback"])
async def test_what_was_archived_is_revived_by_hand(api: httpx.AsyncClient, tenant: Tenant, way: str) -> None:
    memory = await add(api, "Ada saw a heron at the pond.", kind="episodic")
    with later(100):
        await maintain(api, tenant)
        said = None if way == "restore" else {"verdict": "used"}
        again = body_of(await api.post(f"/v1/memories/{memory['id']}/{way}", json=said))
        assert (again["status"], again["archived_at"]) == ("active", None)
        assert await texts_found(api, "heron", **ADA) == [memory["text"]]
        assert (await maintain(api, tenant)).get("archived", 0) == 0


async def test_a_memory_that_is_used_once_a_year_is_kept(api: httpx.AsyncClient, tenant: Tenant) -> None:
    taxes = await add(api, "The tax form is due on 31 May.", kind="episodic", importance=2)
    noise = await add(api, "It rained at lunch.", kind="episodic", importance=2)
    with later(5):
        await search(api, "When is the tax form due?", top_k=1, **ADA)
        await tenant.services.accesses.flush()
    with later(370):
        await maintain(api, tenant)
        assert [await status_of(api, one) for one in (taxes, noise)] == ["active", "archived"]
        await search(api, "When is the tax form due?", top_k=1, **ADA)
        await tenant.services.accesses.flush()
    with later(740):
        await maintain(api, tenant)
        assert await status_of(api, taxes) == "active"


async def test_browsing_and_explaining_are_no_use(api: httpx.AsyncClient, tenant: Tenant) -> None:
    memory = await add(api, "It rained at lunch.", kind="episodic")
    with later(80):
        await every(api, "/v1/memories")
        await api.get(f"/v1/memories/{memory['id']}")
        await search(api, "rain at lunch", explain=True, **ADA)
        await search(api, "rain at lunch", as_of=clock.now().isoformat(), **ADA)
        await tenant.services.accesses.flush()
    with later(100):
        await maintain(api, tenant)
        assert await status_of(api, memory) == "archived"


async def test_what_is_served_and_ignored_again_and_again_fades(api: httpx.AsyncClient, tenant: Tenant) -> None:
    kept, ignored = [
        await add(api, text, kind="episodic") for text in ("The tea shop is shut on Mondays.", "The tea cup was blue.")
    ]
    with later(1):
        await search(api, "tea", **ADA)
        await tenant.services.accesses.flush()
        body_of(await api.post(f"/v1/memories/{ignored['id']}/feedback", json={"verdict": "ignored"}))
    with later(200):
        await maintain(api, tenant)
        assert [await status_of(api, one) for one in (kept, ignored)] == ["active", "archived"]


@pytest.mark.parametrize(
    "fields",
    [
        {"pinned": True},
        {"category": "constraint", "pinned": False},
        {"key": "user.city", "value": "Oslo", "kind": "semantic"},
        {"kind": "procedural"},
    ],
)
async def test_pinned_memories_constraints_facts_and_lessons_never_fade(
    api: httpx.AsyncClient, tenant: Tenant, fields: dict[str, Any]
) -> None:
    memory = await add(api, "Never fly to 奥斯陆.", **{"kind": "episodic", "importance": 1, **fields})
    await set_policy(api, capacity=1)
    await add(api, "One more.", kind="episodic", pinned=True)
    with later(3650):
        await maintain(api, tenant, "decay", "capacity")
        assert await status_of(api, memory) == "active"


async def test_a_tenant_sets_how_fast_memories_fade_and_whether(api: httpx.AsyncClient, tenant: Tenant) -> None:
    await add(api, "It rained at lunch.", kind="episodic")
    await set_policy(api, half_life_days={"episodic": 1})
    with later(4):
        assert (await rehearse(api, "decay"))["changed"] == 1
        await set_policy(api, decay="off")
        assert (await rehearse(api, "decay"))["changed"] == 0
        await set_policy(api, decay="on", archive_below=0.01)
        assert (await rehearse(api, "decay"))["changed"] == 0


async def test_above_its_capacity_an_owner_keeps_what_is_strongest(api: httpx.AsyncClient, tenant: Tenant) -> None:
    kept = [await add(api, f"Kept number {n}.", importance=9) for n in range(3)]
    weak = [await add(api, f"弱的第 {n} 条。", importance=n) for n in (1, 2)]
    await set_policy(api, capacity=4)
    told = await rehearse(api, "capacity")
    with later(1):
        assert [one["memory_id"] for one in told["changes"]] == [weak[0]["id"]]
        assert (await maintain(api, tenant, "capacity"))["archived"] == 1
        assert {one["id"] for one in await every(api, "/v1/memories")} == {one["id"] for one in (*kept, weak[1])}


async def test_what_was_archived_long_ago_is_deleted_only_if_the_tenant_says_so(
    api: httpx.AsyncClient, tenant: Tenant
) -> None:
    memory = await add(api, "It rained at lunch.", kind="episodic")
    with later(100):
        await maintain(api, tenant)
    with later(1000):
        assert (await maintain(api, tenant))["changed"] == 0
        await set_policy(api, archived_kept_days=365)
        (planned,) = (await rehearse(api, "retention"))["changes"]
        assert (planned["action"], planned["after"]) == ("delete", {"status": "deleted"})
        assert (await maintain(api, tenant))["deleted"] == 1
        problem_of(await api.get(f"/v1/memories/{memory['id']}"), 404)
        body_of(await api.post(f"/v1/memories/{memory['id']}/restore"))


EPISODES = {
    "en": [
        "Ada's bike had a flat tyre on the way to work.",
        "Ada's bike chain came off near the bridge.",
        "The brakes of Ada's bike were squeaking again.",
        "Ada left her bike at the repair shop.",
    ],
    "zh": [
        "艾达的自行车在上班路上爆了胎。",
        "艾达的自行车链条在桥边掉了。",
        "艾达的自行车刹车又在响。",
        "艾达把自行车送去修理店。",
    ],
}


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_old_episodes_of_one_topic_are_condensed_and_undone_exactly(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    texts = EPISODES[language]
    body = {"messages": [{"role": "user", "content": text} for text in texts]}
    body_of(await api.post("/v1/sessions/s/messages", json=body), 201)
    memories = [
        await add(api, text, kind="episodic", sources=[{"session_id": "s", "seqs": [seq], "quote": text}])
        for seq, text in enumerate(texts, 1)
    ]
    alone = await add(api, "The printer was out of toner.", kind="episodic")
    await tenant.work()
    named = [one["id"] for one in (*memories, alone)]
    before = await everything(tenant, *named)
    with later(100):
        (planned,) = (await rehearse(api))["digests"]
        assert set(planned["memory_ids"]) == {one["id"] for one in memories}
        result = await maintain(api, tenant)
        assert (result["archived"], result["digests"]) == (5, 1)
        (digest,) = await every(api, "/v1/memories")
        assert digest["source"] == "derived"
        assert len(digest["text"]) < 400
        assert sum(text.rstrip(".。") in digest["text"] for text in texts) >= 2
        assert {source["seqs"][0] for source in digest["sources"]} == {1, 2, 3, 4}
        assert digest["text"] in await texts_found(api, texts[0], **ADA)
        body_of(await api.post("/v1/undo", json={"undo_id": result["undo_id"]}))
        assert await everything(tenant, *named) == before
        assert {one["id"] for one in await every(api, "/v1/memories")} == set(named)
        events = body_of(await api.get(f"/v1/memories/{named[0]}/history"))["results"]
        assert [event["action"] for event in events] == ["added", "archived", "undone"]
        assert events[1]["undo_id"] == result["undo_id"]
        problem_of(await api.post("/v1/undo", json={"job_id": result["undo_id"]}), 409)


async def test_important_facts_that_nobody_mentioned_for_long_are_to_be_confirmed(
    api: httpx.AsyncClient, tenant: Tenant
) -> None:
    job = await add(api, "Ada works as a nurse.", key="user.job", value="nurse", importance=8, kind="semantic")
    party = await add(api, "Ada's wedding was in Rome.", category="event", importance=9, kind="semantic")
    small = await add(api, "Ada owns a blue cup.", importance=3, kind="semantic")
    with later(200):
        assert [one["memory_id"] for one in (await rehearse(api, "verify"))["changes"]] == [job["id"]]
        assert (await maintain(api, tenant, "verify"))["to_confirm"] == 1
        marks = [
            body_of(await api.get(f"/v1/memories/{one['id']}"))["needs_confirmation"] for one in (job, party, small)
        ]
        assert marks == [True, False, False]
        body_of(await api.post(f"/v1/memories/{job['id']}/confirm", json={}))
        assert not body_of(await api.get(f"/v1/memories/{job['id']}"))["needs_confirmation"]
        assert (await maintain(api, tenant, "verify"))["changed"] == 0


@pytest.mark.parametrize(
    ("text", "question", "heading"),
    [
        ("Ada works as a nurse in Bergen.", "Where does Ada work as a nurse?", "to be confirmed"),
        ("艾达在卑尔根当护士。", "艾达在哪里当护士?", "需要确认"),
    ],
)
async def test_a_context_says_what_is_to_be_confirmed(
    api: httpx.AsyncClient, tenant: Tenant, text: str, question: str, heading: str
) -> None:
    memory = await add(api, text, kind="semantic")
    body_of(await api.post("/v1/sessions", json={"id": "s", **ADA}), 201)
    body_of(await api.post("/v1/sessions/s/messages", json={"role": "user", "content": question}), 201)

    async def sections() -> dict[str, Any]:
        made = body_of(await api.post("/v1/sessions/s/context", json={}))
        return {one["name"]: one for one in made["sections"]} | {"prefetched": made["prefetched"]}

    first = await sections()
    assert ([one["memory_id"] for one in first["facts"]["items"]], first["confirm"]["items"]) == ([memory["id"]], [])
    body_of(await api.post(f"/v1/memories/{memory['id']}/feedback", json={"verdict": "wrong"}))
    for prefetched in (False, True):
        if prefetched:
            assert body_of(await api.post("/v1/sessions/s/context/prefetch", json={}))["prepared"]
        asked = await sections()
        assert asked["prefetched"] is prefetched
        assert [one["memory_id"] for one in asked["confirm"]["items"]] == [memory["id"]]
        assert heading in asked["confirm"]["text"]
        assert "1" in asked["status"]["text"]
        assert asked["facts"]["items"] == []
    body_of(await api.post(f"/v1/memories/{memory['id']}/confirm", json={}))
    assert (await sections())["confirm"]["items"] == []


async def test_saying_a_doubted_fact_again_settles_it(api: httpx.AsyncClient, tenant: Tenant) -> None:
    memory = await add(api, "Ada works as a nurse.", importance=8)
    with later(200):
        await maintain(api, tenant, "verify")
        assert (await add(api, "Ada works as a nurse.", importance=8))["id"] == memory["id"]
        assert not body_of(await api.get(f"/v1/memories/{memory['id']}"))["needs_confirmation"]


async def test_kinds_have_lives_of_their_own(api: httpx.AsyncClient) -> None:
    await set_policy(api, default_memory_ttl=1000, memory_ttls={"episodic": 60})
    lives = {}
    for kind in ("episodic", "semantic"):
        memory = await add(api, f"{kind} one", kind=kind)
        start, end = (datetime.fromisoformat(memory[name]) for name in ("created_at", "expires_at"))
        lives[kind] = round((end - start).total_seconds())
    own = await add(api, "its own", kind="episodic", ttl=5)
    assert lives == {"episodic": 60, "semantic": 1000}
    assert own["expires_at"] < (await add(api, "another", kind="episodic"))["expires_at"]


async def test_health_tells_junk_noise_and_what_was_never_used(api: httpx.AsyncClient, tenant: Tenant) -> None:
    assert body_of(await api.get("/v1/admin/memory-health"))["pollution"] is None
    used, ignored, wrong, junk, *_ = [await add(api, f"数字 number {n}.", kind="episodic") for n in range(5)]
    for memory, verdict in ((used, "used"), (used, "used"), (ignored, "ignored"), (wrong, "wrong")):
        body_of(await api.post(f"/v1/memories/{memory['id']}/feedback", json={"verdict": verdict}))
    body_of(await api.post(f"/v1/memories/{junk['id']}/reject", json={}))
    for told in (
        body_of(await api.get("/v1/admin/memory-health")),
        body_of(await api.get("/v1/users/ada/health")),
    ):
        assert (told["written"], told["current"], told["never_used"]) == (5, 4, 3)
        assert (told["pollution"], told["noise"], told["wrong"]) == (0.4, 0.25, 0.25)
        assert told["junk_rate"] == 0.5
        assert (told["retrieval_hits"], told["served"], told["to_confirm"]) == (2, 1, 0)
        assert (told["contradictions"], told["duplicates"]) == (0, 0)
    problem_of(await api.get("/v1/users/nobody/health"), 404)
    member = await tenant.client("member", ["ada"])
    problem_of(await member.get("/v1/admin/memory-health"), 403)
    body_of(await member.get("/v1/users/ada/health"))


async def test_a_key_maintains_only_its_own_users(api: httpx.AsyncClient, tenant: Tenant) -> None:
    await add(api, "It rained at lunch.")
    await add(api, "It rained.", user_id="bob")
    bob = await tenant.client("member", ["bob"])
    for path in ("maintain", "consolidate"):
        for dry_run in (True, False):
            problem_of(await bob.post(f"/v1/users/ada/{path}", json={"dry_run": dry_run}), 404)
            problem_of(await api.post(f"/v1/users/nobody/{path}", json={"dry_run": dry_run}), 404)
    body_of(await bob.post("/v1/users/bob/maintain", json={}), 202)
    reader = await tenant.client("reader")
    problem_of(await reader.post("/v1/users/ada/maintain", json={}), 403)
