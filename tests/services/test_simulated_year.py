"""A year of many lives under a clock that is moved: nothing that is used is lost, and the noise is gone."""

from dataclasses import asdict

import pytest

from benchmarks.years import YEAR, Life, Plan
from tests.conftest import Tenant


@pytest.mark.timeout(7200)
async def test_what_is_used_is_kept_and_noise_is_gone(tenant: Tenant, full_size: bool) -> None:
    life = Life(await tenant.client(), tenant.work, tenant.services.accesses.flush, YEAR if full_size else Plan())
    found = await life.run()
    told = asdict(found)
    assert found.growth >= (10 if not full_size else 18), told
    assert found.lost == 0, told
    assert found.stale_noise == 0, told
    assert found.values_right >= 0.98, told
    assert found.recall_before >= 0.9, told
    assert found.recall_after >= 0.97 * found.recall_before, told
    assert found.constraints >= 0.95, told
    assert found.preferences >= 0.95, told
    assert found.archived > 0.4 * life.plan.owners * life.plan.events, told
