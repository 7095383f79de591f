"""The life of an embedding model in the database."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal, Self, get_args

ModelStatus = Literal["building", "standby", "active", "retired"]
"""`building` is being given vectors of everything, `standby` has them and can serve at once, `active` serves, `retired`
is gone, or its vectors are being removed. All but the last get a vector of every text that is written."""
MODEL_STATUSES: Final[tuple[ModelStatus, ...]] = get_args(ModelStatus)


def pause(texts: int, took: float, per_second: float) -> float:
    """Seconds to rest after embedding `texts` in `took` seconds, so that no more than `per_second` are embedded.

    Args:
        texts: How many were embedded.
        took: Seconds that it took.
        per_second: The rate not to be exceeded; 0: none.
    """
    return max(0.0, texts / per_second - took) if per_second > 0 else 0.0


def overlap(first: list[str], second: list[str]) -> float:
    """The share of what either of two rankings shows that both show: 1 where they agree, or where neither has any.

    |A and B| / max(|A|, |B|), as overlap@k of two top-k lists.
    """
    longest = max(len(set(first)), len(set(second)))
    return 1.0 if longest == 0 else len(set(first) & set(second)) / longest


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the job of a model is: it goes through all texts of all tenants, once or several times.

    Args:
        began_at: When this walk began.
        tenant: Whose texts it is at; None: those of the first one.
        corpus: Which of them.
        after: The last text that was looked at.
        looked: Texts looked at in this walk.
        total: Texts there were when it began.
        done: Vectors made, or removed, in all walks.
        walks: Finished walks.
        waits_for: Why nothing happens at the moment; None: it goes on.
        finished_at: When the last walk was done.
    """

    began_at: datetime
    tenant: str | None = None
    corpus: str | None = None
    after: tuple[str, ...] | None = None
    looked: int = 0
    total: int = 0
    done: int = 0
    walks: int = 0
    waits_for: str | None = None
    finished_at: datetime | None = None

    @classmethod
    def of_json(cls, stored: Mapping[str, Any], at: datetime) -> Self:
        """What `as_json` made; a new walk that begins at `at` where there is nothing."""
        if not stored:
            return cls(at)
        dates = {
            name: None if stored.get(name) is None else datetime.fromisoformat(stored[name])
            for name in ("began_at", "finished_at")
        }
        after = stored.get("after")
        return cls(**{**stored, **dates, "after": None if after is None else tuple(after)})

    def as_json(self) -> dict[str, Any]:
        """As the database keeps it."""
        dates = {"began_at": self.began_at.isoformat(), "finished_at": None}
        if self.finished_at is not None:
            dates["finished_at"] = self.finished_at.isoformat()
        after = None if self.after is None else list(self.after)
        return {**asdict(self), **dates, "after": after}

    def again(self, at: datetime, total: int) -> "Progress":
        """The next walk."""
        return Progress(at, total=total, done=self.done, walks=self.walks)

    def ended(self, at: datetime) -> "Progress":
        """This walk is through."""
        return replace(self, tenant=None, corpus=None, after=None, walks=self.walks + 1, finished_at=at)
