"""Health in answers."""

from typing import Literal

from app.schemas.fields import ResponseModel


class Alive(ResponseModel):
    """The process answers."""

    status: Literal["ok"] = "ok"


class Readiness(ResponseModel):
    """Whether the service can serve, part by part."""

    status: Literal["ready", "not_ready"]
    checks: dict[str, str]
