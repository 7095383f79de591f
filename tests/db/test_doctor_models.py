"""What the doctor finds of a language model and a reranker, where they are configured."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app import doctor
from app.doctor import Finding, examine
from app.settings import Settings
from tests.doubles import language_model as double
from tests.doubles import rerank_server
from tests.doubles.embeddings import HashedModel
from tests.doubles.language_model import LanguageModelHost, language_model_host
from tests.doubles.rerank_folder import write_folder
from tests.doubles.rerank_server import RerankHost, rerank_host
from tests.doubles.scripted_host import Turn

KEY = "sk-very-secret"
NOWHERE = "postgresql://a:b@127.0.0.1:1/x"


@pytest.fixture(autouse=True)
def light_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the database and its model are like is another test's."""
    monkeypatch.setattr(doctor, "embedding_model", lambda _: HashedModel(512))


@pytest.fixture
def host() -> Iterator[LanguageModelHost]:
    with language_model_host() as running:
        running.content = '{"total": 5}'
        yield running


@pytest.fixture
def ranking() -> Iterator[RerankHost]:
    with rerank_host() as running:
        yield running


async def found(check: str, **given: object) -> list[Finding]:
    chosen = Settings(_env_file=None, database_url=NOWHERE, **given)  # type: ignore[arg-type]
    return [finding for finding in await examine(chosen) if finding.check == check]


async def language_model(host: LanguageModelHost, **given: object) -> Finding:
    settings = {"llm_base_url": host.url, "llm_model": "qwen", "llm_api_key": KEY, "llm_attempts": 1, **given}
    (finding,) = await found("language model", **settings)
    assert KEY not in str(finding)
    return finding


async def test_what_is_not_configured_is_not_looked_at() -> None:
    assert await found("language model") == []
    assert await found("reranker") == []


async def test_a_language_model_that_adds_up_is_well(host: LanguageModelHost) -> None:
    assert await language_model(host) == Finding("language model", "ok", "qwen, asked for JSON by json_schema")
    host.script.append(double.refusing("no json_schema"))
    assert (await language_model(host)).found.endswith("json_object")


@pytest.mark.parametrize(
    ("name", "advice"),
    [("no key", "LLM_API_KEY"), ("no such model", "/v1"), ("too long a prompt", "LLM_STRUCTURED_OUTPUT")],
)
async def test_a_language_model_that_refuses_is_told_with_what_to_do(
    host: LanguageModelHost, name: str, advice: str
) -> None:
    host.otherwise = double.LASTING[name]
    fault = await language_model(host)
    assert fault.verdict == "fail"
    assert advice in fault.advice


async def test_a_language_model_that_is_down_is_told(host: LanguageModelHost) -> None:
    host.otherwise = double.PASSING["down"]
    assert "LLM_BASE_URL" in (await language_model(host)).advice
    host.otherwise = Turn(hang=True)
    assert (await language_model(host, llm_timeout_seconds=0.2)).verdict == "fail"


async def test_a_language_model_that_talks_nonsense_is_told(host: LanguageModelHost) -> None:
    host.otherwise = double.UNFIT["words"]
    assert (await language_model(host)).verdict == "warn"


async def test_settings_that_do_not_fit_are_told(host: LanguageModelHost) -> None:
    fault = await language_model(host, llm_model=None)
    assert (fault.found, "LLM_MODEL" in fault.advice) == ("misconfigured", True)
    (fault,) = await found("reranker", rerank_provider="http")
    assert "RERANK_BASE_URL" in fault.advice


async def test_a_reranker_is_timed_with_as_many_texts_as_a_search_gives_it(ranking: RerankHost) -> None:
    given = {"rerank_provider": "http", "rerank_base_url": ranking.url, "rerank_candidates": 7}
    (finding,) = await found("reranker", rerank_deadline_seconds=30, **given)
    assert finding.verdict == "ok"
    assert len(ranking.requests[-1].body["documents"]) == 7
    (finding,) = await found("reranker", rerank_deadline_seconds=0.000001, **given)
    assert finding.verdict == "warn"
    assert "RERANK_DEADLINE_SECONDS" in finding.advice


async def test_a_reranker_that_fails_is_told(ranking: RerankHost, monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"rerank_provider": "http", "rerank_base_url": ranking.url}
    ranking.otherwise = rerank_server.BAD["down"]
    (fault,) = await found("reranker", **given)
    assert fault.verdict == "fail"
    assert "503" in fault.found
    monkeypatch.setattr(doctor, "RERANK_SECONDS", 0.2)
    ranking.otherwise = Turn(hang=True)
    (fault,) = await found("reranker", **given)
    assert fault.verdict == "fail"
    assert "0.2 s" in fault.found


async def test_a_folder_that_holds_no_cross_encoder_is_told(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "model")
    given = {"rerank_provider": "onnx", "rerank_model_dir": folder, "rerank_deadline_seconds": 30}
    (finding,) = await found("reranker", **given)
    assert finding.verdict == "ok"
    (folder / "model.onnx").write_bytes(b"nothing")
    (fault,) = await found("reranker", **given)
    assert "model.onnx" in fault.advice
