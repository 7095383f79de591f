"""How good an extractor is, measured on labelled dialogues."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from tests.extraction.checks import (
    attributed,
    copied,
    dated,
    expires_rightly,
    invented,
    keyed_rightly,
    language_kept,
    stated_rightly,
)
from tests.extraction.labels import Dialogue, Fact
from tests.extraction.matching import Matching, Prediction, matching
from tests.extraction.scores import Report, Score

FREE_EXTRAS: Final = 1
"""Duplicates of a fact that are only reported; those beyond are wrong."""


class _Tally:
    """Counts in total, by language and by category, and the errors."""

    def __init__(self) -> None:
        self.total: Counter[str] = Counter()
        self.languages: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.categories: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.errors: list[str] = []

    def count(self, dialogue: Dialogue, category: str | None, **found: bool | int) -> None:
        for counter in (self.total, self.languages[dialogue.language], self.categories[category or "none given"]):
            for name, number in found.items():
                counter[name] += int(number)

    def error(self, dialogue: Dialogue, kind: str, said: str, seqs: Iterable[int]) -> None:
        turns = " | ".join(f"{seq}: {turn.text[:90]!r}" for seq in seqs if (turn := dialogue.turn(seq)) is not None)
        self.errors.append(f"{dialogue.id} {kind}: {said} <- {turns}")


def score(dialogues: Iterable[Dialogue], predictions: Mapping[str, Sequence[Prediction]]) -> Report:
    """Compare the predictions, by the id of their dialogue, with the labels. A dialogue without any found nothing."""
    tally = _Tally()
    for dialogue in dialogues:
        made = predictions.get(dialogue.id, ())
        matched = matching(dialogue, made)
        _judge_facts(tally, dialogue, made, matched)
        _judge_predictions(tally, dialogue, made, matched)
    return Report(
        total=Score(tally.total),
        by_language={name: Score(tally.languages[name]) for name in sorted(tally.languages)},
        by_category={name: Score(tally.categories[name]) for name in sorted(tally.categories)},
        errors=tally.errors,
    )


def _judge_facts(tally: _Tally, dialogue: Dialogue, made: Sequence[Prediction], matched: Matching) -> None:
    of_fact = {fact: number for number, facts in matched.held.items() for fact in facts}
    for number, fact in enumerate(dialogue.facts):
        found = number in of_fact
        if not fact.optional:
            tally.count(dialogue, fact.category, facts=1, found=found)
            if not found:
                tally.error(dialogue, "missed", _label(fact), fact.about)
        if found:
            held = [dialogue.facts[other] for other in matched.held[of_fact[number]]]
            _judge_found(tally, dialogue, fact, made[of_fact[number]], held)


def _judge_found(tally: _Tally, dialogue: Dialogue, fact: Fact, prediction: Prediction, held: Sequence[Fact]) -> None:
    """What a prediction says about its fact beside the words: who, when, how long, whether it is still so.

    A memory that holds several facts has one key: that of any of them is right.
    """
    right = {
        "attributed": attributed(prediction, fact),
        "dated": dated(prediction, fact, dialogue),
        "expired_right": expires_rightly(prediction, fact, dialogue),
        "stated_right": stated_rightly(prediction, fact),
        "keyed_right": any(keyed_rightly(prediction, one) for one in held if one.key is not None or one is fact),
    }
    asked = {
        "attributable": True,
        "datable": fact.date is not None,
        "expirable": fact.expires is not None or not right["expired_right"],
        "found_all": True,
        "keyed": prediction.key is not None and fact.key is not None,
    }
    for (name, good), (of, counts) in zip(right.items(), asked.items(), strict=True):
        if counts:
            tally.count(dialogue, fact.category, **{name: good, of: 1})
            if not good:
                tally.error(dialogue, f"not {name}", f"{prediction.text!r}, label {_label(fact)}", fact.about)


def _judge_predictions(tally: _Tally, dialogue: Dialogue, made: Sequence[Prediction], matched: Matching) -> None:
    extras: Counter[int] = Counter()
    for number, prediction in enumerate(made):
        category: str | None = prediction.category
        held = matched.held.get(number, ())
        extra = matched.extra.get(number)
        if held:
            category = dialogue.facts[held[0]].category
            tally.count(dialogue, category, right=1, judged=1)
        elif extra is not None:
            category = dialogue.facts[extra].category
            extras[extra] += 1
            surplus = extras[extra] > FREE_EXTRAS
            tally.count(dialogue, category, duplicates=1, judged=surplus)
            tally.error(dialogue, "surplus" if surplus else "duplicate", repr(prediction.text), prediction.seqs)
        else:
            _judge_wrong(tally, dialogue, prediction, misattributed=number in matched.misattributed)
        _judge_words(tally, dialogue, prediction, category, held=bool(held) or extra is not None)


def _judge_wrong(tally: _Tally, dialogue: Dialogue, prediction: Prediction, *, misattributed: bool) -> None:
    why = sorted({junk.why for junk in dialogue.junk if junk.seq in prediction.seqs})
    tally.count(dialogue, prediction.category, judged=1, attributable=misattributed, junk=bool(why))
    kind = "misattributed" if misattributed else f"junk ({', '.join(why)})" if why else "wrong"
    tally.error(dialogue, kind, repr(prediction.text), prediction.seqs)


def _judge_words(
    tally: _Tally, dialogue: Dialogue, prediction: Prediction, category: str | None, *, held: bool
) -> None:
    """What holds of a prediction whether or not it is true: its language, and that nobody invented it."""
    kept = language_kept(prediction, dialogue)
    invention = invented(prediction, dialogue, held=held)
    tally.count(
        dialogue,
        category,
        predictions=1,
        inventions=invention,
        copies=copied(prediction, dialogue),
        with_language=kept is not None,
        kept_language=kept is True,
    )
    if kept is False:
        tally.error(dialogue, "translated", repr(prediction.text), prediction.seqs)
    if invention:
        tally.error(dialogue, "invention as fact", repr(prediction.text), prediction.seqs)


def _label(fact: Fact) -> str:
    words = " | ".join(" + ".join(alternative) for alternative in fact.words)
    notes = [f"[{fact.category}]", words]
    if fact.subject:
        notes.append(f"of {' | '.join(fact.subject)}")
    if fact.date is not None:
        notes.append(f"on {fact.date}")
    if fact.expires is not None:
        notes.append(f"until {fact.expires}")
    if not fact.current:
        notes.append("no longer true")
    return " ".join(notes)
