"""DSNs as operators write them, turned into what SQLAlchemy and asyncpg accept."""

import math
import ssl
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import SplitResult, parse_qsl, urlsplit

from sqlalchemy import URL
from sqlalchemy.engine import make_url

from app.core.errors import ConfigurationError

_PORT: Final = 5432
_SCHEMES: Final = frozenset({"postgres", "postgresql", "postgresql+asyncpg"})
_IGNORED: Final = frozenset(
    {"channel_binding", "gssencmode", "keepalives", "keepalives_idle", "fallback_application_name"}
)
_OTHER_DATABASES: Final = frozenset({"mysql", "mariadb", "sqlite", "mongodb", "redis", "http", "https", "file"})
_SYSTEM_ROOT: Final = "system"
_SSL_MODES: Final = frozenset({"disable", "allow", "prefer", "require", "verify-ca", "verify-full"})


@dataclass(frozen=True)
class Dsn:
    """A parsed DSN: the URL without its query, and asyncpg's own arguments.

    `pooled` (the parameter `pgbouncer=true`) says that a transaction pooler stands in between, where neither prepared
    statements nor session settings may be relied on.
    """

    url: URL
    connect_args: dict[str, Any] = field(default_factory=dict)
    pooled: bool = False

    @property
    def identity(self) -> tuple[str | None, str | None, int | None, str | None]:
        """Who connects where: two DSNs with equal identity are one login."""
        return (self.url.username, self.url.host, self.url.port or _PORT, self.url.database)

    @property
    def asyncpg_arguments(self) -> dict[str, Any]:
        """Keyword arguments for `asyncpg.connect`."""
        return {
            "host": self.url.host,
            "port": self.url.port or _PORT,
            "user": self.url.username,
            "password": self.url.password,
            "database": self.url.database,
            **self.connect_args,
        }


def parse_dsn(text: str) -> Dsn:
    """Read a DSN in any of the usual forms and translate libpq's parameters, on which asyncpg would raise.

    Raises:
        ConfigurationError: Another scheme, an unknown parameter, an unreadable certificate. Neither the message nor its
            cause repeats the DSN, which carries a password.
    """
    parts, url, query = _parts(text)
    if parts.scheme not in _SCHEMES:
        raise ConfigurationError(f"The database DSN must begin with postgresql://{_instead(parts.scheme)}")
    if parts.fragment or parts.netloc.count("@") > 1:
        raise ConfigurationError(
            "The database DSN postgresql://user:password@host:port/name has a special character that is not "
            "percent-encoded: write @ as %40, # as %23, / as %2F."
        )
    pooled = query.pop("pgbouncer", "false").lower() in {"true", "1", "yes"}
    return Dsn(url.set(host=url.host or query.pop("host", "localhost")), _arguments(query), pooled)


def _parts(text: str) -> tuple[SplitResult, URL, dict[str, str]]:
    try:
        parts = urlsplit(text)
        _ = parts.port  # raises where it is none
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        return parts, make_url(text.partition("?")[0]).set(drivername="postgresql+asyncpg", query={}), query
    except Exception:  # noqa: BLE001 - parsers quote what they fail on, so their errors are not passed on
        fault = ConfigurationError("The database DSN cannot be read: postgresql://user:password@host:port/name")
    raise fault


def _instead(scheme: str) -> str:
    """What stood there: the driver of another database, but never the beginning of a password."""
    return f", not {scheme}://" if scheme in _OTHER_DATABASES else ""


def _arguments(query: dict[str, str]) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    encryption = _ssl(
        query.pop("sslmode", query.pop("ssl", None)),
        query.pop("sslrootcert", None),
        query.pop("sslcert", None),
        query.pop("sslkey", None),
    )
    if encryption is not None:
        arguments["ssl"] = encryption
    timeout = _timeout(query.pop("connect_timeout", "0"))
    if timeout > 0:  # libpq takes 0 for "wait as long as you like": ours is the longest then
        arguments["timeout"] = timeout
    if "target_session_attrs" in query:
        arguments["target_session_attrs"] = query.pop("target_session_attrs")
    if "application_name" in query:
        arguments["server_settings"] = {"application_name": query.pop("application_name")}
    unknown = sorted(set(query) - _IGNORED)
    if unknown:
        raise ConfigurationError(f"The database DSN has parameters Mnemic does not know: {', '.join(unknown)}")
    return arguments


def _timeout(written: str) -> float:
    try:
        seconds = float(written)
    except ValueError:
        seconds = math.nan
    if not math.isfinite(seconds):
        raise ConfigurationError(f"connect_timeout is a number of seconds, not '{written}'")
    return seconds


def _ssl(mode: str | None, root: str | None, certificate: str | None, key: str | None) -> ssl.SSLContext | str | None:
    """As libpq reads them: a root certificate makes `require` look at the server's chain, `verify-full` at its name."""
    if mode is None:
        if root is None and certificate is None:
            return None
        mode = "verify-full" if root == _SYSTEM_ROOT else "prefer"
    if mode not in _SSL_MODES:
        raise ConfigurationError(f"sslmode must be one of {', '.join(sorted(_SSL_MODES))}, not '{mode}'")
    if mode == "disable" or (root is None and certificate is None):
        return mode
    try:
        context = ssl.create_default_context(cafile=None if root == _SYSTEM_ROOT else root)
        if certificate is not None:
            context.load_cert_chain(certificate, key)
    except OSError as error:
        named = ", ".join(path for path in (root, certificate, key) if path is not None)
        raise ConfigurationError(f"The database DSN names a certificate that cannot be read: {named}") from error
    context.check_hostname = mode == "verify-full"
    if not mode.startswith("verify-") and (mode != "require" or root is None):
        context.verify_mode = ssl.CERT_NONE
    return context
