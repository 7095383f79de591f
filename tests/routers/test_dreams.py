"""Dreams: memories put in order as one job that one id undoes; proposed with a diff, edited, applied or rejected."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
import time_machine

from app.core import clock
from app.services.dreaming.planning import DreamPlanner
from app.services.dreaming.reviewing import Reviewer
from app.services.dreaming.turns import DreamTurns
from app.services.extractors.rules import RulesExtractor
from app.services.forgetting.joining import Joiner
from app.workers.runner import JobRunner
from tests.conftest import Tenant
from tests.routers.calls import add, body_of, every, problem_of, say
from tests.routers.test_forgetting import everything

LANGUAGES = ("en", "zh")
SAME = {
    "en": ("Ada usually drinks green tea in the morning.", "In the morning Ada usually drinks green tea."),
    "zh": ("艾达每天早上喝一杯绿茶。", "艾达每天早上都要喝一杯绿茶。"),
}
CLASH = {
    "en": ("The user prefers tabs over spaces.", "The user prefers spaces over tabs."),
    "zh": ("用户喜欢制表符胜过空格。", "用户喜欢空格胜过制表符。"),
}
PLAN = {"en": "Going to Singapore next week", "zh": "下周去新加坡"}
AHEAD = {"en": "Going to Singapore in {:%Y-%m}", "zh": "{:%Y-%m} 去新加坡"}
OVER = {"en": "Went to Singapore in {:%B %Y}", "zh": "{0.year} 年 {0.month} 月去过新加坡"}
NOTE = {"en": "first: Lisbon; since {}: Oslo", "zh": "起初：里斯本；{} 起：奥斯陆"}
CITY = {"en": ("Lisbon", "Oslo"), "zh": ("里斯本", "奥斯陆")}
HOME = {"en": "Ada lives in {}.", "zh": "艾达住在{}。"}


async def dream(api: httpx.AsyncClient, tenant: Tenant, path: str = "dream", **fields: Any) -> dict[str, Any]:
    """The result of the job."""
    body = fields if path == "dream" else None
    asked = body_of(await api.post(f"/v1/users/ada/{path}", json=body), 202)
    await tenant.work()
    job = body_of(await api.get(f"/v1/jobs/{asked['job_id']}"))
    assert job["status"] == "succeeded", job
    result: dict[str, Any] = job["result"]
    assert result["undo_id"] == asked["undo_id"]
    return result


async def proposed(api: httpx.AsyncClient) -> dict[str, Any]:
    told: dict[str, Any] = body_of(await api.post("/v1/users/ada/dream", json={"dry_run": True}))
    assert told["dry_run"]
    return dict(told["dream"])


async def text_of(api: httpx.AsyncClient, memory: dict[str, Any]) -> str:
    return str(body_of(await api.get(f"/v1/memories/{memory['id']}"))["text"])


async def disorder(api: httpx.AsyncClient, tenant: Tenant, language: str) -> dict[str, Any]:
    """Something for every step but the review, and when the plan was made."""
    said_at = clock.now()
    known = {
        "old": await add(api, SAME[language][0]),
        "new": await add(api, SAME[language][1]),
        "one": await add(api, CLASH[language][0]),
        "other": await add(api, CLASH[language][1]),
        "plan": await add(api, PLAN[language], occurred_at=said_at.isoformat()),
    }
    for name, city in zip(("first", "second"), CITY[language], strict=True):
        known[name] = await add(api, HOME[language].format(city), key="user.city", value=city)
    await tenant.work()
    return known | {"said_at": said_at}


def next_week(at: datetime) -> datetime:
    """The middle of the week after."""
    monday = (at - timedelta(days=at.weekday())).replace(hour=0, minute=0)
    return monday + timedelta(days=10, hours=12)


def ids(known: dict[str, Any]) -> list[str]:
    return [one["id"] for one in known.values() if isinstance(one, dict)]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_dream_puts_everything_in_order_and_is_undone_exactly(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    known = await disorder(api, tenant, language)
    before = await everything(tenant, *ids(known))
    result = await dream(api, tenant)
    assert body_of(await api.get(f"/v1/memories/{known['old']['id']}"))["superseded_by"] == known["new"]["id"]
    (conflict,) = await every(api, "/v1/conflicts")
    assert {one["id"] for one in conflict["memories"]} == {known["one"]["id"], known["other"]["id"]}
    week = next_week(known["said_at"])
    assert await text_of(api, known["plan"]) == AHEAD[language].format(week)
    day = clock.now().date().isoformat()
    home = body_of(await api.get(f"/v1/memories/{known['second']['id']}"))
    assert home["metadata"]["evolution"] == NOTE[language].format(day)
    profile = body_of(await api.get("/v1/users/ada/profile"))
    facts = {fact["memory_id"]: fact for section in profile["sections"] for fact in section["facts"]}
    assert facts[home["id"]]["evolution"] == NOTE[language].format(day)
    assert result["profile_facts"] == len(facts)
    assert {"merged", "disputed", "dated", "noted"} <= result["counts"].keys()
    (kept,) = await every(api, "/v1/users/ada/dreams")
    assert (kept["state"], kept["job_id"]) == ("applied", result["undo_id"])
    again = await dream(api, tenant)
    assert again["counts"] == {}
    body_of(await api.post("/v1/undo", json={"undo_id": result["undo_id"]}))
    await tenant.work()
    assert await everything(tenant, *ids(known)) == before
    assert await every(api, "/v1/conflicts") == []


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_plan_whose_day_is_over_is_told_in_the_past(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    plan = await add(api, PLAN[language])
    said_at = clock.now()
    await dream(api, tenant)
    assert await text_of(api, plan) == AHEAD[language].format(next_week(said_at))
    with time_machine.travel(said_at + timedelta(days=45), tick=True):
        result = await dream(api, tenant)
        assert await text_of(api, plan) == OVER[language].format(next_week(said_at))
        assert (await dream(api, tenant))["counts"] == {}
        body_of(await api.post("/v1/undo", json={"undo_id": result["undo_id"]}))
    assert await text_of(api, plan) == AHEAD[language].format(next_week(said_at))


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_proposal_changes_nothing_can_be_read_edited_and_applied(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    known = await disorder(api, tenant, language)
    before = await everything(tenant, *ids(known))
    proposal = await proposed(api)
    assert await everything(tenant, *ids(known)) == before
    week = next_week(known["said_at"])
    for line in (f"- {PLAN[language]}", f"+ {AHEAD[language].format(week)}", f"- {SAME[language][0]}"):
        assert line in proposal["diff"].splitlines()
    steps = {one["step"]: one for one in proposal["changes"]}
    assert list(steps) == ["merge", "conflict", "dates", "evolution"]
    path = f"/v1/users/ada/dreams/{proposal['id']}"
    other = {"en": "Off to Singapore soon.", "zh": "不久去新加坡。"}[language]
    edits = [{"id": steps["merge"]["id"], "accepted": False}, {"id": steps["dates"]["id"], "after": other}]
    edited = body_of(await api.patch(path, json={"changes": edits}, headers={"if-match": '"1"'}))
    assert edited["version"] == 2
    assert other in edited["diff"]
    assert SAME[language][0] not in edited["diff"]
    problem_of(await api.patch(path, json={"changes": edits}, headers={"if-match": '"1"'}), 412)
    no_text = {"changes": [{"id": steps["conflict"]["id"], "after": "x"}]}
    problem_of(await api.patch(path, json=no_text), 422, "not_editable")
    problem_of(await api.patch(path, json={"changes": [{"id": 99}]}), 422, "unknown_change")
    result = await dream(api, tenant, f"dreams/{proposal['id']}/apply")
    assert body_of(await api.get(f"/v1/memories/{known['old']['id']}"))["status"] == "active"
    assert await text_of(api, known["plan"]) == other
    assert body_of(await api.get(path))["state"] == "applied"
    for action in ("apply", "reject"):
        problem_of(await api.post(f"{path}/{action}"), 409, "dream_decided")
    body_of(await api.post("/v1/undo", json={"job_id": result["undo_id"]}))
    await tenant.work()
    assert await everything(tenant, *ids(known)) == before


async def test_a_rejected_proposal_is_never_done_and_what_was_changed_since_stays(
    api: httpx.AsyncClient, tenant: Tenant
) -> None:
    known = await disorder(api, tenant, "en")
    first = await proposed(api)
    rejected = body_of(await api.post(f"/v1/users/ada/dreams/{first['id']}/reject"))
    assert rejected["state"] == "rejected"
    problem_of(await api.post(f"/v1/users/ada/dreams/{first['id']}/apply"), 409, "dream_decided")
    second = await proposed(api)
    body_of(await api.patch(f"/v1/memories/{known['plan']['id']}", json={"text": "Staying at home."}))
    body_of(await api.patch(f"/v1/memories/{known['new']['id']}", json={"importance": 9}))
    await dream(api, tenant, f"dreams/{second['id']}/apply")
    assert await text_of(api, known["plan"]) == "Staying at home."
    assert body_of(await api.get(f"/v1/memories/{known['old']['id']}"))["status"] == "active"


@pytest.fixture
def reading(tenant: Tenant) -> Iterator[None]:
    """A service that reads messages again, by rule."""
    services = tenant.services
    reviewer = Reviewer(services.uow, services.embedder, RulesExtractor())
    planner = DreamPlanner(services.uow, reviewer, services.consolidation)
    tenant.services = replace(services, dreams=replace(services.dreams, planner=planner))
    tenant.app.state.services = tenant.services
    yield
    tenant.app.state.services = services


@pytest.mark.usefixtures("reading")
@pytest.mark.parametrize(
    ("said", "known"),
    [("I am allergic to penicillin.", "I live in Lisbon."), ("我对青霉素过敏。", "我住在里斯本。")],
)
async def test_what_was_missed_when_it_was_said_is_found_in_past_messages_once(
    api: httpx.AsyncClient, tenant: Tenant, said: str, known: str
) -> None:
    await say(api, "s", known, user_id="ada")
    await say(api, "s", said)
    await say(api, "s", "Noted. 记下了。", role="assistant")
    await add(api, known, sources=[{"session_id": "s", "seqs": [1], "quote": known}])
    async with tenant.services.uow.begin_tenant(tenant.id) as tx:
        await tx.sessions.extracted_to("s", 3)
    result = await dream(api, tenant)
    assert result["counts"]["added"] == 1
    memories = await every(api, "/v1/memories", user_id="ada")
    (found,) = [one for one in memories if one["text"] != known]
    assert (found["source"], found["sources"][0]["seqs"], found["sources"][0]["quote"] in said) == (
        "user_stated",
        [2],
        True,
    )
    assert (await dream(api, tenant))["counts"] == {}
    body_of(await api.post("/v1/undo", json={"undo_id": result["undo_id"]}))
    assert len(await every(api, "/v1/memories", user_id="ada")) == 1
    assert (await dream(api, tenant))["counts"] == {}  # what was undone is not brought back


@pytest.mark.parametrize("killed_in", ["join", "dispute", "reword"])
async def test_a_dream_that_is_killed_goes_on_where_it_was_and_does_nothing_twice(
    api: httpx.AsyncClient, tenant: Tenant, monkeypatch: pytest.MonkeyPatch, killed_in: str
) -> None:
    known = await disorder(api, tenant, "en")
    before = await everything(tenant, *ids(known))
    asked = body_of(await api.post("/v1/users/ada/dream", json={}), 202)
    done = getattr(Joiner, killed_in)

    class Killed(BaseException):
        """As a process dies: nothing after it runs, what was committed stays."""

    async def dies(self: Joiner, *given: Any) -> Any:
        await done(self, *given)
        raise Killed

    runner = JobRunner(tenant.services)
    with monkeypatch.context() as patch:
        patch.setattr(Joiner, killed_in, dies)
        with pytest.raises(Killed):
            await runner.run(tenant.id, asked["job_id"])
    assert body_of(await api.get(f"/v1/jobs/{asked['job_id']}"))["status"] == "running"
    await runner.run(tenant.id, asked["job_id"])
    job = body_of(await api.get(f"/v1/jobs/{asked['job_id']}"))
    assert (job["status"], job["attempts"]) == ("succeeded", 2)
    assert job["result"]["counts"] == {"merged": 1, "superseded": 1, "disputed": 2, "dated": 1, "noted": 1}
    assert len(await every(api, "/v1/conflicts")) == 1
    assert len(await every(api, "/v1/users/ada/dreams")) == 1
    body_of(await api.post("/v1/undo", json={"job_id": asked["job_id"]}))
    await tenant.work()
    assert await everything(tenant, *ids(known)) == before


async def test_dreams_quote_nothing_that_is_erased(api: httpx.AsyncClient, tenant: Tenant) -> None:
    plan = await add(api, PLAN["en"])
    proposal = await proposed(api)
    assert proposal["changes"]
    assert (await api.delete(f"/v1/memories/{plan['id']}", params={"erase": "true"})).status_code == 204
    problem_of(await api.get(f"/v1/users/ada/dreams/{proposal['id']}"), 404, "dream_not_found")


async def test_dreams_are_no_strangers(api: httpx.AsyncClient, tenant: Tenant) -> None:
    await add(api, PLAN["zh"])
    proposal = await proposed(api)
    stranger = await tenant.client("member", ["bob"])
    path = f"/v1/users/ada/dreams/{proposal['id']}"
    problem_of(await stranger.get(path), 404)
    problem_of(await stranger.post(f"{path}/apply"), 404)
    problem_of(await stranger.post("/v1/users/ada/dream", json={"dry_run": True}), 404)
    problem_of(await api.get(f"/v1/users/bob/dreams/{proposal['id']}"), 404)


async def test_nobody_dreams_unasked_unless_the_tenant_wants_it(api: httpx.AsyncClient, tenant: Tenant) -> None:
    night = datetime(2026, 12, 10, 18, 30, tzinfo=UTC)  # half past two in Shanghai

    async def due(at: datetime) -> int:
        with time_machine.travel(at, tick=False):
            return await DreamTurns(tenant.services.uow).queue(tenant.id)

    with time_machine.travel(night - timedelta(days=2), tick=False):
        await add(api, PLAN["en"])
    assert await due(night) == 0
    settings = {"dream_when": ["nightly"], "timezone": "Asia/Shanghai"}
    body_of(await api.patch("/v1/admin/settings", json=settings))
    assert await due(night + timedelta(hours=8)) == 0
    assert await due(night) == 1
    assert await due(night + timedelta(days=1)) == 0  # nothing has come since
    body_of(await api.patch("/v1/admin/settings", json={"dream_when": ["idle"]}))
    with time_machine.travel(night + timedelta(days=2), tick=False):
        await say(api, "s", "Hello again. 又见面了。", user_id="ada")
    assert await due(night + timedelta(days=2, minutes=10)) == 0
    assert await due(night + timedelta(days=2, minutes=40)) == 1


async def test_a_closed_session_is_dreamt_of_where_the_tenant_wants_it(api: httpx.AsyncClient, tenant: Tenant) -> None:
    await say(api, "s", "Hello. 你好。", user_id="ada")
    body_of(await api.patch("/v1/admin/settings", json={"dream_when": ["session_closed"]}))
    body_of(await api.post("/v1/sessions/s/close", json={}))
    (job,) = [one for one in await every(api, "/v1/jobs") if one["kind"] == "dream"]
    assert job["status"] == "queued"
