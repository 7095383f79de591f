"""What differs between two JSON values, place by place."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

Change = Literal["add", "remove", "replace"]


@dataclass(frozen=True, slots=True)
class Difference:
    """One place that differs: `path` is a JSON Pointer (RFC 6901), `op` as in JSON Patch (RFC 6902)."""

    op: Change
    path: str
    before: Any
    after: Any


def differences(before: Any, after: Any, path: str = "") -> Iterator[Difference]:  # noqa: ANN401 - JSON is anything
    """Where two values differ, as deep as both have the same kind of container; arrays compare member by member.

    Applied in their order to the first value, as a JSON Patch, they give the second.
    """
    if isinstance(before, dict) and isinstance(after, dict):
        for name in (name for name in before if name not in after):
            yield Difference("remove", f"{path}/{_escaped(name)}", before[name], None)
        for name, value in after.items():
            place = f"{path}/{_escaped(name)}"
            if name in before:
                yield from differences(before[name], value, place)
            else:
                yield Difference("add", place, None, value)
    elif isinstance(before, list) and isinstance(after, list):
        for number in range(len(before) - 1, len(after) - 1, -1):
            yield Difference("remove", f"{path}/{number}", before[number], None)
        for number, value in enumerate(after):
            if number < len(before):
                yield from differences(before[number], value, f"{path}/{number}")
            else:
                yield Difference("add", f"{path}/{number}", None, value)
    elif not same(before, after):
        yield Difference("replace", path, before, after)


def same(one: Any, other: Any) -> bool:  # noqa: ANN401 - JSON is anything
    """Whether two JSON values are equal; `true` is not 1, as it is in Python."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[name]) for name, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
