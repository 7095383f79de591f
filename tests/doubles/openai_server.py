"""A host of `/v1/embeddings` on loopback that does what it is told: also what no host should."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.doubles.embeddings import HashedModel
from tests.doubles.scripted_host import Body, Request, ScriptedHost, Turn, serving


def _dimension(entries: list[Body], length: int) -> list[Body]:
    return [{**entry, "embedding": [1.0] * length} for entry in entries]


def other_dimension(length: int) -> Turn:
    """Vectors of this length instead of the host's."""
    return Turn(change=lambda entries: _dimension(entries, length))


def filled_with(value: float | str) -> Turn:
    """Vectors of nothing but this value."""
    return Turn(change=lambda entries: [{**one, "embedding": [value] * len(one["embedding"])} for one in entries])


ORDINARY = Turn()
BUSY = Turn(status=429, headers={"Retry-After": "0"})
DOWN = Turn(status=503)
HANGING = Turn(hang=True)
DROPPED = Turn(drop=True)
NONSENSE = Turn(raw=b"<html>a proxy's page</html>")
NO_LIST = Turn(raw=b'{"data": null}')
TOO_FEW = Turn(change=lambda entries: entries[:-1])
TOO_MANY = Turn(change=lambda entries: [*entries, {**entries[0], "index": len(entries)}])
MISNUMBERED = Turn(change=lambda entries: [{**entry, "index": 0} for entry in entries])
REVERSED = Turn(change=lambda entries: entries[::-1])
NOT_NUMBERS = filled_with(float("nan"))
INFINITE = filled_with(float("inf"))
ZEROS = filled_with(0.0)
REFUSED = Turn(status=401, raw=b'{"error": "who are you"}')
TOO_LARGE = Turn(status=413)


@dataclass
class EmbeddingHost(ScriptedHost):
    """A running host. `script` has its next answers, `otherwise` all that follow.

    Texts that are equal, or equal but for a prefix that ends in ': ', have equal vectors.
    """

    dimension: int = 32
    longest: int | None = None

    @property
    def texts(self) -> list[list[str]]:
        """The texts of each request."""
        return [request.body["input"] for request in self.requests]

    def answer(self, request: Request) -> Turn:
        """A request with a text that is too long is refused, whatever the script says."""
        if self.longest is not None and max(map(len, request.body["input"])) > self.longest:
            self.requests.append(request)
            return TOO_LARGE
        return super().answer(request)

    def ordinary(self, request: Request) -> list[Body]:
        """A vector for each text."""
        model = HashedModel(request.body.get("dimensions", self.dimension))
        return [
            {"object": "embedding", "index": index, "embedding": [float(one) for one in model._vector(_bare(text))]}
            for index, text in enumerate(request.body["input"])
        ]

    def wrapped(self, answer: Any) -> Body:
        """The vectors as the protocol lists them."""
        return {"object": "list", "data": answer}


def _bare(text: str) -> str:
    return text.split(": ", 1)[-1]


@contextmanager
def embedding_host(dimension: int = 32) -> Iterator[EmbeddingHost]:
    """A host for the length of a test."""
    host = EmbeddingHost(dimension=dimension)
    with serving(host):
        yield host
