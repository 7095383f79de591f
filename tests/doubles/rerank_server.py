"""A host of `/rerank` on loopback that does what it is told, in either shape."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from tests.doubles.scripted_host import Body, Request, ScriptedHost, Turn, serving


@dataclass
class RerankHost(ScriptedHost):
    """A running host. A text's mark is the share of the question's words that it has, `raw` makes a logit of it.

    `texts_only` is a host that knows the bare shape alone, `documents_only` one that knows the other alone.
    """

    raw: bool = False
    texts_only: bool = False
    documents_only: bool = False

    def answer(self, request: Request) -> Turn:
        """A body of the other shape is refused."""
        turn = super().answer(request)
        missing = (self.texts_only and "texts" not in request.body) or (
            self.documents_only and "documents" not in request.body
        )
        return Turn(status=422, raw=b'{"error": "missing field"}') if missing else turn

    def ordinary(self, request: Request) -> list[Body]:
        """An entry for each text, the best first."""
        bare = "texts" in request.body
        name = "score" if bare else "relevance_score"
        texts = request.body["texts" if bare else "documents"]
        entries = [{"index": index, name: self._mark(request.body["query"], text)} for index, text in enumerate(texts)]
        return sorted(entries, key=lambda entry: -entry[name])

    def wrapped(self, answer: Any) -> Any:
        """As the protocol of the last request wants it."""
        return answer if "texts" in self.requests[-1].body else {"id": "1", "results": answer}

    def _mark(self, query: str, text: str) -> float:
        words = query.split()
        share = sum(word in text for word in words) / max(1, len(words))
        return 16 * share - 8 if self.raw else share


@contextmanager
def rerank_host(**changes: Any) -> Iterator[RerankHost]:
    """A host for the length of a test."""
    host = RerankHost(**changes)
    with serving(host):
        yield host


def _entries(change: Callable[[list[Body]], list[Any]]) -> Turn:
    return Turn(change=change)


def marked(mark: Any) -> Turn:
    """Every text has this mark."""
    return _entries(lambda entries: [{"index": entry["index"], "relevance_score": mark} for entry in entries])


BAD: Final = {
    "too few": _entries(lambda entries: entries[:-1]),
    "too many": _entries(lambda entries: [*entries, {"index": len(entries), "relevance_score": 0.5}]),
    "misnumbered": _entries(lambda entries: [{**entry, "index": 0} for entry in entries]),
    "numbered from one": _entries(lambda entries: [{**entry, "index": entry["index"] + 1} for entry in entries]),
    "numbered below zero": _entries(lambda entries: [{**entry, "index": -entry["index"]} for entry in entries]),
    "unnumbered": _entries(lambda entries: [{"relevance_score": 0.5} for _ in entries]),
    "unmarked": _entries(lambda entries: [{"index": entry["index"]} for entry in entries]),
    "not a number": marked(float("nan")),
    "infinite": marked(float("inf")),
    "words for marks": marked("good"),
    "null for marks": marked(None),
    "null entries": _entries(lambda entries: [None for _ in entries]),
    "null": Turn(raw=b'{"results": null}'),
    "no list": Turn(raw=b'{"results": {"index": 0}}'),
    "empty": Turn(raw=b""),
    "page": Turn(raw=b"<html>a proxy's page</html>"),
    "not UTF-8": Turn(raw=b"\xff\xfe"),
    "bottomless": Turn(raw=b"[" * 100_000),
    "without end": Turn(raw=b" " * (9 * 1024 * 1024)),
    "error under 200": Turn(raw=b'{"error": "slow down"}'),
    "dropped": Turn(drop=True),
    "dropped in the middle": Turn(short=True),
    "down": Turn(status=503),
    "busy": Turn(status=429, headers={"Retry-After": "0"}),
    "no key": Turn(status=401),
    "too large": Turn(status=413),
    "refused": Turn(status=400),
    "elsewhere": Turn(status=307, headers={"Location": "http://127.0.0.1:1/"}),
}
"""Answers of which no order can be made."""
