"""Notes on how a fact came about: first A, since a date B. By rule; pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any, Final

from app.core.text.language import language_of
from app.domain.likeness import Wording

MOST: Final = 5
"""Versions that a note names: the first one, and the last ones."""

LONGEST: Final = 60
"""Characters of a version."""


@dataclass(frozen=True, slots=True)
class Version:
    """What was so at a time.

    Args:
        text: What the memory says.
        value: Under its key, if it has one.
        since: From when.
    """

    text: str
    value: Any
    since: datetime

    @property
    def said(self) -> str:
        """The value where it is a word, else the text."""
        plain = self.value if isinstance(self.value, str) and self.value else self.text
        line = " ".join(str(plain).split()).rstrip("。.")
        return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def evolution(versions: Sequence[Version], zone: tzinfo) -> str | None:
    """A note of versions, the eldest first, the last one current; None where only the wording has changed."""
    told: list[Version] = []
    for version in sorted(versions, key=lambda one: one.since):
        if not told or not _same(told[-1], version):
            told.append(version)
    if len(told) < 2:  # noqa: PLR2004 - from one to another
        return None
    if len(told) > MOST:
        told = [told[0], *told[1 - MOST :]]
    first, *later = told
    if language_of(told[-1].text) == "zh":
        return "；".join([f"起初：{first.said}", *(f"{_day(one, zone)} 起：{one.said}" for one in later)])
    return "; ".join([f"first: {first.said}", *(f"since {_day(one, zone)}: {one.said}" for one in later)])


def _same(one: Version, other: Version) -> bool:
    return one.said == other.said or Wording.of(one.said).says_the_same_as(Wording.of(other.said))


def _day(version: Version, zone: tzinfo) -> str:
    return version.since.astimezone(zone).date().isoformat()
