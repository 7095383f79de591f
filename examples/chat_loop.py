"""A chat with a long memory in forty lines: append what was said, ask for the context, call the model.

    python examples/chat_loop.py --url http://127.0.0.1:8000 --key "$KEY" \
        --model-url http://127.0.0.1:8080/v1 --model my-model --user ada

Any host of OpenAI's `/chat/completions` will do. Everything else (summaries, memories, what fits into the prompt) is
the service's work. Type a line and press Enter; an empty line ends the chat.
"""

import argparse
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx


@dataclass(frozen=True, slots=True)
class Chat:
    """One conversation.

    Args:
        memory: A client of Mnemic, with its key.
        model: A client of the language model's host.
        name: The model's name there.
        user: Whose conversation it is: memories are kept per user, across sessions.
        session: Its id; a new one begins a new conversation, an old one goes on with it.
        budget: Tokens that a prompt may cost.
    """

    memory: httpx.Client
    model: httpx.Client
    name: str
    user: str
    session: str
    budget: int = 4_000

    def turn(self, said: str) -> str:
        """One turn: what the user said in, what the model says out."""
        self._append("user", said)
        context = self._post(self.memory, f"/v1/sessions/{self.session}/context", {"token_budget": self.budget})
        reply = self._post(self.model, "chat/completions", {"model": self.name, "messages": context["messages"]})
        answer: str = reply["choices"][0]["message"]["content"]
        self._append("assistant", answer)
        return answer

    def _append(self, role: str, content: str) -> None:
        message = {"user_id": self.user, "role": role, "content": content}
        self._post(self.memory, f"/v1/sessions/{self.session}/messages", message)

    @staticmethod
    def _post(client: httpx.Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = client.post(path, json=body).raise_for_status().json()
        return found


def talk(chat: Chat, lines: Iterable[str]) -> Iterator[str]:
    """The model's answers to lines, up to the first empty one."""
    for line in lines:
        said = line.strip()
        if not said:
            return
        yield chat.turn(said)


def main() -> int:
    """Chat until an empty line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="http://127.0.0.1:8000", help="of Mnemic")
    parser.add_argument("--key", required=True, help="an API key of Mnemic")
    parser.add_argument("--model-url", required=True, help="what stands before /chat/completions")
    parser.add_argument("--model", required=True, help="the model's name at its host")
    parser.add_argument("--model-key", default="", help="its bearer token, if it wants one")
    parser.add_argument("--user", default="ada")
    parser.add_argument("--session", default=f"chat-{uuid4()}")
    parser.add_argument("--budget", type=int, default=4_000, help="tokens of a prompt")
    given = parser.parse_args()
    keys = {"Authorization": f"Bearer {given.model_key}"} if given.model_key else {}
    with (
        httpx.Client(base_url=given.url, headers={"Authorization": f"Bearer {given.key}"}, timeout=60) as memory,
        httpx.Client(base_url=given.model_url.rstrip("/") + "/", headers=keys, timeout=300) as model,
    ):
        chat = Chat(memory, model, given.model, given.user, given.session, given.budget)
        for answer in talk(chat, sys.stdin):
            print(answer, flush=True)
    return os.EX_OK


if __name__ == "__main__":
    sys.exit(main())
