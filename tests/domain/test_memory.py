"""What a source and a category imply, and when a memory is current."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.memory import (
    CATEGORIES,
    SOURCES,
    STATUSES,
    VISIBLE_STATUSES,
    Category,
    Source,
    Status,
    default_importance,
    default_weight,
    reinforced,
    traits_of,
    visible,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LATER, EARLIER = NOW + timedelta(seconds=1), NOW - timedelta(seconds=1)


@pytest.mark.parametrize("source", SOURCES)
def test_a_source_implies_how_sure_one_may_be(source: Source) -> None:
    traits = traits_of(source)
    assert 0 < traits.confidence < 1
    assert traits.uncertain is (source in {"assistant_said", "inferred"})
    assert traits.confidence <= traits_of("user_stated").confidence


@given(st.floats(min_value=0, max_value=1))
def test_reinforcement_raises_confidence_and_never_to_certainty(confidence: float) -> None:
    raised = reinforced(confidence)
    assert confidence <= raised <= 1
    assert raised < 1 or confidence > 0.999


@pytest.mark.parametrize("category", CATEGORIES)
def test_a_constraint_outweighs_every_category(category: Category) -> None:
    assert 1 <= default_importance(category) <= 10
    if category != "constraint":
        assert default_importance(category) < default_importance("constraint")
        assert default_weight(category) == 1.0 < default_weight("constraint")


@pytest.mark.parametrize("status", STATUSES)
def test_only_active_and_disputed_memories_are_current(status: Status) -> None:
    assert visible(status, None, None, NOW) is (status in VISIBLE_STATUSES)


@pytest.mark.parametrize(
    ("valid_to", "expires_at", "current"),
    [(None, None, True), (LATER, LATER, True), (NOW, None, False), (EARLIER, None, False), (None, NOW, False),
     (None, EARLIER, False), (LATER, EARLIER, False), (EARLIER, LATER, False)],
)  # fmt: skip
def test_what_has_ended_or_expired_is_not_current_from_that_instant_on(
    valid_to: datetime | None, expires_at: datetime | None, current: bool
) -> None:
    assert visible("active", valid_to, expires_at, NOW) is current
