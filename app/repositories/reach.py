"""Whose memories a session's context may hold."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, literal_column, or_

from app.db.models import memories
from app.repositories.selection import Selection, any_of, text_of


@dataclass(frozen=True)
class ContextSelection(Selection):
    """The owner's rows of no session or of this one, whatever agent or app they came from, and the levels above.

    Left out is what is never to stand in a context, and what another app keeps to itself.

    Args:
        owner: Whose session it is; `scope` names the session, its agent and its app.
    """

    owner: str = ""

    @property
    def shape(self) -> tuple[bool, ...]:
        """As its base has it; the last tells the two apart."""
        return (*super().shape, True)

    @property
    def narrow(self) -> bool:
        """It leaves nearly all of what its owners have, unless lessons and procedures alone are wanted."""
        return self.procedural

    def values(self) -> dict[str, Any]:
        """The values of the conditions' parameters, by name."""
        return super().values() | {"of_user": self.owner}

    def _scoped(self, values: dict[str, Any]) -> list[ColumnElement[bool]]:
        own = memories.c.owner == text_of("of_user", values)
        here = or_(memories.c.session_id.is_(None), memories.c.session_id == text_of("of_session", values))
        reach: ColumnElement[bool] = own & here
        if self.shared_owners:
            above = memories.c.owner == any_of("of_levels", values)
            reach = or_(reach, above & memories.c.session_id.is_(None))
        use: ColumnElement[bool] = memories.c.use == literal_column("'everywhere'")
        if self.scope.app_id is not None:
            here_only = memories.c.use == literal_column("'this_app'")
            use = or_(use, here_only & (memories.c.app_id == text_of("of_app", values)))
        return [reach, use]
