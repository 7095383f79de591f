"""What a user asks the memory itself to do, found in one turn, so that it can be done at once."""

from app.domain.extraction.asking import Forget, forgets
from app.domain.extraction.candidates import Candidate
from app.domain.extraction.rules import extract
from app.domain.extraction.turns import Turn

__all__ = ["Forget", "forgets", "remembered"]


def remembered(turn: Turn) -> list[Candidate]:
    """What a user's turn asks to remember, without the turns around it."""
    return [candidate for candidate in extract([turn]) if candidate.explicit]
