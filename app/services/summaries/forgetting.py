"""What is taken out of a session is taken out of its summaries too, and nothing prepared keeps it."""

from typing import Final

from app.domain.budget import estimate_tokens
from app.repositories.base import RowLike
from app.services.summaries.rows import node_of, said_anew
from app.uow import Transaction

LOST: Final = "rules"


async def forget_message(tx: Transaction, session: RowLike, seq: int) -> None:
    """Drop every sentence that a message bears out, in all summaries of a session whose row is locked."""
    for row in await tx.summaries.covering(session["id"], seq):
        node = node_of(row)
        left = [one for one in node.sentences if not one.from_seq <= seq <= one.to_seq]
        if len(left) < len(node.sentences):
            by = row["details"].get("by", LOST)
            await tx.summaries.change(node.id, said_anew(left, by, estimate_tokens))
    await tx.contexts.forget(session["id"])


async def forget_everything(tx: Transaction, session: RowLike) -> None:
    """Drop all summaries of a session whose row is locked; what is said from now on begins a new one."""
    await tx.summaries.clear(session["id"])
    await tx.sessions.summarized_to(session["id"], session["last_seq"], session["last_seq"])
    await tx.contexts.forget(session["id"])
