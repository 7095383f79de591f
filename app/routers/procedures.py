"""/v1/procedures"""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query, Response

from app.domain.procedure import ProcedureStatus
from app.domain.scope import Scope
from app.routers.deps import (
    DEFAULT_PAGE,
    CountQuery,
    CursorQuery,
    LimitQuery,
    PrincipalDep,
    ServicesDep,
    VersionedWriteDep,
    WriteDep,
    reply,
    tag,
    versioned,
)
from app.routers.problems import documented
from app.routers.requests import StrictRoute
from app.schemas.fields import Id
from app.schemas.lists import Page
from app.schemas.procedures import (
    ExportedFile,
    ImportedProcedures,
    Matches,
    MatchRequest,
    OutcomeReport,
    Procedure,
    ProcedureCard,
    ProcedureChange,
    ProcedureCreate,
    ProcedureImport,
    ProcedureVersion,
)

router = APIRouter(prefix="/procedures", tags=["Procedures"], route_class=StrictRoute)

ProcedureId = Annotated[UUID, Path(description="The procedure's id")]
UserQuery = Annotated[Id | None, Query(description="Only this user's")]
AgentQuery = Annotated[Id | None, Query(description="Only this agent's")]
AppQuery = Annotated[Id | None, Query(description="Only this app's")]


@router.post("", status_code=201, responses=documented(403, 409), operation_id="create_procedure")
async def create_procedure(
    body: ProcedureCreate, write: WriteDep, services: ServicesDep, response: Response
) -> Procedure:
    """Keep how something is done, for a user, an agent, an app, or for all (`shared`).

    It is found by its title and by `when_to_use`; the body is read when it is needed.
    """
    return versioned(await services.procedures.create(write, body), response, Procedure)


@router.get("", responses=documented(403), operation_id="list_procedures")
async def list_procedures(
    principal: PrincipalDep,
    services: ServicesDep,
    user_id: UserQuery = None,
    agent_id: AgentQuery = None,
    app_id: AppQuery = None,
    status: Annotated[ProcedureStatus | None, Query(description="Only drafts, or only what is published")] = None,
    tag_: Annotated[Id | None, Query(alias="tag", description="Only with this tag")] = None,
    limit: LimitQuery = DEFAULT_PAGE,
    cursor: CursorQuery = None,
    count: CountQuery = False,
) -> Page[ProcedureCard]:
    """Titles and uses, oldest first; a body is read by its id."""
    scope = Scope(user_id, agent_id, app_id)
    return await services.procedures.page(principal, scope, status, tag_, cursor, limit, count=count)


@router.post("/match", responses=documented(403), operation_id="match_procedures")
async def match_procedures(body: MatchRequest, principal: PrincipalDep, services: ServicesDep) -> Matches:
    """Before a task: which lessons and procedures fit it, of the user, the agent, the app and of all.

    Lessons of what failed come first, the rest by how well it fits and how often it worked.
    """
    return await services.procedures.match(principal, body)


@router.post("/import", status_code=201, responses=documented(403, 409), operation_id="import_procedures")
async def import_procedures(
    body: ProcedureImport, write: WriteDep, services: ServicesDep, response: Response
) -> ImportedProcedures:
    """Take in a folder of Markdown files with front matter (SKILL.md), up to 100 in one call, all or none.

    The path tells what a file belongs to: it makes a procedure, a further version of one, or changes nothing.
    """
    answer = await services.procedure_files.import_files(write, body)
    reply(answer, response)
    return ImportedProcedures.model_validate(answer.body)


@router.get("/export", responses=documented(403), operation_id="export_procedures")
async def export_procedures(
    principal: PrincipalDep,
    services: ServicesDep,
    user_id: Annotated[Id | None, Query(description="This user's; without any scope, those shared by all")] = None,
    agent_id: Annotated[Id | None, Query(description="This agent's")] = None,
    app_id: Annotated[Id | None, Query(description="This app's")] = None,
    limit: LimitQuery = DEFAULT_PAGE,
    cursor: CursorQuery = None,
) -> Page[ExportedFile]:
    """The procedures of exactly this scope as Markdown files; an imported one comes back byte for byte."""
    return await services.procedure_files.export(principal, Scope(user_id, agent_id, app_id), cursor, limit)


@router.get("/{procedure_id}", responses=documented(403, 404), operation_id="get_procedure")
async def get_procedure(
    procedure_id: ProcedureId, principal: PrincipalDep, services: ServicesDep, response: Response
) -> Procedure:
    """A whole procedure."""
    procedure = await services.procedures.get(principal, procedure_id)
    tag(response, procedure.version)
    return procedure


@router.patch("/{procedure_id}", responses=documented(403, 404, 409, 412), operation_id="change_procedure")
async def change_procedure(
    procedure_id: ProcedureId,
    body: ProcedureChange,
    write: VersionedWriteDep,
    services: ServicesDep,
    response: Response,
) -> Procedure:
    """Change fields, as a further version; `status: published` makes a draft findable."""
    return versioned(await services.procedures.change(write, procedure_id, body), response, Procedure)


@router.delete(
    "/{procedure_id}", status_code=204, responses=documented(403, 404, 409, 412), operation_id="delete_procedure"
)
async def delete_procedure(
    procedure_id: ProcedureId, write: VersionedWriteDep, services: ServicesDep, response: Response
) -> None:
    """Delete a procedure. It is a memory too: under its id, `/v1/memories` can restore it, or erase it for good."""
    reply(await services.procedures.delete(write, procedure_id), response)


@router.get("/{procedure_id}/history", responses=documented(403, 404), operation_id="list_procedure_versions")
async def list_procedure_versions(
    procedure_id: ProcedureId,
    principal: PrincipalDep,
    services: ServicesDep,
    limit: LimitQuery = DEFAULT_PAGE,
    cursor: CursorQuery = None,
    count: CountQuery = False,
) -> Page[ProcedureVersion]:
    """What a procedure said, newest first."""
    return await services.procedures.versions(principal, procedure_id, cursor, limit, count=count)


@router.post("/{procedure_id}/outcome", responses=documented(403, 404, 409), operation_id="report_procedure_outcome")
async def report_procedure_outcome(
    procedure_id: ProcedureId, body: OutcomeReport, write: WriteDep, services: ServicesDep, response: Response
) -> Procedure:
    """Say how it went when a procedure was followed: it rises or falls among those that fit a task."""
    return versioned(await services.procedures.outcome(write, procedure_id, body), response, Procedure)
