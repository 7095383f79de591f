"""Turns of conversations in LoCoMo's format as a corpus: each speaker's turn a memory of its conversation's user."""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from app.core.text.tokens import term_frequencies
from app.providers.embeddings.base import EmbeddingModel
from benchmarks.corpus import CHUNK, SEED, Chunk
from examples.demo import read


class Spoken:
    """The turns of some conversations, with their questions. A turn that repeats another word for word is left out.

    Args:
        turns: User id and text of each.
        vectors: Shape (turns, dimension).
        asked: User id and text of each question.
    """

    def __init__(
        self, turns: Sequence[tuple[str, str]], vectors: npt.NDArray[np.float32], asked: Sequence[tuple[str, str]]
    ) -> None:
        self._turns = turns
        self._vectors = vectors
        self._asked = asked

    @classmethod
    async def embedded(cls, path: Path, count: int, model: EmbeddingModel) -> "Spoken":
        """The first `count` conversations of a file."""
        conversations = read(path)[:count]
        turns = dict.fromkeys(
            (conversation.user_id, message["content"])
            for conversation in conversations
            for messages in conversation.sessions.values()
            for message in messages
        )
        asked = [
            (conversation.user_id, question.text.strip())
            for conversation in conversations
            for question in conversation.questions
        ]
        vectors = await model.embed_passages([text for _, text in turns])
        return cls(list(turns), np.array(vectors, np.float32), asked)

    @property
    def total(self) -> int:
        return len(self._turns)

    @property
    def stores(self) -> list[tuple[str, int]]:
        """Users and how many turns each has."""
        counts: dict[str, int] = {}
        for user_id, _ in self._turns:
            counts[user_id] = counts.get(user_id, 0) + 1
        return list(counts.items())

    def chunks(self) -> Iterator[Chunk]:
        """All turns, in order."""
        for first in range(0, self.total, CHUNK):
            turns = self._turns[first : first + CHUNK]
            rows = range(first, first + len(turns))
            yield Chunk(
                range(first + 1, first + len(turns) + 1),
                [user_id for user_id, _ in turns],
                [text for _, text in turns],
                [(row, row) for row in rows],
                self._vectors[first : first + CHUNK],
            )

    def frequencies(self, _number: int, pair: tuple[int, int]) -> dict[str, int]:
        """The term frequencies of a turn."""
        return term_frequencies(self._turns[pair[0]][1])

    def questions(self, count: int, _users: Any = None) -> list[tuple[str, str]]:  # noqa: ANN401 - as Corpus has it
        """Questions with the user whose conversation answers them."""
        return random.Random(SEED).choices(self._asked, k=count)
