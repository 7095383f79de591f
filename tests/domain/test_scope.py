"""The owner is the first given of user, app, agent, session, tenant."""

import pytest

from app.domain.scope import Scope


@pytest.mark.parametrize(
    ("scope", "owner"),
    [
        (Scope(), "t:"),
        (Scope(session_id="s"), "s:s"),
        (Scope(agent_id="a", session_id="s"), "a:a"),
        (Scope(agent_id="a", app_id="p", session_id="s"), "p:p"),
        (Scope("u", "a", "p", "s"), "u:u"),
        (Scope("u:x/汇"), "u:u:x/汇"),
        (Scope(""), "u:"),
    ],
)
def test_the_owner_is_the_first_that_is_given(scope: Scope, owner: str) -> None:
    assert scope.owner == owner


def test_an_empty_scope_names_nothing() -> None:
    assert Scope().empty
    for scope in (Scope("u"), Scope(agent_id="a"), Scope(app_id="p"), Scope(session_id="s")):
        assert not scope.empty


@pytest.mark.parametrize(
    ("scope", "above"),
    [
        (Scope("u"), ["t:"]),
        (Scope("u", "a"), ["a:a", "t:"]),
        (Scope("u", None, "p"), ["p:p", "t:"]),
        (Scope("u", "a", "p", "s"), ["p:p", "a:a", "t:"]),
        (Scope(), ["t:"]),
    ],
)
def test_the_levels_above_come_in_order_of_precedence(scope: Scope, above: list[str]) -> None:
    assert scope.shared_owners() == above
