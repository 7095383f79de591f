"""What an import must not do: write into others, leave what cannot be read, or bring back who was erased."""

import json
from collections.abc import AsyncIterator
from random import Random
from typing import Any
from uuid import uuid4

import httpx
import pytest
from structlog.testing import capture_logs

from app.services.importing import LONGEST
from tests.conftest import Tenant
from tests.routers.calls import add, body_of, every, problem_of, say
from tests.routers.test_erasure import Planting, plant
from tests.routers.test_transfer import exported, imported

Row = dict[str, Any]


async def rows_of(api: httpx.AsyncClient, user_id: str | None = None) -> list[Row]:
    """The lines of an export without its header."""
    return [json.loads(line) for line in (await exported(api, user_id)).splitlines()[1:]]


def first_of(lines: list[Row], table: str) -> Row:
    """The first row of a table."""
    return next(dict(line["row"]) for line in lines if line["table"] == table)


async def refused(api: httpx.AsyncClient, table: str, row: Row, user_id: str | None = None) -> str:
    """Why one line is no part of an import."""
    path = "/v1/admin/import" if user_id is None else f"/v1/users/{user_id}/import"
    content = json.dumps({"format": "mnemic-export", "version": 1}) + "\n" + json.dumps({"table": table, "row": row})
    problem = problem_of(await api.post(path, content=content), 422, "bad_import_line")
    assert "Line 2:" in problem["detail"], problem
    return str(problem["detail"])


async def test_no_line_of_any_table_brings_a_users_import_into_another_user(tenant: Tenant) -> None:
    api = await tenant.client()
    await plant(api, Planting())
    await api.put("/v1/keys/car.plate", json={"aliases": ["车牌"]})
    await tenant.work()
    before = await exported(api)
    for line in await rows_of(api):
        table, row = line["table"], line["row"]
        fresh = row | {name: str(uuid4()) for name in ("id",) if name in row and table not in {"users", "procedures"}}
        for one in (row, fresh):
            if table == "memory_links":
                one = row  # noqa: PLW2901 - it has no id of its own
            if "user_id" in row and row["user_id"] != "ada":
                continue
            await refused(api, table, one, "eve")
    assert await exported(api) == before


async def test_a_users_import_hangs_nothing_on_what_is_another_users(tenant: Tenant, api: httpx.AsyncClient) -> None:
    for user in ("ada", "bob"):
        await say(api, f"s-{user}", "Hello there.", user_id=user)
        await api.put(f"/v1/sessions/s-{user}/state", json={"state": {"of": user}})
        await add(api, f"{user} likes tea. 爱喝茶。", user_id=user)
        await api.put(f"/v1/blocks/human?user_id={user}", json={"text": user})
    ada, bob = await rows_of(api, "ada"), await rows_of(api, "bob")
    before = await exported(api, "bob")
    memory, mine = first_of(bob, "memories")["id"], first_of(ada, "memories")["id"]
    message = first_of(ada, "messages") | {"session_id": "s-bob", "seq": 2, "id": str(uuid4())}
    state = first_of(ada, "session_states") | {"session_id": "s-bob", "version": 9}
    event = first_of(ada, "memory_events") | {"memory_id": memory, "id": str(uuid4())}
    version = first_of(ada, "block_versions") | {"block_id": first_of(bob, "blocks")["id"], "version": 9}
    kept = first_of(ada, "memories") | {"id": str(uuid4()), "session_id": "s-bob"}
    for table, row in (
        ("messages", message),
        ("session_states", state),
        ("memory_events", event),
        ("block_versions", version),
        ("memories", kept),
        ("memory_links", {"id": memory, "superseded_by": mine}),
        ("memory_links", {"id": mine, "superseded_by": memory}),
        ("users", first_of(ada, "users") | {"id": "carol"}),
        ("memory_keys", {"key": "a.b", "multi_valued": True, "description": None, "created_at": kept["created_at"]}),
        ("blocks", {k: v for k, v in first_of(ada, "blocks").items() if k != "user_id"} | {"id": str(uuid4())}),
    ):
        await refused(api, table, row, "ada")
    assert await exported(api, "bob") == before
    problem_of(await api.get("/v1/users/carol"), 404)


async def test_a_message_in_anothers_place_is_refused_and_the_session_goes_on(
    tenant: Tenant, api: httpx.AsyncClient
) -> None:
    await say(api, "s", "Hello there.", user_id="ada")
    row = first_of(await rows_of(api, "ada"), "messages") | {"id": str(uuid4())}
    assert "place" in await refused(api, "messages", row)
    assert "key" in await refused(api, "messages", first_of(await rows_of(api), "messages") | {"seq": 7})
    assert "owner" in await refused(api, "messages", row | {"seq": 8, "owner": "u:bob"})
    line = json.dumps({"table": "messages", "row": row | {"seq": 5}})
    assert (await imported(api, line))["stored"] == {"messages": 1}
    session = body_of(await api.get("/v1/sessions/s"))
    assert (session["last_seq"], session["message_count"]) == (5, 2)
    await say(api, "s", "And on we go. 继续。")
    assert [one["seq"] for one in await every(api, "/v1/sessions/s/messages")] in ([1, 5, 6], [6, 5, 1])


@pytest.mark.parametrize("form", ["export", "another system's"])
async def test_an_import_that_began_before_an_erasure_does_not_bring_the_user_back(
    tenant: Tenant, api: httpx.AsyncClient, form: str
) -> None:
    await say(api, "s", "Hello there.", user_id="ada")
    await add(api, "Ada likes tea.")
    if form == "export":
        lines = (await exported(api, "ada")).splitlines(keepends=True)
        halfway = next(place for place, line in enumerate(lines) if '"table":"memories"' in line) + 1
    else:
        lines = [json.dumps({"text": f"Fact {number} 事实"}) + "\n" for number in range(202)]
        halfway = 201

    async def body() -> AsyncIterator[bytes]:
        yield "".join(lines[:halfway]).encode()
        body_of(await api.delete("/v1/users/ada"), 202)
        await tenant.work()
        yield "".join(lines[halfway:]).encode()

    problem_of(await api.post("/v1/users/ada/import", content=body()), 409, "user_erased")
    await tenant.work()
    problem_of(await api.get("/v1/users/ada"), 404)
    assert await every(api, "/v1/memories", user_id="ada") == []
    assert await every(api, "/v1/sessions", user_id="ada") == []


NEVER_STORED: list[Any] = [
    *(None, True, -1, 2**70, 1.5, "", "x\0y", "\ud800", [], [1], [None], {}, {"a": "\0"}, "1970", "zz" * 3_000),
    *("9999-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00", "Nowhere/X", [[]], {"a": 1}),
]


async def test_a_line_with_any_odd_value_is_stored_to_be_read_or_refused_by_its_number(
    learning_tenant: Tenant, other_tenant: Tenant, full_size: bool
) -> None:
    api, other = await learning_tenant.client(), await other_tenant.client()
    await plant(api, Planting())
    await learning_tenant.work()
    lines = await rows_of(api)
    await imported(other, await exported(api))
    chosen = Random(1)
    for table in sorted({line["table"] for line in lines}):
        for column in first_of(lines, table):
            for odd in NEVER_STORED if full_size else chosen.sample(NEVER_STORED, 1):
                row = first_of(lines, table)
                if isinstance(row.get("id"), str) and table not in {"sessions", "users", "procedures", "lessons"}:
                    row["id"] = str(uuid4())
                content = json.dumps({"table": table, "row": row | {column: odd}})
                answer = await other.post("/v1/admin/import", content=content)
                if answer.status_code != 200 and column != "sensitive":  # that may need a key that is not there
                    assert "Line 1:" in problem_of(answer, 422, "bad_import_line")["detail"], (table, column, odd)
    await everything_is_read(other)


async def everything_is_read(api: httpx.AsyncClient) -> None:
    """No read of what is stored fails."""
    of_session = ("", "/messages", "/state", "/state/history", "/summary", "/checkpoints", "/checkpoints/steps")
    sessions = await every(api, "/v1/sessions")
    paths = [f"/v1/sessions/{one['id']}{path}" for one in sessions[:3] for path in of_session]
    memories = [
        one for status in ("active", "superseded", "deleted") for one in await every(api, "/v1/memories", status=status)
    ]
    paths += [f"/v1/memories/{one['id']}/history" for one in memories[:20]]
    for path in (
        *("/v1/users", "/v1/users/ada", "/v1/users/ada/facts", "/v1/users/ada/profile", "/v1/users/ada/timeline"),
        *("/v1/procedures", "/v1/lessons", "/v1/blocks?user_id=ada", "/v1/conflicts", "/v1/keys", "/v1/admin/stats"),
        *("/v1/admin/export", "/v1/users/ada/export", "/v1/users/ada/memory.md", *paths),
    ):
        answer = await api.get(path)
        assert answer.status_code in {200, 404}, (path, answer.text)
    for path, body in (
        ("/v1/memories/search", {"query": "tea", "user_id": "ada"}),
        ("/v1/messages/search", {"query": "live", "user_id": "ada"}),
        ("/v1/sessions/s/context", {"query": "yesterday 昨天", "token_budget": 2000}),
        ("/v1/procedures/match", {"task": "tea", "user_id": "ada"}),
    ):
        assert (await api.post(path, json=body)).status_code == 200, path


@pytest.mark.parametrize(
    ("table", "values"),
    [
        *(("sessions", {"metadata": [1]}), ("sessions", {"timezone": "Nowhere/X"}), ("sessions", {"id": "a\0"})),
        *(("users", {"metadata": 5}), ("users", {"timezone": "Nowhere/X"}), ("users", {"id": None})),
        *(("memories", {"metadata": [1]}), ("memories", {"flags": [None]}), ("memories", {"text": None})),
        *(("memories", {"id": "x"}), ("memories", {"id": []}), ("memories", {"superseded_at": "9999-12-31T23:59:59Z"})),
        *(("memories", {"status": "bogus"}), ("memories", {"importance": 11}), ("memories", {"seen_count": 2**31})),
        *(("messages", {"metadata": "x"}), ("messages", {"parts": 5}), ("messages", {"tool_calls": [5]})),
        *(("messages", {"text": None}), ("messages", {"session_id": {}}), ("messages", {"seq": True})),
        *(("session_states", {"document": [1]}), ("memory_events", {"action": "eaten"}), ("memory_links", {"id": "x"})),
        ("memory_links", {"superseded_by": None}),
    ],
)
async def test_a_value_that_nobody_could_read_is_refused_with_its_line(
    tenant: Tenant, api: httpx.AsyncClient, other_tenant: Tenant, table: str, values: Row
) -> None:
    await say(api, "s", "I live in Faro.", user_id="ada")
    await api.put("/v1/sessions/s/state", json={"state": {"a": 1}})
    for city in ("Faro", "Lisbon"):
        await api.put("/v1/users/ada/facts/user.city", json={"value": city})
    lines = await rows_of(api, "ada")
    number = next(place for place, line in enumerate(lines, 1) if line["table"] == table)
    lines[number - 1]["row"] |= values
    content = "\n".join(json.dumps(line) for line in lines)
    problem = problem_of(await (await other_tenant.client()).post("/v1/admin/import", content=content), 422)
    assert problem["code"] == "bad_import_line"
    assert f"Line {number}:" in problem["detail"]


async def test_an_endless_line_is_refused_before_all_of_it_is_read(tenant: Tenant, api: httpx.AsyncClient) -> None:
    sent = 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 2 * LONGEST:
            sent += 2**20
            yield b"x" * 2**20

    problem_of(await api.post("/v1/users/ada/import", content=body()), 413, "import_line_too_long")
    assert sent <= LONGEST + 2**21


async def test_a_client_that_goes_away_in_the_middle_of_an_import_is_no_error_of_the_service(
    tenant: Tenant, api: httpx.AsyncClient
) -> None:
    messages = iter([{"type": "http.request", "body": b'{"text": "te', "more_body": True}])
    answers: list[Any] = []

    async def receive() -> dict[str, Any]:
        return next(messages, {"type": "http.disconnect"})

    async def send(message: Any) -> None:
        answers.append(message)

    request = api.build_request("POST", "/v1/users/ada/import")
    scope = {"type": "http", "method": "POST", "path": request.url.path, "raw_path": request.url.raw_path}
    scope |= {"query_string": b"", "headers": request.headers.raw, "http_version": "1.1", "scheme": "http"}
    scope |= {"client": ("127.0.0.1", 1), "server": ("test", 80), "root_path": ""}
    scope["headers"] = [(name.lower(), value) for name, value in request.headers.raw]
    transport = api._transport
    with capture_logs() as logs:
        await transport.app(scope, receive, send)  # type: ignore[attr-defined]
    assert "request_failed" not in {line["event"] for line in logs}
    assert [line["status"] for line in logs if line["event"] == "request"] == [499]
    assert answers == []


async def test_an_imported_value_and_a_stored_one_under_a_key_are_settled(
    tenant: Tenant, api: httpx.AsyncClient
) -> None:
    await api.put("/v1/users/ada/facts/home.city", json={"value": "Oslo"})
    row = first_of(await rows_of(api, "ada"), "memories") | {"id": str(uuid4()), "text": "住在罗马。", "value": "Rome"}
    await imported(api, json.dumps({"table": "memories", "row": row}), "ada")
    current = await every(api, "/v1/memories", user_id="ada")
    assert len(current) == 1
    assert body_of(await api.get("/v1/users/ada/facts/home.city"))["value"] == current[0]["value"]
