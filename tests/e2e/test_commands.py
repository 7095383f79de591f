"""The other commands, beside a running `up` and on a database of the operator's own."""

import json
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

import httpx
import pytest

from app.core.ports import free_port
from tests.e2e.conftest import Command, House, append, until

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]


def test_keys_are_made_listed_and_revoked_beside_a_running_service(served: House) -> None:
    where = ("--data-dir", str(served.data_dir))
    code, out, _ = served.run("keys", "create", "beside", "--role", "member", *where)
    assert code == 0
    made = json.loads(out)
    with served.client(made["key"]) as client:
        assert append(client, "keys", "with a new key").status_code == 201
        code, out, _ = served.run("keys", "list", *where, COLUMNS="240")
        assert code == 0
        assert made["id"] in out
        assert made["key"] not in out
        code, out, _ = served.run("keys", "revoke", made["id"], *where)
        assert (code, out.strip()) == (0, "Revoked.")
        until(lambda: append(client, "keys", "still?").status_code == 401, 15)
    code, _, err = served.run("keys", "revoke", made["id"], *where)
    assert (code, err) == (2, ["mnemic: There is no such key, or it is revoked already."])


@pytest.mark.parametrize("role", ["serve", "worker"])
def test_superuser_is_refused_in_one_line(served: House, role: str) -> None:
    dsn = served.addresses().superuser_dsn
    migrator = served.addresses().migrator_dsn
    code, out, err = served.run(
        role, DATABASE_URL=dsn, MIGRATION_DATABASE_URL=migrator, PORT=str(free_port()), DATA_DIR=str(served.data_dir)
    )
    assert (code, out, len(err)) == (2, "", 1), err
    assert "is a superuser, so tenants would not be isolated" in err[0]


def test_command_without_a_database_says_what_to_do(house: House) -> None:
    code, out, err = house.run("serve", PORT=str(free_port()), DATA_DIR=str(house.scratch / "nothing"))
    assert (code, out, len(err)) == (2, "", 1), err
    assert "DATABASE_URL is not set" in err[0]


@contextmanager
def forwarded(port: int, target: int) -> Iterator[None]:
    """A database that appears on a port: connections are passed on to another."""
    open_sockets: list[socket.socket] = []

    def pass_on(source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while piece := source.recv(65536):
                sink.sendall(piece)
        with suppress(OSError):
            sink.shutdown(socket.SHUT_RDWR)

    def accept(listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                near, _ = listener.accept()
                far = socket.create_connection(("127.0.0.1", target))
                open_sockets.extend((near, far))
                for pair in ((near, far), (far, near)):
                    threads.append(threading.Thread(target=pass_on, args=pair))
                    threads[-1].start()

    threads: list[threading.Thread] = []
    with socket.create_server(("127.0.0.1", port)) as listener:
        accepting = threading.Thread(target=accept, args=(listener,))
        accepting.start()
        yield
        listener.shutdown(socket.SHUT_RDWR)
        accepting.join(10)
    for one in open_sockets:
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
    for thread in threads:
        thread.join(10)
    for one in open_sockets:
        one.close()


def answers(ask: Callable[[], httpx.Response], status: int) -> bool:
    try:
        return ask().status_code == status
    except httpx.TransportError:
        return False


def test_serve_waits_for_a_database_that_is_not_there_yet(served: House) -> None:
    nowhere, port = free_port(), free_port()
    real = urlsplit(served.addresses().app_dsn)
    dsn = real._replace(netloc=real.netloc.replace(f":{real.port}", f":{nowhere}")).geturl()
    variables = {"DATABASE_URL": dsn, "MIGRATION_DATABASE_URL": served.addresses().migrator_dsn, "PORT": str(port)}
    api = Command([served.mnemic, "serve"], served.scratch, variables)
    worker = Command([served.mnemic, "worker"], served.scratch, variables)
    key = (served.data_dir / "admin.key").read_text().strip()
    headers = {"Authorization": f"Bearer {key}"}
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=20, trust_env=False) as client:
            until(lambda: answers(lambda: client.get("/healthz"), 200), 60)
            refused = append(client, "waiting", "text")
            assert (refused.status_code, refused.json()["code"]) == (503, "database_unavailable")
            assert client.get("/readyz").status_code == 503
            until(lambda: "worker_waits" in worker.err.read_text(), 60)
            with forwarded(nowhere, real.port or 0):
                until(lambda: answers(lambda: append(client, "waiting", "text"), 201), 30)
                assert client.get("/readyz").status_code == 200
                until(lambda: "worker_ready" in worker.err.read_text(), 30)
                for command in (api, worker):
                    command.process.terminate()
                assert [command.ended()[0] in {0, -signal.SIGTERM} for command in (api, worker)] == [True, True]
    finally:
        api.end()
        worker.end()
    assert worker.err.read_text().count("worker_waits") == 1
    assert not any("Traceback" in command.err.read_text() for command in (api, worker))
