"""The API in a process of its own, on a database that is slow, full, cut off, overrun or not there yet."""

import asyncio
import itertools
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest

from app import bootstrap
from app.core.ports import free_port
from app.db import embedded, migrate
from app.settings import Settings, child_environment
from tests.conftest import FAST
from tests.e2e.conftest import Command, until
from tests.e2e.test_under_fire import all_messages

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

POOL = 3
LIMITS = {
    "POOL_SIZE": str(POOL),
    "POOL_TIMEOUT_SECONDS": "0.5",
    "LOCK_TIMEOUT_SECONDS": "0.5",
    "STATEMENT_TIMEOUT_SECONDS": "1",
    "CONNECT_TIMEOUT_SECONDS": "1",
    "KEY_CACHE_SECONDS": "60",
    "EXTRACTOR": "off",
    "LOG_LEVEL": "error",
}
SMALL = {"max_wal_size": "48MB", "min_wal_size": "32MB", "wal_recycle": "off"}
DISK_MEGABYTES = 200
PATIENCE = 5.0
"""No answer takes longer, whatever the database does: the limits above, and a loaded machine."""

TERMINATE = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename = $1"
SLOW_TRIGGER = """
CREATE FUNCTION crawl() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(30); RETURN NEW; END $$;
CREATE TRIGGER crawl BEFORE INSERT ON messages FOR EACH ROW EXECUTE FUNCTION crawl();
"""


@dataclass
class Site:
    """A database, the API on it, and a key."""

    server: embedded.EmbeddedServer
    api: Command
    client: httpx.Client

    def append(self, session: str, text: str = "text 文字") -> httpx.Response:
        return self.client.post(f"/v1/sessions/{session}/messages", json={"role": "user", "content": text})

    def is_ready(self) -> bool:
        return self.client.get("/readyz").is_success

    @asynccontextmanager
    async def superuser(self) -> AsyncIterator["asyncpg.Connection[Any]"]:
        connection = await asyncpg.connect(self.server.superuser_dsn)
        try:
            yield connection
        finally:
            await connection.close()


@contextmanager
def site_on(folder: Path) -> Iterator[Site]:
    """A server in this folder, stopped again, and the API, which waits for it."""
    server = embedded.start(folder / "data", settings=FAST | SMALL)
    scratch = Path(tempfile.mkdtemp(prefix="mnemic-test-", dir="/tmp"))
    port, key_file = free_port(), scratch / "admin.key"
    chosen = Settings(_env_file=None, database_url=server.app_dsn, migration_database_url=server.migrator_dsn)
    migrate.upgrade(server.migrator_dsn)
    bootstrap.prepare(chosen, migrator_dsn=server.migrator_dsn, app_dsn=server.app_dsn, admin_key_file=key_file)
    server.stop()
    variables = {"DATABASE_URL": server.app_dsn, "MIGRATION_DATABASE_URL": server.migrator_dsn, "PORT": str(port)}
    command = Command(
        [str(Path(sys.executable).with_name("mnemic")), "serve"], scratch, child_environment(variables | LIMITS)
    )
    headers = {"Authorization": f"Bearer {key_file.read_text().strip()}"}
    url = f"http://127.0.0.1:{port}"
    with httpx.Client(
        base_url=url, headers=headers, timeout=PATIENCE, trust_env=False, limits=httpx.Limits(keepalive_expiry=2)
    ) as client:
        site = Site(server, command, client)
        try:
            until(lambda: _alive(client) or not command.alive, 60)
            assert command.alive, command.err.read_text()[-3000:]
            yield site
        finally:
            command.end()
            server.stop()
            shutil.rmtree(scratch)


def _alive(client: httpx.Client) -> bool:
    try:
        return client.get("/healthz").is_success
    except httpx.TransportError:
        return False


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A small disk in memory, or a plain folder where none may be mounted."""
    place = Path(tempfile.mkdtemp(prefix="mnemic-test-", dir="/tmp"))
    place.chmod(0o755)
    mount = shutil.which("mount")
    arguments = ["-t", "tmpfs", "-o", f"size={DISK_MEGABYTES}m,mode=755", "tmpfs", str(place)]
    mounted = (
        mount is not None and subprocess.run([mount, *arguments], capture_output=True, check=False).returncode == 0
    )
    yield place
    if mounted:
        subprocess.run([str(shutil.which("umount")), str(place)], check=True)
    shutil.rmtree(place)


@pytest.fixture(scope="module")
def site(folder: Path) -> Iterator[Site]:
    """The API was started before the database."""
    with site_on(folder) as made:
        answer = made.client.get("/readyz")
        assert (answer.status_code, answer.json()["status"]) == (503, "not_ready")
        is_refused(made.append("too-early"))
        made.server.restart()
        until(made.is_ready, 60)
        yield made


def is_refused(answer: httpx.Response, *codes: str) -> None:
    """A 503 that says when to come again, and nothing of what happened inside."""
    assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json"), answer.text
    assert int(answer.headers["retry-after"]) > 0
    assert answer.json()["code"] in (codes or ("database_unavailable",)), answer.text


def test_an_api_that_was_started_before_its_database_serves_as_soon_as_it_is_there(site: Site) -> None:
    assert site.append("after").status_code == 201


async def test_a_held_lock_is_a_503_within_the_limit_and_never_a_hang(site: Site) -> None:
    assert site.append("slow").status_code == 201
    async with site.superuser() as other, other.transaction():
        await other.execute("LOCK TABLE messages IN ACCESS EXCLUSIVE MODE")
        for call in (lambda: site.append("slow"), lambda: site.client.get("/v1/sessions/slow/messages")):
            began = time.monotonic()
            is_refused(await asyncio.to_thread(call))
            assert time.monotonic() - began < PATIENCE
        assert site.client.get("/healthz").is_success
    assert site.append("slow").json()["seq"] == 2


async def test_a_statement_that_crawls_is_a_503_within_the_limit(site: Site) -> None:
    async with site.superuser() as other:
        await other.execute(SLOW_TRIGGER)
        try:
            is_refused(await asyncio.to_thread(site.append, "crawling"))
        finally:
            await other.execute("DROP TRIGGER crawl ON messages; DROP FUNCTION crawl()")
    assert site.append("crawling").json()["seq"] == 1


async def test_of_the_calls_after_all_connections_were_cut_one_at_most_notices(site: Site) -> None:
    for _ in range(POOL):
        assert site.append("cut").status_code == 201
    async with site.superuser() as other:
        for _ in range(3):
            await other.fetch(TERMINATE, "mnemic_app")
            deadline = time.monotonic() + 20
            while await other.fetch("SELECT 1 FROM pg_stat_activity WHERE usename = 'mnemic_app'"):
                assert time.monotonic() < deadline
                await asyncio.sleep(0.01)
            # Who comes before the service has read that they were cut is told to come again.
            answers = [(await asyncio.to_thread(site.append, "cut")).status_code for _ in range(2)]
            assert answers in ([201, 201], [503, 201])


async def test_cuts_in_the_middle_of_calls_lose_nothing_that_was_acknowledged(site: Site, full_size: bool) -> None:
    told: list[int] = []
    stop = threading.Event()

    def write() -> None:
        for number in itertools.count():
            answer = site.append("cut-short", f"message {number}")
            if answer.status_code == 201:
                told.append(answer.json()["seq"])
            else:
                is_refused(answer)
            if stop.is_set():
                return

    writing = asyncio.create_task(asyncio.to_thread(write))
    async with site.superuser() as other:
        for cut in range(1, (100 if full_size else 10) + 1):
            while len(told) < 3 * cut:
                await asyncio.sleep(0.002)
                assert not writing.done()
            await other.fetch(TERMINATE, "mnemic_app")
    stop.set()
    await writing
    kept = site.client.get("/v1/sessions/cut-short/messages", params={"limit": 200}).json()["results"]
    assert len(told) == len(set(told))
    assert set(told[:100]) <= {message["seq"] for message in kept}
    assert len({message["content"] for message in kept}) == len(kept)


async def test_a_server_without_a_free_connection_is_a_503_until_there_is_one(site: Site) -> None:
    held: list[asyncpg.Connection[Any]] = []
    async with site.superuser() as other:
        await other.fetch(TERMINATE, "mnemic_app")  # what the API holds it keeps
        try:
            with pytest.raises(asyncpg.TooManyConnectionsError):
                await take_all(site.server.app_dsn, held)
            is_refused(await asyncio.to_thread(site.append, "crowded"))
            assert site.client.get("/readyz").status_code == 503
            assert site.client.get("/healthz").is_success
        finally:
            for connection in held:
                await connection.close()
    until(lambda: site.append("crowded").status_code == 201)


async def take_all(dsn: str, held: "list[asyncpg.Connection[Any]]") -> None:
    """Connect until the server refuses. Raises `TooManyConnectionsError` then."""
    while True:
        held.append(await asyncpg.connect(dsn))


async def test_more_callers_than_connections_get_a_503_that_says_so_and_the_pool_is_free_afterwards(site: Site) -> None:
    async with site.superuser() as other, other.transaction():
        await other.execute("LOCK TABLE messages IN ACCESS EXCLUSIVE MODE")
        answers = await asyncio.gather(*(asyncio.to_thread(site.append, f"many-{n}") for n in range(4 * POOL)))
    for answer in answers:
        is_refused(answer, "pool_exhausted", "database_unavailable")
    assert {answer.json()["code"] for answer in answers} == {"pool_exhausted", "database_unavailable"}
    until(lambda: re.search(r"^mnemic_database_pool_in_use [01]\.0$", site.client.get("/metrics").text, re.MULTILINE))
    assert site.append("many-0").status_code == 201


def test_a_full_disk_refuses_writes_and_loses_nothing_that_was_acknowledged(site: Site, folder: Path) -> None:
    if not folder.is_mount():
        pytest.skip("a tmpfs cannot be mounted here: that takes root")
    assert site.append("full", "before 之前").status_code == 201
    with pytest.raises(OSError, match="No space left"):
        fill(folder / "ballast")
    told: list[str] = ["before 之前"]
    for number in range(400):
        text = f"{number} " + "长文 long " * 3000
        answer = site.append("full", text)
        if answer.status_code != 201:
            is_refused(answer)
            break
        told.append(text)
    else:
        pytest.fail("the disk did not get full")
    assert site.client.get("/healthz").is_success
    (folder / "ballast").unlink()
    if not site.server.alive:  # as the supervisor does
        site.server.restart()
    until(lambda: site.append("full", "after 之后").status_code == 201, 60)
    kept = all_messages(site.client, "full")
    assert set(told) <= {message["content"] for message in kept}
    assert kept[-1]["content"] == "after 之后"


def fill(ballast: Path) -> None:
    """Write until nothing more fits. Raises `OSError` then."""
    with ballast.open("wb") as file:
        while True:
            file.write(b"\0" * 65536)
            file.flush()
