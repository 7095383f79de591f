"""JSON Web Tokens: whom they let in, and every way in which they do not."""

import base64
import hashlib
import hmac
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
import time_machine
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from app.composition import Services
from app.core import clock
from app.core.errors import ConfigurationError
from app.services.tokens import TokenService
from tests.conftest import Tenant, tenant_of
from tests.routers.calls import add, body_of, problem_of

ISSUER, AUDIENCE = "https://id.example.org", "mnemic"
SCOPES = "openid sessions:read memories:read memories:write sessions:write"

KEYS: dict[str, Any] = {
    "RS256": rsa.generate_private_key(public_exponent=65537, key_size=2048),
    "ES256": ec.generate_private_key(ec.SECP256R1()),
    "EdDSA": ed25519.Ed25519PrivateKey.generate(),
}


def jwk(algorithm: str, kid: str, key: Any = None, **members: Any) -> dict[str, Any]:
    """The public half of a key."""
    public = (key or KEYS[algorithm]).public_key()
    kinds: dict[str, Any] = {"RS256": RSAAlgorithm, "ES256": ECAlgorithm, "EdDSA": OKPAlgorithm}
    return {**kinds[algorithm].to_jwk(public, as_dict=True), "kid": kid, "use": "sig", **members}


def write(file: Path, *keys: dict[str, Any]) -> None:
    """As a deployment puts it there: whole, by a rename."""
    fresh = file.with_suffix(".new")
    fresh.write_text(json.dumps({"keys": list(keys)}), "utf-8")
    fresh.replace(file)


@dataclass
class Provider:
    """An identity provider, and a tenant that believes it."""

    file: Path
    tenant: Tenant
    name: str

    def claims(self, **other: Any) -> dict[str, Any]:
        at = clock.now()
        claims = {
            "iss": ISSUER,
            "aud": AUDIENCE,
            "sub": "ada",
            "tenant": self.name,
            "scope": SCOPES,
            "iat": at,
            "nbf": at,
            "exp": at + timedelta(minutes=5),
        }
        return {name: value for name, value in (claims | other).items() if value is not None}

    def token(self, algorithm: str = "RS256", key: Any = None, kid: str | None = None, **other: Any) -> str:
        headers = {"kid": kid or algorithm}
        return jwt.encode(self.claims(**other), key or KEYS[algorithm], algorithm, headers)

    def client(self, token: str | None = None, **other: Any) -> httpx.AsyncClient:
        return self.tenant.bare({"Authorization": f"Bearer {token or self.token(**other)}"})


@pytest.fixture
async def provider(services: Services, app: Any, tmp_path: Path) -> Any:
    file = tmp_path / "jwks.json"
    write(file, *(jwk(algorithm, algorithm) for algorithm in KEYS))
    settings = services.settings.model_copy(
        update={"jwt_jwks_file": file, "jwt_issuer": ISSUER, "jwt_audience": AUDIENCE}
    )
    access = replace(
        services.access, tokens=TokenService.configured(settings, services.uow), wrong_keys_per_minute=None
    )
    believing = replace(services, access=access)
    app.state.services = believing
    made = await tenant_of(believing, app)
    async with services.uow.begin_global() as tx:
        row = await tx.access.tenant(made.id)
    assert row is not None
    yield Provider(file, made, row["name"])
    await made.close()
    app.state.services = services


@pytest.mark.parametrize("algorithm", sorted(KEYS))
async def test_a_token_of_the_provider_opens_its_tenant_for_its_user(provider: Provider, algorithm: str) -> None:
    client = provider.client(algorithm=algorithm)
    me = body_of(await client.get("/v1/me"))
    assert (me["tenant_id"], me["user_ids"]) == (str(provider.tenant.id), ["ada"])
    assert me["scopes"] == ["memories:read", "memories:write", "sessions:read", "sessions:write"], "and not openid"
    for text in ("我对花生过敏", "I am allergic to peanuts"):
        assert (await add(client, text, user_id="ada"))["user_id"] == "ada"
    problem_of(await client.post("/v1/memories", json={"text": "x", "user_id": "bob"}), 403, "foreign_user")
    problem_of(await client.get("/v1/admin/stats"), 403, "missing_scope")


async def test_a_token_may_name_its_users_and_its_tenant_by_id(provider: Provider) -> None:
    many = provider.client(sub="小明", tenant=str(provider.tenant.id), aud=["other", AUDIENCE], scope=["memories:read"])
    assert body_of(await many.get("/v1/me"))["user_ids"] == ["小明"]
    believing = provider.tenant.services.access
    assert believing.tokens is not None
    names = replace(believing.tokens.names, users_claim="users")
    believing.tokens = replace(believing.tokens, names=names)
    assert body_of(await provider.client(users=["ada", "bob"]).get("/v1/me"))["user_ids"] == ["ada", "bob"]
    unbound = provider.client(users=["*"], scope=f"{SCOPES} admin")
    assert body_of(await unbound.get("/v1/me"))["user_ids"] is None
    assert (await unbound.get("/v1/admin/stats")).status_code == 200
    problem_of(await unbound.post("/v1/admin/tenants", json={"name": "x"}), 403, "operator_only")
    for users in (None, [], "", [1], {"a": 1}):
        problem_of(await provider.client(users=users).get("/v1/me"), 401, "invalid_key")
    assert body_of(await provider.client(users="*").get("/v1/me"))["user_ids"] == ["*"], "a name is a name"


async def test_the_same_subject_is_the_same_caller_with_every_token(provider: Provider) -> None:
    body, once = {"text": "Ada drinks tea. 艾达喝茶。"}, {"Idempotency-Key": "k"}
    first, second = (provider.client(jti=str(n)) for n in range(2))
    made = await first.post("/v1/memories", json=body, headers=once)
    again = await second.post("/v1/memories", json=body, headers=once)
    assert (made.status_code, again.json()) == (201, made.json())
    assert again.headers["idempotent-replayed"] == "true"
    assert body_of(await first.get("/v1/me"))["key_id"] == body_of(await second.get("/v1/me"))["key_id"]


REFUSED: dict[str, dict[str, Any]] = {
    "over": {"exp": -3600, "iat": -7200, "nbf": -7200},
    "without an end": {"exp": None},
    "not valid yet": {"nbf": 3600},
    "made in the future": {"iat": 3600},
    "of another issuer": {"iss": "https://evil.example.org"},
    "of no issuer": {"iss": None},
    "for another audience": {"aud": "others"},
    "for nobody": {"aud": None},
    "of nobody": {"sub": None},
    "of an empty subject": {"sub": ""},
    "of an unknown tenant": {"tenant": "nowhere"},
    "of no tenant": {"tenant": None},
    "of a tenant that is no text": {"tenant": ["default"]},
    "with an end that is no number": {"exp": "soon"},
    "with an endless end": {"exp": float("inf")},
    "with a huge end": {"exp": 10**30},
    "with an unknown key": {"kid": "unknown"},
    "with a kid that is a path": {"kid": "../../etc/passwd"},
}


@pytest.mark.parametrize("reason", sorted(REFUSED))
async def test_a_token_is_refused(provider: Provider, reason: str) -> None:
    given = dict(REFUSED[reason])
    for name in ("exp", "iat", "nbf"):
        if isinstance(given.get(name), int) and abs(given[name]) < 10**6:
            given[name] = clock.now() + timedelta(seconds=given[name])
    problem_of(await provider.client(provider.token(**given)).get("/v1/me"), 401, "invalid_key")
    assert (await provider.client().get("/v1/me")).status_code == 200


def forged() -> Iterator[tuple[str, Any]]:
    """Tokens that were never signed by the provider, as functions of a provider."""

    def part(value: Any) -> str:
        raw = value if isinstance(value, bytes) else json.dumps(value).encode()
        return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()

    def plain(provider: Provider) -> dict[str, Any]:
        claims = provider.claims()
        return {name: int(v.timestamp()) if hasattr(v, "timestamp") else v for name, v in claims.items()}

    yield "with no algorithm", lambda p: f"{part({'alg': 'none', 'kid': 'RS256'})}.{part(plain(p))}."
    yield "with None", lambda p: f"{part({'alg': 'None', 'kid': 'RS256'})}.{part(plain(p))}."

    def by_public_key(provider: Provider) -> str:
        """HS256 with the provider's public key as the secret: what everybody can make."""
        pem = (
            KEYS["RS256"]
            .public_key()
            .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        )
        signed = f"{part({'alg': 'HS256', 'kid': 'RS256'})}.{part(plain(provider))}"
        return f"{signed}.{part(hmac.new(pem, signed.encode(), hashlib.sha256).digest())}"

    yield "by HS256 with the public key", by_public_key
    yield (
        "by somebody else",
        lambda p: p.token(key=rsa.generate_private_key(public_exponent=65537, key_size=2048)),
    )
    yield "by the key of another algorithm", lambda p: p.token("ES256", kid="RS256")
    yield "by RS512", lambda p: jwt.encode(p.claims(), KEYS["RS256"], "RS512", {"kid": "RS256"})
    yield "by PS256", lambda p: jwt.encode(p.claims(), KEYS["RS256"], "PS256", {"kid": "RS256"})
    yield "without a kid", lambda p: jwt.encode(p.claims(), KEYS["RS256"], "RS256")

    def changed(provider: Provider) -> str:
        head, _, signature = provider.token().split(".")
        return f"{head}.{part(plain(provider) | {'sub': 'bob'})}.{signature}"

    yield "with another subject put in", changed
    yield "without its signature", lambda p: p.token().rpartition(".")[0] + "."
    yield (
        "with a key of its own",
        lambda p: jwt.encode(p.claims(), KEYS["EdDSA"], "EdDSA", {"kid": "x", "jwk": jwk("EdDSA", "x")}),
    )
    yield "of rubbish", lambda _: "a.b.c"
    yield "of dots", lambda _: ".."
    yield "of deep JSON", lambda _: f"{part(b'[' * 5000)}.{part({})}.x"
    yield "that is too long", lambda p: p.token(filler="长" * 8000)


FORGED = dict(forged())


@pytest.mark.parametrize("way", sorted(FORGED))
async def test_a_forged_token_is_refused(provider: Provider, way: str) -> None:
    problem_of(await provider.client(FORGED[way](provider)).get("/v1/me"), 401, "invalid_key")


async def test_keys_in_the_file_are_followed_without_a_restart(provider: Provider) -> None:
    fresh = ed25519.Ed25519PrivateKey.generate()
    token = provider.token("EdDSA", fresh, kid="new")
    problem_of(await provider.client(token).get("/v1/me"), 401, "invalid_key")
    write(provider.file, jwk("EdDSA", "new", fresh))
    assert (await provider.client(token).get("/v1/me")).status_code == 200
    problem_of(await provider.client().get("/v1/me"), 401, "invalid_key")
    for spoilt in ("{half", "[]", "null", "5", '"x"', '{"keys": 5}', '{"keys": {}}', "[" * 100_000):
        provider.file.write_text(spoilt, "utf-8")
        assert (await provider.client(token).get("/v1/me")).status_code == 200, "the last good keys go on"


async def test_one_bad_key_of_the_file_hides_no_other(provider: Provider) -> None:
    fresh = ed25519.Ed25519PrivateKey.generate()
    token = provider.token("EdDSA", fresh, kid="new")
    good = jwk("EdDSA", "new", fresh)
    bad: list[Any] = [good | {"kid": ["r"]}, good | {"alg": ["ES256"]}, 5, None, {"kty": "RSA"}, jwk("RS256", "new")]
    write(provider.file, *bad, good)
    assert (await provider.client(token).get("/v1/me")).status_code == 200


async def test_a_key_that_is_not_for_signatures_signs_nothing(provider: Provider) -> None:
    oct_key = {"kty": "oct", "kid": "shared", "k": base64.urlsafe_b64encode(b"s" * 32).decode().rstrip("=")}
    write(provider.file, jwk("RS256", "RS256", use="enc"), jwk("EdDSA", "EdDSA"), oct_key)
    problem_of(await provider.client().get("/v1/me"), 401, "invalid_key")
    shared = jwt.encode(provider.claims(), b"s" * 32, "HS256", {"kid": "shared"})
    problem_of(await provider.client(shared).get("/v1/me"), 401, "invalid_key")
    assert (await provider.client(algorithm="EdDSA").get("/v1/me")).status_code == 200


async def test_a_token_ends_in_the_middle_of_being_trusted(provider: Provider) -> None:
    provider.tenant.services.access.cache_seconds = 3600
    client = provider.client(exp=clock.now() + timedelta(seconds=60))
    assert (await client.get("/v1/me")).status_code == 200
    with time_machine.travel(clock.now() + timedelta(seconds=95), tick=False):
        problem_of(await client.get("/v1/me"), 401, "invalid_key")


async def test_a_bad_token_counts_as_a_wrong_key(provider: Provider) -> None:
    provider.tenant.services.access.wrong_keys_per_minute = 2
    transport = httpx.ASGITransport(provider.tenant.app, client=("192.0.2.77", 1))
    headers = {"Authorization": f"Bearer {provider.token(aud='others')}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://test", headers=headers) as client:
        codes = [(await client.get("/v1/me")).status_code for _ in range(3)]
    assert codes == [401, 401, 429]


async def test_without_the_setting_a_token_is_a_wrong_key(provider: Provider, services: Services) -> None:
    provider.tenant.app.state.services = services
    problem_of(await provider.client().get("/v1/me"), 401, "invalid_key")


@pytest.mark.parametrize("missing", ["jwt_issuer", "jwt_audience", "jwt_jwks_file"])
async def test_a_half_configured_provider_keeps_the_service_from_starting(
    provider: Provider, services: Services, tmp_path: Path, missing: str
) -> None:
    given = {"jwt_jwks_file": provider.file, "jwt_issuer": ISSUER, "jwt_audience": AUDIENCE}
    absent: Any = tmp_path / "nothing.json" if missing == "jwt_jwks_file" else None
    settings = services.settings.model_copy(update={**given, missing: absent})
    with pytest.raises(ConfigurationError, match="JWT"):
        TokenService.configured(settings, services.uow)
