"""The part of a context that is the conversation: messages as they were said, and what stands for the others."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Final

from app.domain.context.defaults import Strategy
from app.domain.context.layout import overhead
from app.domain.context.parts import MESSAGE_TOKENS, Part, Spoken, newest_within
from app.domain.context.words import HEADINGS, Tongue
from app.domain.summary.lines import Line
from app.domain.summary.windows import beyond_window
from app.services.context.analysing import ranking_for, systems_of
from app.services.context.gathered import Gathered
from app.services.context.history import history, pieces_of
from app.services.context.plan import Plan, Purse
from app.services.context.recalled import Recalled

LAST_MESSAGES: Final = 6
"""So many at the end of the conversation stand in a context before anything else of it."""

HISTORY_SHARE: Final = 0.6
"""Of what is left, for what stands for earlier messages at most."""

SYSTEM_SHARE: Final = 0.25
"""Of the budget, for system messages before anything else of the conversation but its end."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A session's conversation on its way into a context.

    Args:
        found: The session.
        recalled: What the question is about.
        lines: Its last messages.
        groups: The same, as they are shown: a call of a tool with its results.
        plan: How the context is to be made.
        purse: What is left of its budget.
        tongue: The language of the service's own words.
    """

    found: Gathered
    recalled: Recalled
    lines: Sequence[Line]
    groups: list[list[Spoken]]
    plan: Plan
    purse: Purse
    tongue: Tongue

    def parts(self) -> tuple[list[Spoken], Part, Strategy, bool]:
        """The messages that are shown, what stands for the others, by which strategy, and whether some are missing."""
        found, purse, strategy = self.found, self.purse, self.plan.strategy
        if strategy == "full":
            whole = [one for group in self.groups for one in group]
            if not found.session["summarized_seq"] and sum(one.tokens for one in whole) <= purse.left and not found.gap:
                return whole, self._summary(), "full", False
            shown, _, _ = newest_within(self.groups, purse.left)
            complete = bool(found.recent) and found.recent[0]["seq"] == 1 and len(shown) == len(whole)
            if complete:
                return shown, self._summary(), "full", False
            strategy = "summary"
        led = self._led()
        groups = [group for group in self.groups if group[0].seq not in {one.seq for one in led}]
        if strategy == "window":
            return self._within_window(led, groups)
        return self._summarised(led, groups, strategy)

    def _within_window(
        self, led: list[Spoken], groups: list[list[Spoken]]
    ) -> tuple[list[Spoken], Part, Strategy, bool]:
        purse, most = self.purse, self.plan.window_tokens
        room = purse.left if most is None else min(purse.left, most)
        shown, left_out, _ = newest_within(self._window(groups), room)
        purse.dropped += [("messages", str(one.seq)) for one in left_out]
        return [*led, *shown], self._summary(), "window", False

    def _summarised(
        self, led: list[Spoken], groups: list[list[Spoken]], strategy: Strategy
    ) -> tuple[list[Spoken], Part, Strategy, bool]:
        found, recalled, plan, purse = self.found, self.recalled, self.plan, self.purse
        last, older, left = newest_within(groups, purse.left, LAST_MESSAGES)
        wish = plan.summary_tokens if strategy == "summary" else left
        reserve = min(wish, int(left * HISTORY_SHARE))
        begin = self._first_shown(groups)
        rest = [group for group in groups if group[-1].seq >= begin and group[0].seq < (last[0].seq if last else begin)]
        more, _, _ = newest_within(rest, left - reserve)
        shown = [*more, *last]
        seqs = {one.seq for one in (*led, *shown)}
        cursor = found.session["summarized_seq"]
        missing = [line for line in self.lines if line.seq > cursor and line.seq not in seqs]
        purse.left = left - sum(one.tokens for one in more)
        part = self._summary()
        room = min(wish, purse.left - overhead(part, plan.key, plan.count))
        said = history(ranking_for(strategy, found, recalled, missing), seqs, max(room, 0), plan.count)
        part = replace(part, pieces=tuple(pieces_of(said, plan.count)))
        if part.pieces:
            purse.left -= overhead(part, plan.key, plan.count) + sum(piece.tokens for piece in part.pieces)
        more_systems = self._system_first([], purse.left, led)
        purse.left -= sum(one.tokens for one in more_systems)
        told = {one.text for one in (*led, *more_systems)} | {one.text for one in shown if one.role == "system"}
        purse.dropped += [
            ("messages", str(one.from_seq)) for one in systems_of(found, recalled) if one.text not in told
        ]
        purse.dropped += [("messages", str(one.seq)) for one in older if one.seq not in seqs and one.seq > cursor]
        before = sorted((*led, *more_systems), key=lambda one: one.seq)
        return [*before, *shown], part, strategy, found.gap

    def _led(self) -> list[Spoken]:
        """What the host told the model: it stands before the conversation, whatever of that is shown."""
        question = sum(one.tokens for group in self.groups[-1:] for one in group)
        room = min(int(self.plan.budget * SYSTEM_SHARE), self.purse.left - question)
        led = self._system_first(self.groups, room)
        self.purse.left -= sum(one.tokens for one in led)
        return led

    def _first_shown(self, groups: list[list[Spoken]]) -> int:
        """The first message that is shown as it was said, if there is room: the window, and what is not folded yet."""
        window = self._window(groups)
        begin = window[0][0].seq if window else 0
        return min(begin, int(self.found.session["summarized_seq"]) + 1)

    def _window(self, groups: list[list[Spoken]]) -> list[list[Spoken]]:
        """The groups of the last turns."""
        gone = {line.seq for turn in beyond_window(self.lines, self.plan.window_turns) for line in turn}
        return [group for group in groups if group[0].seq not in gone]

    def _system_first(self, groups: list[list[Spoken]], room: int, known: Sequence[Spoken] = ()) -> list[Spoken]:
        """System messages with which a session began, and those that were folded, as they were: those that fit.

        Of equal ones the last. `known` are those that are shown already.
        """
        first = takewhile(lambda group: group[0].role == "system", groups if groups and groups[0][0].seq == 1 else [])
        begun = [one for group in first for one in group]
        folded = []
        for one in systems_of(self.found, self.recalled):
            cost = self.plan.count(f"system: {one.text}") + MESSAGE_TOKENS
            folded.append(Spoken(one.from_seq, "system", one.text, {"role": "system", "content": one.text}, cost))
        kept: dict[str, Spoken] = {}
        texts = {one.text for one in known}
        for spoken in reversed([*folded, *begun]):
            if spoken.text not in texts and spoken.text not in kept and spoken.tokens <= room:
                room -= spoken.tokens
                kept[spoken.text] = spoken
        return sorted(kept.values(), key=lambda one: one.seq)

    def _summary(self) -> Part:
        return Part("summary", HEADINGS[self.tongue]["summary"], f"session:{self.found.session['id']}", ())
