"""The section `profile`: who the user is, told once, when a session begins."""

from collections.abc import Sequence
from typing import Final

from app.core import clock
from app.domain.context.parts import Count, Part, Piece
from app.domain.context.words import HEADINGS, Tongue
from app.domain.profile import INSIGHT_MARK
from app.repositories.base import RowLike
from app.services.context.recalled import Fact
from app.services.profiles import servable
from app.uow import Transaction

MOST_FACTS: Final = 24
MOST_INSIGHTS: Final = 3


async def profile_facts(tx: Transaction, session: RowLike) -> list[Fact]:
    """What the user of a session stated or somebody confirmed, what matters most first; then the newest insights."""
    owner, at = session["owner"], clock.now()
    rows = [*await tx.profiles.facts(owner, at, MOST_FACTS), *await tx.profiles.insights(owner, at, MOST_INSIGHTS)]
    return [
        Fact.of(row, [], session["id"], constraint=False, relevance=0.0)
        for row in rows
        if servable(row, session["app_id"])
    ]


def profile_part(facts: Sequence[Fact], tongue: Tongue, count: Count) -> Part:
    """The section; insights are marked, and are the first to be left out."""
    pieces = [_piece(fact, tongue, count, -float(place)) for place, fact in enumerate(facts)]
    return Part("profile", HEADINGS[tongue]["profile"], "memories", tuple(pieces))


def _piece(fact: Fact, tongue: Tongue, count: Count, rank: float) -> Piece:
    mark = f" ({INSIGHT_MARK[tongue]})" if fact.row["source"] == "derived" else ""
    text = f"- {' '.join(fact.row['text'].split())}{mark}"
    details = {
        "memory_id": fact.id,
        "source": fact.row["source"],
        "category": fact.row["category"],
        "date": fact.dated,
        "uncertain": False,
        "disputed": fact.row["disputed"],
    }
    return Piece(text, count(text) + 1, fact.id, rank, details)
