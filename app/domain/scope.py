"""Whose a row is: the owner is the first given of user, app, agent, session, tenant."""

from dataclasses import dataclass
from typing import Final, Self

SHARED_OWNER: Final = "t:"


@dataclass(frozen=True, slots=True)
class Scope:
    """The scope fields of a row or of a query; an absent one does not restrict a query."""

    user_id: str | None = None
    agent_id: str | None = None
    app_id: str | None = None
    session_id: str | None = None

    @property
    def empty(self) -> bool:
        """Whether nothing was named."""
        return self == Scope()

    @property
    def owner(self) -> str:
        """The owner key: `u:…`, `p:` app, `a:` agent, `s:` session, `t:` shared by the tenant."""
        named = (("u:", self.user_id), ("p:", self.app_id), ("a:", self.agent_id), ("s:", self.session_id))
        return next((prefix + value for prefix, value in named if value is not None), SHARED_OWNER)

    @classmethod
    def of_owner(cls, owner: str) -> Self:
        """The scope whose `owner` this is."""
        kind, _, name = owner.partition(":")
        match kind:
            case "u":
                return cls(user_id=name)
            case "p":
                return cls(app_id=name)
            case "a":
                return cls(agent_id=name)
            case "s":
                return cls(session_id=name)
            case _:
                return cls()

    def shared_owners(self) -> list[str]:
        """The levels above a user whose rows may be added: app, agent, tenant, in order of precedence."""
        above = [Scope(app_id=self.app_id)] if self.app_id is not None else []
        above += [Scope(agent_id=self.agent_id)] if self.agent_id is not None else []
        return [scope.owner for scope in above] + [SHARED_OWNER]
