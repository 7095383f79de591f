"""A dream is dreamt once, whoever is killed in the middle of it."""

from uuid import uuid4

import httpx
import pytest

from tests.e2e.conftest import House, until
from tests.e2e.test_forgetting_under_fire import NAMES, kill_worker
from tests.e2e.test_under_fire import rows

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1800)]


def test_a_worker_killed_in_a_dream_does_nothing_twice_and_all_of_it_is_undone(
    served: House, api: httpx.Client, full_size: bool
) -> None:
    if not full_size:
        pytest.skip("a process of its own is killed: make soak; kills within the process are tried always")
    user = f"dreamer-{uuid4()}"
    wordings = ("{} usually drinks green tea in the morning.", "In the morning {} usually drinks green tea.")
    plans = [f"{name} 下周去新加坡" for name in NAMES]
    for texts in (*([wording.format(name) for name in NAMES] for wording in wordings), plans):
        body = {"memories": [{"text": text, "user_id": user} for text in texts]}
        api.post("/v1/memories", json=body).raise_for_status()
    owned = "SELECT text, seen_count FROM memories WHERE user_id = $1 AND status = 'active' ORDER BY text"
    before = [tuple(row) for row in rows(served, owned, user)]
    asked = api.post(f"/v1/users/{user}/dream", json={}).raise_for_status().json()

    def state() -> str:
        found: str = api.get(f"/v1/jobs/{asked['job_id']}").raise_for_status().json()["status"]
        return found

    done = "SELECT 1 FROM memory_events WHERE job_id = $1::uuid LIMIT 1"
    until(lambda: state() == "succeeded" or rows(served, done, asked["job_id"]), 120)
    kill_worker(served)
    until(lambda: state() == "succeeded", 120)
    result = api.get(f"/v1/jobs/{asked['job_id']}").raise_for_status().json()["result"]
    assert result["counts"] == {"merged": len(NAMES), "superseded": len(NAMES), "dated": len(NAMES)}
    api.post("/v1/undo", json={"undo_id": asked["undo_id"]}).raise_for_status()
    assert [tuple(row) for row in rows(served, owned, user)] == before
