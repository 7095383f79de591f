"""Two extractors: one that may fail, and one that stands in for it."""

from dataclasses import replace

import structlog

from app.providers.llm.base import LanguageModelNonsense, LanguageModelUnavailable
from app.services.extractors.base import Extraction, Extractor, Window

log = structlog.get_logger()


class StandInExtractor:
    """Reads by the first extractor, and by the second where that one fails.

    Args:
        first: May raise as a language model does.
        second: Never does.
    """

    def __init__(self, first: Extractor, second: Extractor) -> None:
        self._first, self._second = first, second

    @property
    def name(self) -> str:
        """The first one's."""
        return self._first.name

    async def extract(self, window: Window) -> Extraction:
        """What either finds. Raises nothing of a language model's."""
        try:
            return await self._first.extract(window)
        except (LanguageModelUnavailable, LanguageModelNonsense) as failure:
            log.warning("extraction_by_rules", reason=str(failure))
            return replace(await self._second.extract(window), degraded=True)
