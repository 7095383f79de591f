"""The README's commands, word for word, against the service that they start."""

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.core.ports import free_port
from app.db.embedded import processes
from app.settings import child_environment

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(420)]

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"<!-- run: (\w+) -->\n```bash\n(.*?)```", re.DOTALL)


def blocks(tag: str) -> list[str]:
    """The README's blocks of this tag, in order."""
    return [text for name, text in BLOCK.findall((ROOT / "README.md").read_text("utf-8")) if name == tag]


@pytest.fixture(scope="module")
def environment() -> Iterator[dict[str, str]]:
    """A port and a folder of this module's own; no trace of an outer make."""
    folder = tempfile.mkdtemp(prefix="mnemic-test-", dir="/tmp")
    given = {"PORT": str(free_port()), "DATA_DIR": folder, "DATABASE_URL": "", "MIGRATION_DATABASE_URL": ""}
    # The walk's answers are those before the worker has read the conversation, however slow the machine is.
    unread = {"EXTRACT_DEBOUNCE_SECONDS": "3600"}
    yield child_environment({**given, **unread, "MAKEFLAGS": "", "MAKELEVEL": "0"})
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def answers(environment: dict[str, str]) -> Iterator[list[dict[str, Any]]]:
    """What the walk prints: one JSON document after another."""
    up = subprocess.Popen(
        ["/bin/bash", "-c", "".join(blocks("up"))],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert up.stdout is not None
    try:
        while line := up.stdout.readline():
            if line.startswith("Mnemic is ready"):
                break
        else:
            pytest.fail(f"make up did not get ready: {up.communicate()[1]}")
        walk = subprocess.run(
            ["/bin/bash", "-euo", "pipefail", "-c", "".join(blocks("walk"))],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert walk.returncode == 0, walk.stdout + walk.stderr
        yield list(documents(walk.stdout))
    finally:
        up.terminate()  # make passes it on
        up.communicate(timeout=60)
        assert not group_members(up.pid)


def group_members(group: int) -> list[int]:
    return [pid for pid in processes.pids() if _group(pid) == group and processes.birth(pid) is not None]


def _group(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None


def documents(text: str) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder()
    while text := text.lstrip():
        document, end = decoder.raw_decode(text)
        text = text[end:]
        yield document


def test_the_two_commands_are_make_up_and_make_test() -> None:
    assert blocks("up") == ["make up\n"]
    assert blocks("test") == ["make test\n"]


def test_ci_calls_the_test_command_word_for_word() -> None:
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    assert blocks("test")[0] in script.splitlines(keepends=True)


def test_messages_of_the_walk_are_numbered_in_order(answers: list[dict[str, Any]]) -> None:
    assert [message["seq"] for message in answers[0]["results"]] == [1, 2, 3]


def test_an_english_question_of_the_walk_finds_the_chinese_memory(answers: list[dict[str, Any]]) -> None:
    assert answers[2]["results"][0]["text"] == answers[1]["text"] == "艾达喜欢喝绿茶,不喝咖啡。"


def test_a_chinese_question_of_the_walk_finds_the_english_memory_with_its_source(answers: list[dict[str, Any]]) -> None:
    hit = answers[3]["results"][0]
    assert hit["text"] == "Ada lives in Lisbon."
    assert hit["sources"][0]["seqs"] == [1]


def test_a_word_of_the_walk_is_found_in_its_message(answers: list[dict[str, Any]]) -> None:
    hit = answers[4]["results"][0]
    assert hit["type"] == "message"
    assert "花生" in hit["text"]


def test_history_of_the_walk_has_both_versions(answers: list[dict[str, Any]]) -> None:
    history = answers[6]["results"]
    assert [event["action"] for event in history] == ["added", "updated"]
    assert history[1]["before"]["text"] == "Ada lives in Lisbon."
    assert history[1]["after"]["text"] == "Ada lives in Lisbon, in Alfama."


def test_the_interrupted_trip_of_the_walk_goes_on_with_the_hotel(answers: list[dict[str, Any]]) -> None:
    assert [message["seq"] for message in answers[7]["results"]] == [1, 2]
    assert answers[8]["next_step"] == "hotel"


def test_the_lesson_of_the_walk_is_found_by_another_task(answers: list[dict[str, Any]]) -> None:
    assert answers[10]["lessons"][0]["id"] == answers[9]["lesson"]["id"]
    assert "User-Agent" in answers[10]["lessons"][0]["text"]
