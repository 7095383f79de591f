"""From what was gathered and found to a context: who gets how much of the budget, and what stands in the sections."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Final

from app.core.text.language import language_of
from app.domain.context.defaults import SectionName, Strategy
from app.domain.context.layout import Layout, overhead
from app.domain.context.parts import MESSAGE_TOKENS, Count, Part, Piece, Spoken, newest_within, pieces_within
from app.domain.context.words import HEADINGS, Tongue
from app.domain.summary.lines import Line
from app.domain.summary.windows import beyond_window
from app.services.context.analysing import contradicted_by, ranking_for, systems_of
from app.services.context.blocks import block_part
from app.services.context.facts import Contradiction, fact_parts
from app.services.context.gathered import Gathered
from app.services.context.hints import hint_part
from app.services.context.history import history, pieces_of
from app.services.context.profile import profile_part
from app.services.context.recalled import Recalled
from app.services.context.spoken import grouped
from app.services.context.status import status_part
from app.services.summaries.rows import lines_of

LAST_MESSAGES: Final = 6
"""So many at the end of the conversation stand in a context before anything else of it."""

BLOCK_SHARE: Final = 0.25
"""Of the budget, for core memory at most."""

HISTORY_SHARE: Final = 0.6
"""Of what is left, for what stands for earlier messages at most."""

SYSTEM_SHARE: Final = 0.25
"""Of the budget, for system messages before anything else of the conversation but its end."""

LESSON_SHARE: Final = 3
"""One part in so many of what constraints leave to memories is kept for lessons and procedures, if there are any."""

PROFILE_SHARE: Final = 4
"""One part in so many of what constraints leave to memories is kept for the user's profile, at the first turn."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a context is to be made.

    Args:
        strategy: What stands for the conversation.
        budget: Tokens of the whole.
        memory_share: Of it, for memories.
        window_turns: The last turns that stay as they were said.
        window_tokens: What these may cost.
        summary_tokens: What a summary may cost.
        order: Of the sections.
        key: Signs the fences.
        count: The counter of tokens.
    """

    strategy: Strategy
    budget: int
    memory_share: float
    window_turns: int
    window_tokens: int | None
    summary_tokens: int
    order: tuple[SectionName, ...]
    key: bytes
    count: Count


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
    profile = profile_part([fact for fact in about if fact.id not in left_out], tongue, plan.count)
    dropped: list[tuple[SectionName, str]] = []
    purse = _Purse(plan, plan.budget, dropped)

    pinned, known, asked = fact_parts(facts, tongue, plan.count)
    memories = _Purse(plan, min(purse.left, int(plan.budget * plan.memory_share)), dropped)
    pinned = memories.buy(pinned, fenced=False)
    kept_back = min(sum(piece.tokens for piece in profile.pieces), memories.left // PROFILE_SHARE)
    memories.left -= kept_back
    known, taught = _divided(memories, known, hint_part(recalled.hints, tongue, plan.count))
    asked = memories.buy(asked, fenced=False)
    memories.left += kept_back
    profile = memories.buy(profile, fenced=False)
    status = status_part(
        found.state,
        recalled.number,
        memories=len(known.pieces) + len(asked.pieces),
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
        purse.pay(part) for part in (pinned, known, taught, asked, profile, status)
    )
    blocks = purse.buy(block_part(found.blocks, tongue, plan.count), most=int(plan.budget * BLOCK_SHARE))
    purse.left += reserved

    spoken, summary, strategy, missing = _conversation(found, recalled, lines, groups, plan, purse, tongue)
    parts = [blocks, profile, summary, known, asked, taught, pinned, status]
    layout = Layout(parts, spoken, plan.order, plan.key, plan.count)
    layout.fit(plan.budget)
    return Composed(layout, strategy, contradicted, [*dropped, *layout.dropped], missing)


@dataclass(slots=True)
class _Purse:
    """What is left of a budget."""

    plan: Plan
    left: int
    dropped: list[tuple[SectionName, str]]

    def buy(self, part: Part, *, most: int | None = None, fenced: bool = True) -> Part:
        """The section with what can be paid, its fence included where it has one of its own to pay."""
        if not part.pieces:
            return part
        cost = overhead(part, self.plan.key, self.plan.count) if fenced else 0
        room = min(self.left, self.left if most is None else most) - cost
        kept, left_out, _ = pieces_within(part.pieces, max(room, 0))
        self.dropped += [(part.name, piece.name) for piece in left_out]
        if kept:
            self.left -= cost + sum(piece.tokens for piece in kept)
        return replace(part, pieces=tuple(kept))

    def pay(self, part: Part) -> Part:
        """The section, all of it chosen already, if it can be paid."""
        return self.buy(part)


def _divided(purse: _Purse, known: Part, taught: Part) -> tuple[Part, Part]:
    """Facts, and lessons with procedures: these have their share for sure, and what facts leave of the rest."""
    kept_back = min(sum(piece.tokens for piece in taught.pieces), purse.left // LESSON_SHARE)
    known = purse.buy(known, most=purse.left - kept_back, fenced=False)
    return known, purse.buy(taught, fenced=False)


def _conversation(
    found: Gathered,
    recalled: Recalled,
    lines: Sequence[Line],
    groups: list[list[Spoken]],
    plan: Plan,
    purse: _Purse,
    tongue: Tongue,
) -> tuple[list[Spoken], Part, Strategy, bool]:
    """The messages that are shown, what stands for the others, and by which strategy."""
    strategy, window = plan.strategy, _window(lines, groups, plan)
    if strategy == "full":
        whole = [one for group in groups for one in group]
        if not found.session["summarized_seq"] and sum(one.tokens for one in whole) <= purse.left and not found.gap:
            return whole, _summary_part([], tongue, found), "full", False
        shown, _, _ = newest_within(groups, purse.left)
        complete = bool(found.recent) and found.recent[0]["seq"] == 1 and len(shown) == len(whole)
        if complete:
            return shown, _summary_part([], tongue, found), "full", False
        strategy = "summary"
    if strategy == "window":
        room = purse.left if plan.window_tokens is None else min(purse.left, plan.window_tokens)
        shown, left_out, _ = newest_within(window, room)
        purse.dropped += [("messages", str(one.seq)) for one in left_out]
        return shown, _summary_part([], tongue, found), "window", False
    return _summarised(found, recalled, lines, groups, plan, purse, tongue, strategy)


def _summarised(
    found: Gathered,
    recalled: Recalled,
    lines: Sequence[Line],
    groups: list[list[Spoken]],
    plan: Plan,
    purse: _Purse,
    tongue: Tongue,
    strategy: Strategy,
) -> tuple[list[Spoken], Part, Strategy, bool]:
    question = sum(one.tokens for group in groups[-1:] for one in group)
    led = _system_first(found, recalled, groups, plan, min(int(plan.budget * SYSTEM_SHARE), purse.left - question))
    purse.left -= sum(one.tokens for one in led)
    groups = [group for group in groups if group[0].seq not in {one.seq for one in led}]
    last, older, left = newest_within(groups, purse.left, LAST_MESSAGES)
    wish = plan.summary_tokens if strategy == "summary" else left
    reserve = min(wish, int(left * HISTORY_SHARE))
    begin = _first_shown(found, lines, groups, plan)
    rest = [group for group in groups if group[-1].seq >= begin and group[0].seq < (last[0].seq if last else begin)]
    more, _, _ = newest_within(rest, left - reserve)
    shown = [*more, *last]
    seqs = {one.seq for one in (*led, *shown)}
    cursor = found.session["summarized_seq"]
    missing = [line for line in lines if line.seq > cursor and line.seq not in seqs]
    purse.left = left - sum(one.tokens for one in more)
    part = _summary_part([], tongue, found)
    room = min(wish, purse.left - overhead(part, plan.key, plan.count))
    said = history(ranking_for(strategy, found, recalled, missing), seqs, max(room, 0), plan.count)
    part = replace(part, pieces=tuple(pieces_of(said, plan.count)))
    if part.pieces:
        purse.left -= overhead(part, plan.key, plan.count) + sum(piece.tokens for piece in part.pieces)
    more_systems = _system_first(found, recalled, [], plan, purse.left, led)
    purse.left -= sum(one.tokens for one in more_systems)
    told = {one.text for one in (*led, *more_systems)} | {one.text for one in shown if one.role == "system"}
    purse.dropped += [("messages", str(one.from_seq)) for one in systems_of(found, recalled) if one.text not in told]
    purse.dropped += [("messages", str(one.seq)) for one in older if one.seq not in seqs and one.seq > cursor]
    before = sorted((*led, *more_systems), key=lambda one: one.seq)
    return [*before, *shown], part, strategy, found.gap


def _first_shown(found: Gathered, lines: Sequence[Line], groups: list[list[Spoken]], plan: Plan) -> int:
    """The first message that is shown as it was said, if there is room: the window, and what is not folded yet."""
    window = _window(lines, groups, plan)
    begin = window[0][0].seq if window else 0
    return min(begin, int(found.session["summarized_seq"]) + 1)


def _window(lines: Sequence[Line], groups: list[list[Spoken]], plan: Plan) -> list[list[Spoken]]:
    """The groups of the last turns."""
    gone = {line.seq for turn in beyond_window(lines, plan.window_turns) for line in turn}
    return [group for group in groups if group[0].seq not in gone]


def _system_first(
    found: Gathered,
    recalled: Recalled,
    groups: list[list[Spoken]],
    plan: Plan,
    room: int,
    known: Sequence[Spoken] = (),
) -> list[Spoken]:
    """System messages with which a session began, and those that were folded, as they were: those that fit.

    Of equal ones the last. `known` are those that are shown already.
    """
    first = takewhile(lambda group: group[0].role == "system", groups if groups and groups[0][0].seq == 1 else [])
    begun = [one for group in first for one in group]
    folded = []
    for one in systems_of(found, recalled):
        cost = plan.count(f"system: {one.text}") + MESSAGE_TOKENS
        folded.append(Spoken(one.from_seq, "system", one.text, {"role": "system", "content": one.text}, cost))
    kept: dict[str, Spoken] = {}
    texts = {one.text for one in known}
    for spoken in reversed([*folded, *begun]):
        if spoken.text not in texts and spoken.text not in kept and spoken.tokens <= room:
            room -= spoken.tokens
            kept[spoken.text] = spoken
    return sorted(kept.values(), key=lambda one: one.seq)


def _summary_part(pieces: Sequence[Piece], tongue: Tongue, found: Gathered) -> Part:
    return Part("summary", HEADINGS[tongue]["summary"], f"session:{found.session['id']}", tuple(pieces))


def _tongue(found: Gathered, recalled: Recalled) -> Tongue:
    """The language of the service's own words: the one that the user speaks."""
    said = [row["text"] for row in found.recent if row["role"] == "user"][-3:]
    return "zh" if language_of("\n".join([*said, recalled.query])) == "zh" else "en"
