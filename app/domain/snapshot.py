"""A JSON state as parts that are kept once each: what has not changed between two checkpoints is not stored again.

The state is cut where its own structure and content say so, as files are by content-defined chunking (Muthitacharoen
and others, SOSP 2001): large objects and arrays into runs of members, small ones not at all. A part is named by the
hash of its bytes; a document says how the parts make up the state again.
"""

import json
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final
from zlib import crc32

INLINE: Final = 512
"""Bytes up to which a value stands in the document itself."""

WHOLE: Final = 8 * 1024
"""Bytes up to which an object or an array is one part."""

SHORTEST_RUN: Final = 2 * 1024
BOUNDARY: Final = 4
"""One in so many members ends a run that is long enough: by its content, so that an insertion moves no later one."""

NAME_BYTES: Final = 15


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A state in parts: the document, and the parts' bytes by name."""

    document: bytes
    parts: Mapping[str, bytes]


def split(state: Mapping[str, Any]) -> Snapshot:
    """Cut a state into a document and parts."""
    parts: dict[str, bytes] = {}
    node = _node(state, _written(state), parts)
    numbers = {name: number for number, name in enumerate(sorted(parts))}
    return Snapshot(_written(_numbered(node, numbers)), parts)


def join(document: bytes, parts: Mapping[str, bytes]) -> dict[str, Any]:
    """The state again: exactly what was split, in its order."""
    state: dict[str, Any] = _value(json.loads(document), [parts[name] for name in sorted(parts)])
    return state


class _Run:
    """Members of a container that follow each other, gathered until a boundary."""

    def __init__(self, kind: str, parts: dict[str, bytes]) -> None:
        self._kind, self._parts = kind, parts
        self._members: list[tuple[str | None, Any]] = []
        self._size = 0
        self.segments: list[Any] = []

    def add(self, key: str | None, value: Any, text: bytes) -> None:  # noqa: ANN401 - JSON is anything
        self._members.append((key, value))
        self._size += len(text) + len(key or "")
        ends = self._size >= SHORTEST_RUN and crc32(text) % BOUNDARY == 0
        if ends or self._size >= WHOLE:
            self.flush()

    def nest(self, key: str | None, node: Any) -> None:  # noqa: ANN401 - a node
        self.flush()
        self.segments.append(["n", key, node])

    def flush(self) -> None:
        if not self._members:
            return
        portion: Any = dict(self._members) if self._kind == "o" else [value for _, value in self._members]
        self.segments.append(_leaf(portion, _written(portion), self._parts))
        self._members, self._size = [], 0


def _node(value: Any, text: bytes, parts: dict[str, bytes]) -> Any:  # noqa: ANN401 - JSON is anything
    """`["v", value]`, `["r", name]`, or `["o" | "a", segments]` of an object or array that is cut."""
    if len(text) <= WHOLE or not isinstance(value, dict | list):
        return _leaf(value, text, parts)
    kind = "o" if isinstance(value, dict) else "a"
    run = _Run(kind, parts)
    for key, member in _members(value):
        written = _written(member)
        if len(written) > WHOLE and isinstance(member, dict | list):
            run.nest(key, _node(member, written, parts))
        else:
            run.add(key, member, written)
    run.flush()
    return [kind, run.segments]


def _members(value: dict[str, Any] | list[Any]) -> Iterator[tuple[str | None, Any]]:
    if isinstance(value, dict):
        yield from value.items()
    else:
        yield from ((None, member) for member in value)


def _leaf(value: Any, text: bytes, parts: dict[str, bytes]) -> Any:  # noqa: ANN401 - JSON is anything
    if len(text) <= INLINE:
        return ["v", value]
    name = urlsafe_b64encode(blake2b(text, digest_size=NAME_BYTES).digest()).decode("ascii")
    parts[name] = text
    return ["r", name]


def _numbered(node: Any, numbers: Mapping[str, int]) -> Any:  # noqa: ANN401 - a node
    """The document with each name replaced by its place among the sorted names, which the checkpoint lists anyway."""
    match node:
        case ["r", name]:
            return ["r", numbers[name]]
        case ["n", key, inner]:
            return ["n", key, _numbered(inner, numbers)]
        case [("o" | "a") as kind, segments]:
            return [kind, [_numbered(segment, numbers) for segment in segments]]
        case _:
            return node


def _value(node: Any, parts: Sequence[bytes]) -> Any:  # noqa: ANN401 - JSON is anything
    match node:
        case ["r", number]:
            return json.loads(parts[number])
        case ["o", segments]:
            whole: dict[str, Any] = {}
            for segment in segments:
                whole |= {segment[1]: _value(segment[2], parts)} if segment[0] == "n" else _value(segment, parts)
            return whole
        case ["a", segments]:
            members: list[Any] = []
            for segment in segments:
                members += [_value(segment[2], parts)] if segment[0] == "n" else _value(segment, parts)
            return members
        case [_, value]:
            return value
        case _:
            raise ValueError("This is no document of a state.")


def _written(value: Any) -> bytes:  # noqa: ANN401 - JSON is anything
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
