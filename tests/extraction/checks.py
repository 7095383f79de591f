"""What is asked of one memory beside its words: who said it, when, how long, in which language."""

import re
from datetime import date, timedelta
from typing import Final

from app.core.text.language import language_of
from app.domain.keys import built_in, spelled
from app.domain.memory import VISIBLE_STATUSES
from tests.extraction.labels import Dialogue, Fact
from tests.extraction.matching import Prediction, folded, has_han


def attributed(prediction: Prediction, fact: Fact) -> bool:
    """Whether the memory has its fact's speaker; what the assistant said, also as inferred, has to be uncertain."""
    if fact.source == "assistant_said":
        return prediction.source in {"assistant_said", "inferred"} and prediction.uncertain
    return prediction.source == fact.source and not prediction.uncertain


def dated(prediction: Prediction, fact: Fact, dialogue: Dialogue) -> bool:
    """Whether the memory has its fact's day, as its time in the sender's zone or written out in full."""
    if fact.date is None:
        return True
    at = prediction.occurred_at
    if at is not None and at.astimezone(dialogue.zone).date() == fact.date:
        return True
    return any(folded(form) in prediction.words for form in written_forms(fact.date))


def written_forms(day: date) -> tuple[str, ...]:
    """A day with its year, as it is written in both languages."""
    month = f"{day:%B}"
    return (
        day.isoformat(),
        f"{day.year}年{day.month}月{day.day}日",
        f"{day.year}年{day.month}月{day.day}号",
        f"{day.year}/{day.month}/{day.day}",
        f"{day.day} {month} {day.year}",
        f"{month} {day.day}, {day.year}",
    )


def expires_rightly(prediction: Prediction, fact: Fact, dialogue: Dialogue) -> bool:
    """Whether the memory ends with its fact's last day; one of a dated event may end with the event or after it."""
    if prediction.expires_at is None:
        return fact.expires is None
    last = (prediction.expires_at - timedelta(microseconds=1)).astimezone(dialogue.zone).date()
    if fact.expires is not None:
        return last == fact.expires
    return fact.date is not None and last >= fact.date


def language_kept(prediction: Prediction, dialogue: Dialogue) -> bool | None:
    """Whether the memory is in the script of the turns that it cites; None where those have no language."""
    source = "\n".join(turn.text for seq in prediction.seqs if (turn := dialogue.turn(seq)) is not None)
    match language_of(source):
        case "zh":
            return has_han(prediction.text)
        case "en":
            return has_han(source) or not has_han(prediction.text)
        case _:
            return None


def invented(prediction: Prediction, dialogue: Dialogue, *, held: bool) -> bool:
    """Whether the memory is served as fact, or as the user's words, though only the assistant said it."""
    if prediction.uncertain and prediction.source != "user_stated":
        return False
    turns = [turn for seq in prediction.seqs if (turn := dialogue.turn(seq)) is not None]
    if turns and all(turn.role == "assistant" for turn in turns):
        return True
    inventions = {junk.seq for junk in dialogue.junk if junk.why == "invention"}
    return not held and not prediction.uncertain and not inventions.isdisjoint(prediction.seqs)


def copied(prediction: Prediction, dialogue: Dialogue) -> bool:
    """Whether the memory holds the whole of a turn that it cites, though that states several facts."""
    for seq in prediction.seqs:
        turn = dialogue.turn(seq)
        several = sum(seq in fact.about for fact in dialogue.facts) > 1
        if turn is not None and several and folded(turn.text) in folded(prediction.text):
            return True
    return False


def stated_rightly(prediction: Prediction, fact: Fact) -> bool:
    """Whether the memory is visible exactly if its fact is still true; what lasts for a time may have expired."""
    if fact.expires is not None and prediction.status == "expired":
        return True
    return (prediction.status in VISIBLE_STATUSES) == fact.current


WITHIN: Final = {
    "user.goal": r"user\.(?:training|savings|running)\.goal|habit\..*",
    "user.pet": r"user\..+\.name",
    "user.child": r"user\.(?:son|daughter|kid|child|儿子|女儿|孩子|闺女|娃)\..*",
    "user.possession": r"user\.(?:car|laptop|phone\.model)",
    "user.health": r"user\..*\.dose",
    "user.school": r"user\.major|user\..*\.school",
    "user.job": r"user\.major",
    "preference.food": r"user\.favourite\.food|user\.diet",
    "preference.drink": r"user\.favourite\.drink|user\.(?:coffee|tea|咖啡|茶|奶茶)",
    "project.language": r"project\.(?:backend|frontend|service|app|api|后端|前端|服务|.*服务)",
    "project.database": r"project\..*(?:db|database|库)",
    "project.deadline": r"(?:user|project)\..*\.(?:deadline|time)",
}
"""Slots that lie within a key of the labels: the name of the dog within the pets."""


def keyed_rightly(prediction: Prediction, fact: Fact) -> bool:
    """Whether the memory has its fact's canonical key, in any spelling, or a slot within it; true where either "
    "has none."""
    if prediction.key is None or fact.key is None:
        return True
    entry = built_in(prediction.key)
    key = entry.key if entry is not None else spelled(prediction.key)
    return key == fact.key or re.fullmatch(WITHIN.get(fact.key, fact.key), key) is not None
