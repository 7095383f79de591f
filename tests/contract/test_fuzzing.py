"""The whole OpenAPI document, fuzzed over HTTP: no 5xx, no status and no body that is not documented."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from app.composition import Services
from app.settings import Settings
from tests.conftest import Tenant
from tests.contract.conftest import tenant_of
from tests.network import free_port, wait_until

EXCLUDED = (
    "unsupported_method",  # a 405 comes from the router, before any operation
    "allow_header_conformance",  # the framework's own Allow header on 405 names one route's methods only
    "positive_data_acceptance",  # JSON Schema cannot say that two fields exclude each other, or which zones there are
)


@pytest.fixture(scope="module")
async def fuzzed(services: Services, app: object) -> Tenant:
    """A tenant whose data may be ruined."""
    return await tenant_of(services, app)


@pytest.fixture(scope="module")
def live(settings: Settings) -> Iterator[str]:
    """The API in a process of its own, on the tests' database."""
    port = free_port()
    environment = {
        **os.environ,  # noqa: TID251 - a child's environment
        "DATABASE_URL": settings.database_url.get_secret_value(),
        "MIGRATION_DATABASE_URL": settings.migration_database_url.get_secret_value(),
        "PORT": str(port),
        "LOG_LEVEL": "error",
    }
    command = [sys.executable, "-P", "-m", "app.cli", "serve"]
    with subprocess.Popen(command, env=environment) as process:
        url = f"http://127.0.0.1:{port}"
        try:
            wait_until(lambda: _ready(url), 60)
            yield url
        finally:
            process.terminate()
            process.wait(30)


@pytest.mark.timeout(1500)
async def test_no_request_gets_a_5xx_or_an_undocumented_answer(
    live: str, fuzzed: Tenant, full_size: bool, tmp_path: Path
) -> None:
    command = [
        *(str(Path(sys.executable).with_name("schemathesis")), "run", f"{live}/openapi.json"),
        *("--header", f"Authorization: Bearer {await fuzzed.key('admin')}"),
        *("--exclude-checks", ",".join(EXCLUDED), "--exclude-path", "/metrics"),
        *("--phases", "examples,coverage,fuzzing,stateful" if full_size else "examples,coverage,fuzzing"),
        *("--max-examples", "50" if full_size else "2", "--max-time", "1200" if full_size else "75"),
        *("--continue-on-failure", "--no-color", "--warnings", "off", "--request-timeout", "90"),
    ]
    ran = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert ran.returncode == 0, ran.stdout[-20_000:]


def _ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz", trust_env=False).is_success
    except httpx.HTTPError:
        return False
