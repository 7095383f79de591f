"""A service that summarises and prepares contexts, and what these tests do with it."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import httpx
import pytest

from app.composition import Services
from app.core import clock
from app.domain.context.defaults import Strategy
from app.services.following import last_work, work_after
from tests.conftest import Tenant, tenant_of
from tests.context.conversations import Conversation, conversation

APPENDED_AT_ONCE = 100


def at_work(services: Services, **changes: Any) -> Services:
    """The use cases with everything switched on, nothing gathered for long."""
    settings = services.settings.model_copy(
        update={
            "summariser": "auto",
            "prefetch": "on",
            "summary_debounce_seconds": 0,
            "extractor": "rules",
            "extract_debounce_seconds": 0,
            **changes,
        }
    )
    messages = replace(services.messages, work_after=work_after(settings))
    return replace(
        services,
        settings=settings,
        messages=messages,
        turns=replace(services.turns, messages=messages),
        lifecycle=replace(services.lifecycle, last_work=last_work(settings)),
    )


@pytest.fixture
async def tenant(services: Services, app: Any) -> AsyncIterator[Tenant]:
    """A fresh tenant of a service that does everything."""
    working = app.state.services = at_work(services)
    made = await tenant_of(working, app)
    working.prefetch.demand.note(made.id, clock.now())  # else the first context of each test would be found when asked
    yield made
    await made.close()


@pytest.fixture(scope="module")
async def long(services: Services, app: Any, full_size: bool) -> AsyncIterator["Long"]:
    """A long session in each language, folded."""
    working = app.state.services = at_work(services, extractor="off")
    tenant = await tenant_of(working, app)
    api = await tenant.client()
    count = 2_000 if full_size else 300
    told = {}
    for language in ("en", "zh"):
        said = told[language] = conversation(language, count)
        for start in range(0, count, APPENDED_AT_ONCE):
            body = {"user_id": language, "messages": said.messages[start : start + APPENDED_AT_ONCE]}
            answer = await api.post(f"/v1/sessions/{language}/messages", json=body)
            assert answer.status_code == 201, answer.text
            await tenant.work()
    yield Long(tenant, api, told)
    await tenant.close()


class Long:
    """Sessions `en` and `zh`."""

    def __init__(self, tenant: Tenant, api: httpx.AsyncClient, told: dict[str, Conversation]) -> None:
        self.tenant, self.api, self.told = tenant, api, told

    async def context(self, session: str, strategy: Strategy | None = None, **fields: Any) -> dict[str, Any]:
        """A context of one of them."""
        self.tenant.app.state.services = self.tenant.services
        given = fields if strategy is None else {"strategy": strategy, **fields}
        answer = await self.api.post(f"/v1/sessions/{session}/context", json=given)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found
