"""How well conflicts are decided, measured on labelled pairs."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tests.extraction.labels import Pair, Verdict
from tests.extraction.scores import Share

LOSING: Final[frozenset[Verdict]] = frozenset({"reinforce", "correct", "supersede", "retract"})
"""Verdicts after which one of the two statements is no longer served."""

KEEPING: Final[frozenset[Verdict]] = frozenset({"add", "complement", "contradict"})
"""Verdicts after which both are."""


@dataclass(frozen=True, slots=True)
class VerdictReport:
    """Shares of right verdicts, and what went wrong.

    Args:
        total: Right verdicts of all pairs.
        by_language: The same of each language.
        by_verdict: The same of each label: how many of the pairs that have it were found.
        lost: Pairs whose two statements are both to be served, but one was dropped: the fault that hurts most.
        stale: Pairs of which one statement has to go, but both were kept.
        errors: A line for each wrong verdict.
    """

    total: Share
    by_language: Mapping[str, Share]
    by_verdict: Mapping[str, Share]
    lost: Share
    stale: Share
    errors: Sequence[str]


def score_verdicts(pairs: Iterable[Pair], decided: Mapping[str, Verdict]) -> VerdictReport:
    """Compare verdicts, by the id of their pair, with the labels; a pair without one is wrong and drops nothing."""
    right: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    errors = []
    for pair in pairs:
        given = decided.get(pair.id)
        names = ["total", pair.language, pair.verdict, "keeping" if pair.verdict in KEEPING else "losing"]
        asked.update(names)
        if given == pair.verdict:
            right.update(names[:3])
        else:
            trap = f" ({pair.trap})" if pair.trap else ""
            errors.append(f"{pair.id} {given}, not {pair.verdict}{trap}: {pair.old.text!r} <- {pair.new.text!r}")
        right["keeping"] += pair.verdict in KEEPING and given in LOSING
        right["losing"] += pair.verdict in LOSING and given not in LOSING
    shares = {name: Share(right[name], asked[name]) for name in asked}
    return VerdictReport(
        total=shares.get("total", Share()),
        by_language={name: shares[name] for name in ("en", "zh") if name in shares},
        by_verdict={name: shares[name] for name in sorted(LOSING | KEEPING) if name in shares},
        lost=shares.get("keeping", Share()),
        stale=shares.get("losing", Share()),
        errors=errors,
    )
