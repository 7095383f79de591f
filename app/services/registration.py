"""Which embedding model serves: entered once, by the migrator, and never changed by the way."""

from collections.abc import Collection
from dataclasses import dataclass

from app.core import clock
from app.core.errors import ConfigurationError
from app.providers.embeddings.base import EmbeddingModel, EmbeddingUnavailable
from app.repositories.models import ModelRecord
from app.services.embedding import check_dimension, way_forward
from app.uow import GlobalTransaction, UnitOfWork


@dataclass(frozen=True, slots=True)
class ModelRegistration:
    """The use case of `mnemic migrate` and `mnemic up`."""

    uow: UnitOfWork

    async def register(self, model: EmbeddingModel, also: Collection[str] = ()) -> ModelRecord:
        """Enter the configured model as the one that serves; another one gives way as long as it has no vectors.

        Args:
            model: The configured model.
            also: Names of further models that processes can load: one of them that has vectors goes on serving.

        Returns:
            The model that serves.

        Raises:
            ConfigurationError: Another model's vectors are there, the dimension differs, or nobody knows it.
        """
        unknown = await self._why_unknown(model)
        async with self.uow.begin_global() as tx:
            await tx.models.lock()
            active = await tx.models.active_for_update()
            for one in active:
                if one.name != model.name and one.name in also and await tx.models.has_vectors(one.id):
                    return one
            known = await tx.models.by_name(model.name)
            if known is not None:
                check_dimension(model, known)
            await self._retire([one for one in active if one.name != model.name], model, tx)
            if known is not None:
                return known if known.status == "active" else await tx.models.activate(known.id, clock.now())
            if model.dimension is None:
                raise ConfigurationError(
                    f"The embedding model {model.name} is new to this database, and its dimension could not be "
                    f"asked for: {unknown} Start its host, then try again."
                )
            return await tx.models.add(model.name, model.dimension, clock.now())

    @staticmethod
    async def _why_unknown(model: EmbeddingModel) -> str | None:
        try:
            await model.prepare()
        except EmbeddingUnavailable as error:
            return str(error)
        return None

    @staticmethod
    async def _retire(others: list[ModelRecord], model: EmbeddingModel, tx: GlobalTransaction) -> None:
        for other in others:
            if await tx.models.has_vectors(other.id):
                raise ConfigurationError(
                    f"The stored vectors are by the embedding model {other.name}, and {model.name} is configured. "
                    f"{way_forward(other.name, model.name)}"
                )
            await tx.models.retire(other.id, clock.now())
