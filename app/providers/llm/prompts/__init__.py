"""The words that models are asked with: files of this folder, in Chinese and English, each with its version."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Final, Literal

from app.core.text.language import Language

PromptName = Literal[
    "rewrite", "extract", "judge", "summarise", "choose", "lesson", "form", "shorten", "insight", "repair"
]
PromptLanguage = Literal["zh", "en"]

VERSIONS: Final[Mapping[PromptName, int]] = {
    "rewrite": 1,
    "extract": 1,
    "judge": 1,
    "summarise": 1,
    "choose": 1,
    "lesson": 1,
    "form": 1,
    "shorten": 1,
    "insight": 1,
    "repair": 1,
}
"""Which version is used. A change of the words is a new file: what a version made can be told apart later."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt's words, and the name under which its results are known.

    Args:
        name: Such as `rewrite.v1.zh`.
        text: The words, with `{places}` for `filled`.
    """

    name: str
    text: str

    def filled(self, **places: str) -> str:
        """The words with something in each named place. Braces in what is filled in are left alone."""
        text = self.text
        for place in places:
            if f"{{{place}}}" not in text:
                raise KeyError(place)
        parts = [text]
        for place, value in places.items():
            marker = f"{{{place}}}"
            parts = [piece for part in parts for piece in _split(part, marker, value)]
        return "".join(parts)


class _Given(str):
    """What was filled in: no place is looked for in it."""

    __slots__ = ()


def _split(part: str, marker: str, value: str) -> list[str]:
    if isinstance(part, _Given):
        return [part]
    pieces: list[str] = []
    for number, piece in enumerate(part.split(marker)):
        pieces += [piece] if number == 0 else [_Given(value), piece]
    return pieces


def prompt_language(language: Language) -> PromptLanguage:
    """The language to ask in: a model answers in the language of its example."""
    return "zh" if language == "zh" else "en"


@lru_cache(maxsize=64)
def prompt(name: PromptName, language: PromptLanguage) -> Prompt:
    """The current version of a prompt."""
    full = f"{name}.v{VERSIONS[name]}.{language}"
    return Prompt(full, (files(__name__) / f"{full}.md").read_text("utf-8").strip())
