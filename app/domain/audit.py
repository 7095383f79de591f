"""The audit log's chain: each line's hash covers the line and the hash before it."""

import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC
from typing import Any, Final, Literal

GENESIS: Final = bytes(32)
"""What stands before the first line."""

CHAINED: Final = ("id", "actor", "action", "resource", "resource_id", "subject", "details")
"""The fields that a hash covers, beside the time, the position and the hash before."""

PSEUDONYM_CHARACTERS: Final = 32

Fault = Literal["changed", "missing", "out_of_order", "cut_off", "head_differs"]


@dataclass(frozen=True, slots=True)
class Break:
    """Where a chain does not hold."""

    position: int
    fault: Fault


@dataclass(frozen=True, slots=True)
class Head:
    """The last line of a chain: its position (0: there is none) and its hash."""

    position: int = 0
    hash: bytes = GENESIS


def pseudonym(key: bytes, kind: str, name: str) -> str:
    """What stands for an id that a client chose: 128 bits of HMAC-SHA256 (RFC 2104), in hexadecimal."""
    digest = hmac.new(key, f"{kind}\0{name}".encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
    return digest[:PSEUDONYM_CHARACTERS]


def line_hash(previous: bytes, position: int, line: Mapping[str, Any]) -> bytes:
    """SHA-256 of a line in its place, over the hash before it and the line as JSON with sorted names."""
    covered: dict[str, Any] = {name: line[name] for name in CHAINED}
    covered["id"] = str(line["id"])
    covered["created_at"] = line["created_at"].astimezone(UTC).isoformat(timespec="microseconds")
    covered["position"] = position
    text = json.dumps(covered, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(previous + text.encode()).digest()


def chained(head: Head, lines: Iterable[Mapping[str, Any]]) -> list[tuple[int, bytes, bytes]]:
    """Places for new lines behind a head: position, the hash before, the hash, in the lines' order."""
    places: list[tuple[int, bytes, bytes]] = []
    for line in lines:
        position = head.position + 1
        digest = line_hash(head.hash, position, line)
        places.append((position, head.hash, digest))
        head = Head(position, digest)
    return places


def examined(head: Head, lines: Iterable[Mapping[str, Any]]) -> tuple[Head, list[Break]]:
    """Look whether lines, in the order of their positions, go on from a head; the new head, and where they do not.

    After a break the chain is followed on from what stands there, so that each fault is told once.
    """
    breaks: list[Break] = []
    for line in lines:
        position, digest = line["position"], bytes(line["hash"])
        if position != head.position + 1:
            breaks.append(Break(head.position + 1, "missing"))
        elif bytes(line["previous_hash"]) != head.hash:
            breaks.append(Break(position, "out_of_order"))
        elif line_hash(head.hash, position, line) != digest:
            breaks.append(Break(position, "changed"))
        head = Head(position, digest)
    return head, breaks


def ended(found: Head, recorded: Head) -> list[Break]:
    """Look whether a chain ends where the record says."""
    if found.position < recorded.position:
        return [Break(found.position + 1, "cut_off")]
    return [] if found == recorded else [Break(found.position, "head_differs")]
