"""DSNs in every form that operators paste, and faults that never repeat a password."""

import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from sqlalchemy import text

from app.core.errors import ConfigurationError
from app.db.dsn import Dsn, parse_dsn
from app.db.engine import create_engine
from app.settings import Settings

SECRET = "s3cr3t-never-shown"


def place(dsn: Dsn) -> dict[str, Any]:
    given = dsn.asyncpg_arguments
    return {name: given[name] for name in ("host", "port", "user", "password", "database")}


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+asyncpg"])
def test_every_usual_scheme_is_accepted(scheme: str) -> None:
    dsn = parse_dsn(f"{scheme}://ada:{SECRET}@db.example:6432/memory")
    assert place(dsn) == {
        "host": "db.example",
        "port": 6432,
        "user": "ada",
        "password": SECRET,
        "database": "memory",
    }
    assert dsn.url.drivername == "postgresql+asyncpg"
    assert dsn.connect_args == {}


def test_a_missing_port_is_the_usual_one() -> None:
    assert place(parse_dsn("postgresql://ada@db.example/memory"))["port"] == 5432


def test_a_missing_host_is_this_machine() -> None:
    assert place(parse_dsn("postgresql:///memory"))["host"] == "localhost"


def test_a_host_may_stand_among_the_parameters_as_for_a_socket() -> None:
    assert place(parse_dsn("postgresql://ada@/memory?host=/var/run/postgresql"))["host"] == "/var/run/postgresql"


def test_an_ipv6_address_is_read_without_its_brackets() -> None:
    assert place(parse_dsn(f"postgresql://ada:{SECRET}@[::1]:6432/memory"))["host"] == "::1"


@pytest.mark.parametrize(
    ("written", "password"),
    [
        ("p%40ss%2Fw%3Ard%3F%23%25", "p@ss/w:rd?#%"),
        ("%E5%AF%86%E7%A0%81", "密码"),
        ("a+b", "a+b"),
        ("a%20b", "a b"),
    ],
)
def test_a_password_with_special_characters_arrives_whole(written: str, password: str) -> None:
    dsn = parse_dsn(f"postgresql://ada:{written}@db.example/memory")
    assert place(dsn)["password"] == password
    assert place(dsn)["host"] == "db.example"


@pytest.mark.parametrize("mode", ["disable", "allow", "prefer", "require"])
def test_an_ssl_mode_without_certificates_is_the_drivers_own(mode: str) -> None:
    assert parse_dsn(f"postgresql://ada@db/memory?sslmode={mode}").connect_args == {"ssl": mode}


def test_an_ssl_mode_in_asyncpgs_spelling_is_accepted() -> None:
    assert parse_dsn("postgresql+asyncpg://ada@db/memory?ssl=require").connect_args == {"ssl": "require"}


@pytest.fixture
def root_certificate(tmp_path: Path) -> Path:
    """A certificate authority's file: any that this Python trusts will do."""
    path = tmp_path / "root.crt"
    certificates = ssl.create_default_context().get_ca_certs(binary_form=True)
    if not certificates:
        pytest.skip("this machine has no certificate to stand in for an authority's")
    path.write_text(ssl.DER_cert_to_PEM_cert(certificates[0]), "utf-8")
    return path


@pytest.mark.parametrize(
    ("mode", "checks_host", "verify"),
    [
        ("verify-full", True, ssl.CERT_REQUIRED),
        ("verify-ca", False, ssl.CERT_REQUIRED),
        # As libpq: a root certificate makes `require` look at the chain.
        ("require", False, ssl.CERT_REQUIRED),
        ("prefer", False, ssl.CERT_NONE),
    ],
)
def test_a_root_certificate_is_asked_as_libpq_would(
    root_certificate: Path, mode: str, checks_host: bool, verify: ssl.VerifyMode
) -> None:
    context = parse_dsn(f"postgresql://ada@db/memory?sslmode={mode}&sslrootcert={root_certificate}").connect_args["ssl"]
    assert isinstance(context, ssl.SSLContext)
    assert (context.check_hostname, context.verify_mode) == (checks_host, verify)


def test_a_root_certificate_alone_means_that_it_is_looked_at(root_certificate: Path) -> None:
    context = parse_dsn(f"postgresql://ada@db/memory?sslrootcert={root_certificate}").connect_args["ssl"]
    assert context.verify_mode == ssl.CERT_NONE  # libpq: the default mode `prefer` asks for no certificate


def test_no_encryption_means_none_whatever_certificates_are_named(root_certificate: Path) -> None:
    assert parse_dsn(f"postgresql://ada@db/memory?sslmode=disable&sslrootcert={root_certificate}").connect_args == {
        "ssl": "disable"
    }


def test_verify_full_without_a_root_certificate_still_verifies() -> None:
    """asyncpg looks for ~/.postgresql/root.crt then and refuses to connect without; it never connects unverified."""
    assert parse_dsn("postgresql://ada@db/memory?sslmode=verify-full").connect_args == {"ssl": "verify-full"}


def test_the_systems_own_authorities_are_meant_by_the_word_system() -> None:
    context = parse_dsn("postgresql://ada@db/memory?sslmode=verify-full&sslrootcert=system").connect_args["ssl"]
    assert isinstance(context, ssl.SSLContext)
    assert context.check_hostname
    assert context.verify_mode == ssl.CERT_REQUIRED


def test_a_clients_certificate_does_not_switch_off_the_look_at_the_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    """No root is named: the system's authorities decide, and not nobody."""
    monkeypatch.setattr(ssl.SSLContext, "load_cert_chain", lambda *_: None)
    context = parse_dsn("postgresql://ada@db/memory?sslmode=verify-full&sslcert=client.crt").connect_args["ssl"]
    assert (context.check_hostname, context.verify_mode) == (True, ssl.CERT_REQUIRED)


def test_channel_binding_is_left_to_the_driver() -> None:
    dsn = parse_dsn("postgresql://ada@db/memory?sslmode=require&channel_binding=require")
    assert dsn.connect_args == {"ssl": "require"}


def test_names_and_times_of_libpq_reach_the_driver() -> None:
    assert parse_dsn("postgresql://ada@db/memory?connect_timeout=0").connect_args == {}
    dsn = parse_dsn("postgresql://ada@db/memory?application_name=memory%20of%20agents&connect_timeout=7")
    assert dsn.connect_args == {"timeout": 7.0, "server_settings": {"application_name": "memory of agents"}}


@pytest.mark.parametrize(("written", "pooled"), [("true", True), ("1", True), ("TRUE", True), ("false", False)])
def test_a_pooler_in_between_is_announced(written: str, pooled: bool) -> None:
    assert parse_dsn(f"postgresql://ada@db/memory?pgbouncer={written}").pooled is pooled
    assert not parse_dsn("postgresql://ada@db/memory").pooled


def test_two_spellings_of_one_login_are_the_same_identity() -> None:
    one = parse_dsn(f"postgres://ada:{SECRET}@db/memory?sslmode=require")
    other = parse_dsn("postgresql+asyncpg://ada:another@db:5432/memory")
    assert one.identity == other.identity
    assert one.identity != parse_dsn("postgres://bob@db/memory").identity


FAULTY: list[tuple[str, str]] = [
    (f"mysql://ada:{SECRET}@db/memory", "postgresql://"),
    (f"http://ada:{SECRET}@db/memory", "postgresql://"),
    (f"ada:{SECRET}@db/memory", "postgresql://"),
    (f"{SECRET}", "postgresql://"),
    ("", "postgresql://"),
    (f"postgresql://ada:{SECRET}@db:port/memory", "postgresql://"),
    (f"postgresql://ada:{SECRET}@db:99999999/memory", "postgresql://"),
    (f"postgresql://ada:{SECRET}@[::1/memory", "postgresql://"),
    (f"postgresql://ada:{SECRET}@x@db/memory", "%40"),
    (f"postgresql://ada:1{SECRET}#x@db/memory?sslmode=verify-full", "postgresql://"),
    (f"postgresql://ada:x#{SECRET}@db/memory?sslmode=verify-full", "postgresql://"),
    (f"postgresql://ada:{SECRET}/x@db/memory", "postgresql://"),
    (f"postgresql://ada:{SECRET}?x@db/memory", "postgresql://"),
    (f"{SECRET}://ada@db/memory", "postgresql://"),
    (f"postgresql://ada:{SECRET}@db/memory?shape=round", "shape"),
    (f"postgresql://ada:{SECRET}@db/memory?shape", "shape"),
    (f"postgresql://ada:{SECRET}@db/memory?sslmode=", "sslmode"),
    (f"postgresql://ada:{SECRET}@db/memory?sslmode=perhaps", "sslmode"),
    (f"postgresql://ada:{SECRET}@db/memory?connect_timeout=soon", "connect_timeout"),
    (f"postgresql://ada:{SECRET}@db/memory?sslmode=verify-full&sslrootcert=/nowhere/root.crt", "/nowhere/root.crt"),
    (f"postgresql://ada:{SECRET}@db/memory?sslcert=/nowhere/client.crt", "/nowhere/client.crt"),
]


@pytest.mark.parametrize(("dsn", "hint"), FAULTY)
def test_a_faulty_dsn_is_refused_with_a_hint_and_without_its_password(dsn: str, hint: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_dsn(dsn)
    assert hint in str(caught.value)
    shown: BaseException | None = caught.value
    while shown is not None:
        assert SECRET not in str(shown)
        shown = None if shown.__suppress_context__ and shown.__cause__ is None else shown.__cause__ or shown.__context__


@pytest.mark.parametrize(
    "show",
    [repr, str, lambda dsn: str(dsn.url)],
)
def test_a_parsed_dsn_does_not_show_its_password(show: Callable[[Dsn], str]) -> None:
    assert SECRET not in show(parse_dsn(f"postgresql://ada:{SECRET}@db/memory"))


@pytest.mark.parametrize(
    "parameters", ["", "?sslmode=prefer", "?sslmode=disable&channel_binding=prefer&pgbouncer=true"]
)
async def test_a_dsn_with_libpqs_parameters_connects(settings: Settings, parameters: str) -> None:
    assert settings.database_url is not None
    dsn = parse_dsn(settings.database_url.get_secret_value() + parameters)
    pool = create_engine(dsn, pool_size=1, pool_timeout=5, connect_timeout=5)
    async with pool.connect() as connection:
        assert (await connection.execute(text("SELECT current_user"))).scalar_one() == "mnemic_app"
    await pool.dispose()
    direct = await asyncpg.connect(**dsn.asyncpg_arguments)
    assert await direct.fetchval("SELECT current_database()") == dsn.url.database
    await direct.close()
