"""Whether row-level security binds the role that the service acts under; where it does not, nothing is served."""

from dataclasses import dataclass, field
from typing import Any

import asyncpg

from app.core.errors import ConfigurationError
from app.db.base import APP_ROLE

_QUESTION = """
SELECT r.rolname, r.rolsuper, r.rolbypassrls,
       c.relrowsecurity AND c.relforcerowsecurity AS forced, pg_has_role(r.oid, c.relowner, 'USAGE') AS owner
FROM pg_roles r LEFT JOIN pg_class c ON c.oid = to_regclass('memories')
WHERE r.rolname = current_user
"""


@dataclass(slots=True)
class RoleCheck:
    """Asked once per process, inside its first transaction."""

    passed: bool = field(default=False)

    async def ensure(self, connection: "asyncpg.Connection[Any]") -> None:
        """Look at the acting role.

        Raises:
            ConfigurationError: Row-level security would not bind it.
        """
        if self.passed:
            return
        row = await connection.fetchrow(_QUESTION)
        if row is None or row["forced"] is None:
            return  # no schema yet: /readyz says so, and there is nothing to protect
        reason = None
        if row["rolsuper"]:
            reason = "is a superuser"
        elif row["rolbypassrls"]:
            reason = "has BYPASSRLS"
        elif row["owner"]:
            reason = "owns the tables"
        elif not row["forced"]:
            reason = "meets tables without forced row-level security"
        if reason is not None:
            raise ConfigurationError(
                f"The database role {row['rolname']} {reason}, so tenants would not be isolated. Give DATABASE_URL a "
                f"login that is a member of {APP_ROLE} and nothing more, and MIGRATION_DATABASE_URL the owner's."
            )
        self.passed = True
