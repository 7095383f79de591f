"""Ports of this machine that a server can be given and find again later."""

import random
import socket
from pathlib import Path

HOST = "127.0.0.1"
RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
LOWEST = 15_000
ATTEMPTS = 100


def free_port() -> int:
    """A TCP port on loopback that nobody listens on at the moment, and that no outgoing connection is given either.

    The kernel gives connections their own ports out of a range of its own; a server that comes back to a port inside
    it may find somebody's connection there.
    """
    below = _lowest_of_connections()
    # Not for secrets: two processes that choose at once should not choose the same one.
    candidates = [random.randrange(LOWEST, below) for _ in range(ATTEMPTS)] if below > LOWEST else []  # noqa: S311
    for port in (*candidates, 0):
        with socket.socket() as probe:
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise OSError(f"No port is free on {HOST}.")


def _lowest_of_connections() -> int:
    """Where the kernel's range begins; 0 on machines that do not say."""
    try:
        return int(RANGE.read_text(encoding="ascii").split()[0])
    except (OSError, ValueError, IndexError):
        return 0
