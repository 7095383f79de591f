"""What stands for the part of the conversation that is not shown as it was said, strategy by strategy."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Final, assert_never

from app.core.text.excerpts import excerpt
from app.core.text.tokens import tokens
from app.domain.context.defaults import Strategy
from app.domain.context.parts import Count, Piece
from app.domain.fence import cut
from app.domain.smalltalk import worth_retrieving
from app.domain.summary.choosing import ranked, taken
from app.domain.summary.lines import Line
from app.domain.summary.salience import salient
from app.domain.summary.sentences import Sentence
from app.services.context.gathered import Gathered
from app.services.summaries.reading import without_quotes

LONGEST_MESSAGE: Final = 400
"""Characters of an earlier message that are shown."""

FOUND_SCORE: Final = 0.75
BESIDE_SCORE: Final = 0.35
OPENED: Final = 0.5
"""What words that a sentence shares with the question add to its score, at most."""


def ranked_history(
    strategy: Strategy, found: Gathered, query: str, related: Sequence[tuple[int, float]], own: Sequence[Sentence]
) -> list[Sentence]:
    """Sentences that may stand for earlier messages, what matters most first; whatever the budget.

    Args:
        strategy: Which.
        found: The session, its summaries and what the question is about among it.
        query: The question.
        related: Messages of the session that are related to it: (number, relevance).
        own: Sentences of messages that are not folded.
    """
    rolled = [sentence for node in found.nodes for sentence in node.sentences]
    match strategy:
        case "window":
            return []
        case "full" | "summary":
            pool = rolled
        case "hierarchical":
            opened = [sentence for node in found.opened for sentence in node.sentences]
            rolled = _towards(query, rolled)
            pool = [*rolled, *_towards(query, opened)]
        case "selective":
            around = _related(found, dict(related), query)
            whole = {one.from_seq: one.text for one in around}
            pool = [*(one for one in rolled if one.text not in whole.get(one.from_seq, "")), *around]
        case _:
            assert_never(strategy)
    spoken = [one for one in (*pool, *own) if one.sort != "system"]
    said = [row for row in found.recent if row["role"] == "user"]
    later = [_said(row["text"], row["seq"], row["role"], 0.0) for row in said]
    # What was folded was held against all that was folded before it.
    return ranked(without_quotes(spoken, found.overtaken), later, frozenset(rolled))


def history(ranking: Sequence[Sentence], shown: AbstractSet[int], room: int, count: Count) -> list[Sentence]:
    """Of ranked sentences those that are not shown as they were said, within `room` tokens, in order."""
    return taken([one for one in ranking if not (one.from_seq in shown and one.to_seq in shown)], room, count)


def sentences_said(lines: Sequence[Line]) -> list[Sentence]:
    """The sentences of messages that are not folded yet."""
    return [one for one in salient(lines) if one.sort != "system"] if lines else []


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


def _related(found: Gathered, relevance: Mapping[int, float], query: str) -> list[Sentence]:
    """Messages that the question is about, and what stands beside them, as sentences."""
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
        sentences.append(_said(excerpt(text, query, LONGEST_MESSAGE), row["seq"], row["role"], score))
    return sentences


def _said(text: str, seq: int, role: str, score: float) -> Sentence:
    plain = " ".join(text.split())
    short = plain if len(plain) <= LONGEST_MESSAGE else plain[: LONGEST_MESSAGE - 1] + "…"
    return Sentence(short, seq, seq, role, "statement", score)
