"""Keys, tenants and the caller, in requests and answers."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, model_validator

from app.domain.context.defaults import SectionName, Strategy
from app.domain.dreaming.policy import DreamTrigger
from app.domain.lifecycle.policy import MOST_ARCHIVE_BELOW
from app.domain.principal import Permission, RedactionPolicy, Role
from app.schemas.fields import Id, Instant, RequestModel, ResponseModel, ShortText, Timezone, Ttl
from app.schemas.search import FactorWeights, LegWeights


class Me(ResponseModel):
    """The holder of the key."""

    tenant_id: str
    key_id: str
    name: str
    role: Role
    scopes: list[Permission]
    user_ids: list[str] | None = Field(description="The users that the key is bound to; null: every user")


class KeyCreate(RequestModel):
    """A new API key."""

    name: ShortText = Field(min_length=1, description="What it is for")
    role: Role = "member"
    scopes: list[Permission] | None = Field(None, description="Fewer than the role has; all of the role's if absent")
    user_ids: list[Id] | None = Field(None, min_length=1, max_length=1000, description="Bind it to these users")
    expires_at: Instant | None = None
    rate_limit: int | None = Field(
        None, ge=1, le=1_000_000, description="Calls a minute; as many as it likes if absent"
    )

    model_config = RequestModel.model_config | {
        "json_schema_extra": {"examples": [{"name": "travel agent", "role": "member", "user_ids": ["ada"]}]}
    }


class KeyChange(RequestModel):
    """What may be changed of a key; absent fields stay as they are."""

    name: ShortText | None = Field(None, min_length=1)
    rate_limit: int | None = Field(None, ge=1, le=1_000_000, description="Calls a minute; null: as many as it likes")
    expires_at: Instant | None = Field(None, description="null: never")

    model_config = RequestModel.model_config | {"json_schema_extra": {"examples": [{"rate_limit": 600}]}}

    @model_validator(mode="after")
    def _changes_something(self) -> "KeyChange":
        if not self.model_fields_set:
            raise ValueError("name at least one field to change")
        if "name" in self.model_fields_set and self.name is None:
            raise ValueError("name cannot be null")
        return self


class KeyRotation(RequestModel):
    """How a key is replaced by a new one."""

    overlap_seconds: int = Field(86_400, ge=0, le=31_536_000, description="For how long the old key goes on working")

    model_config = RequestModel.model_config | {"json_schema_extra": {"examples": [{"overlap_seconds": 3600}]}}


class ApiKey(ResponseModel):
    """A key: everything but its secret."""

    id: str
    tenant_id: str
    name: str
    prefix: str = Field(description="How the secret begins")
    role: Role
    scopes: list[Permission]
    user_ids: list[str] | None
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None = Field(description="To the minute")
    rate_limit: int | None


class CreatedKey(ApiKey):
    """A new key."""

    key: str = Field(description="The secret: shown now and never again")


class TenantCreate(RequestModel):
    """A new tenant."""

    name: Id

    model_config = RequestModel.model_config | {"json_schema_extra": {"examples": [{"name": "acme"}]}}


class Tenant(ResponseModel):
    """A tenant."""

    id: str
    name: str
    created_at: datetime


Days = Annotated[float, Field(gt=0, le=36_500)]


class KindTtls(RequestModel):
    """Lives in seconds, by kind of memory."""

    episodic: Ttl | None = None
    semantic: Ttl | None = None
    procedural: Ttl | None = None


class HalfLives(RequestModel):
    """Days after which half of the strength of a memory is left that was never used, by kind."""

    episodic: Days | None = Field(None, description="Default 45")
    semantic: Days | None = Field(None, description="Default 180")


class TenantSettings(RequestModel):
    """What may be set for a tenant while the service runs."""

    timezone: Timezone | None = Field(None, description="For users and sessions that name none")
    default_session_ttl: Ttl | None = Field(None, description="Seconds, for sessions that name none")
    default_memory_ttl: Ttl | None = Field(None, description="Seconds, for memories that name none")
    memory_ttls: KindTtls | None = Field(None, description="The same by kind; a kind's own goes before that of all")
    expired_kept_days: Days | None = Field(
        None, description="How long what has expired can be restored before it is deleted for good; default 30"
    )
    decay: Literal["on", "off"] | None = Field(
        None, description="Whether memories that nobody uses are archived; default on. Pinned, constraints, facts never"
    )
    half_life_days: HalfLives | None = Field(None, description="How fast memories fade that are not used")
    archive_below: float | None = Field(
        None, gt=0, le=MOST_ARCHIVE_BELOW, description="The strength below which a memory is archived; default 0.25"
    )
    archived_kept_days: Days | None = Field(
        None, description="How long archived memories are kept before they are deleted; absent: for ever"
    )
    capacity: int | None = Field(
        None, ge=1, le=10_000_000, description="Current memories of one owner; above, the weakest are archived"
    )
    confirm_after_days: Days | None = Field(
        None, description="After so long an important fact that nobody has mentioned is to be confirmed; default 180"
    )
    consolidation: Literal["auto", "manual"] | None = Field(
        None, description="Whether near-duplicates are merged every day (auto) or when it is asked for; default manual"
    )
    reflection: Literal["auto", "manual"] | None = Field(
        None, description="Whether insights are drawn when enough has come together (auto, the default) or when asked"
    )
    reflect_importance: int | None = Field(
        None, ge=1, le=1_000_000, description="Importance that new memories add up to before a reflection; default 150"
    )
    reflect_count: int | None = Field(
        None, ge=2, le=1_000_000, description="Or so many new memories, whatever their importance; default 100"
    )
    reflected_observations: Literal["outweigh", "archive", "keep"] | None = Field(
        None, description="What becomes of the episodes that an insight stands for: they weigh less (default)"
    )
    dream_when: list[DreamTrigger] | None = Field(
        None,
        max_length=5,
        description="When memories are put in order without being asked for: idle, nightly, weekly (at night, in the "
        "tenant's zone), session_closed, near_capacity; default never",
    )
    search_legs: LegWeights | None = Field(None, description="Weights of the legs for searches that name none")
    search_weights: FactorWeights | None = Field(None, description="Weights of the factors, likewise")
    redaction: RedactionPolicy | None = Field(
        None,
        description="Secrets in what is written: redact (the default) replaces, reject refuses, allow stores them, "
        "seal encrypts a memory or a fact that has one, and replaces it elsewhere",
    )
    redact_phone_numbers: bool | None = Field(None, description="Whether phone numbers count as secrets; default false")
    sensitive_keys: list[Id] | None = Field(
        None, max_length=100, description="Memories whose key begins so are sealed, such as user.passport or health."
    )
    gate_threshold: float | None = Field(
        None,
        ge=0,
        le=1,
        description="How much what is said must be worth to be kept, in [0, 1]; default 0.5",
    )
    daily_token_budget: int | None = Field(
        None, ge=0, description="Tokens of the language model that extraction may take in a day (UTC); absent: no limit"
    )
    context_strategy: Strategy | None = Field(None, description="What stands for a conversation in contexts")
    context_order: list[SectionName] | None = Field(
        None, min_length=1, max_length=10, description="Order of a context's sections; those not named follow"
    )
    context_token_budget: int | None = Field(None, ge=100, le=1_000_000, description="Of a context; default 4000")
    memory_share: float | None = Field(None, ge=0, le=1, description="Of a context's budget, for memories; default .1")
    summary_max_tokens: int | None = Field(
        None, ge=100, le=20_000, description="What a session's rolling summary may cost; default 1000"
    )
    window_turns: int | None = Field(
        None, ge=1, le=200, description="The last turns of a session, which are not summarised; default 10"
    )

    model_config = RequestModel.model_config | {"json_schema_extra": {"examples": [{"timezone": "Asia/Shanghai"}]}}

    @model_validator(mode="after")
    def _names_each_once(self) -> "TenantSettings":
        if self.context_order is not None and len(set(self.context_order)) < len(self.context_order):
            raise ValueError("context_order names a section twice")
        return self


class Stats(ResponseModel):
    """How much a tenant has of what."""

    users: int
    sessions: int
    messages: int
    memories: dict[str, int] = Field(description="By status")
    jobs: dict[str, int] = Field(description="By state")
    embedding_model: str
