"""The write gate: whether a candidate is worth keeping, with a reason when it is not."""

import re
from dataclasses import dataclass
from typing import Final

from app.domain.extraction.candidates import Candidate
from app.domain.extraction.folding import folded
from app.domain.extraction.turns import Turn
from app.domain.gate.foreign import foreign
from app.domain.gate.refusals import Refusal
from app.domain.gate.sentences import is_joke, refusal_of, starts_role_play
from app.domain.memory import Category, Kind

DEFAULT_THRESHOLD: Final = 0.5

_WEIGHTS: Final = {"stability": 0.25, "reuse": 0.25, "specificity": 0.2, "importance": 0.2, "novelty": 0.1}
_STABILITY: Final[dict[Category, float]] = {
    "identity": 1.0,
    "preference": 0.9,
    "constraint": 1.0,
    "goal": 0.7,
    "decision": 0.9,
    "project": 0.8,
    "tool_config": 0.8,
    "domain": 0.8,
    "relation": 0.9,
    "event": 0.4,
    "lesson": 0.9,
    "other": 0.5,
}
_REUSE: Final[dict[Category, float]] = {
    "identity": 0.9,
    "preference": 0.9,
    "constraint": 1.0,
    "goal": 0.8,
    "decision": 0.9,
    "project": 0.8,
    "tool_config": 0.8,
    "domain": 0.5,
    "relation": 0.8,
    "event": 0.5,
    "lesson": 0.8,
    "other": 0.4,
}
_PASSING: Final = re.compile(
    r"\b(?:right now|at the moment|just now|for a (?:sec|second|minute|moment)|"
    r"today|tonight|this (?:morning|afternoon|evening))\b|现在|此刻|这会儿|刚刚|"
    r"刚才|今天|今晚"
)
_OWN: Final = re.compile(r"\b(?:i|i'm|i've|we|we're|my|mine|our|ours|me|us|user|you|your)\b|我|咱|用户|你|您")
_NAMED: Final = re.compile(r"\d|[A-Z][A-Za-z]*[A-Z0-9]|(?<=[a-z,] )[A-Z][a-z]+|[a-z]+[_./:-][a-z]+|[“\"「『《]")
_METHOD: Final = re.compile(
    r"\b(?:how to|in order to|to (?:deploy|release|build|run|test|start|restart|"
    r"reset|set up|publish|install|restore|migrate|roll ?back)\b.*(?:run|use|"
    r"first|then|make|need)|step \d|first,? .* then)\b|"
    r"(?:步骤|流程|方法|办法|怎么做)(?:是|:|如下)|先.+(?:再|然后).+"
)
_FRAGMENT: Final = re.compile(
    r"(?:(?:no|nope|wait|sorry|actually|oops|correction|please|rather|and|then)[\s,.:;!-]+)*"
    r"(?:make|change|set|move) (?:it|that)\b"
    r"|(?:(?:不对|不是|不|那|请|那就|还是|等等|抱歉|错了|更正|麻烦)[,，。\s]*)*(?:改|换|调|推迟|提前)(?:成|为|到|在|至)"
)
"""What nobody understands later: 改成四点."""

_SENTENCE_END: Final = re.compile(r"[.!?。;\n]")
_PERSONAL: Final[frozenset[Category]] = frozenset({"relation", "constraint", "identity", "preference", "goal", "event"})
MOST_CHARACTERS: Final = 2_000
LOOK_BACK: Final = 200
"""Characters before a quote in which its condition may stand."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate says.

    Args:
        passed: Whether the candidate is kept.
        score: In [0, 1]; 0 where a rule refused it, 1 where it was asked to be remembered.
        reason: Why it is not kept.
        kind: Of memory that it is: methods are procedural, whatever the extractor said.
    """

    passed: bool
    score: float
    reason: Refusal | None
    kind: Kind


def judge(candidate: Candidate, turn: Turn, *, novelty: float = 1.0, threshold: float = DEFAULT_THRESHOLD) -> Verdict:
    """Whether a candidate is worth keeping.

    Rules first: whose words it is made of, and whether its quote is a statement at all. Then a weighted sum of how long
    it holds, how often it will be needed, whether it is more than general knowledge, its importance and its novelty.
    What the user asked to be remembered passes.

    Args:
        candidate: With a quote from the turn.
        turn: The last of its turns: the quote stands in it.
        novelty: 1 - similarity to the nearest that is stored, in [0, 1].
        threshold: The least score that is kept, in [0, 1].
    """
    kind = kind_of(candidate)
    reason = _refused(candidate, turn)
    if reason is not None:
        return Verdict(passed=False, score=0.0, reason=reason, kind=kind)
    if candidate.explicit:
        return Verdict(passed=True, score=1.0, reason=None, kind=kind)
    value = score(candidate, novelty)
    passed = value >= threshold
    return Verdict(passed=passed, score=value, reason=None if passed else "low_score", kind=kind)


def score(candidate: Candidate, novelty: float) -> float:
    """How much a candidate is worth keeping, in [0, 1]: the weights sum to 1, each term is in [0, 1]."""
    text = candidate.text[:MOST_CHARACTERS]
    passing = _PASSING.search(folded(text)) is not None and candidate.change is None
    terms = {
        "stability": _STABILITY[candidate.category] * (0.4 if passing else 1.0),
        "reuse": _REUSE[candidate.category],
        "specificity": _specificity(text, candidate),
        "importance": min(max(candidate.importance, 0), 10) / 10,
        "novelty": min(max(novelty, 0.0), 1.0),
    }
    return sum(_WEIGHTS[name] * term for name, term in terms.items())


def kind_of(candidate: Candidate) -> Kind:
    """The kind of memory: how something is done is procedural."""
    return "procedural" if _METHOD.search(folded(candidate.text[:MOST_CHARACTERS])) else candidate.kind


def _specificity(text: str, candidate: Candidate) -> float:
    """What no encyclopedia could tell: somebody's own, or a name or number."""
    own = _OWN.search(folded(text)) is not None or candidate.category in _PERSONAL
    named = _NAMED.search(text) is not None or candidate.value is not None
    return 0.6 * own + 0.4 * named


def _refused(candidate: Candidate, turn: Turn) -> Refusal | None:
    if turn.role in {"system", "tool"} and candidate.source != "tool_observed":
        return "not_the_users"
    if candidate.source == "user_stated" and turn.role != "user":
        return "not_the_users"
    if not candidate.quote.strip() or not candidate.text.strip():
        return "empty"
    place = turn.text.find(candidate.quote)
    if place < 0:
        return "unquoted"
    if candidate.source == "tool_observed":
        return None
    plain = folded(turn.text)
    end = place + len(candidate.quote)
    for part in foreign(plain):
        if part.start <= place and end <= part.end:
            return part.reason
    return None if candidate.explicit else _of_words(candidate, plain, place, end, said_yes=len(candidate.seqs) > 1)


def _of_words(candidate: Candidate, plain: str, place: int, end: int, *, said_yes: bool) -> Refusal | None:
    if starts_role_play(plain):
        return "role_play"
    if is_joke(plain):
        return "joke"
    quote = plain[place:end].strip()
    asked = quote.endswith(("?", "吗")) or (plain[end : end + 1] == "?" and not said_yes)
    if asked and candidate.quote.strip() == candidate.text.strip():
        return "question"
    # A condition stands before what it holds: "If I lived in Oslo".
    sentence = _SENTENCE_END.split(plain[max(0, place - LOOK_BACK) : place])[-1] + quote
    if refusal_of(sentence.strip()) == "hypothetical":
        return "hypothetical"
    if candidate.change != "corrects" and _FRAGMENT.match(folded(candidate.text)):
        return "fragment"
    reason = refusal_of(quote)
    return None if reason == "greeting" and said_yes else reason
