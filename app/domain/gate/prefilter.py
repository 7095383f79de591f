"""Whether a turn is worth an extractor's time: cheap rules, before any model is asked."""

from app.domain.extraction.folding import folded
from app.domain.extraction.turns import Turn
from app.domain.gate.foreign import foreign, own_words
from app.domain.gate.refusals import Refusal
from app.domain.gate.sentences import asks_to_remember, refusal_of, starts_role_play
from app.domain.smalltalk import worth_retrieving


def prefilter(turn: Turn) -> Refusal | None:
    """Why nothing can be learnt from a turn; None if something may be.

    What asks to be remembered always passes. Only turns that hold nothing else are refused: a question may stand beside
    a fact.
    """
    if turn.role in {"system", "tool"}:
        return "not_the_users"
    plain = folded(turn.text)
    if not plain.strip():
        return "empty"
    parts = foreign(plain)
    own = own_words(plain, parts) if parts else plain
    if not own.strip():
        return next((part.reason for part in parts), "empty")
    if asks_to_remember(own):
        return None
    if not worth_retrieving(own.strip()):
        return "greeting"
    if starts_role_play(own):
        return "role_play"
    sentences = [sentence for line in own.splitlines() if (sentence := line.strip())]
    if len(sentences) > 1 or len(own) > 120:  # noqa: PLR2004 - several sentences, of which one may be a statement
        return None
    reason = refusal_of(own.strip().rstrip(".!。"))
    return reason if reason in {"greeting", "state", "role_play", "hypothetical", "forget"} and "," not in own else None
