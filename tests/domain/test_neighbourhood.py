import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.neighbourhood import Neighbourhood, in_context

SHARES = st.builds(
    Neighbourhood, near=st.floats(0, 1), far=st.floats(0, 1), session=st.floats(0, 1), best=st.integers(1, 5)
)
TURNS = st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 20), st.floats(0, 1)), unique_by=lambda turn: turn[:2])


def lifted(turns: dict[tuple[str, int], float], shares: Neighbourhood) -> dict[tuple[str, int], float]:
    found = in_context(np.array(list(turns.values())), list(turns), shares)
    return dict(zip(turns, found.tolist(), strict=True))


def test_the_turn_after_a_relevant_one_is_lifted_by_the_near_share() -> None:
    shares = Neighbourhood(near=0.5, far=0, session=0)
    found = lifted({("s", 1): 0.8, ("s", 2): 0.0, ("s", 3): 0.0, ("other", 2): 0.0}, shares)
    assert found == {("s", 1): 0.8, ("s", 2): pytest.approx(0.4), ("s", 3): 0.0, ("other", 2): 0.0}


def test_the_better_side_counts_and_not_the_sum() -> None:
    shares = Neighbourhood(near=0.5, far=0, session=0)
    found = lifted({("s", 1): 0.8, ("s", 2): 0.0, ("s", 3): 0.8}, shares)
    assert found["s", 2] == pytest.approx(0.4)


def test_turns_two_steps_away_give_the_far_share() -> None:
    found = lifted({("s", 1): 0.8, ("s", 3): 0.0}, Neighbourhood(near=0, far=0.5, session=0))
    assert found["s", 3] == pytest.approx(0.4)


def test_a_session_lifts_by_the_average_of_its_best_turns_missing_ones_as_nothing() -> None:
    found = lifted({("s", 1): 0.6, ("s", 9): 0.0}, Neighbourhood(near=0, far=0, session=1, best=3))
    assert found["s", 9] == pytest.approx(0.2)


@given(TURNS, SHARES)
def test_surroundings_never_lower_a_turn_and_never_leave_the_bounds(
    turns: list[tuple[str, int, float]], shares: Neighbourhood
) -> None:
    given_ = {(session, seq): value for session, seq, value in turns}
    for place, value in lifted(given_, shares).items():
        assert given_[place] - 1e-9 <= value <= 1


@pytest.mark.parametrize("shares", [{"near": -0.1}, {"far": 1.1}, {"session": 2}, {"best": 0}])
def test_shares_outside_their_bounds_are_refused(shares: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="share"):
        Neighbourhood(**shares)  # type: ignore[arg-type]
