"""Who asks for contexts: for those who never do, none is prepared."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

REMEMBERED_FOR: Final = timedelta(days=1)
MOST: Final = 100_000
"""Tenants that are remembered; of more, those that asked first are forgotten."""


@dataclass(slots=True)
class Demand:
    """The tenants that asked this process for a context of late. After a start the first one is found when asked."""

    _asked: dict[UUID, datetime] = field(default_factory=dict)

    def note(self, tenant_id: UUID, at: datetime) -> None:
        """A tenant asked."""
        if tenant_id not in self._asked and len(self._asked) >= MOST:
            del self._asked[next(iter(self._asked))]
        self._asked[tenant_id] = at

    def of(self, tenant_id: UUID, at: datetime) -> bool:
        """Whether a tenant is likely to ask again."""
        asked = self._asked.get(tenant_id)
        return asked is not None and at - asked <= REMEMBERED_FOR
