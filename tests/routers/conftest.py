"""What tests of routes share."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from app.composition import Services, database
from app.db import migrate
from app.db.checks import RoleCheck
from app.db.dsn import parse_dsn
from app.db.embedded.server import EmbeddedServer
from app.db.scoped import Database
from app.services.registration import ModelRegistration
from app.settings import Settings
from app.uow import UnitOfWork
from tests.conftest import Tenant, tenant_of
from tests.databases import create_database, drop_database
from tests.doubles.embeddings import HashedModel


@pytest.fixture
async def other_tenant(services: Services, app: Any) -> AsyncIterator[Tenant]:
    """A second tenant."""
    made = await tenant_of(services, app)
    yield made
    await made.close()


@pytest.fixture(scope="module")
async def hashed_store(server: EmbeddedServer, settings: Settings) -> AsyncIterator[Database]:
    """A database that the double of an embedding model serves."""
    place = await create_database(server)
    await asyncio.to_thread(migrate.upgrade, place.migrator_dsn)
    migrator = database(settings, parse_dsn(place.migrator_dsn))
    unchecked = Database(migrator.engine, check=RoleCheck(passed=True))
    await ModelRegistration(UnitOfWork(unchecked)).register(HashedModel())
    await migrator.engine.dispose()
    store = database(settings, parse_dsn(place.app_dsn))
    yield store
    await store.engine.dispose()
    await drop_database(server, place)
