"""Erasing a user: nothing is left, nobody comes back, and the receipt says what went."""

import asyncio
import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import pytest

from app.core import clock
from app.db.base import tenant_tables
from app.db.embedded.server import EmbeddedServer
from app.repositories.erasing import REACHED
from tests.conftest import Tenant
from tests.routers.calls import add, body_of, every, open_session, problem_of, say

KEPT_TABLES = {
    # No content: pseudonyms and numbers.
    *("audit_log", "audit_heads", "erasures"),
    # Nobody's: what the tenant has counted, and what it calls things.
    *("language_model_usage", "tenant_usage", "usage_changes", "memory_keys", "key_aliases"),
}

DOCUMENT = json.loads((Path(__file__).parents[2] / "openapi" / "openapi.json").read_text("utf-8"))

WITHOUT_TEXT = {
    # They take ids, numbers, or words that are looked for and kept nowhere.
    *("create_api_key", "revoke_api_key", "change_tenant_settings", "create_tenant", "put_key", "delete_key"),
    "change_quotas",
    *("delete_block", "copy_thread", "delete_runs", "delete_thread", "get_checkpoint", "list_checkpoints"),
    *("prune_threads", "cancel_job", "retry_job", "get_memories", "replay_search", "delete_memory", "restore_memory"),
    *("match_procedures", "delete_procedure", "delete_session", "prune_checkpoints", "put_checkpoint_settings"),
    *("restore_checkpoint", "close_session", "clear_messages", "pop_message", "redact_message", "reopen_session"),
    *("restore_state", "fold_summary", "undo", "delete_fact", "merge_users", "erase_user", "search_messages"),
    *("import_user", "import_tenant", "resolve_conflict", "change_api_key", "rotate_api_key"),
    *("maintain_user", "consolidate_user", "register_embedding_model", "build_embedding_model"),
    *("activate_embedding_model", "retire_embedding_model", "compare_embedding_models"),
    *("reflect_on_user", "dream_of_user", "apply_dream", "reject_dream"),
    # What their texts become are memories, and dreams, which quote memories: both go with their user.
    *("put_memory_file", "edit_dream"),
}


def stem(word: str) -> str:
    """What of a word is ASCII: it looks the same in JSON, and headers take nothing else."""
    return word.removesuffix("金丝雀")


class Planting:
    """Gives words out and remembers them; each stands for a text that somebody wrote."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.mark = uuid4().hex[:8]
        self.operations: set[str] = set()

    def word(self) -> str:
        self.words.append(f"zqx{self.mark}{len(self.words):03}planted金丝雀")
        return self.words[-1]


async def plant(api: httpx.AsyncClient, planting: Planting) -> None:  # noqa: PLR0915 - one call for each route
    word = planting.word

    async def sent(operation: str, path: str, body: Any = None, key: str | None = None) -> Any:
        planting.operations.add(operation)
        method = next(
            verb
            for operations in DOCUMENT["paths"].values()
            for verb, one in operations.items()
            if one["operationId"] == operation
        )
        headers = {"Idempotency-Key": stem(key)} if key else {}
        answer = await api.request(method, f"/v1{path}", json=body, headers=headers)
        assert answer.is_success, (operation, answer.text)
        return answer.json() if answer.content else None

    mine = {"user_id": "ada"}
    await sent("create_session", "/sessions", {"id": "s", **mine, "title": word(), "metadata": {"m": word()}}, word())
    await sent("change_session", "/sessions/s", {"title": word()})
    said = {"role": "user", "content": f"I live in {word()}.", "metadata": {"m": word()}, "external_id": word()}
    await sent("append_messages", "/sessions/s/messages", said, word())
    call = {"id": word(), "type": "function", "function": {"name": "f", "arguments": json.dumps({"a": word()})}}
    await sent("append_messages", "/sessions/s/messages", {"role": "assistant", "content": "", "tool_calls": [call]})
    turn = {"messages": [{"role": "user", "content": word()}], "state": {"patch": {"x": word()}}}
    await sent("write_turn", "/sessions/s/turns", turn, word())
    await sent("put_state", "/sessions/s/state", {"state": {word(): word()}})
    await sent("patch_state", "/sessions/s/state", {"patch": {"y": word()}})
    await sent("fork_session", "/sessions/s/fork", {"id": "s2", "title": word()}, word())
    memory = {"text": f"{word()} tea", "metadata": {"m": word()}, "key": "user.tea", "value": word(), **mine}
    quote = [{"session_id": "s", "seqs": [1], "quote": word()}]
    kept = await sent("add_memories", "/memories", memory | {"sources": quote}, word())
    many = {"memories": [{"text": word(), "user_id": "ada"}, {"text": "about bob", "user_id": "bob"}]}
    await sent("add_memories", "/memories", many, word())
    await sent("change_memory", f"/memories/{kept['id']}", {"text": word()})
    await sent("confirm_memory", f"/memories/{kept['id']}/confirm", {"reason": word()})
    await sent("give_feedback", f"/memories/{kept['id']}/feedback", {"verdict": "used", "reason": word()})
    await sent("reject_memory", f"/memories/{kept['id']}/reject", {"reason": word()})
    extract = {**mine, "messages": [{"role": "user", "content": f"请记住我对{word()}过敏。"}]}
    await sent("extract_memories", "/memories/extract", extract, word())
    await sent("delete_memories", "/memories/delete", {**mine, "filters": {"metadata.m": {"eq": word()}}}, word())
    await sent("search_memories", "/memories/search", {"query": word(), "explain": True})
    await sent("search_memories", "/memories/search", {"query": word(), "explain": True, **mine})
    await sent("put_fact", "/users/ada/facts/user.city", {"value": word()}, word())
    await sent("put_block", "/blocks/human?user_id=ada", {"text": word(), "description": word()})
    await sent("patch_block", "/blocks/human?user_id=ada", {"append": word()}, word())
    tool = {"arguments": {"content": word()}, "user_id": "ada"}
    await sent("call_tool", "/tools/archival_memory_insert", tool)
    procedure = {"title": word(), "when_to_use": word(), "body": word(), "steps": [word()], **mine}
    card = await sent("create_procedure", "/procedures", procedure, word())
    await sent("change_procedure", f"/procedures/{card['id']}", {"body": word()})
    outcome = {"outcome": "failure", "note": word()}
    schema = DOCUMENT["components"]["schemas"]["OutcomeReport"]["properties"]
    outcome = {name: value for name, value in outcome.items() if name in schema}
    await sent("report_procedure_outcome", f"/procedures/{card['id']}/outcome", outcome)
    file = {"path": "x.md", "content": f"---\nname: {word()}\ndescription: {word()}\n---\n{word()}"}
    await sent("import_procedures", "/procedures/import", {"files": [file], **mine})
    attempt = {"task": word(), "outcome": "failure", "evaluation": word(), **mine, "session_id": "s"}
    attempt["steps"] = [{"action": word(), "result": word()}]
    learnt = await sent("add_experience", "/experiences", attempt, word())
    await sent("report_lesson_outcome", f"/lessons/{learnt['lesson']['id']}/outcome", outcome)
    opaque = {"thread_id": "t", "checkpoint_id": "c1", "type": "m", "document": "eA==", "metadata": {"c": word()}}
    await sent("put_checkpoint", "/checkpoints", opaque | mine)
    write = {"idx": 0, "channel": word(), "type": "m", "data": "eA=="}
    await sent(
        "put_writes",
        "/checkpoints/writes",
        {"thread_id": "t", "checkpoint_id": "c1", "task_id": word(), "writes": [write]},
    )
    item = {"op": "put", "namespace": ["n", word()], "key": word(), "value": {"text": word()}}
    await sent("batch_store", "/store/batch", {"ops": [item], **mine})
    state = {"state": {"c": word()}, "label": word()}
    made = await sent("create_session_checkpoint", "/sessions/s/checkpoints", state)
    await sent("label_checkpoint", f"/sessions/s/checkpoints/{made['id']}", {"label": word()})
    await sent("fork_checkpoint", f"/sessions/s/checkpoints/{made['id']}/fork", {"id": "s3", "title": word()})
    await sent("put_step", "/sessions/s/checkpoints/steps/one", {"input": word(), "output": word()})
    await sent("change_user", "/users/ada", {"metadata": {"m": word()}})
    await sent("prefetch_context", "/sessions/s/context/prefetch", {"partial_input": word()})
    await sent("make_context", "/sessions/s/context", {"query": word()})


def dumped(server: EmbeddedServer, *options: str) -> str:
    """The whole database as text."""
    dsn = urlsplit(server.superuser_dsn)
    program = next(path for path in (server.postmaster.binaries / "pg_dump",))
    command = [str(program), "-h", str(dsn.hostname), "-p", str(dsn.port), "-U", str(dsn.username), *options]
    environment = {"PGPASSWORD": dsn.password or "", "PATH": "/usr/bin:/bin"}
    done = subprocess.run([*command, dsn.path.strip("/")], env=environment, check=True, capture_output=True)
    return done.stdout.decode()


def found_in(dump: str, words: list[str]) -> set[str]:
    """The words whose beginning stands in a dump, as it is or as bytes."""
    return {word for word in words if stem(word) in dump or stem(word).encode().hex() in dump}


async def erase(tenant: Tenant, api: httpx.AsyncClient, user_id: str) -> dict[str, Any]:
    accepted = body_of(await api.delete(f"/v1/users/{user_id}"), 202)
    await tenant.work()
    receipt: dict[str, Any] = body_of(await api.get(f"/v1/erasures/{accepted['id']}"))
    assert receipt["state"] == "finished"
    return receipt


async def test_nothing_of_a_user_is_left_in_the_database(learning_tenant: Tenant, server: EmbeddedServer) -> None:
    api = await learning_tenant.client()
    planting = Planting()
    await plant(api, planting)
    await learning_tenant.work()
    assert len(planting.words) >= 50
    before = found_in(dumped(server), planting.words)
    assert len(before) >= 50, "else the dump proves nothing"
    await erase(learning_tenant, api, "ada")
    await api.get("/v1/users")
    left = dumped(server)
    assert found_in(left, planting.words) == set(), [line for line in left.splitlines() if "planted" in line]


def test_every_route_that_writes_is_planted_in_or_has_no_text() -> None:
    writes = {
        operation["operationId"]
        for operations in DOCUMENT["paths"].values()
        for method, operation in operations.items()
        if method != "get"
    }
    source = Path(__file__).read_text("utf-8")
    planted = {name for name in writes if f'sent("{name}"' in source or f'sent(\n        "{name}"' in source}
    assert writes - planted - WITHOUT_TEXT == set()


def test_every_table_is_reached_by_an_erasure_or_holds_nothing_of_anybody() -> None:
    assert {table.name for table in tenant_tables()} == {table.name for table in REACHED} | KEPT_TABLES


async def test_the_receipt_counts_what_went_and_names_the_end_of_the_audit_log(
    tenant: Tenant, api: httpx.AsyncClient
) -> None:
    await say(api, "s", "Hello there.", user_id="ada")
    await say(api, "s", "你好", user_id="ada")
    await add(api, "Tea.")
    receipt = await erase(tenant, api, "ada")
    counts = receipt["counts"]
    assert (counts["messages"], counts["sessions"], counts["memories"], counts["memory_events"]) == (2, 1, 1, 1)
    assert receipt["requested_by"].startswith("key:")
    assert receipt["audit"]["position"] >= 4
    found = body_of(
        await api.get("/v1/admin/audit/verify", params={name: receipt["audit"][name] for name in ("position", "hash")})
    )
    assert found["intact"]
    told = body_of(await api.get("/v1/admin/audit", params={"user_id": "ada"}))["results"]
    assert {"erase_user", "job.erase", "append_messages"} <= {line["action"] for line in told}
    assert {line["subject"] for line in told} == {receipt["subject"]}


async def test_who_waits_for_an_erasure_gets_the_whole_receipt(tenant: Tenant, api: httpx.AsyncClient) -> None:
    await add(api, "Tea.")

    async def work() -> None:
        for _ in range(200):
            if await tenant.work():
                return
            await asyncio.sleep(0.05)

    async with asyncio.TaskGroup() as group:
        group.create_task(work())
        answer = await api.delete("/v1/users/ada", params={"wait": 20})
    receipt = body_of(answer)
    assert (receipt["state"], receipt["counts"]["memories"]) == ("finished", 1)
    assert receipt["audit"]["position"] >= 1


async def test_an_erasure_leaves_others_as_they_are(tenant: Tenant, api: httpx.AsyncClient) -> None:
    await say(api, "ada-s", "Hello there.", user_id="ada")
    await say(api, "bob-s", "Hello there.", user_id="bob")
    await add(api, "Bob likes tea.", user_id="bob")
    await add(api, "Everybody likes tea.", shared=True)
    await api.put("/v1/blocks/human?user_id=bob", json={"text": "Bob"})
    await erase(tenant, api, "ada")
    assert len(await every(api, "/v1/memories")) == 2
    assert (await api.get("/v1/sessions/bob-s/messages/1")).status_code == 200
    assert (await api.get("/v1/blocks/human", params={"user_id": "bob"})).status_code == 200
    assert [user["id"] for user in await every(api, "/v1/users")] == ["bob"]
    problem_of(await api.get("/v1/users/ada"), 404)


async def test_what_others_learnt_from_the_user_alone_goes_and_what_somebody_else_bears_stays(
    tenant: Tenant, api: httpx.AsyncClient
) -> None:
    await say(api, "ada-s", "The office is in Faro.", user_id="ada")
    await say(api, "bob-s", "The office is in Faro.", user_id="bob")
    hers = {"session_id": "ada-s", "seqs": [1], "quote": "The office"}
    his = {"session_id": "bob-s", "seqs": [1], "quote": "is in Faro"}
    alone = await add(api, "Only Ada said so.", shared=True, sources=[hers])
    both = await add(api, "The office is in Faro.", shared=True, sources=[hers, his])
    insight = await add(api, "They work in Portugal.", shared=True, source="derived", sources=[hers, his])
    await erase(tenant, api, "ada")
    for gone in (alone, insight):
        problem_of(await api.get(f"/v1/memories/{gone['id']}"), 404)
    left = body_of(await api.get(f"/v1/memories/{both['id']}"))
    assert [source["quote"] for source in left["sources"]] == ["is in Faro"]


async def test_an_erased_id_is_free_for_a_new_beginning(tenant: Tenant, api: httpx.AsyncClient) -> None:
    await add(api, "Tea.")
    await erase(tenant, api, "ada")
    await add(api, "Coffee.")
    assert [memory["text"] for memory in await every(api, "/v1/memories", user_id="ada")] == ["Coffee."]


async def test_while_a_user_is_erased_nobody_writes_for_it(tenant: Tenant, api: httpx.AsyncClient) -> None:
    await add(api, "Tea.")
    first = body_of(await api.delete("/v1/users/ada"), 202)
    for method, path, body in (
        ("POST", "/v1/memories", {"text": "Coffee.", "user_id": "ada"}),
        ("PUT", "/v1/users/ada/facts/user.city", {"value": "Faro"}),
        ("POST", "/v1/sessions/new/messages", {"role": "user", "content": "x", "user_id": "ada"}),
        ("POST", "/v1/sessions", {"user_id": "ada"}),
        ("PUT", "/v1/blocks/human?user_id=ada", {"text": "x"}),
    ):
        problem_of(await api.request(method, path, json=body), 409, "user_erased")
    again = body_of(await api.delete("/v1/users/ada"), 202)
    assert again["id"] == first["id"]
    await tenant.work()


async def test_a_call_that_began_before_the_erasure_brings_nobody_back(tenant: Tenant, api: httpx.AsyncClient) -> None:
    await add(api, "Tea.")
    principal = await tenant.principal()
    began = clock.now()
    await erase(tenant, api, "ada")
    with pytest.raises(Exception, match="erased"):
        async with tenant.services.uow.begin(principal) as tx:
            await tx.users.touch(["ada"], began)


async def test_a_job_that_was_reading_when_its_user_was_erased_writes_nothing(
    learning_tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = await learning_tenant.client()
    await say(api, "s", "I am allergic to peanuts.", user_id="ada")
    services = learning_tenant.services
    extractor = services.extraction.extractor
    reading, go_on = asyncio.Event(), asyncio.Event()

    class Waiting:
        """Reads when it is let."""

        def __getattr__(self, name: str) -> Any:
            return getattr(extractor, name)

        async def extract(self, *given: Any, **named: Any) -> Any:
            reading.set()
            await go_on.wait()
            return await extractor.extract(*given, **named)

    slow = replace(
        learning_tenant, services=replace(services, extraction=replace(services.extraction, extractor=Waiting()))
    )
    job = asyncio.create_task(slow.work())
    await asyncio.wait_for(reading.wait(), 30)
    accepted = body_of(await api.delete("/v1/users/ada"), 202)
    await learning_tenant.work()
    go_on.set()
    await job
    assert body_of(await api.get(f"/v1/erasures/{accepted['id']}"))["state"] == "finished"
    assert await every(api, "/v1/memories") == []
    assert await every(api, "/v1/users") == []


async def test_a_killed_erasure_goes_on_and_counts_everything_once(
    tenant: Tenant, api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    await say(api, "s", "Hello there.", user_id="ada")
    await add(api, "Tea.")
    accepted = body_of(await api.delete("/v1/users/ada"), 202)
    kept = type(tenant.services.audit).seal

    async def killed(*_: Any) -> Any:
        monkeypatch.setattr(type(tenant.services.audit), "seal", kept)
        raise RuntimeError("killed")

    monkeypatch.setattr(type(tenant.services.audit), "seal", killed)
    await tenant.work()
    receipt = body_of(await api.get(f"/v1/erasures/{accepted['id']}"))
    assert (receipt["state"], receipt["counts"]["messages"], receipt["counts"]["memories"]) == ("finished", 1, 1)


async def test_a_key_bound_to_the_user_may_erase_it_and_is_closed_by_it(tenant: Tenant, api: httpx.AsyncClient) -> None:
    bound = await tenant.client("member", ["ada"])
    both = await tenant.client("member", ["ada", "bob"])
    await add(bound, "Tea.")
    problem_of(await bound.delete("/v1/users/bob"), 404, "user_not_found")
    body_of(await bound.delete("/v1/users/ada"), 202)
    await tenant.work()
    problem_of(await bound.get("/v1/me"), 401)
    assert body_of(await both.get("/v1/me"))["user_ids"] == ["bob"]


async def test_a_receipt_is_read_by_its_users_keys_and_by_unbound_ones(tenant: Tenant, api: httpx.AsyncClient) -> None:
    await open_session(api, "s", user_id="ada")
    accepted = body_of(await api.delete("/v1/users/ada"), 202)
    stranger = await tenant.client("member", ["bob"])
    own = await tenant.client("member", ["ada"])
    problem_of(await stranger.get(f"/v1/erasures/{accepted['id']}"), 404, "erasure_not_found")
    assert body_of(await own.get(f"/v1/erasures/{accepted['id']}"))["state"] == "running"
    await tenant.work()


async def test_a_reader_erases_nobody(tenant: Tenant) -> None:
    problem_of(await (await tenant.client("reader")).delete("/v1/users/ada"), 403, "missing_scope")
