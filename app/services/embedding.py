"""The embedding model that serves, with the id it has in the database."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

import structlog

from app.core.errors import ConfigurationError, Problem
from app.domain.calibration import Calibration
from app.providers.embeddings.base import EmbeddingModel, EmbeddingUnavailable
from app.repositories.models import ModelRecord
from app.repositories.search import DenseQuery
from app.repositories.vectors import Embedded
from app.uow import UnitOfWork

log = structlog.get_logger()

LOOK_SECONDS: Final = 5.0
"""How long a start waits for the model's host: later calls ask it again."""


@dataclass(frozen=True, slots=True)
class TextToEmbed:
    """A stored text and the hash of it: the vector will belong to that text and no other."""

    target: UUID
    text: str
    text_hash: bytes


class NotRegistered(ConfigurationError):  # noqa: N818 - a state of the database
    """The database has no model yet: it was not migrated."""


def way_forward(active: str, wanted: str) -> str:
    """What to do where another model is configured than the one that made the vectors."""
    return (
        f"Configure {active} again; or register {wanted} and re-embed: 'mnemic migrate' registers it by itself as "
        f"long as {active} has no vectors."
    )


def check_dimension(model: EmbeddingModel, record: ModelRecord) -> None:
    """Compare, if the model's dimension is known already.

    Raises:
        ConfigurationError: The stored vectors have another dimension.
    """
    if model.dimension is not None and model.dimension != record.dimension:
        raise ConfigurationError(
            f"The embedding model {model.name} gives {model.dimension} dimensions, and the database has it with "
            f"{record.dimension}. Configure the model that made the stored vectors, or register this one under "
            "another name and re-embed."
        )


@dataclass(slots=True)
class Embedder:
    """Texts to vectors that can be stored and compared. No database connection is held while the model works."""

    model: EmbeddingModel
    uow: UnitOfWork
    _record: ModelRecord | None = field(default=None)

    @property
    def calibration(self) -> Calibration:
        """From the model's raw cosines to similarities."""
        return self.model.calibration

    async def record(self) -> ModelRecord:
        """The model as the database knows it.

        Raises:
            ConfigurationError: The database does not know it, knows it with another dimension, or serves another.
        """
        if self._record is None:
            self._record = await self._registered()
        check_dimension(self.model, self._record)
        return self._record

    async def look(self) -> None:
        """At start: ask the model for its dimension, and compare it with the database.

        What is down, or not migrated yet, is waited for by the requests.

        Raises:
            ConfigurationError: The model is not what it was configured to be, or the database serves another.
        """
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                await self.model.prepare()
        except (EmbeddingUnavailable, TimeoutError) as error:
            reason = str(error) or f"No answer in {LOOK_SECONDS:g} s."
            log.warning("embedding_unavailable", model=self.model.name, reason=reason)
        with suppress(Problem, NotRegistered):
            await self.record()

    async def _registered(self) -> ModelRecord:
        async with self.uow.begin_global() as tx:
            found = await tx.models.by_name(self.model.name)
            active = found if found is not None and found.status == "active" else await tx.models.active()
        if active is None:
            raise NotRegistered(
                f"The embedding model {self.model.name} is not registered in this database: run 'mnemic migrate'."
            )
        if active.name != self.model.name:
            raise ConfigurationError(
                f"This database serves the embedding model {active.name}, and {self.model.name} is configured. "
                f"{way_forward(active.name, self.model.name)}"
            )
        return active

    async def question(self, text: str) -> DenseQuery | None:
        """A question's vector; None where the model is unavailable."""
        record = await self.record()
        try:
            vector = await self.model.embed_query(text)
        except EmbeddingUnavailable:
            return None
        check_dimension(self.model, record)  # the first answer may have been the first to tell
        return DenseQuery(vector, record)

    async def passages_if_up(self, texts: Sequence[TextToEmbed]) -> list[Embedded]:
        """Vectors of stored texts, or none where the model is unavailable: what is written is stored all the same."""
        try:
            return await self.passages(texts)
        except EmbeddingUnavailable:
            return []

    async def passages(self, texts: Sequence[TextToEmbed]) -> list[Embedded]:
        """Vectors of stored texts, in their order; blank texts have none. Raises `EmbeddingUnavailable`."""
        worded = [text for text in texts if text.text.strip()]
        if not worded:
            return []
        vectors = await self.model.embed_passages([text.text for text in worded])
        return [Embedded(text.target, text.text_hash, vector) for text, vector in zip(worded, vectors, strict=True)]
