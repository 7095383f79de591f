"""The one grammar of filters: what may be asked of a memory's fields, and nothing that is not understood."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, Literal

from app.core.errors import Invalid
from app.core.strict_json import fault_of

MAX_DEPTH: Final = 10
MAX_CONDITIONS: Final = 100
MAX_VALUES: Final = 1_000
"""Of one list; all lists of a filter together have up to ten times as many."""
MAX_VALUES_IN_ALL: Final = 10_000
MAX_PATH: Final = 10
LARGEST: Final = 1e300
"""Numbers beyond it compare like it: no column comes near."""

Connective = Literal["AND", "OR", "NOT"]


class FieldType(StrEnum):
    """How a field's values compare."""

    TEXT = "text"
    NUMBER = "number"
    FLAG = "flag"
    INSTANT = "instant"
    JSON = "json"


class Operator(StrEnum):
    """What may be asked of a field."""

    EQ = "eq"
    NE = "ne"
    GT = "gt"
    GTE = "gte"
    LT = "lt"
    LTE = "lte"
    IN = "in"
    NIN = "nin"
    CONTAINS = "contains"
    ICONTAINS = "icontains"
    EXISTS = "exists"


ORDERED: Final = frozenset({Operator.GT, Operator.GTE, Operator.LT, Operator.LTE})
LISTED: Final = frozenset({Operator.IN, Operator.NIN})
SUBSTRING: Final = frozenset({Operator.CONTAINS, Operator.ICONTAINS})

MEMORY_FIELDS: Final[dict[str, FieldType]] = {
    **dict.fromkeys(
        ("user_id", "agent_id", "app_id", "session_id", "kind", "category", "source", "status", "use", "key", "text"),
        FieldType.TEXT,
    ),
    **dict.fromkeys(("importance", "confidence", "weight", "seen_count", "access_count", "version"), FieldType.NUMBER),
    **dict.fromkeys(("pinned", "uncertain"), FieldType.FLAG),
    **dict.fromkeys(
        (
            *("created_at", "updated_at", "occurred_at", "expires_at", "valid_from", "valid_to"),
            *("last_seen_at", "last_accessed_at", "superseded_at"),
        ),
        FieldType.INSTANT,
    ),
}


@dataclass(frozen=True, slots=True)
class Condition:
    """One question about one field; `path` leads into `metadata`, and is empty for a column."""

    field: str
    path: tuple[str, ...]
    type: FieldType
    operator: Operator
    value: Any


@dataclass(frozen=True, slots=True)
class Group:
    """Conditions joined: all of AND, any of OR, none of NOT."""

    connective: Connective
    parts: tuple["Filter", ...]


Filter = Condition | Group


def parse_filter(given: Any) -> Filter:  # noqa: ANN401 - JSON is anything
    """Read a filter.

    `{"AND" | "OR" | "NOT": [...]}` joins filters; `{"field": {"operator": value}}` asks; several keys in one object are
    joined by AND. `metadata.some.path` reaches into metadata.

    Raises:
        Invalid: An unknown field or operator, a value of the wrong type, or more than the limits.
    """
    if (fault := fault_of(given)) is not None:
        raise _bad(fault)
    return _parse(given, 0, _Budget())


@dataclass(slots=True)
class _Budget:
    """What a filter may still have."""

    conditions: int = MAX_CONDITIONS
    values: int = MAX_VALUES_IN_ALL

    def spend(self, asked: Any) -> None:  # noqa: ANN401 - JSON is anything
        """Count one condition with its values."""
        self.conditions -= 1
        if self.conditions < 0:
            raise _bad(f"it has more than {MAX_CONDITIONS} conditions")
        self.values -= len(asked) if isinstance(asked, list) else 1
        if self.values < 0:
            raise _bad(f"it has more than {MAX_VALUES_IN_ALL} values")


def _parse(given: Any, depth: int, budget: _Budget) -> Filter:  # noqa: ANN401 - JSON is anything
    if depth > MAX_DEPTH:
        raise _bad(f"it nests deeper than {MAX_DEPTH} levels")
    if not isinstance(given, dict) or not given:
        raise _bad('each part is an object such as {"kind": {"eq": "semantic"}}')
    parts: list[Filter] = []
    for name, asked in given.items():
        if name in {"AND", "OR", "NOT"}:
            parts.append(_group(name, asked, depth, budget))
        else:
            parts.extend(_conditions(name, asked, budget))
    return parts[0] if len(parts) == 1 else Group("AND", tuple(parts))


def _group(connective: Connective, asked: Any, depth: int, budget: _Budget) -> Group:  # noqa: ANN401
    if not isinstance(asked, list) or not asked:
        raise _bad(f"{connective} takes a list with at least one part")
    return Group(connective, tuple(_parse(part, depth + 1, budget) for part in asked))


def _conditions(name: str, asked: Any, budget: _Budget) -> list[Filter]:  # noqa: ANN401
    field, path, kind = _field(name)
    if not isinstance(asked, dict) or not asked:
        raise _bad(f'{name} takes an object such as {{"eq": ...}}')
    found: list[Filter] = []
    for word, value in asked.items():
        budget.spend(value)
        operator = _operator(name, word)
        found.append(Condition(field, path, kind, operator, _value(name, kind, operator, value)))
    return found


def _field(name: str) -> tuple[str, tuple[str, ...], FieldType]:
    root, _, rest = name.partition(".")
    if root == "metadata" and rest:
        path = tuple(rest.split("."))
        if len(path) > MAX_PATH or not all(path):
            raise _bad(f"a metadata path has 1 to {MAX_PATH} names, none of them empty")
        return "metadata", path, FieldType.JSON
    if name not in MEMORY_FIELDS:
        raise _bad(f"there is no field '{name[:100]}' to filter by")
    return name, (), MEMORY_FIELDS[name]


def _operator(name: str, word: str) -> Operator:
    try:
        return Operator(word)
    except ValueError as error:
        known = ", ".join(operator.value for operator in Operator)
        raise _bad(f"{name} takes the operators {known}; '{word[:100]}' is none of them") from error


def _value(name: str, kind: FieldType, operator: Operator, value: Any) -> Any:  # noqa: ANN401
    if operator is Operator.EXISTS:
        if not isinstance(value, bool):
            raise _bad(f"{name}.exists takes true or false")
        return value
    if operator in LISTED:
        if not isinstance(value, list) or not 1 <= len(value) <= MAX_VALUES:
            raise _bad(f"{name}.{operator} takes a list of 1 to {MAX_VALUES} values")
        return tuple(_single(name, kind, one) for one in value)
    if operator in SUBSTRING:
        if kind not in {FieldType.TEXT, FieldType.JSON}:
            raise _bad(f"{name} is not a text: {operator} cannot be asked of it")
        if not isinstance(value, str):
            raise _bad(f"{name}.{operator} takes a text")
        return value
    if operator in ORDERED and kind is FieldType.FLAG:
        raise _bad(f"{name} is true or false: {operator} cannot be asked of it")
    if operator in ORDERED and kind is FieldType.JSON and not _comparable(value):
        raise _bad(f"{name}.{operator} takes a number or a text")
    return _single(name, kind, value)


def _comparable(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _single(name: str, kind: FieldType, value: Any) -> Any:  # noqa: ANN401
    if kind is FieldType.TEXT and isinstance(value, str):
        return value
    if kind is FieldType.FLAG and isinstance(value, bool):
        return value
    if kind is FieldType.NUMBER and isinstance(value, int | float) and not isinstance(value, bool):
        return float(min(max(value, -LARGEST), LARGEST))
    if kind is FieldType.INSTANT and isinstance(value, str):
        return _instant(name, value)
    if kind is FieldType.JSON:
        return value
    raise _bad(f"{name} compares with a {kind}, not with {type(value).__name__}")


def _instant(name: str, value: str) -> datetime:
    try:
        instant = datetime.fromisoformat(value)
    except ValueError as error:
        raise _bad(f"{name} compares with a time such as 2026-01-31T12:00:00Z") from error
    if instant.tzinfo is None:
        raise _bad(f"{name} compares with a time that names its offset, such as 2026-01-31T12:00:00Z")
    return instant


def _bad(reason: str) -> Invalid:
    return Invalid(f"The filter cannot be read: {reason}.", code="bad_filter")
