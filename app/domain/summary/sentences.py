"""A sentence of a summary, and how it is kept and shown."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Self, cast, get_args

Sort = Literal[
    "system", "constraint", "decision", "preference", "fact", "change", "goal", "question", "result", "statement"
]
"""What a sentence is about. `system`: a system message, word for word. `question`: one that nobody has answered yet.
`result`: a tool call with what came of it. `change`: something is no longer as it was."""

SORTS: Final[tuple[Sort, ...]] = get_args(Sort)
LASTING: Final[frozenset[Sort]] = frozenset({"system", "constraint"})
"""Sorts that never lose their place to others."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence.

    Args:
        text: What it says: the message's own words, or a language model's that were held against them.
        from_seq: The first message that bears it out.
        to_seq: The last one.
        role: Who said it; None where a model put it into its own words.
        sort: What it is about.
        score: How much it matters, in [0, 1].
    """

    text: str
    from_seq: int
    to_seq: int
    role: str | None
    sort: Sort
    score: float

    @property
    def shown(self) -> str:
        """The line in a prompt."""
        return self.text if self.role is None else f"{self.role}: {self.text}"

    def stored(self) -> dict[str, Any]:
        """As JSON."""
        seqs = {"from_seq": self.from_seq, "to_seq": self.to_seq}
        return {"text": self.text, **seqs, "role": self.role, "sort": self.sort, "score": round(self.score, 4)}

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Self:
        """From JSON."""
        sort = stored["sort"] if stored["sort"] in SORTS else "statement"
        score = float(stored["score"])
        return cls(stored["text"], stored["from_seq"], stored["to_seq"], stored["role"], cast("Sort", sort), score)


def in_order(sentences: Iterable[Sentence]) -> list[Sentence]:
    """By the place where each was said; what never changes stands first."""
    return sorted(sentences, key=lambda one: (one.sort != "system", one.from_seq, one.to_seq))


def shown(sentences: Sequence[Sentence]) -> str:
    """The text of a summary: a line a sentence."""
    return "\n".join(sentence.shown for sentence in sentences)
