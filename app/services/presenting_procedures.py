"""Procedures and lessons as answers have them."""

from typing import Any

from app.domain.procedure import ProcedureStatus, success_rate
from app.domain.scope import SHARED_OWNER
from app.repositories.base import RowLike
from app.schemas.lessons import ExperienceTold, Lesson
from app.schemas.procedures import Procedure, ProcedureCard, ProcedureVersion


def card_of(row: RowLike) -> ProcedureCard:
    """A procedure as lists have it."""
    return ProcedureCard(**_card(row))


def procedure_of(row: RowLike) -> Procedure:
    """A whole procedure."""
    lesson_id = row["lesson_id"]
    return Procedure(
        **_card(row),
        body=row["body"],
        steps=row["steps"],
        examples=row["examples"],
        lesson_id=None if lesson_id is None else str(lesson_id),
    )


def version_of(row: RowLike) -> ProcedureVersion:
    """What a procedure said."""
    document = dict(row["document"])
    status = _status(document.pop("card"))
    return ProcedureVersion(
        version=row["version"], actor=row["actor"], created_at=row["created_at"], status=status, **document
    )


def lesson_as_answer(row: RowLike) -> Lesson:
    """A lesson: a row of `lessons` with its memory."""
    return Lesson(**lesson_fields(row))


def lesson_fields(row: RowLike) -> dict[str, Any]:
    """The same as fields."""
    derived = {"id", "shared", "success_count", "failure_count", "success_rate"}
    own = {name: row[name] for name in Lesson.model_fields if name not in derived}
    return own | _whose(row) | _counts(row)


def experience_of(row: RowLike) -> ExperienceTold:
    """An attempt that a lesson comes from."""
    own = {name: row[name] for name in ExperienceTold.model_fields if name != "id"}
    return ExperienceTold(id=str(row["id"]), **own)


def _card(row: RowLike) -> dict[str, Any]:
    names = (
        "title",
        "when_to_use",
        "tags",
        "path",
        "version",
        "created_at",
        "updated_at",
        "user_id",
        "agent_id",
        "app_id",
    )
    own = {name: row[name] for name in names}
    return own | _whose(row) | _counts(row) | {"status": _status(row["card"])}


def _whose(row: RowLike) -> dict[str, Any]:
    return {"id": str(row["id"]), "shared": row["owner"] == SHARED_OWNER}


def _counts(row: RowLike) -> dict[str, Any]:
    good, bad = row["successes"], row["failures"]
    return {"success_count": good, "failure_count": bad, "success_rate": round(success_rate(good, bad), 3)}


def _status(card: str) -> ProcedureStatus:
    return "draft" if card == "archived" else "published"
