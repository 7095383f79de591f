"""Mnemic over HTTP as an external referee sees it; docs/benchmarks.md has the contract in words."""

import asyncio
from contextlib import ExitStack
from typing import Any
from urllib.parse import quote

import asyncpg
from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from app.db import embedded
from app.db.dsn import parse_dsn
from examples.service import RunningService, temporary_service, wait_until_embedded

BATCH = 1_000


class Target(BaseSettings):
    """A service that runs already: MNEMIC_URL and MNEMIC_KEY. Without them one is started on a temporary folder."""

    model_config = SettingsConfigDict(env_prefix="MNEMIC_", env_ignore_empty=True)

    url: str | None = None
    key: SecretStr = Field(default=SecretStr(""))


class Mnemic:
    """Turns become messages with the referee's id as external id; a hit's sources are its external ids."""

    name = "mnemic"

    def __init__(self) -> None:
        self._stack = ExitStack()
        target = Target()
        if target.url is None:
            self._service = self._stack.enter_context(temporary_service())
        else:
            self._service = RunningService(target.url, target.key.get_secret_value())
        self._client = self._stack.enter_context(self._service.client())

    def reset(self, user: str) -> None:
        """Forget the user's sessions."""
        while found := self._sessions({"user_id": user}):
            for session in found:
                self._client.delete(f"/v1/sessions/{_segment(session['id'])}")

    def add(self, user: str, session: str, turns: list[dict[str, Any]]) -> None:
        """Append a session."""
        path = f"/v1/sessions/{_segment(f'{user}/{session}')}/messages"
        for start in range(0, len(turns), BATCH):
            messages = [_message(turn) for turn in turns[start : start + BATCH]]
            self._client.post(path, json={"user_id": user, "messages": messages})

    def flush(self) -> None:
        """Block until everything that was added has its vector."""
        wait_until_embedded(self._client)

    def search(self, user: str, query: str, k: int) -> list[tuple[str, list[str], float]]:
        """The best `k` memories and messages."""
        body = {"query": query, "user_id": user, "top_k": k, "include_messages": True}
        hits = self._client.post("/v1/memories/search", json=body).json()["results"]
        return [(hit["text"], _external_ids(hit), hit["score"]) for hit in hits]

    def count(self) -> int:
        """Messages and memories stored."""
        memories: int = self._client.get("/v1/memories", params={"limit": 1, "count": True}).json()["total"]
        return memories + sum(self._messages(session["id"]) for session in self._sessions({}))

    def storage_bytes(self) -> int | None:
        """Size of the database with its indexes; None where the service is someone else's."""
        running = None if self._service.data_dir is None else embedded.running(self._service.data_dir)
        if running is None:
            return None
        return asyncio.run(_database_size(running.superuser_dsn))

    def close(self) -> None:
        """Stop what was started."""
        self._stack.close()

    def _sessions(self, filters: dict[str, str]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        cursor: dict[str, str] = {}
        while True:
            page = self._client.get("/v1/sessions", params={"limit": 200, **filters, **cursor}).json()
            found += page["results"]
            if page["next_cursor"] is None:
                return found
            cursor = {"cursor": page["next_cursor"]}

    def _messages(self, session_id: str) -> int:
        path = f"/v1/sessions/{_segment(session_id)}/messages"
        total: int = self._client.get(path, params={"limit": 1, "count": True}).json()["total"]
        return total


def _message(turn: dict[str, Any]) -> dict[str, Any]:
    dated = {} if turn["time"] is None else {"occurred_at": turn["time"]}
    return {"role": "user", "content": turn["text"], "external_id": turn["id"], **dated}


def _external_ids(hit: dict[str, Any]) -> list[str]:
    return list(dict.fromkeys(one for source in hit["sources"] for one in source["external_ids"]))


def _segment(value: str) -> str:
    return quote(value, safe="")


async def _database_size(dsn: str) -> int:
    connection = await asyncpg.connect(**parse_dsn(dsn).asyncpg_arguments)
    try:
        size: int = await connection.fetchval("SELECT pg_database_size(current_database())")
        return size
    finally:
        await connection.close()
