"""A Mnemic of its own for a benchmark: an embedded PostgreSQL in a temporary folder, migrated, with a key."""

import asyncio
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from app import bootstrap
from app.core import clock
from app.db import embedded, migrate
from app.settings import Settings

RESULTS: Final = Path(__file__).parent / "results"

Result = TypeVar("Result")


@dataclass(frozen=True)
class Instance:
    """A database in service. Whatever is measured connects as the app role."""

    server: embedded.EmbeddedServer
    folder: Path
    settings: Settings

    @property
    def key(self) -> str:
        """An admin key."""
        return (self.folder / "admin.key").read_text("utf-8").strip()

    @property
    def headers(self) -> dict[str, str]:
        """What a request carries."""
        return {"Authorization": f"Bearer {self.key}"}

    @property
    def environment(self) -> dict[str, str]:
        """Variables for a process of the service; questions are not kept, so that each is embedded."""
        return {
            "DATABASE_URL": self.server.app_dsn,
            "MIGRATION_DATABASE_URL": self.server.migrator_dsn,
            "EMBEDDING_CACHE_SIZE": "0",
            "EMBEDDING_PROVIDER": "use",
        }


@contextmanager
def temporary_instance(server_settings: Mapping[str, str] | None = None) -> Iterator[Instance]:
    """Start, migrate, register the bundled model; stop and remove when the block ends.

    Args:
        server_settings: Settings of PostgreSQL that replace Mnemic's own.
    """
    folder = Path(tempfile.mkdtemp(prefix="mnemic-bench-"))
    try:
        server = embedded.start(folder, settings=server_settings or {})
        try:
            migrate.upgrade(server.migrator_dsn)
            settings = Settings(
                _env_file=None,
                database_url=server.app_dsn,
                migration_database_url=server.migrator_dsn,
                embed_debounce_seconds=0,
            )
            bootstrap.prepare(
                settings,
                migrator_dsn=server.migrator_dsn,
                app_dsn=server.app_dsn,
                admin_key_file=folder / "admin.key",
            )
            yield Instance(server, folder, settings)
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """On the event loop that uvicorn would take."""
    if sys.platform == "win32":
        return asyncio.run(work)
    import uvloop  # noqa: PLC0415 - is not on every platform

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)


def machine() -> dict[str, Any]:
    """Where and under which load this runs."""
    return {
        "at": clock.now().isoformat(timespec="seconds"),
        "cores": os.cpu_count(),
        "processor": _processor(),
        "load_average": load(),
        "python": platform.python_version(),
        "machine": platform.machine(),
    }


def load() -> list[float]:
    """The load average of the last 1, 5 and 15 minutes."""
    return [round(one, 2) for one in os.getloadavg()]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def result_file(name: str) -> Path:
    """A new file among the results."""
    RESULTS.mkdir(exist_ok=True)
    return RESULTS / f"{name}-{clock.now():%Y%m%d-%H%M%S}.json"
