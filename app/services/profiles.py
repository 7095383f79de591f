"""The profile of a user: facts that the user stated or somebody confirmed, each with its source; insights apart."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from app.core import clock
from app.domain.context.words import Tongue
from app.domain.principal import Principal
from app.domain.profile import PROFILE_PARTS, TITLES, part_of, profile_text, tongue_of
from app.domain.scope import Scope
from app.repositories.base import RowLike
from app.schemas.memories import Memory
from app.schemas.profiles import Insight, Profile, ProfileFact, ProfileSection
from app.services.presenting import memories_of
from app.services.users import known_user
from app.uow import UnitOfWork

MOST_FACTS: Final = 200
MOST_INSIGHTS: Final = 20

EVOLUTION: Final = "evolution"
"""Where a memory's metadata holds what was so before."""

INSIGHT: Final = "insight"
"""Where a memory's metadata holds how it was concluded: `method` and `based_on`."""


@dataclass(frozen=True, slots=True)
class ProfileService:
    """The use case of `GET /v1/users/{id}/profile`. Reads only: a profile is never out of date."""

    uow: UnitOfWork

    async def get(self, principal: Principal, user_id: str) -> Profile:
        """The profile as it is now."""
        principal.require("memories:read")
        owner, at = Scope(user_id).owner, clock.now()
        async with self.uow.begin(principal, reading=True) as tx:
            await known_user(tx, user_id)
            rows = await tx.profiles.facts(owner, at, MOST_FACTS + 1)
            concluded = await tx.profiles.insights(owner, at, MOST_INSIGHTS)
            facts = await memories_of(tx, rows[:MOST_FACTS])
            insights = await memories_of(tx, concluded)
        confirmed = {
            str(row["id"]) for row in rows if row["confirmed"] or row["source"] in {"assistant_said", "inferred"}
        }
        sections = _sections(facts, confirmed, tongue_of([fact.text for fact in facts]))
        tongue = tongue_of([fact.text for fact in facts] or [one.text for one in insights])
        shown = [insight_of(one) for one in insights]
        parts = [(one.name, [fact.text for fact in one.facts]) for one in sections]
        return Profile(
            user_id=user_id,
            language=tongue,
            sections=sections,
            insights=shown,
            text=profile_text(parts, [one.text for one in shown], tongue),
            truncated=len(rows) > MOST_FACTS,
        )


def _sections(facts: Sequence[Memory], confirmed: set[str], tongue: Tongue) -> list[ProfileSection]:
    found: list[ProfileSection] = []
    for name in PROFILE_PARTS:
        mine = [_fact(fact, fact.id in confirmed) for fact in facts if part_of(fact.category) == name]
        if mine:
            found.append(ProfileSection(name=name, title=TITLES[tongue][name], facts=mine))
    return found


def _fact(memory: Memory, confirmed: bool) -> ProfileFact:  # noqa: FBT001 - a column
    noted = memory.metadata.get(EVOLUTION)
    own = ("text", "category", "key", "value", "source", "confidence", "sources")
    return ProfileFact(
        memory_id=memory.id,
        confirmed=confirmed,
        disputed=memory.status == "disputed",
        since=memory.valid_from or memory.created_at,
        evolution=noted if isinstance(noted, str) else None,
        **{name: getattr(memory, name) for name in own},
    )


def insight_of(memory: Memory) -> Insight:
    """An insight as answers have it."""
    known = memory.metadata.get(INSIGHT)
    told: dict[str, Any] = known if isinstance(known, dict) else {}
    based_on = told.get("based_on")
    return Insight(
        memory_id=memory.id,
        text=memory.text,
        method="counted" if told.get("method") == "counted" else "llm",
        confidence=memory.confidence,
        based_on=[str(one) for one in based_on] if isinstance(based_on, list) else [],
        created_at=memory.created_at,
        sources=memory.sources,
    )


def servable(row: RowLike, app_id: str | None) -> bool:
    """Whether a fact may stand in a prompt of this app: nothing sealed, nothing that is kept out of contexts."""
    here = row["use"] == "everywhere" or (row["use"] == "this_app" and row["app_id"] == app_id)
    return here and row["sealed"] is None and not row["sensitive"] and not row["needs_confirmation"]
