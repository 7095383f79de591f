"""The life of a job: queued, running, and one of four ends."""

from datetime import timedelta
from typing import Final, Literal, get_args

JobKind = Literal[
    "embed_messages",
    "embed_memories",
    "delete_memories",
    "extract",
    "reconcile",
    "summarise",
    "prefetch",
    "expire",
    "maintain",
    "consolidate",
    "revive",
    "sweep",
    "erase",
    "reflect",
    "dream",
    "reembed",
    "retire_model",
]
JOB_KINDS: Final[tuple[JobKind, ...]] = get_args(JobKind)

URGENT: Final[frozenset[JobKind]] = frozenset({"erase"})
"""What is run before all else that is due: whoever asks to be forgotten does not wait for other people's backlog."""

PROMPT: Final[frozenset[JobKind]] = frozenset(
    {"embed_messages", "embed_memories", "extract", "summarise", "prefetch", "revive", "sweep"}
)
"""What is run next: conversations wait for it. An import of one user's is compared after what all others have said."""


def priority(kind: JobKind) -> int:
    """Of jobs that are due those with the highest are run first, of equal ones the eldest."""
    return 2 if kind in URGENT else int(kind in PROMPT)


JobState = Literal["queued", "running", "succeeded", "failed", "dead", "cancelled"]
JOB_STATES: Final[tuple[JobState, ...]] = get_args(JobState)
FINISHED: Final[frozenset[JobState]] = frozenset({"succeeded", "failed", "dead", "cancelled"})


def backoff(attempts: int, first: timedelta, longest: timedelta = timedelta(minutes=10)) -> timedelta:
    """How long a job rests after its `attempts`-th failure: doubled each time, up to `longest`."""
    doublings = min(max(attempts - 1, 0), 20)
    return min(first * (1 << doublings), longest)
