"""Health, and the documentation that the service gives of itself."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app import openapi
from app.composition import compose, database
from app.db import migrate
from app.db.dsn import parse_dsn
from app.db.embedded.server import EmbeddedServer
from app.main import create_app
from app.settings import Settings
from tests.conftest import Tenant
from tests.databases import Place, create_database, drop_database
from tests.doubles.embeddings import HashedModel
from tests.routers.calls import body_of, problem_of


async def test_the_service_is_alive_and_ready_without_a_key(tenant: Tenant) -> None:
    client = tenant.bare()
    assert body_of(await client.get("/healthz")) == {"status": "ok"}
    ready = body_of(await client.get("/readyz"))
    assert ready["status"] == "ready"
    assert {ready["checks"][name] for name in ("database", "migrations", "embedder")} == {"ok"}
    assert "queue" in ready["checks"]


@pytest.fixture
async def unmigrated(server: EmbeddedServer) -> AsyncIterator[Place]:
    place = await create_database(server)
    yield place
    await drop_database(server, place)


async def test_missing_migrations_are_named_and_calls_get_a_503(unmigrated: Place, settings: Settings) -> None:
    fresh = settings.model_copy(
        update={"database_url": type(settings.database_url)(unmigrated.app_dsn), "pool_size": 2}  # type: ignore[misc]
    )
    store = database(fresh, parse_dsn(unmigrated.app_dsn))
    app = create_app(fresh)
    app.state.services = compose(fresh, store, HashedModel())
    try:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
            assert (await client.get("/healthz")).status_code == 200
            readiness = body_of(await client.get("/readyz"), 503)
            assert readiness["status"] == "not_ready"
            assert migrate.head() in readiness["checks"]["migrations"]
            assert "mnemic migrate" in readiness["checks"]["migrations"]
            response = await client.get("/v1/sessions", headers={"X-API-Key": "mnk_x"})
            problem_of(response, 503)
            assert int(response.headers["retry-after"]) > 0
    finally:
        await store.engine.dispose()


async def test_a_database_that_is_down_is_a_503_that_says_so(settings: Settings) -> None:
    away = "postgresql://nobody:x@127.0.0.1:9/none"
    store = database(settings, parse_dsn(away))
    app = create_app(settings)
    app.state.services = compose(settings, store, HashedModel())
    try:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
            assert (await client.get("/healthz")).status_code == 200
            readiness = body_of(await client.get("/readyz"), 503)
            assert readiness["checks"]["database"] != "ok"
            response = await client.get("/v1/sessions", headers={"X-API-Key": "mnk_x"})
            problem_of(response, 503, "database_unavailable")
            assert "127.0.0.1" not in response.text
            assert int(response.headers["retry-after"]) > 0
    finally:
        await store.engine.dispose()


async def test_docs_need_no_other_server(tenant: Tenant) -> None:
    client = tenant.bare()
    page = await client.get("/docs")
    assert page.status_code == 200
    assert not re.findall(r"(?:https?:)?//[^\"'\s]+", re.sub(r"(?m)^\s*//.*$", "", page.text))
    files = re.findall(r"(?:src|href)=\"([^\"]+)\"", page.text)
    assert len(files) >= 2
    for file in files:
        assert file.startswith("/")
        got = await client.get(file)
        assert got.status_code == 200, file
        assert got.content
    assert 'url: "/openapi.json"' in page.text.replace("'", '"')


def operations(document: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (method, path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]


async def test_every_operation_has_a_name_of_its_own_a_group_and_words(tenant: Tenant) -> None:
    document = body_of(await tenant.bare().get("/openapi.json"))
    names = [operation["operationId"] for _, _, operation in operations(document)]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", name) for name in names)
    groups = {tag["name"] for tag in document["tags"]}
    for _, path, operation in operations(document):
        assert set(operation["tags"]) <= groups, path
        assert len(operation["tags"]) == 1, path
        assert operation["description"], path
        assert operation["summary"], path


async def test_every_operation_under_v1_documents_its_problems_by_number(tenant: Tenant) -> None:
    document = body_of(await tenant.bare().get("/openapi.json"))
    for method, path, operation in operations(document):
        if not path.startswith("/v1"):
            continue
        responses = operation["responses"]
        assert responses.keys() >= {"400", "401", "413", "422", "503"}, (method, path)
        for status, response in responses.items():
            if status.startswith(("4", "5")):
                schema = response["content"]["application/problem+json"]["schema"]
                assert schema["$ref"].endswith("/ProblemDocument"), (method, path, status)


async def test_a_key_can_be_given_to_docs_in_both_ways(tenant: Tenant) -> None:
    document = body_of(await tenant.bare().get("/openapi.json"))
    schemes = document["components"]["securitySchemes"]
    assert (schemes["Bearer"]["type"], schemes["Bearer"]["scheme"]) == ("http", "bearer")
    assert (schemes["APIKey"]["in"], schemes["APIKey"]["name"]) == ("header", "X-API-Key")
    for _, path, operation in operations(document):
        required = [name for one in operation.get("security", []) for name in one]
        if path.startswith("/v1"):
            assert set(required) == {"Bearer", "APIKey"}, path
            assert {"APIKey": []} in operation["security"], "either suffices"


async def test_the_examples_of_bodies_run_as_they_stand(api: httpx.AsyncClient) -> None:
    document = body_of(await api.get("/openapi.json"))
    schemas = document["components"]["schemas"]
    session = body_of(await api.post("/v1/sessions", json=schemas["SessionCreate"]["examples"][0]), 201)
    path = f"/v1/sessions/{session['id']}"
    for name in ("MessageAppend", "MessagesAppend"):
        body_of(await api.post(f"{path}/messages", json=schemas[name]["examples"][0]), 201)
    body_of(await api.patch(path, json=schemas["SessionChange"]["examples"][0]))
    body_of(await api.post("/v1/memories", json=schemas["MemoriesAdd"]["examples"][0]), 201)
    memory = body_of(await api.post("/v1/memories", json=schemas["MemoryAdd"]["examples"][0]), 201)
    body_of(await api.patch(f"/v1/memories/{memory['id']}", json=schemas["MemoryChange"]["examples"][0]))
    found = body_of(await api.post("/v1/memories/search", json=schemas["SearchRequest"]["examples"][0]))
    assert found["results"]


def test_the_committed_openapi_document_is_what_the_code_says() -> None:
    assert json.loads(Path(openapi.PATH).read_text("utf-8")) == json.loads(openapi.document()), "run 'make openapi'"
