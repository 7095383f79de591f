"""Clients of the tests' service: in this process, or in a process of its own."""

from collections.abc import AsyncIterator

import httpx
import pytest

from mnemic_client.langgraph import AsyncMnemicSaver
from mnemic_client.transport import AsyncTransport
from tests.conftest import Tenant


@pytest.fixture
async def api_key(tenant: Tenant) -> str:
    """An admin's key of a fresh tenant."""
    return await tenant.key()


def within(tenant: Tenant, api_key: str) -> AsyncTransport:
    """A transport to the service in this process."""
    return AsyncTransport("http://test", api_key, transport=httpx.ASGITransport(tenant.app))


@pytest.fixture
async def transport(tenant: Tenant, api_key: str) -> AsyncIterator[AsyncTransport]:
    """A transport with the admin's key."""
    async with within(tenant, api_key) as made:
        yield made


@pytest.fixture
async def saver(transport: AsyncTransport) -> AsyncMnemicSaver:
    """A saver with the admin's key."""
    return AsyncMnemicSaver(transport=transport)
