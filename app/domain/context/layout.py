"""From sections and messages to what a model reads: in their order, fenced as data, never above the budget."""

from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any, Final

from app.domain.context.defaults import SectionName
from app.domain.context.parts import MESSAGE_TOKENS, Count, Part, Piece, Spoken
from app.domain.fence import wrap

JOINT: Final = "\n\n"
JOINT_TOKENS: Final = 2
"""What two texts may cost more where they are joined."""


_LAST_TO_GO: Final[tuple[SectionName, ...]] = (
    *("lessons", "confirm", "profile", "facts", "summary", "blocks", "status", "constraints"),
)
"""Sections in the order in which they give way, where a context turns out too long."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A section as it stands in the prompt."""

    name: SectionName
    text: str
    tokens: int
    pieces: tuple[Piece, ...]


@dataclass(slots=True)
class Layout:
    """A context that is being laid out.

    Args:
        parts: Its sections.
        spoken: The messages, oldest first; of these the last is the question where a user says it.
        order: Of the sections.
        key: Signs the fences.
        count: The counter of tokens.
        dropped: What gave way, by section.
    """

    parts: list[Part]
    spoken: list[Spoken]
    order: tuple[SectionName, ...]
    key: bytes
    count: Count
    dropped: list[tuple[SectionName, str]] = field(default_factory=list)
    _fenced: dict[SectionName, Shown] = field(default_factory=dict)

    def sections(self) -> list[Shown]:
        """The sections that have something to say, in order, each within its fence."""
        by_name = {part.name: part for part in self.parts if part.pieces}
        return [self._shown(by_name[name]) for name in self.order if name in by_name]

    def messages(self) -> list[dict[str, Any]]:
        """Ready to be sent: neighbouring sections are one system message, messages stay what they are."""
        found: list[dict[str, Any]] = []
        waiting: list[str] = []
        for entry in self._entries():
            if isinstance(entry, Shown):
                waiting.append(entry.text)
                continue
            if waiting:
                found.append({"role": "system", "content": JOINT.join(waiting)})
                waiting = []
            found.append(entry.message)
        return [*found, {"role": "system", "content": JOINT.join(waiting)}] if waiting else found

    def text(self) -> str:
        """The same as one text."""
        entries = self._entries()
        return JOINT.join(one.text if isinstance(one, Shown) else f"{one.role}: {one.text}" for one in entries)

    def tokens(self) -> int:
        """What it costs in either form, counted, joints and messages' own tokens among it."""
        sections = self.sections()
        own = sum(one.tokens + JOINT_TOKENS for one in sections)
        frames = MESSAGE_TOKENS * min(len(sections), 2 if self.spoken else 1)
        return own + frames + sum(one.tokens for one in self.spoken)

    def fit(self, budget: int) -> None:
        """Take away what matters least until the budget holds it all."""
        while self.tokens() > budget and self._give_way():
            pass

    def _give_way(self) -> bool:
        if len(self.spoken) > 1:
            oldest = next((place for place, one in enumerate(self.spoken[:-1]) if one.role != "system"), 0)
            self.dropped.append(("messages", str(self.spoken.pop(oldest).seq)))
            return True
        for name in _LAST_TO_GO:
            place = next((row for row, part in enumerate(self.parts) if part.name == name and part.pieces), None)
            if place is not None:
                part = self.parts[place]
                lowest = min(part.pieces, key=lambda one: one.rank)
                self.parts[place] = replace(part, pieces=tuple(one for one in part.pieces if one is not lowest))
                self.dropped.append((name, lowest.name))
                return True
        if self.spoken:
            self.dropped.append(("question", str(self.spoken.pop().seq)))
            return True
        return False

    def _entries(self) -> list[Shown | Spoken]:
        sections = {one.name: one for one in self.sections()}
        asked = self.spoken[-1:] if self.spoken and self.spoken[-1].role == "user" else []
        before = self.spoken[: len(self.spoken) - len(asked)]
        # What the host has said to the model before anybody spoke never changes: nothing stands before it.
        entries: list[Shown | Spoken] = [*takewhile(lambda one: one.role == "system", before)]
        before = before[len(entries) :]
        for name in self.order:
            if name == "messages":
                entries += before
            elif name == "question":
                entries += asked
            elif name in sections:
                entries.append(sections[name])
        return entries

    def _shown(self, part: Part) -> Shown:
        known = self._fenced.get(part.name)
        if known is not None and known.pieces is part.pieces:
            return known
        lines = "\n".join([part.heading, *(piece.text for piece in part.pieces)])
        text = wrap(lines, key=self.key, source=part.source)
        shown = self._fenced[part.name] = Shown(part.name, text, self.count(text), part.pieces)
        return shown


def overhead(part: Part, key: bytes, count: Count) -> int:
    """What a section costs beside its pieces: the fence, the heading, its joints."""
    return count(wrap(part.heading, key=key, source=part.source)) + JOINT_TOKENS + MESSAGE_TOKENS
