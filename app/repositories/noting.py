"""What becomes of a transaction's changes in the audit log: the one place that writes it."""

import re
from collections.abc import Collection, Mapping
from typing import Final
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.core import clock, ids
from app.db import changes
from app.domain.calls import serving
from app.repositories.audit import Line, line_script
from app.repositories.base import Pseudonyms

CACHES: Final = frozenset({"idempotency_keys", "search_explanations", "context_cache", "audit_log", "audit_heads"}) | {
    "rate_buckets"
}
"""Tables whose rows are copies or counts, kept for a while; and the log, which would go on telling of itself."""

UPKEEP: Final = CACHES | {
    *("jobs", "owner_stats", "language_model_usage", "sessions.update"),
    *("memory_postings", "memory_vectors", "message_postings", "message_vectors"),
}
"""What jobs also write: records of their own, and what is computed from contents."""

_OWN_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


async def note(connection: AsyncConnection, tenant_id: UUID, pseudonyms: Pseudonyms, met: Collection[str]) -> None:
    """Tell of what the transaction has changed, if it is part of a call; the line goes out with the COMMIT.

    Args:
        connection: The transaction's, at its end.
        tenant_id: Whose log it is.
        pseudonyms: What stands for ids that clients chose.
        met: The users whose rows were met.
    """
    call = serving()
    if call is None or call.actor is None:
        return
    tables = _counted(changes.changed(connection), UPKEEP if call.of_content else CACHES)
    if not tables and (call.noted or not call.is_told):
        return
    named = {name: await _shown(connection, pseudonyms, name, value) for name, value in call.ids.items()}
    user_id = call.user_id or (next(iter(met)) if len(met) == 1 else None)
    details: dict[str, object] = {"changed": tables, "ids": named}
    if call.request_id is not None:
        details["request_id"] = await _shown(connection, pseudonyms, "request_id", call.request_id)
    line = Line(
        id=ids.new_id(),
        tenant_id=tenant_id,
        actor=call.actor,
        action=call.action,
        resource=call.resource,
        resource_id=next(iter(named.values()), None),
        subject=None if user_id is None else await pseudonyms.of(connection, "user_id", user_id),
        details={name: value for name, value in details.items() if value},
        created_at=clock.now(),
    )
    changes.at_commit(connection, line_script(line))
    call.noted = True


def _counted(changed: Mapping[str, int], passed_over: Collection[str]) -> dict[str, int]:
    return {
        name: rows
        for name, rows in sorted(changed.items())
        if name not in passed_over and name.partition(".")[0] not in passed_over
    }


async def _shown(connection: AsyncConnection, pseudonyms: Pseudonyms, name: str, value: str) -> str:
    """The service's own ids stand as they are; those that clients chose may name a person."""
    if _OWN_ID.fullmatch(value) is not None:
        return value
    try:
        return str(UUID(value))
    except ValueError:
        return await pseudonyms.of(connection, name, value)
