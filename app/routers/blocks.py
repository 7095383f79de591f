"""/v1/blocks"""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Response

from app.routers.deps import (
    DEFAULT_PAGE,
    CountQuery,
    CursorQuery,
    LimitQuery,
    PrincipalDep,
    ServicesDep,
    VersionedWriteDep,
    reply,
    tag,
    versioned,
)
from app.routers.problems import documented
from app.routers.requests import StrictRoute
from app.schemas.blocks import Block, BlockPatch, BlockPut, BlockVersion
from app.schemas.fields import Id, SegmentId
from app.schemas.lists import Page
from app.services.blocks import BlockAddress

router = APIRouter(prefix="/blocks", tags=["Core memory"], route_class=StrictRoute)

BlockUser = Annotated[Id | None, Query(description="Whose block; no user's if absent")]
BlockAgent = Annotated[Id | None, Query(description="Which agent's block; no agent's if absent")]


async def get_address(
    label: Annotated[SegmentId, Path(description="The block's name, such as human or persona", examples=["human"])],
    user_id: BlockUser = None,
    agent_id: BlockAgent = None,
) -> BlockAddress:
    """Which block this is about."""
    return BlockAddress(label, user_id, agent_id)


AddressDep = Annotated[BlockAddress, Depends(get_address)]


@router.get("", responses=documented(403), operation_id="list_blocks")
async def list_blocks(
    principal: PrincipalDep,
    services: ServicesDep,
    user_id: Annotated[Id | None, Query(description="Only this user's")] = None,
    agent_id: Annotated[Id | None, Query(description="Only this agent's")] = None,
    limit: LimitQuery = DEFAULT_PAGE,
    cursor: CursorQuery = None,
    count: CountQuery = False,
) -> Page[Block]:
    """Blocks of core memory, oldest first."""
    return await services.blocks.page(principal, user_id, agent_id, cursor, limit, count=count)


@router.get("/{label}", responses=documented(403, 404), operation_id="get_block")
async def get_block(address: AddressDep, principal: PrincipalDep, services: ServicesDep, response: Response) -> Block:
    """One block."""
    block = await services.blocks.get(principal, address)
    tag(response, block.version)
    return block


@router.put(
    "/{label}",
    responses=documented(403, 409, 412) | {201: {"model": Block, "description": "The block is new"}},
    operation_id="put_block",
)
async def put_block(
    address: AddressDep,
    body: BlockPut,
    write: VersionedWriteDep,
    services: ServicesDep,
    response: Response,
) -> Block:
    """Make a block, or replace it whole."""
    return versioned(await services.blocks.put(write, address, body), response, Block)


@router.patch("/{label}", responses=documented(403, 404, 409, 412), operation_id="patch_block")
async def patch_block(
    address: AddressDep,
    body: BlockPatch,
    write: VersionedWriteDep,
    services: ServicesDep,
    response: Response,
) -> Block:
    """Append a line, replace a part that occurs exactly once, or change single fields."""
    return versioned(await services.blocks.patch(write, address, body), response, Block)


@router.delete("/{label}", status_code=204, responses=documented(403, 404, 409, 412), operation_id="delete_block")
async def delete_block(
    address: AddressDep, write: VersionedWriteDep, services: ServicesDep, response: Response
) -> None:
    """Remove a block and its versions."""
    reply(await services.blocks.delete(write, address), response)


@router.get("/{label}/history", responses=documented(403, 404), operation_id="list_block_versions")
async def list_block_versions(
    address: AddressDep,
    principal: PrincipalDep,
    services: ServicesDep,
    limit: LimitQuery = DEFAULT_PAGE,
    cursor: CursorQuery = None,
    count: CountQuery = False,
) -> Page[BlockVersion]:
    """The texts that a block had, newest first."""
    return await services.blocks.versions(principal, address, cursor, limit, count=count)
