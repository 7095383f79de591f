"""From a kind of job to the use case that does it."""

from typing import assert_never

from app.composition import Services
from app.domain.jobs import JobKind
from app.services.vectorising import JobRun


async def handle(services: Services, kind: JobKind, run: JobRun) -> None:
    """Do a job; the use case ends it in the transaction of its last writes."""
    match kind:
        case "embed_messages":
            await services.vectorising.messages(run)
        case "embed_memories":
            await services.vectorising.memories(run)
        case "delete_memories":
            await services.bulk.run(run)
        case "extract":
            await services.extraction.run(run)
            await _prepare_anew(services, run)
        case "reconcile":
            await services.reviewing.run(run)
        case "summarise":
            await services.folding.run(run)
            await _prepare_anew(services, run)
        case "prefetch":
            await services.prefetch.run(run)
        case "sweep":
            await services.sweeping.sweep(run)
        case "erase":
            await services.erasures.run(run)
        case _:
            assert_never(kind)


async def _prepare_anew(services: Services, run: JobRun) -> None:
    """What was prepared for a session's next context is stale after its memories or its summary have changed."""
    if services.settings.prefetch == "on":
        await services.prefetch.refresh(run.tenant_id, run.subject)
