"""Two memories that say the same become one: which wording stays, and what it takes over."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, TypeVar

from app.domain.memory import VISIBLE_STATUSES, Columns

SUMMED: Final = ("seen_count", "access_count", "used_count", "ignored_count", "wrong_count")
GREATEST: Final = ("importance", "confidence", "weight", "last_seen_at", "last_accessed_at")

_AGAIN: Final = re.compile(r"(?i)\b(?:again|once more|another time)\b|又|再次|再一次")

_PLACE: Final = ("owner", "agent_id", "app_id", "session_id", "kind", "use", "uncertain")

Row = TypeVar("Row", bound=Columns)


def mergeable(one: Columns, other: Columns) -> bool:
    """Whether two memories are of one place and sort, so that either could stand for both.

    What is under different keys is not, nor is what was done once and what was done again. What waits for a decision
    is: the one that stays waits for it then.
    """
    keys = {one["key"], other["key"]} - {None}
    current = {one["status"], other["status"]} <= set(VISIBLE_STATUSES)
    once = one["kind"] != "episodic" or (_AGAIN.search(one["text"]) is None) == (_AGAIN.search(other["text"]) is None)
    return current and once and len(keys) <= 1 and all(one[name] == other[name] for name in _PLACE)


def keeper(rows: Sequence[Row]) -> Row:
    """The memory whose wording stays: the newest, but a fact under a key before one without, so that the key lasts."""
    return max(rows, key=lambda row: (row["key"] is not None, since(row), row["id"]))


def taken_over(kept: Columns, others: Sequence[Columns]) -> dict[str, Any]:
    """The columns of the kept memory that change: counts are summed, the greater of all else holds."""
    everyone = [kept, *others]
    values: dict[str, Any] = {name: sum(row[name] for row in everyone) for name in SUMMED}
    for name in GREATEST:
        values[name] = max((row[name] for row in everyone if row[name] is not None), default=None)
    values["pinned"] = any(row["pinned"] for row in everyone)
    ends = [row["expires_at"] for row in everyone]
    values["expires_at"] = None if None in ends else max(ends)
    metadata: dict[str, Any] = {}
    for row in sorted(others, key=since):
        metadata |= row["metadata"]
    values["metadata"] = metadata | kept["metadata"]
    return {name: value for name, value in values.items() if value != kept[name]}


def since(row: Columns) -> datetime:
    """From when a memory holds."""
    at: datetime = row["valid_from"] or row["created_at"]
    return at
