"""What the rules of forgetting would do to the memories of an owner at an instant, and why. Changes nothing."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from app.domain.lifecycle.doubting import IMPORTANT, doubtful
from app.domain.lifecycle.policies import ActionName, PolicyName
from app.domain.lifecycle.policy import ForgettingPolicy
from app.domain.lifecycle.strength import Trace, exempt, shortest_stay, strength
from app.repositories.base import Row
from app.uow import Transaction

MOST_WEIGHED: Final = 20_000
"""Memories of one owner that are weighed against each other for want of room: those not used for longest."""


@dataclass(frozen=True, slots=True)
class Intended:
    """What is to happen to one memory.

    Args:
        row: As it was read.
        policy: By which rule.
        action: What.
        reason: Why, in a word that stays the same.
        strength: Where that is the reason.
    """

    row: Row
    policy: PolicyName
    action: ActionName
    reason: str
    strength: float | None = None


@dataclass(frozen=True, slots=True)
class Planner:
    """Reads within a transaction."""

    tx: Transaction
    owner: str
    policy: ForgettingPolicy
    at: datetime

    async def plan(self, policies: Collection[PolicyName], limit: int) -> list[Intended]:
        """Up to `limit` intentions of each rule; each memory once, by the first rule that is about it."""
        found: list[Intended] = []
        if "expire" in policies:
            found += await self._expired(limit)
        if "decay" in policies and self.policy.decay:
            found += await self._faded(limit)
        if "capacity" in policies and self.policy.capacity is not None:
            leaving = sum(one.action in {"archive", "expire"} and one.row["status"] == "active" for one in found)
            found += await self._beyond(self.policy.capacity, leaving, {one.row["id"] for one in found}, limit)
        if "retention" in policies and self.policy.archived_kept_days is not None:
            before = self.at - timedelta(days=self.policy.archived_kept_days)
            rows = await self.tx.forgetting.archived_before(self.owner, before, limit)
            found += [Intended(row, "retention", "delete", "archived_long_ago") for row in rows]
        if "verify" in policies:
            gone = {one.row["id"] for one in found}
            found += [one for one in await self._doubted(limit) if one.row["id"] not in gone]
        return found

    async def _expired(self, limit: int) -> list[Intended]:
        late = await self.tx.forgetting.expiring(self.at, limit, self.owner)
        rows = await self.tx.memories.by_ids([row["id"] for row in late])
        return [Intended(row, "expire", "expire", "ttl") for row in rows]

    async def _faded(self, limit: int) -> list[Intended]:
        before = self.at - shortest_stay(self.policy)
        rows = await self.tx.forgetting.untouched(self.owner, self.policy.fading_kinds, before, self.at, MOST_WEIGHED)
        weighed = [(strength(Trace.of(row), self.at, self.policy), row) for row in rows if not exempt(row)]
        weak = [(left, row) for left, row in weighed if left < self.policy.archive_below]
        return [Intended(row, "decay", "archive", "not_used", round(left, 4)) for left, row in weak[:limit]]

    async def _beyond(self, capacity: int, leaving: int, chosen: Collection[object], limit: int) -> list[Intended]:
        surplus = await self.tx.forgetting.current_count(self.owner, self.at) - leaving - capacity
        if surplus <= 0:
            return []
        rows = await self.tx.forgetting.fading(self.owner, self.policy.fading_kinds, self.at, MOST_WEIGHED)
        others = [row for row in rows if row["id"] not in chosen and not exempt(row)]
        weighed = [(strength(Trace.of(row), self.at, self.policy), row) for row in others]
        weighed.sort(key=lambda one: (one[0], one[1]["importance"], one[1]["id"]))
        return [
            Intended(row, "capacity", "archive", "over_capacity", round(left, 4))
            for left, row in weighed[: min(surplus, limit)]
        ]

    async def _doubted(self, limit: int) -> list[Intended]:
        before = self.at - timedelta(days=self.policy.confirm_after_days)
        found = []
        for row in await self.tx.forgetting.questionable(self.owner, IMPORTANT, before, self.at):
            reason = doubtful(row, self.at, self.policy)
            if (reason is not None) != row["needs_confirmation"]:
                found.append(Intended(row, "verify", "settle" if reason is None else "ask", reason or "said_again"))
        return found[:limit]
