"""Users: listed, given a time zone, merged when two ids turn out to be one person."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.core import clock
from app.core.errors import Conflict, Forbidden, Invalid, NotFound
from app.domain.principal import Principal
from app.domain.scope import Scope
from app.repositories.base import Row
from app.repositories.owners import OwnerChange
from app.schemas.lists import Page, decode_cursor, encode_cursor
from app.schemas.users import MergedUser, User, UserChange, UserMerge
from app.services.answers import Answer, Write, write_once
from app.services.disputes import agree, hand_over
from app.services.history import event_row
from app.services.keying import KeySettlement
from app.services.redacting import Redacting
from app.uow import Transaction, UnitOfWork


@dataclass(frozen=True, slots=True)
class UserService:
    """The use cases of users."""

    uow: UnitOfWork
    redacting: Redacting

    async def page(self, principal: Principal, cursor: str | None, limit: int, *, count: bool) -> Page[User]:
        """Users by id."""
        principal.require("memories:read")
        after = decode_cursor(cursor, str)
        async with self.uow.begin(principal) as tx:
            rows = await tx.users.page(None if after is None else after[0], limit + 1)
            total = await tx.users.count() if count else None
        more = len(rows) > limit
        return Page(
            results=[_user(row) for row in rows[:limit]],
            next_cursor=encode_cursor(rows[limit - 1]["id"]) if more else None,
            total=total,
        )

    async def get(self, principal: Principal, user_id: str) -> User:
        """One user."""
        principal.require("memories:read")
        async with self.uow.begin(principal) as tx:
            return _user(_there(await tx.users.get(user_id)))

    async def change(self, write: Write, user_id: str, request: UserChange) -> Answer:
        """Set a user's zone or metadata; a user who was never seen is entered by it."""
        write.principal.require("memories:write")
        if not write.principal.may_see_user(user_id):
            raise no_user()
        at = clock.now()
        cleaned = await self.redacting.clean(write.principal, request)
        request = cleaned.request
        values = request.model_dump(exclude_unset=True)

        async def work(tx: Transaction) -> Answer:
            await tx.users.touch([user_id], at)
            row = _there(await tx.users.change(user_id, values | {"updated_at": at}))
            return Answer(200, _user(row).model_copy(update={"redacted": cleaned.kinds()}))

        return await write_once(self.uow, write, User, work)

    async def merge(self, write: Write, user_id: str, request: UserMerge) -> Answer:
        """Make everything of another user this user's. Raises `Conflict` where both have a block of one label."""
        principal = write.principal
        principal.require("memories:write")
        principal.require("sessions:write")
        source = request.from_user_id
        if source == user_id:
            raise Invalid("A user cannot be merged with itself.", code="same_user")
        if principal.user_ids is not None and not {source, user_id} <= principal.user_ids:
            raise Forbidden("This key is bound to other users.", code="foreign_user")
        at = clock.now()

        async def work(tx: Transaction) -> Answer:
            await tx.merging.lock_sessions(source)
            users = {row["id"]: row for row in await tx.users.lock([source, user_id])}
            _there(users.get(source))
            await tx.merging.lock_sessions(source)  # those too that were opened while the users were waited for
            await tx.users.touch([user_id], at)
            both = await tx.merging.block_labels_of_both(source, user_id)
            if both:
                raise Conflict(
                    f"Both users have the blocks {', '.join(both)}: remove one first.", code="block_conflict"
                )
            for owner in sorted({Scope(source).owner, Scope(user_id).owner}):
                await tx.owners.lock_and_change(owner, OwnerChange())
            await _expire(tx, [source, user_id], principal.actor, at)
            closed = await tx.merging.close_twins(source, user_id, at)
            await _hand_over(tx, closed, at)
            surplus = OwnerChange(-len(closed), -sum(row["length"] for row in closed))
            await tx.owners.lock_and_change(Scope(source).owner, surplus)
            await tx.memories.record(
                [event_row("superseded", None, row, principal.actor, at, {"status"}) for row in closed]
            )
            moved = await tx.merging.move(source, user_id)
            await agree(tx, [Scope(user_id).owner], principal.actor, at)
            settled = await KeySettlement(tx, principal.actor, at).settle_all(Scope(user_id).owner)
            await tx.users.delete(source)
            known = await tx.users.get(user_id)
            values = _joined(users[source], _there(known)) | {"updated_at": at}
            merged = _user(_there(await tx.users.change(user_id, values)))
            return Answer(200, MergedUser(**merged.model_dump(), moved=moved, superseded=len(closed) + settled))

        return await write_once(self.uow, write, MergedUser, work)


async def _hand_over(tx: Transaction, closed: Sequence[Row], at: datetime) -> None:
    """What stood against the source's memories stands against the target's that say the same."""
    touched = await tx.conflicts.touching([row["id"] for row in closed]) if closed else []
    torn = {one[name] for one in touched for name in ("memory_id", "other_id")}
    for row in closed:
        if row["id"] in torn:
            await hand_over(tx, [row["id"]], row["superseded_by"], at)


async def _expire(tx: Transaction, user_ids: Sequence[str], actor: str, at: datetime) -> None:
    """Mark what of these users is over: it keeps nothing visible from its place. Their owners must be locked."""
    rows = await tx.merging.expire(user_ids, at)
    for owner in sorted({row["owner"] for row in rows}):
        lengths = [row["length"] for row in rows if row["owner"] == owner]
        await tx.owners.lock_and_change(owner, OwnerChange(-len(lengths), -sum(lengths)))
    await tx.memories.record([event_row("updated", None, row, actor, at, {"status"}) for row in rows])


def _joined(source: Row, target: Row) -> dict[str, Any]:
    """What is known of a person under both ids; where both say something the target's word holds."""
    return {
        "timezone": target["timezone"] or source["timezone"],
        "metadata": source["metadata"] | target["metadata"],
        "first_seen_at": min(source["first_seen_at"], target["first_seen_at"]),
    }


async def known_user(tx: Transaction, user_id: str) -> Row:
    """A user whom the key may see. Raises `NotFound`, alike for one that is absent and one that is another's."""
    row = await tx.users.get(user_id) if tx.may_see_user(user_id) else None
    if row is None:
        raise no_user()
    return row


def no_user() -> NotFound:
    """An absent or a foreign user: the answer is the same."""
    return NotFound("There is no such user.", code="user_not_found")


def _there(row: Row | None) -> Row:
    if row is None:
        raise no_user()
    return row


def _user(row: Row) -> User:
    return User(**{name: row[name] for name in User.model_fields if name != "redacted"})
