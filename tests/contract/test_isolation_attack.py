"""Three tenants of three users each, attacked by everyone's keys through every route: no canary ever leaves its owner.

Two of the tenants use the very same ids, the third has its own. The routes come from the OpenAPI document; what a
stranger gets from one stands in PROBES.
"""

import json
import random
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote

import httpx
import pytest
from hypothesis import HealthCheck, Phase
from hypothesis import settings as effort
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from app.composition import Services
from tests.conftest import Tenant, tenant_of
from tests.contract.conftest import plant
from tests.contract.test_canaries import _ABSENT_IDS, ABSENT, OPEN, OPERATIONS, PROBES, REFUSED, TAKEN

USERS: Final = ("ada", "bob", "王小明")
NAMES: Final = (USERS, USERS, tuple(f"{user}-c" for user in USERS))
"""The users of each tenant."""

BAIT: Final = "oolong 乌龙茶"
"""What everybody's texts have, and what is searched for."""

SHARED: Final = -1
"""Stands for no user: what a whole tenant may see."""

Place = tuple[int, int]
"""Number of a tenant, number of one of its users."""

ALL: Final = sorted(set(OPERATIONS) - OPEN)

READING: Final = (
    frozenset(
        {name for name, (method, _) in OPERATIONS.items() if method == "GET"}
        | {"search_memories", "search_messages", "get_memories", "make_context", "prefetch_context", "match_procedures"}
        | {"get_checkpoint", "list_checkpoints", "compare_embedding_models", "extract_memories"}
    )
    - OPEN
    - {"get_metrics"}
)
"""What leaves everything as it is: these are also asked by who may see what they are about."""

MAKING: Final = frozenset(name for name, probe in PROBES.items() if probe[3] & {201, 202}) | {
    *(
        "change_user",
        "put_key",
        "put_checkpoint",
        "put_writes",
        "change_tenant_settings",
        "import_user",
        "import_tenant",
    )
}
"""What makes something of the asker's own under the id of another tenant's: that id is not absent there afterwards."""

TOOLS: Final[dict[str, dict[str, str]]] = {
    "core_memory_append": {"label": "human", "content": "x"},
    "core_memory_replace": {"label": "human", "old_content": "x", "new_content": "y"},
    "archival_memory_insert": {"content": "x"},
    "archival_memory_search": {"query": BAIT},
    "conversation_search": {"query": BAIT},
}


@dataclass(frozen=True)
class Holder:
    """A key: of which tenant, bound to which of its users (None: to none)."""

    tenant: int
    user: int | None
    client: httpx.Client

    def may_see(self, place: Place) -> bool:
        return place[0] == self.tenant and (self.user is None or place[1] in {self.user, SHARED})


@dataclass
class World:
    """All keys, and everything that was planted."""

    tenants: list[Tenant]
    holders: list[Holder] = field(default_factory=list)
    ids: dict[Place, dict[str, str]] = field(default_factory=dict)
    canaries: dict[Place, str] = field(default_factory=dict)
    tried: set[str] = field(default_factory=set)
    seen: set[Place] = field(default_factory=set)
    said: int = 0

    def look_at(self, holder: Holder, answer: httpx.Response, what: str) -> None:
        """No fault, and no canary that this key may not see."""
        told = (answer.text + json.dumps(list(answer.headers.multi_items())) + str(answer.url)).lower()
        assert answer.status_code < 500, f"{what}: {answer.status_code} {answer.text}"
        for place, canary in self.canaries.items():
            if canary in told:
                assert holder.may_see(place), f"{what}: {NAMES[holder.tenant]} user {holder.user} sees {place}"
                self.seen.add(place)

    def ask(self, holder: Holder, operation: str, ids: dict[str, str], user: str, what: str) -> httpx.Response:
        """One call of the probe for this operation, with these ids, in the name of this user."""
        method, path = OPERATIONS[operation]
        query, body, *_ = PROBES[operation]
        fill = _filling(ids, user)
        if "of_user" in ids:
            body = {"arguments": TOOLS[ids["name"]], "user_id": ids["of_user"]}
        for name, value in ids.items():
            path = path.replace("{" + name + "}", quote(value, safe=""))
        given = None if body is None else json.loads(fill(json.dumps(body, ensure_ascii=False)))
        answer = holder.client.request(
            method, path, params={name: fill(value) for name, value in query.items()}, json=given
        )
        self.tried.add(operation)
        self.look_at(holder, answer, what)
        return answer


def _filling(ids: dict[str, str], user: str) -> Callable[[str], str]:
    """What puts these ids and this user where the probes have ada and hers."""

    def fill(text: str) -> str:
        for name, value in ids.items():
            text = text.replace("{" + name + "}", value)
        return re.sub(r"\btea\b", BAIT, re.sub(r"\bada\b", user, text))

    return fill


@pytest.fixture(scope="module")
async def world(services: Services, app: Any, live: str) -> AsyncIterator[World]:
    """Everything planted, and a client for each key: an admin's, a reader's, and one bound to each user."""
    made = World([await tenant_of(services, app) for _ in NAMES])
    for number, tenant in enumerate(made.tenants):
        api = await tenant.client()
        made.canaries[number, SHARED] = f"canaryoft{number}shared"
        shared = {"text": f"{made.canaries[number, SHARED]} {BAIT}", "shared": True}
        assert (await api.post("/v1/memories", json=shared)).is_success
        for place, user in enumerate(NAMES[number]):
            canary = made.canaries[number, place] = f"canaryoft{number}u{place}own"
            made.ids[number, place] = await plant(services, tenant, api, user, canary, BAIT)
        for role, bound in (("admin", None), ("reader", None), *(("member", place) for place in range(len(USERS)))):
            secret = await tenant.key(role, None if bound is None else [NAMES[number][bound]])  # type: ignore[arg-type]
            headers = {"Authorization": f"Bearer {secret}"}
            # The server closes what is idle for five seconds.
            limits = httpx.Limits(keepalive_expiry=2)
            client = httpx.Client(base_url=live, headers=headers, timeout=60, trust_env=False, limits=limits)
            made.holders.append(Holder(number, bound, client))
        await tenant.work()
    yield made
    for holder in made.holders:
        holder.client.close()
    for tenant in made.tenants:
        await tenant.close()


class Attack(RuleBasedStateMachine):
    """Everybody asks for everything, in any order."""

    world: World

    @rule(holder=st.integers(0, 14), tenant=st.integers(0, 2), user=st.integers(0, 2), operation=st.sampled_from(ALL))
    def ask_for_what_may_be_anothers(self, holder: int, tenant: int, user: int, operation: str) -> None:
        attack(self.world, self.world.holders[holder], (tenant, user), operation)

    @rule(holder=st.integers(0, 14), user=st.integers(0, 2), operation=st.sampled_from(sorted(READING)))
    def read_what_is_ones_own(self, holder: int, user: int, operation: str) -> None:
        asker = self.world.holders[holder]
        attack(self.world, asker, (asker.tenant, user if asker.user is None else asker.user), operation)

    @rule(
        holder=st.integers(0, 14), tenant=st.integers(0, 2), user=st.integers(0, 2), tool=st.sampled_from(list(TOOLS))
    )
    def call_a_tool(self, holder: int, tenant: int, user: int, tool: str) -> None:
        asker, name = self.world.holders[holder], NAMES[tenant][user]
        if not tool.endswith("_search") and NAMES[asker.tenant] != NAMES[tenant]:
            return  # it would make a user of that name
        self.world.ask(asker, "call_tool", {"name": tool, "of_user": name}, name, f"{tool} for {name}")

    @rule(holder=st.integers(0, 14), user=st.integers(0, 2), where=st.sampled_from(["memory", "message", "fact"]))
    def write(self, holder: int, user: int, where: str) -> None:
        asker = self.world.holders[holder]
        place = (asker.tenant, user if asker.user is None else asker.user)
        name = NAMES[place[0]][place[1]]
        self.world.said += 1
        text = f"{self.world.canaries[place]} {BAIT} {self.world.said}"
        calls: dict[str, tuple[str, str, dict[str, Any]]] = {
            "memory": ("POST", "/v1/memories", {"text": text, "user_id": name}),
            "message": ("POST", f"/v1/sessions/{name}-session/messages", {"role": "user", "content": text}),
            "fact": ("PUT", f"/v1/users/{name}/facts/said.{self.world.said}", {"value": text}),
        }
        method, path, body = calls[where]
        self.world.look_at(asker, asker.client.request(method, path, json=body), f"writing a {where}")

    @rule(
        holder=st.integers(0, 14),
        path=st.sampled_from(["/v1/memories/search", "/v1/messages/search"]),
        shared=st.booleans(),
    )
    def search_for_the_bait(self, holder: int, path: str, shared: bool) -> None:
        asker = self.world.holders[holder]
        body: dict[str, Any] = {"query": BAIT}
        if path == "/v1/memories/search":
            body |= {"include_shared": shared, "include_messages": True, "include_uncertain": True, "explain": True}
            body["top_k"] = 50
        answer = asker.client.post(path, json=body)
        assert answer.is_success, answer.text
        self.world.look_at(asker, answer, path)


def _names_its_own(holder: Holder, place: Place) -> bool:
    """Whether the names of this place are, in the holder's own tenant, those of a user whom it may see."""
    return NAMES[holder.tenant] == NAMES[place[0]] and holder.may_see((holder.tenant, place[1]))


def attack(world: World, holder: Holder, place: Place, operation: str) -> None:
    """Ask with the ids of a place; who may not see it gets exactly what an absent one gives."""
    user = NAMES[place[0]][place[1]]
    what = f"{operation} on {place} by {holder.tenant}, bound to {holder.user}"
    if _names_its_own(holder, place):
        if operation in READING:
            world.ask(holder, operation, world.ids[place], user, what)
        return
    if place[0] != holder.tenant and operation in MAKING:
        return
    answer = world.ask(holder, operation, world.ids[place], user, what)
    _is_a_strangers(holder, place, operation, answer, what)
    if answer.status_code in ABSENT:
        absent = world.ask(holder, operation, world.ids[place] | _ABSENT_IDS, "absent", f"{what}, absent")
        assert absent.status_code == answer.status_code, what
        assert _told(answer) == _told(absent), what


def _is_a_strangers(holder: Holder, place: Place, operation: str, answer: httpx.Response, what: str) -> None:
    """The answer is one of those that a stranger gets."""
    _, _, bound, admin = PROBES[operation]
    inside = holder.tenant == place[0]
    allowed = bound if inside else (admin | REFUSED if holder.user is None else bound | admin | REFUSED | ABSENT)
    assert answer.status_code in allowed, f"{what}: {answer.status_code} {answer.text}"
    if answer.status_code in TAKEN:
        told = _told(answer)
        assert (told.pop("code"), told.pop("errors", []), told.pop("detail")) == (
            "id_taken",
            [],
            "This id is taken.",
        ), what
        assert set(told) == {"type", "title", "status"}, what


def _told(answer: httpx.Response) -> dict[str, Any]:
    return {name: value for name, value in answer.json().items() if name != "request_id"}


@pytest.mark.timeout(1500)
def test_no_sequence_of_calls_brings_anything_to_who_may_not_see_it(world: World, full_size: bool) -> None:
    Attack.world = world
    size = effort(
        max_examples=150 if full_size else 5,
        stateful_step_count=150 if full_size else 50,
        deadline=None,
        database=None,
        phases=[Phase.generate],  # what an example has written stays, so none can be made smaller
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(Attack, settings=size)
    _the_rest_is_asked_too(world)
    assert world.tried == set(ALL), "a route was not attacked"
    _everything_is_where_it_was(world)
    assert world.seen == set(world.canaries), "canaries are seen by whom they belong to, or this test sees nothing"


def _the_rest_is_asked_too(world: World) -> None:
    """By a key of the same tenant bound to somebody else, and by the third tenant's admin, whose ids are others."""
    inside = next(holder for holder in world.holders if (holder.tenant, holder.user) == (0, 1))
    outside = next(holder for holder in world.holders if (holder.tenant, holder.user) == (2, None))
    missing = sorted(set(ALL) - world.tried)
    for operation in random.sample(missing, len(missing)):
        attack(world, inside, (0, 0), operation)
    for operation in sorted(MAKING):
        user = NAMES[1][0]  # the first call of these makes what the later ones meet: any answer but a canary is right
        world.ask(outside, operation, world.ids[1, 0], user, f"{operation} by the third tenant")


def _everything_is_where_it_was(world: World) -> None:
    """Whatever strangers tried has changed and removed nothing."""
    for holder in world.holders:
        if holder.user is None:
            continue
        place = (holder.tenant, holder.user)
        user, ids, canary, client = NAMES[place[0]][place[1]], world.ids[place], world.canaries[place], holder.client
        looked_at = [
            f"/v1/sessions/{user}-session",
            f"/v1/sessions/{user}-session/messages/1",
            f"/v1/sessions/{user}-session/state",
            f"/v1/sessions/{user}-session/checkpoints/latest",
            f"/v1/users/{user}",
            f"/v1/users/{user}/facts/user.city",
            f"/v1/blocks/human?user_id={user}",
            f"/v1/procedures/{ids['procedure_id']}",
            f"/v1/memories/{ids['memory_id']}",
        ]
        for path in looked_at:
            answer = client.get(path)
            assert answer.is_success, f"{path}: {answer.text}"
            assert canary in answer.text, path
            world.look_at(holder, answer, path)
        thread = client.post("/v1/checkpoints/get", json={"thread_id": f"{user}-thread"}).json()
        assert thread["checkpoint"]["metadata"]["c"] == canary
        item = {"ops": [{"op": "get", "namespace": [user], "key": "k"}]}
        assert client.post("/v1/store/batch", json=item).json()["results"][0]["value"]["c"] == canary
