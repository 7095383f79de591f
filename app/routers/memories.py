"""/v1/memories"""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.core import clock
from app.domain.memory import Category, Kind, Status
from app.domain.scope import Scope
from app.repositories.selection import Selection, Then
from app.routers.deps import (
    DEFAULT_PAGE,
    ClaimDep,
    CountQuery,
    CursorQuery,
    FilterDep,
    IfMatchDep,
    LimitQuery,
    MemoryId,
    PrincipalDep,
    ServicesDep,
    VersionedWriteDep,
    WaitQuery,
    WriteDep,
    as_json,
    reply,
    tag,
)
from app.routers.direct import DirectRoute
from app.routers.problems import documented
from app.routers.requests import StrictRoute
from app.routers.sessions import AgentQuery, AppQuery, UserQuery
from app.schemas.extraction import ExtractRequest, ExtractResult
from app.schemas.fields import Id, Instant
from app.schemas.lists import Page
from app.schemas.memories import AddBody, AddedMemories, AddedMemory, Memory, MemoryChange, MemoryHistory
from app.schemas.search import ReplayRequest, SearchRequest, SearchResult

AsOfQuery = Annotated[Instant | None, Query(description="What was true at this time, as it is known today")]
KnownAtQuery = Annotated[Instant | None, Query(description="What the service knew at this time")]

hot_router = APIRouter(prefix="/memories", tags=["Memories"], route_class=DirectRoute)
"""What an agent calls at every turn."""

router = APIRouter(prefix="/memories", tags=["Memories"], route_class=StrictRoute)


@router.post(
    "",
    status_code=201,
    responses=documented(403, 409)
    | {
        200: {"model": AddedMemories, "description": "Stored, and waited for: `status` says how the job ended"},
        202: {"model": AddedMemories, "description": "Stored; a job embeds them"},
    },
    operation_id="add_memories",
)
async def add_memories(
    body: AddBody,
    principal: PrincipalDep,
    services: ServicesDep,
    claim: ClaimDep,
    response: Response,
    wait: WaitQuery = 0.0,
) -> AddedMemory | AddedMemories:
    """Keep one memory, or up to 1,000 with `{"memories": [...]}`: all are stored, or none.

    What is known already is reinforced and comes back under the id that it has. The answer is sent after the commit.
    Above 100 memories it is a 202: all are stored and found by their words at once, and a job embeds them.
    """
    answer = await services.jobs.settled(principal, await services.memories.add(principal, body, claim), wait)
    reply(answer, response)
    if isinstance(answer.body, AddedMemories):
        return answer.body
    added = AddedMemory.model_validate(answer.body)
    tag(response, added.version)
    return added


@router.post("/extract", responses=documented(403, 409), operation_id="extract_memories")
async def extract_memories(
    body: ExtractRequest, write: WriteDep, services: ServicesDep, response: Response
) -> ExtractResult:
    """Find what is worth remembering in messages, as is done with a session's own; the messages are not stored.

    Every finding says what became of it: written, counted once more, passed over, or refused and why. `dry_run` shows
    the same and writes nothing. With `infer: false` each message is kept as it stands.
    """
    answer = await services.extract_now.extract(write, body)
    reply(answer, response)
    return ExtractResult.model_validate(answer.body)


@hot_router.post("/search", response_model=SearchResult, responses=documented(403), operation_id="search_memories")
async def search_memories(body: SearchRequest, principal: PrincipalDep, services: ServicesDep) -> Response:
    """Find memories by meaning and by words, best first, each with the messages it came from.

    `score` is in [0, 1] and means the same in every query; `score_breakdown` says where it comes from. With
    `include_messages` the sessions' messages are searched too. A question may name a time ("last week", 上个月) or a
    fact's key, or ask for what was last; pinned constraints in scope are found whatever the question. What says nearly
    the same is shown once, and `token_budget` cuts by score. Without the embedding model the words alone decide, and
    `degraded` says so. `explain: true` tells how it went, and `POST /v1/memories/search/replay` tries other weights.
    """
    return as_json(await services.retrieval.search(principal, body))


@router.post(
    "/search/replay",
    response_model=SearchResult,
    responses=documented(403, 404),
    operation_id="replay_search",
)
async def replay_search(body: ReplayRequest, principal: PrincipalDep, services: ServicesDep) -> Response:
    """Rank an explained search's candidates anew with other weights: what would have been found?

    The `explanation_id` comes from a search with `explain: true` by the same key, and is good for a day. A leg that
    could not speak then (no time was named, the model was away) stays silent.
    """
    return as_json(await services.replay.replay(principal, body))


@router.get("", responses=documented(403), operation_id="list_memories")
async def list_memories(
    principal: PrincipalDep,
    services: ServicesDep,
    user_id: UserQuery = None,
    agent_id: AgentQuery = None,
    app_id: AppQuery = None,
    session_id: Annotated[Id | None, Query(description="Only what is scoped to this session")] = None,
    kind: Annotated[Kind | None, Query(description="Only this kind")] = None,
    category: Annotated[Category | None, Query(description="Only this category")] = None,
    status: Annotated[Status | None, Query(description="Only this status; what is current if absent")] = None,
    include_uncertain: Annotated[bool, Query(description="Add what is not served as fact")] = False,
    chosen: FilterDep = None,
    as_of: AsOfQuery = None,
    known_at: KnownAtQuery = None,
    limit: LimitQuery = DEFAULT_PAGE,
    cursor: CursorQuery = None,
    count: CountQuery = False,
) -> Page[Memory]:
    """Memories, newest first: those that are current and served as fact, unless asked for otherwise."""
    selection = Selection(
        scope=Scope(user_id, agent_id, app_id, session_id),
        at=clock.now(),
        kinds=[kind] if kind else [],
        categories=[category] if category else [],
        statuses=[status] if status else [],
        uncertain=include_uncertain,
        filter=chosen,
        then=Then(as_of, known_at),
    )
    return await services.memories.page(principal, selection, cursor, limit, count=count)


@router.get("/{memory_id}", responses=documented(403, 404), operation_id="get_memory")
async def get_memory(
    memory_id: MemoryId,
    principal: PrincipalDep,
    services: ServicesDep,
    response: Response,
    as_of: AsOfQuery = None,
    known_at: KnownAtQuery = None,
) -> Memory:
    """One memory, whatever its status, unless it is deleted.

    With `as_of` only if it was true then; with `known_at` as it was known then, if it was.
    """
    memory = await services.memories.get(principal, memory_id, Then(as_of, known_at))
    tag(response, memory.version)
    return memory


@router.patch("/{memory_id}", responses=documented(403, 404, 409, 412), operation_id="change_memory")
async def change_memory(
    memory_id: MemoryId,
    body: MemoryChange,
    principal: PrincipalDep,
    services: ServicesDep,
    if_match: IfMatchDep,
    claim: ClaimDep,
    response: Response,
) -> Memory:
    """Correct a memory. What it was before stays readable in its history."""
    answer = await services.memories.change(principal, memory_id, body, if_match, claim)
    reply(answer, response)
    memory = Memory.model_validate(answer.body)
    tag(response, memory.version)
    return memory


@router.delete("/{memory_id}", status_code=204, responses=documented(403, 404, 409, 412), operation_id="delete_memory")
async def delete_memory(
    memory_id: MemoryId,
    write: VersionedWriteDep,
    services: ServicesDep,
    response: Response,
    erase: Annotated[bool, Query(description="Remove it for good, with its history")] = False,
) -> None:
    """Delete a memory: it is gone from every list and search at once, and can be restored; with `erase` it cannot."""
    if erase:
        reply(await services.curation.erase(write, memory_id), response)
        return
    answer = await services.memories.delete(write.principal, memory_id, write.if_match, write.claim)
    reply(answer, response)


@router.get("/{memory_id}/history", responses=documented(403, 404), operation_id="get_memory_history")
async def get_memory_history(memory_id: MemoryId, principal: PrincipalDep, services: ServicesDep) -> MemoryHistory:
    """Everything that happened to a memory: what, whose doing, before and after. Deleted memories have one too."""
    return await services.memories.history(principal, memory_id)
