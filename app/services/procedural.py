"""How things are done stands apart from what is so: a conversation neither corrects nor ends it."""

from collections.abc import Sequence

from app.repositories.base import Row
from app.uow import Transaction


async def facts_among(tx: Transaction, rows: Sequence[Row]) -> list[Row]:
    """The rows but for lessons and cards of procedures."""
    doubtful = [row["id"] for row in rows if row["kind"] == "procedural"]
    if not doubtful:
        return list(rows)
    cards = {row["id"] for row in await tx.procedures.by_ids(doubtful)}
    return [row for row in rows if row["id"] not in cards and not _is_lesson(row)]


def _is_lesson(row: Row) -> bool:
    return bool(row["kind"] == "procedural" and row["category"] == "lesson")
