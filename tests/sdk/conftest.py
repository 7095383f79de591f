"""A service in a process of its own, and a key for a tenant of each test."""

import pytest

from tests.conftest import Tenant


@pytest.fixture
async def api_key(tenant: Tenant) -> str:
    """An admin's key of a fresh tenant."""
    return await tenant.key()
