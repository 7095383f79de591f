"""What tests of routes share."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from app.composition import Services
from app.core import clock, ids
from tests.conftest import Tenant


@pytest.fixture
async def other_tenant(services: Services, app: Any) -> AsyncIterator[Tenant]:
    """A second tenant."""
    async with services.uow.begin_global() as tx:
        tenant_id = await tx.access.ensure_tenant(ids.new_id(), f"test-{ids.new_id()}", clock.now())
    made = Tenant(tenant_id, services, app)
    yield made
    await made.close()
