"""Which facts somebody should be asked about again."""

from datetime import datetime, timedelta
from typing import Final

from app.domain.lifecycle.policy import ForgettingPolicy
from app.domain.memory import Columns

IMPORTANT: Final = 7
"""The least importance of a fact that is asked about for its age alone."""


def doubtful(row: Columns, at: datetime, policy: ForgettingPolicy) -> str | None:
    """Why a current memory should be confirmed: `old`, or `wrong` where its use says otherwise; None where it holds.

    Events stay what they were; what is asked about is what may have changed since.
    """
    if row["uncertain"] or row["kind"] != "semantic":
        return None
    if row["wrong_count"] > row["used_count"]:
        return "wrong"
    old = row["last_seen_at"] <= at - timedelta(days=policy.confirm_after_days)
    return "old" if old and row["importance"] >= IMPORTANT and row["category"] != "event" else None
