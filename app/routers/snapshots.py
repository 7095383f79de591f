"""/v1/sessions/{session_id}/checkpoints"""

from typing import Annotated

from fastapi import APIRouter, Body, Depends, Path, Query, Response

from app.core import strict_json
from app.core.errors import BadRequest, Invalid
from app.repositories.snapshots import Asked
from app.routers.deps import (
    DEFAULT_PAGE,
    CountQuery,
    CursorQuery,
    LimitQuery,
    PrincipalDep,
    ServicesDep,
    SessionId,
    VersionedWriteDep,
    WriteDep,
    as_json,
    reply,
    versioned,
)
from app.routers.problems import documented
from app.routers.requests import StrictRoute
from app.schemas.fields import Id, SegmentId
from app.schemas.lists import Page
from app.schemas.sessions import Session
from app.schemas.snapshots import (
    LatestSnapshot,
    PrunedSnapshots,
    Snapshot,
    SnapshotChange,
    SnapshotCreate,
    SnapshotDiff,
    SnapshotFork,
    SnapshotInfo,
    SnapshotPrune,
    SnapshotRestore,
    SnapshotSettings,
    SnapshotTree,
    Step,
    StepPut,
    StoredStep,
    TraceEntry,
)
from app.schemas.states import State

router = APIRouter(prefix="/sessions/{session_id}/checkpoints", tags=["Checkpoints"], route_class=StrictRoute)

CheckpointId = Annotated[SegmentId, Path(description="The checkpoint's id")]
StepId = Annotated[
    SegmentId, Path(description="The step's name in this session; a / in it is written %2F", examples=["search-trains"])
]


async def get_asked(
    services: ServicesDep,
    label: Annotated[str | None, Query(max_length=1000, description="Only those with this label")] = None,
    run_id: Annotated[Id | None, Query(description="Only this run's")] = None,
    metadata: Annotated[
        str | None, Query(max_length=10_000, description='What the metadata must contain, as JSON: {"node": "plan"}')
    ] = None,
) -> Asked:
    """Which checkpoints a list shows."""
    if metadata is None:
        return Asked(label, run_id)
    try:
        given = strict_json.loads(metadata.encode("utf-8", "surrogatepass"), max_depth=services.settings.max_json_depth)
    except BadRequest as error:
        raise Invalid("The metadata to look for is not valid JSON.", code="bad_filter") from error
    if not isinstance(given, dict) or strict_json.fault_of(given) is not None:
        raise Invalid("The metadata to look for is not an object that can be stored.", code="bad_filter")
    return Asked(label, run_id, given)


AskedDep = Annotated[Asked, Depends(get_asked)]


@router.post("", status_code=201, responses=documented(403, 404, 409, 412), operation_id="create_session_checkpoint")
async def create_session_checkpoint(
    session_id: SessionId,
    body: Annotated[SnapshotCreate, Body(default_factory=SnapshotCreate)],
    write: WriteDep,
    services: ServicesDep,
    response: Response,
) -> SnapshotInfo:
    """Keep a state to go back to: the one in the body, or the session's as it is.

    It comes from the newest checkpoint, or from any older one: then a branch begins. With `compare_and_set` only one of
    several writers can go on from the same parent. Of a large state only what has changed is stored again.
    """
    answer = await services.snapshots.create(write, session_id, body)
    reply(answer, response)
    return SnapshotInfo.model_validate(answer.body)


@router.get("", responses=documented(403, 404), operation_id="list_session_checkpoints")
async def list_session_checkpoints(
    session_id: SessionId,
    principal: PrincipalDep,
    services: ServicesDep,
    asked: AskedDep,
    limit: LimitQuery = DEFAULT_PAGE,
    cursor: CursorQuery = None,
    count: CountQuery = False,
) -> Page[SnapshotInfo]:
    """Checkpoints without their states, newest first."""
    return await services.snapshots.page(principal, session_id, asked, cursor, limit, count=count)


@router.get(
    "/latest", response_model=LatestSnapshot, responses=documented(403, 404), operation_id="get_latest_checkpoint"
)
async def get_latest_checkpoint(session_id: SessionId, principal: PrincipalDep, services: ServicesDep) -> Response:
    """The newest checkpoint with its state, and the steps that were done since: where a killed run goes on."""
    return as_json(await services.snapshots.latest(principal, session_id))


@router.get("/diff", responses=documented(403, 404), operation_id="diff_checkpoints")
async def diff_checkpoints(
    session_id: SessionId,
    principal: PrincipalDep,
    services: ServicesDep,
    from_id: Annotated[Id, Query(description="The checkpoint before")],
    to_id: Annotated[Id, Query(description="The checkpoint after")],
) -> SnapshotDiff:
    """What differs between the states of two checkpoints, place by place."""
    return await services.snapshots.diff(principal, session_id, from_id, to_id)


@router.get("/tree", responses=documented(403, 404), operation_id="get_checkpoint_tree")
async def get_checkpoint_tree(session_id: SessionId, principal: PrincipalDep, services: ServicesDep) -> SnapshotTree:
    """Which checkpoint comes from which: the branches and their ends."""
    return await services.snapshots.tree(principal, session_id)


@router.get("/replay", responses=documented(403, 404), operation_id="replay_checkpoints")
async def replay_checkpoints(
    session_id: SessionId,
    principal: PrincipalDep,
    services: ServicesDep,
    checkpoint_id: Annotated[Id | None, Query(description="Only what led to this checkpoint")] = None,
    limit: LimitQuery = DEFAULT_PAGE,
    cursor: CursorQuery = None,
) -> Page[TraceEntry]:
    """The trace of a run: checkpoints and steps with their inputs and outputs, in the order they were made.

    With `checkpoint_id` other branches are left out; a page may then have fewer entries than `limit`.
    """
    return await services.steps.replay(principal, session_id, checkpoint_id, cursor, limit)


@router.get("/settings", responses=documented(403, 404), operation_id="get_checkpoint_settings")
async def get_checkpoint_settings(
    session_id: SessionId, principal: PrincipalDep, services: ServicesDep
) -> SnapshotSettings:
    """What is kept of this session's checkpoints."""
    return await services.snapshots.settings(principal, session_id)


@router.put("/settings", responses=documented(403, 404, 409), operation_id="put_checkpoint_settings")
async def put_checkpoint_settings(
    session_id: SessionId, body: SnapshotSettings, write: WriteDep, services: ServicesDep, response: Response
) -> SnapshotSettings:
    """Say what is kept: the newest so many, those with labels, each for how long. It holds from the next one on."""
    answer = await services.snapshots.set_settings(write, session_id, body)
    reply(answer, response)
    return SnapshotSettings.model_validate(answer.body)


@router.post("/prune", responses=documented(403, 404, 409), operation_id="prune_checkpoints")
async def prune_checkpoints(
    session_id: SessionId, body: SnapshotPrune, write: WriteDep, services: ServicesDep, response: Response
) -> PrunedSnapshots:
    """Drop all but the newest, now. No part of a state goes that a remaining checkpoint is made of."""
    answer = await services.snapshots.prune(write, session_id, body)
    reply(answer, response)
    return PrunedSnapshots.model_validate(answer.body)


@router.get("/steps", responses=documented(403, 404), operation_id="list_steps")
async def list_steps(
    session_id: SessionId,
    principal: PrincipalDep,
    services: ServicesDep,
    limit: LimitQuery = DEFAULT_PAGE,
    cursor: CursorQuery = None,
    count: CountQuery = False,
) -> Page[Step]:
    """Steps in the order in which they were done."""
    return await services.steps.page(principal, session_id, cursor, limit, count=count)


@router.get("/steps/{step_id}", responses=documented(403, 404), operation_id="get_step")
async def get_step(session_id: SessionId, step_id: StepId, principal: PrincipalDep, services: ServicesDep) -> Step:
    """What a step gave: a resumed run reads it instead of doing the step again."""
    return await services.steps.get(principal, session_id, step_id)


@router.put(
    "/steps/{step_id}",
    responses=documented(403, 404, 409) | {201: {"model": StoredStep, "description": "The step is new"}},
    operation_id="put_step",
)
async def put_step(
    session_id: SessionId, step_id: StepId, body: StepPut, write: WriteDep, services: ServicesDep, response: Response
) -> StoredStep:
    """Keep what a step gave, once: a second put is answered with the first output.

    A step that was put with its `input` alone is done by the first put with an `output`. With `auto_checkpoint` a
    checkpoint is made in the same transaction: of the session's state, or of the newest checkpoint's where it has none.
    """
    answer = await services.steps.put(write, session_id, step_id, body)
    reply(answer, response)
    return StoredStep.model_validate(answer.body)


@router.get(
    "/{checkpoint_id}", response_model=Snapshot, responses=documented(403, 404), operation_id="get_session_checkpoint"
)
async def get_session_checkpoint(
    session_id: SessionId, checkpoint_id: CheckpointId, principal: PrincipalDep, services: ServicesDep
) -> Response:
    """One checkpoint with its state."""
    return as_json(await services.snapshots.get(principal, session_id, checkpoint_id))


@router.patch("/{checkpoint_id}", responses=documented(403, 404, 409), operation_id="label_checkpoint")
async def label_checkpoint(
    session_id: SessionId,
    checkpoint_id: CheckpointId,
    body: SnapshotChange,
    write: WriteDep,
    services: ServicesDep,
    response: Response,
) -> SnapshotInfo:
    """Give a checkpoint a label, another one, or none."""
    answer = await services.snapshots.change(write, session_id, checkpoint_id, body)
    reply(answer, response)
    return SnapshotInfo.model_validate(answer.body)


@router.post("/{checkpoint_id}/restore", responses=documented(403, 404, 409, 412), operation_id="restore_checkpoint")
async def restore_checkpoint(
    session_id: SessionId,
    checkpoint_id: CheckpointId,
    body: Annotated[SnapshotRestore, Body(default_factory=SnapshotRestore)],
    write: VersionedWriteDep,
    services: ServicesDep,
    response: Response,
) -> State:
    """Make a checkpoint's state the session's. The state that was there stays in its history."""
    return versioned(await services.snapshots.restore(write, session_id, checkpoint_id, body), response, State)


@router.post(
    "/{checkpoint_id}/fork", status_code=201, responses=documented(403, 404, 409), operation_id="fork_checkpoint"
)
async def fork_checkpoint(
    session_id: SessionId,
    checkpoint_id: CheckpointId,
    body: Annotated[SnapshotFork, Body(default_factory=SnapshotFork)],
    write: WriteDep,
    services: ServicesDep,
    response: Response,
) -> Session:
    """Begin a new session where a checkpoint stood: with its state, and with the messages that there were then."""
    answer = await services.snapshots.fork(write, session_id, checkpoint_id, body)
    reply(answer, response)
    return Session.model_validate(answer.body)
