"""The embedding model that serves, with the id it has in the database."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

import structlog

from app.core import clock
from app.core.errors import ConfigurationError, Problem
from app.domain.calibration import Calibration
from app.providers.embeddings.base import EmbeddingModel, EmbeddingUnavailable, Vector
from app.repositories.models import ModelRecord
from app.repositories.search import DenseQuery
from app.repositories.vectors import Embedded
from app.uow import UnitOfWork

log = structlog.get_logger()

LOOK_SECONDS: Final = 5.0
"""How long a start waits for the model's host: later calls ask it again."""

OTHERS_SECONDS: Final = 5.0
"""How long a write waits for vectors by models that do not serve: what is missing then, the job of the model adds."""

FOLLOW_SECONDS: Final = 2.0
LATE: Final = 3
"""After so many times the interval at which processes look, all of them know which models there are."""


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
        f"Configure {active} again; or keep it configured, name {wanted} in EMBEDDING_ALSO, and re-embed with 'mnemic "
        f"reembed' (docs/embedders.md). 'mnemic migrate' registers {wanted} by itself as long as {active} has no "
        "vectors."
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


@dataclass(frozen=True, slots=True)
class Standing:
    """The models of the database at a moment: which one serves, and which others get vectors of what is written."""

    active: ModelRecord
    others: tuple[ModelRecord, ...] = ()


@dataclass(slots=True)
class Embedder:
    """Texts to vectors that can be stored and compared. No database connection is held while a model works.

    Which model serves is the database's to say: it is asked again every `follow_seconds`, so that a switch reaches all
    processes. A process that cannot load the model that serves goes on without meaning: by words alone.

    Args:
        model: The configured model.
        uow: Where the database is asked.
        also: Further models that this process can load.
        follow_seconds: How long an answer of the database is believed.
    """

    model: EmbeddingModel
    uow: UnitOfWork
    also: Sequence[EmbeddingModel] = ()
    follow_seconds: float = FOLLOW_SECONDS
    _standing: Standing | None = field(default=None)
    _read_at: float = field(default=0.0)
    _asking: bool = field(default=False)
    _pinned: bool = field(default=False)
    _missed: str | None = field(default=None)

    @property
    def models(self) -> Mapping[str, EmbeddingModel]:
        """The models that this process can load, by name, the configured one first."""
        return {model.name: model for model in (self.model, *self.also)}

    @property
    def serving(self) -> str:
        """The name of the model that serves, as far as this process knows; before it has asked, the configured one."""
        return self.model.name if self._standing is None else self._standing.active.name

    @property
    def calibration(self) -> Calibration:
        """From the serving model's raw cosines to similarities; the configured one's where nobody knows that."""
        known = None if self._standing is None else self.calibration_of(self._standing.active)
        return known or self.model.calibration

    def calibration_of(self, record: ModelRecord) -> Calibration | None:
        """The calibration in use of any model: what was measured and kept goes before what comes with the model, and
        what settings name before both. None where this process cannot load it and nothing was kept.
        """
        model = self.models.get(record.name)
        own = None if model is None else model.calibration
        return own if record.calibration is None or (own and own.source == "settings") else record.calibration

    @property
    def settled_after(self) -> float:
        """Seconds after which every process has followed a change."""
        return self.follow_seconds * LATE

    def forget(self) -> None:
        """Ask the database anew at the next use."""
        if not self._pinned:
            self._read_at = 0.0
            self._standing = None

    def pinned_to(self, record: ModelRecord) -> "Embedder":
        """The same, with another model as if it served: to compare what it would find."""
        return Embedder(self.model, self.uow, self.also, _standing=Standing(record), _pinned=True)

    async def record(self) -> ModelRecord:
        """The model that serves, as the database knows it. To be asked before a connection is held.

        Raises:
            ConfigurationError: The database knows none, or knows it with another dimension than it has.
        """
        record = (await self.standing()).active
        if (model := self.models.get(record.name)) is not None:
            check_dimension(model, record)
        return record

    async def standing(self) -> Standing:
        """The models of the database, not older than `follow_seconds`. Raises `NotRegistered`."""
        known = self._standing
        if known is not None and (self._pinned or self._asking or self._is_fresh()):
            return known
        self._asking = True
        try:
            self._standing = await self._asked()
            self._read_at = clock.monotonic()
        except Problem:
            if known is None:
                raise
            self._standing = known
        finally:
            self._asking = False
        self._say_if_missed(self._standing.active.name)
        return self._standing

    async def look(self) -> None:
        """At start: ask the model for its dimension, and compare it with the database.

        What is down, or not migrated yet, is waited for by the requests.

        Raises:
            ConfigurationError: The model is not what it was configured to be, or the database serves one that this
                process cannot load.
        """
        record: ModelRecord | None = None
        with suppress(Problem, NotRegistered):
            record = await self.record()
        model = self.model if record is None else self.models.get(record.name)
        if model is None and record is not None:
            raise ConfigurationError(
                f"This database serves the embedding model {record.name}, and {' and '.join(self.models)} is "
                f"configured. {way_forward(record.name, self.model.name)}"
            )
        await self._prepared(model or self.model)
        with suppress(Problem, NotRegistered):
            await self.record()

    async def question(self, text: str) -> DenseQuery | None:
        """A question's vector; None where the model is unavailable."""
        record = await self.record()
        model = self.models.get(record.name)
        if model is None:
            return None
        try:
            vector = await model.embed_query(text)
        except EmbeddingUnavailable:
            return None
        check_dimension(model, record)  # the first answer may have been the first to tell
        return DenseQuery(vector, record)

    async def passages_if_up(self, texts: Sequence[TextToEmbed]) -> list[Embedded]:
        """Vectors of stored texts, or none where the model is unavailable: what is written is stored all the same."""
        try:
            return await self.passages(texts)
        except EmbeddingUnavailable:
            return []

    async def passages(self, texts: Sequence[TextToEmbed]) -> list[Embedded]:
        """Vectors of stored texts by every model that gets them, in the texts' order; blank texts have none.

        Raises:
            EmbeddingUnavailable: The model that serves is away, or cannot be loaded here. Another one is waited for
                only a while, and left out.
        """
        worded = [text for text in texts if text.text.strip()]
        if not worded:
            return []
        standing = await self.standing()
        words = [text.text for text in worded]
        first, *others = await asyncio.gather(
            self._by(standing.active, words), *(self._if_up(other, words) for other in standing.others)
        )
        made = [(other.id, vectors) for other, vectors in zip(standing.others, others, strict=True) if vectors]
        return [
            Embedded(
                text.target,
                text.text_hash,
                first[place],
                standing.active.id,
                {model_id: vectors[place] for model_id, vectors in made},
            )
            for place, text in enumerate(worded)
        ]

    async def passages_by(self, record: ModelRecord, texts: Sequence[TextToEmbed]) -> list[Embedded]:
        """Vectors of stored texts by one model, in order; blank texts have none. Raises `EmbeddingUnavailable`."""
        worded = [text for text in texts if text.text.strip()]
        vectors = await self._by(record, [text.text for text in worded]) if worded else []
        return [
            Embedded(text.target, text.text_hash, vector, record.id)
            for text, vector in zip(worded, vectors, strict=True)
        ]

    async def _by(self, record: ModelRecord, texts: list[str]) -> list[Vector]:
        model = self.models.get(record.name)
        if model is None:
            raise EmbeddingUnavailable(
                f"This process cannot load the embedding model {record.name}: name it in EMBEDDING_ALSO."
            )
        vectors = await model.embed_passages(texts)
        check_dimension(model, record)
        return vectors

    async def _if_up(self, record: ModelRecord, texts: list[str]) -> list[Vector]:
        try:
            async with asyncio.timeout(OTHERS_SECONDS):
                return await self._by(record, texts)
        except (EmbeddingUnavailable, ConfigurationError, TimeoutError) as error:
            log.warning("embedding_left_to_job", model=record.name, reason=str(error) or type(error).__name__)
            return []

    async def _prepared(self, model: EmbeddingModel) -> None:
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                await model.prepare()
        except (EmbeddingUnavailable, TimeoutError) as error:
            reason = str(error) or f"No answer in {LOOK_SECONDS:g} s."
            log.warning("embedding_unavailable", model=model.name, reason=reason)

    def _is_fresh(self) -> bool:
        return clock.monotonic() - self._read_at < self.follow_seconds

    async def _asked(self) -> Standing:
        async with self.uow.begin_global() as tx:
            kept_up = await tx.models.kept_up()
        active = [one for one in kept_up if one.status == "active"]
        if not active:
            raise NotRegistered(
                f"The embedding model {self.model.name} is not registered in this database: run 'mnemic migrate'."
            )
        # Two that were left active by hand: the configured one, as long as nobody has decided.
        chosen = next((one for one in active if one.name == self.model.name), active[0])
        loaded = self.models
        return Standing(chosen, tuple(one for one in kept_up if one.status != "active" and one.name in loaded))

    def _say_if_missed(self, name: str) -> None:
        if name in self.models:
            self._missed = None
        elif name != self._missed:
            self._missed = name
            log.error("embedding_model_not_loadable", model=name, configured=list(self.models))
