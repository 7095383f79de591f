"""What the rules of forgetting do to memories, asked for and answered."""

from typing import Any

from pydantic import Field

from app.domain.jobs import JobState
from app.domain.lifecycle.policies import POLICIES, ActionName, PolicyName
from app.schemas.fields import RequestModel, ResponseModel


class MaintainRequest(RequestModel):
    """Which rules are to be applied now; all of them if none is named."""

    policies: list[PolicyName] = Field(
        default=list(POLICIES),
        min_length=1,
        max_length=len(POLICIES),
        description="expire: what is past its time; decay: what nobody uses; capacity: the weakest above the tenant's "
        "limit; retention: what was archived long ago; verify: facts that should be confirmed",
    )
    dry_run: bool = Field(default=False, description="Say what would happen, and change nothing")

    model_config = RequestModel.model_config | {
        "json_schema_extra": {"examples": [{"policies": ["decay", "verify"], "dry_run": True}]}
    }


class PlannedChange(ResponseModel):
    """What would happen to one memory."""

    memory_id: str
    text: str
    policy: PolicyName = Field(description="The rule")
    action: ActionName = Field(description="ask: it needs a confirmation; settle: it no longer does")
    reason: str
    strength: float | None = Field(description="In [0, 1], where that is the reason")
    before: dict[str, Any]
    after: dict[str, Any]


class PlannedDigest(ResponseModel):
    """What would stand for several old episodes."""

    text: str
    memory_ids: list[str] = Field(description="The episodes; they are archived")


class Maintained(ResponseModel):
    """What was done, or with dry_run would be."""

    dry_run: bool
    changed: int | None = Field(None, description="Memories; null as long as the job goes on")
    changes: list[PlannedChange] = Field(default_factory=list, description="With dry_run: up to 200 of each rule")
    digests: list[PlannedDigest] | int = Field(
        default_factory=list, description="With dry_run: what they would say; else how many were made"
    )
    undo_id: str | None = Field(None, description="Undoes all of it: POST /v1/undo")
    job_id: str | None = None
    status: JobState | None = None


class ConsolidateRequest(RequestModel):
    """How near-duplicates are looked for."""

    dry_run: bool = Field(default=False, description="Say what would become one, and change nothing")

    model_config = RequestModel.model_config | {"json_schema_extra": {"examples": [{"dry_run": True}]}}


class PlannedMerge(ResponseModel):
    """Memories that say the same."""

    keep_id: str = Field(description="The newest wording, which stays")
    text: str
    merged_ids: list[str]
    merged_texts: list[str]


class PlannedConflict(ResponseModel):
    """Memories that cannot both be true, as conflict resolution sees them."""

    memory_id: str
    other_id: str
    verdict: str = Field(description="contradict: both are disputed until somebody decides")


class PlannedShortening(ResponseModel):
    """A long memory in fewer words."""

    memory_id: str
    before: str
    after: str


class Consolidated(ResponseModel):
    """What was merged, or with dry_run would be."""

    dry_run: bool
    compared: int | None = Field(None, description="Memories that were looked at")
    merged: int | None = Field(None, description="Memories that became history in favour of another wording")
    disputed: int | None = Field(None, description="Contradictions that were met")
    shortened: int | None = None
    merges: list[PlannedMerge] = Field(default_factory=list, description="With dry_run")
    conflicts: list[PlannedConflict] = Field(default_factory=list, description="With dry_run")
    shortenings: list[PlannedShortening] = Field(default_factory=list, description="With dry_run")
    undo_id: str | None = Field(None, description="Undoes all of it: POST /v1/undo")
    job_id: str | None = None
    status: JobState | None = None


class MemoryHealth(ResponseModel):
    """How well memories serve. Shares are in [0, 1]; null where there is nothing to count yet."""

    written: int = Field(description="Memories, but those that a newer wording has replaced or that are erased")
    current: int
    archived: int
    junk_rate: float | None = Field(
        description="Share of the current ones that were ignored or wrong more often than of use"
    )
    pollution: float | None = Field(
        description="Share of what was written that was not worth it: rejected, wrong, or gone without one use"
    )
    noise: float | None = Field(description="Share of what was served and judged that was ignored")
    wrong: float | None = Field(description="Share of what was served and judged that was wrong")
    contradictions: int = Field(description="Open pairs that cannot both be true")
    duplicates: int = Field(description="Current memories whose very text another one of the same owner has")
    to_confirm: int = Field(description="Facts that wait for a confirmation")
    retrieval_hits: int = Field(description="How often memories were served")
    served: int = Field(description="Memories that were served at least once")
    never_used: int = Field(description="Current memories that never were")
