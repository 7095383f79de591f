"""What a key may do, and whose rows it may see."""

import pytest

from app.core.errors import Forbidden
from app.core.ids import new_id
from app.domain.principal import ROLE_SCOPES, ROLES, SCOPES, Permission, Principal, Role


def holder(role: Role = "member", users: set[str] | None = None) -> Principal:
    bound = None if users is None else frozenset(users)
    return Principal(new_id(), new_id(), "test", role, ROLE_SCOPES[role], bound)


def test_every_role_has_its_scopes_and_a_reader_no_right_to_write() -> None:
    assert ROLE_SCOPES.keys() == set(ROLES)
    assert ROLE_SCOPES["reader"] < ROLE_SCOPES["member"] < ROLE_SCOPES["admin"] <= ROLE_SCOPES["operator"]
    assert all(scope.endswith(":read") for scope in ROLE_SCOPES["reader"])
    assert "admin" not in ROLE_SCOPES["member"]
    assert ROLE_SCOPES["admin"] <= frozenset(SCOPES)


@pytest.mark.parametrize("scope", SCOPES)
def test_a_scope_that_is_missing_is_forbidden(scope: Permission) -> None:
    for role in ROLES:
        if scope in ROLE_SCOPES[role]:
            holder(role).require(scope)
        else:
            with pytest.raises(Forbidden) as caught:
                holder(role).require(scope)
            assert caught.value.code == "missing_scope"


@pytest.mark.parametrize(
    ("bound", "user_id", "visible"),
    [(None, None, True), (None, "ada", True), ({"ada"}, "ada", True), ({"ada"}, "bob", False), ({"ada"}, None, False),
     (set(), "ada", False), (set(), None, False)],
)  # fmt: skip
def test_a_bound_key_sees_its_users_only(bound: set[str] | None, user_id: str | None, visible: bool) -> None:
    assert holder(users=bound).may_see_user(user_id) is visible


@pytest.mark.parametrize(
    ("bound", "user_id", "own"),
    [(None, None, None), (None, "ada", "ada"), ({"ada"}, None, "ada"), ({"ada"}, "ada", "ada"),
     ({"ada", "bob"}, "bob", "bob")],
)  # fmt: skip
def test_the_own_user_is_filled_in(bound: set[str] | None, user_id: str | None, own: str | None) -> None:
    assert holder(users=bound).own_user(user_id) == own


@pytest.mark.parametrize(
    ("bound", "user_id", "code"),
    [({"ada"}, "bob", "foreign_user"), ({"ada", "bob"}, None, "user_required"), ({"ada", "bob"}, "eve", "foreign_user"),
     (set(), None, "user_required"), (set(), "ada", "foreign_user"), ({"ada"}, "", "foreign_user")],
)  # fmt: skip
def test_another_user_is_forbidden(bound: set[str], user_id: str | None, code: str) -> None:
    with pytest.raises(Forbidden) as caught:
        holder(users=bound).own_user(user_id)
    assert caught.value.code == code


def test_history_names_the_key() -> None:
    principal = holder()
    assert principal.actor == f"key:{principal.key_id}"


@pytest.mark.parametrize("role", ["admin", "operator"])
def test_only_an_unbound_key_administers(role: Role) -> None:
    holder(role).require_administration()
    for users in (set(), {"ada"}):
        with pytest.raises(Forbidden) as caught:
            holder(role, users).require_administration()
        assert caught.value.code == "foreign_user"


@pytest.mark.parametrize("role", ["member", "reader"])
def test_a_role_without_admin_does_not_administer(role: Role) -> None:
    with pytest.raises(Forbidden) as caught:
        holder(role).require_administration()
    assert caught.value.code == "missing_scope"
