"""What Prometheus sees."""

import asyncio
from contextlib import suppress

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from app.composition import Services, compose
from app.core.errors import ConfigurationError
from app.core.metrics import Metrics, QueueTally
from app.core.ports import free_port
from app.main import create_app
from app.providers.embeddings.base import EmbeddingUnavailable
from app.providers.embeddings.measured import MeasuredModel
from app.services.forgetting.health import MemoryHealthService
from app.settings import Settings
from tests.conftest import Tenant
from tests.doubles.embeddings import HashedModel
from tests.routers.calls import add, body_of

Values = dict[tuple[str, frozenset[tuple[str, str]]], float]


def values(text: str) -> Values:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def labels(**given: str) -> frozenset[tuple[str, str]]:
    return frozenset(given.items())


@pytest.fixture
def measured(tenant: Tenant, services: Services, settings: Settings) -> Metrics:
    """Values that start at zero behind the tenant's clients."""
    store, metrics = services.uow.database, Metrics()
    tenant.app.state.services = compose(settings, store, MeasuredModel(services.embedder.model, metrics), metrics)
    return metrics


async def test_admin_key_reads_metrics_and_no_other_does(tenant: Tenant) -> None:
    admin, member, nobody = await tenant.client(), await tenant.client("member"), tenant.bare()
    answer = await admin.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain")
    assert "mnemic_http_requests_total" in answer.text
    assert (await member.get("/metrics")).status_code == 403
    assert (await nobody.get("/metrics")).status_code == 401


async def test_requests_are_counted_by_template_and_never_by_what_was_asked(tenant: Tenant, measured: Metrics) -> None:
    client, stranger = await tenant.client(), tenant.bare({"Authorization": "Bearer planted-key"})
    await client.post("/v1/sessions", json={"id": "planted-session", "user_id": "planted-user"})
    await client.get("/v1/sessions/planted-session")
    await client.get("/nowhere/planted-path")
    await client.request("PLANTED", "/v1/sessions/planted-session")
    await stranger.get("/v1/sessions/planted-session")
    text = (await client.get("/metrics")).text
    assert "planted" not in text.lower()
    found = values(text)
    route = "/v1/sessions/{session_id}"
    assert found["mnemic_http_requests_total", labels(method="GET", route=route, status="200")] == 1
    assert found["mnemic_http_requests_total", labels(method="GET", route=route, status="401")] == 1
    assert found["mnemic_http_requests_total", labels(method="GET", route="unmatched", status="404")] == 1
    assert found["mnemic_http_request_seconds_count", labels(method="GET", route=route)] == 2
    assert found["mnemic_auth_failures_total", labels(reason="unauthenticated")] == 1
    assert found["mnemic_http_requests_in_flight", labels()] == 1


async def test_jobs_are_counted_by_kind_and_state(tenant: Tenant, measured: Metrics) -> None:
    client = await tenant.client()
    await client.post("/v1/sessions/s/messages", json={"role": "user", "content": "hello", "user_id": "u"})
    found = values((await client.get("/metrics")).text)
    assert found["mnemic_database_up", labels()] == 1
    assert found["mnemic_jobs", labels(kind="embed_messages", state="queued")] >= 1
    assert found["mnemic_jobs_oldest_due_seconds", labels()] >= 0
    assert found["mnemic_database_pool_size", labels()] == 8
    assert found["mnemic_database_pool_in_use", labels()] <= 8


async def test_runs_of_jobs_and_embedding_calls_are_counted(tenant: Tenant, measured: Metrics) -> None:
    client = await tenant.client()
    await client.post("/v1/memories", json={"text": "tea", "user_id": "u"})
    with measured.job_run("embed_messages") as outcome:
        outcome.word = "failed"
    found = values((await measured.rendered()).decode())
    assert found["mnemic_embedding_calls_total", labels(input="passage", outcome="ok")] == 1
    assert found["mnemic_embedded_texts_total", labels(input="passage")] == 1
    assert found["mnemic_embedding_seconds_count", labels(input="passage")] == 1
    assert found["mnemic_job_runs_total", labels(kind="embed_messages", outcome="failed")] == 1


async def test_failed_embedding_is_counted_as_such() -> None:
    metrics, model = Metrics(), HashedModel()
    model.broken = True
    with suppress(EmbeddingUnavailable):
        await MeasuredModel(model, metrics).embed_query("tea")
    found = values((await metrics.rendered()).decode())
    assert found["mnemic_embedding_calls_total", labels(input="query", outcome="EmbeddingUnavailable")] == 1


async def test_scrape_without_a_database_says_so_and_gives_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.core.metrics.PATIENCE_SECONDS", 0.05)
    metrics = Metrics()
    metrics.watch_queue(asyncio.Event().wait)  # type: ignore[arg-type]
    found = values((await metrics.rendered()).decode())
    assert found["mnemic_database_up", labels()] == 0
    assert ("mnemic_jobs_oldest_due_seconds", labels()) not in found
    assert found["mnemic_http_requests_in_flight", labels()] == 0


async def test_metrics_port_needs_no_key_and_takes_the_path_off_the_api(
    services: Services, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.core.metrics.PATIENCE_SECONDS", 30)  # a loaded machine answers late
    port = free_port()
    app = create_app(settings.model_copy(update={"metrics_port": port}))
    app.state.services = services
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as api:
        assert (await api.get("/metrics")).status_code == 404
    async with services.metrics.served("127.0.0.1", port), httpx.AsyncClient(timeout=30) as scraper:
        answer = await scraper.get(f"http://127.0.0.1:{port}/metrics")
        assert values(answer.text)["mnemic_database_up", labels()] == 1
        with pytest.raises(ConfigurationError, match=f"metrics port {port}"):
            await services.metrics.served("127.0.0.1", port).__aenter__()
    async with httpx.AsyncClient() as scraper:
        with pytest.raises(httpx.ConnectError):
            await scraper.get(f"http://127.0.0.1:{port}/metrics")


@pytest.mark.parametrize("texts", [("Ada likes tea.", "Ada owns a cat."), ("艾达喜欢喝茶。", "艾达养了一只猫。")])
async def test_what_memories_are_like_is_scraped(
    tenant: Tenant, api: httpx.AsyncClient, services: Services, texts: tuple[str, str]
) -> None:
    liked, owned = [(await add(api, text))["id"] for text in texts]
    await add(api, texts[0], agent_id="helper")
    for one, verdict in ((liked, "used"), (liked, "used"), (owned, "ignored"), (owned, "wrong")):
        body_of(await api.post(f"/v1/memories/{one}/feedback", json={"verdict": verdict}))
    counted = await MemoryHealthService(services.uow).tally([tenant.id])
    report = body_of(await api.get("/v1/admin/memory-health"))

    async def tally() -> QueueTally:
        return QueueTally(memories=counted)

    metrics = Metrics()
    metrics.watch_queue(tally)
    found = values((await metrics.rendered()).decode())
    assert found["mnemic_memories", labels(state="written")] == report["written"] == 3
    assert found["mnemic_memories", labels(state="current")] == report["current"]
    assert [found["mnemic_memories_judged", labels(verdict=one)] for one in ("used", "ignored", "wrong")] == [2, 1, 1]
    assert found["mnemic_memory_noise_ratio", labels()] == report["noise"] == 0.25
