"""Keys, tenants and the caller, in requests and answers."""

from datetime import datetime

from pydantic import Field, model_validator

from app.domain.context.defaults import SectionName, Strategy
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

    model_config = RequestModel.model_config | {
        "json_schema_extra": {"examples": [{"name": "travel agent", "role": "member", "user_ids": ["ada"]}]}
    }


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
    last_used_at: datetime | None


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


class TenantSettings(RequestModel):
    """What may be set for a tenant while the service runs."""

    timezone: Timezone | None = Field(None, description="For users and sessions that name none")
    default_session_ttl: Ttl | None = Field(None, description="Seconds, for sessions that name none")
    default_memory_ttl: Ttl | None = Field(None, description="Seconds, for memories that name none")
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
