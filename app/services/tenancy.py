"""What a tenant has set, as use cases read it."""

from collections.abc import Mapping
from typing import Any, Final, cast

from app.domain.context.defaults import ContextDefaults, ordered
from app.domain.dreaming.policy import DreamingPolicy
from app.domain.insights.policy import ReflectionPolicy
from app.domain.lifecycle.policy import ForgettingPolicy
from app.domain.memory import Kind
from app.domain.principal import TenantDefaults
from app.uow import Transaction

_OF_CONTEXT: Final = (
    *("context_strategy", "context_order", "context_token_budget"),
    *("memory_share", "summary_max_tokens", "window_turns"),
)

_OF_FORGETTING: Final = (
    *("expired_kept_days", "decay", "archive_below", "archived_kept_days", "capacity", "confirm_after_days"),
)


def defaults_of(settings: Mapping[str, Any], fence_key: bytes) -> TenantDefaults:
    """From the tenant's settings as they are stored; what is absent is as it is by default."""
    known = TenantDefaults()
    own = {name: settings[name] for name in _OF_CONTEXT if settings.get(name) is not None}
    if "order" in (named := {name.removeprefix("context_"): value for name, value in own.items()}):
        named["order"] = ordered(tuple(named["order"]))
    return TenantDefaults(
        timezone=settings.get("timezone"),
        session_ttl=settings.get("default_session_ttl"),
        memory_ttl=settings.get("default_memory_ttl"),
        legs=_set(settings.get("search_legs")),
        factors=_set(settings.get("search_weights")),
        redaction=settings.get("redaction", known.redaction),
        redact_phone_numbers=settings.get("redact_phone_numbers", known.redact_phone_numbers),
        sensitive_keys=tuple(settings.get("sensitive_keys") or ()),
        gate_threshold=settings.get("gate_threshold", known.gate_threshold),
        daily_token_budget=settings.get("daily_token_budget"),
        monthly_token_quota=settings.get("monthly_token_quota"),
        context=ContextDefaults(**named),
        forgetting=forgetting_of(settings),
        reflection=reflection_of(settings),
        dreaming=DreamingPolicy(tuple(settings.get("dream_when") or ())),
        fence_key=bytes(fence_key),
    )


def forgetting_of(settings: Mapping[str, Any]) -> ForgettingPolicy:
    """The rules of forgetting in a tenant's settings."""
    own = {name: settings[name] for name in _OF_FORGETTING if settings.get(name) is not None}
    if "decay" in own:
        own["decay"] = own["decay"] == "on"
    return ForgettingPolicy(
        ttls=cast("Mapping[Kind, int]", _set(settings.get("memory_ttls"))),
        half_life_days=cast("Mapping[Kind, float]", _set(settings.get("half_life_days"))),
        consolidate=settings.get("consolidation") == "auto",
        **own,
    )


def reflection_of(settings: Mapping[str, Any]) -> ReflectionPolicy:
    """The rules of reflection in a tenant's settings."""
    known = ReflectionPolicy()
    return ReflectionPolicy(
        auto=settings.get("reflection", "auto") == "auto",
        importance=settings.get("reflect_importance", known.importance),
        count=settings.get("reflect_count", known.count),
        observations=settings.get("reflected_observations", known.observations),
    )


async def tenant_defaults(tx: Transaction) -> TenantDefaults:
    """What the tenant of a transaction has set, for work that no key asked for."""
    row = await tx.tenant()
    return TenantDefaults() if row is None else defaults_of(row["settings"], row["fence_key"])


def _set(named: dict[str, Any] | None) -> dict[str, Any]:
    return {name: value for name, value in (named or {}).items() if value is not None}
