"""Secrets stop at the door: nothing behind it ever sees one, and the answer says that one was there."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any, get_args

import httpx
import pytest
import structlog
from pydantic import AfterValidator, BaseModel

from app.composition import Services, compose, database
from app.core import ids
from app.db import migrate
from app.db.checks import RoleCheck
from app.db.dsn import parse_dsn
from app.db.embedded.server import EmbeddedServer
from app.db.scoped import Database
from app.main import create_app
from app.providers.embeddings.openai import Endpoint, OpenAIModel
from app.schemas import fields
from app.schemas.fields import RequestModel
from app.services.redacting import CONTENT
from app.services.registration import ModelRegistration
from app.settings import Settings
from app.uow import UnitOfWork
from tests.conftest import Tenant, tenant_of
from tests.databases import create_database, drop_database, fetch
from tests.doubles.openai_server import EmbeddingHost, embedding_host
from tests.routers.calls import add, body_of, open_session, problem_of, say, search

PLANTED = "kestrel77"
"""A part of every secret here, as a word of its own where texts are split."""

KEY = "sk-ant-" + f"api03-{PLANTED}-" + "aB3" * 14
PASSWORD = f"{PLANTED}pw"
EN = f"Our staging key is {KEY}, and my password is {PASSWORD}."
ZH = f"测试环境的密钥是 {KEY}，数据库密码是{PASSWORD}。"
BOTH = ["api_key", "password"]
EN_SHOWN = "Our staging key is [redacted:api_key], and my password is [redacted:password]."
ZH_SHOWN = "测试环境的密钥是 [redacted:api_key]，数据库密码是[redacted:password]。"
TEXTS = pytest.mark.parametrize(("text", "shown"), [(EN, EN_SHOWN), (ZH, ZH_SHOWN)], ids=["en", "zh"])


@dataclass
class Heard:
    """A tenant in a database of its own whose embedding model is a host on loopback that remembers what it was sent."""

    tenant: Tenant
    host: EmbeddingHost
    dsn: str

    async def stored(self) -> str:
        """Every row of every table, as text."""
        named = "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = 'public'"
        tables = [row["name"] for row in await fetch(self.dsn, named)]
        rows = [row["t"] for name in tables for row in await fetch(self.dsn, f"SELECT t::text FROM {name} t")]
        return "\n".join(rows).lower()

    def sent(self) -> str:
        return json.dumps(self.host.texts, ensure_ascii=False).lower()


@pytest.fixture(scope="module")
def host() -> Iterator[EmbeddingHost]:
    with embedding_host() as running:
        yield running


@pytest.fixture(scope="module")
async def place(
    server: EmbeddedServer, settings: Settings, host: EmbeddingHost
) -> AsyncIterator[tuple[Services, Settings, str]]:
    """Use cases over a fresh database, with the host as their model."""
    made = await create_database(server)
    await asyncio.to_thread(migrate.upgrade, made.migrator_dsn)
    model = OpenAIModel(Endpoint(host.url, "double"))
    migrator = database(settings, parse_dsn(made.migrator_dsn))
    await ModelRegistration(UnitOfWork(Database(migrator.engine, check=RoleCheck(passed=True)))).register(model)
    await migrator.engine.dispose()
    store = database(settings, parse_dsn(made.app_dsn))
    yield compose(settings, store, model), settings, made.superuser_dsn
    await model.close()
    await store.engine.dispose()
    await drop_database(server, made)


@pytest.fixture
async def heard(place: tuple[Services, Settings, str], host: EmbeddingHost) -> AsyncIterator[Heard]:
    services, settings, dsn = place
    app = create_app(settings)
    app.state.services = services
    tenant = await tenant_of(services, app)
    yield Heard(tenant, host, dsn)
    await tenant.close()


async def write_everywhere(api: httpx.AsyncClient, text: str) -> list[dict[str, Any]]:
    """Say a text through every route that takes one; the answers."""
    once = {"Idempotency-Key": str(ids.new_id())}
    part = {"type": "text", "text": text}
    call = {"id": "c", "function": {"name": "login", "arguments": json.dumps({"user": "ada", "password": PASSWORD})}}
    messages = [
        {"role": "user", "content": text},
        {"role": "user", "content": [part], "metadata": {"note": text}},
        {"role": "assistant", "tool_calls": [call]},
    ]
    first = await add(api, text, metadata={"deep": [{"password": PASSWORD}]}, sources=[])
    path = f"/v1/memories/{first['id']}"
    return [
        body_of(await api.post("/v1/sessions", json={"id": "s", "user_id": "ada", "title": text}), 201),
        body_of(await api.patch("/v1/sessions/s", json={"metadata": {"api_key": KEY, "note": text}})),
        body_of(await api.post("/v1/sessions/s/messages", json=messages[0], headers=once), 201),
        body_of(await api.post("/v1/sessions/s/messages", json={"messages": messages}), 201),
        first,
        body_of(await api.patch(path, json={"text": f"Again: {text}", "metadata": {"secret": KEY}})),
        body_of(await api.post("/v1/memories", json={"memories": [{"text": "tea", "user_id": "ada"}, {
            "text": f"Once more: {text}", "user_id": "ada", "key": "wifi.password", "value": PASSWORD,
            "sources": [{"session_id": "s", "seqs": [1], "quote": text}],
        }]}), 201),
        body_of(await api.put("/v1/users/ada/facts/mail.password", json={"value": PASSWORD}), 201),
        body_of(await api.put("/v1/blocks/persona?user_id=ada", json={"text": text, "description": text}), 201),
        body_of(await api.patch("/v1/blocks/persona?user_id=ada", json={"append": text})),
        body_of(await api.put("/v1/sessions/s/state", json={"state": {"environment": {"DB_PASSWORD": PASSWORD}}})),
        body_of(await api.patch("/v1/sessions/s/state", json={"patch": {"note": text}})),
        body_of(await api.patch("/v1/users/ada", json={"metadata": {"note": text}})),
        body_of(await api.put("/v1/keys/user.car", json={"description": text})),
        body_of(await api.post(f"{path}/feedback", json={"verdict": "used", "reason": text})),
        body_of(await api.post(f"{path}/confirm", json={"reason": text})),
        body_of(await api.post("/v1/sessions/s/fork", json={"id": f"copy-{ids.new_id()}", "title": text}), 201),
        body_of(await api.post(f"{path}/reject", json={"reason": text})),
    ]  # fmt: skip


@TEXTS
async def test_no_secret_reaches_the_database_or_the_model_or_an_answer(heard: Heard, text: str, shown: str) -> None:
    api = await heard.tenant.client()
    answers = await write_everywhere(api, text)
    assert PLANTED not in json.dumps(answers).lower()
    await heard.tenant.work()
    await search(api, text, user_id="ada", include_messages=True, explain=True, filters={"text": {"contains": KEY}})
    await search(api, "and it?", recent={"messages": [text]}, user_id="ada")
    body_of(await api.post("/v1/messages/search", json={"query": text}))
    assert shown.lower() in heard.sent()
    assert PLANTED not in heard.sent()
    stored = await heard.stored()
    assert "[redacted:api_key]" in stored
    assert PLANTED not in stored


@TEXTS
async def test_a_message_says_what_was_taken_out_of_it(api: httpx.AsyncClient, text: str, shown: str) -> None:
    said = await say(api, "s", text)
    assert (said["content"], said["redacted"]) == (shown, BOTH)
    assert "redacted" not in await say(api, "s", "Nothing to hide. 没有秘密。")
    read = body_of(await api.get("/v1/sessions/s/messages/1"))
    assert read["content"] == shown
    assert "redacted" not in read


@TEXTS
async def test_a_memory_says_what_was_taken_out_of_it(api: httpx.AsyncClient, text: str, shown: str) -> None:
    kept = await add(api, text)
    assert (kept["text"], kept["redacted"]) == (shown, BOTH)
    changed = body_of(await api.patch(f"/v1/memories/{kept['id']}", json={"text": f"密码：{PASSWORD}"}))
    assert (changed["text"], changed["redacted"]) == ("密码：[redacted:password]", ["password"])


async def test_each_of_many_says_what_was_taken_out_of_it(api: httpx.AsyncClient) -> None:
    messages = [{"role": "user", "content": text} for text in ("tea", f"密码是{PASSWORD}", f"key {KEY}")]
    said = body_of(await api.post("/v1/sessions/s/messages", json={"messages": messages}), 201)["results"]
    assert [one.get("redacted") for one in said] == [None, ["password"], ["api_key"]]
    memories = [{"text": text, "user_id": "ada"} for text in (EN, "茶")]
    kept = body_of(await api.post("/v1/memories", json={"memories": memories}), 201)["results"]
    assert [one.get("redacted") for one in kept] == [BOTH, None]


async def test_parts_and_arguments_of_tools_come_back_redacted(api: httpx.AsyncClient) -> None:
    arguments = {"user": "ada", "password": PASSWORD}
    call = {"id": "c1", "type": "function", "function": {"name": "login", "arguments": json.dumps(arguments)}}
    fresh = {"id": "c2", "input": arguments}
    message = {"role": "assistant", "content": [{"type": "text", "text": ZH}], "tool_calls": [call, fresh]}
    said = body_of(await api.post("/v1/sessions/s/messages", json=message), 201)
    assert said["content"] == [{"type": "text", "text": ZH_SHOWN}]
    assert json.loads(said["tool_calls"][0]["function"]["arguments"]) == arguments | {"password": "[redacted:password]"}
    assert said["tool_calls"][1]["input"] == arguments | {"password": "[redacted:password]"}


async def test_the_value_of_a_key_that_is_called_a_password_is_one(api: httpx.AsyncClient) -> None:
    fact = body_of(await api.put("/v1/users/ada/facts/wifi.password", json={"value": "sunshine"}), 201)
    assert (fact["value"], fact["redacted"]) == ("[redacted:password]", ["password"])
    assert "sunshine" not in fact["text"]
    kept = await add(api, "The mail box.", key="mail.password", value="old")
    changed = body_of(await api.patch(f"/v1/memories/{kept['id']}", json={"value": "sunshine"}))
    assert changed["value"] == "[redacted:password]"


async def test_what_was_redacted_is_found_by_the_words_around_it(api: httpx.AsyncClient) -> None:
    await add(api, EN)
    hits = (await search(api, f"staging key {KEY}", user_id="ada"))["results"]
    assert [hit["text"] for hit in hits] == [EN_SHOWN]


async def test_the_first_answer_again_has_the_kinds_and_no_secret(api: httpx.AsyncClient) -> None:
    message, headers = {"role": "user", "content": EN}, {"Idempotency-Key": "k"}
    first, again = [await api.post("/v1/sessions/s/messages", json=message, headers=headers) for _ in range(2)]
    assert first.json() == again.json()
    assert again.headers["idempotent-replayed"] == "true"
    assert again.json()["redacted"] == BOTH


@TEXTS
async def test_reject_refuses_a_secret_and_says_where_but_not_what(heard: Heard, text: str, shown: str) -> None:
    api = await heard.tenant.client()
    body_of(await api.patch("/v1/admin/settings", json={"redaction": "reject"}))
    messages = [{"role": "user", "content": "tea"}, {"role": "user", "content": text}]
    refused = await api.post("/v1/sessions/r/messages", json={"messages": messages})
    problem = problem_of(refused, 422, "secret_found")
    assert [fault["loc"] for fault in problem["errors"]] == [["body", "messages", 1, "content"]] * 2
    assert "api_key, password" in problem["detail"]
    assert PLANTED not in refused.text.lower()
    for method, path, body in (
        ("POST", "/v1/memories", {"text": text, "user_id": "ada"}),
        ("PUT", "/v1/users/ada/facts/a.password", {"value": PASSWORD}),
        ("PUT", "/v1/blocks/b?user_id=ada", {"text": text}),
        ("POST", "/v1/sessions", {"title": text}),
    ):
        problem_of(await api.request(method, path, json=body), 422, "secret_found")
    assert PLANTED not in await heard.stored()
    problem_of(await api.get("/v1/sessions/r"), 404)
    await search(api, text, user_id="ada", explain=True)
    assert PLANTED not in await heard.stored()


async def test_allow_stores_what_it_is_given(api: httpx.AsyncClient) -> None:
    body_of(await api.patch("/v1/admin/settings", json={"redaction": "allow"}))
    said, kept = await say(api, "s", EN), await add(api, ZH)
    assert (said["content"], kept["text"]) == (EN, ZH)
    assert "redacted" not in said | kept
    body_of(await api.patch("/v1/admin/settings", json={"redaction": None}))
    assert (await say(api, "s", EN))["content"] == EN_SHOWN


async def test_telephone_numbers_are_taken_out_where_the_tenant_says_so(api: httpx.AsyncClient) -> None:
    text = "我的手机是13800138000, or call +44 20 7946 0958."
    assert (await say(api, "s", text))["content"] == text
    body_of(await api.patch("/v1/admin/settings", json={"redact_phone_numbers": True}))
    said = await say(api, "s", text)
    assert said["content"] == "我的手机是[redacted:phone_number], or call [redacted:phone_number]."
    assert said["redacted"] == ["phone_number"]


async def test_a_block_can_be_changed_by_the_words_that_its_writer_knows(api: httpx.AsyncClient) -> None:
    body_of(await api.put("/v1/blocks/b?user_id=ada", json={"text": EN}), 201)
    replace = {"replace": {"old": f"my password is {PASSWORD}", "new": "I have none"}}
    changed = body_of(await api.patch("/v1/blocks/b?user_id=ada", json=replace))
    assert changed["text"] == "Our staging key is [redacted:api_key], and I have none."


async def test_secrets_are_counted_by_kind_and_outcome(api: httpx.AsyncClient, tenant: Tenant) -> None:
    counter = tenant.services.metrics.secrets
    before = {(k, o): counter.labels(k, o)._value.get() for k in BOTH for o in ("redacted", "rejected")}
    await say(api, "s", EN)
    body_of(await api.patch("/v1/admin/settings", json={"redaction": "reject"}))
    await api.post("/v1/sessions/s/messages", json={"role": "user", "content": f"密码是{PASSWORD}"})
    grown = {key: counter.labels(*key)._value.get() - value for key, value in before.items()}
    assert grown == {
        ("api_key", "redacted"): 1,
        ("password", "redacted"): 1,
        ("api_key", "rejected"): 0,
        ("password", "rejected"): 1,
    }


async def test_no_secret_is_logged(api: httpx.AsyncClient, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with structlog.testing.capture_logs() as lines:
        await open_session(api, "t", title=EN)
        await say(api, "s", ZH)
        await add(api, EN)
        await search(api, ZH, user_id="ada")
        body_of(await api.patch("/v1/admin/settings", json={"redaction": "reject"}))
        problem_of(await api.post("/v1/memories", json={"text": EN, "user_id": "ada"}), 422, "secret_found")
    logged = json.dumps(lines, default=str) + caplog.text
    assert "/v1/memories" in logged
    assert PLANTED not in logged.lower()


FREE = {fields._storable, fields._json_fault}
NO_CONTENT = {
    ("KeyCreate", "name"),  # what an administrator calls a key
    ("KeyChange", "name"),
    ("ModelRegister", "name"),
    ("AskedQuery", "query"),  # what an operator asks two models, to compare them
    ("SearchRequest", "filters"),  # compared and not written; its explanation keeps it without secrets
    ("CheckpointList", "filter"),  # compared and not written
    ("StoreSearch", "filter"),  # likewise
    ("MemoriesDelete", "filters"),  # compared; a job's payload has it until the job is done
}


def requests_of(model: type[BaseModel] = RequestModel) -> Iterator[type[BaseModel]]:
    for child in model.__subclasses__():
        yield child
        yield from requests_of(child)


def holds_text(annotation: Any, metadata: list[Any]) -> bool:
    """Whether a field takes free text or JSON, or a request that does."""
    if any(isinstance(one, AfterValidator) and one.func in FREE for one in metadata):
        return True
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation in CONTENT
    parts = get_args(annotation)
    own = list(getattr(annotation, "__metadata__", ()))
    return bool(own and holds_text(None, own)) or any(holds_text(part, []) for part in parts)


def test_every_text_of_every_request_goes_through_the_door() -> None:
    asked = [model for model in set(requests_of()) if model.__module__.startswith("app.")]
    texts = {
        (model.__name__, name)
        for model in asked
        for name, field in model.model_fields.items()
        if holds_text(field.annotation, list(field.metadata))
    }
    named = {(model.__name__, name) for model, names in CONTENT.items() for name in names}
    assert texts - NO_CONTENT == named
