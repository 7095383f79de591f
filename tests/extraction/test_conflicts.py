"""Rules alone decide the labelled pairs: odd lines were looked at from the first, even ones only for the last rules."""

from datetime import UTC, datetime, timedelta

from app.domain.conflict.deciding import decide
from app.domain.conflict.statements import DISPLACING, Statement
from app.domain.keys import built_in
from tests.extraction.labels import LANGUAGES, Pair, Verdict, pairs
from tests.extraction.labels import Statement as Labelled
from tests.extraction.verdicts import score_verdicts

NOW = datetime(2025, 4, 1, tzinfo=UTC)


def half(remainder: int) -> list[Pair]:
    return [pair for language in LANGUAGES for line, pair in enumerate(pairs(language), 1) if line % 2 == remainder]


FIRST, LATER = half(1), half(0)


def statement(labelled: Labelled, days: int) -> Statement:
    at = NOW + timedelta(days)
    return Statement(labelled.text, labelled.key, labelled.value, "semantic", "other", "user_stated", at)


def decided(pair: Pair) -> Verdict:
    known = built_in(pair.new.key or pair.old.key or "")
    many = known is not None and known.multi_valued
    return decide(statement(pair.new, 9), statement(pair.old, 0), similarity=None, multivalued=many).verdict


def test_nearly_all_verdicts_agree_with_the_labels() -> None:
    found = score_verdicts(FIRST, {pair.id: decided(pair) for pair in FIRST})
    assert found.total.rate is not None
    assert found.total.rate >= 0.97, "\n".join(found.errors)


def test_of_pairs_that_were_read_late_most_are_right_and_none_loses_what_is_true() -> None:
    """The share of right verdicts was .67 before any of them was read, and .87 after."""
    found = score_verdicts(LATER, {pair.id: decided(pair) for pair in LATER})
    assert found.total.rate is not None
    assert found.total.rate >= 0.85, "\n".join(found.errors)
    assert found.lost.part == 0


def test_no_verdict_destroys_what_its_label_keeps() -> None:
    wrong = [pair.id for pair in FIRST if (given := decided(pair)) != pair.verdict and given in DISPLACING]
    assert wrong == []
