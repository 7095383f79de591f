"""Rules alone decide the labelled pairs: odd lines were looked at while the rules were written, even ones never."""

from datetime import UTC, datetime, timedelta

import pytest

from app.domain.conflict.deciding import decide
from app.domain.conflict.statements import DISPLACING, Statement
from app.domain.keys import built_in
from tests.extraction.labels import LANGUAGES, Pair, Verdict, pairs
from tests.extraction.labels import Statement as Labelled
from tests.extraction.verdicts import score_verdicts

NOW = datetime(2025, 4, 1, tzinfo=UTC)


def half(remainder: int) -> list[Pair]:
    return [pair for language in LANGUAGES for line, pair in enumerate(pairs(language), 1) if line % 2 == remainder]


TUNING, HELD_OUT = half(1), half(0)


def statement(labelled: Labelled, days: int) -> Statement:
    at = NOW + timedelta(days)
    return Statement(labelled.text, labelled.key, labelled.value, "semantic", "other", "user_stated", at)


def decided(pair: Pair) -> Verdict:
    known = built_in(pair.new.key or pair.old.key or "")
    many = known is not None and known.multi_valued
    return decide(statement(pair.new, 9), statement(pair.old, 0), similarity=None, multivalued=many).verdict


def test_nearly_all_verdicts_agree_with_the_labels() -> None:
    found = score_verdicts(TUNING, {pair.id: decided(pair) for pair in TUNING})
    assert found.total.rate is not None
    assert found.total.rate >= 0.97, "\n".join(found.errors)


def test_of_pairs_nobody_looked_at_none_loses_what_is_true() -> None:
    """The share of right verdicts was .67, and .70 once more sentences of our own were understood.

    Where words do not tell, both statements stay. After the first measurement the shares of each verdict were known,
    but no pair was read: the second is not as clean as the first.
    """
    found = score_verdicts(HELD_OUT, {pair.id: decided(pair) for pair in HELD_OUT})
    assert found.total.rate is not None
    assert found.total.rate >= 0.65
    assert found.lost.part == 0


@pytest.mark.parametrize("pair", TUNING, ids=[pair.id for pair in TUNING])
def test_no_verdict_destroys_what_its_label_keeps(pair: Pair) -> None:
    given = decided(pair)
    assert given == pair.verdict or given not in DISPLACING
