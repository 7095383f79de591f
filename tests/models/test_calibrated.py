"""A calibration that was measured is kept with the model, and gone by from the next start on, for that model alone."""

import asyncio
from typing import Any

import httpx
import pytest

from app.core.errors import Conflict, Forbidden, NotFound, Unavailable
from app.domain.calibration import Calibration
from app.domain.principal import ROLE_SCOPES, Principal
from tests.conftest import Tenant
from tests.doubles import openai_server as double
from tests.models.conftest import NEW, OLD, House, built, model_named

KEPT = Calibration(low=-1.0, high=1.0, duplicate=0.1, source="measured")
"""Whatever texts a host is asked about, they are near enough for their words to decide."""

SAME = ("Ada usually drinks green tea in the morning.", "In the morning Ada usually drinks green tea.")


def operator(tenant: Tenant) -> Principal:
    return Principal(tenant.id, tenant.id, "test", "operator", ROLE_SCOPES["operator"])


async def keep(tenant: Tenant, name: str, calibration: Calibration | None) -> None:
    await tenant.services.embedding_models.calibrate(operator(tenant), name, calibration)


async def merged(tenant: Tenant, api: httpx.AsyncClient) -> int:
    """How many memories a consolidation merges."""
    asked = await api.post("/v1/users/ada/consolidate", json={})
    assert asked.status_code == 202, asked.text
    await tenant.work()
    job = (await api.get(f"/v1/jobs/{asked.json()['job_id']}")).json()
    assert job["status"] == "succeeded", job
    return int(job["result"]["merged"])


async def shown(api: httpx.AsyncClient, name: str = OLD) -> dict[str, Any]:
    found: dict[str, Any] = (await model_named(api, name))["calibration"]
    return found


async def measured(tenant: Tenant, name: str) -> Calibration:
    found = await tenant.services.embedding_models.measure(operator(tenant), name, lambda _: None)
    return found.calibration


async def test_consolidation_goes_by_the_kept_threshold_after_a_restart(house: House) -> None:
    async with house.process() as tenant:
        api = await tenant.client("operator")
        answer = await api.post("/v1/memories", json={"memories": [{"text": t, "user_id": "ada"} for t in SAME]})
        assert answer.status_code == 201, answer.text
        await tenant.work()
        assert await merged(tenant, api) == 0
        assert await shown(api) == {
            "low": 0.0,
            "high": 1.0,
            "duplicate": 0.92,
            "source": "built_in",
            "measured_at": None,
        }
        await keep(tenant, OLD, KEPT)
    async with house.process(house.settings(embedding_similarity_low=0.0)) as tenant:
        api = await tenant.client("operator")
        assert await merged(tenant, api) == 0
        assert (await shown(api))["source"] == "settings"
    async with house.process() as tenant:
        api = await tenant.client("operator")
        found = await shown(api)
        assert found.pop("measured_at") is not None
        assert found == {"low": -1.0, "high": 1.0, "duplicate": 0.1, "source": "measured"}
        assert await merged(tenant, api) == 1


async def test_a_kept_calibration_is_one_models_and_forgotten_when_it_is_reset(house: House) -> None:
    async with house.process() as tenant:
        api = await tenant.client("operator")
        await built(tenant, api)
        await keep(tenant, NEW, KEPT)
        assert (await shown(api, NEW))["source"] == "measured"
        assert (await shown(api, OLD))["source"] == "built_in"
        await tenant.services.embedder.standing()
        assert tenant.services.embedder.calibration == Calibration()
        await keep(tenant, NEW, None)
        assert (await shown(api, NEW))["source"] == "built_in"


async def test_running_processes_follow_a_kept_calibration(house: House) -> None:
    async with house.process() as tenant, house.process() as other:
        assert other.services.embedder.calibration == Calibration()
        await keep(tenant, OLD, KEPT)
        await asyncio.sleep(other.services.embedder.settled_after)
        await other.services.embedder.standing()
        assert other.services.embedder.calibration == KEPT


async def test_a_process_that_cannot_load_a_model_shows_what_was_kept_of_it(house: House) -> None:
    async with house.process() as tenant, house.process(house.settings(also=False)) as poor:
        api = await tenant.client("operator")
        await built(tenant, api)
        elsewhere = await poor.client("operator")
        assert await shown(elsewhere, NEW) is None
        await keep(tenant, NEW, KEPT)
        assert (await shown(elsewhere, NEW))["source"] == "measured"


async def test_a_model_is_measured_before_it_is_registered_and_kept_after(house: House) -> None:
    async with house.process() as tenant:
        found = await measured(tenant, NEW)
        assert 0 <= found.low < 0.5 < found.high == 1.0
        with pytest.raises(NotFound, match="not registered"):
            await keep(tenant, NEW, found)


async def test_a_model_without_a_usable_measurement_is_refused(house: House) -> None:
    async with house.process() as tenant:
        house.old.otherwise = double.filled_with(1.0)
        with pytest.raises(Conflict, match="cannot be calibrated") as refused:
            await measured(tenant, OLD)
        assert refused.value.code == "calibration_unusable"
        house.old.otherwise = double.DOWN
        with pytest.raises(Unavailable, match="does not answer"):
            await measured(tenant, OLD)
        assert (await shown(await tenant.client("operator")))["source"] == "built_in"


async def test_only_operators_measure_and_keep(house: House) -> None:
    async with house.process() as tenant:
        admin = Principal(tenant.id, tenant.id, "test", "admin", ROLE_SCOPES["admin"])
        with pytest.raises(Forbidden):
            await tenant.services.embedding_models.calibrate(admin, OLD, KEPT)
        with pytest.raises(Forbidden):
            await tenant.services.embedding_models.measure(admin, OLD, lambda _: None)
