"""Any host with a `/rerank`: Cohere's and Jina's shape, or that of text-embeddings-inference."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import httpx
from pydantic import AliasChoices, BaseModel, Field, TypeAdapter, ValidationError

from app.core.text.normal import clean
from app.providers import http
from app.providers.rerank.base import RerankUnavailable, finite, sigmoid

REFUSED: Final = frozenset({400, 422})
"""Statuses of a host that wants the other shape."""

BLANK: Final = "."
"""Stands for a text without words: some hosts refuse an empty one."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A host's model and how it is asked.

    Args:
        base_url: What stands before `/rerank`, such as `https://host/v1`.
        model: The model's name at the host; None where it has only one.
        api_key: Sent as a bearer token; None where the host wants none.
        max_characters: Only this beginning of the question and of a text is sent.
    """

    base_url: str
    model: str | None = None
    api_key: str | None = field(default=None, repr=False)
    max_characters: int = 1_000


class HttpReranker:
    """Asks a host once a question: it is no use after the deadline, so nothing is repeated.

    The shape that the host takes is found out once and remembered. Marks outside of [0, 1] are raw ones: from then on
    every mark of this host goes through the logistic function.

    Args:
        endpoint: Whom to ask, and how.

    Raises:
        ConfigurationError: The address is not one.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self.name: Final = endpoint.model or "reranker"
        self._url = http.address(endpoint.base_url, "/rerank", setting="RERANK_BASE_URL", key_setting="RERANK_API_KEY")
        self._client = http.client(http.authorization(endpoint.api_key, setting="RERANK_API_KEY"), timeout=None)
        self._bare = False
        self._raw = False

    async def prepare(self) -> None:
        """Nothing: the host has the weights."""

    async def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """The host's scores, each in [0, 1]. Raises `RerankUnavailable`; has no time limit of its own."""
        if not texts:
            return []
        question, passages = self._shortened(query), [self._shortened(text) for text in texts]
        answer = await self._asked(question, passages, bare=self._bare)
        if answer.status in REFUSED:
            other = await self._asked(question, passages, bare=not self._bare)
            if httpx.codes.is_success(other.status):
                answer, self._bare = other, not self._bare
        if not httpx.codes.is_success(answer.status):
            raise RerankUnavailable(f"{self.name}: the host answered {answer.status}.")
        marks = self._marks(answer.content, len(passages))
        self._raw = self._raw or not all(0 <= mark <= 1 for mark in marks)
        return [sigmoid(mark) for mark in marks] if self._raw else marks

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.aclose()

    def _shortened(self, text: str) -> str:
        beginning = clean(text[: self._endpoint.max_characters])
        return beginning if beginning.strip() else BLANK

    async def _asked(self, query: str, texts: list[str], *, bare: bool) -> http.Answer:
        if self._client.is_closed:
            raise RerankUnavailable(f"{self.name} is closed.")
        model = {} if self._endpoint.model is None else {"model": self._endpoint.model}
        body: dict[str, Any] = (
            {"query": query, "texts": texts, "truncate": True}
            if bare
            else {**model, "query": query, "documents": texts, "top_n": len(texts)}
        )
        try:
            return await http.post(self._client, self._url, body)
        except httpx.HTTPError as error:
            raise RerankUnavailable(f"{self.name} cannot be reached: {type(error).__name__}") from error
        except http.AnswerTooLarge:
            raise RerankUnavailable(f"{self.name}: the host's answer does not end.") from None

    def _marks(self, content: bytes, count: int) -> list[float]:
        """The marks in the order of the texts, whatever order they came in."""
        try:
            entries = sorted(_read(content), key=lambda entry: entry.index)
        except ValidationError:
            # Not as the cause: it carries what the host sent.
            raise RerankUnavailable(f"{self.name}: the host's answer is not a list of marks.") from None
        if [entry.index for entry in entries] != list(range(count)):
            raise RerankUnavailable(
                f"{self.name}: the host gave {len(entries)} marks for {count} texts, or misnumbered them."
            )
        return finite(entry.mark for entry in entries)


class _Entry(BaseModel):
    index: int
    mark: float = Field(validation_alias=AliasChoices("relevance_score", "score"))


class _Answer(BaseModel):
    results: list[_Entry] = Field(validation_alias=AliasChoices("results", "data"))


_EITHER: Final[TypeAdapter[_Answer | list[_Entry]]] = TypeAdapter(_Answer | list[_Entry])


def _read(content: bytes) -> list[_Entry]:
    answer = _EITHER.validate_json(content)
    return answer.results if isinstance(answer, _Answer) else answer
