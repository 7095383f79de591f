"""Calls that tests make on the way to what they are about, each checked."""

from typing import Any

import httpx

MEMBERS = {"type", "title", "status", "detail", "code", "request_id", "errors"}


def problem_of(response: httpx.Response, status: int, code: str | None = None) -> dict[str, Any]:
    """The problem that an answer must be."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = response.json()
    assert problem.keys() >= MEMBERS
    assert problem["status"] == status
    assert problem["type"] == f"/problems/{problem['code']}"
    assert problem["request_id"] == response.headers["x-request-id"]
    assert problem["title"]
    assert problem["detail"]
    assert all(fault.keys() == {"loc", "msg", "type"} for fault in problem["errors"])
    assert code is None or problem["code"] == code, problem
    return problem


def body_of(response: httpx.Response, status: int = 200) -> Any:
    """The body of an answer with this status."""
    assert response.status_code == status, response.text
    return response.json()


async def open_session(client: httpx.AsyncClient, session_id: str, **fields: Any) -> dict[str, Any]:
    session: dict[str, Any] = body_of(await client.post("/v1/sessions", json={"id": session_id, **fields}), 201)
    return session


async def say(client: httpx.AsyncClient, session_id: str, content: str, **fields: Any) -> dict[str, Any]:
    """Append one message."""
    message = {"role": "user", "content": content, **fields}
    said: dict[str, Any] = body_of(await client.post(f"/v1/sessions/{session_id}/messages", json=message), 201)
    return said


async def add(client: httpx.AsyncClient, text: str, **fields: Any) -> dict[str, Any]:
    """Keep one memory; Ada's if no scope is named."""
    scope = {} if {"user_id", "agent_id", "app_id", "session_id", "shared"} & fields.keys() else {"user_id": "ada"}
    added: dict[str, Any] = body_of(await client.post("/v1/memories", json={"text": text, **scope, **fields}), 201)
    return added


async def search(client: httpx.AsyncClient, query: str, **fields: Any) -> dict[str, Any]:
    result: dict[str, Any] = body_of(await client.post("/v1/memories/search", json={"query": query, **fields}))
    return result


async def texts_found(client: httpx.AsyncClient, query: str, **fields: Any) -> list[str]:
    """What a search finds, best first."""
    return [hit["text"] for hit in (await search(client, query, **fields))["results"]]


async def every(client: httpx.AsyncClient, path: str, **parameters: Any) -> list[dict[str, Any]]:
    """A whole list, page by page."""
    rows: list[dict[str, Any]] = []
    cursor = None
    while True:
        page = body_of(await client.get(path, params=parameters | ({} if cursor is None else {"cursor": cursor})))
        rows += page["results"]
        cursor = page["next_cursor"]
        if cursor is None:
            return rows
