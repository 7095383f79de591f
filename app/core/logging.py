"""Log lines as structured events. They carry ids and counts, never contents or keys."""

import logging
import sys
import traceback
from collections.abc import Iterator
from typing import Final

import structlog
from structlog.typing import ExcInfo, Processor

from app.core.errors import ConfigurationError, Problem

FACTS: Final = ("sqlstate", "constraint_name", "table_name", "column_name", "strerror")
"""What errors of the database and of the system say of themselves that is never a stored value."""


def configure(level: str, *, as_json: bool) -> None:
    """Send every log line, those of libraries too, to stderr in one form."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.ExceptionRenderer(without_contents),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    renderer: Processor = (
        structlog.processors.JSONRenderer(ensure_ascii=False) if as_json else structlog.dev.ConsoleRenderer()
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared, processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer]
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    # Libraries tell what they work on when they are asked for details: only we are.
    root.setLevel(max(logging.WARNING, logging.getLevelName(level.upper())))
    logging.getLogger("app").setLevel(level.upper())
    logging.getLogger("uvicorn.access").disabled = True
    # Its errors are those of a database that goes away, several a second: our worker says that once.
    logging.getLogger("pgqueuer").setLevel(logging.CRITICAL)


def without_contents(exc_info: ExcInfo) -> str:
    """A traceback in which each error is named and says nothing: messages of errors quote the values they choke on.

    Our own errors keep their sentence, which is written for callers and never carries stored content.
    """
    return "\n".join(_lines(exc_info[1], seen=set()))


def _lines(error: BaseException, seen: set[int]) -> Iterator[str]:
    seen.add(id(error))
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None and id(before) not in seen:
        yield from _lines(before, seen)
        yield "which led to:"
    yield from (line.rstrip() for line in traceback.format_tb(error.__traceback__))
    yield _named(error)
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            yield "part of it:"
            yield from _lines(part, seen)


def _named(error: BaseException) -> str:
    name = f"{type(error).__module__}.{type(error).__qualname__}"
    if isinstance(error, Problem | ConfigurationError):
        return f"{name}: {error}"
    facts = [f"{fact}={value}" for fact in FACTS if isinstance(value := getattr(error, fact, None), str)]
    return f"{name} ({', '.join(facts)})" if facts else name
