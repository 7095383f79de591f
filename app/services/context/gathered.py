"""What a context is made from, read in one short transaction."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from app.domain.fence import cut
from app.domain.summary.tree import Node
from app.repositories.base import Row, RowLike
from app.services.context.profile import profile_facts
from app.services.context.recalled import Fact
from app.services.summaries.reading import MOST_QUOTES
from app.services.summaries.rows import node_of
from app.uow import Transaction

LEAST_RECENT: Final = 40
MOST_RECENT: Final = 260
"""Messages that are read of a session's end. What is neither among them nor folded is told as missing."""

LEAST_COST: Final = 5
"""Tokens of the shortest message: so many more cannot stand within a budget."""

MOST_WHOLE: Final = 5_000
REACH: Final = 1
"""Messages before and after a related one."""


@dataclass(slots=True)
class Gathered:
    """A session as it stands.

    Args:
        session: Its row.
        recent: Its last messages, oldest first, redacted ones apart.
        blocks: Core memory in reach.
        nodes: The current summaries, by place.
        overtaken: Quotes of memories that are history.
        profile: What is known about the user, what matters most first; at the first turn only.
        state: The state's document.
        around: Messages that the question is about, and what stands beside them.
        opened: Summaries of the stretches in which these stand.
    """

    session: Row
    recent: list[Row]
    blocks: list[Row] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    overtaken: list[dict[str, Any]] = field(default_factory=list)
    profile: list[Fact] = field(default_factory=list)
    state: dict[str, Any] = field(default_factory=dict)
    around: list[Row] = field(default_factory=list)
    opened: list[Node] = field(default_factory=list)

    @property
    def question(self) -> RowLike | None:
        """The last message, if the user said it."""
        return self.recent[-1] if self.recent and self.recent[-1]["role"] == "user" else None

    @property
    def asked(self) -> str | None:
        """What the user asks, without what was served into the message before; None where nothing is left."""
        text = "" if self.question is None else cut(self.question["text"])
        return text if text.strip() else None

    @property
    def before(self) -> Sequence[RowLike]:
        """What was said before the question."""
        return self.recent[:-1] if self.question is not None else self.recent

    @property
    def first(self) -> bool:
        """Whether nobody has answered the user yet."""
        return not any(row["role"] == "user" for row in self.before) and not self.session["summarized_seq"]

    @property
    def gap(self) -> bool:
        """Whether messages are missing that are neither folded nor among the recent ones."""
        return bool(self.recent) and self.recent[0]["seq"] > self.session["summarized_seq"] + 1 and self._cut

    @property
    def _cut(self) -> bool:
        return len(self.recent) >= LEAST_RECENT


def turns_of(rows: Sequence[RowLike], most: int) -> list[str]:
    """The last things said, oldest first, without what was served into them before."""
    return [cut(row["text"]) for row in rows[-most:]]


async def recent_messages(tx: Transaction, session: Row, wanted: int) -> list[Row]:
    """The last messages of a session, oldest first; those that are not folded are among them, as far as can be."""
    unfolded = int(session["last_seq"] - session["summarized_seq"])
    limit = max(wanted, min(unfolded, MOST_RECENT))
    rows = await tx.messages.page(session["id"], after=None, limit=limit, newest_first=True, from_seq=0, to_seq=None)
    return [row for row in reversed(rows) if row["redacted_at"] is None]


async def fill(tx: Transaction, found: Gathered) -> None:
    """Read what every context needs beside the messages."""
    session = found.session
    if session["memory"] != "off":
        found.blocks = await tx.blocks.in_reach(session["user_id"], session["agent_id"])
        if found.first and session["user_id"] is not None and session["known_at"] is None:
            found.profile = await profile_facts(tx, session)
    if session["summarized_seq"]:
        found.nodes = [node_of(row) for row in await tx.summaries.current(session["id"])]
        found.overtaken = await tx.summaries.overtaken(session["id"], MOST_QUOTES)
    state = await tx.states.current(session["id"])
    found.state = {} if state is None else state["document"]


async def open_up(tx: Transaction, found: Gathered, seqs: Sequence[int], *, messages: bool) -> None:
    """Read what the question is about: the messages with their neighbours, or the summaries of their stretches."""
    if not seqs:
        return
    session_id = found.session["id"]
    if messages:
        rows = await tx.messages.around([(session_id, seq - REACH, seq + REACH) for seq in seqs])
        found.around = list({row["seq"]: row for row in rows if row["redacted_at"] is None}.values())
    else:
        found.opened = [node_of(row) for row in await tx.summaries.stretches(session_id, seqs, 8)]
