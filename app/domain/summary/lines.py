"""A message as folding sees it, and which messages may never be parted."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from app.domain.extraction.turns import Turn
from app.domain.fence import cut

LOOK_AHEAD: Final = 50
"""Messages after a call among which its result is looked for."""

LONGEST_GROUP: Final = 40
"""Messages that stay together at most: a loop of calls without end is cut somewhere."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call: its id where it has one, the tool's name, its arguments as they were written."""

    id: str | None
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Line:
    """One message.

    Args:
        turn: Who said what, when.
        calls: The tool calls that it makes.
        answers: The id of the call whose result it is.
        tokens: What it costs in a prompt.
    """

    turn: Turn
    calls: tuple[Call, ...] = ()
    answers: str | None = None
    tokens: int = 0

    @property
    def seq(self) -> int:
        """Its number in the session."""
        return self.turn.seq


def calls_of(given: Sequence[Mapping[str, Any]] | None) -> tuple[Call, ...]:
    """Tool calls in the forms that providers give them, without what was served into their arguments before."""
    found = []
    for one in given or ():
        inner = one.get("function")
        function: Mapping[str, Any] = inner if isinstance(inner, Mapping) else one
        arguments = function.get("arguments", function.get("input", ""))
        written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        call_id = one.get("id")
        found.append(
            Call(call_id if isinstance(call_id, str) else None, str(function.get("name") or "tool"), cut(written))
        )
    return tuple(found)


def groups(lines: Sequence[Line]) -> list[list[Line]]:
    """The messages in order, a tool call together with everything up to its last result."""
    found: list[list[Line]] = []
    place = 0
    while place < len(lines):
        end = _end_of_group(lines, place)
        found.append(list(lines[place : end + 1]))
        place = end + 1
    return found


def _end_of_group(lines: Sequence[Line], start: int) -> int:
    if not lines[start].calls:
        return start
    end = start
    while end + 1 < len(lines) and lines[end + 1].turn.role == "tool" and end - start < LONGEST_GROUP:
        end += 1
    answered = {line.answers for line in lines[start + 1 : end + 1]}
    open_calls = {call.id for call in lines[start].calls if call.id is not None} - answered
    for place in range(end + 1, min(len(lines), start + LOOK_AHEAD)):
        if lines[place].answers in open_calls and place - start <= LONGEST_GROUP:
            end = place
    return end
