import pytest

from tests.extraction.labels import LANGUAGES, VERDICTS, Pair, Statement, Verdict, pairs
from tests.extraction.scores import Share
from tests.extraction.verdicts import KEEPING, LOSING, score_verdicts


def pair(verdict: Verdict, name: str = "p") -> Pair:
    tea, coffee = Statement("likes tea", None, None), Statement("likes coffee", None, None)
    return Pair(name, "en", tea, coffee, None, verdict, "two drinks")


def test_every_verdict_keeps_both_statements_or_drops_one() -> None:
    assert set(VERDICTS) == LOSING | KEEPING
    assert not LOSING & KEEPING


def test_the_labels_themselves_are_all_right() -> None:
    every = [one for language in LANGUAGES for one in pairs(language)]
    found = score_verdicts(every, {one.id: one.verdict for one in every})
    assert found.total == Share(len(every), len(every))
    assert (found.lost.part, found.stale.part, found.errors) == (0, 0, [])
    assert {name: share.rate for name, share in found.by_verdict.items()} == dict.fromkeys(sorted(VERDICTS), 1.0)


@pytest.mark.parametrize(
    ("label", "given", "lost", "stale"),
    [
        ("complement", "supersede", Share(1, 1), Share()),
        ("complement", "add", Share(0, 1), Share()),
        ("supersede", "complement", Share(), Share(1, 1)),
        ("supersede", "correct", Share(), Share(0, 1)),
    ],
)
def test_a_wrong_verdict_that_drops_what_is_true_or_keeps_what_is_not_is_counted(
    label: Verdict, given: Verdict, lost: Share, stale: Share
) -> None:
    found = score_verdicts([pair(label)], {"p": given})
    assert (found.total, found.lost, found.stale) == (Share(0, 1), lost, stale)
    assert found.errors == [f"p {given}, not {label} (two drinks): 'likes tea' <- 'likes coffee'"]


def test_a_pair_without_a_verdict_is_wrong_and_keeps_both() -> None:
    found = score_verdicts([pair("retract"), pair("add", "q")], {})
    assert (found.total, found.lost, found.stale) == (Share(0, 2), Share(0, 1), Share(1, 1))


def test_no_pairs_give_no_figures() -> None:
    found = score_verdicts([], {})
    assert (found.total.rate, found.by_language, found.by_verdict) == (None, {}, {})
