"""The embedding model that serves, with the id it has in the database."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from app.core.errors import ConfigurationError
from app.domain.calibration import Calibration
from app.providers.embeddings.base import EmbeddingModel, EmbeddingUnavailable
from app.repositories.models import ModelRecord
from app.repositories.search import DenseQuery
from app.repositories.vectors import Embedded
from app.uow import UnitOfWork


@dataclass(frozen=True, slots=True)
class TextToEmbed:
    """A stored text and the hash of it: the vector will belong to that text and no other."""

    target: UUID
    text: str
    text_hash: bytes


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
            ConfigurationError: The database does not know it, or knows it with another dimension.
        """
        if self._record is None:
            async with self.uow.begin_global() as tx:
                found = await tx.models.by_name(self.model.name)
            if found is None:
                raise ConfigurationError(
                    f"The embedding model {self.model.name} is not registered in this database: run 'mnemic migrate'."
                )
            if found.dimension != self.model.dimension:
                raise ConfigurationError(
                    f"The embedding model {self.model.name} gives {self.model.dimension} dimensions, and the database "
                    f"has it with {found.dimension}. Configure the model that made the stored vectors, or register "
                    "this one under another name and re-embed."
                )
            self._record = found
        return self._record

    async def question(self, text: str) -> DenseQuery | None:
        """A question's vector; None where the model is unavailable."""
        record = await self.record()
        try:
            return DenseQuery(await self.model.embed_query(text), record)
        except EmbeddingUnavailable:
            return None

    async def passages(self, texts: Sequence[TextToEmbed]) -> list[Embedded]:
        """Vectors of stored texts, in their order; blank texts have none. Raises `EmbeddingUnavailable`."""
        worded = [text for text in texts if text.text.strip()]
        if not worded:
            return []
        vectors = await self.model.embed_passages([text.text for text in worded])
        return [Embedded(text.target, text.text_hash, vector) for text, vector in zip(worded, vectors, strict=True)]
