"""What a dream would change: one line of a plan each, readable as a diff, and as JSON until it is decided."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal, Self, get_args

from app.domain.context.words import Tongue

DreamState = Literal["proposed", "applying", "applied", "rejected"]
DREAM_STATES: Final[tuple[DreamState, ...]] = get_args(DreamState)

DreamStep = Literal["review", "merge", "conflict", "shorten", "dates", "evolution"]
DREAM_STEPS: Final[tuple[DreamStep, ...]] = get_args(DreamStep)
"""In the order in which they are done."""

TITLES: Final[Mapping[Tongue, Mapping[DreamStep, str]]] = {
    "en": {
        "review": "Missed when it was said",
        "merge": "Says the same: one stays",
        "conflict": "Cannot both be true: to be decided",
        "shorten": "In fewer words",
        "dates": "With an absolute date",
        "evolution": "How it came about",
    },
    "zh": {
        "review": "当时遗漏的内容",
        "merge": "意思相同，只留一条",
        "conflict": "相互矛盾，需要裁决",
        "shorten": "缩短表述",
        "dates": "改为绝对日期",
        "evolution": "变化过程",
    },
}


@dataclass(frozen=True, slots=True)
class Change:
    """One change.

    Args:
        id: Its number in the dream.
        step: What sort of change.
        memory_ids: Whom it is about; the first one stays, or is written.
        versions: The version of each that it is about, as it was looked at.
        before: What they said.
        after: What stands then: a text, or of `evolution` the note; None for a conflict.
        candidate: Of `review`: the statement that was found, as extraction has it.
        session_id: Of `review`: where it was said.
        accepted: Whether it is to be done.
    """

    id: int
    step: DreamStep
    memory_ids: Sequence[str] = ()
    versions: Sequence[int] = ()
    before: Sequence[str] = ()
    after: str | None = None
    candidate: Mapping[str, Any] = field(default_factory=dict)
    session_id: str | None = None
    accepted: bool = True

    def stored(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Self:
        """From JSON."""
        return cls(**stored)

    def lines(self) -> list[str]:
        """As a diff: what goes, what comes, and what stays."""
        gone = self.before if self.step != "merge" else self.before[1:]
        match self.step:
            case "conflict":
                return [f"! {text}" for text in gone]
            case "evolution":
                return [*(f"  {text}" for text in gone), f"+ ({self.after})"]
            case "merge":
                kept = self.before[0]
                stays = [f"  {kept}"] if self.after in {None, kept} else [f"- {kept}", f"+ {self.after}"]
                return [*(f"- {text}" for text in gone), *stays]
            case _:
                return [*(f"- {text}" for text in gone), f"+ {self.after}"]


def diff_of(changes: Sequence[Change], tongue: Tongue) -> str:
    """The accepted changes as a diff, step by step, each under its number."""
    lines: list[str] = []
    for step in DREAM_STEPS:
        mine = [change for change in changes if change.step == step and change.accepted]
        if mine:
            lines.append(f"@@ {TITLES[tongue][step]} @@")
        for change in mine:
            lines += [f"#{change.id}", *(" ".join(line.split("\n")) for line in change.lines())]
    return "\n".join(lines)
