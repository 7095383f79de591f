"""Between rows and what the domain of summaries works on."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from app.core import ids
from app.domain.summary.choosing import Count
from app.domain.summary.lines import Line, calls_of
from app.domain.summary.sentences import Sentence, shown
from app.domain.summary.tree import Node
from app.repositories.base import RowLike
from app.services.extraction import turn_of


def line_of(row: RowLike, zone: str) -> Line:
    """A message as folding sees it; what was served into it before is cut out."""
    return Line(turn_of(row, zone), calls_of(row["tool_calls"]), row["tool_call_id"], row["tokens"])


def lines_of(rows: Sequence[RowLike], zone: str) -> list[Line]:
    """Messages as folding sees them."""
    return [line_of(row, zone) for row in rows]


def node_of(row: Mapping[Any, Any]) -> Node:
    """A summary of the tree."""
    sentences = tuple(Sentence.of(one) for one in row["details"].get("sentences", []))
    return Node(row["id"], row["level"], row["from_seq"], row["to_seq"], sentences, row["tokens"])


def summary_row(
    session_id: str,
    level: int,
    span: tuple[int, int],
    sentences: Sequence[Sentence],
    *,
    parents: Sequence[UUID] = (),
    by: str,
    count: Count,
    at: datetime,
) -> dict[str, Any]:
    """The columns of a new summary."""
    text = shown(sentences)
    return {
        "id": ids.new_id(),
        "session_id": session_id,
        "level": level,
        "from_seq": span[0],
        "to_seq": span[1],
        "text": text,
        "tokens": count(text) if text else 0,
        "parents": list(parents),
        "details": {"sentences": [sentence.stored() for sentence in sentences], "by": by},
        "created_at": at,
    }


def said_anew(sentences: Sequence[Sentence], by: str, count: Count) -> dict[str, Any]:
    """The columns that change where a summary loses sentences."""
    text = shown(sentences)
    return {
        "text": text,
        "tokens": count(text) if text else 0,
        "details": {"sentences": [sentence.stored() for sentence in sentences], "by": by},
    }
