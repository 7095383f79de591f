"""Messages as they go to a model."""

import json
from collections.abc import Sequence
from typing import Any

from app.domain.context.parts import MESSAGE_TOKENS, Count, Spoken
from app.domain.fence import cut
from app.domain.summary.lines import Line, calls_of, groups
from app.repositories.base import RowLike


def spoken_of(row: RowLike, count: Count) -> Spoken | None:
    """A message without what was served into it before; None where nothing is left of it."""
    text = cut(row["text"])
    calls = row["tool_calls"]
    if not text.strip() and not row["parts"] and not calls:
        return None
    content: Any = text if row["parts"] is None or text != row["text"] else row["parts"]
    message: dict[str, Any] = {"role": row["role"], "content": content}
    told = sent = text
    if calls:
        message["tool_calls"] = calls
        told = "\n".join(
            [*([text] if text.strip() else []), *(f"{one.name}({one.arguments})" for one in calls_of(calls))]
        )
        sent = f"{text} {json.dumps(calls, ensure_ascii=False)}".strip()
    for name in ("name", "tool_call_id"):
        if row[name] is not None:
            message[name] = row[name]
    return Spoken(row["seq"], row["role"], told, message, count(f"{row['role']}: {sent}") + MESSAGE_TOKENS)


def grouped(rows: Sequence[RowLike], lines: Sequence[Line], count: Count) -> list[list[Spoken]]:
    """The messages, a call and its results in one group."""
    by_seq = {row["seq"]: row for row in rows}
    found = []
    for group in groups(lines):
        said = [one for line in group if (one := spoken_of(by_seq[line.seq], count)) is not None]
        if said:
            found.append(said)
    return found
