"""Databases with one model that serves and another that may: the model is the whole database's."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import httpx
import pytest

from app import bootstrap
from app.composition import compose, database, embedding_model
from app.db import migrate
from app.db.dsn import parse_dsn
from app.db.embedded.server import EmbeddedServer
from app.main import create_app
from app.providers.embeddings.choice import other_models
from app.settings import Settings
from tests.conftest import Tenant
from tests.databases import Place, create_database, drop_database, fetch, run_sql
from tests.doubles.concept_host import ConceptHost, concept_host
from tests.doubles.openai_server import EmbeddingHost, embedding_host

OLD, NEW = "old-model", "new-model"


RESET = """
DO $$ DECLARE names text; one text; BEGIN
    FOR one IN SELECT indexname FROM pg_indexes WHERE indexname LIKE 'hnsw%' LOOP
        EXECUTE 'DROP INDEX ' || one;
    END LOOP;
    SELECT string_agg(quote_ident(tablename), ', ') INTO names FROM pg_tables
        WHERE schemaname = 'public' AND tablename NOT IN ('alembic_version', 'installation');
    EXECUTE 'TRUNCATE ' || names || ' RESTART IDENTITY';
END $$
"""


@pytest.fixture(scope="module")
async def place(server: EmbeddedServer) -> AsyncIterator[Place]:
    """A migrated database without a model."""
    made = await create_database(server)
    await asyncio.to_thread(migrate.upgrade, made.migrator_dsn)
    yield made
    await drop_database(server, made)


@pytest.fixture
def old() -> Iterator[EmbeddingHost]:
    """The host of the model that serves at first: it knows equal texts and nothing else."""
    with embedding_host(32) as running:
        yield running


@pytest.fixture
def new() -> Iterator[ConceptHost]:
    """The host of the other one, of another dimension."""
    with concept_host() as running:
        yield running


@dataclass
class House:
    """A database and the hosts of its two models."""

    place: Place
    old: EmbeddingHost
    new: ConceptHost

    def settings(self, *, first: str = OLD, also: bool = True, **changes: Any) -> Settings:
        """Settings of a process that is configured with one model and, with `also`, knows the other one."""
        hosts = {OLD: self.old, NEW: self.new}
        other = NEW if first == OLD else OLD
        further = {"provider": "openai", "base_url": hosts[other].url, "model": other, "attempts": 1}
        return Settings(
            _env_file=None,
            database_url=self.place.app_dsn,
            migration_database_url=self.place.migrator_dsn,
            key_cache_seconds=0,
            embed_debounce_seconds=0,
            extractor="off",
            summariser="off",
            prefetch="off",
            embedding_provider="openai",
            embedding_base_url=hosts[first].url,
            embedding_model=first,
            embedding_attempts=1,
            embedding_cache_size=0,
            embedding_also=[further] if also else [],
            embedding_follow_seconds=0.05,
            reembed_texts_per_second=0,
            job_backoff_seconds=0.05,
            pool_size=8,
            **changes,
        )

    @asynccontextmanager
    async def process(self, settings: Settings | None = None, tenant_name: str = "test") -> AsyncIterator[Tenant]:
        """The service as a process of its own would have it, with a tenant."""
        chosen = settings or self.settings()
        store = database(chosen, parse_dsn(self.place.app_dsn))
        model, also = embedding_model(chosen), other_models(chosen)
        services = compose(chosen, store, model, also=also)
        app = create_app(chosen)
        app.state.services = services
        tenant = Tenant(await services.access.tenant(tenant_name), services, app)
        try:
            yield tenant
        finally:
            await tenant.close()
            for one in (model, *also):
                await one.close()
            await store.engine.dispose()

    async def without(self, name: str) -> int:
        """Texts that have no vector by a model."""
        (found,) = await fetch(
            self.place.superuser_dsn,
            """
            WITH m AS (SELECT id FROM embedding_models WHERE name = $1)
            SELECT (SELECT count(*) FROM memories t WHERE NOT EXISTS (SELECT FROM memory_vectors v, m
                    WHERE v.memory_id = t.id AND v.model_id = m.id AND v.text_hash = t.content_hash))
                 + (SELECT count(*) FROM messages t WHERE NOT EXISTS (SELECT FROM message_vectors v, m
                    WHERE v.message_id = t.id AND v.model_id = m.id AND v.text_hash = t.content_hash))
                 + (SELECT count(*) FROM store_texts t, m
                    WHERE t.model_id IS DISTINCT FROM m.id AND t.second_model_id IS DISTINCT FROM m.id) AS n
            """,
            name,
        )
        return int(found["n"])

    async def vectors(self, name: str) -> int:
        """Vectors that there are by a model."""
        (found,) = await fetch(
            self.place.superuser_dsn,
            """
            WITH m AS (SELECT id FROM embedding_models WHERE name = $1)
            SELECT (SELECT count(*) FROM memory_vectors v, m WHERE v.model_id = m.id)
                 + (SELECT count(*) FROM message_vectors v, m WHERE v.model_id = m.id)
                 + (SELECT count(*) FROM store_texts t, m WHERE m.id IN (t.model_id, t.second_model_id)) AS n
            """,
            name,
        )
        return int(found["n"])

    async def indexes(self) -> set[str]:
        """The vector indexes that there are."""
        rows = await fetch(self.place.superuser_dsn, "SELECT indexname FROM pg_indexes WHERE indexname LIKE 'hnsw%'")
        return {row["indexname"] for row in rows}


@pytest.fixture
async def house(place: Place, old: EmbeddingHost, new: ConceptHost) -> House:
    """A database whose model serves, and nothing in it."""
    await run_sql(place.superuser_dsn, RESET)
    made = House(place, old, new)
    await asyncio.to_thread(bootstrap.register_model, made.settings(), place.migrator_dsn)
    return made


SAID = [
    ("She lives in a small apartment in Lisbon.", "Where is her home?"),
    ("他每天早上喝绿茶。", "他喝什么咖啡或茶?"),
    ("Her dog is called Bruno.", "What pet does she have?"),
    ("他在一家设计公司上班。", "他的工作是什么?"),
    ("She is allergic to peanuts.", "她对什么过敏?"),
    ("他下周坐火车去出差。", "When does he travel?"),
]
"""What is known, and a question whose answer it is: in the other language, or in other words."""


async def tell(api: httpx.AsyncClient, user_id: str = "ada") -> list[str]:
    """Write one memory of each, some messages and items of the store; the memories' ids."""
    many = [{"text": text, "user_id": user_id} for text, _ in SAID]
    answer = await api.post("/v1/memories", json={"memories": many})
    assert answer.status_code == 201, answer.text
    told = [one["id"] for one in answer.json()["results"]]
    messages = [{"role": "user", "content": question} for _, question in SAID]
    answer = await api.post(f"/v1/sessions/s-{user_id}/messages", json={"user_id": user_id, "messages": messages})
    assert answer.status_code == 201, answer.text
    ops = [{"op": "put", "namespace": [user_id], "key": str(n), "value": {"text": t}} for n, (t, _) in enumerate(SAID)]
    answer = await api.post("/v1/store/batch", json={"ops": ops})
    assert answer.status_code == 200, answer.text
    return told


async def model_named(api: httpx.AsyncClient, name: str) -> dict[str, Any]:
    """A model as the list has it."""
    answer = await api.get("/v1/admin/embedding-models")
    return next(one for one in answer.json()["results"] if one["name"] == name)


async def built(tenant: Tenant, api: httpx.AsyncClient, name: str = NEW) -> int:
    """Register a model and let its job run to the end; its number."""
    answer = await api.post("/v1/admin/embedding-models", json={"name": name})
    assert answer.status_code == 202, answer.text
    UUID(answer.json()["job_id"])
    await tenant.work()
    found = await model_named(api, name)
    assert (found["status"], found["indexed"], found["progress"]["waits_for"]) == ("standby", True, None)
    return int(found["id"])


async def activate(api: httpx.AsyncClient, model_id: int, **body: Any) -> httpx.Response:
    """Ask for a switch."""
    return await api.post(f"/v1/admin/embedding-models/{model_id}/activate", json=body)
