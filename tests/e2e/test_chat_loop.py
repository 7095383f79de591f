"""The chat loop of the README, as a stranger would run it, against the real service and a scripted model."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.settings import child_environment
from tests.doubles.language_model import LanguageModelHost
from tests.doubles.scripted_host import Body, Request, serving
from tests.e2e.conftest import House

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

ROOT = Path(__file__).parents[2]


class Answering(LanguageModelHost):
    """Says how many messages it was given, and what the last one was."""

    def ordinary(self, request: Request) -> Body:
        given = request.body["messages"]
        self.content = f"{len(given)} messages, the last: {given[-1]['content']}"
        return super().ordinary(request)


@pytest.fixture
def host() -> Iterator[Answering]:
    made = Answering()
    with serving(made):
        yield made


@pytest.mark.parametrize(
    ("session", "said", "asked"),
    [
        ("chat-en", "Please never suggest a place with stairs.", "Where should we have dinner tomorrow?"),
        ("chat-zh", "请绝对不要推荐有楼梯的地方。", "明天晚饭去哪里吃?"),
    ],
)
def test_a_chat_goes_on_in_a_second_process_and_the_model_sees_what_was_said_in_the_first(
    served: House, host: Answering, session: str, said: str, asked: str
) -> None:
    key = (served.data_dir / "admin.key").read_text().strip()

    def chat(*lines: str) -> list[str]:
        command = [sys.executable, ROOT / "examples" / "chat_loop.py", "--url", served.url, "--key", key]
        model = ["--model-url", host.url, "--model", "double", "--session", session, "--user", session]
        done = subprocess.run(
            [*command, *model],
            input="\n".join([*lines, "", ""]),
            capture_output=True,
            text=True,
            timeout=120,
            env=child_environment({"PYTHONIOENCODING": "utf-8"}),
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    assert len(chat(said, *["OK, 好的。"] * 3)) == 4
    (answer,) = chat(asked)
    assert answer.endswith(f"the last: {asked}")
    given = host.requests[-1].body["messages"]
    assert given[-1] == {"role": "user", "content": asked}
    assert any(said in message["content"] for message in given)
    with served.client() as client:
        stored = client.get(f"/v1/sessions/{session}/messages").json()["results"]
    assert [message["role"] for message in stored] == ["user", "assistant"] * 5
