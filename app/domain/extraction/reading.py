"""From a clause that fits a rule to a candidate.

A memory's text is the user's own clause, without the fillers around it and with absolute dates beside relative ones. No
rule rewords it to the third person: own words cannot say what was not said, stay in their language and can be quoted.
"""

import re
from dataclasses import replace
from datetime import datetime
from typing import Final

from app.domain.extraction import chinese, english
from app.domain.extraction.candidates import Candidate
from app.domain.extraction.clauses import Clause
from app.domain.extraction.dating import Dated, dated
from app.domain.extraction.frames.frame import Frame
from app.domain.extraction.patterns import Found, Voice
from app.domain.extraction.plain import Context, category_of
from app.domain.extraction.slots import key_of_name, named_key
from app.domain.extraction.turns import Turn
from app.domain.memory import Category, Kind, Source, default_importance

LONGEST: Final = 400
"""Characters of the longest clause that is read."""

EXPLICIT_IMPORTANCE: Final = 8
MOST_VALUE: Final = 120

_YES_OR_NO: Final = re.compile(
    r"吗\??$|^(?:did|does|do|is|are|was|were|shall|should|would|will|can|could|have|has)\b(?!.* or )"
)
"""A question to which the answer is yes or no: what stands beside that is seldom understood with it."""

_NOT_VALUES: Final = frozenset({"before", "what", "who", "name", "rel"})
_DATE_KEYS: Final = frozenset({"project.deadline", "user.birthday", "user.age"})
_TAIL_EN: Final = re.compile(
    r"\s*(?:,? (?:and (?:i|we|my|it)|with (?:my|our)|but|because|since|so|which|"
    r"who|although|though|as (?:it|we|i)|these days|right now|at the moment|for now|"
    r"any ?more|actually|btw|by the way|lol|"
    r"haha|please|as well|too|already|instead|again|currently|now|a lot|very much|"
    r"so much|most of the time|if)\b.*| (?:in|on|at|since|from|by|for|until|last|"
    r"of))$"
)
_TAIL_ZH: Final = re.compile(
    r"(?:,?(?:因为|所以|但是|不过|由于|主要是|这样|而不是).*|了|吧|的|呢|啊|哦|"
    r"就好|就行|来着)$"
)
_PROJECT_SPEAKERS: Final = re.compile(r"we\b|our\b|the\b|我们|咱们|项目|团队|公司")


def read(
    clause: Clause, turn: Turn, *, voice: Voice = "first", source: Source = "user_stated", explicit: bool = False
) -> Candidate | None:
    """What a clause tells of the one who is spoken of, None if no rule knows it.

    Args:
        clause: Without fillers before it.
        turn: Where it stands.
        voice: Whether the speaker or the one spoken to is meant.
        source: Of the candidate.
        explicit: Whether it was asked to be remembered: then it is kept, whatever it says.
    """
    if len(clause.plain) > LONGEST:
        return None
    rules = chinese.RULES if clause.chinese else english.RULES
    times = dated(clause.text, turn)
    found = rules.first_fit(clause.plain, voice, has_time=bool(times.spans), text=clause.text)
    if found is None:
        return _asked_for(clause, turn, times, source) if explicit else None
    if not found.rule.annotate and times.spans:
        times = dated(clause.text, turn, annotate=False)
    return _of_rule(clause, turn, times, found, source, explicit=explicit)


def _of_rule(clause: Clause, turn: Turn, times: Dated, found: Found, source: Source, *, explicit: bool) -> Candidate:
    rule = found.rule
    value, before = _values(clause, times, found)
    key = named_key(rule.key, found.group("what")) if rule.key else None
    if key is None and rule.category in {"preference", "project", "tool_config", "decision"}:
        of_a_project = _PROJECT_SPEAKERS.match(clause.plain) is not None
        key = key_of_name((value or before or "").lower(), of_a_project=of_a_project)
    importance = rule.importance or default_importance(rule.category)
    return Candidate(
        text=times.text,
        kind=rule.kind,
        category=rule.category,
        source=source,
        seqs=(turn.seq,),
        quote=clause.text,
        key=key,
        value=value,
        importance=max(importance, EXPLICIT_IMPORTANCE) if explicit else importance,
        change=rule.change,
        before=before,
        explicit=explicit,
        occurred_at=_moment(times, turn, rule.kind, changed=rule.change is not None),
        expires_at=times.expires_at,
    )


def _asked_for(clause: Clause, turn: Turn, times: Dated, source: Source) -> Candidate:
    """What was asked to be remembered and no rule knows."""
    plain = _plain(clause, turn, times, "other")
    return replace(plain, source=source, importance=EXPLICIT_IMPORTANCE, explicit=True)


def read_plain(clause: Clause, turn: Turn, times: Dated) -> Candidate:
    """A statement that no rule knows, as it is."""
    return _plain(clause, turn, times, category_of(clause, has_time=bool(times.spans)))


def framed(candidate: Candidate, frame: Frame) -> Candidate:
    """What a rule found, in the slot that the form of its sentence tells."""
    return replace(
        candidate,
        key=frame.key or None,
        value=frame.value,
        change=frame.change or (candidate.change if candidate.change != "ends" else None),
        before=frame.before or (candidate.before if not frame.key else None),
    )


def read_frame(clause: Clause, turn: Turn, frame: Frame) -> Candidate:
    """What only the form of a sentence tells."""
    return framed(
        replace(
            read_plain(clause, turn, dated(clause.text, turn)),
            kind="semantic",
            category=frame.category,
            importance=default_importance(frame.category),
        ),
        frame,
    )


def read_answer(clause: Clause, turn: Turn, times: Dated, context: Context) -> Candidate | None:
    """An answer that no rule knows, understood with the question before it; None without one."""
    question = context.question
    if question is None or (_YES_OR_NO.search(question.plain) and not re.search(r"\d", clause.plain)):
        return None
    plain = read_plain(clause, turn, times)
    mark, space = ("？", "") if question.chinese else ("?", " ")
    return replace(plain, text=f"{question.text}{mark}{space}{plain.text}", seqs=(context.seq, turn.seq))


def _plain(clause: Clause, turn: Turn, times: Dated, category: Category) -> Candidate:
    return Candidate(
        text=times.text,
        kind="episodic" if category == "event" else "semantic",
        category=category,
        source="user_stated",
        seqs=(turn.seq,),
        quote=clause.text,
        importance=default_importance(category),
        occurred_at=times.event or turn.occurred_at,
        expires_at=times.expires_at,
    )


def _moment(times: Dated, turn: Turn, kind: Kind, *, changed: bool) -> datetime:
    return times.event if times.event and (kind == "episodic" or changed) else turn.occurred_at


def _values(clause: Clause, times: Dated, found: Found) -> tuple[str | None, str | None]:
    """The value and the one before it, as they are written; an ending has no value."""
    spans = {name: found.match.span(name) for name, text in found.match.groupdict().items() if text is not None}
    before = _written(clause, times, spans.get("before"), found)
    values = [span for name, span in spans.items() if name not in _NOT_VALUES]
    value = _written(clause, times, values[0] if values else None, found)
    if found.rule.change == "ends":
        return None, before or value
    return value, before


def _written(clause: Clause, times: Dated, span: tuple[int, int] | None, found: Found) -> str | None:
    if span is None:
        return None
    start, end = span
    if found.rule.key not in _DATE_KEYS and found.rule.kind != "episodic":
        for first, _ in times.spans:
            if start < first < end:
                end = first
    plain = clause.plain[start:end]
    tail = _TAIL_ZH if clause.chinese else _TAIL_EN
    for _ in range(3):
        plain = tail.sub("", plain.rstrip(" ,、:"))
    written = clause.text[start : start + len(plain)].strip(" ,，、:：\"“”'「」")
    return written[:MOST_VALUE] or None
