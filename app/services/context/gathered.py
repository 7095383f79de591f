"""What a context is made from, read in one short transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from app.domain.fence import cut
from app.domain.summary.tree import Node
from app.repositories.base import RowLike
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
MOST_OPENED: Final = 8
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

    session: RowLike
    recent: list[RowLike]
    blocks: Sequence[RowLike] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    overtaken: list[dict[str, Any]] = field(default_factory=list)
    profile: list[Fact] = field(default_factory=list)
    state: Mapping[str, Any] = field(default_factory=dict)
    around: list[RowLike] = field(default_factory=list)
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


async def recent_messages(tx: Transaction, session: RowLike, wanted: int) -> list[RowLike]:
    """The last messages of a session, oldest first; those that are not folded are among them, as far as can be."""
    unfolded = int(session["last_seq"] - session["summarized_seq"])
    rows = await tx.messages.latest(session["id"], max(wanted, min(unfolded, MOST_RECENT)))
    return [row for row in reversed(rows) if row["redacted_at"] is None]


def window_of(turns: int) -> int:
    """How many of the last messages are read for a window of so many turns."""
    return max(LEAST_RECENT, min(4 * turns, 400))


async def first_facts(tx: Transaction, found: Gathered) -> list[Fact]:
    """What a session begins with of what is known about its user; afterwards nothing."""
    session = found.session
    begins = found.first and session["memory"] != "off"
    if not begins or session["user_id"] is None or session["known_at"] is not None:
        return []
    return await profile_facts(tx, session)


async def read_summaries(tx: Transaction, found: Gathered) -> None:
    """Read what stands for the messages that were folded."""
    if found.session["summarized_seq"]:
        found.nodes = [node_of(row) for row in await tx.summaries.current(found.session["id"])]
        found.overtaken = await tx.summaries.overtaken(found.session["id"], MOST_QUOTES)


async def open_messages(tx: Transaction, found: Gathered, seqs: Sequence[int]) -> None:
    """Read the messages that the question is about, with their neighbours."""
    if seqs:
        rows = await tx.messages.around([(found.session["id"], seq - REACH, seq + REACH) for seq in seqs])
        found.around = list({row["seq"]: row for row in rows if row["redacted_at"] is None}.values())


async def open_stretches(tx: Transaction, found: Gathered, seqs: Sequence[int]) -> None:
    """Read the summaries of the stretches in which the messages stand that the question is about."""
    if seqs:
        rows = await tx.summaries.stretches(found.session["id"], seqs, MOST_OPENED)
        found.opened = [node_of(row) for row in rows]
