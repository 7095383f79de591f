"""Lives that a service remembers, day by day under a clock that is moved: what is left of them, and what is lost."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

import httpx
import time_machine

from app.core import clock
from benchmarks.lifetime import CONSTRAINTS, PREFERENCES, Person

SERVED: Final = 3
"""Hits of each question that an agent takes into its prompt, and says of each whether it was of use."""

AT_ONCE: Final = 100


@dataclass(frozen=True)
class Plan:
    """How long, how many, how often.

    Args:
        owners: People.
        days: Of simulated time.
        events: Noise of each person within it.
        truths: Things that are true of each and asked about, each at its own interval.
        least: Days between two questions about the most asked truth; the others take longer.
        step: Days between two turns of the clock.
        settings: The tenant's.
    """

    owners: int = 10
    days: int = 30
    events: int = 65
    truths: int = 4
    least: int = 10
    step: int = 10
    settings: dict[str, Any] = field(default_factory=lambda: {"half_life_days": {"episodic": 4, "semantic": 15}})


YEAR: Final = Plan(owners=100, days=365, events=200, truths=8, least=30, step=5, settings={})


@dataclass
class Outcome:
    """What is measured at the end, shares in [0, 1].

    Args:
        lost: Truths that were used within their half-lives and are no longer served.
        stale_noise: Noise among the default results of questions about it, that nobody has used for the whole time.
        values_right: Current values that are the last ones.
        recall_before, recall_after: Of the truths, within ten hits.
        constraints, preferences: Present in the contexts that they are about.
        growth: How many times more memories were written than there were at first.
        current, archived: Memories at the end.
    """

    lost: int = 0
    stale_noise: float = 0.0
    values_right: float = 0.0
    recall_before: float = 0.0
    recall_after: float = 0.0
    constraints: float = 0.0
    preferences: float = 0.0
    growth: float = 0.0
    current: int = 0
    archived: int = 0


@dataclass
class Life:
    """A simulation on one tenant.

    Args:
        client: With an admin key of the tenant.
        work: Runs the jobs that wait.
        flush: Writes down what was served.
        plan: How long and how much.
    """

    client: httpx.AsyncClient
    work: Callable[[], Awaitable[object]]
    flush: Callable[[], Awaitable[object]]
    plan: Plan
    _truths: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    _moves: dict[str, int] = field(default_factory=dict)
    _held: dict[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def people(self) -> list[Person]:
        return [Person(number) for number in range(self.plan.owners)]

    async def run(self) -> Outcome:
        """From the first day to the last; the clock is the caller's again afterwards."""
        start, plan = clock.now(), self.plan
        await self._post("PATCH", "/v1/admin/settings", plan.settings or {"decay": "on"})
        await self._begin()
        found = Outcome(recall_before=await self._recall())
        last = 0
        for day in range(plan.step, plan.days + 1, plan.step):
            with time_machine.travel(start + timedelta(days=day), tick=True):
                await self._happens(last, day)
                await self._ask(last, day)
                await self._move(last, day)
                await self._maintain()
            last = day
        with time_machine.travel(start + timedelta(days=last, hours=1), tick=True):
            await self._measure(found)
        return found

    async def _begin(self) -> None:
        items = []
        for person in self.people:
            language, scope = person.language, {"user_id": person.user_id}
            items += [{"text": text, **scope} for text, _ in person.truths(self.plan.truths)]
            items.append({"text": CONSTRAINTS[language][0][0], "category": "constraint", **scope})
            items.append({"text": PREFERENCES[language][0][0], "category": "preference", **scope})
        ids = await self._add(items)
        each = self.plan.truths + 2
        for place, person in enumerate(self.people):
            mine = ids[place * each : (place + 1) * each]
            questions = [question for _, question in person.truths(self.plan.truths)]
            self._truths[person.user_id] = list(zip(mine, questions, strict=False))
            self._held[person.user_id] = (mine[-2], mine[-1])
            await self._tell(person, 0)

    async def _happens(self, last: int, day: int) -> None:
        """Noise, as much of it as belongs to these days."""
        until, since = (self.plan.events * at // self.plan.days for at in (day, last))
        items = [
            {"text": text, "user_id": person.user_id, "kind": "episodic"}
            for person in self.people
            for text in person.noise(day, until - since)
        ]
        await self._add(items)

    async def _ask(self, last: int, day: int) -> None:
        """Questions whose turn it is; the agent says of what it was served whether it was of use."""
        for person in self.people:
            for place, (truth, question) in enumerate(self._truths[person.user_id]):
                every = self.plan.least + 2 * place
                if day // every == last // every:
                    continue
                hits = await self._search(person, question, SERVED)
                await self.flush()
                for hit in hits:
                    verdict = "used" if hit == truth else "ignored"
                    await self._post("POST", f"/v1/memories/{hit}/feedback", {"verdict": verdict})

    async def _move(self, last: int, day: int) -> None:
        for person in self.people:
            for part in (1, 2, 3):
                if last < self.plan.days * part // 4 + person.number % 3 <= day:
                    await self._tell(person, part)

    async def _tell(self, person: Person, change: int) -> None:
        self._moves[person.user_id] = change
        body = {"value": person.value(change)}
        await self._post("PUT", f"/v1/users/{person.user_id}/facts/user.city", body)

    async def _maintain(self) -> None:
        for person in self.people:
            await self._post("POST", f"/v1/users/{person.user_id}/maintain", {})
        await self.work()

    async def _measure(self, found: Outcome) -> None:
        found.recall_after = await self._recall()
        right = held = liked = stale = shown = 0
        for person in self.people:
            fact = (await self.client.get(f"/v1/users/{person.user_id}/facts/user.city")).json()
            right += fact.get("value") == person.value(self._moves[person.user_id])
            constraint, preference = self._held[person.user_id]
            held += constraint in await self._context(person, CONSTRAINTS[person.language][0][1])
            liked += preference in await self._context(person, PREFERENCES[person.language][0][1])
            old = set(await self._old_noise(person))
            for question in ("lunch at the canteen", "公交车晚了多少分钟"):
                hits = await self._search(person, question, 10)
                shown, stale = shown + 1, stale + bool(old & set(hits))
        people = len(self.people)
        found.values_right, found.constraints, found.preferences = right / people, held / people, liked / people
        found.stale_noise = stale / shown
        current = await self._ids()
        found.lost = sum(truth not in current for truths in self._truths.values() for truth, _ in truths)
        found.current, found.archived = len(current), len(await self._ids(status="archived"))
        first = self.plan.owners * (self.plan.truths + 3)
        found.growth = (first + self.plan.owners * self.plan.events) / first

    async def _recall(self) -> float:
        asked = [
            truth in await self._search(person, question, 10, explain=True)
            for person in self.people
            for truth, question in self._truths[person.user_id]
        ]
        return sum(asked) / len(asked)

    async def _old_noise(self, person: Person) -> list[str]:
        """Noise of the first half, all of it archived by now where anything is."""
        middle = (clock.now() - timedelta(days=self.plan.days / 2)).isoformat()
        chosen = {"AND": [{"kind": {"eq": "episodic"}}, {"created_at": {"lt": middle}}]}
        rows = await self._rows({"user_id": person.user_id, "filter": json.dumps(chosen)})
        return [row["id"] for row in rows if row["used_count"] == 0]

    async def _ids(self, **parameters: str) -> set[str]:
        return {row["id"] for row in await self._rows(dict(parameters))}

    async def _rows(self, parameters: dict[str, Any]) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        while True:
            response = await self.client.get("/v1/memories", params={"limit": 200, **parameters})
            response.raise_for_status()
            page = response.json()
            rows += page["results"]
            if page["next_cursor"] is None:
                return rows
            parameters = parameters | {"cursor": page["next_cursor"]}

    async def _context(self, person: Person, question: str) -> list[str]:
        session = f"{person.user_id}-{abs(hash(question))}"
        await self._post("POST", "/v1/sessions", {"id": session, "user_id": person.user_id})
        made = await self._post("POST", f"/v1/sessions/{session}/context", {"query": question})
        ids: list[str] = made["memory_ids"]
        return ids

    async def _search(self, person: Person, question: str, most: int, *, explain: bool = False) -> list[str]:
        body = {"query": question, "user_id": person.user_id, "top_k": most, "explain": explain}
        return [hit["id"] for hit in (await self._post("POST", "/v1/memories/search", body))["results"]]

    async def _add(self, items: list[dict[str, Any]]) -> list[str]:
        ids: list[str] = []
        for start in range(0, len(items), AT_ONCE):
            body = {"memories": items[start : start + AT_ONCE]}
            ids += [one["id"] for one in (await self._post("POST", "/v1/memories", body))["results"]]
        return ids

    async def _post(self, method: str, path: str, body: Any) -> Any:  # noqa: ANN401 - JSON
        response = await self.client.request(method, path, json=body)
        response.raise_for_status()
        return response.json()
