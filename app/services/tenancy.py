"""What a tenant has set, as use cases read it."""

from collections.abc import Mapping
from typing import Any

from app.domain.principal import TenantDefaults


def defaults_of(settings: Mapping[str, Any]) -> TenantDefaults:
    """From the tenant's settings as they are stored; what is absent is as it is by default."""
    known = TenantDefaults()
    return TenantDefaults(
        settings.get("timezone"),
        settings.get("default_session_ttl"),
        settings.get("default_memory_ttl"),
        _set(settings.get("search_legs")),
        _set(settings.get("search_weights")),
        settings.get("redaction", known.redaction),
        settings.get("redact_phone_numbers", known.redact_phone_numbers),
        settings.get("gate_threshold", known.gate_threshold),
        settings.get("daily_token_budget"),
    )


def _set(named: dict[str, Any] | None) -> dict[str, Any]:
    return {name: value for name, value in (named or {}).items() if value is not None}
