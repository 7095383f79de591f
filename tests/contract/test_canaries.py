"""Every route of the OpenAPI document, asked with the keys of others: nothing of ada's ever comes out.

A route without an entry below fails the test until somebody decides what strangers get from it.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.services.transfer_rows import FORMAT, VERSION
from tests.conftest import tenant_of
from tests.contract.conftest import CANARY, Planted

DOCUMENT = json.loads((Path(__file__).parents[2] / "openapi" / "openapi.json").read_text("utf-8"))
OPERATIONS = {
    operation["operationId"]: (method.upper(), path)
    for path, operations in DOCUMENT["paths"].items()
    for method, operation in operations.items()
}

OPEN = {"is_alive", "is_ready"}
"""Routes that anybody may ask without a key."""

ABSENT = {404}
"""A foreign resource is as absent as one that never was."""

TAKEN = {409}
"""A route that makes what is absent says that the id is taken, and nothing else."""

LISTED = {200}
"""A list or search: it may be empty, and never has what is another's."""

REFUSED = {403}
"""Another user's id stands in the request, or the key may not do this at all."""

FILE = {"path": "x.md", "content": "---\nname: x\ndescription: y\n---\n"}

# operation: (query, body, what a key bound to another user gets, what another tenant's admin key gets)
PROBES: dict[str, tuple[dict[str, str], Any, set[int], set[int]]] = {
    "get_metrics": ({}, None, REFUSED, LISTED),
    "list_api_keys": ({}, None, REFUSED, LISTED),
    "create_api_key": ({}, {"name": "x", "user_ids": ["ada"]}, REFUSED, {201}),
    "revoke_api_key": ({}, None, REFUSED, ABSENT),
    "change_api_key": ({}, {"rate_limit": 600}, REFUSED, ABSENT),
    "rotate_api_key": ({}, {"overlap_seconds": 60}, REFUSED, ABSENT),
    "get_tenant_settings": ({}, None, REFUSED, LISTED),
    "change_tenant_settings": ({}, {"timezone": "UTC"}, REFUSED, LISTED),
    "get_stats": ({}, None, REFUSED, LISTED),
    "get_quotas": ({}, None, REFUSED, LISTED),
    "change_quotas": ({}, {"memories": 100}, REFUSED, REFUSED),
    "list_tenants": ({}, None, REFUSED, REFUSED),
    "create_tenant": ({}, {"name": "x"}, REFUSED, REFUSED),
    "list_embedding_models": ({}, None, REFUSED, LISTED),
    "get_embedding_model": ({}, None, REFUSED, LISTED),
    "register_embedding_model": ({}, {"name": "x"}, REFUSED, REFUSED),
    "build_embedding_model": ({}, None, REFUSED, REFUSED),
    "compare_embedding_models": ({}, {"queries": [{"query": "tea", "user_id": "ada"}]}, REFUSED, LISTED),
    "activate_embedding_model": ({}, {}, REFUSED, REFUSED),
    "retire_embedding_model": ({}, None, REFUSED, REFUSED),
    "list_blocks": ({"user_id": "ada"}, None, LISTED, LISTED),
    "delete_block": ({"user_id": "ada"}, None, REFUSED, ABSENT),
    "get_block": ({"user_id": "ada"}, None, ABSENT, ABSENT),
    "patch_block": ({"user_id": "ada"}, {"append": "x"}, REFUSED, ABSENT),
    "put_block": ({"user_id": "ada"}, {"text": "x"}, REFUSED, {201}),
    "list_block_versions": ({"user_id": "ada"}, None, ABSENT, ABSENT),
    "list_jobs": ({}, None, LISTED, LISTED),
    "get_job": ({}, None, ABSENT, ABSENT),
    "cancel_job": ({}, None, ABSENT, ABSENT),
    "retry_job": ({}, None, ABSENT, ABSENT),
    "list_keys": ({}, None, LISTED, LISTED),
    "delete_key": ({}, None, REFUSED, ABSENT),
    "put_key": ({}, {"aliases": []}, REFUSED, LISTED),
    "get_me": ({}, None, LISTED, LISTED),
    "list_memories": ({"user_id": "ada"}, None, LISTED, LISTED),
    "add_memories": ({}, {"text": "x", "user_id": "ada"}, REFUSED, {201}),
    "delete_memories": ({}, {"user_id": "ada"}, REFUSED, LISTED),
    "get_memories": ({}, {"ids": ["{memory_id}"]}, LISTED, LISTED),
    "extract_memories": (
        {},
        {"user_id": "ada", "messages": [{"role": "user", "content": "I live in Lisbon."}], "dry_run": True},
        REFUSED,
        LISTED,
    ),
    "list_conflicts": ({}, None, LISTED, LISTED),
    "resolve_conflict": ({}, {"keep": "newer"}, ABSENT, ABSENT),
    "search_memories": ({}, {"query": "tea", "include_messages": True, "include_shared": True}, LISTED, LISTED),
    "delete_memory": ({}, None, ABSENT, ABSENT),
    "get_memory": ({}, None, ABSENT, ABSENT),
    "change_memory": ({}, {"importance": 1}, ABSENT, ABSENT),
    "confirm_memory": ({}, {}, ABSENT, ABSENT),
    "give_feedback": ({}, {"verdict": "used"}, ABSENT, ABSENT),
    "get_memory_history": ({}, None, ABSENT, ABSENT),
    "reject_memory": ({}, {}, ABSENT, ABSENT),
    "restore_memory": ({}, None, ABSENT, ABSENT),
    "replay_search": ({}, {"explanation_id": "01939f4e-7c1b-7d3a-9d57-1f0e6f3f3c55"}, ABSENT, ABSENT),
    "undo": ({}, {"event_id": "{event_id}"}, ABSENT, ABSENT),
    "search_messages": ({}, {"query": "tea", "context_before": 5, "context_after": 5}, LISTED, LISTED),
    "list_sessions": ({"user_id": "ada"}, None, LISTED, LISTED),
    "create_session": ({}, {"id": "ada-session"}, TAKEN, {201}),
    "delete_session": ({}, None, ABSENT, ABSENT),
    "get_session": ({}, None, ABSENT, ABSENT),
    "change_session": ({}, {"title": "x"}, ABSENT, ABSENT),
    "close_session": ({}, None, ABSENT, ABSENT),
    "fork_session": ({}, {"id": "copy"}, ABSENT, ABSENT),
    "clear_messages": ({}, None, ABSENT, ABSENT),
    "list_messages": ({}, None, ABSENT, ABSENT),
    "append_messages": ({}, {"role": "user", "content": "x"}, TAKEN, {201}),
    "pop_message": ({}, None, ABSENT, ABSENT),
    "redact_message": ({}, None, ABSENT, ABSENT),
    "get_message": ({}, None, ABSENT, ABSENT),
    "reopen_session": ({}, None, ABSENT, ABSENT),
    "resume_session": ({}, None, ABSENT, ABSENT),
    "get_summary": ({}, None, ABSENT, ABSENT),
    "fold_summary": ({}, {"keep_turns": 0}, ABSENT, ABSENT),
    "make_context": ({}, {"query": "tea"}, ABSENT, ABSENT),
    "prefetch_context": ({}, {"partial_input": "tea"}, ABSENT, ABSENT),
    "get_state": ({}, None, ABSENT, ABSENT),
    "patch_state": ({}, {"patch": {}}, ABSENT, ABSENT),
    "put_state": ({}, {"state": {}}, ABSENT, ABSENT),
    "list_state_versions": ({}, None, ABSENT, ABSENT),
    "restore_state": ({}, {"to_version": 1}, ABSENT, ABSENT),
    "write_turn": ({}, {"messages": [{"role": "user", "content": "x"}], "state": {"patch": {"x": 1}}}, TAKEN, {201}),
    "list_tools": ({}, None, LISTED, LISTED),
    "call_tool": ({}, {"arguments": {"query": "tea"}}, LISTED, LISTED),
    "list_procedures": ({"user_id": "ada"}, None, LISTED, LISTED),
    "create_procedure": ({}, {"title": "x", "when_to_use": "y", "user_id": "ada"}, REFUSED, {201}),
    "match_procedures": ({}, {"task": "tea"}, LISTED, LISTED),
    "import_procedures": ({}, {"user_id": "ada", "files": [FILE]}, REFUSED, {201}),
    "export_procedures": ({"user_id": "ada"}, None, LISTED, LISTED),
    "get_procedure": ({}, None, ABSENT, ABSENT),
    "change_procedure": ({}, {"tags": []}, ABSENT, ABSENT),
    "delete_procedure": ({}, None, ABSENT, ABSENT),
    "list_procedure_versions": ({}, None, ABSENT, ABSENT),
    "report_procedure_outcome": ({}, {"outcome": "failure"}, ABSENT, ABSENT),
    "add_experience": ({}, {"task": "x", "outcome": "failure", "evaluation": "y", "user_id": "ada"}, REFUSED, {201}),
    "list_lessons": ({"user_id": "ada"}, None, LISTED, LISTED),
    "get_lesson": ({}, None, ABSENT, ABSENT),
    "report_lesson_outcome": ({}, {"outcome": "failure"}, ABSENT, ABSENT),
    "list_fact_versions": ({}, None, ABSENT, ABSENT),
    "put_checkpoint": (
        {},
        {"thread_id": "ada-thread", "checkpoint_id": "c1", "type": "m", "document": "eA==", "metadata": {}},
        TAKEN,
        LISTED,
    ),
    "put_writes": (
        {},
        {"thread_id": "ada-thread", "checkpoint_id": "c1", "task_id": "x", "writes": []},
        TAKEN,
        LISTED,
    ),
    "get_checkpoint": ({}, {"thread_id": "ada-thread"}, LISTED, LISTED),
    "list_checkpoints": ({}, {}, LISTED, LISTED),
    "copy_thread": ({}, {"source_thread_id": "ada-thread", "target_thread_id": "x"}, ABSENT, ABSENT),
    "prune_threads": ({}, {"thread_ids": ["ada-thread"], "strategy": "delete"}, LISTED, LISTED),
    "delete_runs": ({}, {"run_ids": ["ada-run"]}, LISTED, LISTED),
    "delete_thread": ({}, {"thread_id": "ada-thread"}, LISTED, LISTED),
    "batch_store": (
        {},
        {
            "ops": [
                {"op": "search", "namespace_prefix": [], "query": "tea"},
                {"op": "get", "namespace": ["ada"], "key": "k"},
                {"op": "list_namespaces"},
                {"op": "put", "namespace": ["ada"], "key": "k", "value": None},
            ]
        },
        LISTED,
        LISTED,
    ),
    "create_session_checkpoint": ({}, {}, ABSENT, ABSENT),
    "list_session_checkpoints": ({}, None, ABSENT, ABSENT),
    "get_latest_checkpoint": ({}, None, ABSENT, ABSENT),
    "diff_checkpoints": ({"from_id": "{checkpoint_id}", "to_id": "{checkpoint_id}"}, None, ABSENT, ABSENT),
    "get_checkpoint_tree": ({}, None, ABSENT, ABSENT),
    "replay_checkpoints": ({}, None, ABSENT, ABSENT),
    "get_checkpoint_settings": ({}, None, ABSENT, ABSENT),
    "put_checkpoint_settings": ({}, {"keep_last": 1}, ABSENT, ABSENT),
    "prune_checkpoints": ({}, {"keep_last": 1}, ABSENT, ABSENT),
    "list_steps": ({}, None, ABSENT, ABSENT),
    "get_step": ({}, None, ABSENT, ABSENT),
    "put_step": ({}, {"output": 1}, ABSENT, ABSENT),
    "get_session_checkpoint": ({}, None, ABSENT, ABSENT),
    "label_checkpoint": ({}, {"label": None}, ABSENT, ABSENT),
    "restore_checkpoint": ({}, {}, ABSENT, ABSENT),
    "fork_checkpoint": ({}, {"id": "copy"}, ABSENT, ABSENT),
    "maintain_user": ({}, {"dry_run": True}, ABSENT, ABSENT),
    "consolidate_user": ({}, {"dry_run": True}, ABSENT, ABSENT),
    "get_user_memory_health": ({}, None, ABSENT, ABSENT),
    "get_memory_health": ({}, None, REFUSED, LISTED),
    "get_user_profile": ({}, None, ABSENT, ABSENT),
    "get_memory_file": ({}, None, ABSENT, ABSENT),
    "put_memory_file": ({}, None, ABSENT, ABSENT),
    "get_user_timeline": ({}, None, ABSENT, ABSENT),
    "reflect_on_user": ({}, {"dry_run": True, "force": True}, ABSENT, ABSENT),
    "dream_of_user": ({}, {"dry_run": True}, ABSENT, ABSENT),
    "list_dreams": ({}, None, ABSENT, ABSENT),
    "get_dream": ({}, None, ABSENT, ABSENT),
    "edit_dream": ({}, {"changes": [{"id": 1, "accepted": False}]}, ABSENT, ABSENT),
    "apply_dream": ({}, None, ABSENT, ABSENT),
    "reject_dream": ({}, None, ABSENT, ABSENT),
    "list_users": ({}, None, LISTED, LISTED),
    "get_user": ({}, None, ABSENT, ABSENT),
    "change_user": ({}, {"timezone": "UTC"}, ABSENT, LISTED),
    "list_facts": ({}, None, LISTED, LISTED),
    "delete_fact": ({}, None, ABSENT, ABSENT),
    "get_fact": ({}, None, ABSENT, ABSENT),
    "put_fact": ({}, {"value": "x"}, REFUSED, {201}),
    "erase_user": ({}, None, ABSENT, {202}),
    "get_erasure": ({}, None, ABSENT, ABSENT),
    "export_user": ({}, None, REFUSED, ABSENT),
    "import_user": ({}, {"text": "x"}, REFUSED, LISTED),
    "export_tenant": ({}, None, REFUSED, LISTED),
    "import_tenant": ({}, {"format": FORMAT, "version": VERSION}, REFUSED, LISTED),
    "list_audit_lines": ({"user_id": "ada"}, None, REFUSED, LISTED),
    "export_audit_log": ({}, None, REFUSED, LISTED),
    "verify_audit_log": ({}, None, REFUSED, LISTED),
    "merge_users": ({}, {"from_user_id": "ada-session"}, REFUSED, ABSENT),
}


def test_every_route_has_been_decided_about() -> None:
    assert set(OPERATIONS) == set(PROBES) | OPEN


@pytest.mark.parametrize("operation", sorted(set(OPERATIONS) - OPEN))
async def test_no_route_answers_without_a_key(planted: Planted, operation: str) -> None:
    answer = await _ask(planted.tenant.bare(), planted, operation)
    assert answer.status_code == 401
    _holds_nothing(answer)


@pytest.mark.parametrize("operation", sorted(PROBES))
async def test_a_key_bound_to_another_user_gets_nothing_of_adas(planted: Planted, operation: str) -> None:
    stranger = await planted.tenant.client("member", ["bob"])
    answer = await _ask(stranger, planted, operation)
    assert answer.status_code in PROBES[operation][2], answer.text
    _holds_nothing(answer)
    await _is_untouched(planted)


@pytest.mark.parametrize("operation", sorted(PROBES))
async def test_another_tenants_admin_gets_nothing_of_adas(planted: Planted, operation: str) -> None:
    other = await tenant_of(planted.tenant.services, planted.tenant.app)
    stranger = await other.client("admin")
    answer = await _ask(stranger, planted, operation)
    assert answer.status_code in PROBES[operation][3], answer.text
    _holds_nothing(answer)
    await _is_untouched(planted)


@pytest.mark.parametrize("operation", sorted(name for name, probe in PROBES.items() if ABSENT in (probe[2], probe[3])))
async def test_a_foreign_resource_and_an_absent_one_get_the_same_answer(planted: Planted, operation: str) -> None:
    bound = PROBES[operation][2] == ABSENT
    if bound:
        stranger = await planted.tenant.client("member", ["bob"])
    else:
        stranger = await planted.other.client("admin")
    foreign = await _ask(stranger, planted, operation)
    absent = await _ask(stranger, replace(planted, ids=_ABSENT_IDS), operation)
    assert foreign.status_code == absent.status_code
    assert _without_request_id(foreign) == _without_request_id(absent)


_ABSENT_IDS = {
    **dict.fromkeys(("checkpoint_id", "step_id"), "absent"),
    **dict.fromkeys(
        (
            "memory_id",
            "job_id",
            "key_id",
            "conflict_id",
            "event_id",
            "erasure_id",
            "procedure_id",
            "lesson_id",
            "dream_id",
        ),
        "01980000-0000-7000-8000-000000000000",
    ),
    **dict.fromkeys(("session_id", "user_id", "label", "key"), "absent"),
    "seq": "1",
    "model_id": "1",
}


async def _ask(client: httpx.AsyncClient, planted: Planted, operation: str) -> httpx.Response:
    method, path = OPERATIONS[operation]
    query, body, *_ = PROBES[operation]
    text = json.dumps(body)
    for name, value in planted.ids.items():
        path = path.replace("{" + name + "}", value)
        text = text.replace("{" + name + "}", value)
    given = None if body is None else json.loads(text)
    return await client.request(method, path, params=query, json=given)


def _holds_nothing(answer: httpx.Response) -> None:
    seen = answer.text + str(answer.headers)
    assert CANARY not in seen
    assert json.dumps(CANARY).strip('"') not in seen


def _without_request_id(answer: httpx.Response) -> dict[str, Any]:
    return {name: value for name, value in answer.json().items() if name != "request_id"}


async def _is_untouched(planted: Planted) -> None:
    """What the stranger did has changed nothing of ada's."""
    found = [
        (await planted.owner.get("/v1/sessions/ada-session")).json()["title"],
        (await planted.owner.get("/v1/sessions/ada-session/messages/1")).json()["content"],
        (await planted.owner.get("/v1/sessions/ada-session/state")).json()["state"]["c"],
        (await planted.owner.get("/v1/users/ada/facts/user.city")).json()["value"],
        (await planted.owner.get("/v1/blocks/human?user_id=ada")).json()["text"],
        (await planted.owner.get("/v1/users/ada")).json()["metadata"]["c"],
        (await planted.owner.get(f"/v1/procedures/{planted.ids['procedure_id']}")).json()["title"],
    ]
    assert found == [CANARY] * len(found)
    thread = (await planted.owner.post("/v1/checkpoints/get", json={"thread_id": "ada-thread"})).json()["checkpoint"]
    assert (thread["metadata"]["c"], len(thread["writes"])) == (CANARY, 1)
    item = {"ops": [{"op": "get", "namespace": ["ada"], "key": "k", "refresh_ttl": False}]}
    assert (await planted.owner.post("/v1/store/batch", json=item)).json()["results"][0]["value"]["c"] == CANARY
    latest = (await planted.owner.get("/v1/sessions/ada-session/checkpoints/latest")).json()
    assert (latest["state"]["c"], latest["label"], len(latest["pending_steps"])) == (CANARY, CANARY, 1)
    memory = (await planted.owner.get(f"/v1/memories/{planted.ids['memory_id']}")).json()
    assert (memory["text"], memory["version"], memory["access_count"]) == (f"{CANARY} tea", 1, 0)
