"""Self-reflection on an attempt (Reflexion): by a language model where one is configured, else by a template."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import BaseModel, Field

from app.core.text.language import language_of
from app.domain.reflection import Attempt, Language, lesson_of, lesson_with
from app.providers.llm.base import ChatMessage, LanguageModel, LanguageModelNonsense, LanguageModelUnavailable
from app.providers.llm.prompts import prompt, prompt_language
from app.schemas.lessons import ExperienceIn

LONGEST_LESSON: Final = 600
PATIENCE_SECONDS: Final = 30.0
_NUMBER: Final = re.compile(r"\d+")
_WORDS: Final[dict[Language, dict[str, str]]] = {
    "en": {"task": "Task: ", "steps": "Steps:", "outcome": "Outcome: ", "evaluation": "Evaluation: "},
    "zh": {"task": "任务：", "steps": "步骤：", "outcome": "结果：", "evaluation": "评价："},
}


class LessonReply(BaseModel):
    """What the model answers."""

    lesson: str = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Reflection:
    """A lesson in words, who found them, and what was missing."""

    text: str
    by: Literal["llm", "template"]
    language: Language
    degraded: list[str]


@dataclass(frozen=True, slots=True)
class Reflecting:
    """Turns attempts into lessons. No database connection is held meanwhile."""

    model: LanguageModel | None

    async def reflect(self, experience: ExperienceIn) -> Reflection:
        """The lesson of an attempt. What a model says is taken only where the attempt bears it out."""
        attempts = attempts_of(experience)
        told = "\n".join([experience.task, experience.evaluation or "", *(step.line for step in attempts)])
        language = prompt_language(language_of(told))
        by_template = lesson_of(experience.task, attempts, experience.outcome, experience.evaluation, language)
        if self.model is None:
            return Reflection(by_template, "template", language, [])
        try:
            reply = await self.model.structured(
                _messages(experience, attempts, language), LessonReply, purpose="reflect", timeout=PATIENCE_SECONDS
            )
        except (LanguageModelUnavailable, LanguageModelNonsense):
            return Reflection(by_template, "template", language, ["llm"])
        lesson = _usable(reply.lesson, told, language)
        if lesson is None:
            return Reflection(by_template, "template", language, ["llm"])
        return Reflection(lesson_with(experience.task, lesson, language), "llm", language, [])


def attempts_of(experience: ExperienceIn) -> list[Attempt]:
    """The steps as the rules see them."""
    return [Attempt(step.action, step.result, step.outcome) for step in experience.steps]


def _messages(experience: ExperienceIn, attempts: Sequence[Attempt], language: Language) -> list[ChatMessage]:
    words = _WORDS[language]
    lines = [words["task"] + experience.task]
    if attempts:
        marks = {"success": " [ok]", "failure": " [failed]", None: ""}
        lines += [words["steps"], *(f"{n}. {step.line}{marks[step.outcome]}" for n, step in enumerate(attempts, 1))]
    lines.append(words["outcome"] + experience.outcome)
    if experience.evaluation is not None:
        lines.append(words["evaluation"] + experience.evaluation)
    return [ChatMessage("system", prompt("lesson", language).text), ChatMessage("user", "\n".join(lines))]


def _usable(lesson: str, told: str, language: Language) -> str | None:
    """The lesson in one line; None where it is too long, in another language, or has numbers that nobody named."""
    line = " ".join(lesson.replace("\0", "").split())
    if not line or len(line) > LONGEST_LESSON or prompt_language(language_of(line)) != language:
        return None
    return line if set(_NUMBER.findall(line)) <= set(_NUMBER.findall(told)) else None
