"""What a process is put together of, where a language model and a reranker are configured."""

import pytest

from app.composition import services
from app.providers.llm.base import ChatMessage, LanguageModelUnavailable
from app.providers.rerank.base import RerankUnavailable
from app.settings import Settings
from tests.doubles.embeddings import HashedModel
from tests.doubles.language_model import language_model_host
from tests.doubles.rerank_server import rerank_host


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
