"""The one shape of every error (RFC 9457)."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Fault(BaseModel):
    """One thing that is wrong with a request."""

    loc: list[str | int] = Field(description="Where: body, query or path, then the field's name and position")
    msg: str = Field(description="What is wrong")
    type: str = Field(description="The kind of fault, for programs")


class ProblemDocument(BaseModel):
    """What went wrong, for people (`detail`) and for programs (`code`)."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(description="A URI reference that names the kind of problem", examples=["/problems/not_found"])
    title: str = Field(examples=["Not found"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=["There is no such memory."])
    code: str = Field(examples=["not_found"])
    request_id: str = Field(description="Also in the X-Request-ID header; quote it when asking for help")
    errors: list[Fault] = Field(default_factory=list)

    @classmethod
    def of(
        cls,
        *,
        status: int,
        title: str,
        detail: str,
        code: str,
        request_id: str,
        errors: list[dict[str, Any]] | None = None,
        extra: dict[str, Any] | None = None,
    ) -> "ProblemDocument":
        """The document of a problem."""
        return cls(
            type=f"/problems/{code}",
            title=title,
            status=status,
            detail=detail,
            code=code,
            request_id=request_id,
            errors=[Fault(**error) for error in errors or []],
            **(extra or {}),
        )
