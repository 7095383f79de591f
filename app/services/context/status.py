"""The section that says where things stand."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from app.domain.context.parts import Count, Part, Piece
from app.domain.context.words import HEADINGS, Tongue, conflict_line, status_lines
from app.services.context.facts import Contradiction

LONGEST_GOAL: Final = 200
LONGEST_QUOTE: Final = 120


def status_part(
    state: Mapping[str, Any],
    number: int | None,
    *,
    memories: int | None,
    constraints: int,
    to_confirm: int,
    contradicted: Sequence[Contradiction],
    tongue: Tongue,
    count: Count,
) -> Part:
    """The task, which session of its user this is, how much was found, and where the user has just said otherwise.

    `memories` is None where none are looked for.
    """
    given = state.get("task")
    task: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
    pending = [step for step in task.get("pending_steps") or [] if isinstance(step, str)]
    lines = status_lines(
        tongue,
        goal=_short(task.get("goal"), LONGEST_GOAL),
        next_step=_short(pending[0], LONGEST_GOAL) if pending else None,
        number=number,
        memories=memories,
        constraints=constraints,
        to_confirm=to_confirm,
    )
    lines += [
        conflict_line(
            tongue, _short(one.fact.row["text"], LONGEST_QUOTE) or "", _short(one.said, LONGEST_QUOTE) or "", one.seq
        )
        for one in contradicted
    ]
    pieces = tuple(Piece(line, count(line) + 1, f"line {place}", -float(place)) for place, line in enumerate(lines, 1))
    return Part("status", HEADINGS[tongue]["status"], "status", pieces)


def _short(text: object, most: int) -> str | None:
    if not isinstance(text, str) or not text.strip():
        return None
    plain = " ".join(text.split())
    return plain if len(plain) <= most else plain[: most - 1] + "…"
