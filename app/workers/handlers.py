"""From a kind of job to the use case that does it."""

from typing import Literal, assert_never

from app.composition import Services
from app.domain.jobs import JobKind
from app.services.vectorising import JobRun


async def handle(services: Services, kind: JobKind, run: JobRun) -> None:
    """Do a job; the use case ends it in the transaction of its last writes."""
    match kind:
        case "embed_messages" | "embed_memories":
            await _embed(services, kind, run)
        case "delete_memories":
            await services.bulk.run(run)
        case "extract":
            await _learn(services, run)
        case "reconcile":
            await services.reviewing.run(run)
        case "summarise":
            await services.folding.run(run)
            await _prepare_anew(services, run)
        case "prefetch":
            await services.prefetch.run(run)
        case "expire" | "maintain" | "consolidate" | "revive" | "reflect" | "dream":
            await _keep_in_order(services, kind, run)
        case "sweep" | "erase":
            await _clear(services, kind, run)
        case "reembed" | "retire_model":
            await _change_model(services, kind, run)
        case _:
            assert_never(kind)


async def _embed(services: Services, kind: Literal["embed_messages", "embed_memories"], run: JobRun) -> None:
    if kind == "embed_messages":
        await services.vectorising.messages(run)
    else:
        await services.vectorising.memories(run)


async def _learn(services: Services, run: JobRun) -> None:
    """Where nothing was learnt there is nothing new to reflect on, and what was prepared still holds."""
    if await services.extraction.run(run):
        await services.reflection_turns.after_session(run.tenant_id, run.subject)
        await _prepare_anew(services, run)


async def _change_model(services: Services, kind: Literal["reembed", "retire_model"], run: JobRun) -> None:
    if kind == "reembed":
        await services.reembedding.run(run)
    else:
        await services.retiring.run(run)


async def _clear(services: Services, kind: Literal["sweep", "erase"], run: JobRun) -> None:
    if kind == "sweep":
        await services.sweeping.sweep(run)
    else:
        await services.erasures.run(run)


async def _keep_in_order(
    services: Services,
    kind: Literal["expire", "maintain", "consolidate", "revive", "reflect", "dream"],
    run: JobRun,
) -> None:
    match kind:
        case "expire":
            await services.expiry.run(run)
        case "maintain":
            await services.maintenance.run(run)
        case "consolidate":
            await services.consolidation.run(run)
        case "revive":
            await services.revival.run(run)
        case "reflect":
            await services.reflection.run(run)
        case "dream":
            await services.dreams.run(run)
        case _:
            assert_never(kind)


async def _prepare_anew(services: Services, run: JobRun) -> None:
    """What was prepared for a session's next context is stale after its memories or its summary have changed."""
    if services.settings.prefetch == "on":
        await services.prefetch.refresh(run.tenant_id, run.subject)
