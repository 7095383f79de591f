"""A host of `/v1/embeddings` on loopback whose model knows a few concepts, in Chinese and in English alike."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import numpy as np

from tests.doubles.embeddings import HashedModel
from tests.doubles.openai_server import EmbeddingHost
from tests.doubles.scripted_host import Body, Request, serving

CONCEPTS: Final[tuple[tuple[str, ...], ...]] = (
    ("live", "lives", "home", "apartment", "住", "家", "公寓"),
    ("drink", "drinks", "tea", "coffee", "喝", "茶", "咖啡"),
    ("dog", "cat", "pet", "狗", "猫", "宠物"),
    ("work", "works", "job", "office", "工作", "公司", "上班"),
    ("allergic", "allergy", "peanuts", "过敏", "花生"),
    ("train", "flight", "travel", "火车", "航班", "出差"),
)
NOISE: Final = 0.25


@dataclass
class ConceptHost(EmbeddingHost):
    """Texts with the same concepts are near each other, whatever their language; the rest of a text is noise."""

    dimension: int = 48

    def ordinary(self, request: Request) -> list[Body]:
        """A vector for each text."""
        noise = HashedModel(self.dimension)
        return [
            {"object": "embedding", "index": index, "embedding": self._meaning(text, noise).tolist()}
            for index, text in enumerate(request.body["input"])
        ]

    def _meaning(self, text: str, noise: HashedModel) -> np.ndarray:
        vector = NOISE * noise._vector(text)
        for place, words in enumerate(CONCEPTS):
            if any(word in text.lower() for word in words):
                vector[place] += 1.0
        return np.asarray(vector / np.linalg.norm(vector))


@contextmanager
def concept_host() -> Iterator[ConceptHost]:
    """A host for the length of a test."""
    host = ConceptHost()
    with serving(host):
        yield host
