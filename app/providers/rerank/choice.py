"""The reranker that the settings name, or none."""

from typing import assert_never

from app.core.errors import ConfigurationError
from app.core.metrics import Metrics
from app.providers.rerank.base import Reranker
from app.providers.rerank.deadline import TimedReranker
from app.providers.rerank.host import Endpoint, HttpReranker
from app.providers.rerank.onnx import OnnxReranker
from app.settings import Settings


def configured_reranker(settings: Settings, metrics: Metrics) -> Reranker | None:
    """The reranker under its deadline; its host is asked at first use. None for none.

    Raises:
        ConfigurationError: It cannot be had as it is configured.
    """
    reranker = bare_reranker(settings)
    return None if reranker is None else TimedReranker(reranker, settings.rerank_deadline_seconds, metrics)


def bare_reranker(settings: Settings) -> OnnxReranker | HttpReranker | None:
    """The same without a deadline. Raises `ConfigurationError`."""
    match settings.rerank_provider:
        case "none":
            return None
        case "onnx":
            if settings.rerank_model_dir is None:
                raise ConfigurationError("RERANK_PROVIDER=onnx needs RERANK_MODEL_DIR.")
            return OnnxReranker(
                settings.rerank_model_dir, settings.rerank_threads, max_characters=settings.rerank_max_characters
            )
        case "http":
            return HttpReranker(_endpoint(settings))
        case _:
            assert_never(settings.rerank_provider)


def _endpoint(settings: Settings) -> Endpoint:
    if settings.rerank_base_url is None:
        raise ConfigurationError("RERANK_PROVIDER=http needs RERANK_BASE_URL.")
    key = settings.rerank_api_key
    return Endpoint(
        base_url=settings.rerank_base_url,
        model=settings.rerank_model,
        api_key=None if key is None else key.get_secret_value(),
        max_characters=settings.rerank_max_characters,
    )
