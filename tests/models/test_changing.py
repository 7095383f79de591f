"""Another embedding model without downtime: built beside the one that serves, compared, switched to, back, retired."""

import asyncio

from app.workers.runner import JobRunner
from tests.conftest import Tenant
from tests.doubles import openai_server as double
from tests.models.conftest import NEW, OLD, SAID, House, activate, built, model_named, tell

SEARCH = "/v1/memories/search"


async def test_a_registered_model_gets_vectors_of_everything_and_its_index(house: House) -> None:
    async with house.process() as tenant:
        api = await tenant.client("operator")
        await tell(api)
        await tenant.work()
        listed = (await api.get("/v1/admin/embedding-models")).json()
        assert [one["name"] for one in listed["results"]] == [OLD]
        assert listed["unregistered"] == [NEW]
        model_id = await built(tenant, api)
        assert await house.without(NEW) == await house.without(OLD) == 0
        found = (await api.get(f"/v1/admin/embedding-models/{model_id}")).json()
        texts = 3 * len(SAID)
        assert (found["dimension"], found["progress"]["done"], found["progress"]["total"]) == (48, texts, texts)
        assert {f"hnsw_memory_vectors_{model_id}", f"hnsw_message_vectors_{model_id}"} <= await house.indexes()
        assert (await model_named(api, OLD))["status"] == "active"


async def test_what_is_written_during_the_build_has_both_vectors_at_once(house: House) -> None:
    async with house.process() as tenant:
        api = await tenant.client("operator")
        await api.post("/v1/admin/embedding-models", json={"name": NEW})
        told = await tell(api)
        changed = await api.patch(f"/v1/memories/{told[0]}", json={"text": "She lives in Porto now."})
        assert changed.status_code == 200
        async with tenant.services.uow.begin_tenant(tenant.id) as tx:
            (waiting,) = await tx.jobs.page({"state": "queued", "kind": "embed_messages"}, None, 10)
        await JobRunner(tenant.services).run(tenant.id, waiting["id"])
        assert (await model_named(api, NEW))["progress"]["done"] == 0
        assert await house.without(NEW) == await house.without(OLD) == 0


async def test_a_switch_reaches_other_processes_and_goes_back(house: House) -> None:
    async with house.process() as tenant, house.process(house.settings(first=NEW)) as other:
        api, elsewhere = await tenant.client("operator"), await other.client("operator")
        told = await tell(api)
        await tenant.work()
        question = {"query": SAID[4][1], "user_id": "ada", "top_k": 1, "legs": {"lexical": 0}, "explain": True}
        before = (await elsewhere.post(SEARCH, json=question)).json()
        assert before["explanation"]["embedding_model"] == OLD
        model_id = await built(tenant, api)
        assert (await activate(api, model_id)).json()["status"] == "active"
        await asyncio.sleep(other.services.embedder.settled_after)
        after = (await elsewhere.post(SEARCH, json=question)).json()
        assert after["explanation"]["embedding_model"] == NEW
        assert [hit["id"] for hit in after["results"]] == [told[4]]
        assert (await model_named(api, OLD))["status"] == "standby"
        late = await elsewhere.post("/v1/memories", json={"text": "他养了一只猫。", "user_id": "ada"})
        assert late.status_code == 201
        await tenant.work()
        assert await house.without(NEW) == await house.without(OLD) == 0
        assert (await activate(elsewhere, (await model_named(api, OLD))["id"])).status_code == 200
        await asyncio.sleep(tenant.services.embedder.settled_after)
        back = (await api.post(SEARCH, json=question)).json()
        assert (back["explanation"]["embedding_model"], back["degraded"]) == (OLD, [])


async def test_a_process_that_cannot_load_the_model_goes_on_by_words(house: House) -> None:
    async with house.process() as tenant, house.process(house.settings(also=False)) as poor:
        api, words = await tenant.client("operator"), await poor.client("operator")
        told = await tell(api)
        await tenant.work()
        assert (await activate(api, await built(tenant, api))).status_code == 200
        await asyncio.sleep(poor.services.embedder.settled_after)
        await words.get("/readyz")
        found = await words.post(SEARCH, json={"query": "dog Bruno", "user_id": "ada", "top_k": 1})
        assert found.status_code == 200
        assert [hit["id"] for hit in found.json()["results"]] == [told[2]]
        assert found.json()["degraded"] == ["embedding"]
        written = await words.post("/v1/memories", json={"text": "她的猫叫小白。", "user_id": "ada"})
        assert written.status_code == 201
        ready = await words.get("/readyz")
        assert ready.status_code == 200
        assert NEW in ready.json()["checks"]["embedder"]
        await tenant.work()
        assert await house.without(NEW) == 0


async def test_the_old_host_may_be_gone_before_the_switch(house: House) -> None:
    async with house.process() as tenant:
        api = await tenant.client("operator")
        told = await tell(api)
        await tenant.work()
        model_id = await built(tenant, api)
        house.old.otherwise = double.DOWN
        question = {"query": "花生", "user_id": "ada", "top_k": 1}
        found = (await api.post(SEARCH, json=question)).json()
        assert found["degraded"] == ["embedding"]
        assert (await activate(api, model_id)).status_code == 200
        found = (await api.post(SEARCH, json=question)).json()
        assert ([hit["id"] for hit in found["results"]], found["degraded"]) == ([told[4]], [])
        assert (await api.post("/v1/memories", json={"text": "She works at night.", "user_id": "ada"})).json()["id"]
        await tenant.work()
        assert await house.without(NEW) == 0


async def test_a_host_that_is_down_holds_the_build_up_and_no_write(house: House) -> None:
    async with house.process() as tenant:
        api = await tenant.client("operator")
        await tell(api)
        await tenant.work()
        await api.post("/v1/admin/embedding-models", json={"name": NEW})
        house.new.otherwise = double.DOWN
        written = await api.post("/v1/memories", json={"text": "They drink coffee.", "user_id": "ada"})
        assert written.status_code == 201
        await run_once(tenant, "reembed")
        found = await model_named(api, NEW)
        assert found["status"] == "building"
        assert "503" in found["progress"]["waits_for"]
        house.new.otherwise = double.ORDINARY
        await tenant.work()
        assert (await model_named(api, NEW))["status"] == "standby"
        assert await house.without(NEW) == await house.without(OLD) == 0


async def test_an_incomplete_model_does_not_serve_until_it_is_built_again(house: House) -> None:
    async with house.process() as tenant:
        api = await tenant.client("operator")
        await tell(api)
        await tenant.work()
        model_id = await built(tenant, api)
        house.new.otherwise = double.DOWN
        await api.post("/v1/memories", json={"text": "They drink coffee.", "user_id": "ada"})
        house.new.otherwise = double.ORDINARY
        refused = await activate(api, model_id)
        assert (refused.status_code, refused.json()["code"], refused.json()["missing"]) == (409, "model_incomplete", 1)
        again = await api.post(f"/v1/admin/embedding-models/{model_id}/build")
        assert again.json()["status"] == "building"
        assert (await activate(api, model_id)).json()["code"] == "model_incomplete"
        await tenant.work()
        assert (await activate(api, model_id)).status_code == 200


async def test_a_model_that_does_not_answer_does_not_serve(house: House) -> None:
    async with house.process() as tenant:
        api = await tenant.client("operator")
        model_id = await built(tenant, api)
        house.new.otherwise = double.DOWN
        refused = await activate(api, model_id)
        assert (refused.status_code, refused.json()["code"]) == (503, "model_unavailable")
        assert (await model_named(api, OLD))["status"] == "active"


async def test_a_retired_model_leaves_no_vector_and_no_index(house: House) -> None:
    async with house.process() as tenant:
        api = await tenant.client("operator")
        await tell(api)
        await tenant.work()
        model_id = await built(tenant, api)
        old_id = (await model_named(api, OLD))["id"]
        serves = await api.post(f"/v1/admin/embedding-models/{old_id}/retire")
        assert (serves.status_code, serves.json()["code"]) == (409, "model_serves")
        await activate(api, model_id)
        retired = await api.post(f"/v1/admin/embedding-models/{old_id}/retire")
        assert (retired.status_code, retired.json()["status"]) == (202, "retired")
        await tenant.work()
        assert await house.vectors(OLD) == 0
        assert await house.vectors(NEW) == 3 * len(SAID)
        assert not any(name.endswith(f"_{old_id}") for name in await house.indexes())
        assert (await activate(api, old_id)).json()["code"] == "model_retired"
        found = (await api.post(SEARCH, json={"query": SAID[0][1], "user_id": "ada", "top_k": 1})).json()
        assert found["degraded"] == []
        again = await built(tenant, api, OLD)
        assert again == old_id
        assert await house.without(OLD) == 0


async def test_the_report_says_what_would_change_and_counts_nothing(house: House) -> None:
    async with house.process() as tenant:
        api = await tenant.client("operator")
        told = await tell(api)
        many = [{"text": f"备忘录第 {number} 条。", "user_id": "ada"} for number in range(12)]
        assert (await api.post("/v1/memories", json={"memories": many})).status_code == 201
        await tenant.work()
        model_id = await built(tenant, api)
        url = f"/v1/admin/embedding-models/{model_id}/compare"
        given = await api.post(url, json={"queries": [{"query": SAID[2][1], "user_id": "ada"}]})
        report = given.json()
        assert (report["active"], report["other"], report["queries"], report["degraded"]) == (OLD, NEW, 1, [])
        assert 0 <= report["overlap"] < 1
        (one,) = report["results"]
        assert len(one["only_active"]) == len(one["only_other"]) == round(10 * (1 - one["overlap"]))
        recent = (await api.post(url, json={"limit": 4})).json()
        assert {one["query"] for one in recent["results"]} <= {question for _, question in SAID}
        assert recent["queries"] == 4
        same = (
            await api.post(f"/v1/admin/embedding-models/{(await model_named(api, OLD))['id']}/compare", json={})
        ).json()
        assert same["overlap"] == same["overlap_as_served"] == 1.0
        await tenant.services.accesses.flush()
        memory = (await api.get(f"/v1/memories/{told[2]}")).json()
        assert memory["access_count"] == 0


async def test_only_operators_change_the_model_and_admins_look(house: House) -> None:
    async with house.process() as tenant:
        operator, admin, member = [await tenant.client(role) for role in ("operator", "admin", "member")]
        model_id = await built(tenant, operator)
        base = "/v1/admin/embedding-models"
        assert (await admin.get(base)).status_code == (await admin.get(f"{base}/{model_id}")).status_code == 200
        assert (await member.get(base)).status_code == 403
        assert (await admin.post(base, json={"name": NEW})).status_code == 403
        for action, body in (("build", None), ("activate", {}), ("retire", None)):
            assert (await admin.post(f"{base}/{model_id}/{action}", json=body)).status_code == 403, action
        assert (await operator.get(f"{base}/999")).status_code == 404
        unknown = await operator.post(base, json={"name": "nobody's"})
        assert (unknown.status_code, unknown.json()["code"]) == (422, "model_not_loadable")
        twice = await operator.post(base, json={"name": NEW})
        assert (twice.status_code, twice.json()["code"]) == (409, "model_registered")


async def run_once(tenant: Tenant, kind: str) -> None:
    """Run the job of a kind that waits."""
    async with tenant.services.uow.begin_tenant(tenant.id) as tx:
        (job,) = await tx.jobs.page({"state": "queued", "kind": kind}, None, 10)
    await JobRunner(tenant.services).run(tenant.id, job["id"])
