"""Sealed memories: encrypted where they stand, opened for whom it may concern, found by their key."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from app.core.errors import ConfigurationError
from app.core.sealing import KeyRing, SealingKey, Unsealable, make_file
from app.db.embedded.server import EmbeddedServer
from app.repositories.sealed import PLACEHOLDER
from app.services.sealing import Rotated
from tests.conftest import Tenant
from tests.databases import fetch, run_sql
from tests.routers.calls import add, body_of, every, problem_of, search, texts_found

SECRET = "护照号 E12345678 of Ada"


@pytest.fixture
def ring(tenant: Tenant) -> Iterator[KeyRing]:
    """The service's keys, with one in it."""
    ring = tenant.services.uow.ring
    ring.given = (SealingKey.fresh(),)
    yield ring
    ring.given = ()


async def stored(server: EmbeddedServer, memory_id: str) -> dict[str, object]:
    (row,) = await fetch(server.superuser_dsn, "SELECT * FROM memories WHERE id = $1", memory_id)
    return dict(row)


async def test_a_sensitive_memory_is_stored_encrypted_everywhere(
    tenant: Tenant, api: httpx.AsyncClient, ring: KeyRing, server: EmbeddedServer
) -> None:
    made = await add(api, SECRET, sensitive=True, key="user.passport", value="E12345678", metadata={"m": "E12345678"})
    assert (made["text"], made["value"], made["sealed"], made["sensitive"]) == (SECRET, "E12345678", False, True)
    await api.patch(f"/v1/memories/{made['id']}", json={"text": f"{SECRET} Lovelace"})
    await tenant.work()
    row = await stored(server, made["id"])
    assert (row["text"], row["value"], row["metadata"], row["length"]) == (PLACEHOLDER, None, "{}", 0)
    for table, column in (
        ("memory_events", "memory_id"),
        ("memory_postings", "memory_id"),
        ("memory_vectors", "memory_id"),
    ):
        rows = await fetch(server.superuser_dsn, f"SELECT t::text AS t FROM {table} t WHERE {column} = $1", made["id"])
        assert "E12345678" not in str(rows)
        assert (table == "memory_events") == bool(rows)
    read = body_of(await api.get(f"/v1/memories/{made['id']}"))
    assert (read["text"], read["value"]) == (f"{SECRET} Lovelace", "E12345678")


async def test_who_lacks_the_scope_sees_a_placeholder_in_every_answer(
    tenant: Tenant, api: httpx.AsyncClient, ring: KeyRing
) -> None:
    made = await add(api, SECRET, sensitive=True, key="user.passport", value="E12345678", pinned=True)
    await api.put("/v1/users/ada/facts/user.visa", json={"value": "V-98765", "sensitive": True})
    member = await tenant.client("member")
    answers = [
        await member.get(f"/v1/memories/{made['id']}"),
        await member.get("/v1/memories"),
        await member.post("/v1/memories/get", json={"ids": [made["id"]]}),
        await member.get(f"/v1/memories/{made['id']}/history"),
        await member.get("/v1/users/ada/facts"),
        await member.get("/v1/users/ada/facts/user.passport"),
        await member.get("/v1/users/ada/facts/user.visa"),
        await member.post("/v1/memories/search", json={"query": "What is user.passport?", "user_id": "ada"}),
        await member.post("/v1/sessions", json={"id": "s", "user_id": "ada"}),
        await member.post("/v1/sessions/s/context", json={"query": "What is my passport number?"}),
    ]
    for answer in answers:
        assert answer.is_success, answer.text
        assert "E12345678" not in answer.text
        assert "V-98765" not in answer.text
    assert answers[0].json()["text"] == PLACEHOLDER
    assert answers[0].json()["sealed"]


async def test_a_sealed_memory_is_found_by_its_key_and_not_by_its_words(
    tenant: Tenant, api: httpx.AsyncClient, ring: KeyRing
) -> None:
    await add(api, "The gate code is heliotrope.", sensitive=True, key="user.passport")
    assert await texts_found(api, "heliotrope", user_id="ada") == []
    hits = (await search(api, "user.passport", user_id="ada"))["results"]
    assert [hit["text"] for hit in hits] == ["The gate code is heliotrope."]


async def test_a_sealed_fact_is_read_back_and_corrected(tenant: Tenant, api: httpx.AsyncClient, ring: KeyRing) -> None:
    for value in ("E1", "E2"):
        await api.put("/v1/users/ada/facts/user.passport", json={"value": value, "sensitive": True})
    fact = body_of(await api.get("/v1/users/ada/facts/user.passport"))
    assert (fact["value"], fact["sensitive"], fact["version"]) == ("E2", True, 2)
    past = body_of(await api.get("/v1/users/ada/facts/user.passport/history"))["results"]
    assert [version["value"] for version in past] == ["E2", "E1"]


async def test_the_same_sensitive_text_twice_is_one_memory(api: httpx.AsyncClient, ring: KeyRing) -> None:
    first, second = await add(api, SECRET, sensitive=True), await add(api, SECRET, sensitive=True)
    assert (first["id"], second["seen_count"]) == (second["id"], 2)


async def test_without_a_key_nothing_is_sealed_and_nothing_is_pretended(api: httpx.AsyncClient) -> None:
    body = {"text": SECRET, "user_id": "ada", "sensitive": True}
    problem_of(await api.post("/v1/memories", json=body), 422, "sealing_unavailable")
    fact = await api.put("/v1/users/ada/facts/user.passport", json={"value": "E1", "sensitive": True})
    problem_of(fact, 422, "sealing_unavailable")
    for setting in ({"redaction": "seal"}, {"sensitive_keys": ["user.passport"]}):
        problem_of(await api.patch("/v1/admin/settings", json=setting), 422, "sealing_unavailable")
    assert await every(api, "/v1/memories") == []


async def test_the_tenants_keys_are_sealed_without_being_asked(
    tenant: Tenant, api: httpx.AsyncClient, ring: KeyRing
) -> None:
    body_of(await api.patch("/v1/admin/settings", json={"sensitive_keys": ["health.", "user.passport"]}))
    tenant.services.access.forget()
    assert (await add(api, "青霉素过敏", key="health.allergy"))["sensitive"]
    assert not (await add(api, "Likes tea", key="preference.drink"))["sensitive"]


async def test_the_policy_seal_encrypts_a_memory_with_a_secret_and_redacts_elsewhere(
    tenant: Tenant, api: httpx.AsyncClient, ring: KeyRing, server: EmbeddedServer
) -> None:
    body_of(await api.patch("/v1/admin/settings", json={"redaction": "seal"}))
    secret = "The wifi password is hunter2zebra."
    items = [{"text": secret, "user_id": "ada"}, {"text": "Likes tea.", "user_id": "ada"}]
    kept, plain = body_of(await api.post("/v1/memories", json={"memories": items}), 201)["results"]
    assert (kept["text"], kept["sensitive"], plain["sensitive"]) == (secret, True, False)
    assert (await stored(server, kept["id"]))["text"] == PLACEHOLDER
    message = {"role": "user", "content": secret, "user_id": "ada"}
    said = body_of(await api.post("/v1/sessions/s/messages", json=message), 201)
    assert "hunter2zebra" not in json.dumps(said)


async def test_what_was_moved_to_another_row_cannot_be_opened(
    tenant: Tenant, api: httpx.AsyncClient, ring: KeyRing, server: EmbeddedServer
) -> None:
    one, two = await add(api, "one secret", sensitive=True), await add(api, "two secret", sensitive=True)
    moved = (
        f"UPDATE memories SET sealed = (SELECT sealed FROM memories WHERE id = '{one['id']}') WHERE id = '{two['id']}'"
    )
    await run_sql(server.superuser_dsn, moved)
    read = body_of(await api.get(f"/v1/memories/{two['id']}"))
    assert (read["text"], read["sealed"]) == (PLACEHOLDER, True)


async def test_a_rotation_seals_anew_under_the_newest_key_and_the_old_one_may_go(
    tenant: Tenant, api: httpx.AsyncClient, ring: KeyRing
) -> None:
    made = await add(api, SECRET, sensitive=True)
    await add(api, "another", sensitive=True)
    old, new = ring.given[0], SealingKey.fresh()
    ring.given = (new, old)
    seen: list[int] = []
    assert await tenant.services.sealing.total() >= 2
    done = await tenant.services.sealing.rotate(seen.append)
    assert done.resealed >= 2
    assert sum(seen) >= 2
    ring.given = (new,)
    assert body_of(await api.get(f"/v1/memories/{made['id']}"))["text"] == SECRET
    assert isinstance(await tenant.services.sealing.rotate(), Rotated)


def test_a_key_file_is_made_once_for_its_owner_alone_and_read_again_when_it_changes(tmp_path: Path) -> None:
    file = tmp_path / "sealing.key"
    make_file(file)
    first = file.read_text("ascii")
    make_file(file)
    assert file.read_text("ascii") == first
    assert file.stat().st_mode & 0o777 == 0o600
    ring = KeyRing(file=file)
    sealed = ring.seal(b"tea", "here")
    ring.add(SealingKey.fresh())
    assert not ring.is_current(sealed)
    assert ring.open(sealed, "here") == b"tea"
    with pytest.raises(Unsealable):
        ring.open(sealed, "elsewhere")
    with pytest.raises(Unsealable):
        ring.open(sealed[:-1] + bytes([sealed[-1] ^ 1]), "here")
    assert len(file.read_text("ascii").split()) == 2


@pytest.mark.parametrize("text", ["", "tea", "dGVh", "é"])
def test_what_is_no_key_is_refused_in_words(text: str) -> None:
    with pytest.raises(ConfigurationError, match="32 bytes in base64"):
        SealingKey.read(text)


@pytest.mark.parametrize("question", ["What is my passport number?", "我的护照号是什么?"])
async def test_a_prepared_context_tells_nothing_sealed(
    tenant: Tenant, api: httpx.AsyncClient, ring: KeyRing, server: EmbeddedServer, question: str
) -> None:
    await add(api, SECRET, sensitive=True, key="user.passport", value="E12345678")
    await add(api, SECRET, sensitive=True, category="constraint", pinned=True)
    bound = await tenant.client("member", ["ada"])
    body_of(await bound.post("/v1/sessions/p/messages", json={"role": "user", "content": question}), 201)
    for client in (bound, api):  # prepared by the service, and by somebody who may read it
        warmed = await client.post("/v1/sessions/p/context/prefetch", json={})
        assert body_of(warmed)["prepared"]
        kept = await fetch(server.superuser_dsn, "SELECT content::text AS content FROM context_cache")
        assert kept
        assert "E12345678" not in str(kept)
        context = body_of(await bound.post("/v1/sessions/p/context", json={}))
        assert context["prefetched"]
        assert "E12345678" not in json.dumps(context)
        assert PLACEHOLDER in json.dumps(context)
    whole = body_of(await api.post("/v1/sessions/p/context", json={}))
    assert "E12345678" in json.dumps(whole)


async def test_a_sealed_key_is_sealed_in_whatever_spelling_it_is_written(api: httpx.AsyncClient, ring: KeyRing) -> None:
    body_of(await api.patch("/v1/admin/settings", json={"sensitive_keys": ["medical"]}))
    for number, key in enumerate(("Medical.a", " medical.b", "MEDICAL.c", "\uff4dedical.d")):
        made = await add(api, f"Finding {number}", key=key, value=str(number))
        assert made["sensitive"], key
    plain = await add(api, "Blood type A", key="user.blood", value="A")
    refused = await api.patch(f"/v1/memories/{plain['id']}", json={"key": "Medical.blood"})
    problem_of(refused, 409, "key_is_sealed")


async def test_a_sealed_fact_stays_sealed_with_every_new_value(
    tenant: Tenant, api: httpx.AsyncClient, ring: KeyRing
) -> None:
    path = "/v1/users/ada/facts/pin.code"
    body_of(await api.put(path, json={"value": "1111", "sensitive": True}), 201)
    assert body_of(await api.put(path, json={"value": "2222"}))["sensitive"]
    reader = await tenant.client("reader")
    assert body_of(await reader.get(path))["text"] == PLACEHOLDER
    assert body_of(await api.get(path))["value"] == "2222"
    texts = {"en": "The code is now 3333.", "zh": "密码现在是4444。"}
    for text, value in zip(texts.values(), ("3333", "4444"), strict=True):
        told = {"text": text, "key": "pin.code", "value": value, "user_id": "ada"}
        assert body_of(await api.post("/v1/memories", json=told), 201)["sensitive"]
        assert body_of(await reader.get(path))["text"] == PLACEHOLDER
        assert body_of(await api.get(path))["value"] == value
        found = await search(reader, text, user_id="ada")
        assert value not in json.dumps(found)


async def test_who_may_not_read_a_sealed_memory_does_not_rewrite_it(
    tenant: Tenant, api: httpx.AsyncClient, ring: KeyRing
) -> None:
    made = await add(api, SECRET, sensitive=True)
    member = await tenant.client("member")
    path = f"/v1/memories/{made['id']}"
    problem_of(await member.patch(path, json={"text": PLACEHOLDER}), 403, "missing_scope")
    assert body_of(await member.patch(path, json={"importance": 7}))["importance"] == 7
    assert body_of(await api.get(path))["text"] == SECRET


async def test_an_answer_that_is_kept_for_its_key_tells_nothing_sealed(
    api: httpx.AsyncClient, ring: KeyRing, server: EmbeddedServer
) -> None:
    body = {"text": SECRET, "user_id": "ada", "sensitive": True}
    once = {"Idempotency-Key": "sealed-once"}
    first = body_of(await api.post("/v1/memories", json=body, headers=once), 201)
    kept = await fetch(server.superuser_dsn, "SELECT body FROM idempotency_keys WHERE key = 'sealed-once'")
    assert kept
    assert "E12345678" not in str(kept)
    again = await api.post("/v1/memories", json=body, headers=once)
    assert (again.headers["idempotent-replayed"], body_of(again, 201)) == ("true", first)
