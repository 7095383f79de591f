"""The key-value store of agents: namespaces as texts, filters, what is searched of a value, and how well it matches."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from app.core.errors import Invalid
from app.domain.filters import Condition, FieldType, Filter, Group, Operator

K1: Final = 0.9
B: Final = 0.4
"""Of BM25, as in every other search."""

SEPARATOR: Final = "\x1f"
"""Ends each segment of a path: no segment has a control character, so what lies below a namespace is a range."""

MAX_TEXTS: Final = 100
"""Of one item: those of the first fields."""

MatchType = Literal["prefix", "suffix"]
Namespace = tuple[str, ...]

_OPERATORS: Final = {
    "$eq": Operator.EQ,
    "$ne": Operator.NE,
    "$gt": Operator.GT,
    "$gte": Operator.GTE,
    "$lt": Operator.LT,
    "$lte": Operator.LTE,
}
_TOKEN: Final = re.compile(r"\[(\*|-?\d{1,6})\]|([^.\[\]]+)")


def path_of(namespace: Sequence[str]) -> str:
    """A namespace as one text."""
    return "".join(f"{segment}{SEPARATOR}" for segment in namespace)


def namespace_of(path: str) -> list[str]:
    """The namespace that a text stands for."""
    return path.split(SEPARATOR)[:-1]


def below(path: str) -> str | None:
    """The least text above all paths that begin with `path`; None where it is the root: nothing bounds those."""
    return None if not path else path[:-1] + chr(ord(SEPARATOR) + 1)


@dataclass(frozen=True, slots=True)
class MatchCondition:
    """What a namespace must begin or end with; `*` stands for any one segment."""

    type: MatchType
    path: Namespace

    def meets(self, namespace: Sequence[str]) -> bool:
        """Whether a namespace does."""
        if len(namespace) < len(self.path):
            return False
        part = namespace[: len(self.path)] if self.type == "prefix" else namespace[len(namespace) - len(self.path) :]
        return all(wanted in {"*", segment} for segment, wanted in zip(part, self.path, strict=True))


def known_beginning(conditions: Sequence[MatchCondition]) -> Namespace:
    """The longest beginning, without wildcards, that every matching namespace has."""
    best: Namespace = ()
    for condition in conditions:
        if condition.type == "prefix":
            plain = condition.path.index("*") if "*" in condition.path else len(condition.path)
            best = max(best, condition.path[:plain], key=len)
    return best


def matching(
    namespaces: Sequence[Sequence[str]], conditions: Sequence[MatchCondition], max_depth: int | None
) -> list[Namespace]:
    """The namespaces that meet every condition, cut to a depth, each once, in order."""
    kept = (namespace for namespace in namespaces if all(condition.meets(namespace) for condition in conditions))
    return sorted({tuple(namespace[:max_depth]) for namespace in kept})


def parse_store_filter(given: Mapping[str, Any]) -> Filter | None:
    """LangGraph's filter over an item's value: every key must match; `$eq`, `$ne`, `$gt`, `$gte`, `$lt`, `$lte`.

    Raises:
        Invalid: Another operator, or a comparison with what has no order.
    """
    parts = [part for name, asked in given.items() for part in _conditions((name,), asked)]
    return None if not parts else parts[0] if len(parts) == 1 else Group("AND", tuple(parts))


def _conditions(path: tuple[str, ...], asked: Any) -> Iterator[Filter]:  # noqa: ANN401 - JSON is anything
    if not isinstance(asked, dict):
        yield _condition(path, Operator.EQ, asked)
    elif any(word.startswith("$") for word in asked):
        for word, value in asked.items():
            if word not in _OPERATORS:
                known = ", ".join(_OPERATORS)
                raise Invalid(f"The filter takes {known}; '{word[:100]}' is none of them.", code="bad_filter")
            yield _condition(path, _OPERATORS[word], value)
    else:
        for name, inner in asked.items():
            yield from _conditions((*path, name), inner)


def _condition(path: tuple[str, ...], operator: Operator, value: Any) -> Filter:  # noqa: ANN401 - JSON is anything
    if operator not in {Operator.EQ, Operator.NE} and (
        isinstance(value, bool) or not isinstance(value, str | int | float)
    ):
        raise Invalid(f"The filter compares {path[-1][:100]} with a number or a text.", code="bad_filter")
    asked = Condition("value", path, FieldType.JSON, operator, value)
    if value is not None:
        return asked
    absent = Condition("value", path, FieldType.JSON, Operator.EXISTS, value=operator is Operator.NE)
    return Group("OR" if operator is Operator.EQ else "AND", (asked, absent))


def texts_of(value: Mapping[str, Any], fields: Sequence[str]) -> list[str]:
    """What is searched of a value, a text for each field it has: `$` is all of it, `a.b`, `list[*].text`, `[-1]`."""
    texts: list[str] = []
    for field in fields:
        if field in {"$", ""}:
            texts.append(_told(value))
        else:
            texts.extend(map(_told, _at(value, [one.group(1) or one.group(2) for one in _TOKEN.finditer(field)])))
    return [text for text in texts if text.strip()][:MAX_TEXTS]


def _at(value: Any, way: Sequence[str]) -> Iterator[Any]:  # noqa: ANN401 - JSON is anything
    if not way:
        yield value
    elif isinstance(value, dict):
        if way[0] == "*":
            for member in value.values():
                yield from _at(member, way[1:])
        elif way[0] in value:
            yield from _at(value[way[0]], way[1:])
    elif isinstance(value, list):
        if way[0] == "*":
            for member in value:
                yield from _at(member, way[1:])
        elif way[0].lstrip("-").isdigit() and -len(value) <= int(way[0]) < len(value):
            yield from _at(value[int(way[0])], way[1:])


def _told(value: Any) -> str:  # noqa: ANN401 - JSON is anything
    """A value in words: the texts and numbers in it, a line each, after the names they stand under."""
    if isinstance(value, str):
        return value
    return "\n".join(_lines(value, ""))


def _lines(value: Any, name: str) -> Iterator[str]:  # noqa: ANN401 - JSON is anything
    if isinstance(value, dict):
        for inner, member in value.items():
            yield from _lines(member, inner)
    elif isinstance(value, list):
        for member in value:
            yield from _lines(member, name)
    elif value is not None:
        yield f"{name}: {value}" if name else str(value)


@dataclass(frozen=True, slots=True)
class Words:
    """The texts in scope as BM25 sees them.

    Args:
        texts: How many there are.
        mean_length: Of a text in tokens.
        frequencies: In how many texts each of the question's words is.
    """

    texts: int
    mean_length: float
    frequencies: Mapping[str, int]

    def idf(self, word: str) -> float:
        """How much a word tells (Robertson and Zaragoza 2009)."""
        frequency = self.frequencies.get(word, 0)
        return math.log(1.0 + (self.texts - frequency + 0.5) / (frequency + 0.5))

    def bm25(self, shared: Sequence[str], length: int) -> float:
        """The score of a text that has these words of the question, each counted once."""
        norm = 1.0 + K1 * (1.0 - B + B * length / max(self.mean_length, 1.0))
        return math.fsum(self.idf(word) * (K1 + 1.0) / norm for word in shared)

    def coverage(self, shared: Sequence[str], asked: Sequence[str]) -> float:
        """The share of what the question's words tell that these words have, in [0, 1]."""
        told = math.fsum(map(self.idf, asked))
        return min(1.0, math.fsum(map(self.idf, shared)) / told) if told > 0 else 0.0
