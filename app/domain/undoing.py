"""What it takes to undo changes of one memory: what was before the first of them, and what stands in the way."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

Change = Mapping[str, Sequence[Any]]
"""Columns of a memory, each with what it held before and after, as JSON."""

COUNTED: Final = frozenset(
    {
        *("seen_count", "last_seen_at", "confidence", "access_count", "last_accessed_at"),
        *("used_count", "ignored_count", "wrong_count"),
    }
)
"""Columns that go on moving while a memory is used: where they have, they are left as they are."""

OWN: Final = frozenset({"tenant_id", "id", "version", "updated_at"})
"""Columns that no undoing brings back."""


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The columns that a change has altered, with both values."""
    return {
        name: [before[name], after[name]]
        for name in after
        if name not in OWN and name in before and before[name] != after[name]
    }


def net(changes: Sequence[Change]) -> dict[str, tuple[Any, Any]]:
    """Several changes of one memory, oldest first, as one."""
    found: dict[str, tuple[Any, Any]] = {}
    for change in changes:
        for name, (before, after) in change.items():
            first = found[name][0] if name in found else before
            found[name] = (first, after)
    return found


def clashes(changed: Mapping[str, tuple[Any, Any]], now: Mapping[str, Any]) -> list[str]:
    """The columns that hold something else by now than the changes left there."""
    return [name for name, (_, after) in changed.items() if name not in COUNTED and now[name] != after]


def restored(changed: Mapping[str, tuple[Any, Any]], now: Mapping[str, Any]) -> dict[str, Any]:
    """The columns to write."""
    return {name: before for name, (before, after) in changed.items() if name not in COUNTED or now[name] == after}
