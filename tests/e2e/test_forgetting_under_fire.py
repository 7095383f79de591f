"""What expires and what is merged is so once, whoever is killed in the middle of it."""

import os
import signal
from uuid import uuid4

import httpx
import pytest

from benchmarks.expiry import measured
from benchmarks.instance import temporary_instance
from tests.e2e.conftest import House, until
from tests.e2e.test_under_fire import rows

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1800)]

NAMES = [first + last for first in ("Mi", "Lo", "Ta", "Ne", "Su") for last in ("ra", "no", "la", "vi", "do")]


def kill_worker(house: House) -> None:
    until(lambda: house.children().get("worker", 0), 60)
    os.kill(house.children()["worker"], signal.SIGKILL)


def test_a_worker_killed_in_consolidation_and_in_the_sweep_repeats_nothing(
    served: House, api: httpx.Client, full_size: bool
) -> None:
    if not full_size:
        pytest.skip("a process of its own is killed: make soak; kills within the process are tried always")
    user = f"merged-{uuid4()}"
    wordings = ("{} usually drinks green tea in the morning.", "In the morning {} usually drinks green tea.")
    for wording in wordings:
        body = {"memories": [{"text": wording.format(name), "user_id": user} for name in NAMES]}
        api.post("/v1/memories", json=body).raise_for_status()
    asked = api.post(f"/v1/users/{user}/consolidate", json={}).raise_for_status().json()

    def state() -> str:
        found: str = api.get(f"/v1/jobs/{asked['job_id']}").raise_for_status().json()["status"]
        return found

    until(lambda: state() in {"running", "succeeded"}, 60)
    kill_worker(served)
    until(lambda: state() == "succeeded", 120)
    left = rows(served, "SELECT seen_count FROM memories WHERE user_id = $1 AND status = 'active'", user)
    assert [row["seen_count"] for row in left] == [2] * len(NAMES)
    api.post("/v1/undo", json={"undo_id": asked["undo_id"]}).raise_for_status()
    back = rows(served, "SELECT seen_count FROM memories WHERE user_id = $1 AND status = 'active'", user)
    assert [row["seen_count"] for row in back] == [1] * 2 * len(NAMES)

    items = [{"text": f"code {n} 验证码", "user_id": user, "ttl": 1} for n in range(900)]
    api.post("/v1/memories", json={"memories": items}).raise_for_status()
    until(lambda: rows(served, "SELECT 1 FROM memories WHERE user_id = $1 AND status = 'expired'", user), 60)
    kill_worker(served)
    unmarked = "SELECT 1 FROM memories WHERE user_id = $1 AND expires_at IS NOT NULL AND status = 'active'"
    until(lambda: not rows(served, unmarked, user), 120)
    twice = rows(
        served,
        "SELECT memory_id FROM memory_events e JOIN memories m ON m.id = e.memory_id "
        "WHERE m.user_id = $1 AND action = 'expired' GROUP BY memory_id HAVING count(*) > 1",
        user,
    )
    assert twice == []
    counted = rows(served, "SELECT memory_count FROM owner_stats WHERE owner = $1", f"u:{user}")
    assert counted[0]["memory_count"] == 2 * len(NAMES)


def test_searches_go_on_as_usual_while_100_000_expired_memories_are_swept(full_size: bool) -> None:
    if not full_size:
        pytest.skip("make soak: it takes minutes to load them")
    with temporary_instance() as instance:
        found = measured(instance, 100_000)
    assert found.seen == 0
    assert (found.attempts, found.errors) == (1, 0)
    assert found.swept_p95 <= 1.5 * found.quiet_p95 + 10
