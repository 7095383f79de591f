"""What every extractor reads and gives."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from app.domain.extraction.candidates import Candidate
from app.domain.extraction.turns import Turn
from app.domain.gate.refusals import Refusal


@dataclass(frozen=True, slots=True)
class Window:
    """Consecutive turns of a session.

    Args:
        turns: To be read, in the order of their seq.
        before: The turns before them, for understanding alone: nothing is taken from them again.
        speaker: The name of the user whose memories are formed, where it is known.
        keys: Keys that the owner's memories have already.
    """

    turns: Sequence[Turn]
    before: Sequence[Turn] = ()
    speaker: str | None = None
    keys: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """Something that is not kept: what the turn said, and why."""

    text: str
    seqs: tuple[int, ...]
    reason: Refusal


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a window gives.

    Args:
        candidates: In the order of their turns.
        refused: What the extractor itself has left out.
        calls: Calls of a language model.
        tokens: What these took.
        by: The extractor that has read it.
        degraded: Whether that one stood in for another.
    """

    candidates: Sequence[Candidate]
    refused: Sequence[Refused] = field(default_factory=list)
    calls: int = 0
    tokens: int = 0
    by: str = "rules"
    degraded: bool = False


class Extractor(Protocol):
    """Reads windows."""

    @property
    def name(self) -> str:
        """`rules` or `llm`."""
        ...

    async def extract(self, window: Window) -> Extraction:
        """What the window's own turns say that may be worth keeping.

        Raises:
            LanguageModelUnavailable: There is no answer now; the same window may be read later.
            LanguageModelNonsense: The answer cannot be used, and was not repaired.
        """
        ...
