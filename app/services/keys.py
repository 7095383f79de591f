"""Keys brought to their canonical spelling: the tenant's own registry first, then the built-in one."""

from dataclasses import dataclass

from app.core import clock
from app.core.errors import Invalid, NotFound
from app.domain.keys import BUILT_IN, built_in, spelled
from app.domain.principal import Principal
from app.schemas.facts import KeyPut, MemoryKey
from app.schemas.lists import Page, decode_cursor, encode_cursor
from app.services.answers import Answer, Write, write_once
from app.services.redacting import Redacting
from app.uow import Transaction, UnitOfWork


@dataclass(frozen=True, slots=True)
class CanonicalKey:
    """A key in its one spelling, and whether several values are true at once."""

    key: str
    multi_valued: bool


async def canonical_keys(tx: Transaction, written: set[str]) -> dict[str, CanonicalKey]:
    """The canonical form of keys as clients write them. A key that nobody registered is its own spelling."""
    if not written:
        return {}
    spellings = {key: _spelling(key) for key in written}
    own = {row["spelling"]: row for row in await tx.keys.entries(sorted(set(spellings.values())))}
    found = {}
    for key, spelling in spellings.items():
        if spelling in own:
            found[key] = CanonicalKey(own[spelling]["key"], own[spelling]["multi_valued"])
        elif (entry := built_in(spelling)) is not None:
            found[key] = CanonicalKey(entry.key, entry.multi_valued)
        else:
            found[key] = CanonicalKey(spelling, multi_valued=False)
    return found


async def canonical_key(tx: Transaction, written: str) -> CanonicalKey:
    """The canonical form of one key."""
    return (await canonical_keys(tx, {written}))[written]


@dataclass(frozen=True, slots=True)
class KeyService:
    """The use cases of the registry."""

    uow: UnitOfWork
    redacting: Redacting

    async def page(self, principal: Principal, cursor: str | None, limit: int, *, count: bool) -> Page[MemoryKey]:
        """The tenant's own keys by name, then the built-in ones."""
        principal.require("memories:read")
        after = decode_cursor(cursor, str)
        async with self.uow.begin(principal) as tx:
            rows = await tx.keys.page(None if after is None else after[0], limit + 1)
            total = await tx.keys.count() + len(BUILT_IN) if count else None
        own = [
            MemoryKey(
                key=row["key"],
                aliases=sorted(row["aliases"] or []),
                multi_valued=row["multi_valued"],
                description=row["description"],
                built_in=False,
            )
            for row in rows[:limit]
        ]
        if len(rows) > limit:
            return Page(results=own, next_cursor=encode_cursor(own[-1].key), total=total)
        return Page(results=own + _built_in(), next_cursor=None, total=total)

    async def put(self, write: Write, key: str, request: KeyPut) -> Answer:
        """Enter or change a canonical key with its aliases."""
        write.principal.require_administration()
        cleaned = await self.redacting.clean(write.principal, request)
        request = cleaned.request
        name = _spelling(key)
        aliases = {_spelling(alias) for alias in request.aliases} - {name}
        entered = MemoryKey(
            key=name,
            aliases=sorted(aliases),
            multi_valued=request.multi_valued,
            description=request.description,
            built_in=False,
            redacted=cleaned.kinds(),
        )

        async def work(tx: Transaction) -> Answer:
            await _refuse_canonical(tx, aliases)
            await tx.keys.put(name, multi_valued=request.multi_valued, description=request.description, at=clock.now())
            await tx.keys.set_aliases(name, aliases)
            return Answer(200, entered)

        return await write_once(self.uow, write, MemoryKey, work)

    async def delete(self, write: Write, key: str) -> Answer:
        """Forget a key of this tenant; memories keep the key they have."""
        write.principal.require_administration()

        async def work(tx: Transaction) -> Answer:
            if not await tx.keys.delete(_spelling(key)):
                raise NotFound("There is no such key in this tenant's registry.", code="key_not_found")
            return Answer(204, None)

        return await write_once(self.uow, write, None, work)


async def _refuse_canonical(tx: Transaction, aliases: set[str]) -> None:
    """Raise `Invalid` where an alias is a key itself: what is kept under it would no longer be found."""
    own = {row["key"] for row in await tx.keys.entries(sorted(aliases))} if aliases else set()
    if aliases & (own | {spelled(entry.key) for entry in BUILT_IN}):
        raise Invalid("An alias is a canonical key itself.", code="bad_key")


def _spelling(key: str) -> str:
    spelling = spelled(key)
    if not spelling:
        raise Invalid("A key needs at least one letter or digit.", code="bad_key")
    return spelling


def _built_in() -> list[MemoryKey]:
    return [
        MemoryKey(
            key=entry.key,
            aliases=list(entry.aliases),
            multi_valued=entry.multi_valued,
            description=entry.description,
            built_in=True,
        )
        for entry in BUILT_IN
    ]
