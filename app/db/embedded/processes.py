"""Processes of the machine, known by pid and birth, so that a reused pid is never mistaken for the old process."""

import ctypes
import os
import signal
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.core import clock

PR_SET_PDEATHSIG = 1
POLL_SECONDS = 0.02


def birth(pid: int) -> str | None:
    """When the process began, in clock ticks since boot; None if there is none, or only a zombie."""
    try:
        line = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    state, *fields = line.rpartition(")")[2].split()
    return None if state in {"Z", "X"} else fields[18]


def command_line(pid: int) -> list[str]:
    """The arguments the process was started with; empty if it cannot be read."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
    except OSError:
        return []


def pids() -> list[int]:
    """Every process that can be seen."""
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


@dataclass(frozen=True)
class Process:
    """One process, and no later one with the same number."""

    pid: int
    birth: str

    @classmethod
    def of(cls, pid: int) -> "Process | None":
        """The process that has this pid now."""
        born = birth(pid)
        return None if born is None else cls(pid, born)

    @property
    def alive(self) -> bool:
        """Whether it still runs; a zombie does not."""
        return birth(self.pid) == self.birth

    def send(self, number: signal.Signals) -> None:
        """Signal it, if it is still the same process."""
        if self.alive:
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:
                return


def gone(processes: Iterable[Process], seconds: float) -> bool:
    """Wait until none of them runs; False if some do after `seconds`."""
    left = list(processes)
    deadline = clock.monotonic() + seconds
    while left := [process for process in left if process.alive]:
        if clock.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


def stop(processes: Sequence[Process], steps: Sequence[tuple[signal.Signals, float]]) -> bool:
    """Send each signal in turn and wait its seconds, until none of the processes runs; False if some still do."""
    for number, seconds in steps:
        for process in processes:
            process.send(number)
        if gone(processes, seconds):
            return True
    return False


def bound_to_parent(death_signal: signal.Signals, *, block: Iterable[signal.Signals] = ()) -> Callable[[], None]:
    """What a child does between fork and exec so that it ends when the thread that started it does.

    Args:
        death_signal: What the kernel sends to the child when its parent is gone, even by `kill -9`.
        block: Signals the child never receives: a mask outlives exec and every later handler.
    """
    parent = os.getpid()
    libc = ctypes.CDLL(None)
    blocked = set(block)

    def bind() -> None:
        libc.prctl(PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        if os.getppid() != parent:  # it died before the kernel knew whom to tell
            os._exit(1)

    return bind
