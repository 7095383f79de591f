"""The summary as answers have it: the rolling text, its sentences with their ranges, and the tree they stand in."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.domain.budget import estimate_tokens
from app.domain.context.defaults import ContextDefaults
from app.domain.principal import Principal
from app.domain.summary.sentences import Sentence, shown
from app.domain.summary.tree import rolling
from app.repositories.base import Row, RowLike
from app.schemas.summaries import Summary, SummaryNode, SummarySentence
from app.services.sessions import alive
from app.services.summaries.rows import node_of
from app.uow import Transaction, UnitOfWork

MOST_QUOTES: Final = 1_000


@dataclass(frozen=True, slots=True)
class SummaryService:
    """The use case of reading."""

    uow: UnitOfWork

    async def get(self, principal: Principal, session_id: str) -> Summary:
        """A session's summary; empty where nothing has left its window yet."""
        principal.require("sessions:read")
        async with self.uow.begin(principal, reading=True) as tx:
            return await read_summary(tx, alive(await tx.sessions.get(session_id)), principal.defaults.context)


async def read_summary(tx: Transaction, session: Row, defaults: ContextDefaults) -> Summary:
    """The summary of a session that the key may see."""
    rows = await tx.summaries.tree(session["id"])
    gone = await tx.summaries.overtaken(session["id"], MOST_QUOTES)
    unfolded = await tx.messages.count(session["id"], session["summarized_seq"] + 1)
    nodes = sorted((node_of(row) for row in rows if row["superseded_at"] is None), key=lambda node: node.from_seq)
    chosen = await asyncio.to_thread(rolling, nodes, defaults.summary_max_tokens, estimate_tokens)
    sentences = without_quotes(chosen, gone)
    text = shown(sentences)
    return Summary(
        session_id=session["id"],
        text=text,
        tokens=estimate_tokens(text) if text else 0,
        from_seq=nodes[0].from_seq if nodes else None,
        to_seq=session["summarized_seq"],
        unfolded=unfolded,
        sentences=[told(sentence) for sentence in sentences],
        tree=[
            SummaryNode(
                id=str(row["id"]),
                level=row["level"],
                from_seq=row["from_seq"],
                to_seq=row["to_seq"],
                tokens=row["tokens"],
                current=row["superseded_at"] is None,
                made_from=[str(one) for one in row["parents"]],
                made_by=row["details"].get("by", "rules"),
                created_at=row["created_at"],
                sentences=[told(Sentence.of(one)) for one in row["details"].get("sentences", [])],
            )
            for row in rows
        ],
    )


def told(sentence: Sentence) -> SummarySentence:
    """A sentence as answers have it."""
    return SummarySentence(
        text=sentence.text,
        role=sentence.role,
        sort=sentence.sort,
        from_seq=sentence.from_seq,
        to_seq=sentence.to_seq,
    )


def without_quotes(sentences: Sequence[Sentence], gone: Sequence[RowLike]) -> list[Sentence]:
    """The sentences but for those whose words are the quote of a memory that is history."""
    return [one for one in sentences if one.sort == "system" or not any(_is_quoted(one, row) for row in gone)]


def _is_quoted(sentence: Sentence, row: RowLike) -> bool:
    inside = any(sentence.from_seq <= seq <= sentence.to_seq for seq in row["seqs"])
    return inside and row["quote"] in sentence.text
