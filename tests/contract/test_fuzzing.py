"""The whole OpenAPI document, fuzzed over HTTP: no 5xx, no status and no body that is not documented."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from app.composition import Services
from app.settings import child_environment
from tests.conftest import Tenant, tenant_of

EXCLUDED = (
    "unsupported_method",  # a 405 comes from the router, before any operation
    "allow_header_conformance",  # the framework's own Allow header on 405 names one route's methods only
    "positive_data_acceptance",  # JSON Schema cannot say that two fields exclude each other, or which zones there are
)


@pytest.fixture(scope="module")
async def fuzzed(services: Services, app: object) -> Tenant:
    """A tenant whose data may be ruined."""
    return await tenant_of(services, app)


@pytest.mark.timeout(1500)
async def test_no_request_gets_a_5xx_or_an_undocumented_answer(
    live: str, fuzzed: Tenant, full_size: bool, tmp_path: Path
) -> None:
    command = [
        *(str(Path(sys.executable).with_name("schemathesis")), "run", f"{live}/openapi.json"),
        *("--header", f"Authorization: Bearer {await fuzzed.key('admin')}"),
        *("--exclude-checks", ",".join(EXCLUDED), "--exclude-path", "/metrics"),
        *("--phases", "examples,coverage,fuzzing,stateful" if full_size else "examples,coverage,fuzzing"),
        *("--max-examples", "50" if full_size else "2", "--max-time", "1200" if full_size else "20"),
        *("--continue-on-failure", "--no-color", "--warnings", "off", "--request-timeout", "90"),
    ]
    hooks = {"SCHEMATHESIS_HOOKS": "tests.contract.media_types", "PYTHONPATH": str(Path(__file__).parents[2])}
    ran = await asyncio.to_thread(
        subprocess.run,
        command,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
        env=child_environment(hooks),
    )
    assert ran.returncode == 0, ran.stdout[-20_000:]
