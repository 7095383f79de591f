"""What an attempt teaches, put into words without a language model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from app.core.text.normal import normalise
from app.domain.procedure import Outcome

Language = Literal["zh", "en"]

LONGEST_TASK: Final = 400
LONGEST_PART: Final = 600
TITLE_LENGTH: Final = 80


@dataclass(frozen=True, slots=True)
class Attempt:
    """One step of an attempt: what was done, what came of it, and whether that was a success, if anybody said so."""

    action: str
    result: str | None = None
    outcome: Outcome | None = None

    @property
    def line(self) -> str:
        """In one line."""
        return self.action if self.result is None else f"{self.action} → {self.result}"


_WORDS: Final[dict[Language, dict[str, str]]] = {
    "en": {
        "task": "{}: {}",
        "failed": "{} failed",
        "worked": "{} worked",
        "better": "{} worked better than {}",
        "stop": ". ",
        "end": ".",
        "and": "; ",
    },
    "zh": {
        "task": "{}：{}",
        "failed": "{}失败了",
        "worked": "{}有效",
        "better": "{}比{}更有效",
        "stop": "。",
        "end": "。",
        "and": "；",
    },
}


def lesson_of(task: str, steps: Sequence[Attempt], outcome: Outcome, evaluation: str | None, language: Language) -> str:
    """A lesson by a template: the task, by which it is found again, and what is to be made of it.

    A failure's evaluation says that; without one, what failed. A success tells what worked, and better than what, where
    other steps failed. It is kept short: each word beside the task makes the task harder to find by meaning.
    """
    words = _WORDS[language]
    failed = [step for step in steps if step.outcome == "failure"]
    told: list[str] = []
    if outcome == "success":
        worked = [step for step in steps if step.outcome == "success"] or [step for step in steps if not step.outcome]
        if worked and failed:
            told.append(words["better"].format(_actions(worked, words["and"]), _actions(failed, words["and"])))
        elif worked:
            told.append(words["worked"].format(_actions(worked, words["and"])))
    elif evaluation is None:
        told.append(words["failed"].format(_joined(failed or steps[-1:], words["and"])))
    if evaluation is not None:
        told.append(_short(evaluation, LONGEST_PART))
    return lesson_with(task, _sentences(told, words), language)


def lesson_with(task: str, lesson: str, language: Language) -> str:
    """A lesson under the task by which it is found again."""
    return _WORDS[language]["task"].format(_short(task, LONGEST_TASK), lesson)


def title_of(task: str) -> str:
    """A procedure's title, in one line."""
    line = " ".join(task.split())
    return line if len(line) <= TITLE_LENGTH else f"{line[: TITLE_LENGTH - 1]}…"


def different_ways(attempts: Sequence[Sequence[Attempt]]) -> list[Sequence[Attempt]]:
    """Attempts without those whose working steps, whatever their case and width, are an earlier one's in its order."""
    known: dict[tuple[str, ...], Sequence[Attempt]] = {}
    for steps in attempts:
        known.setdefault(tuple(" ".join(normalise(step.action).split()) for step in _kept(steps)), steps)
    return list(known.values())


def body_of(lesson: str, attempts: Sequence[Sequence[Attempt]], language: Language) -> str:
    """The Markdown of a drafted procedure: what was learnt, and the ways that worked, newest first, each told once."""
    heads = ("## 经验", "## 有效的步骤") if language == "zh" else ("## What was learnt", "## Steps that worked")
    lines = [heads[0], "", lesson, ""]
    told = [steps for steps in different_ways(attempts) if steps]
    if told:
        lines += [heads[1], ""]
    for steps in told:
        lines += [f"{number}. {' '.join(step.line.split())}" for number, step in enumerate(_kept(steps), 1)]
        lines.append("")
    return "\n".join(lines)


def _kept(steps: Sequence[Attempt]) -> list[Attempt]:
    return [step for step in steps if step.outcome != "failure"]


def _actions(steps: Sequence[Attempt], between: str) -> str:
    return _short(between.join(step.action for step in steps), LONGEST_PART)


def _joined(steps: Sequence[Attempt], between: str) -> str:
    return _short(between.join(step.line for step in steps), LONGEST_PART)


def _short(text: str, longest: int) -> str:
    line = " ".join(text.split()).rstrip(".。!！")
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def _sentences(parts: Sequence[str], words: dict[str, str]) -> str:
    return words["stop"].join(part.rstrip(".。") for part in parts) + words["end"]
