"""What a process is put together of, where a language model and a reranker are configured."""

import asyncio
from pathlib import Path

import pytest

from app.composition import services
from app.providers.llm.base import ChatMessage, LanguageModelUnavailable
from app.providers.rerank.base import RerankUnavailable
from app.providers.rerank.deadline import TimedReranker
from app.settings import Settings
from tests.doubles.embeddings import HashedModel
from tests.doubles.language_model import language_model_host
from tests.doubles.rerank_folder import write_folder
from tests.doubles.rerank_server import rerank_host
from tests.network import wait_until


async def test_configured_models_serve_searches_and_are_closed_with_the_process(settings: Settings) -> None:
    with language_model_host() as host, rerank_host() as ranking:
        host.content = "Who wrote Dune?"
        chosen = settings.model_copy(
            update={
                "llm_base_url": host.url,
                "llm_model": "double",
                "rerank_provider": "http",
                "rerank_base_url": ranking.url,
                "rerank_deadline_seconds": 20.0,
                "llm_rewrite_timeout_seconds": 20.0,
            }
        )
        async with services(chosen, HashedModel()) as running:
            rewriter, reranker = running.retrieval.rewriter, running.retrieval.reranker
            assert (await rewriter.rewrite("Who wrote it?", ["I'm reading Dune."])).text == "Who wrote Dune?"
            assert reranker is not None
            assert await reranker.scores("tea", ["tea"]) == [1.0]
        assert rewriter.model is not None
        with pytest.raises(LanguageModelUnavailable, match="closed"):
            await rewriter.model.complete([ChatMessage("user", "still there?")], purpose="check")
        with pytest.raises(RerankUnavailable, match="closed"):
            await reranker.scores("tea", ["tea"])


async def test_without_them_searches_go_by_rule(settings: Settings) -> None:
    async with services(settings, HashedModel()) as running:
        assert running.retrieval.rewriter.model is None
        assert running.retrieval.reranker is None


async def test_a_reranker_in_a_folder_reads_its_weights_when_the_process_starts(
    settings: Settings, tmp_path: Path
) -> None:
    folder = write_folder(tmp_path / "model")
    chosen = settings.model_copy(update={"rerank_provider": "onnx", "rerank_model_dir": folder})
    async with services(chosen, HashedModel()) as running:
        reranker = running.retrieval.reranker
        assert isinstance(reranker, TimedReranker)
        inner = vars(reranker)["_reranker"]
        await asyncio.to_thread(wait_until, lambda: "_network" in vars(inner), 20)


async def test_a_reranker_that_is_misconfigured_is_told_and_does_not_keep_the_process_from_starting(
    settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_folder(tmp_path / "model")
    (folder / "model.onnx").write_bytes(b"no network")
    chosen = settings.model_copy(update={"rerank_provider": "onnx", "rerank_model_dir": folder})
    async with services(chosen, HashedModel()) as running:
        reranker = running.retrieval.reranker
        assert reranker is not None
        await reranker.prepare()
    assert "rerank_misconfigured" in capsys.readouterr().out
