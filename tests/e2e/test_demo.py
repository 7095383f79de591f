"""`make demo`: the real service on a temporary folder, and nothing of it afterwards."""

import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.db.embedded import processes
from app.settings import child_environment
from examples.demo import OWN, read

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

ROOT = Path(__file__).parents[2]


@pytest.fixture
def temporary() -> Iterator[Path]:
    """Where a demo makes its folder: PostgreSQL's account must be able to reach it, so not under pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="mnemic-test-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def start(temporary: Path, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, ROOT / "examples" / "demo.py", *arguments],
        env=child_environment({"PYTHONUNBUFFERED": "1", "COLUMNS": "120", "TMPDIR": str(temporary)}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509 - as in a terminal
    )


def left(temporary: Path) -> list[str]:
    """Files in the folder, and processes that were told of it."""
    marker = str(temporary)
    working = [str(pid) for pid in processes.pids() if any(marker in part for part in processes.command_line(pid))]
    return [*(path.name for path in temporary.iterdir()), *working]


def test_own_conversation_has_both_languages_and_every_evidence_turn_exists() -> None:
    for conversation in read(OWN):
        turns = {message["external_id"] for messages in conversation.sessions.values() for message in messages}
        assert len(turns) == conversation.turns == 40
        assert all(question.evidence and question.evidence <= turns for question in conversation.questions)
        assert any(question.text.isascii() for question in conversation.questions)
        assert not all(question.text.isascii() for question in conversation.questions)


def test_demo_finds_the_answers_and_leaves_nothing_behind(temporary: Path) -> None:
    demo = start(temporary)
    out, _ = demo.communicate(timeout=200)
    assert demo.returncode == 0, out
    assert int(out.rpartition(" of 16 questions")[0].split()[-1]) >= 13, out
    assert not left(temporary)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_demo_leaves_nothing_behind(temporary: Path, number: signal.Signals, full_size: bool) -> None:
    if not full_size:
        pytest.skip("a start of the whole service for each signal: make soak")
    demo = start(temporary)
    assert demo.stdout is not None
    assert any(line.startswith("It serves at") for line in demo.stdout)
    assert left(temporary)
    demo.send_signal(number)
    out, _ = demo.communicate(timeout=100)
    assert demo.returncode == 130, out
    assert "Traceback" not in out
    assert not left(temporary)


def test_file_in_another_format_is_refused_before_anything_starts(temporary: Path) -> None:
    file = temporary / "notes.json"
    file.write_text('[{"text": "hello"}]', "utf-8")
    demo = start(temporary, "--data", str(file))
    out, _ = demo.communicate(timeout=60)
    assert demo.returncode == 1
    assert "not in LoCoMo's format" in out
    assert "Traceback" not in out
    assert left(temporary) == [file.name]
