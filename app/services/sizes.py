"""How much owners have, as last seen: enough to choose the way of a search, so that most need not ask."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from app.core import clock
from app.repositories.owners import CorpusSize
from app.uow import Transaction

SEEN_SECONDS: Final = 5.0
MOST: Final = 10_000
"""Sizes that are kept in mind."""


class Sizes:
    """Sizes of what is not empty: whether there is anything at all is always asked."""

    def __init__(self) -> None:
        self._seen: OrderedDict[tuple[UUID, tuple[str, ...]], tuple[float, CorpusSize]] = OrderedDict()

    async def about(self, tx: Transaction, tenant_id: UUID, owners: Sequence[str], *, messages: bool) -> CorpusSize:
        """How much the owners have, seconds ago at most; with `messages`, of these too there are some or it is asked.

        Every owner is named, whether it has anything or not: it may since.
        """
        place = (tenant_id, tuple(owners))
        at, known = self._seen.get(place, (0.0, None))
        fresh = known is not None and clock.monotonic() - at < SEEN_SECONDS
        if known is not None and fresh and (known.messages or not messages):
            return known
        found = await tx.owners.size(owners)
        size = CorpusSize(list(owners), found.memories, found.messages)
        if size.memories:
            self._seen[place] = (clock.monotonic(), size)
            self._seen.move_to_end(place)
            if len(self._seen) > MOST:
                self._seen.popitem(last=False)
        return size
