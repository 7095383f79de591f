"""The section of core memory."""

from collections.abc import Sequence
from typing import Final

from app.domain.context.parts import Count, Part, Piece
from app.domain.context.words import HEADINGS, Tongue
from app.repositories.base import RowLike

_NARROWEST: Final = {(True, True): 3, (True, False): 2, (False, True): 1, (False, False): 0}


def block_part(rows: Sequence[RowLike], tongue: Tongue, count: Count) -> Part:
    """Blocks by label; of one label the narrowest scope's: user and agent, user, agent, everybody."""
    chosen: dict[str, RowLike] = {}
    for row in rows:
        if not row["text"].strip():
            continue
        known = chosen.get(row["label"])
        if known is None or _scope(row) > _scope(known):
            chosen[row["label"]] = row
    pieces = []
    for place, (label, row) in enumerate(sorted(chosen.items())):
        text = f"[{label}] {row['text'].strip()}"
        pieces.append(Piece(text, count(text) + 1, label, -float(place)))
    return Part("blocks", HEADINGS[tongue]["blocks"], "blocks", tuple(pieces))


def _scope(row: RowLike) -> int:
    return _NARROWEST[row["user_id"] is not None, row["agent_id"] is not None]
