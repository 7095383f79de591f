"""Embedding models for those who run the service: registered, built, switched to and back, retired."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal
from uuid import UUID

from app.core import clock
from app.core.errors import Conflict, Invalid, NotFound, Unavailable
from app.domain.calibration import Calibration
from app.domain.principal import Principal
from app.providers.embeddings.base import EmbeddingModel, EmbeddingUnavailable
from app.repositories.base import Row
from app.repositories.models import ModelRecord, index_names, model_record
from app.repositories.reembedding import CORPORA, Corpus
from app.schemas.embedding_models import (
    EmbeddingModelJob,
    EmbeddingModelRecord,
    EmbeddingModels,
    calibration_shown,
    progress_of,
)
from app.services.admin import require_operator
from app.services.calibrating import Measurement, measurement_of
from app.services.embedding import Embedder, check_dimension
from app.uow import Transaction, UnitOfWork

PROBE: Final = "Is anybody there? 有人吗？"
WINDOW: Final = 5_000


@dataclass(frozen=True, slots=True)
class EmbeddingModelService:
    """The use cases. A model is the whole database's: to change something needs an operator's key."""

    uow: UnitOfWork
    embedder: Embedder

    async def all(self, principal: Principal) -> EmbeddingModels:
        """Every model that the database knows, and those that it could know."""
        principal.require_administration()
        async with self.uow.begin_global() as tx:
            rows, indexes = await tx.models.all(), await tx.models.valid_indexes()
        known = {row["name"] for row in rows}
        return EmbeddingModels(
            results=[self._shown(row, indexes) for row in rows],
            unregistered=[name for name in self.embedder.models if name not in known],
        )

    async def get(self, principal: Principal, model_id: int) -> EmbeddingModelRecord:
        """One of them."""
        principal.require_administration()
        async with self.uow.begin_global() as tx:
            return self._shown(_there(await tx.models.one(model_id)), await tx.models.valid_indexes())

    async def register(self, principal: Principal, name: str) -> EmbeddingModelJob:
        """Enter a model and let it get vectors of everything: what is written from now on at once, the rest by a job.

        Raises:
            Invalid: No setting of this process names it.
            Conflict: It is registered, or another one stands beside the one that serves.
            Unavailable: Its host does not answer.
        """
        require_operator(principal)
        model = self._loadable(name)
        dimension, at = await _dimension(model), clock.now()
        async with self.uow.begin(principal) as tx:
            await tx.models.lock()
            known = await tx.models.by_name(name)
            _check_alone(await tx.models.kept_up(), name)
            if known is None:
                record = await tx.models.add(name, dimension, at, "building")
            else:
                check_dimension(model, known)
                record = await tx.models.build(known.id, at)
            answer = await self._with_job(tx, record.id, "reembed", at)
        self.embedder.forget()
        return answer

    async def build(self, principal: Principal, model_id: int) -> EmbeddingModelJob:
        """Give a model the vectors that it lacks. Raises `Conflict` for one that is retired."""
        require_operator(principal)
        at = clock.now()
        async with self.uow.begin(principal) as tx:
            await tx.models.lock()
            row = _there(await tx.models.one(model_id))
            if row["status"] == "retired":
                raise Conflict(f"{row['name']} is retired: register it anew.", code="model_retired")
            if row["status"] == "standby":
                await tx.models.build(model_id, at)
            return await self._with_job(tx, model_id, "reembed", at)

    async def activate(self, principal: Principal, model_id: int, *, force: bool) -> EmbeddingModelJob:
        """Let a model serve from now on, in one transaction; the one before stands by, kept up to date.

        Raises:
            Conflict: It is retired, not complete, not indexed, or this process cannot load it.
            Unavailable: It does not answer.
        """
        require_operator(principal)
        async with self.uow.begin_global() as tx:
            row, indexes = _there(await tx.models.one(model_id)), await tx.models.valid_indexes()
        if row["status"] == "active":
            return EmbeddingModelJob(**self._shown(row, indexes).model_dump(), job_id=None)
        if row["status"] == "retired":
            raise Conflict(f"{row['name']} is retired: register it anew.", code="model_retired")
        if not force:
            await self._check_complete(row, indexes)
        await self._check_answers(row)
        at = clock.now()
        async with self.uow.begin(principal) as tx:
            await tx.models.lock()
            if _there(await tx.models.one(model_id))["status"] == "retired":
                raise Conflict(f"{row['name']} was retired meanwhile.", code="model_retired")
            for other in await tx.models.kept_up():
                if other.status == "active" and other.id != model_id:
                    await tx.models.stand_by(other.id)
            await tx.models.activate(model_id, at)
            # What processes write that have not followed yet: a last walk finds it.
            answer = await self._with_job(tx, model_id, "reembed", at, delay=self.embedder.settled_after)
        self.embedder.forget()
        return answer

    async def retire(self, principal: Principal, model_id: int) -> EmbeddingModelJob:
        """Give a model up: no more vectors, and a job removes those that there are. Raises `Conflict` while it serves.

        There is no way back but to register it and build it anew.
        """
        require_operator(principal)
        at = clock.now()
        async with self.uow.begin(principal) as tx:
            await tx.models.lock()
            row = _there(await tx.models.one(model_id))
            if row["status"] == "active":
                raise Conflict(f"{row['name']} serves: activate another model first.", code="model_serves")
            if row["status"] != "retired":
                await tx.models.retire(model_id, at)
                await tx.models.note(model_id, {})
            answer = await self._with_job(tx, model_id, "retire_model", at, delay=self.embedder.settled_after)
        self.embedder.forget()
        return answer

    async def measure(self, principal: Principal, name: str, advance: Callable[[int], object]) -> Measurement:
        """The calibration that a model asks for, registered or not; nothing is kept.

        Args:
            principal: An operator.
            name: The model's.
            advance: Told how many more of `calibrating.TEXTS` are embedded.

        Raises:
            Invalid: No setting of this process names it.
            Conflict: No calibration makes its cosines mean what they should.
            Unavailable: Its host does not answer.
        """
        require_operator(principal)
        return await measurement_of(self._loadable(name), advance)

    async def calibration(self, principal: Principal, name: str) -> Calibration:
        """The calibration in use of a model that this process can load, registered or not."""
        principal.require_administration()
        async with self.uow.begin_global() as tx:
            known = await tx.models.by_name(name)
        in_use = None if known is None else self.embedder.calibration_of(known)
        return in_use or self._loadable(name).calibration

    async def calibrate(self, principal: Principal, name: str, measured: Calibration | None) -> EmbeddingModelRecord:
        """Keep what was measured of a model, so that every process goes by it; None: forget what was.

        Raises:
            NotFound: The database does not know the model.
        """
        require_operator(principal)
        async with self.uow.begin(principal) as tx:
            await tx.models.lock()
            known = await tx.models.by_name(name)
            if known is None:
                raise NotFound(f"{name} is not registered: see 'mnemic models list'.", code="model_not_found")
            await tx.models.calibrate(known.id, {} if measured is None else measured.as_json(clock.now()))
            shown = self._shown(_there(await tx.models.one(known.id)), await tx.models.valid_indexes())
        self.embedder.forget()
        return shown

    def _loadable(self, name: str) -> EmbeddingModel:
        model = self.embedder.models.get(name)
        if model is None:
            raise Invalid(
                f"This process can load {', '.join(self.embedder.models)}: name the model's settings in "
                "EMBEDDING_ALSO of every API and worker process, and restart them one after the other.",
                code="model_not_loadable",
            )
        return model

    async def _check_complete(self, row: Row, indexes: Collection[str]) -> None:
        name = row["name"]
        if row["status"] == "building":
            raise Conflict(f"{name} is being built: wait until its status is standby.", code="model_incomplete")
        if not set(index_names(row["id"])) <= set(indexes):
            raise Conflict(f"{name} has no index yet: run 'mnemic migrate'.", code="model_not_indexed")
        missing = await self._missing(row["id"])
        if missing:
            raise Conflict(
                f"{missing} texts have a vector by the model that serves and none by {name}: build it once more.",
                code="model_incomplete",
                extra={"missing": missing},
            )

    async def _missing(self, model_id: int) -> int:
        """Texts that searches by meaning would lose, as many as the first window has that has any."""
        serving = (await self.embedder.record()).id
        async with self.uow.begin_global() as tx:
            tenants = list(await tx.access.tenant_ids())
        for tenant_id in tenants:
            for corpus in CORPORA:
                found = await self._missing_in(tenant_id, corpus, serving, model_id)
                if found:
                    return found
        return 0

    async def _missing_in(self, tenant_id: UUID, corpus: Corpus, serving: int, model_id: int) -> int:
        after: list[str] | None = None
        while True:
            async with self.uow.begin_tenant(tenant_id) as tx:
                window = await tx.reembedding.gaps(corpus, serving, model_id, after, WINDOW)
            if window.count or window.last is None:
                return window.count
            after = window.last

    async def _check_answers(self, row: Row) -> None:
        model = self.embedder.models.get(row["name"])
        if model is None:
            raise Conflict(
                f"This process cannot load {row['name']}: name it in EMBEDDING_ALSO.", code="model_not_loadable"
            )
        try:
            await model.embed_query(PROBE)
        except EmbeddingUnavailable as error:
            raise Unavailable(f"{row['name']} does not answer: {error}", code="model_unavailable") from error

    async def _with_job(
        self,
        tx: Transaction,
        model_id: int,
        kind: Literal["reembed", "retire_model"],
        at: datetime,
        *,
        delay: float = 0.0,
    ) -> EmbeddingModelJob:
        job_id = await tx.jobs.enqueue(kind, str(model_id), at, delay=timedelta(seconds=delay))
        shown = self._shown(_there(await tx.models.one(model_id)), await tx.models.valid_indexes())
        return EmbeddingModelJob(**shown.model_dump(), job_id=str(job_id))

    def _shown(self, row: Row, indexes: Collection[str]) -> EmbeddingModelRecord:
        plain = ("id", "name", "dimension", "metric", "status", "created_at", "activated_at", "retired_at")
        return EmbeddingModelRecord(
            **{name: row[name] for name in plain},
            loadable=row["name"] in self.embedder.models,
            indexed=set(index_names(row["id"])) <= set(indexes),
            calibration=calibration_shown(self.embedder.calibration_of(model_record(row))),
            progress=progress_of(row["progress"]),
        )


async def _dimension(model: EmbeddingModel) -> int:
    try:
        await model.prepare()
    except EmbeddingUnavailable as error:
        raise Unavailable(f"{model.name} does not answer: {error}", code="model_unavailable") from error
    if model.dimension is None:
        raise Unavailable(f"{model.name} does not tell its dimension.", code="model_unavailable")
    return model.dimension


def _check_alone(kept_up: Collection[ModelRecord], name: str) -> None:
    """Every text has the vectors of two models at most."""
    for one in kept_up:
        if one.name == name:
            raise Conflict(f"{name} is registered already; its status is {one.status}.", code="model_registered")
        if one.status != "active":
            raise Conflict(f"{one.name} stands beside the model that serves: retire it first.", code="another_model")


def _there(row: Row | None) -> Row:
    if row is None:
        raise NotFound("There is no such embedding model.", code="model_not_found")
    return row
