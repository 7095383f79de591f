"""What the service expects of a reranker."""

import math
from collections.abc import Iterable, Sequence
from typing import Protocol


class RerankUnavailable(Exception):  # noqa: N818 - a state of the provider, as in core.errors
    """The reranker cannot answer, or not in time: the order stays as it was. The words carry no text and no key."""


class Reranker(Protocol):
    """Reads a question together with each text. Any text is accepted.

    A failure is `RerankUnavailable`; other exceptions do not leave a call, but for its cancellation.
    """

    @property
    def name(self) -> str:
        """The model's name."""
        ...

    async def prepare(self) -> None:
        """Loads what the first question would otherwise wait for; nothing, where a host has it.

        Raises:
            ConfigurationError: It will never answer as it is configured.
        """
        ...

    async def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """How well each text answers the question, in their order: in [0, 1], higher is better.

        Raw marks of a model become 1 / (1 + exp(-mark)). A score orders the texts of one question; models differ in
        what .5 means.

        Raises:
            RerankUnavailable: There are no scores, or not in time.
        """
        ...

    async def close(self) -> None:
        """Gives threads and connections back; the reranker is unavailable afterwards."""
        ...


def sigmoid(mark: float) -> float:
    """The logistic function 1 / (1 + exp(-mark)), for marks of any size."""
    if mark >= 0:
        return 1 / (1 + math.exp(-mark))
    grown = math.exp(mark)
    return grown / (1 + grown)


def finite(marks: Iterable[float]) -> list[float]:
    """The marks, all of them numbers.

    Raises:
        RerankUnavailable: One is none.
    """
    listed = list(marks)
    if not all(map(math.isfinite, listed)):
        raise RerankUnavailable("The reranker gave marks that are no numbers.")
    return listed
