"""What is done after messages were appended, and when a session is closed, as the settings have it."""

from collections.abc import Mapping
from datetime import timedelta

from app.domain.jobs import JobKind
from app.repositories.sessions import Lagging
from app.settings import Settings


def last_work(settings: Settings) -> list[JobKind]:
    """What is done with a session when it is closed."""
    kinds: list[JobKind] = ["extract"] if settings.extractor != "off" else []
    return [*kinds, "summarise"] if settings.summariser != "off" else kinds


def work_after(settings: Settings) -> dict[JobKind, timedelta]:
    """What is done with appended messages, and how long they gather before it."""
    delays: dict[JobKind, timedelta] = {"embed_messages": timedelta(seconds=settings.embed_debounce_seconds)}
    if settings.extractor != "off":
        delays["extract"] = timedelta(seconds=settings.extract_debounce_seconds)
    if settings.summariser != "off":
        delays["summarise"] = timedelta(seconds=settings.summary_debounce_seconds)
    if settings.prefetch == "on":
        delays["prefetch"] = timedelta(0)
    return delays


def lagging(after: Mapping[JobKind, timedelta]) -> list[Lagging]:
    """The work of these that must be done in the end, whoever dies before; a context is prepared in time or not."""
    kinds: tuple[Lagging, ...] = ("embed_messages", "extract", "summarise")
    return [kind for kind in kinds if kind in after]
