"""Export and import of many memories: streamed, resumed after a broken connection, in memory that does not grow."""

import json
import socket
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest
import structlog

from app.core.ids import new_id
from tests.conftest import Tenant
from tests.routers.calls import body_of

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(3600)]

SMALL, FULL = 1_000, 100_000
MOST_GROWTH = 64 * 1024 * 1024
"""Bytes by which the service may grow while it reads or writes them all; a whole export of the full size is more."""


def lines(count: int, start: int = 0) -> Iterator[bytes]:
    """Memories of another system, in both languages."""
    for n in range(start, count):
        text = f"第{n}次会议记录：讨论预算" if n % 2 else f"Note {n}: the budget was discussed at length"
        yield json.dumps({"text": text}, ensure_ascii=False).encode() + b"\n"


def resident(url: str) -> int:
    """Bytes of memory that the process at this address holds."""
    port = f"PORT={httpx.URL(url).port}".encode()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if port in (entry / "environ").read_bytes().split(b"\0"):
                    return int((entry / "statm").read_text().split()[1]) * 4096
            except OSError:
                continue
    raise AssertionError(f"nothing serves {url}")


async def test_a_broken_import_is_sent_again_and_everything_comes_out_once(
    tenant: Tenant, live: str, full_size: bool
) -> None:
    count = FULL if full_size else SMALL
    headers = {"Authorization": f"Bearer {await tenant.key()}", "Content-Type": "application/x-ndjson"}
    user = f"u{new_id()}"
    address = httpx.URL(live)
    with socket.create_connection((address.host, address.port or 80), timeout=30) as broken:
        head = f"POST /v1/users/{user}/import HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        broken.sendall(head.encode() + b"\r\n")
        for line in lines(count // 2):
            broken.sendall(b"%x\r\n%s\r\n" % (len(line), line))
    async with httpx.AsyncClient(base_url=live, headers=headers, timeout=3600, trust_env=False) as client:
        before, began = resident(live), time.monotonic()

        async def whole() -> AsyncIterator[bytes]:
            for line in lines(count):
                yield line

        told = body_of(await client.post(f"/v1/users/{user}/import", content=whole()))
        imported, grown_in = time.monotonic() - began, resident(live) - before
        assert sum(told["stored"].values()) <= count
        began, seen, most = time.monotonic(), set[str](), 0
        async with client.stream("GET", f"/v1/users/{user}/export") as answer:
            async for line in answer.aiter_lines():
                row = json.loads(line)
                if row.get("table") == "memories":
                    seen.add(row["row"]["text"])
                    if len(seen) % 10_000 == 0:
                        most = max(most, resident(live) - before)
        exported, grown_out = time.monotonic() - began, max(most, resident(live) - before)
    assert seen == {json.loads(line)["text"] for line in lines(count)}
    figures = {
        "rows": count,
        "import_s": imported,
        "export_s": exported,
        "in_mb": grown_in >> 20,
        "out_mb": grown_out >> 20,
    }
    structlog.get_logger().info("figures", **figures)
    assert max(grown_in, grown_out) <= MOST_GROWTH, figures
