"""Behind a reverse proxy, and called from a page of another origin."""

import re
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack

import httpx
import pytest
from fastapi import Request

from app.composition import Services
from app.main import create_app
from app.settings import Settings
from tests.conftest import Tenant

PAGE = "https://console.example.org"
Client = Callable[..., httpx.AsyncClient]


@pytest.fixture
async def client(services: Services, settings: Settings, tenant: Tenant) -> AsyncIterator[Client]:
    """Makes clients of an application with other settings, with an admin key of the tenant."""
    key = await tenant.key()
    async with AsyncExitStack() as stack:

        def make(*, peer: str = "127.0.0.1", **given: object) -> httpx.AsyncClient:
            app = create_app(Settings(_env_file=None, **given))  # type: ignore[arg-type]
            app.state.services = services

            @app.get("/seen")
            def seen(request: Request) -> dict[str, str]:
                assert request.client is not None
                return {"scheme": request.url.scheme, "client": request.client.host}

            transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=(peer, 1))
            made = httpx.AsyncClient(transport=transport, base_url="http://test", headers={"X-API-Key": key})
            stack.push_async_callback(made.aclose)
            return made

        yield make


@pytest.mark.parametrize("root_path", ["/memory", "memory/", "/deep/er"])
async def test_docs_under_a_prefix_load_everything_from_under_it(client: Client, root_path: str) -> None:
    api, prefix = client(root_path=root_path), "/" + root_path.strip("/")
    page = await api.get("/docs")
    assert page.status_code == 200
    # Quoted addresses of scripts, styles, pictures and the document itself.
    addresses = re.findall(r"""(?:src|href|url)(?:=|:\s*)["']([^"']+)["']""", page.text)
    assert f"{prefix}/openapi.json" in addresses
    assert len(addresses) >= 4
    for address in addresses:
        assert address.startswith(f"{prefix}/"), address
        assert (await api.get(address.removeprefix(prefix))).status_code == 200, address
    servers = (await api.get("/openapi.json")).json()["servers"]
    assert servers == [{"url": prefix}]


@pytest.mark.parametrize("stripped", [True, False])
async def test_proxy_may_strip_the_prefix_or_leave_it(client: Client, stripped: bool) -> None:
    api, front = client(root_path="/memory"), "" if stripped else "/memory"
    assert (await api.get(f"{front}/healthz")).status_code == 200
    made = await api.post(f"{front}/v1/sessions", json={"id": "a/b"})
    assert made.status_code == 201
    assert (await api.get(f"{front}/v1/sessions/a%2Fb")).json()["id"] == "a/b"


async def test_path_that_only_begins_like_the_prefix_is_another_path(client: Client) -> None:
    api = client(root_path="/v1")
    assert (await api.get("/v1x")).status_code == 404
    assert (await api.get("/healthz")).status_code == 200


async def test_forwarded_headers_are_believed_of_named_proxies_only(client: Client) -> None:
    told = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "198.51.100.7"}
    through = await client(peer="10.1.2.3", forwarded_allow_ips="10.0.0.0/8, 127.0.0.1").get("/seen", headers=told)
    assert through.json() == {"scheme": "https", "client": "198.51.100.7"}
    forged = await client(peer="192.0.2.1", forwarded_allow_ips="10.0.0.0/8").get("/seen", headers=told)
    assert forged.json() == {"scheme": "http", "client": "192.0.2.1"}
    default = await client(peer="192.0.2.1").get("/seen", headers=told)
    assert default.json()["client"] == "192.0.2.1"


async def test_pages_of_other_origins_are_refused_by_default(client: Client) -> None:
    answer = await client().get("/v1/sessions", headers={"Origin": PAGE})
    assert answer.status_code == 200
    assert "access-control-allow-origin" not in answer.headers
    preflight = {"Origin": PAGE, "Access-Control-Request-Method": "POST"}
    assert (await client().options("/v1/memories", headers=preflight)).status_code == 405


async def test_listed_origins_may_call_and_read_what_they_need(client: Client) -> None:
    api = client(cors_origins=f"{PAGE}, https://other.example.org")
    asked = {
        "Origin": PAGE,
        "Access-Control-Request-Method": "PATCH",
        "Access-Control-Request-Headers": "authorization,content-type,if-match,idempotency-key",
    }
    preflight = await api.options("/v1/memories", headers=asked)
    assert preflight.status_code == 200
    assert preflight.headers["access-control-allow-origin"] == PAGE
    assert "PATCH" in preflight.headers["access-control-allow-methods"]
    answer = await api.get("/v1/sessions", headers={"Origin": PAGE})
    assert answer.headers["access-control-allow-origin"] == PAGE
    assert "etag" in answer.headers["access-control-expose-headers"].lower()
    assert "access-control-allow-credentials" not in answer.headers
    foreign = await api.get("/v1/sessions", headers={"Origin": "https://evil.example.org"})
    assert "access-control-allow-origin" not in foreign.headers


@pytest.mark.parametrize(("path", "status"), [("/v1/sessions", 401), ("/nowhere", 404)])
async def test_problems_too_can_be_read_from_a_listed_origin(client: Client, path: str, status: int) -> None:
    api = client(cors_origins=PAGE)
    answer = await api.get(path, headers={"Origin": PAGE, "X-API-Key": "wrong"})
    assert answer.status_code == status
    assert answer.headers["access-control-allow-origin"] == PAGE
