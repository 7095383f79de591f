"""An agent whose model keeps its own memory by the tools of the service, with any OpenAI-compatible model.

    python examples/agent.py --key "$(cat .mnemic/admin.key)" --model-url http://127.0.0.1:8080/v1 --model qwen

Each line that is typed is a turn; what was said is kept in the session with one call a turn.
"""

import argparse
import asyncio
import sys
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

MOST_CALLS: Final = 8
"""Rounds of tool calls in one turn: a model that goes round in circles is stopped."""

PROMPT: Final = (
    "You are a helpful assistant with a memory of your own. Use the tools to keep what matters and to find it again. "
    "When a tool's result is an error, do what it says."
)
BLOCKS: Final = {"human": "What you know about the user.", "persona": "Who you are."}


@dataclass
class Agent:
    """A conversation with a model that has tools.

    Args:
        memory: A client of the service, with a key.
        host: A client of the model's host, its base URL ending in /v1/.
        model: The model's name there.
        user_id: Who speaks.
        session_id: Where it is kept.
        minimal: Whether the model gets the small set of tools.
    """

    memory: httpx.AsyncClient
    host: httpx.AsyncClient
    model: str
    user_id: str
    session_id: str
    minimal: bool = False
    said: list[dict[str, Any]] = field(default_factory=list)

    async def prepare(self) -> None:
        """Make the core blocks that are not there yet."""
        for label, purpose in BLOCKS.items():
            place = f"/v1/blocks/{label}"
            mine = {"user_id": self.user_id}
            if (await self.memory.get(place, params=mine)).status_code == httpx.codes.NOT_FOUND:
                body = {"text": "", "description": purpose, "limit": 2000}
                (await self.memory.put(place, params=mine, json=body)).raise_for_status()

    async def turn(self, text: str) -> str:
        """Say something; what the model answers after it has done what it wanted with its memory."""
        fresh: list[dict[str, Any]] = [{"role": "user", "content": text}]
        for _ in range(MOST_CALLS):
            reply = await self._reply(fresh)
            fresh.append(reply)
            if not reply.get("tool_calls"):
                break
            fresh += [await self._done(call) for call in reply["tool_calls"]]
        kept = {"user_id": self.user_id, "messages": fresh}
        (await self.memory.post(f"/v1/sessions/{self.session_id}/turns", json=kept)).raise_for_status()
        self.said += fresh
        return str(fresh[-1].get("content") or "")

    async def _reply(self, fresh: list[dict[str, Any]]) -> dict[str, Any]:
        tools = {"format": "openai", "set": "minimal" if self.minimal else "full"}
        definitions = (await self.memory.get("/v1/tools", params=tools)).raise_for_status().json()["tools"]
        messages = [{"role": "system", "content": await self._system()}, *self.said, *fresh]
        asked = {"model": self.model, "messages": messages, "tools": definitions}
        answer = (await self.host.post("chat/completions", json=asked)).raise_for_status().json()
        told = answer["choices"][0]["message"]
        reply = {"role": "assistant", "content": told.get("content") or ""}
        return reply | ({"tool_calls": told["tool_calls"]} if told.get("tool_calls") else {})

    async def _done(self, call: dict[str, Any]) -> dict[str, Any]:
        """A call's result, as the model reads it: errors too."""
        asked = {"arguments": call["function"]["arguments"], "user_id": self.user_id}
        answer = await self.memory.post(f"/v1/tools/{call['function']['name']}", json=asked)
        return {"role": "tool", "tool_call_id": call["id"], "content": answer.raise_for_status().json()["text"]}

    async def _system(self) -> str:
        listed = (await self.memory.get("/v1/blocks", params={"user_id": self.user_id})).raise_for_status().json()
        blocks = [f"<{block['label']}>\n{block['text']}\n</{block['label']}>" for block in listed["results"]]
        return "\n\n".join([PROMPT, *blocks])


def main() -> int:
    """Talk with the agent, a line a turn."""
    parser = argparse.ArgumentParser(description="An agent with a memory of its own")
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--key", required=True)
    parser.add_argument("--model-url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--user", default="ada")
    parser.add_argument("--session", default="agent")
    parser.add_argument("--minimal", action="store_true")
    given = parser.parse_args()
    asyncio.run(talk(given))
    return 0


async def talk(given: argparse.Namespace) -> None:
    """Read lines and answer each."""
    headers = {"Authorization": f"Bearer {given.key}"}
    host_url = given.model_url.rstrip("/") + "/"
    async with (
        httpx.AsyncClient(base_url=given.url, headers=headers, timeout=60) as memory,
        httpx.AsyncClient(base_url=host_url, timeout=600) as host,
    ):
        agent = Agent(memory, host, given.model, given.user, given.session, given.minimal)
        await agent.prepare()
        for line in iter(sys.stdin.readline, ""):
            if line.strip():
                print(await agent.turn(line.strip()), flush=True)


if __name__ == "__main__":
    sys.exit(main())
