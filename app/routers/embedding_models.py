"""/v1/admin/embedding-models: another embedding model without downtime"""

from typing import Annotated

from fastapi import APIRouter, Path

from app.routers.deps import PrincipalDep, ServicesDep
from app.routers.problems import documented
from app.routers.requests import StrictRoute
from app.schemas.embedding_models import (
    CompareRequest,
    Comparison,
    EmbeddingModelJob,
    EmbeddingModelRecord,
    EmbeddingModels,
    ModelActivate,
    ModelRegister,
)

router = APIRouter(prefix="/admin/embedding-models", tags=["Administration"], route_class=StrictRoute)

ModelId = Annotated[int, Path(ge=1, le=32767, description="The model's number, as the list has it")]


@router.get("", responses=documented(403), operation_id="list_embedding_models")
async def list_embedding_models(principal: PrincipalDep, services: ServicesDep) -> EmbeddingModels:
    """The models that this database knows, with their status and progress, and those that it could know.

    One model is active: its vectors answer searches. A second one can stand beside it, being built or standing by.
    """
    return await services.embedding_models.all(principal)


@router.post("", status_code=202, responses=documented(403, 409), operation_id="register_embedding_model")
async def register_embedding_model(
    body: ModelRegister, principal: PrincipalDep, services: ServicesDep
) -> EmbeddingModelJob:
    """Begin to change the embedding model. For operators. Nothing that serves is touched.

    Name the new model in `EMBEDDING_ALSO` of every process first and restart them one by one. From now on everything
    that is written gets a vector by both models; a job gives the new one vectors of all that is there, at the pace of
    `REEMBED_TEXTS_PER_SECOND`, and builds its index. It may be interrupted at any moment and goes on where it was. When
    the status is `standby`, compare the two, then activate the new one.
    """
    return await services.embedding_models.register(principal, body.name)


@router.get("/{model_id}", responses=documented(403, 404), operation_id="get_embedding_model")
async def get_embedding_model(
    model_id: ModelId, principal: PrincipalDep, services: ServicesDep
) -> EmbeddingModelRecord:
    """One model: how far it is (`progress`), and what it waits for."""
    return await services.embedding_models.get(principal, model_id)


@router.post(
    "/{model_id}/build", status_code=202, responses=documented(403, 404, 409), operation_id="build_embedding_model"
)
async def build_embedding_model(model_id: ModelId, principal: PrincipalDep, services: ServicesDep) -> EmbeddingModelJob:
    """Give a model the vectors that it lacks. For operators.

    Needed where the model was away while texts were written, or its job has died. What it has is left alone.
    """
    return await services.embedding_models.build(principal, model_id)


@router.post("/{model_id}/compare", responses=documented(403, 404, 409), operation_id="compare_embedding_models")
async def compare_embedding_models(
    model_id: ModelId, body: CompareRequest, principal: PrincipalDep, services: ServicesDep
) -> Comparison:
    """A shadow report: put questions to the model that serves and to this one, and see where they differ.

    `overlap` is the share of the ten best hits that both find, by meaning alone; `overlap_as_served` that of whole
    searches. A low overlap is no fault: look at what only one of them finds. Your own questions tell most; without
    any, the last ones of this tenant are taken. No access is counted.
    """
    return await services.comparison.compare(principal, model_id, body)


@router.post("/{model_id}/activate", responses=documented(403, 404, 409), operation_id="activate_embedding_model")
async def activate_embedding_model(
    model_id: ModelId, body: ModelActivate, principal: PrincipalDep, services: ServicesDep
) -> EmbeddingModelJob:
    """Switch: this model serves from now on. For operators. One transaction; every process follows within seconds.

    The model before stands by and is kept up to date: to go back, activate it again. Refused where texts would be lost
    for searches by meaning (409 with `missing`), or the model does not answer (503).
    """
    return await services.embedding_models.activate(principal, model_id, force=body.force)


@router.post(
    "/{model_id}/retire", status_code=202, responses=documented(403, 404, 409), operation_id="retire_embedding_model"
)
async def retire_embedding_model(
    model_id: ModelId, principal: PrincipalDep, services: ServicesDep
) -> EmbeddingModelJob:
    """Give a model up that does not serve. For operators. A job removes its vectors in batches and drops its index.

    This cannot be undone: to have the model again, register it and wait until it is built anew.
    """
    return await services.embedding_models.retire(principal, model_id)
