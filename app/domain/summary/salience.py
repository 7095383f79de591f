"""What matters of a stretch of conversation without a language model: its own sentences, weighed, never reworded."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from app.core.text.content import content_terms
from app.core.text.scripts import HAN
from app.core.text.tokens import tokens
from app.domain.extraction.candidates import Candidate
from app.domain.extraction.clauses import joined, sentences_of
from app.domain.extraction.folding import folded
from app.domain.extraction.rules import extract
from app.domain.gate.judging import judge
from app.domain.gate.sentences import is_question, refusal_of
from app.domain.memory import Category
from app.domain.summary.answers import answered_question, is_bare
from app.domain.summary.changing import says_change
from app.domain.summary.lines import Line, groups
from app.domain.summary.sentences import LASTING, Sentence, Sort

LONGEST: Final = 320
"""Characters of one sentence; of a longer one the beginning is kept."""

PART_CHARACTERS: Final = 4_000
MOST_CHARACTERS: Final = 100_000
"""Of one message so much is read, in parts of the size above."""

MOST_OF_A_MESSAGE: Final = 30
"""Sentences: more than a summary of its stretch has room for."""

LONGEST_RESULT: Final = 160
ANSWER: Final = 0.55
"""What an answer in a few words is worth with its question: somebody wanted to know."""

CENTRALITY: Final = 0.2
"""Share of a score that says how much of the stretch a sentence is about."""

_SORT_OF: Final[Mapping[Category, Sort]] = {
    "constraint": "constraint",
    "decision": "decision",
    "preference": "preference",
    "goal": "goal",
}
_WEIGHT: Final[Mapping[Sort, float]] = {
    "system": 1.0,
    "constraint": 1.0,
    "decision": 0.9,
    "change": 0.85,
    "preference": 0.75,
    "fact": 0.7,
    "goal": 0.7,
    "question": 0.45,
    "result": 0.4,
    "statement": 0.25,
}
_DECIDES: Final = re.compile(
    r"\b(?:we(?:'ve| have)? (?:decided|agreed|settled)|let's (?:go with|use|take)|decided (?:to|on|that)|"
    r"agreed (?:to|on)|the decision is|we(?:'ll| will) go with|going with)\b|决定|定下来|就用|商定|一致同意|敲定"
)
_BINDS: Final = re.compile(
    r"\b(?:must(?: not|n't)?|never|always|do not ever|under no circumstances|at (?:most|least)|no more than|"
    r"not allowed|forbidden|required to)\b|必须|绝不|千万|一律|不得|不准|不许|禁止|严禁|"
    r"(?:不能|不要|别).{0,12}(?:超过|再)|务必|永远不|始终"
)
_UNKNOWN: Final = re.compile(
    r"\b(?:i don't know|not sure|i'll (?:check|find out|look into|get back)|let me (?:check|find out|look)|"
    r"to be (?:decided|confirmed)|tbd|not decided)\b|不知道|不清楚|不确定|待定|还没定|查一下|确认一下|稍后(?:回复|告诉)"
)
_NUMBER: Final = re.compile(r"\d")
LATIN_WORD: Final = 3
"""Chinese signs that say as much as a word in letters."""

_HAN_SIGN: Final = re.compile(f"[{HAN}]")
_WORD: Final = re.compile(f"[{HAN}]|[^\\W\\d_{HAN}]+")
_FIGURE: Final = re.compile(r"[\w./:+-]*\d[\w./:+-]*", re.ASCII)
_END: Final = re.compile(r"[.!?]\s|[。！？\n]")
_TELLS: Final = re.compile(r"\b(?:is|are|was|were|be|costs?|has|have)\b|[是为叫有要花]", re.IGNORECASE)
_SPACE: Final = re.compile(r"\s+")


def salient(lines: Sequence[Line], before: Line | None = None) -> list[Sentence]:
    """Every sentence of the lines that may be kept, with its score, in order. Words are the messages' own.

    `before` is the message before them, which may be a question that the first one answers in a word or two.

    System messages are kept whole; a tool call is one sentence with the beginning of its result; small talk gives
    nothing. The score of the rest is what the write gate thinks of the statement in it, or what its words are worth,
    and for a fifth how central it is: how much of what is said here has to do with it.
    """
    found = [*_of_tools(lines), *_of_speech(lines, before)]
    found.sort(key=lambda one: (one.from_seq, one.to_seq))
    return _best_of_each(_with_centrality(found))


def _best_of_each(found: Sequence[Sentence]) -> list[Sentence]:
    """The sentences, of a very long message those that matter most: later each is held against all others."""
    places: dict[int, list[int]] = {}
    for place, one in enumerate(found):
        if one.sort not in LASTING:
            places.setdefault(one.from_seq, []).append(place)
    gone = {
        place
        for own in places.values()
        for place in sorted(own, key=lambda place: (-found[place].score, place))[MOST_OF_A_MESSAGE:]
    }
    return [one for place, one in enumerate(found) if place not in gone]


def _of_tools(lines: Sequence[Line]) -> Iterator[Sentence]:
    for group in groups(lines):
        first = group[0]
        if not first.calls:
            continue
        results = [line for line in group[1:] if line.turn.role == "tool"]
        for place, call in enumerate(first.calls):
            own = next((line for line in results if line.answers is not None and line.answers == call.id), None)
            result = own or (results[place] if place < len(results) else None)
            said = f"{call.name}({_cut(call.arguments, LONGEST_RESULT)})"
            told = said if result is None else f"{said} -> {_cut(result.turn.text, LONGEST_RESULT)}"
            last = first.seq if result is None else result.seq
            yield Sentence(told, first.seq, last, "tool", "result", _WEIGHT["result"])


def _of_speech(lines: Sequence[Line], before: Line | None) -> Iterator[Sentence]:
    stated = [one for one in extract([line.turn for line in lines]) if one.source == "user_stated" and not one.replaced]
    for place, line in enumerate(lines):
        match line.turn.role:
            case "system":
                text = line.turn.text.strip()
                if text:
                    yield Sentence(text, line.seq, line.seq, "system", "system", 1.0)
            case "user":
                told = answer_to(lines[place - 1] if place else before, line)
                own = [one for one in stated if line.seq in one.seqs]
                if told is None or any(_holds(line.turn.text, one) for one in own):
                    yield from _of_user(line, own, answered=_is_answered(lines, place))
                else:
                    yield told
            case "assistant":
                yield from _of_assistant(line)
            case "tool":
                continue


def answer_to(before: Line | None, line: Line) -> Sentence | None:
    """A few words that say nothing without the question that they answer, with it: "How long? user: Ten days"."""
    if before is None or before.turn.role != "assistant" or before.seq + 1 != line.seq or before.calls:
        return None
    question = answered_question(list(_whole_sentences(before.turn.text)), line.turn.text)
    if question is None:
        return None
    answer = _cut(line.turn.text, LONGEST)
    sort = _by_words(folded(answer))
    score = _WEIGHT["question"] if is_bare(answer) else max(_WEIGHT[sort], ANSWER)
    text = f"{_cut(question, LONGEST)} user: {answer}"
    return Sentence(text, before.seq, line.seq, "assistant", sort, min(1.0, score + _details(answer)))


def _is_answered(lines: Sequence[Line], place: int) -> bool:
    """Whether an assistant replied to a message, and not that it does not know yet."""
    for other in lines[place + 1 :]:
        if other.turn.role == "user":
            return False
        if other.turn.role == "assistant" and other.turn.text.strip():
            return _UNKNOWN.search(folded(other.turn.text)) is None
    return False


def _of_user(line: Line, own: Sequence[Candidate], *, answered: bool) -> Iterator[Sentence]:
    for text in _sentences(line):
        plain = folded(text)
        refusal = refusal_of(plain.rstrip(".!。 "))
        if refusal in {"greeting", "empty"}:
            continue
        if is_question(plain):
            if not answered:
                yield _said(line, text, "question", _WEIGHT["question"])
            continue
        candidate = next((one for one in own if _holds(text, one)), None)
        if candidate is not None:
            sort = _sort_of(candidate, plain)
            gate = judge(candidate, line.turn).score if candidate.quote in line.turn.text else 0.0
            yield _said(line, text, sort, max(_WEIGHT[sort], gate))
        elif refusal is None:
            sort = _by_words(plain)
            yield _said(line, text, sort, _WEIGHT[sort] * 0.9 + _details(text))
        elif _NUMBER.search(text):
            yield _said(line, text, "statement", 0.15 + _details(text))


def _of_assistant(line: Line) -> Iterator[Sentence]:
    """What an assistant says counts by its figures and names, and less than what its user says."""
    for text in _sentences(line):
        plain = folded(text)
        if is_question(plain) or refusal_of(plain.rstrip(".!。 ")) == "greeting":
            continue
        worth = _details(text)
        sort: Sort = "decision" if _DECIDES.search(plain) else "statement"
        if worth or sort == "decision":
            yield _said(line, text, sort, (_WEIGHT[sort] + worth) * 0.6)


def _sentences(line: Line) -> Iterator[str]:
    """Each once; figures and names alone are told with the sentence before them: "It was sent! No. SF-99812"."""
    told: dict[str, None] = {}
    for text in _whole_sentences(line.turn.text):
        last = next(reversed(told), None)
        alone = last is not None and not is_question(folded(last)) and _is_fragment(text)
        if last is not None and alone and len(last) + len(text) < LONGEST:
            told.pop(last)
            told[f"{last} {text}"] = None
        else:
            told[text] = None
    yield from told


def _whole_sentences(text: str) -> Iterator[str]:
    for part in _parts(text):
        for clauses in sentences_of(part):
            whole = joined(part, clauses)
            mark = part[whole.end : whole.end + 1]
            found = _cut(whole.text + (mark if mark in ".!?。！？" else ""), LONGEST)
            if found:
                yield found


def _parts(text: str) -> Iterator[str]:
    """A long message, cut between sentences into what is read at once."""
    start = 0
    while start < min(len(text), MOST_CHARACTERS):
        end = start + PART_CHARACTERS
        if end < len(text):
            ends = [match.end() for match in _END.finditer(text, start, end)]
            end = ends[-1] if ends else end
        yield text[start:end]
        start = end


def _is_fragment(text: str) -> bool:
    """Whether it has figures and hardly a word that would say of what."""
    if not _NUMBER.search(text) or _TELLS.search(text):
        return False
    return (
        sum(1 if _HAN_SIGN.match(word) else LATIN_WORD for word in _WORD.findall(_FIGURE.sub(" ", text))) <= LATIN_WORD
    )


def _said(line: Line, text: str, sort: Sort, score: float) -> Sentence:
    return Sentence(text, line.seq, line.seq, line.turn.role, sort, min(1.0, score))


def _holds(text: str, candidate: Candidate) -> bool:
    quote = _cut(candidate.quote, LONGEST)
    return quote in text or text.rstrip(".!。！") in quote


def _sort_of(candidate: Candidate, plain: str) -> Sort:
    known = _SORT_OF.get(candidate.category)
    if known is not None:
        return known
    if candidate.change in {"replaces", "corrects", "ends"}:
        return "change"
    return "fact" if candidate.key is not None else _by_words(plain, otherwise="fact")


def _by_words(plain: str, otherwise: Sort = "statement") -> Sort:
    if _DECIDES.search(plain):
        return "decision"
    if _BINDS.search(plain):
        return "constraint"
    return "change" if _NUMBER.search(plain) and says_change(plain) else otherwise


def _details(text: str) -> float:
    """What figures and names add."""
    named = any(term.kind == "name" for term in content_terms(text[:LONGEST]))
    return 0.15 * (_NUMBER.search(text) is not None) + 0.15 * named


def _with_centrality(found: Sequence[Sentence]) -> list[Sentence]:
    """Scores with how many of a sentence's words others have too, relative to the most of any."""
    words = [set(tokens(one.text)) for one in found]
    spread = Counter(token for own in words for token in own)
    central = [sum(spread[token] - 1 for token in own) / len(own) if own else 0.0 for own in words]
    most = max(central, default=0.0) or 1.0
    return [
        one
        if one.sort in {"system", "constraint"}
        else replace(one, score=(1 - CENTRALITY) * one.score + CENTRALITY * share / most)
        for one, share in zip(found, central, strict=True)
    ]


def _cut(text: str, most: int) -> str:
    plain = _SPACE.sub(" ", text).strip()
    return plain if len(plain) <= most else plain[: most - 1].rstrip() + "…"
