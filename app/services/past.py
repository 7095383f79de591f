"""Memories as they were known at another time."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from app.domain.undoing import Change, net
from app.repositories.base import RowLike
from app.uow import Transaction


async def as_known(tx: Transaction, rows: Sequence[RowLike], known_at: datetime | None) -> list[RowLike]:
    """The rows with what has been changed of them since taken back; they themselves where no time is named."""
    if known_at is None or not rows:
        return list(rows)
    changes: dict[UUID, list[Change]] = {}
    for event in await tx.history.events_since([row["id"] for row in rows], known_at):
        if event["created_at"] > known_at and event["changed"] is not None:
            changes.setdefault(event["memory_id"], []).append(event["changed"])
    return [_before(tx, row, changes.get(row["id"], [])) for row in rows]


def _before(tx: Transaction, row: RowLike, changes: Sequence[Change]) -> RowLike:
    was: dict[str, Any] = {name: before for name, (before, _) in net(changes).items() if name in row}
    return {**row, **tx.history.columns(was)}
