"""A language model and a reranker that are configured, through HTTP: what they change, and their absence."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.composition import services as composed
from app.main import create_app
from app.settings import Settings
from tests.conftest import Tenant
from tests.doubles.language_model import language_model_host
from tests.doubles.rerank_folder import write_folder
from tests.doubles.rerank_server import rerank_host
from tests.doubles.scripted_host import Turn
from tests.routers.calls import add, body_of, say, search, texts_found

Client = Callable[..., AbstractAsyncContextManager[httpx.AsyncClient]]


class Lent:
    """The bundled model of all tests, which outlives a service that it serves."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    async def close(self) -> None:
        """The owner will."""


@pytest.fixture
def configured(settings: Settings, tenant: Tenant) -> Client:
    """A client of a service with other settings, for the test's own tenant."""

    @asynccontextmanager
    async def client(**changes: Any) -> AsyncIterator[httpx.AsyncClient]:
        chosen = settings.model_copy(update=changes)
        lent: Any = Lent(tenant.services.embedder.model)
        async with composed(chosen, lent) as running:
            app = create_app(chosen)
            app.state.services = running
            one = Tenant(tenant.id, running, app)
            yield await one.client()
            await one.close()

    return client


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("spare key", ("The spare one: a key.", "Keys to the car are spare parts.", "Nothing of it.")),
        ("备用 钥匙", ("钥匙,备用的那把,在花盆下。", "备用电池在抽屉里。", "他喝茶。")),
    ],
)
async def test_hits_come_in_the_rerankers_order(configured: Client, question: str, texts: tuple[str, ...]) -> None:
    with rerank_host() as host:
        changes = {"rerank_provider": "http", "rerank_base_url": host.url, "rerank_deadline_seconds": 20.0}
        async with configured(**changes) as api:
            for text in reversed(texts):
                await add(api, text)
            found = await search(api, question, user_id="ada", rerank=True, explain=True)
            marks = {hit["text"]: hit["score_breakdown"]["rerank"] for hit in found["results"]}
            words = question.split()  # the double's mark is the share of the question's words
            assert marks == {text: sum(word in text for word in words) / 2 for text in texts}
            assert found["results"][0]["text"] == texts[0]
            assert "rerank" not in found["degraded"]
            asked = {"explanation_id": found["explanation"]["id"]}
            replayed = body_of(await api.post("/v1/memories/search/replay", json=asked))
            assert replayed["degraded"] == ["rerank"], "a replay asks no reranker, and says so"
            before = len(host.requests)
            await search(api, question, user_id="ada")
            assert len(host.requests) == before, "only those who ask for it wait for it"


@pytest.mark.parametrize("turn", [Turn(hang=True), Turn(drop=True), Turn(status=500), Turn(raw=b"nonsense")])
async def test_a_reranker_that_fails_or_is_late_leaves_the_fused_order(configured: Client, turn: Turn) -> None:
    with rerank_host() as host:
        host.otherwise = turn
        changes = {"rerank_provider": "http", "rerank_base_url": host.url, "rerank_deadline_seconds": 0.3}
        async with configured(**changes) as api:
            await add(api, "Ada drinks tea.")
            await add(api, "艾达住在里斯本。")
            plain = await search(api, "What does Ada drink?", user_id="ada")
            found = await search(api, "What does Ada drink?", user_id="ada", rerank=True)
            assert [hit["id"] for hit in found["results"]] == [hit["id"] for hit in plain["results"]]
            assert found["degraded"] == ["rerank"]


async def test_a_reranker_in_a_folder_marks_hits(configured: Client, tmp_path: Path) -> None:
    changes = {
        "rerank_provider": "onnx",
        "rerank_model_dir": write_folder(tmp_path / "model"),
        "rerank_deadline_seconds": 20.0,
    }
    async with configured(**changes) as api:
        await add(api, "berlin is home")
        await add(api, "tea")
        found = await search(api, "where is home", user_id="ada", rerank=True)
        assert found["results"][0]["text"] == "berlin is home"
        assert found["results"][0]["score_breakdown"]["rerank"] == pytest.approx(0.5), "three tokens shared"
        assert not found["degraded"]


@pytest.mark.parametrize(
    ("turns", "question", "completed", "kept"),
    [
        (
            ("I'm moving the Orion service to Kubernetes.", "Good idea."),
            "How do I deploy it?",
            "How do I deploy the Orion service?",
            "Orion is deployed with make release.",
        ),
        (
            ("我们在把猎户座服务迁到 Kubernetes。", "好主意。"),
            "那它怎么部署?",
            "猎户座服务怎么部署?",
            "猎户座服务用 make release 部署。",
        ),
    ],
)
async def test_a_language_model_completes_a_question_in_one_call(
    configured: Client, turns: tuple[str, ...], question: str, completed: str, kept: str
) -> None:
    with language_model_host() as host:
        host.content = completed
        changes = {"llm_base_url": host.url, "llm_model": "double", "llm_rewrite_timeout_seconds": 20.0}
        async with configured(**changes) as api:
            await add(api, kept)
            for text in turns:
                await say(api, "s", text, user_id="ada")
            found = await search(api, question, user_id="ada", recent={"session_id": "s"})
            assert found["rewritten_query"] == completed
            assert found["results"][0]["text"] == kept
            assert len(host.requests) == 1
            assert all(text in "\n".join(host.prompts[0]) for text in turns)
            assert "llm" not in found["degraded"]


@pytest.mark.parametrize("turn", [Turn(hang=True), Turn(status=500), Turn(raw=b"<html>")])
async def test_without_the_language_models_answer_the_rule_completes_the_question(
    configured: Client, turn: Turn
) -> None:
    with language_model_host() as host:
        host.otherwise = turn
        changes = {
            "llm_base_url": host.url,
            "llm_model": "double",
            "llm_rewrite_timeout_seconds": 0.3,
            "llm_attempts": 1,
        }
        async with configured(**changes) as api:
            await add(api, "猎户座服务用 make release 部署。")
            recent = {"messages": ["我们在把猎户座服务迁到 Kubernetes。"]}
            found = await search(api, "那它怎么部署?", user_id="ada", recent=recent)
            assert found["degraded"] == ["llm"]
            assert "猎户座" in found["rewritten_query"]
            assert "猎户座服务用 make release 部署。" in await texts_found(
                api, "那它怎么部署?", user_id="ada", recent=recent
            )
