"""Embedding models in requests and answers."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from pydantic import Field

from app.domain.calibration import Calibration, CalibrationSource
from app.domain.embedding import ModelStatus
from app.schemas.fields import Id, MessageText, RequestModel, ResponseModel, ShortText


class ModelProgress(ResponseModel):
    """How far the job of a model is."""

    looked: int = Field(0, description="Texts looked at in this walk")
    total: int = Field(0, description="Texts there were when the walk began")
    done: int = Field(0, description="Vectors made, or removed")
    walks: int = Field(0, description="Walks through all texts that are finished; a second one finds late writes")
    waits_for: str | None = Field(None, description="Why nothing happens at the moment")
    finished_at: datetime | None = None


class ModelCalibration(ResponseModel):
    """What a model's raw cosines mean."""

    low: float = Field(description="The raw cosine that becomes the similarity 0")
    high: float = Field(description="The raw cosine that becomes the similarity 1")
    duplicate: float = Field(description="The similarity from which two memories are nominated for merging")
    source: CalibrationSource = Field(
        description="built_in: comes with the model; settings: EMBEDDING_SIMILARITY_LOW or _HIGH; measured: kept by "
        "`mnemic calibrate`"
    )
    measured_at: datetime | None = Field(description="When it was measured and kept")


class EmbeddingModelRecord(ResponseModel):
    """An embedding model that this database knows."""

    id: int
    name: str
    dimension: int
    metric: str
    status: ModelStatus = Field(
        description="building: is given vectors of everything; standby: has them, can be activated; active: serves; "
        "retired: serves no more, its vectors are removed"
    )
    loadable: bool = Field(description="Whether the process that answers can load it: its settings name it")
    indexed: bool = Field(description="Whether its vector indexes are built")
    calibration: ModelCalibration | None = Field(
        description="The one in use; null: the process that answers cannot load the model, and nobody measured it"
    )
    progress: ModelProgress
    created_at: datetime
    activated_at: datetime | None
    retired_at: datetime | None


class EmbeddingModelJob(EmbeddingModelRecord):
    """A model with the job that works on it."""

    job_id: str | None = Field(description="null: there is nothing to do")


class EmbeddingModels(ResponseModel):
    """All embedding models."""

    results: list[EmbeddingModelRecord] = Field(description="Those that this database knows, oldest first")
    unregistered: list[str] = Field(description="Names of models that the settings name and the database does not know")


class ModelRegister(RequestModel):
    """A model that is to get vectors of everything."""

    name: ShortText = Field(min_length=1, description="Its name, as `unregistered` of the list has it")

    model_config = RequestModel.model_config | {
        "json_schema_extra": {"examples": [{"name": "multilingual-e5-small-4bit"}]}
    }


class ModelActivate(RequestModel):
    """A switch."""

    force: bool = Field(
        default=False, description="Switch although vectors or indexes are missing: what lacks them is found by words"
    )

    model_config = RequestModel.model_config | {"json_schema_extra": {"examples": [{}]}}


class AskedQuery(RequestModel):
    """A question, and whose memories it is put to."""

    query: MessageText = Field(min_length=1)
    user_id: Id | None = None
    agent_id: Id | None = None
    app_id: Id | None = None


class CompareRequest(RequestModel):
    """Which questions two models are compared by."""

    queries: list[AskedQuery] | None = Field(
        None,
        min_length=1,
        max_length=200,
        description="The questions; absent: the last ones that were explained, then what users said last",
    )
    limit: int = Field(20, ge=1, le=200, description="How many recent questions, where none are given")

    model_config = RequestModel.model_config | {
        "json_schema_extra": {
            "examples": [{"queries": [{"query": "她住在哪里?", "user_id": "ada"}, {"query": "Where does she live?"}]}]
        }
    }


class FoundByOne(ResponseModel):
    """What one of the models found among its ten best, and the other did not."""

    id: str
    text: str = Field(description="Its beginning")


class ComparedQuery(ResponseModel):
    """What two models find for a question."""

    query: str
    user_id: str | None
    overlap: float = Field(description="Share of the ten nearest by meaning alone that both find")
    overlap_as_served: float = Field(description="The same of a whole search: by meaning, words, time and keys")
    only_active: list[FoundByOne] = Field(description="By meaning alone")
    only_other: list[FoundByOne] = Field(description="By meaning alone")


class Comparison(ResponseModel):
    """A shadow report: what would change if another model served. Nothing is changed or counted by asking."""

    active: str
    other: str
    queries: int
    overlap: float | None = Field(description="overlap@10 by meaning alone, mean of all questions; null: none asked")
    overlap_as_served: float | None = Field(description="overlap@10 of whole searches, mean of all questions")
    degraded: list[str] = Field(description="embedding: a model was away for some questions, words alone decided")
    results: list[ComparedQuery]


def calibration_shown(calibration: Calibration | None) -> ModelCalibration | None:
    """A calibration as it is shown."""
    return None if calibration is None else ModelCalibration(**asdict(calibration))


def progress_of(stored: dict[str, Any]) -> ModelProgress:
    """What of a stored progress is shown."""
    return ModelProgress(**{name: stored[name] for name in ModelProgress.model_fields if name in stored})
