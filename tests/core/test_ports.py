"""A server's port is one that nobody has and that no connection will be given."""

import socket
from pathlib import Path

import pytest

from app.core import ports


def test_port_is_below_those_that_the_kernel_gives_to_connections() -> None:
    below = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    assert all(ports.LOWEST <= ports.free_port() < below for _ in range(50))


def test_port_that_somebody_listens_on_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", ports.free_port())) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(ports, "LOWEST", port)
        monkeypatch.setattr(ports, "_lowest_of_connections", lambda: port + 1)
        assert ports.free_port() != port


def test_machine_that_does_not_name_its_range_gives_a_free_port_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(ports, "RANGE", tmp_path / "nothing")
    with socket.create_server(("127.0.0.1", ports.free_port())):
        pass
