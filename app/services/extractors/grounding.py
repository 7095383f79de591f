"""What a model proposes, held against what was said: code decides what is true of it, not the model.

The words of the message are always right: where the model's sentence has a number, a name, a negation, a subject or a
language that the message has not, the message's own sentence takes its place.
"""

import re
from dataclasses import replace
from typing import Final

from app.core.text.language import language_of
from app.core.text.normal import clean, normalise
from app.core.text.scripts import HAN
from app.domain.conflict.authority import WORLD
from app.domain.conflict.cues import before_of, change_of, is_tentative
from app.domain.conflict.values import mentioned, same_value
from app.domain.extraction.candidates import Candidate, Change
from app.domain.extraction.dating import dated
from app.domain.extraction.folding import folded
from app.domain.extraction.turns import Turn
from app.domain.gate.judging import kind_of
from app.domain.gate.refusals import Refusal
from app.domain.gate.sentences import asks_to_remember
from app.domain.keys import built_in, spelled
from app.domain.memory import Source, default_importance
from app.services.extractors.base import Refused, Window
from app.services.extractors.evidence import LONGEST_TEXT, Evidence, cited_of, evidence_of, other_subject
from app.services.extractors.faithful import is_faithful, names_were_said
from app.services.extractors.replies import MemoryRow

LONGEST_VALUE: Final = 120
EXPLICIT_IMPORTANCE: Final = 8

_HAN: Final = re.compile(f"[{HAN}]")
_KEY: Final = re.compile(r"[a-z][a-z0-9_]{0,30}(?:\.[a-z0-9_]{1,30}){0,3}")
_OF_OTHERS: Final = frozenset({"user.partner", "user.child", "user.pet", "user.team"})
_OF_WISHES: Final = frozenset({"user.goal", "user.nickname", "user.language"})


def grounded(row: MemoryRow, window: Window) -> Candidate | Refused:
    """The candidate that a row becomes, or why it becomes none. Total: any row, any window."""
    text = " ".join(clean(row.text).split())
    cited = cited_of(row, window)
    evidence = evidence_of(row, text, cited, window)
    if not text and not row.quote.strip():
        return Refused("", cited, "empty")
    if evidence is None:
        return Refused(text, cited, "unquoted")
    reason, source = _source(row, evidence)
    if reason is not None or source is None:
        return Refused(text, (evidence.turn.seq,), reason or "not_the_users")
    heard = _heard(evidence, window)
    told = text if is_faithful(text, evidence, heard) else evidence.sentence
    candidate = _candidate(row, told, source, evidence, heard)
    return _of_another(candidate, evidence.turn, window)


def _source(row: MemoryRow, evidence: Evidence) -> tuple[Refusal | None, Source | None]:
    """Whose words these are: the turn's role says so, never the model."""
    if evidence.is_asked:
        return "question", None
    match evidence.turn.role:
        case "user":
            return None, "user_stated" if evidence.verified else "inferred"
        case "assistant":
            return None, "assistant_said"
        case "tool":
            return (None, "tool_observed") if evidence.verified and row.category in WORLD else ("not_the_users", None)
        case "system":
            return "not_the_users", None


def _heard(evidence: Evidence, window: Window) -> str:
    """All that was said up to the turn: names and numbers may come from what it answers."""
    turns = [turn for turn in (*window.before, *window.turns) if turn.seq <= evidence.turn.seq]
    return "\n".join([*(turn.text for turn in turns if turn.role != "system"), window.speaker or ""])


def _candidate(row: MemoryRow, text: str, source: Source, evidence: Evidence, heard: str) -> Candidate:
    turn, sentence = evidence.turn, evidence.sentence
    explicit = turn.role == "user" and evidence.verified and asks_to_remember(folded(sentence))
    importance = row.importance or default_importance(row.category)
    change = _change(row, sentence, heard)
    key, value = _slot(row, text, evidence, change)
    if source in {"assistant_said", "inferred"}:
        change = None  # a claim ends nothing
    times = dated(text, turn, annotate=key not in {"user.birthday", "user.age"})
    kind = row.kind or ("episodic" if row.category == "event" else "semantic")
    happened = times.event is not None and (kind == "episodic" or change is not None)
    candidate = Candidate(
        text=times.text[: LONGEST_TEXT * 2],
        kind=kind,
        category=row.category,
        source=source,
        seqs=(turn.seq,),
        quote=evidence.quote,
        key=key,
        value=value,
        importance=max(importance, EXPLICIT_IMPORTANCE) if explicit else importance,
        change=change,
        before=row.before if row.before and mentioned(row.before, heard) else None,
        explicit=explicit,
        occurred_at=times.event if happened else turn.occurred_at,
        expires_at=times.expires_at,
    )
    return replace(candidate, kind=kind_of(candidate))


def _change(row: MemoryRow, sentence: str, heard: str) -> Change | None:
    """What the model says of a change, if the message has a word for it."""
    told = change_of(sentence)
    named = row.before is not None and mentioned(row.before, heard)
    match row.change:
        case None | "adds":
            return row.change
        case "ends":
            return "ends" if told == "ends" else None
        case "corrects":
            return "corrects" if told == "corrects" else "replaces" if told is not None or named else None
        case "replaces":
            return "replaces" if told is not None or named else None


def _slot(row: MemoryRow, text: str, evidence: Evidence, change: Change | None) -> tuple[str | None, str | None]:
    """Key and value, if the value was said, of the user, and as what is so now."""
    key, sentence = _key(row.key), evidence.sentence
    if key is None or not _fills(key, evidence):
        return None, None
    if change == "ends":
        return key, None
    if row.value is None or change_of(sentence) == "ends":
        return None, None
    before = before_of(sentence)
    if before is not None and (same_value(before, row.value) or mentioned(row.value, before)):
        return None, None
    value = " ".join(clean(row.value).split())
    told = f"{text}\n{sentence}"
    fits = 0 < len(value) <= LONGEST_VALUE and mentioned(value, told) and names_were_said(value, told)
    return (key, value) if fits and _is_written_so(value, told) else (None, None)


def _is_written_so(value: str, told: str) -> bool:
    """Whether the value stands there, or is another spelling in the same script: no translation is a value."""
    if "".join(normalise(value).split()) in "".join(normalise(told).split()):
        return True
    return (_HAN.search(value) is None) == (_HAN.search(told) is None)


def _fills(key: str, evidence: Evidence) -> bool:
    """Whether the words may fill the slot: those about others, and plans, fill none of the user's."""
    if not key.startswith(("user.", "preference.")):
        return True
    if other_subject(evidence) is not None and key not in _OF_OTHERS:
        return False
    planned = key.startswith("user.") and key not in _OF_WISHES and is_tentative(evidence.sentence)
    return not planned


def _key(written: str | None) -> str | None:
    if written is None:
        return None
    known = built_in(written)
    if known is not None:
        return known.key
    plain = spelled(written)
    return plain if _KEY.fullmatch(plain) else None


def _of_another(candidate: Candidate, turn: Turn, window: Window) -> Candidate:
    """What another person of the session says is about them: their name stands before it, and it fills no slot."""
    if turn.role != "user" or turn.name is None or window.speaker is None:
        return candidate
    if folded(turn.name) == folded(window.speaker):
        return candidate
    colon = "：" if language_of(candidate.text) == "zh" else ": "
    own = candidate.quote  # "the user" in the model's sentence would be the wrong one
    return replace(candidate, text=f"{turn.name}{colon}{own}", category="relation", key=None, value=None, change=None)
