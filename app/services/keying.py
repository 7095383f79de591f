"""One current value under a key: what becomes current closes what was, unless the key has many values."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.repositories.base import Row, RowLike
from app.services.closing import since, supersede
from app.services.keys import canonical_keys
from app.uow import Transaction


@dataclass(frozen=True, slots=True)
class KeySettlement:
    """Settles keys within a transaction that holds the owner's lock."""

    tx: Transaction
    actor: str
    at: datetime

    async def settle(self, row: RowLike, *, newest_wins: bool) -> None:
        """Make a row the only current one under its key.

        Args:
            row: A memory that has become current; without a key, or uncertain, it closes nothing.
            newest_wins: Whether it wins in any case; else one that has been valid since later closes it instead.
        """
        if row["key"] is None or row["uncertain"] or await self._many_valued(row["key"]):
            return
        rivals = await self.tx.facts.rivals(row, self.at)
        later = [rival for rival in rivals if since(rival) > since(row)]
        if later and not newest_wins:
            winner = max(later, key=since)
            current = [one for one in await self.tx.memories.by_ids([row["id"]]) if one["status"] == "active"]
            await supersede(self.tx, current, winner, self.actor, self.at)
            return
        await supersede(self.tx, rivals, row, self.actor, self.at)
        if rivals:  # a fact's version goes on over its values, by whatever route they come
            await self.tx.facts.go_on_from(row["id"], max(rival["version"] for rival in rivals))

    async def settle_all(self, owner: str) -> int:
        """Settle every key of an owner under which several are current; how many rows were closed."""
        rows = await self.tx.facts.contested(owner, self.at)
        keys = {row["key"] for row in rows}
        many = {key: entry.multi_valued for key, entry in (await canonical_keys(self.tx, keys)).items()}
        groups: dict[tuple[Any, ...], list[Row]] = {}
        for row in rows:
            if not many[row["key"]]:
                scope = (row["key"], row["agent_id"], row["app_id"], row["session_id"])
                groups.setdefault(scope, []).append(row)
        for newest, *older in groups.values():
            await supersede(self.tx, older, newest, self.actor, self.at)
        return sum(len(group) - 1 for group in groups.values())

    async def _many_valued(self, key: str) -> bool:
        return (await canonical_keys(self.tx, {key}))[key].multi_valued
