"""The labels themselves: consistent, complete, and about what was said."""

import re
from collections import Counter
from collections.abc import Callable
from datetime import datetime, time, timedelta
from typing import get_args

import pytest

from app.domain.keys import built_in
from app.domain.memory import CATEGORIES
from tests.extraction.labels import (
    LANGUAGES,
    ROLES,
    SPLITS,
    VERDICTS,
    WHYS,
    Dialogue,
    Fact,
    Language,
    Split,
    dialogues,
    pairs,
    rows,
)
from tests.extraction.matching import Prediction, folded, has_han, names_subject, places
from tests.extraction.scoring import score

ALL = {(split, language): dialogues(split, language) for split in SPLITS for language in LANGUAGES}
EVERY = [dialogue for found in ALL.values() for dialogue in found]
PAIRS = [pair for language in LANGUAGES for pair in pairs(language)]

LEAST_DIALOGUES = {"tuning": 72, "heldout": 14}
SPEAKER = {"user_stated": "user", "assistant_said": "assistant", "tool_observed": "tool"}
CUES_OF_TIME = 366 * 3
"""Days around a dialogue in which a date that it speaks of lies."""


def said(dialogue: Dialogue, seqs: tuple[int, ...]) -> str:
    return folded("\n".join(turn.text for turn in dialogue.turns if turn.seq in seqs))


def before(dialogue: Dialogue, seq: int) -> str:
    return said(dialogue, tuple(range(1, seq + 1)))


def offenders(wrong: Callable[[Dialogue, Fact], bool]) -> list[str]:
    return [f"{one.id} {fact.words}" for one in EVERY for fact in one.facts if wrong(one, fact)]


@pytest.mark.parametrize(("split", "language"), ALL)
def test_a_file_has_its_dialogues_in_the_language_of_its_name(split: Split, language: Language) -> None:
    found = ALL[split, language]
    assert len(found) >= LEAST_DIALOGUES[split]
    assert {one.id[:5] for one in found} == {f"{language}-{split[0]}-"}


def test_there_are_four_hundred_required_facts_and_half_of_them_are_chinese() -> None:
    required = Counter(one.language for one in EVERY for fact in one.facts if not fact.optional)
    assert required.total() >= 400
    assert 0.45 <= required["zh"] / required.total() <= 0.55


@pytest.mark.parametrize("language", LANGUAGES)
def test_dialogues_without_any_fact_are_at_least_eight_a_language(language: Language) -> None:
    assert sum(not one.facts for one in EVERY if one.language == language) >= 8


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_category_source_and_kind_of_junk_occurs_in_a_language(language: Language) -> None:
    mine = [one for one in EVERY if one.language == language]
    facts = [fact for one in mine for fact in one.facts]
    assert {fact.category for fact in facts} == set(CATEGORIES)
    assert {fact.source for fact in facts} == set(SPEAKER)
    assert {junk.why for one in mine for junk in one.junk} == set(WHYS)
    for kind in ("explicit", "expires", "date", "subject"):
        assert sum(bool(getattr(fact, kind)) for fact in facts) >= 5, kind
    assert sum(not fact.current for fact in facts) >= 5


def test_ids_are_unique() -> None:
    repeated = Counter([one.id for one in EVERY] + [pair.id for pair in PAIRS])
    assert [name for name, times in repeated.items() if times > 1] == []


def test_a_dialogue_is_of_four_to_sixteen_turns_in_the_order_of_time() -> None:
    for one in EVERY:
        times = [turn.occurred_at for turn in one.turns]
        assert 4 <= len(one.turns) <= 16, one.id
        assert times == sorted(times), one.id
        assert {turn.role for turn in one.turns} <= set(ROLES), one.id
        assert all(turn.text.strip() for turn in one.turns), one.id


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_start_of_a_dialogue_carries_its_zones_offset(language: Language) -> None:
    for split in SPLITS:
        for row, one in zip(rows(f"{split}_{language}"), ALL[split, language], strict=True):
            assert one.turns[0].occurred_at.astimezone(one.zone).isoformat() == row["started_at"], one.id


def test_labels_point_at_turns_that_exist() -> None:
    for one in EVERY:
        numbers = set(range(1, len(one.turns) + 1))
        assert {junk.seq for junk in one.junk} <= numbers, one.id
        for fact in one.facts:
            assert fact.about, one.id
            assert set(fact.about) <= numbers, one.id


def test_every_turn_of_the_user_is_labelled() -> None:
    unlabelled = [
        f"{one.id} {turn.seq}"
        for one in EVERY
        for turn in one.turns
        if turn.role == "user"
        and turn.seq not in {junk.seq for junk in one.junk}
        and not any(turn.seq in fact.about for fact in one.facts)
    ]
    assert unlabelled == []


def test_the_words_of_a_fact_stand_in_the_turns_that_state_it() -> None:
    assert offenders(lambda one, fact: places(fact, said(one, fact.about)) is None) == []


def test_whom_a_fact_is_about_was_named_by_then() -> None:
    assert offenders(lambda one, fact: not names_subject(fact, before(one, max(fact.about)))) == []


def test_facts_about_others_say_whom_they_are_about() -> None:
    assert offenders(lambda _, fact: fact.category == "relation" and not fact.subject) == []


def test_a_fact_is_told_by_its_source() -> None:
    def mistold(one: Dialogue, fact: Fact) -> bool:
        return {turn.role for turn in one.turns if turn.seq in fact.about} != {SPEAKER[fact.source]}

    assert offenders(mistold) == []


def test_keys_are_canonical() -> None:
    def foreign(_: Dialogue, fact: Fact) -> bool:
        entry = built_in(fact.key) if fact.key is not None else None
        return fact.key is not None and (entry is None or entry.key != fact.key)

    assert offenders(foreign) == []
    for pair in PAIRS:
        for key in filter(None, (pair.old.key, pair.new.key)):
            entry = built_in(key)
            assert entry is None or entry.key == key, pair.id


def test_dates_are_near_their_dialogue_and_nothing_had_expired_when_it_was_said() -> None:
    def far(one: Dialogue, fact: Fact) -> bool:
        today = one.turns[0].occurred_at.astimezone(one.zone).date()
        away = fact.date is not None and abs((fact.date - today).days) > CUES_OF_TIME
        return away or (fact.expires is not None and fact.expires < today)

    assert offenders(far) == []


def test_a_day_of_the_week_that_is_named_is_that_of_the_date() -> None:
    names = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

    def elsewhere(one: Dialogue, fact: Fact) -> bool:
        text = said(one, fact.about)
        english = {names.index(day) for day in re.findall(f"(?:last|next|this) ({'|'.join(names)})", text)}
        days = english | {"一二三四五六日".index(day) for day in re.findall("[上下]周([一二三四五六日])", text)}
        return fact.date is not None and len(days) == 1 and fact.date.weekday() not in days

    assert offenders(elsewhere) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_held_out_dialogues_share_no_longer_turn_with_those_for_tuning(language: Language) -> None:
    seen, held_out = (
        {folded(turn.text) for one in ALL.get((split, language), ()) for turn in one.turns if turn.role == "user"}
        for split in get_args(Split)
    )
    assert {text for text in seen & held_out if len(text) > 12} == set()


def test_an_extractor_that_knows_the_labels_makes_no_mistake() -> None:
    def known(one: Dialogue, fact: Fact) -> Prediction:
        words = " ".join((*fact.words[0], *fact.subject[:1]))
        after = fact.expires and fact.expires + timedelta(days=1)
        return Prediction(
            text=words if has_han(words) or one.language == "en" else f"是 {words}",
            source=fact.source,
            seqs=fact.about,
            uncertain=fact.source == "assistant_said",
            expires_at=datetime.combine(after, time(), one.zone) if after else None,
            occurred_at=datetime.combine(fact.date, time(12), one.zone) if fact.date else None,
            status="active" if fact.current else "superseded",
            category=fact.category,
            key=fact.key,
        )

    found = score(EVERY, {one.id: [known(one, fact) for fact in one.facts] for one in EVERY})
    for measure in ("precision", "recall", "language", "attribution", "dates", "expiries", "states", "keys"):
        assert getattr(found.total, measure).rate == 1.0, (measure, found.errors[:10])
    assert (found.total.junk_share.part, found.total.duplicate_share.part, found.total.inventions.part) == (0, 0, 0)


@pytest.mark.parametrize("language", LANGUAGES)
def test_keeping_every_turn_is_no_way_to_a_good_score(language: Language) -> None:
    mine = [one for one in EVERY if one.language == language]
    kept = {
        one.id: [Prediction(text=turn.text, seqs=(turn.seq,)) for turn in one.turns if turn.role != "system"]
        for one in mine
    }
    found = score(mine, kept).total
    assert (found.precision.rate or 0) < 0.5
    assert (found.junk_share.rate or 0) > 0.4
    assert found.inventions.part > 100
    assert found.copies.part > 50


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_verdict_has_pairs_and_no_pair_says_nothing(language: Language) -> None:
    mine = [pair for pair in PAIRS if pair.language == language]
    assert len(mine) >= 60
    assert min(Counter(pair.verdict for pair in mine)[verdict] for verdict in VERDICTS) >= 4
    assert sum(pair.trap is not None for pair in mine) >= 20
    for pair in mine:
        assert pair.old.text, pair.id
        assert pair.verdict == "reinforce" or folded(pair.old.text) != folded(pair.new.text), pair.id


def test_a_cue_of_change_and_the_values_stand_in_the_pairs_texts() -> None:
    for pair in PAIRS:
        assert pair.cue is None or folded(pair.cue) in folded(pair.new.text), pair.id
        for side in (pair.old, pair.new):
            assert side.value is None or folded(side.value) in folded(side.text), pair.id
            assert side.value is None or side.key is not None, pair.id


def test_a_statement_that_replaces_or_ends_a_value_of_the_same_key_says_so_or_has_a_single_value() -> None:
    for pair in PAIRS:
        if pair.verdict in {"correct", "retract"}:
            assert pair.cue is not None, pair.id
        if pair.verdict == "supersede" and pair.cue is None:
            entry = built_in(pair.new.key or "")
            assert entry is not None, pair.id
            assert not entry.multi_valued, pair.id
