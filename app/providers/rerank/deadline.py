"""The reranker as a search uses it: in time, or not at all."""

import asyncio
from collections.abc import Sequence
from typing import Final

import structlog

from app.core.errors import ConfigurationError
from app.core.metrics import Metrics
from app.providers.breaker import CircuitBreaker, CircuitOpen
from app.providers.rerank.base import Reranker, RerankUnavailable

log = structlog.get_logger()

FAILURES: Final = 3
"""Calls in a row that fail before the reranker is left alone."""

PAUSE_SECONDS: Final = 30.0
"""For how long it is left alone."""


class TimedReranker:
    """Gives up at the deadline, and leaves a reranker alone for a while that missed it several times in a row.

    Args:
        reranker: The one that computes.
        deadline: Seconds that a search waits for it.
        metrics: Where calls and times are counted.
    """

    def __init__(self, reranker: Reranker, deadline: float, metrics: Metrics) -> None:
        self._reranker = reranker
        self._deadline = deadline
        self._metrics = metrics
        self._breaker = CircuitBreaker(FAILURES, PAUSE_SECONDS, RerankUnavailable)

    @property
    def name(self) -> str:
        """The wrapped reranker's."""
        return self._reranker.name

    async def prepare(self) -> None:
        """The wrapped reranker's, without a deadline: what is wrong with it is told where the operator looks."""
        try:
            await self._reranker.prepare()
        except ConfigurationError as error:
            log.error("rerank_misconfigured", reason=str(error))  # noqa: TRY400 - the trace says nothing more

    async def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """The wrapped reranker's scores, in time. Raises `RerankUnavailable`."""
        if not texts:
            return []
        with self._metrics.rerank_call():
            try:
                with self._breaker.call():
                    return await self._in_time(query, texts)
            except CircuitOpen:
                raise RerankUnavailable(f"{self.name} failed repeatedly and is left alone for now.") from None

    async def close(self) -> None:
        """Closes the wrapped reranker."""
        await self._reranker.close()

    async def _in_time(self, query: str, texts: Sequence[str]) -> list[float]:
        try:
            async with asyncio.timeout(self._deadline):
                return await self._reranker.scores(query, texts)
        except ConfigurationError as error:
            # A search goes on without; the doctor says the same where the operator looks.
            log.error("rerank_misconfigured", reason=str(error))  # noqa: TRY400 - the trace says nothing more
            raise RerankUnavailable(f"{self.name} is misconfigured.") from error
        except TimeoutError:
            raise RerankUnavailable(f"{self.name} did not answer in {self._deadline:g} s.") from None
