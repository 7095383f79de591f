"""Who is calling: keys are looked up by their SHA-256 and trusted for seconds."""

import hashlib
import re
import secrets
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, cast
from uuid import UUID

from app.core import clock, ids
from app.core.bearer_tokens import looks_like_token
from app.core.errors import NotFound, TooManyRequests, Unauthenticated
from app.domain.principal import ROLE_SCOPES, Permission, Principal, Role
from app.domain.rates import MINUTE, Rate
from app.repositories.base import Row
from app.services.tenancy import defaults_of
from app.services.tokens import TokenService
from app.uow import UnitOfWork

PREFIX: Final = "mnk_"
_SECRET: Final = re.compile(PREFIX + r"[A-Za-z0-9_\-]{43}")
SHOWN_CHARACTERS: Final = 10
CACHED_KEYS: Final = 4096
DEFAULT_TENANT: Final = "default"


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A new key; `secret` is shown once and never stored."""

    id: UUID
    secret: str


@dataclass(frozen=True, slots=True)
class KeyInfo:
    """What is known of a key: everything but the key."""

    id: UUID
    tenant_id: UUID
    name: str
    prefix: str
    role: Role
    user_ids: tuple[str, ...] | None
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True)
class _Trusted:
    principal: Principal
    expires_at: datetime | None
    until: float


@dataclass(slots=True)
class AccessService:
    """The use cases of keys."""

    uow: UnitOfWork
    cache_seconds: float
    wrong_keys_per_minute: int | None = None
    tokens: TokenService | None = None
    _trusted: OrderedDict[bytes, _Trusted] = field(default_factory=OrderedDict)

    async def authenticate(self, secret: str | None, address: str | None = None) -> Principal:
        """The holder of a key or of a token; a key that has a limit makes one of its calls by this.

        Args:
            secret: The key, or a token of the identity provider, if there is one.
            address: Where the call comes from, so that whoever tries out keys is slowed down.

        Raises:
            Unauthenticated: There is no key, or it is not valid.
            TooManyRequests: The key has made its calls of this minute, or the address has shown too many wrong keys.
        """
        if not secret:
            raise Unauthenticated("Send an API key: 'Authorization: Bearer KEY' or 'X-API-Key: KEY'.")
        key_hash = hash_key(secret)
        known = self._trusted.get(key_hash)
        if known is None or known.until <= clock.monotonic():
            known = await self._look_up(key_hash, secret)
        if known is None or (known.expires_at is not None and known.expires_at <= clock.now()):
            await self._count_wrong(address)
            raise Unauthenticated("This API key is not valid.", code="invalid_key")
        limit = known.principal.rate_limit
        if limit is not None:
            detail = f"This key may make {limit} calls a minute."
            await self._take(f"key:{known.principal.key_id}", Rate(limit), detail, "rate_limited")
        return known.principal

    async def _count_wrong(self, address: str | None) -> None:
        if self.wrong_keys_per_minute is not None and address is not None:
            detail = "Too many wrong keys came from this address."
            await self._take(f"address:{address}", Rate(self.wrong_keys_per_minute), detail, "too_many_wrong_keys")

    async def _take(self, subject: str, rate: Rate, detail: str, code: str) -> None:
        now = clock.now()
        async with self.uow.begin_global() as tx:
            full_at = await tx.rates.take(subject, rate, now)
        if full_at is not None:
            raise TooManyRequests(detail, code=code, retry_after=rate.pause(full_at, now))

    async def issue(
        self, *, tenant_id: UUID, name: str, role: Role, user_ids: Sequence[str] | None, expires_at: datetime | None
    ) -> IssuedKey:
        """Make a key."""
        issued = IssuedKey(ids.new_id(), new_secret())
        async with self.uow.begin_global(tenant_id) as tx:
            await tx.access.add_key(
                key_row(issued, tenant_id=tenant_id, name=name, role=role, user_ids=user_ids, expires_at=expires_at)
            )
        return issued

    async def keys(self) -> list[KeyInfo]:
        """Every key of every tenant, newest first."""
        async with self.uow.begin_global() as tx:
            rows = await tx.access.keys()
        return [_info(row) for row in rows]

    async def revoke(self, key_id: UUID, tenant_id: UUID | None = None) -> bool:
        """Close a key (of this tenant); False where it is not there or closed. Other processes follow in seconds."""
        async with self.uow.begin_global(tenant_id) as tx:
            revoked = await tx.access.revoke_key(key_id, clock.now(), tenant_id)
        self.forget()
        return revoked

    def forget(self) -> None:
        """Look every key up again, in this process."""
        self._trusted.clear()

    async def tenant(self, name: str) -> UUID:
        """The id of the tenant of this name, created if it is new."""
        async with self.uow.begin_global() as tx:
            return await tx.access.ensure_tenant(ids.new_id(), name, clock.now())

    async def known_tenant(self, name: str) -> UUID:
        """The id of the tenant of this name. Raises `NotFound` where there is none."""
        async with self.uow.begin_global() as tx:
            found = await tx.access.tenant_by_name(name)
        if found is None:
            raise NotFound(f"There is no tenant {name}.", code="tenant_not_found")
        tenant_id: UUID = found["id"]
        return tenant_id

    async def _look_up(self, key_hash: bytes, secret: str) -> _Trusted | None:
        if self.tokens is not None and looks_like_token(secret):
            holder = await self.tokens.holder(secret)
            return None if holder is None else self._trust(key_hash, holder.principal, holder.expires_at)
        async with self.uow.begin_global() as tx:
            row = await tx.access.key_by_hash(key_hash)
            if row is not None and _is_due(row["last_used_at"]):
                await tx.access.used(row["id"], clock.now())
        if row is None or row["revoked_at"] is not None:
            self._trusted.pop(key_hash, None)
            return None
        return self._trust(key_hash, _principal(row), row["expires_at"])

    def _trust(self, key_hash: bytes, principal: Principal, expires_at: datetime | None) -> _Trusted:
        """Believe it for some seconds without another look."""
        found = _Trusted(principal, expires_at, clock.monotonic() + self.cache_seconds)
        self._trusted[key_hash] = found
        self._trusted.move_to_end(key_hash)
        while len(self._trusted) > CACHED_KEYS:
            self._trusted.popitem(last=False)
        return found


def _is_due(last_used_at: datetime | None) -> bool:
    """Whether a use is noted: to the minute is close enough, and a key in use is looked up every few seconds."""
    return last_used_at is None or clock.now() - last_used_at >= MINUTE


def hash_key(secret: str) -> bytes:
    """What is stored of a key. Its 256 random bits need no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def new_secret() -> str:
    """A key as its holder sees it."""
    return PREFIX + secrets.token_urlsafe(32)


def looks_like_key(text: str) -> bool:
    """Whether `new_secret` could have made it."""
    return _SECRET.fullmatch(text) is not None


def key_row(
    issued: IssuedKey,
    *,
    tenant_id: UUID,
    name: str,
    role: Role,
    user_ids: Sequence[str] | None = None,
    expires_at: datetime | None = None,
    rate_limit: int | None = None,
) -> dict[str, object]:
    """The columns of a new key."""
    return {
        "id": issued.id,
        "tenant_id": tenant_id,
        "name": name,
        "prefix": issued.secret[:SHOWN_CHARACTERS],
        "key_hash": hash_key(issued.secret),
        "role": role,
        "scopes": sorted(ROLE_SCOPES[role]),
        "user_ids": None if user_ids is None else sorted(user_ids),
        "created_at": clock.now(),
        "expires_at": expires_at,
        "rate_limit": rate_limit,
    }


def _principal(row: Row) -> Principal:
    users = row["user_ids"]
    return Principal(
        tenant_id=row["tenant_id"],
        key_id=row["id"],
        name=row["name"],
        role=row["role"],
        scopes=frozenset(cast("list[Permission]", row["scopes"])),
        user_ids=None if users is None else frozenset(users),
        defaults=defaults_of(row["tenant_settings"], row["fence_key"]),
        rate_limit=row["rate_limit"],
    )


def _info(row: Row) -> KeyInfo:
    users = row["user_ids"]
    return KeyInfo(
        id=row["id"],
        tenant_id=row["tenant_id"],
        name=row["name"],
        prefix=row["prefix"],
        role=row["role"],
        user_ids=None if users is None else tuple(users),
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        revoked_at=row["revoked_at"],
    )
