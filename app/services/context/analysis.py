"""What of a context is worked out before anybody asks for it, as it is kept."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from app.domain.context.defaults import Strategy
from app.domain.summary.sentences import Sentence


@dataclass(frozen=True, slots=True)
class Analysis:
    """A conversation as it stood up to a message, held against itself and against what was found.

    Args:
        sentences: What may stand for earlier messages, each once: text, first and last message, role, sort.
        rankings: For each strategy the places of sentences with their scores, what matters most first.
        systems: System messages that were folded, as they are stored.
        contradicted: Of the memories that were found: id, the user's words since, the message.
        from_seq: The first message that was looked at.
        to_seq: The last one.
    """

    sentences: Sequence[Sequence[Any]]
    rankings: Mapping[str, Sequence[Sequence[Any]]]
    systems: Sequence[Mapping[str, Any]]
    contradicted: Sequence[Sequence[Any]]
    from_seq: int
    to_seq: int

    @classmethod
    def of(
        cls,
        rankings: Mapping[Strategy, Sequence[Sentence]],
        systems: Sequence[Sentence],
        contradicted: Sequence[tuple[str, str, int]],
        span: tuple[int, int],
    ) -> Self:
        """From sentences in their order."""
        places: dict[Sentence, int] = {}
        ranked: dict[str, list[tuple[int, float]]] = {
            strategy: [(places.setdefault(replace(one, score=0.0), len(places)), one.score) for one in ranking]
            for strategy, ranking in rankings.items()
        }
        return cls(
            sentences=[(one.text, one.from_seq, one.to_seq, one.role, one.sort) for one in places],
            rankings=ranked,
            systems=[one.stored() for one in systems],
            contradicted=contradicted,
            from_seq=span[0],
            to_seq=span[1],
        )

    def ranking(self, strategy: Strategy) -> list[Sentence]:
        """The sentences for a strategy, what matters most first."""
        found = []
        for place, score in self.rankings.get(strategy, ()):
            text, first, last, role, sort = self.sentences[place]
            found.append(Sentence(text, first, last, role, sort, score))
        return found

    def system_messages(self) -> list[Sentence]:
        """System messages that were folded, word for word."""
        return [Sentence.of(one) for one in self.systems]

    def stored(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Self:
        """From JSON."""
        return cls(**stored)
