"""What the claims of a verified token mean here."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from app.domain.principal import ROLE_SCOPES, Permission

EVERYBODY: Final = "*"
"""Alone in a list of users: the token is bound to nobody."""

MOST_USERS: Final = 1_000
MOST_CHARACTERS: Final = 255


class ClaimsRefused(Exception):  # noqa: N818 - what happened to them
    """The claims do not say who the caller is. The message names the claim, and nothing of its value."""


@dataclass(frozen=True, slots=True)
class ClaimNames:
    """Which claims say what; `users` None binds no token to users, `tenant` stands in where a token names none."""

    tenant_claim: str = "tenant"
    scopes_claim: str = "scope"
    users_claim: str | None = "sub"
    tenant: str | None = None


@dataclass(frozen=True, slots=True)
class Claimed:
    """Who a token says is calling: in which tenant (by name or id), with which scopes, bound to which users."""

    subject: str
    tenant: str
    scopes: frozenset[Permission]
    user_ids: frozenset[str] | None


def claimed(claims: Mapping[str, Any], names: ClaimNames) -> Claimed:
    """Read the claims. Scopes that are not Mnemic's are left aside: providers have their own in the same claim.

    Raises:
        ClaimsRefused: No tenant, or none that is a text; a claim of users that is absent, empty or no list of texts.
    """
    subject, tenant = claims.get("sub"), claims.get(names.tenant_claim, names.tenant)
    if not _is_id(subject):
        raise ClaimsRefused("sub")
    if not _is_id(tenant):
        raise ClaimsRefused(names.tenant_claim)
    return Claimed(str(subject), str(tenant), _scopes(claims.get(names.scopes_claim)), _users(claims, names))


def _scopes(given: object) -> frozenset[Permission]:
    """Of a text with spaces (RFC 8693) or of a list."""
    words = given.split() if isinstance(given, str) else given if isinstance(given, list) else []
    wanted = {word for word in words if isinstance(word, str)}
    return frozenset(scope for scope in ROLE_SCOPES["admin"] if scope in wanted)


def _users(claims: Mapping[str, Any], names: ClaimNames) -> frozenset[str] | None:
    if names.users_claim is None:
        return None
    given = claims.get(names.users_claim)
    users = [given] if isinstance(given, str) else given
    if not isinstance(users, list) or not 0 < len(users) <= MOST_USERS or not all(map(_is_id, users)):
        raise ClaimsRefused(names.users_claim)
    return None if users == [EVERYBODY] and isinstance(given, list) else frozenset(users)


def _is_id(value: object) -> bool:
    """Whether it could be an id here."""
    return isinstance(value, str) and 0 < len(value) <= MOST_CHARACTERS and value.isprintable()
