"""Who is calling with a JSON Web Token of the operator's identity provider."""

import hashlib
import hmac
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

import structlog

from app.core.bearer_tokens import TokenRefused, TokenVerifier
from app.core.errors import ConfigurationError
from app.domain.principal import Principal, Role
from app.domain.token_claims import Claimed, ClaimNames, ClaimsRefused, claimed
from app.repositories.base import RowLike
from app.services.tenancy import defaults_of
from app.settings import Settings
from app.uow import GlobalTransaction, UnitOfWork

log = structlog.get_logger()

NO_CLAIM: Final = "none"
"""As the name of the claim with users: tokens are bound to nobody."""


@dataclass(frozen=True, slots=True)
class TokenHolder:
    """The holder of a token, and until when the token is one."""

    principal: Principal
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class TokenService:
    """The use case of tokens: none makes a tenant or a user, and none is an operator's."""

    uow: UnitOfWork
    verifier: TokenVerifier
    names: ClaimNames

    @classmethod
    def configured(cls, settings: Settings, uow: UnitOfWork) -> "TokenService | None":
        """As the settings have it; None where they name no keys. Raises `ConfigurationError`."""
        if settings.jwt_jwks_file is None:
            return None
        if not settings.jwt_issuer or not settings.jwt_audience:
            raise ConfigurationError("JWT_JWKS_FILE needs JWT_ISSUER and JWT_AUDIENCE: a token for others is not ours.")
        verifier = TokenVerifier(
            settings.jwt_jwks_file, settings.jwt_issuer, settings.jwt_audience, settings.jwt_leeway_seconds
        )
        verifier.load()
        users = None if settings.jwt_users_claim == NO_CLAIM else settings.jwt_users_claim
        names = ClaimNames(settings.jwt_tenant_claim, settings.jwt_scopes_claim, users, settings.jwt_tenant)
        return cls(uow, verifier, names)

    async def holder(self, token: str) -> TokenHolder | None:
        """Who holds it; None where it is not to be trusted, or its tenant is not there."""
        try:
            claims = self.verifier.claims(token)
            caller = claimed(claims, self.names)
            expires_at = datetime.fromtimestamp(float(claims["exp"]) + self.verifier.leeway_seconds, UTC)
        except (TokenRefused, ClaimsRefused, OverflowError, ValueError) as error:
            log.info("token_refused", reason=f"{type(error).__name__}: {error}")
            return None
        async with self.uow.begin_global() as tx:
            tenant = await _tenant(tx, caller.tenant)
        if tenant is None:
            log.info("token_refused", reason="no such tenant")
            return None
        return TokenHolder(_principal(caller, tenant, self.verifier.issuer), expires_at)


async def _tenant(tx: GlobalTransaction, named: str) -> RowLike | None:
    """By name, else by id."""
    found = await tx.access.tenant_by_name(named)
    if found is None:
        try:
            return await tx.access.tenant(UUID(named))
        except ValueError:
            return None
    return await tx.access.tenant(found["id"])


def _principal(caller: Claimed, tenant: RowLike, issuer: str) -> Principal:
    """The subject's own id stands in no log: what stands for it needs the tenant's key to be guessed."""
    known = f"token-subject\0{issuer}\0{caller.subject}".encode()
    digest = hmac.new(bytes(tenant["fence_key"]), known, hashlib.sha256).digest()
    role: Role = "admin" if "admin" in caller.scopes else "member"
    return Principal(
        tenant_id=tenant["id"],
        key_id=UUID(bytes=digest[:16], version=5),
        name="token",
        role=role,
        scopes=caller.scopes,
        user_ids=caller.user_ids,
        defaults=defaults_of(tenant["settings"], tenant["fence_key"]),
    )
