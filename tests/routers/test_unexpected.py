"""An error that nobody expected: one answer, one line."""

import httpx
import structlog

from app.main import create_app
from app.settings import Settings
from tests.conftest import Tenant


async def test_unexpected_error_is_answered_and_logged_once_with_the_request_id(
    tenant: Tenant, settings: Settings
) -> None:
    app = create_app(settings)
    app.state.services = tenant.services

    @app.get("/boom")
    async def boom() -> None:
        raise ZeroDivisionError

    # An error that got past us would be logged by the server, a second time and without the id.
    transport = httpx.ASGITransport(app, raise_app_exceptions=True)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        with structlog.testing.capture_logs(processors=[structlog.contextvars.merge_contextvars]) as lines:
            answer = await client.get("/boom", headers={"X-Request-ID": "asked"})
    assert (answer.status_code, answer.headers["content-type"]) == (500, "application/problem+json")
    assert answer.headers["x-request-id"] == answer.json()["request_id"] == "asked"
    (error,) = [line for line in lines if line["log_level"] == "error"]
    assert (error["event"], error["request_id"], error["exc_info"]) == ("request_failed", "asked", True)
    (request,) = [line for line in lines if line["event"] == "request"]
    assert request["status"] == 500
