"""The wheel is complete: with nothing of the checkout beside it, it migrates and serves."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest

from app.core.ports import free_port
from app.settings import child_environment

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

ROOT = Path(__file__).parents[2]
BUILT_OF = ("alembic", "app", "alembic.ini", "pyproject.toml", "README.md", "LICENSE")
BUILD = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"


@pytest.fixture(scope="module")
def unpacked() -> Iterator[Path]:
    """The wheel's content, as an installer lays it down; built of what the image is built of, and nothing else."""
    folder = Path(tempfile.mkdtemp(prefix="mnemic-test-", dir="/tmp"))
    source, site = folder / "source", folder / "site"
    source.mkdir()
    for name in BUILT_OF:
        where = ROOT / name
        copy = shutil.copytree if where.is_dir() else shutil.copy
        copy(where, source / name)
    built = subprocess.run(
        [sys.executable, "-c", BUILD, str(folder)], cwd=source, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    with ZipFile(next(folder.glob("*.whl"))) as wheel:
        wheel.extractall(site)
    shutil.rmtree(source)
    yield site
    shutil.rmtree(folder)


def test_wheel_has_every_migration_and_none_of_the_tests(unpacked: Path) -> None:
    ours = {path.relative_to(ROOT / "alembic") for path in (ROOT / "alembic").rglob("*.*") if path.suffix != ".pyc"}
    theirs = {path.relative_to(unpacked / "app" / "_alembic") for path in (unpacked / "app" / "_alembic").rglob("*.*")}
    assert ours <= theirs
    assert {path.name.partition("-")[0] for path in unpacked.iterdir()} == {"app", "mnemic"}


def test_image_is_built_of_what_it_copies(unpacked: Path) -> None:
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert {line[1:] for line in ignored if line.startswith("!")} == {
        *BUILT_OF,
        "requirements-build.lock",
        "requirements-runtime.lock",
    }


def test_up_starts_from_the_wheel_alone(unpacked: Path) -> None:
    folder = unpacked.parent / "data"
    environment = child_environment(
        {"PYTHONPATH": str(unpacked), "DATA_DIR": str(folder), "PORT": str(free_port()), "DATABASE_URL": ""}
    )
    where = subprocess.run(
        [sys.executable, "-P", "-c", "import app; print(app.__file__)"],
        cwd="/",
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(where.stdout.strip()).is_relative_to(unpacked)
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "app.cli", "up"],
        cwd="/",
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as up:
        assert up.stdout is not None
        line = up.stdout.readline()
        os.killpg(up.pid, signal.SIGTERM)
        _, told = up.communicate(timeout=60)
    assert line.startswith("Mnemic is ready"), told
    assert up.returncode == 0
