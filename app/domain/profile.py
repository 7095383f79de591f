"""The parts of a profile: which categories stand under which heading, in the user's language."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, get_args

from app.core.text.language import language_of
from app.domain.context.words import Tongue
from app.domain.memory import Category

ProfilePart = Literal["identity", "constraints", "preferences", "relations", "goals", "projects", "tools", "knowledge"]
PROFILE_PARTS: Final[tuple[ProfilePart, ...]] = get_args(ProfilePart)

_OF_CATEGORY: Final[Mapping[Category, ProfilePart]] = {
    "identity": "identity",
    "constraint": "constraints",
    "preference": "preferences",
    "relation": "relations",
    "goal": "goals",
    "decision": "goals",
    "project": "projects",
    "tool_config": "tools",
}

TITLES: Final[Mapping[Tongue, Mapping[ProfilePart, str]]] = {
    "en": {
        "identity": "Who they are",
        "constraints": "Constraints",
        "preferences": "Preferences",
        "relations": "People",
        "goals": "Goals and decisions",
        "projects": "Projects",
        "tools": "Tools",
        "knowledge": "Other facts",
    },
    "zh": {
        "identity": "基本情况",
        "constraints": "限制",
        "preferences": "偏好",
        "relations": "人际关系",
        "goals": "目标与决定",
        "projects": "项目",
        "tools": "工具",
        "knowledge": "其他",
    },
}
INSIGHTS: Final[Mapping[Tongue, str]] = {
    "en": "Insights (concluded, not stated by the user)",
    "zh": "推断（由记忆归纳得出，并非用户所述）",
}
INSIGHT_MARK: Final[Mapping[Tongue, str]] = {"en": "insight", "zh": "推断"}

LANGUAGE_FROM: Final = 50
"""Texts from which a user's language is told: the first ones."""


def part_of(category: Category) -> ProfilePart:
    """Where a fact of this category stands."""
    return _OF_CATEGORY.get(category, "knowledge")


def tongue_of(texts: Sequence[str]) -> Tongue:
    """The language that most of a user's memories are in; English where there is none."""
    languages = [language_of(text) for text in texts[:LANGUAGE_FROM]]
    return "zh" if languages.count("zh") * 2 > len(languages) else "en"


def profile_text(parts: Sequence[tuple[ProfilePart, Sequence[str]]], insights: Sequence[str], tongue: Tongue) -> str:
    """A profile to be read: each part under its heading, insights in one of their own at the end."""
    lines: list[str] = []
    for name, texts in parts:
        lines += [f"## {TITLES[tongue][name]}", *(f"- {' '.join(text.split())}" for text in texts), ""]
    if insights:
        lines += [f"## {INSIGHTS[tongue]}", *(f"- {' '.join(text.split())}" for text in insights), ""]
    return "\n".join(lines).strip()
