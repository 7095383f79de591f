"""The audit log and receipts of erasures, in answers."""

from datetime import datetime
from typing import Any

from pydantic import Field

from app.domain.audit import Fault
from app.domain.erasure import ErasureState
from app.domain.jobs import JobState
from app.schemas.fields import ResponseModel


class AuditLine(ResponseModel):
    """One change, or one read by an administrator. There is no content in it, and no id that a client chose."""

    id: str
    position: int | None = Field(description="Its place in the chain; null for a moment after it was written")
    hash: str | None = Field(description="SHA-256 in hexadecimal over the line, its position and the hash before it")
    previous_hash: str | None
    actor: str = Field(description="key:<id>, job:<id>, or command: the command line")
    action: str = Field(description="The operation, as in the OpenAPI document; job.<kind>; command.<name>")
    resource: str
    resource_id: str | None = Field(description="The service's own id, or the pseudonym of one that a client chose")
    subject: str | None = Field(description="The pseudonym of the user whom it is about")
    details: dict[str, Any] = Field(description="Rows changed, by table and verb; further ids; the request's id")
    created_at: datetime


class ChainBreak(ResponseModel):
    """Where the chain does not hold."""

    position: int
    fault: Fault


class ChainEnd(ResponseModel):
    """The end of the chain."""

    position: int
    hash: str


class AuditVerdict(ResponseModel):
    """Whether the log is as it was written."""

    intact: bool
    checked: int = Field(description="Lines whose hash was computed anew")
    waiting: int = Field(description="Lines that have no place in the chain yet")
    head: ChainEnd
    breaks: list[ChainBreak] = Field(description="The first hundred places where it does not hold")


class Erasure(ResponseModel):
    """The receipt of an erasure."""

    id: str
    state: ErasureState
    subject: str = Field(description="The user's pseudonym, as in the audit log")
    requested_by: str
    requested_at: datetime
    finished_at: datetime | None
    counts: dict[str, int] = Field(description="Rows removed, by table")
    audit: ChainEnd | None = Field(description="The end of the audit log's chain when it was finished")


class AcceptedErasure(Erasure):
    """An erasure, and the job that does it."""

    job_id: str
    status: JobState
