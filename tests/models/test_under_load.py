"""A switch while everybody writes and searches, and a worker that is killed in the middle of re-embedding."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from app.settings import Settings
from tests.conftest import Tenant
from tests.databases import fetch
from tests.models.conftest import NEW, OLD, SAID, House, activate, built, model_named, tell

QUESTIONS = [*((question, place) for place, (_, question) in enumerate(SAID))]
BY_MEANING = {"legs": {"lexical": 0, "key": 0, "time": 0}, "top_k": 3}


async def quality(api: httpx.AsyncClient, told: list[str], faults: list[str]) -> float:
    """The share of the labelled questions whose answer is among the first three, by meaning alone."""
    hits = 0
    for question, place in QUESTIONS:
        answer = await api.post("/v1/memories/search", json={"query": question, "user_id": "ada", **BY_MEANING})
        if answer.status_code != 200 or answer.json()["degraded"]:
            faults.append(answer.text)
            continue
        hits += told[place] in [hit["id"] for hit in answer.json()["results"]]
    return hits / len(QUESTIONS)


async def write(client: httpx.AsyncClient, number: int, most: int, stop: asyncio.Event, faults: list[str]) -> int:
    """Write memories and messages until there are enough; how many of each."""
    written = 0
    while not stop.is_set() and written < most:
        text = f"备忘 {number}-{written}: item {written} is in drawer {number}."
        said = {"user_id": f"w{number}", "role": "user", "content": text}
        answers = (
            await client.post("/v1/memories", json={"text": text, "user_id": f"w{number}"}),
            await client.post(f"/v1/sessions/w{number}/messages", json=said),
        )
        faults += [one.text for one in answers if one.status_code != 201 or one.json().get("degraded")]
        written += 1
    return written


async def switched(tenant: Tenant, api: httpx.AsyncClient, model_id: int) -> None:
    """Activate; what writes of processes that had not followed yet left out is built first."""
    for _ in range(20):
        answer = await activate(api, model_id)
        if answer.status_code == 200:
            return
        assert answer.json()["code"] == "model_incomplete"
        await api.post(f"/v1/admin/embedding-models/{model_id}/build")
        await tenant.work()
    raise AssertionError(answer.text)


async def test_a_switch_under_load_loses_no_request_no_vector_and_no_quality(house: House, full_size: bool) -> None:
    writers, most = (8, 400) if full_size else (2, 12)
    async with house.process() as tenant, house.process(house.settings(first=NEW)) as other:
        api = await tenant.client("operator")
        clients = [await one.client("operator") for one in (tenant, other)]
        told = await tell(api)
        await tenant.work()
        faults: list[str] = []
        before = await quality(api, told, faults)
        stop, seen = asyncio.Event(), list[float]()

        async def ask(number: int) -> None:
            while not stop.is_set():
                seen.append(await quality(clients[number], told, faults))

        tasks = [
            asyncio.create_task(write(clients[number % 2], number, most, stop, faults)) for number in range(writers)
        ]
        asking = [asyncio.create_task(ask(number)) for number in range(2)]
        model_id = await built(tenant, api)
        await switched(tenant, api, model_id)
        await asyncio.sleep(2 * tenant.services.embedder.settled_after)
        written = await asyncio.gather(*tasks)
        stop.set()
        await asyncio.gather(*asking)
        after = await quality(clients[1], told, faults)
        await tenant.work()
        assert faults == []
        assert min(written) > 0
        assert (after, after > before) == (1.0, True)
        assert min(seen) >= min(before, after)
        assert await house.without(NEW) == 0
        assert await house.without(OLD) == 0


def environment(settings: Settings) -> dict[str, str]:
    """A child's settings."""
    (also,) = settings.embedding_also
    return {
        **os.environ,  # noqa: TID251 - a child's environment
        "DATABASE_URL": settings.database_url.get_secret_value() if settings.database_url else "",
        "MIGRATION_DATABASE_URL": settings.migration_database_url.get_secret_value()
        if settings.migration_database_url
        else "",
        "EMBEDDING_PROVIDER": "openai",
        "EMBEDDING_BASE_URL": str(settings.embedding_base_url),
        "EMBEDDING_MODEL": str(settings.embedding_model),
        "EMBEDDING_ALSO": f'[{{"provider": "openai", "base_url": "{also.base_url}", "model": "{also.model}"}}]',
        "EMBEDDING_FOLLOW_SECONDS": "0.1",
        "REEMBED_TEXTS_PER_SECOND": "200",
        "JOB_HEARTBEAT_SECONDS": "1",
        "SWEEP_SECONDS": "1",
        "LOG_LEVEL": "error",
    }


@contextmanager
def running(command: list[str], given: dict[str, str]) -> Iterator["subprocess.Popen[bytes]"]:
    """A process of Mnemic's for as long as the block lasts."""
    with subprocess.Popen([sys.executable, "-P", "-m", "app.cli", *command], env=given) as process:
        try:
            yield process
        finally:
            process.kill()
            process.wait(30)


@pytest.mark.timeout(180)
async def test_a_worker_that_is_killed_while_it_reembeds_is_resumed_without_a_trace(
    house: House, full_size: bool, tmp_path: Path
) -> None:
    if not full_size:
        pytest.skip("a process of its own is killed: make soak; a host that goes away and comes back is tried always")
    memories, kills = 3_000, 4  # one less than the attempts that a job has
    async with house.process(tenant_name="default") as tenant:
        api = await tenant.client("operator")
        await tell(api)
        for start in range(0, memories, 100):
            many = [{"text": f"笔记 {n}: shelf {n % 7}", "user_id": "bob"} for n in range(start, start + 100)]
            assert (await api.post("/v1/memories", json={"memories": many})).status_code == 201
        await tenant.work()
        assert (await api.post("/v1/admin/embedding-models", json={"name": NEW})).status_code == 202
        given = environment(house.settings())
        for number in range(1, kills + 1):
            with running(["worker"], given) as worker:
                reached = await asyncio.to_thread(house.new.wait_for, lambda at=number: embedded_by(house) >= 128 * at)
                assert reached
                worker.send_signal(signal.SIGKILL)
        assert (await model_named(api, NEW))["status"] == "building"
        questions = tmp_path / "questions.txt"
        questions.write_text("\n".join(question for question, _ in QUESTIONS), "utf-8")
        with running(["worker"], given):
            done = await command("reembed", NEW, "--switch", given=given)
            assert "its status is active" in done
        compared = await command("compare-embeddings", OLD, "--queries", str(questions), "--user", "ada", given=given)
        assert "overlap@10 of 6 questions" in compared
        assert await house.without(NEW) == 0
        rows = await fetch(
            house.place.superuser_dsn,
            "SELECT memory_id, count(*) FROM memory_vectors GROUP BY 1 HAVING count(*) <> 2",
        )
        assert rows == []
        repeated = embedded_by(house) - await house.vectors(NEW)
        assert 0 <= repeated <= 128 * (kills + 1)


def embedded_by(house: House) -> int:
    """Texts that the new model's host has been sent."""
    return sum(len(texts) for texts in list(house.new.texts))


async def command(*arguments: str, given: dict[str, str]) -> str:
    """What a command prints; it must end well."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "app.cli", *arguments),
        env=given | {"COLUMNS": "200"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(), 100)
    assert process.returncode == 0, err.decode()
    return out.decode()
