"""The extractor with a language model: one call a part of a window; what it says is held against what was said."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from app.core.text.language import language_of
from app.core.text.tokens import tokens
from app.domain.budget import estimate_tokens
from app.domain.extraction.candidates import Candidate
from app.domain.extraction.folding import folded
from app.domain.extraction.settling import settled
from app.domain.extraction.turns import Turn
from app.domain.gate.prefilter import prefilter
from app.domain.keys import BUILT_IN, built_in
from app.providers.llm.base import ChatMessage, LanguageModel
from app.providers.llm.prompts import PromptLanguage, prompt, prompt_language
from app.services.extractors.base import Extraction, Refused, Window
from app.services.extractors.grounding import grounded
from app.services.extractors.replies import ExtractReply, MemoryRow
from app.services.extractors.windows import Part, parts

WINDOW_TOKENS: Final = 3_000
"""Of messages in one prompt: with its words it stays below 5,000, which present local models hold."""

REPLY_TOKENS: Final = 2_000
MOST_ROWS: Final = 60
"""Memories of one reply that are looked at: a model that goes round in circles gives more."""

MOST_KEYS: Final = 60
"""Keys that a prompt offers: the owner's first, then the registry's."""

_KEY: Final = re.compile(r"[\w.-]{1,64}")
_WORDS: Final[dict[PromptLanguage, tuple[str, str, str]]] = {
    "en": ("Earlier:", "Read these:", "Answer:"),
    "zh": ("更早：", "请读这些：", "回答："),
}


class LanguageModelExtractor:
    """Asks a language model, and believes only what the messages bear out.

    Args:
        model: The language model.
        window_tokens: Tokens of messages in one prompt; a longer window is read in parts, each with one call.
    """

    name: Final = "llm"

    def __init__(self, model: LanguageModel, window_tokens: int = WINDOW_TOKENS) -> None:
        self._model = model
        self._window_tokens = window_tokens

    async def extract(self, window: Window) -> Extraction:
        """What the window says. Nothing is asked of the model where rules see that there is nothing.

        Raises:
            LanguageModelUnavailable: There is no answer now; the same window may be read later.
            LanguageModelNonsense: The answer cannot be used, and was not repaired.
        """
        refused, telling = await asyncio.to_thread(_prefiltered, window)
        if not telling:
            return Extraction([], refused, by=self.name)
        found: list[Candidate] = []
        calls = used = 0
        for part in parts(window.turns, window.before, self._window_tokens):
            if not telling & {turn.seq for turn in part.turns}:
                continue
            messages = prompt_of(part, window.keys)
            reply = await self._model.structured(messages, ExtractReply, purpose="extract", max_tokens=REPLY_TOKENS)
            calls += 1
            used += sum(estimate_tokens(message.content) for message in messages)
            used += estimate_tokens(reply.model_dump_json())
            kept, left_out = await asyncio.to_thread(_read, reply.memories, part, window)
            found += kept
            refused += left_out
        candidates = await asyncio.to_thread(_settled, found, window)
        return Extraction(candidates, refused, calls, used, self.name)


def prompt_of(part: Part, keys: Sequence[str] = ()) -> list[ChatMessage]:
    """The prompt for a part of a window, in the language of its users.

    Args:
        part: What is to be read.
        keys: Those of the owner's memories.
    """
    said = [turn.text for turn in part.turns if turn.role == "user"]
    language = prompt_language(language_of("\n".join(said)))
    earlier, read, answer = _WORDS[language]
    lines = [earlier, *map(_line, part.before)] if part.before else []
    lines += [read, *map(_line, part.turns), answer]
    offered = dict.fromkeys([*(key for key in keys if _KEY.fullmatch(key)), *(entry.key for entry in BUILT_IN)])
    instructions = prompt("extract", language).filled(keys=", ".join(list(offered)[:MOST_KEYS]))
    return [ChatMessage("system", instructions), ChatMessage("user", "\n".join(lines))]


def _line(turn: Turn) -> str:
    """One line, whatever the text holds: it cannot pass for another message."""
    who = f"{turn.role} {' '.join(turn.name.split())}" if turn.name else turn.role
    return f"[{turn.seq}] {who}: {' '.join(turn.text.split())}"


def _prefiltered(window: Window) -> tuple[list[Refused], set[int]]:
    """Turns that say nothing, and the seqs of the users' turns that may."""
    refused, telling = [], set()
    for turn in window.turns:
        reason = prefilter(turn)
        if reason is None and turn.role == "user":
            telling.add(turn.seq)
        elif reason is not None and turn.role == "user":
            refused.append(Refused(turn.text, (turn.seq,), reason))
    return refused, telling


def _read(rows: Sequence[MemoryRow], part: Part, window: Window) -> tuple[list[Candidate], list[Refused]]:
    """The rows that stand in what this part was to read."""
    shown = {turn.seq for turn in part.turns}
    whole = [turn for turn in window.turns if turn.seq in shown]
    before = [*window.before, *(turn for turn in window.turns if whole and turn.seq < whole[0].seq)]
    seen = replace(window, turns=whole, before=before)
    said = {token for turn in (*before, *whole) if turn.role == "user" for token in tokens(turn.text)}
    kept: list[Candidate] = []
    refused: list[Refused] = []
    for row in rows[:MOST_ROWS]:
        one = grounded(row, seen)
        if isinstance(one, Refused):
            refused.append(one)
        elif one.source == "assistant_said" and set(tokens(one.value or one.quote)) <= said:
            refused.append(Refused(one.text, one.seqs, "not_the_users"))  # it repeats the user
        else:
            kept.append(one)
    return kept, refused


def _settled(found: Sequence[Candidate], window: Window) -> list[Candidate]:
    """In the order in which they were said; repeats once, and of a slot that is filled twice the later one holds."""
    by_seq = {turn.seq: turn.text for turn in window.turns}
    said = sorted(found, key=lambda one: (max(one.seqs), by_seq[max(one.seqs)].find(one.quote)))
    candidates = settled(_once(said))
    last: dict[tuple[str, str], int] = {}
    for at, one in enumerate(candidates):
        if one.key is None or one.value is None or one.replaced or _is_known(one.key):
            continue
        # A key that nobody registered: the same words for the same thing, in one extraction.
        slot = (one.key, one.source)
        if slot in last and folded(candidates[last[slot]].value or "") != folded(one.value) and one.change != "adds":
            candidates[last[slot]] = replace(candidates[last[slot]], replaced=True)
        last[slot] = at
    return candidates


def _is_known(key: str) -> bool:
    return built_in(key) is not None


def _once(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Each thing once: neither the same sentence nor the same value of a key from the same words twice."""
    seen: set[tuple[str, ...]] = set()
    kept = []
    for one in candidates:
        names: list[tuple[str, ...]] = [("text", folded(one.text), one.source)]
        if one.key is not None and one.value is not None:
            names.append(("slot", one.key, folded(one.value), one.quote, one.source))
        if not seen & set(names):
            kept.append(one)
        seen |= set(names)
    return kept
