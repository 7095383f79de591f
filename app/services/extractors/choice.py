"""The extractors that the settings name."""

from dataclasses import dataclass

from app.core.errors import ConfigurationError
from app.providers.llm.base import LanguageModel
from app.services.extractors.base import Extractor
from app.services.extractors.llm import LanguageModelExtractor
from app.services.extractors.rules import RulesExtractor
from app.services.extractors.standing_in import StandInExtractor
from app.settings import Settings


@dataclass(frozen=True, slots=True)
class Readers:
    """What reads conversations.

    Args:
        jobs: Reads sessions in the background; where it needs a language model that fails, they wait.
        requests: Reads what a client waits for: rules stand in for a language model that fails.
        instead: What reads where a tenant has used up its tokens; None: sessions wait for the next day.
        model: The language model that judges conflicts, if one reads.
    """

    jobs: Extractor
    requests: Extractor
    instead: Extractor | None
    model: LanguageModel | None


def readers(settings: Settings, language: LanguageModel | None) -> Readers:
    """What `EXTRACTOR` names.

    Raises:
        ConfigurationError: It names a language model, and none is configured.
    """
    rules = RulesExtractor()
    if settings.extractor == "llm" and language is None:
        raise ConfigurationError("EXTRACTOR=llm needs a language model: set LLM_BASE_URL and LLM_MODEL.")
    if language is None or settings.extractor not in {"auto", "llm"}:
        return Readers(rules, rules, None, None)
    model = LanguageModelExtractor(language)
    either = StandInExtractor(model, rules)
    if settings.extractor_fallback == "rules":
        return Readers(either, either, rules, language)
    return Readers(model, either, None, language)
