"""The language model that the settings name, or none."""

from app.core.errors import ConfigurationError
from app.core.metrics import Metrics
from app.providers.llm.dialect import Dialect
from app.providers.llm.openai import ChatModel, Endpoint
from app.settings import Settings


def configured_language_model(settings: Settings, metrics: Metrics) -> ChatModel | None:
    """The model, whose host is asked later; None where no host is configured.

    Raises:
        ConfigurationError: It cannot be had as it is configured.
    """
    if settings.llm_base_url is None:
        return None
    if settings.llm_model is None:
        raise ConfigurationError("LLM_BASE_URL needs LLM_MODEL: the model's name at the host.")
    key = settings.llm_api_key
    chosen = settings.llm_structured_output
    endpoint = Endpoint(
        base_url=settings.llm_base_url,
        model=settings.llm_model,
        api_key=None if key is None else key.get_secret_value(),
        timeout=settings.llm_timeout_seconds,
        attempts=settings.llm_attempts,
        max_tokens=settings.llm_max_tokens,
        dialect=Dialect() if chosen == "auto" else Dialect(output=chosen, adapts=False),
        breaker_failures=settings.llm_breaker_failures,
        breaker_seconds=settings.llm_breaker_seconds,
    )
    return ChatModel(endpoint, metrics)
