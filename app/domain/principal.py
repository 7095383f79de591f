"""Who is calling, and what that caller may do."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args
from uuid import UUID

from app.core.errors import Forbidden
from app.domain.context.defaults import ContextDefaults
from app.domain.dreaming.policy import DreamingPolicy
from app.domain.gate.judging import DEFAULT_THRESHOLD
from app.domain.insights.policy import ReflectionPolicy
from app.domain.lifecycle.policy import ForgettingPolicy
from app.domain.memory import Kind

Role = Literal["operator", "admin", "member", "reader"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)

Permission = Literal[
    "sessions:read",
    "sessions:write",
    "memories:read",
    "memories:write",
    "shared:write",
    "jobs:read",
    "jobs:write",
    "sensitive",
    "admin",
]
SCOPES: Final[tuple[Permission, ...]] = get_args(Permission)

RedactionPolicy = Literal["redact", "reject", "allow", "seal"]

_READ: Final[frozenset[Permission]] = frozenset({"sessions:read", "memories:read", "jobs:read"})
_MEMBER: Final[frozenset[Permission]] = _READ | {"sessions:write", "memories:write", "jobs:write", "shared:write"}
_ALL: Final[frozenset[Permission]] = frozenset(SCOPES)
ROLE_SCOPES: Final[dict[Role, frozenset[Permission]]] = {
    "operator": _ALL,
    "admin": _ALL,
    "member": _MEMBER,
    "reader": _READ,
}


@dataclass(frozen=True, slots=True)
class TenantDefaults:
    """What a tenant has set: a zone, lives in seconds, weights of a search and the making of contexts for requests that
    name none, what becomes of secrets in what is written, how much a find must be worth to be kept, how many tokens of
    the language model a day and a month may take, what is forgotten when, and when memories are reflected on and put
    in order.
    `fence_key` signs what is served into prompts.
    """

    timezone: str | None = None
    session_ttl: int | None = None
    memory_ttl: int | None = None
    legs: Mapping[str, float] = field(default_factory=dict)
    factors: Mapping[str, Any] = field(default_factory=dict)
    redaction: RedactionPolicy = "redact"
    redact_phone_numbers: bool = False
    sensitive_keys: tuple[str, ...] = ()
    gate_threshold: float = DEFAULT_THRESHOLD
    daily_token_budget: int | None = None
    monthly_token_quota: int | None = None
    context: ContextDefaults = field(default_factory=ContextDefaults)
    forgetting: ForgettingPolicy = field(default_factory=ForgettingPolicy)
    reflection: ReflectionPolicy = field(default_factory=ReflectionPolicy)
    dreaming: DreamingPolicy = field(default_factory=DreamingPolicy)
    fence_key: bytes = field(default=b"", repr=False)

    def ttl_of(self, kind: Kind) -> int | None:
        """Seconds that a memory of this kind lives which names no end: its kind's own, else that of all."""
        return self.forgetting.ttls.get(kind, self.memory_ttl)


@dataclass(frozen=True, slots=True)
class Principal:
    """The holder of an API key, within one tenant.

    `user_ids` is the optional binding: a bound key sees and writes these users' rows only, reads the shared levels and
    never writes them. `rate_limit` is how many calls it may make a minute; None: as many as it likes.
    """

    tenant_id: UUID
    key_id: UUID
    name: str
    role: Role
    scopes: frozenset[Permission]
    user_ids: frozenset[str] | None = None
    defaults: TenantDefaults = TenantDefaults()
    rate_limit: int | None = None

    @property
    def actor(self) -> str:
        """How history and audit name this caller."""
        return f"key:{self.key_id}"

    def require(self, scope: Permission) -> None:
        """Raise `Forbidden` unless the key carries `scope`."""
        if scope not in self.scopes:
            raise Forbidden(f"This key lacks the scope '{scope}'.", code="missing_scope")

    def require_administration(self) -> None:
        """Raise `Forbidden` unless the key may govern its whole tenant: with the scope `admin`, bound to nobody."""
        self.require("admin")
        if self.user_ids is not None:
            raise Forbidden("This key is bound to users: administration needs an unbound one.", code="foreign_user")

    def may_see_user(self, user_id: str | None) -> bool:
        """Whether rows of this user (None: rows of no user) may be shown."""
        return self.user_ids is None or (user_id is not None and user_id in self.user_ids)

    def own_user(self, user_id: str | None) -> str | None:
        """The user that a write or a query is about: filled in for a key that is bound to exactly one.

        Raises:
            Forbidden: The key is bound to other users, or to several and none was named.
        """
        if self.user_ids is None:
            return user_id
        if user_id is None:
            if len(self.user_ids) == 1:
                return next(iter(self.user_ids))
            raise Forbidden("This key is bound to several users: name one in user_id.", code="user_required")
        if user_id not in self.user_ids:
            raise Forbidden("This key is bound to other users.", code="foreign_user")
        return user_id
