"""What a dream would change, step by step. Writes nothing."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

from app.core import clock
from app.domain.context.words import Tongue
from app.domain.dreaming.changes import Change, DreamStep
from app.domain.dreaming.dating import dated_text
from app.domain.dreaming.evolving import Version, evolution
from app.domain.profile import tongue_of
from app.domain.scope import Scope
from app.repositories.base import Row, RowLike
from app.services.closing import since
from app.services.drafting import zone_of_sender
from app.services.dreaming.reviewing import Reviewer, review_changes
from app.services.forgetting.consolidating import ConsolidationService, Findings
from app.services.profiles import EVOLUTION
from app.services.tenancy import tenant_defaults
from app.uow import Transaction, UnitOfWork

MOST: Final = 1_000
"""Memories that one dream looks at."""

AT_ONCE: Final = 200
GENERATIONS: Final = 5
"""How far a note on what was before looks back."""


@dataclass(frozen=True, slots=True)
class Planned:
    """The changes of a dream in the order in which they are done, the owner's language, and what was missing."""

    changes: list[Change]
    tongue: Tongue
    degraded: list[str]


@dataclass(frozen=True, slots=True)
class DreamPlanner:
    """Looks at an owner's memories and past messages. No connection is held while a model works."""

    uow: UnitOfWork
    reviewer: Reviewer
    consolidation: ConsolidationService

    async def plan(self, tenant_id: UUID, owner: str) -> Planned:
        """Everything that is to be put in order now."""
        at = clock.now()
        missed, degraded = await self.reviewer.missed(tenant_id, owner)
        found = await self.consolidation.rehearse(tenant_id, owner)
        async with self.uow.begin_tenant(tenant_id) as tx:
            rows = await _current(tx, owner, at)
            zone = await _zone(tx, owner)
            noted = await _evolutions(tx, rows, zone)
        gone = {row["id"] for group in found.groups for row in group.others}
        left = [row for row in rows if row["id"] not in gone]
        dated = await asyncio.to_thread(_dated, left, at, zone)
        changes = review_changes(missed, 1)
        for step, parts in (*_consolidated(found), *dated, *noted):
            changes.append(Change(len(changes) + 1, step, **parts))
        return Planned(changes, tongue_of([row["text"] for row in rows]), ["llm"] if degraded else [])


Parts = tuple[DreamStep, dict[str, Any]]


def _about(rows: Sequence[RowLike], after: str | None) -> dict[str, Any]:
    return {
        "memory_ids": [str(row["id"]) for row in rows],
        "versions": [row["version"] for row in rows],
        "before": [row["text"] for row in rows],
        "after": after,
    }


def _consolidated(found: Findings) -> list[Parts]:
    merges: list[Parts] = [("merge", _about([group.kept, *group.others], group.kept["text"])) for group in found.groups]
    clashes: list[Parts] = [("conflict", _about([pair.newer, pair.older], None)) for pair, _ in found.clashes]
    shorter: list[Parts] = [("shorten", _about([row], text)) for row, text in found.shortened]
    return [*merges, *clashes, *shorter]


def _dated(rows: Sequence[RowLike], at: datetime, zone: ZoneInfo) -> list[Parts]:
    """Plans and reports whose dates are relative, or whose day is over. Conclusions are no one's words."""
    found: list[Parts] = []
    for row in rows:
        if row["source"] == "derived" or row["sealed"] is not None or row["status"] != "active":
            continue
        text = dated_text(row["text"], since(row), at, zone)
        if text is not None:
            found.append(("dates", _about([row], text)))
    return found


async def _current(tx: Transaction, owner: str, at: datetime) -> list[Row]:
    rows: list[Row] = []
    while len(rows) < MOST:
        more = await tx.forgetting.after(owner, rows[-1]["id"] if rows else None, at, AT_ONCE)
        rows += more
        if len(more) < AT_ONCE:
            break
    return rows


async def _evolutions(tx: Transaction, rows: Sequence[Row], zone: ZoneInfo) -> list[Parts]:
    """Notes for what has replaced something, where they are not what is noted already."""
    own = [row for row in rows if row["source"] != "derived" and row["sealed"] is None]
    before: dict[UUID, list[Version]] = {row["id"]: [] for row in own}
    place = {name: name for name in before}
    for _ in range(GENERATIONS):
        older = await tx.dreams.predecessors(list(place)) if place else []
        nearer, place = place, {}
        for row in older:
            current = nearer[row["superseded_by"]]
            if row["id"] not in nearer:
                before[current].append(Version(row["text"], row["value"], since(row)))
                place[row["id"]] = current
    found: list[Parts] = []
    for row in own:
        if not before[row["id"]]:
            continue
        note = evolution([*before[row["id"]], Version(row["text"], row["value"], since(row))], zone)
        if note is not None and row["metadata"].get(EVOLUTION) != note:
            found.append(("evolution", _about([row], note)))
    return found


async def _zone(tx: Transaction, owner: str) -> ZoneInfo:
    user_id = Scope.of_owner(owner).user_id
    user = None if user_id is None else await tx.users.get(user_id)
    return ZoneInfo(zone_of_sender(None, None, user, (await tenant_defaults(tx)).timezone))
