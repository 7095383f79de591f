"""/v1/jobs"""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.domain.jobs import FINISHED, JobKind, JobState
from app.routers.deps import (
    DEFAULT_PAGE,
    ClaimDep,
    CountQuery,
    CursorQuery,
    JobId,
    LimitQuery,
    PrincipalDep,
    ServicesDep,
    reply,
)
from app.routers.problems import documented
from app.routers.requests import StrictRoute
from app.schemas.fields import Id
from app.schemas.jobs import Job
from app.schemas.lists import Page

router = APIRouter(prefix="/jobs", tags=["Jobs"], route_class=StrictRoute)


@router.get("", responses=documented(403), operation_id="list_jobs")
async def list_jobs(
    principal: PrincipalDep,
    services: ServicesDep,
    kind: Annotated[JobKind | None, Query(description="Only this kind")] = None,
    state: Annotated[JobState | None, Query(description="Only jobs in this state")] = None,
    subject: Annotated[Id | None, Query(description="Only what works on this, such as a session")] = None,
    limit: LimitQuery = DEFAULT_PAGE,
    cursor: CursorQuery = None,
    count: CountQuery = False,
) -> Page[Job]:
    """Background work, newest first."""
    named = {"kind": kind, "state": state, "subject": subject}
    filters = {name: value for name, value in named.items() if value is not None}
    return await services.jobs.page(principal, filters, cursor, limit, count=count)


@router.get(
    "/{job_id}",
    responses=documented(403, 404) | {202: {"model": Job, "description": "Waited, and not finished yet"}},
    operation_id="get_job",
)
async def get_job(
    job_id: JobId,
    principal: PrincipalDep,
    services: ServicesDep,
    response: Response,
    wait: Annotated[float, Query(ge=0, le=60, description="Seconds to wait for its end")] = 0.0,
) -> Job:
    """One job. With `wait` the answer comes as soon as it is finished; 202 if it is not by then."""
    job = await services.jobs.get(principal, job_id, wait)
    if wait > 0 and job.state not in FINISHED:
        response.status_code = 202
    return job


@router.post("/{job_id}/cancel", responses=documented(403, 404, 409), operation_id="cancel_job")
async def cancel_job(
    job_id: JobId, principal: PrincipalDep, services: ServicesDep, claim: ClaimDep, response: Response
) -> Job:
    """Cancel a job; one that is running writes nothing any more."""
    answer = await services.jobs.cancel(principal, job_id, claim)
    reply(answer, response)
    return Job.model_validate(answer.body)


@router.post("/{job_id}/retry", responses=documented(403, 404, 409), operation_id="retry_job")
async def retry_job(
    job_id: JobId, principal: PrincipalDep, services: ServicesDep, claim: ClaimDep, response: Response
) -> Job:
    """Run a job again that failed, died or was cancelled."""
    answer = await services.jobs.retry(principal, job_id, claim)
    reply(answer, response)
    return Job.model_validate(answer.body)
