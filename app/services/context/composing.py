"""From what was gathered and found to a context: who gets how much of the budget, and what stands in the sections."""

from dataclasses import dataclass
from typing import Final

from app.core.text.language import language_of
from app.domain.context.defaults import SectionName, Strategy
from app.domain.context.layout import Layout
from app.domain.context.parts import Part
from app.domain.context.words import Tongue
from app.services.context.analysing import contradicted_by
from app.services.context.blocks import block_part
from app.services.context.conversation import Conversation
from app.services.context.facts import Contradiction, current_of, fact_parts
from app.services.context.gathered import Gathered
from app.services.context.hints import hint_part
from app.services.context.plan import Plan, Purse
from app.services.context.profile import profile_part
from app.services.context.recalled import Recalled
from app.services.context.spoken import grouped
from app.services.context.status import status_part
from app.services.summaries.rows import lines_of

CONSTRAINT_SHARE: Final = 0.25
"""Of the budget, for pinned constraints at most where their memories' share is less: one missed spoils every answer."""

BLOCK_SHARE: Final = 0.25
"""Of the budget, for core memory at most."""

LESSON_SHARE: Final = 3
"""One part in so many of what constraints leave to memories is kept for lessons and procedures, if there are any."""

PROFILE_SHARE: Final = 4
"""One part in so many of what constraints leave to memories is kept for the user's profile, at the first turn."""


@dataclass(frozen=True, slots=True)
class Composed:
    """A context, laid out.

    Args:
        layout: Its sections and messages.
        strategy: The one that was taken.
        contradicted: Memories that were left out for the user's newer words.
        dropped: What the budget left out.
        missing: Whether something of the conversation is neither shown nor summarised.
    """

    layout: Layout
    strategy: Strategy
    contradicted: list[Contradiction]
    dropped: list[tuple[SectionName, str]]
    missing: bool


def compose_context(found: Gathered, recalled: Recalled, plan: Plan) -> Composed:
    """Give everything its room, what matters most first: the status, memories, core memory, the last messages, then
    what stands for the earlier ones, then more of these. Pure, but for caches.
    """
    tongue = _tongue(found, recalled)
    about = [] if recalled.skipped is not None else found.profile
    contradicted = contradicted_by(about, recalled, found.recent)
    left_out = {one.fact.id for one in contradicted} | {hint.id for hint in recalled.hints}
    facts = [fact for fact in recalled.facts if fact.id not in left_out]
    left_out |= {fact.id for fact in facts}
    current = {fact.id for fact in current_of([*about, *facts])} if about else set[str]()
    profile = profile_part([one for one in about if one.id in current - left_out], tongue, plan.count)
    dropped: list[tuple[SectionName, str]] = []
    purse = Purse(plan, plan.budget, dropped)

    pinned, known, asked = fact_parts(facts, tongue, plan.count)
    memories = Purse(plan, min(purse.left, int(plan.budget * plan.memory_share)), dropped)
    floor = int(plan.budget * CONSTRAINT_SHARE) if memories.left else 0
    pinned = Purse(plan, min(purse.left, max(memories.left, floor)), dropped).buy(pinned, fenced=False)
    memories.left = max(0, memories.left - sum(piece.tokens for piece in pinned.pieces))
    kept_back = min(sum(piece.tokens for piece in profile.pieces), memories.left // PROFILE_SHARE)
    memories.left -= kept_back
    known, taught = _divided(memories, known, hint_part(recalled.hints, tongue, plan.count))
    asked = memories.buy(asked, fenced=False)
    memories.left += kept_back
    profile = memories.buy(profile, fenced=False)
    status = status_part(
        found.state,
        recalled.number,
        memories=None if found.session["memory"] == "off" else len(known.pieces) + len(asked.pieces),
        constraints=len(pinned.pieces),
        to_confirm=len(asked.pieces),
        contradicted=contradicted,
        tongue=tongue,
        count=plan.count,
    )
    lines = lines_of(found.recent, "UTC")
    groups = grouped(found.recent, lines, plan.count)
    reserved = sum(one.tokens for group in groups[-1:] for one in group)
    purse.left -= reserved  # the question itself
    pinned, known, taught, asked, profile, status = (
        purse.buy(part) for part in (pinned, known, taught, asked, profile, status)
    )
    blocks = purse.buy(block_part(found.blocks, tongue, plan.count), most=int(plan.budget * BLOCK_SHARE))
    purse.left += reserved

    spoken, summary, strategy, missing = Conversation(found, recalled, lines, groups, plan, purse, tongue).parts()
    parts = [blocks, profile, summary, known, asked, taught, pinned, status]
    layout = Layout(parts, spoken, plan.order, plan.key, plan.count)
    layout.fit(plan.budget)
    return Composed(layout, strategy, contradicted, [*dropped, *layout.dropped], missing)


def _divided(purse: Purse, known: Part, taught: Part) -> tuple[Part, Part]:
    """Facts, and lessons with procedures: these have their share for sure, and what facts leave of the rest."""
    kept_back = min(sum(piece.tokens for piece in taught.pieces), purse.left // LESSON_SHARE)
    known = purse.buy(known, most=purse.left - kept_back, fenced=False)
    return known, purse.buy(taught, fenced=False)


def _tongue(found: Gathered, recalled: Recalled) -> Tongue:
    """The language of the service's own words: the one that the user speaks."""
    said = [row["text"] for row in found.recent if row["role"] == "user"][-3:]
    return "zh" if language_of("\n".join([*said, recalled.query])) == "zh" else "en"
