"""What is meant to be is not yet so: a plan keeps its words and its time, and takes no value's place."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from app.domain.extraction.candidates import Candidate

_STATES: Final = frozenset({"city", "employer", "job", "role", "team", "school", "major", "partner"})
_TASTES: Final = ("preference.", "user.favourite.")
"""What is so of somebody now, or not yet. What is appointed may well be ahead: a deadline, the next meeting."""

_INTENT: Final = re.compile(
    r"\b(?:plan(?:s|ning)? (?:on|to)|(?:thinking|dreaming) of|considering|hop(?:e|es|ing) to|intend(?:s|ing)? to|"
    r"(?:want|wants|would like|'d like|going|about) to (?:move|relocate|switch|change|quit|join|start))\b|"
    r"打算|计划(?:着|要|去|搬|换|跳槽|转)|准备(?:搬|换|跳|转|改|去|离|辞)|考虑|(?:想|希望|将|将要|即将|快要)要?(?:搬|换成|跳槽|转到|改用)",
    re.IGNORECASE,
)
_STILL: Final = re.compile(
    r"\b(?:until|till|through|for the next|up to|since)\b|为止|直到|到.{0,6}(?:才|之前|前)|自从|以来", re.IGNORECASE
)
"""The time in it is when it ends, or began."""

_AHEAD: Final = re.compile(r"下周|下个?月|明年|明天|后天|打算|准备")
"""No thing has such a name: the sentence was no "the N is now V"."""


def unplanned(candidates: list[Candidate], said_at: Mapping[int, datetime]) -> list[Candidate]:
    """The candidates; those that tell what is meant to become true of somebody hold no key and replace nothing.

    Args:
        candidates: In their order.
        said_at: When each turn was said, by seq.
    """
    return [_planned(one, said_at) for one in candidates]


def _planned(one: Candidate, said_at: Mapping[int, datetime]) -> Candidate:
    if one.key is None or one.change == "ends" or not _is_state(one.key):
        return one
    meant = _INTENT.search(one.text) is not None
    if not meant and not _is_ahead(one, said_at):
        return one
    bare = replace(one, key=None, value=None, change=None, before=None)
    if meant or one.category == "goal":
        return replace(bare, category="goal")
    return replace(bare, kind="episodic", category="event")


def _is_ahead(one: Candidate, said_at: Mapping[int, datetime]) -> bool:
    then = max((said_at[seq] for seq in one.seqs if seq in said_at), default=None)
    ahead = then is not None and one.occurred_at is not None and one.occurred_at > then
    return ahead and _STILL.search(one.text) is None


def _is_state(key: str) -> bool:
    name = key.rpartition(".")[2]
    return key.startswith(_TASTES) or name in _STATES or _AHEAD.search(name) is not None
