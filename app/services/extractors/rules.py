"""The extractor that needs no model."""

import asyncio
from typing import Final

from app.domain.extraction.rules import extract
from app.services.extractors.base import Extraction, Window


class RulesExtractor:
    """Rules over the user's own sentences, in Chinese and English."""

    name: Final = "rules"

    async def extract(self, window: Window) -> Extraction:
        """In a thread: a window of long messages takes some milliseconds."""
        turns = [*window.before, *window.turns]
        found = await asyncio.to_thread(extract, turns, speaker=window.speaker)
        own = {turn.seq for turn in window.turns}
        return Extraction([candidate for candidate in found if own & set(candidate.seqs)])
