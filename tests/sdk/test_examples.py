"""The example agents run, and one that is killed between two steps goes on where it was."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from app.settings import child_environment
from examples import langgraph_agent, openai_agents_session, session_memory
from mnemic_client import Mnemic
from mnemic_client.langgraph import MnemicSaver

AGENT = Path(langgraph_agent.__file__)

pytestmark = pytest.mark.timeout(120)


def killed(live: str, api_key: str, *arguments: str) -> list[str]:
    """Run the graph in a process that dies by itself; the nodes that ran before."""
    command = [sys.executable, str(AGENT), "--url", live, "--key", api_key, *arguments]
    ended = subprocess.run(command, check=False, capture_output=True, env=child_environment({}))
    assert ended.returncode == 9, ended.stderr.decode()
    return [json.loads(line)["node"] for line in ended.stdout.splitlines()]


async def test_a_graph_killed_between_steps_resumes_where_it_was_and_travels_in_time(
    live: str, api_key: str, capfd: pytest.CaptureFixture[str]
) -> None:
    def done(command: str, answer: str | None = None) -> tuple[list[str], dict[str, Any]]:
        """Run the graph here; the nodes that ran, and the state after them."""
        capfd.readouterr()
        with MnemicSaver(live, api_key) as saver:
            state = langgraph_agent.run(langgraph_agent.agent(saver), "trip", command, answer)
        lines = [line for line in capfd.readouterr().out.splitlines() if line.startswith('{"node"')]
        return [json.loads(line)["node"] for line in lines], state

    assert await asyncio.to_thread(killed, live, api_key, "plan", "--die-in", "plan") == []
    ran, state = await asyncio.to_thread(done, "plan")
    assert (ran, state["next"], state["asked"]) == (["plan"], ["ask"], ["How do you want to travel? 你想怎么去？"])
    answer = ("answer", "--answer", "train", "--die-in", "pay")
    assert await asyncio.to_thread(killed, live, api_key, *answer) == ["reserve"]
    ran, state = await asyncio.to_thread(done, "answer")
    assert ran == ["pay", "tell"]
    expected = {"next": [], "asked": [], "done": ["plan", "ask", "tell"], "booked": ["reserve", "pay"]}
    assert state == expected | {"way": "train"}
    ran, state = await asyncio.to_thread(done, "again", "car")
    assert ran == ["reserve", "pay", "tell"]
    assert state == expected | {"way": "car"}
    _, history = await asyncio.to_thread(done, "history")
    assert {past["way"] for past in history["history"]} == {"train", "car", None}


async def test_the_agents_session_example_keeps_the_corrected_conversation(
    live: str, api_key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    await openai_agents_session.talk(live, api_key)
    assert [json.loads(line)["content"] for line in capsys.readouterr().out.splitlines()] == [
        "Book a table for two. 订两个人的桌子。",
        "For tonight?",
        "For tomorrow.",
    ]


async def test_the_plain_agent_computes_nothing_twice(
    live: str, api_key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def worked() -> list[str]:
        with Mnemic(live, api_key) as client:
            session_memory.work(client)
        return capsys.readouterr().out.splitlines()

    first, second = await asyncio.to_thread(worked), await asyncio.to_thread(worked)
    assert first[:3] == ["search: done", "choose: done", "book: done"]
    trace = ["1 step search", "2 checkpoint ", "3 step choose", "4 checkpoint ", "5 step book", "6 checkpoint "]
    assert first[3:] == trace
    assert second == ["search: known already", "choose: known already", "book: known already", *trace]
