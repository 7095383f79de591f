"""What stands for the part of the conversation that is not shown as it was said, strategy by strategy."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Final, assert_never

from app.core.text.tokens import tokens
from app.domain.context.defaults import Strategy
from app.domain.context.parts import Count, Piece
from app.domain.fence import cut
from app.domain.smalltalk import worth_retrieving
from app.domain.summary.choosing import chosen
from app.domain.summary.lines import Line
from app.domain.summary.salience import salient
from app.domain.summary.sentences import Sentence
from app.services.context.gathered import Gathered
from app.services.context.recalled import Recalled
from app.services.summaries.reading import without_quotes

LONGEST_MESSAGE: Final = 400
"""Characters of an earlier message that are shown."""

FOUND_SCORE: Final = 0.75
BESIDE_SCORE: Final = 0.35
OPENED: Final = 0.5
"""What words that a sentence shares with the question add to its score, at most."""


def history(
    strategy: Strategy,
    found: Gathered,
    recalled: Recalled,
    missing: Sequence[Line],
    shown: AbstractSet[int],
    room: int,
    count: Count,
) -> list[Sentence]:
    """Sentences for what is not shown, within `room`, in order; system messages are not among them.

    Args:
        strategy: Which.
        found: The session.
        recalled: What the question is about.
        missing: Messages that are neither folded nor shown: their own sentences stand for them.
        shown: The numbers of the messages that are shown as they were said.
        room: Tokens.
        count: The counter of tokens.
    """
    rolled = [sentence for node in found.nodes for sentence in node.sentences]
    match strategy:
        case "window":
            return []
        case "full" | "summary":
            pool = rolled
        case "hierarchical":
            opened = [sentence for node in found.opened for sentence in node.sentences]
            pool = _towards(recalled.searched or recalled.query, [*rolled, *opened])
        case "selective":
            related = _related(found, recalled)
            whole = {one.from_seq: one.text for one in related}
            pool = [*(one for one in rolled if one.text not in whole.get(one.from_seq, "")), *related]
        case _:
            assert_never(strategy)
    folded = [one for one in pool if one.sort != "system"]
    own = [one for one in salient(missing) if one.sort != "system"] if missing else []
    said = [row for row in found.recent if row["seq"] in shown and row["role"] == "user"]
    later = [_said(row["text"], row["seq"], row["role"], 0.0) for row in said]
    unseen = [one for one in [*folded, *own] if not (one.from_seq == one.to_seq and one.from_seq in shown)]
    return chosen(without_quotes(unseen, found.overtaken), room, count, later)


def system_messages(found: Gathered) -> list[Sentence]:
    """System messages that were folded, word for word."""
    return [one for node in found.nodes for one in node.sentences if one.sort == "system"]


def pieces_of(sentences: Sequence[Sentence], count: Count) -> list[Piece]:
    """A line a sentence, ranked by how much it matters."""
    found = []
    for one in sentences:
        rank = one.score + (10.0 if one.sort == "constraint" else 0.0)
        details = {"from_seq": one.from_seq, "to_seq": one.to_seq}
        found.append(Piece(one.shown, count(one.shown) + 1, f"{one.from_seq}..{one.to_seq}", rank, details))
    return found


def _towards(query: str, sentences: Sequence[Sentence]) -> list[Sentence]:
    """The sentences, those that share the question's words raised."""
    asked = set(tokens(query))
    if not asked:
        return list(sentences)
    found = []
    for one in sentences:
        share = len(asked & set(tokens(one.text))) / len(asked)
        found.append(replace(one, score=min(1.0, one.score + OPENED * share)))
    return found


def _related(found: Gathered, recalled: Recalled) -> list[Sentence]:
    """Messages that the question is about, and what stands beside them, as sentences."""
    relevance = dict(recalled.related)
    sentences = []
    for row in found.around:
        if row["role"] == "system":
            continue
        text = cut(row["text"]) or ""
        if not text.strip():
            continue
        if row["seq"] in relevance:
            score = FOUND_SCORE + (1 - FOUND_SCORE) * relevance[row["seq"]]
        elif worth_retrieving(text):
            score = BESIDE_SCORE
        else:
            continue
        sentences.append(_said(text, row["seq"], row["role"], score))
    return sentences


def _said(text: str, seq: int, role: str, score: float) -> Sentence:
    plain = " ".join(text.split())
    short = plain if len(plain) <= LONGEST_MESSAGE else plain[: LONGEST_MESSAGE - 1] + "…"
    return Sentence(short, seq, seq, role, "statement", score)
