"""Rows whose contents are sealed: opened for whom it may concern, sealed anew under a new key."""

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from sqlalchemy import select, update

from app.core.sealing import KeyRing, Unsealable
from app.db.models import memories
from app.repositories.base import Repository, RowLike

PLACEHOLDER: Final = "[sealed]"
"""What stands in the place of a sealed text, in the database and for whoever may not read it."""

CONTENTS: Final = ("text", "value", "metadata")

CLOSED: Final = "sealed:"
"""How a text begins that `closed` has made."""


def place_of(tenant_id: UUID, memory_id: UUID) -> str:
    """What a sealed content is bound to: moved elsewhere it cannot be opened."""
    return f"{tenant_id}:{memory_id}"


def sealed_columns(ring: KeyRing, tenant_id: UUID, row: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a row whose contents are sealed. Raises `Unsealable` where there is no key."""
    content = {name: row[name] for name in CONTENTS}
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    same = json.dumps([str(tenant_id), row["owner"], row["text"]])
    return {
        "sensitive": True,
        "sealed": ring.seal(text.encode("utf-8", "surrogatepass"), place_of(tenant_id, row["id"])),
        "content_hash": ring.fingerprint(same),
        "text": PLACEHOLDER,
        "value": None,
        "metadata": {},
        "length": 0,
        "tokens": 1,
    }


def opened(ring: KeyRing, tenant_id: UUID, row: RowLike) -> dict[str, Any]:
    """A row with its contents. Raises `Unsealable`."""
    text = ring.open(bytes(row["sealed"]), place_of(tenant_id, row["id"]))
    return {**row, **json.loads(text)}


class SealedRepository(Repository):
    """memories with sealed contents."""

    async def page(self, after: UUID | None, limit: int) -> Sequence[RowLike]:
        """Some of them, by id: id and what is sealed."""
        statement = select(memories.c.id, memories.c.sealed).where(
            memories.c.tenant_id == self._tenant_id, memories.c.sealed.is_not(None)
        )
        if after is not None:
            statement = statement.where(memories.c.id > after)
        return await self._all(statement.order_by(memories.c.id).limit(limit))

    async def count(self) -> int:
        """How many there are."""
        return await self._count(
            select(memories.c.id).where(memories.c.tenant_id == self._tenant_id, memories.c.sealed.is_not(None))
        )

    async def reseal(self, ring: KeyRing, row: RowLike) -> bool:
        """Seal one anew with the newest key, unless it was changed since it was read. Raises `Unsealable`."""
        place = place_of(self._tenant_id, row["id"])
        fresh = ring.seal(ring.open(bytes(row["sealed"]), place), place)
        statement = update(memories).where(
            memories.c.tenant_id == self._tenant_id, memories.c.id == row["id"], memories.c.sealed == row["sealed"]
        )
        return await self._run(statement.values(sealed=fresh)) > 0


def shown(ring: KeyRing, tenant_id: UUID, row: RowLike) -> RowLike:
    """A row with its contents, or as it is where they cannot be opened here."""
    if row.get("sealed") is None:
        return row
    try:
        return opened(ring, tenant_id, row) | {"sealed": None}
    except Unsealable:
        return row


def closed(ring: KeyRing, place: str, text: str) -> str:
    """A text sealed for a place. Raises `Unsealable`."""
    return CLOSED + base64.b64encode(ring.seal(text.encode(), place)).decode()


def disclosed(ring: KeyRing, place: str, text: str) -> str:
    """What `closed` has closed; any other text as it is. Raises `Unsealable`."""
    if not text.startswith(CLOSED):
        return text
    return bytes(ring.open(base64.b64decode(text.removeprefix(CLOSED)), place)).decode()
