"""/v1/tools"""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from app.domain.tooling import Language, ToolForm, ToolSet
from app.routers.deps import PrincipalDep, ServicesDep, WriteDep
from app.routers.problems import documented
from app.routers.requests import StrictRoute
from app.schemas.fields import SegmentId
from app.schemas.tools import ToolCall, ToolList, ToolResult

router = APIRouter(prefix="/tools", tags=["Tools"], route_class=StrictRoute)


@router.get("", responses=documented(403), operation_id="list_tools")
async def list_tools(
    principal: PrincipalDep,
    services: ServicesDep,
    format_: Annotated[ToolForm, Query(alias="format", description="Whose API takes the definitions")] = "openai",
    set_: Annotated[
        ToolSet, Query(alias="set", description="minimal: three tools, told in a sentence each, without options")
    ] = "full",
    language: Annotated[Language, Query(description="Of the descriptions")] = "en",
) -> ToolList:
    """Definitions of the memory tools, to give to a model with each prompt, and what that costs in tokens."""
    return services.tools.listed(principal, format_, set_, language)


@router.post("/{name}", responses=documented(403, 409), operation_id="call_tool")
async def call_tool(
    name: Annotated[SegmentId, Path(description="The tool's name", examples=["archival_memory_search"])],
    body: ToolCall,
    write: WriteDep,
    services: ServicesDep,
) -> ToolResult:
    """Do what a model asked for, and give it `text` as the tool's result.

    What the model did wrong is a result too (`is_error`): it says what to do about it, in the language of the
    arguments. Memory that is recalled stands in a fence that marks it as data. With an `Idempotency-Key`, a call that
    is repeated writes once.
    """
    return await services.tools.run(write, name, body)
