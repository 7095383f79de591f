"""A running service as an operator meets it: logs, metrics, doctor, backup, the end of a process."""

import asyncio
import json
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from app.core import clock, ids
from app.core.ports import free_port
from app.settings import Settings, child_environment
from tests.conftest import Tenant

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

SECONDS = 60.0
# Nothing of this may be in a log: contents in both languages, in every place that takes some, and keys.
TEXTS = ("plantedcontent", "栽赃内容")


def until(happened: Callable[[], object], reason: Callable[[], str] = lambda: "it did not happen in time") -> None:
    deadline = time.monotonic() + SECONDS
    while not happened():
        assert time.monotonic() < deadline, reason()
        time.sleep(0.05)


@dataclass
class Up:
    """One `mnemic up`."""

    process: "subprocess.Popen[bytes]"
    folder: Path
    log: Path
    port: int
    metrics_port: int
    environment: dict[str, str]

    @property
    def key(self) -> str:
        return (self.folder / "admin.key").read_text().strip()

    def client(self, key: str | None = None) -> httpx.Client:
        headers = {"Authorization": f"Bearer {key or self.key}"}
        return httpx.Client(base_url=f"http://127.0.0.1:{self.port}", headers=headers, timeout=30)

    def run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        command = [self.environment["MNEMIC"], *arguments]
        return subprocess.run(
            command, env=self.environment, cwd=self.folder, capture_output=True, text=True, timeout=120, check=False
        )

    def logs(self) -> str:
        files = [self.log, *(self.folder / "pg" / "log").glob("*.log")]
        return "\n".join(file.read_text("utf-8", "replace") for file in files)


@pytest.fixture(scope="module")
def up(mnemic: str) -> Iterator[Up]:
    """The whole service, as talkative as it gets."""
    folder = Path(tempfile.mkdtemp(prefix="mnemic-test-", dir="/tmp"))
    port, metrics_port = free_port(), free_port()
    given = {"PORT": str(port), "DATA_DIR": str(folder), "METRICS_PORT": str(metrics_port), "LOG_LEVEL": "debug"}
    environment = {**child_environment({**given, "MNEMIC": mnemic, "DATABASE_URL": "", "MIGRATION_DATABASE_URL": ""})}
    log = folder / "stderr.log"
    with log.open("wb") as stderr:
        process = subprocess.Popen(
            [mnemic, "up"], env=environment, stdout=subprocess.PIPE, stderr=stderr, cwd=folder, start_new_session=True
        )
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b"Mnemic is ready"), log.read_text()
    yield Up(process, folder, log, port, metrics_port, environment)
    process.terminate()
    process.communicate(timeout=60)
    shutil.rmtree(folder)


def settled(client: httpx.Client) -> bool:
    jobs = client.get("/v1/jobs", params={"limit": 200}).json()["results"]
    return not [job for job in jobs if job["status"] in {"queued", "running"} and job["kind"] != "sweep"]


def test_logs_name_requests_and_jobs_and_never_contents_or_keys(up: Up) -> None:
    english, chinese = TEXTS
    wrong = f"mnk_{english}"
    with up.client() as client, up.client(wrong) as stranger:
        body = {"role": "user", "content": f"I said {english}, 我说{chinese}", "metadata": {english: chinese}}
        assert client.post("/v1/sessions/s1/messages", json={**body, "user_id": "ada"}).status_code == 201
        memory = {"text": f"{english} {chinese}", "user_id": "ada", "key": f"user.{english}", "value": chinese}
        client.post("/v1/memories", json=memory)
        client.post("/v1/memories/search", json={"query": f"{english} {chinese}", "user_id": "ada"})
        # What is refused is quoted by those who refuse it: the validator, the JSON reader, the database.
        client.post("/v1/memories", json={"text": f"{english}\0", "user_id": "ada"})
        client.post("/v1/memories", json={"text": {"not": english}, "user_id": "ada", english: chinese})
        client.post(
            "/v1/memories", content=f'{{"text": "{english}'.encode(), headers={"Content-Type": "application/json"}
        )
        client.get("/v1/memories", params={"user_id": "ada", english: chinese})
        client.get(f"/v1/{english}/{chinese}")
        stranger.get("/v1/sessions", headers={"X-API-Key": wrong})
        until(lambda: settled(client))
    told = up.logs()
    lines = [json.loads(line) for line in up.log.read_text().splitlines() if line.startswith("{")]
    assert {"search_memories", None} <= {line["route"] for line in lines if line["event"] == "request"}
    assert {line["event"] for line in lines} >= {"request", "worker_ready"}
    assert up.key not in told
    for planted in (*TEXTS, json.dumps(TEXTS[1])[1:-1]):
        assert planted not in told, next(line for line in told.splitlines() if planted in line)


def test_api_and_worker_give_metrics_on_ports_of_their_own(up: Up) -> None:
    with up.client() as client:
        client.post("/v1/sessions/s2/messages", json={"role": "user", "content": "tea 茶", "user_id": "bo"})
        until(lambda: settled(client))
        assert client.get("/metrics").status_code == 404
    api = httpx.get(f"http://127.0.0.1:{up.metrics_port}/metrics").text
    worker = httpx.get(f"http://127.0.0.1:{up.metrics_port + 1}/metrics").text
    assert 'mnemic_http_requests_total{method="POST",route="/v1/sessions/{session_id}/messages",status="201"}' in api
    assert 'mnemic_job_runs_total{kind="embed_messages",outcome="done"}' in worker
    assert 'mnemic_embedding_calls_total{input="passage",outcome="ok"}' in worker
    assert "mnemic_database_up 1.0" in api
    assert "mnemic_database_up 1.0" in worker


def test_doctor_beside_a_running_service_finds_it_well(up: Up) -> None:
    told = up.run("doctor", "--json")
    findings = {finding["check"]: finding for finding in json.loads(told.stdout)}
    assert told.returncode == 0, findings
    assert {finding["verdict"] for name, finding in findings.items() if name != "disk"} == {"ok"}
    assert len(findings) == 12


def test_backup_beside_a_running_service_is_restored_into_a_new_folder(up: Up) -> None:
    with up.client() as client:
        client.post("/v1/memories", json={"text": "Ada lives in Lisbon.", "user_id": "ada"})
    made = up.run("backup", "today.backup")
    assert made.returncode == 0, made.stderr
    assert "Backed up" in made.stdout
    again = up.run("backup", "today.backup")
    assert (again.returncode, "never overwrites" in again.stderr) == (2, True)
    busy = up.run("restore", "today.backup", "--replace")
    assert (busy.returncode, "in use" in busy.stderr) == (2, True)
    fresh = Path(tempfile.mkdtemp(prefix="mnemic-test-", dir="/tmp"))
    try:
        restored = up.run("restore", "today.backup", "--data-dir", str(fresh))
        assert restored.returncode == 0, restored.stderr
        assert "Restored" in restored.stdout
    finally:
        shutil.rmtree(fresh)


async def test_request_in_flight_at_sigterm_gets_its_answer(tenant: Tenant, settings: Settings, mnemic: str) -> None:
    async with tenant.services.uow.begin_tenant(tenant.id) as tx:
        job_id = await tx.jobs.enqueue("embed_messages", f"nobody-{ids.new_id()}", clock.now() + timedelta(days=1))
    port, key = free_port(), await tenant.key()
    dsn = settings.database_url.get_secret_value()  # type: ignore[union-attr]
    environment = child_environment({"DATABASE_URL": dsn, "PORT": str(port), "MIGRATION_DATABASE_URL": ""})
    process = await asyncio.create_subprocess_exec(mnemic, "serve", env=environment, cwd="/", stderr=subprocess.PIPE)
    url = f"http://127.0.0.1:{port}"
    async with httpx.AsyncClient(base_url=url, headers={"X-API-Key": key}, timeout=30) as client:
        await until_ready(client)
        waiting = asyncio.create_task(client.get(f"/v1/jobs/{job_id}", params={"wait": 3}))
        await until_in_flight(client)
        process.send_signal(signal.SIGTERM)
        await until_refused(url)
        assert not waiting.done()
        answer = await waiting
    _, told = await asyncio.wait_for(process.communicate(), 30)
    assert answer.status_code in {200, 202}
    assert answer.json()["status"] == "queued"
    assert process.returncode in {0, -signal.SIGTERM}
    assert b"Traceback" not in told


async def until_ready(client: httpx.AsyncClient) -> None:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        try:
            if (await client.get("/readyz")).status_code == 200:
                return
        except httpx.TransportError:
            pass
        await asyncio.sleep(0.05)
    pytest.fail("the API did not get ready")


async def until_in_flight(client: httpx.AsyncClient) -> None:
    deadline = time.monotonic() + SECONDS
    while "mnemic_http_requests_in_flight 2.0" not in (await client.get("/metrics")).text:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.05)


async def until_refused(url: str) -> None:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        try:
            async with httpx.AsyncClient() as newcomer:
                await newcomer.get(f"{url}/healthz")
        except httpx.TransportError:
            return
        await asyncio.sleep(0.02)
    pytest.fail("the API still takes requests")
