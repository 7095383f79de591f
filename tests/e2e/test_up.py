"""`mnemic up` as its user meets it: first start, warm start, end, and what it refuses."""

import logging
import os
import signal
import socket
from pathlib import Path

import pytest

from app.core.ports import free_port
from tests.e2e.conftest import House, belonging

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

measured = logging.getLogger(__name__)
"""Shown by `pytest --log-cli-level=info`."""

CHATTER = ("alembic", "setup plugin", "Context impl", "Traceback", "pgqueuer", "Uvicorn", "Started server")


def test_first_start_serves_and_says_so_in_one_line(house: House) -> None:
    first = house.first
    assert first is not None
    measured.info("first start: ready after %.1f s", first.seconds)
    assert not first.ready_without_key
    assert first.key_modes == {0o600}
    key = house.data_dir / "admin.key"
    assert first.command.out.read_text() == f"Mnemic is ready: {house.url} (docs: /docs, admin key: {key})\n"
    said = first.command.err.read_text().splitlines()
    assert [line for line in said if any(word in line for word in CHATTER)] == []


def test_ctrl_c_leaves_nothing_behind_and_the_next_start_answers(served: House) -> None:
    served.command.signal_group(signal.SIGINT)
    code, _, err = served.command.ended()
    assert code == 0
    assert not [line for line in err if "Traceback" in line]
    assert belonging(served.data_dir) == []
    served.start()
    pids = [served.command.process.pid, *served.children().values()]
    busy = sum(processor_seconds(pid) for pid in pids)
    with served.client() as client:
        found = client.post("/v1/memories/search", json={"query": "where do I live", "user_id": "ada"})
        assert found.status_code == 200
    status = Path(f"/proc/{served.children()['serve']}/status").read_text()
    resident = int(status.split("VmRSS:")[1].split()[0]) // 1024
    wall = served.seconds_to_ready
    measured.info("warm start: %.1f s, %.1f s of processor; the API holds %d MB", wall, busy, resident)
    assert resident < 400


def processor_seconds(pid: int) -> float:
    """What a process has used of the processors, which does not depend on who else uses them."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / float(os.sysconf("SC_CLK_TCK"))


def test_sigterm_leaves_no_process_behind(served: House) -> None:
    served.command.process.terminate()
    code, out, err = served.command.ended()
    assert (code, len(out.splitlines())) == (0, 1)
    assert not [line for line in err if "Traceback" in line]
    assert belonging(served.data_dir) == []


def test_second_up_on_one_folder_is_refused_in_one_line(served: House) -> None:
    code, out, err = served.run("up", "--data-dir", str(served.data_dir), "--port", str(free_port()))
    assert (code, out, len(err)) == (2, "", 1)
    assert f"{served.data_dir} is in use" in err[0]
    with served.client() as client:
        assert client.get("/readyz").status_code == 200


def test_taken_port_is_refused_in_one_line(house: House) -> None:
    folder = house.scratch / "not made"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, out, err = house.run("up", "--data-dir", str(folder), "--port", str(port))
    assert (code, out, len(err)) == (2, "", 1)
    assert f"Port {port} on 127.0.0.1 cannot be used" in err[0]
