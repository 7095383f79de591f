"""The people of a tenant."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ARRAY,
    BindParameter,
    ColumnElement,
    DateTime,
    RowMapping,
    Select,
    Text,
    Uuid,
    bindparam,
    delete,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from app.core.errors import Conflict
from app.db.models import erasures, users
from app.repositories.base import Repository


class UserRepository(Repository):
    """Users are entered when they are first seen; who was erased leaves nothing here but a receipt."""

    async def touch(self, user_ids: Iterable[str], at: datetime) -> None:
        """Enter users who are new, and hold all of them: who merges one of them away waits for our commit.

        Who is merged away while we wait is entered anew. Sessions are locked before this, owners after it.

        Raises:
            Conflict: One of them is being erased, or was after `at`, when the call began.
        """
        missing = set(user_ids)
        while missing:
            missing -= await self._held(sorted(missing))
            if missing:
                missing -= await self._entered(sorted(missing), at)

    async def refuse_erased(self, user_ids: Iterable[str], at: datetime) -> None:
        """Look at the receipts alone, where a user's own row has been brought along.

        Raises:
            Conflict: One of them is being erased, or was after `at`, when the call began.
        """
        named = sorted(set(user_ids))
        subjects = [await self._pseudonyms.of(self._connection, "user_id", user_id) for user_id in named]
        await self._refuse_erased(subjects, at)

    async def get(self, user_id: str) -> RowMapping | None:
        """One user whom the key may see."""
        return await self._first(select(users).where(*self._mine(), users.c.id == user_id))

    async def lock(self, user_ids: Iterable[str]) -> list[RowMapping]:
        """Users by id, their rows locked until the commit in a fixed order."""
        statement = select(users).where(*self._mine(), users.c.id.in_(sorted(set(user_ids))))
        return await self._all(statement.order_by(users.c.id).with_for_update())

    async def page(self, after: str | None, limit: int) -> list[RowMapping]:
        """Users by id."""
        statement = select(users).where(*self._mine())
        if after is not None:
            statement = statement.where(users.c.id > after)
        return await self._all(statement.order_by(users.c.id).limit(limit))

    async def count(self) -> int:
        """How many users there are."""
        statement = select(func.count()).select_from(users).where(*self._mine())
        return int((await self._connection.execute(statement)).scalar_one())

    async def change(self, user_id: str, values: dict[str, Any]) -> RowMapping | None:
        """Write columns of a user."""
        statement = update(users).where(*self._mine(), users.c.id == user_id)
        return await self._first(statement.values(values).returning(users))

    async def delete(self, user_id: str) -> None:
        """Remove a user's own row; what belongs to the user must have gone elsewhere before."""
        await self._run(delete(users).where(*self._mine(), users.c.id == user_id))

    async def _held(self, user_ids: Sequence[str]) -> set[str]:
        statement = select(users.c.id).where(users.c.tenant_id == self._tenant_id, users.c.id.in_(user_ids))
        rows = await self._all(statement.order_by(users.c.id).with_for_update(read=True, key_share=True))
        return {row["id"] for row in rows}

    async def _entered(self, user_ids: Sequence[str], at: datetime) -> set[str]:
        """Users who were entered now; those who are being erased are not."""
        subjects = [await self._pseudonyms.of(self._connection, "user_id", user_id) for user_id in user_ids]
        given = (
            func.unnest(
                _texts(user_ids),
                _texts(subjects),
            )
            .table_valued("id", "subject")
            .render_derived()
        )
        when = bindparam(None, at, type_=DateTime(timezone=True))
        tenant = bindparam(None, self._tenant_id, type_=Uuid())
        fresh = select(tenant, given.c.id, when, when).where(~self._erased(given.c.subject, at).exists())
        names = ["tenant_id", "id", "first_seen_at", "updated_at"]
        statement = insert(users).from_select(names, fresh).on_conflict_do_nothing(index_elements=["tenant_id", "id"])
        entered = {row["id"] for row in await self._all(statement.returning(users.c.id))}
        if len(entered) < len(user_ids):  # others have entered the rest at this moment, or they may not be
            await self._refuse_erased(subjects, at)
        return entered

    async def _refuse_erased(self, subjects: Sequence[str], at: datetime) -> None:
        """A call that began before an erasure, a job of then among them, must not bring its user back."""
        if await self._first(self._erased(func.any(_texts(subjects)), at).limit(1)) is not None:
            raise Conflict("This user is being erased, or was while this call went on.", code="user_erased")

    def _erased(self, subject: ColumnElement[Any], at: datetime) -> Select[Any]:
        return select(erasures.c.id).where(
            erasures.c.tenant_id == self._tenant_id,
            erasures.c.subject == subject,
            or_(erasures.c.state == "running", erasures.c.requested_at >= at),
        )

    def _mine(self) -> list[Any]:
        return [users.c.tenant_id == self._tenant_id, users.c.erased_at.is_(None), *self._own(users.c.id)]


def _texts(values: Sequence[str]) -> BindParameter[Any]:
    return bindparam(None, list(values), type_=ARRAY(Text(collation="C")))
