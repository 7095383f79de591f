"""What a tenant wants forgotten, and when."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType
from typing import Final

from app.domain.memory import Kind

HALF_LIVES: Final[Mapping[Kind, float]] = MappingProxyType({"episodic": 45.0, "semantic": 180.0})
"""Days after which a memory of average importance that was never used has half its strength. Lessons and procedures
have none: what they are worth is told by what came of them."""

ARCHIVE_BELOW: Final = 0.25
MOST_ARCHIVE_BELOW: Final = 0.5
"""A higher threshold would archive what was used within its half-life."""


@dataclass(frozen=True, slots=True)
class ForgettingPolicy:
    """A tenant's rules of forgetting.

    Args:
        ttls: Lives in seconds of memories that name none, by kind; they go before `default_memory_ttl`.
        expired_kept_days: How long an expired memory can still be restored before it is deleted for good.
        decay: Whether what is not used is archived.
        half_life_days: By kind, over the default ones.
        archive_below: The strength, in (0, 0.5], below which a memory is archived.
        archived_kept_days: How long an archived memory is kept before it is deleted; None: for ever.
        capacity: Current memories that one owner may have; None: any number.
        confirm_after_days: After so long without a word about it an important fact is to be confirmed.
        consolidate: Whether near-duplicates become one every day without being asked for.
    """

    ttls: Mapping[Kind, int] = field(default_factory=dict)
    expired_kept_days: float = 30.0
    decay: bool = True
    half_life_days: Mapping[Kind, float] = field(default_factory=dict)
    archive_below: float = ARCHIVE_BELOW
    archived_kept_days: float | None = None
    capacity: int | None = None
    confirm_after_days: float = 180.0
    consolidate: bool = False

    def half_life_of(self, kind: Kind) -> float | None:
        """Days of half a life without use; None for kinds that do not fade."""
        default = HALF_LIVES.get(kind)
        return None if default is None else self.half_life_days.get(kind, default)

    @property
    def fading_kinds(self) -> list[Kind]:
        """Kinds that fade."""
        return [kind for kind in HALF_LIVES if self.half_life_of(kind) is not None]

    @property
    def expired_kept(self) -> timedelta:
        """The grace time of what has expired."""
        return timedelta(days=self.expired_kept_days)
