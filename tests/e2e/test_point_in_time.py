"""The recipe of docs/operations.md for going back to an instant, followed on real servers."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from app.composition import Services, compose, database
from app.core import clock
from app.core.ports import free_port
from app.db import embedded, migrate
from app.db.dsn import parse_dsn
from app.db.embedded.postmaster import Postmaster
from app.main import create_app
from app.settings import Settings
from tests.conftest import FAST, Tenant, tenant_of
from tests.databases import fetch
from tests.doubles.embeddings import HashedModel

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]


@pytest.fixture
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="mnemic-test-", dir="/tmp"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made, ignore_errors=True)


@asynccontextmanager
async def service_on(dsn: str) -> AsyncIterator[Services]:
    chosen = Settings.model_validate({"database_url": dsn, "extractor": "off", "pool_size": 2})
    store = database(chosen, parse_dsn(dsn))
    yield compose(chosen, store, HashedModel())
    await store.engine.dispose()


async def texts(services: Services, key: str) -> list[str]:
    """What the session holds, over HTTP."""
    app = create_app(services.settings)
    app.state.services = services
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test", headers=headers) as client:
        page = (await client.get("/v1/sessions/s/messages")).raise_for_status().json()
    return [message["content"] for message in page["results"]]


async def say(tenant: Tenant, text: str) -> None:
    api = await tenant.client()
    (await api.post("/v1/sessions/s/messages", json={"role": "user", "content": text})).raise_for_status()


async def test_an_archive_and_a_base_backup_lead_back_to_an_instant(folder: Path, full_size: bool) -> None:
    if not full_size:
        pytest.skip("two more servers: with --full-size")
    archive = folder / "archive"
    archive.mkdir(mode=0o777)
    archive.chmod(0o777)
    keeping = {"archive_mode": "on", "archive_command": f"test ! -f {archive}/%f && cp %p {archive}/%f"}
    server = embedded.start(folder / "data", settings=FAST | {"synchronous_commit": "on"} | keeping)
    try:
        await asyncio.to_thread(migrate.upgrade, server.migrator_dsn)
        async with service_on(server.app_dsn) as services:
            app = create_app(services.settings)
            app.state.services = services
            tenant = await tenant_of(services, app)
            key = await tenant.key()
            await say(tenant, "before the backup 备份之前")
            base = back_up(server, folder)
            await say(tenant, "after the backup 备份之后")
            (row,) = await fetch(server.superuser_dsn, "SELECT clock_timestamp() AS at")
            await say(tenant, "a mistake 错误")
            await tenant.close()
        await fetch(server.superuser_dsn, "SELECT pg_switch_wal()")
    finally:
        server.stop()  # which archives what is left
    (base / "recovery.signal").touch()
    going_back = {
        "restore_command": f"cp {archive}/%f %p",
        "recovery_target_time": str(row["at"]),
        "recovery_target_action": "promote",
    }
    model, port = server.postmaster, free_port()
    restored = Postmaster(model.binaries, model.owner, base.parent, model.password, FAST | going_back, lambda _: None)
    restored.start(port)
    try:
        await promoted(server.superuser_dsn.replace(f":{server.port}/", f":{port}/"))
        async with service_on(server.app_dsn.replace(f":{server.port}/", f":{port}/")) as services:
            assert await texts(services, key) == ["before the backup 备份之前", "after the backup 备份之后"]
    finally:
        restored.stop()


def back_up(server: embedded.EmbeddedServer, folder: Path) -> Path:
    """A base backup; the new data folder."""
    model, files = server.postmaster, folder / "restored"
    files.mkdir()
    shutil.chown(files, model.owner.uid, model.owner.gid)
    where = urlsplit(server.superuser_dsn)._replace(path="").geturl()
    command = [str(model.binaries / "pg_basebackup"), "-D", str(files / "pgdata"), "-d", where]
    command += ["--wal-method=stream", "--checkpoint=fast"]
    assert model.owner.spawn(command, cwd=files).wait(60) == 0
    return files / "pgdata"


async def promoted(dsn: str) -> None:
    deadline = clock.monotonic() + 60
    while (await fetch(dsn, "SELECT pg_is_in_recovery() AS waits"))[0]["waits"]:
        assert clock.monotonic() < deadline, "recovery does not end"
