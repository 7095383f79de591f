"""MEMORY.md: what is known as a short file that people and agents read and edit. Laid out and read again; pure."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args
from uuid import UUID

from app.domain.context.words import Tongue
from app.domain.memory import Category

FileSection = Literal["projects", "preferences", "tools", "knowledge"]
FILE_SECTIONS: Final[tuple[FileSection, ...]] = get_args(FileSection)

MOST_LINES: Final = 200
MOST_BYTES: Final = 25 * 1024
LONGEST_ENTRY: Final = 150
"""Characters of an entry; a longer memory ends in an ellipsis here."""

CUT: Final = "…"

HEADINGS: Final[Mapping[Tongue, Mapping[FileSection, str]]] = {
    "en": {
        "projects": "Project patterns",
        "preferences": "User preferences",
        "tools": "Tool configuration",
        "knowledge": "Domain knowledge",
    },
    "zh": {"projects": "项目模式", "preferences": "用户偏好", "tools": "工具配置", "knowledge": "领域知识"},
}
_TITLES: Final[Mapping[Tongue, str]] = {"en": "# Memory", "zh": "# 记忆"}
_NOTE: Final[Mapping[Tongue, str]] = {
    "en": "<!-- version {}; edit the entries, keep this line -->",
    "zh": "<!-- version {}；可以修改条目，请保留此行 -->",
}
_SECTIONS: Final[Mapping[Category, FileSection]] = {
    "project": "projects",
    "goal": "projects",
    "decision": "projects",
    "preference": "preferences",
    "constraint": "preferences",
    "identity": "preferences",
    "relation": "preferences",
    "tool_config": "tools",
}
CATEGORIES: Final[Mapping[FileSection, Category]] = {
    "projects": "project",
    "preferences": "preference",
    "tools": "tool_config",
    "knowledge": "domain",
}
"""Of what is added in a section."""

DISPUTED: Final[Mapping[Tongue, str]] = {"en": " (disputed)", "zh": "（有争议）"}
"""Behind an entry that another one contradicts, until one of them is changed or taken out. No part of what it says."""

MARK_OF_ORDER: Final = "\ufeff"
"""With which some editors begin a file. It says nothing."""

_VERSION: Final = re.compile(r"<!--\s*version\s+([0-9a-f]{16})")
_COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)
_HEADING: Final = re.compile(r"#{1,6}\s+(.+?)\s*#*$")
_BULLET: Final = re.compile(r"(?:[-*+]|\d{1,3}[.)])\s+")
_BY_NAME: Final = {name.casefold(): section for words in HEADINGS.values() for section, name in words.items()}


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the file, and the memory that it stands for.

    Args:
        memory_id: The memory's.
        section: Where it stands.
        text: As it stands there.
        whole: What the memory says.
        disputed: Whether another memory says otherwise and nobody has decided yet.
    """

    memory_id: UUID
    section: FileSection
    text: str
    whole: str
    disputed: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A line of an edited file."""

    section: FileSection
    text: str


@dataclass(frozen=True, slots=True)
class Edits:
    """What an edited file has otherwise than the served one: lines that are new, other, elsewhere, and gone."""

    added: list[Line]
    changed: list[tuple[Entry, Line]]
    moved: list[tuple[Entry, FileSection]]
    removed: list[Entry]

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.moved or self.removed)


def section_of(category: Category) -> FileSection:
    """Where a memory of this category stands."""
    return _SECTIONS.get(category, "knowledge")


def fitting(entries: Iterable[Entry], tongue: Tongue) -> list[Entry]:
    """Of entries, the first to be kept first, those that the file has room for, in the order in which they stand.

    Within a section the eldest stands first: what is added later changes no line above it.
    """
    lines = len(laid_out([], tongue, "0" * 16).splitlines())
    size = len(laid_out([], tongue, "0" * 16).encode())
    kept: list[Entry] = []
    for entry in entries:
        cost = len(_shown(entry, tongue).encode()) + 3
        if lines >= MOST_LINES:
            break
        if size + cost <= MOST_BYTES:
            kept.append(entry)
            lines, size = lines + 1, size + cost
    return sorted(kept, key=lambda one: (FILE_SECTIONS.index(one.section), one.memory_id))


def version_of(entries: Sequence[Entry]) -> str:
    """16 hexadecimal digits that are the same as long as every entry is."""
    told = "\n".join(f"{one.section} {one.memory_id} {one.whole}{' ?' * one.disputed}" for one in entries)
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def laid_out(entries: Sequence[Entry], tongue: Tongue, version: str) -> str:
    """The file: every section has its heading, also an empty one, so that something can be added there."""
    lines = [_TITLES[tongue], _NOTE[tongue].format(version)]
    for section in FILE_SECTIONS:
        lines += ["", f"## {HEADINGS[tongue][section]}"]
        lines += [f"- {_shown(one, tongue)}" for one in entries if one.section == section]
    return "\n".join([*lines, ""])


def _shown(entry: Entry, tongue: Tongue) -> str:
    return entry.text + DISPUTED[tongue] * entry.disputed


def version_in(text: str) -> str | None:
    """The version that an edited file says it was made from."""
    found = _VERSION.search(text)
    return None if found is None else found.group(1)


def lines_in(text: str) -> list[Line]:
    """The entries of an edited file. A line that goes on with an indent belongs to the one above it."""
    found: list[Line] = []
    section: FileSection = "knowledge"
    for raw in _COMMENT.sub("", text.removeprefix(MARK_OF_ORDER)).splitlines():
        plain = raw.strip()
        heading = _HEADING.fullmatch(plain)
        if heading is not None:
            section = _BY_NAME.get(heading.group(1).casefold(), "knowledge")
            continue
        bullet = _BULLET.match(plain)
        if not plain:
            continue
        if bullet is None and raw[:1].isspace() and found and found[-1].section == section:
            found[-1] = Line(section, f"{found[-1].text} {plain}")
            continue
        said = plain if bullet is None else plain[bullet.end() :].strip()
        if said and said not in {"-", "*", "+"}:
            found.append(Line(section, " ".join(said.split())))
    return found


ALIKE: Final = 0.5
"""The share of pairs of letters that two lines have in common where one is a change of the other."""


def edits_between(served: Sequence[Entry], edited: Sequence[Line]) -> Edits:
    """How to come from the one to the other: equal lines stay, alike ones of a section are changes."""
    left: dict[str, list[Entry]] = {}
    for entry in served:
        left.setdefault(entry.text, []).append(entry)
    marked = any(entry.disputed for entry in served)  # then the mark says nothing, wherever somebody has put it
    moved: list[tuple[Entry, FileSection]] = []
    fresh: list[Line] = []
    for line in dict.fromkeys(edited):
        same = left.get(line.text) or (left.get(_unmarked(line.text)) if marked else None)
        if not same:
            fresh.append(line)
            continue
        entry = next((one for one in same if one.section == line.section), same[0])
        same.remove(entry)
        if entry.section != line.section:
            moved.append((entry, line.section))
    gone = [entry for entry in served if entry in left[entry.text]]
    if marked:
        fresh = [Line(line.section, _unmarked(line.text)) for line in fresh]
    changed = _pairs(gone, fresh)
    old, new = {entry.memory_id for entry, _ in changed}, {line for _, line in changed}
    return Edits(
        added=[line for line in fresh if line not in new],
        changed=[(entry, _completed(entry, line)) for entry, line in changed],
        moved=moved,
        removed=[entry for entry in gone if entry.memory_id not in old],
    )


_MARKS: Final = re.compile(
    r"^[(（](?:disputed|有争议)[)）]\s*|(?:\s*[(（](?:disputed|有争议)[)）])+(?=[.。!！]?\s*$)", re.IGNORECASE
)


def _unmarked(text: str) -> str:
    return _MARKS.sub("", text)


def _completed(entry: Entry, line: Line) -> Line:
    """A line that was cut short here and still is says what the memory said behind that."""
    shown = entry.text.removesuffix(CUT)
    if entry.text == entry.whole or not line.text.endswith(CUT) or not entry.whole.startswith(shown):
        return line
    return Line(line.section, line.text.removesuffix(CUT) + entry.whole[len(shown) :])


def _pairs(gone: Sequence[Entry], fresh: Sequence[Line]) -> list[tuple[Entry, Line]]:
    """Of lines that are gone and lines that are new those that are alike, the most alike first, each once."""
    old = [(entry, _bigrams(entry.text)) for entry in gone]
    new = [(line, _bigrams(line.text)) for line in fresh]
    scored = [
        (2 * len(one & other) / (len(one) + len(other)), entry, line)
        for entry, one in old
        for line, other in new
        if entry.section == line.section and one and other
    ]
    found: list[tuple[Entry, Line]] = []
    for alike, entry, line in sorted(scored, key=lambda one: -one[0]):
        taken = any(entry is known or line == other for known, other in found)
        if alike >= ALIKE and not taken:
            found.append((entry, line))
    return found


def _bigrams(text: str) -> frozenset[str]:
    plain = text.casefold()
    return frozenset(plain[place : place + 2] for place in range(len(plain) - 1)) or frozenset({plain})
