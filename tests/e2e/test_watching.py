"""The watch over the whole test run sees what processes of the service ask of other machines, and only that."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import watching

CALLING = """
import socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
    one.connect((sys.argv[1], 9))
"""


def called(folder: Path, name: str, host: str) -> list[str]:
    """What is noted of a script of this name that calls this host; it sends nothing."""
    calls = watching.begin()
    script = folder / name
    script.write_text(CALLING)
    subprocess.run([sys.executable, str(script), host], check=False)
    return watching.calls_elsewhere(calls)


@pytest.mark.parametrize(
    ("name", "host", "noted"), [("mnemic", "192.0.2.1", 1), ("mnemic", "127.0.0.1", 0), ("other", "192.0.2.1", 0)]
)
def test_a_call_of_the_service_to_another_machine_is_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, host: str, noted: int
) -> None:
    for variable in ("PYTHONPATH", "WATCHED_CALLS_OF_ALL"):
        monkeypatch.setenv(variable, os.environ.get(variable, ""))  # noqa: TID251 - restored afterwards
    assert len(called(tmp_path, name, host)) == noted
