"""Mnemic's API with vectors looked up by text, as other systems have them when they are compared: a program.

.venv/bin/python benchmarks/lookup.py --data FOLDER --port 8000      (the settings are the environment's)
"""

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import numpy as np
import uvicorn

from app.composition import Services, services
from app.core import logging
from app.main import create_app
from app.providers.embeddings.base import EmbeddingUnavailable, Metric, Vector
from app.providers.embeddings.use import UseModel
from app.settings import Settings, get_settings


class LookupModel:
    """The bundled model in name; its vectors of some questions are known, and it knows no others."""

    name = UseModel.name
    dimension = UseModel.dimension
    metric: Metric = UseModel.metric
    calibration = UseModel.calibration

    def __init__(self, folder: Path) -> None:
        lines = (folder / "questions.jsonl").read_text("utf-8").splitlines()
        vectors = np.load(folder / "questions.npy")
        self._known = {json.loads(line)[1]: vectors[row] for row, line in enumerate(lines)}

    async def prepare(self) -> None:
        """Nothing to find out."""

    async def embed_query(self, text: str) -> Vector:
        """The vector of a known question."""
        vector = self._known.get(text)
        if vector is None:
            raise EmbeddingUnavailable("This text has no vector.")
        return vector

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """Never asked for: memories are loaded with their vectors."""
        return [await self.embed_query(text) for text in texts]

    async def close(self) -> None:
        """Nothing to give back."""


def main() -> int:
    """Serve as `mnemic serve` does."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with questions.jsonl and questions.npy")
    parser.add_argument("--port", type=int, required=True)
    given = parser.parse_args()
    settings = get_settings()
    logging.configure(settings.log_level, as_json=settings.log_format == "json")

    def opening(chosen: Settings) -> AbstractAsyncContextManager[Services]:
        return services(chosen, LookupModel(given.data))

    uvicorn.run(
        create_app(settings, opening),
        host="127.0.0.1",
        port=given.port,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
