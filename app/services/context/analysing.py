"""Whatever of a context hangs on no budget: worked out beforehand where there is time, else when it is asked for."""

from collections.abc import Sequence
from typing import Final

from app.domain.context.defaults import Strategy
from app.domain.summary.lines import Line
from app.domain.summary.sentences import Sentence
from app.repositories.base import RowLike
from app.services.context.analysis import Analysis
from app.services.context.facts import Contradiction, contradictions
from app.services.context.gathered import Gathered
from app.services.context.history import ranked_history, sentences_said, system_messages
from app.services.context.recalled import Fact, Recalled
from app.services.summaries.rows import lines_of

STRATEGIES: Final[tuple[Strategy, ...]] = ("summary", "hierarchical", "selective")
"""Those in which sentences stand for messages."""


def analysed(found: Gathered, recalled: Recalled) -> Analysis:
    """Work it all out. Takes some tens of milliseconds of a processor where much was said."""
    unfolded = [row for row in found.recent if row["seq"] > found.session["summarized_seq"]]
    own = sentences_said(lines_of(unfolded, "UTC"))
    query = recalled.searched or recalled.query
    return Analysis.of(
        {one: ranked_history(one, found, query, recalled.related, own) for one in STRATEGIES},
        system_messages(found),
        [(one.fact.id, one.said, one.seq) for one in contradictions(recalled.facts, found.recent)],
        (found.recent[0]["seq"], found.recent[-1]["seq"]) if found.recent else (0, 0),
    )


def ranking_for(strategy: Strategy, found: Gathered, recalled: Recalled, missing: Sequence[Line]) -> list[Sentence]:
    """The sentences that may stand for earlier messages; `missing` are those that are neither folded nor shown."""
    if recalled.analysis is not None:
        return recalled.analysis.ranking(strategy)
    query = recalled.searched or recalled.query
    return ranked_history(strategy, found, query, recalled.related, sentences_said(missing))


def systems_of(found: Gathered, recalled: Recalled) -> list[Sentence]:
    """System messages that were folded, word for word."""
    return system_messages(found) if recalled.analysis is None else recalled.analysis.system_messages()


def contradicted_by(about: Sequence[Fact], recalled: Recalled, recent: Sequence[RowLike]) -> list[Contradiction]:
    """Of what is known about the user and of what was found: memories that the user's newer words contradict.

    Of messages that were looked at before, what was seen then.
    """
    told = {fact.id for fact in recalled.facts}
    profile = contradictions([fact for fact in about if fact.id not in told], recent)
    before = recalled.analysis
    if before is None:
        return [*profile, *contradictions(recalled.facts, recent)]
    known = {name: (said, seq) for name, said, seq in before.contradicted}
    newer = contradictions(recalled.facts, [row for row in recent if row["seq"] > before.to_seq])
    denied = {one.fact.id for one in newer}
    rest = [fact for fact in recalled.facts if fact.id not in denied]
    seen = [Contradiction(fact, *known[fact.id]) for fact in rest if fact.id in known]
    others = [fact for fact in rest if fact.id not in known]
    older = contradictions(others, [row for row in recent if row["seq"] < before.from_seq])
    return [*profile, *newer, *seen, *older]
