"""DSNs as operators write them, turned into what SQLAlchemy and asyncpg accept."""

import ssl
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from sqlalchemy import URL
from sqlalchemy.engine import make_url

from app.core.errors import ConfigurationError

_SCHEMES: Final = frozenset({"postgres", "postgresql", "postgresql+asyncpg"})
_IGNORED: Final = frozenset(
    {"channel_binding", "gssencmode", "keepalives", "keepalives_idle", "fallback_application_name"}
)
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
        return (self.url.username, self.url.host, self.url.port, self.url.database)

    @property
    def asyncpg_arguments(self) -> dict[str, Any]:
        """Keyword arguments for `asyncpg.connect`."""
        return {
            "host": self.url.host,
            "port": self.url.port or 5432,
            "user": self.url.username,
            "password": self.url.password,
            "database": self.url.database,
            **self.connect_args,
        }


def parse_dsn(text: str) -> Dsn:
    """Read a DSN in any of the usual forms and translate libpq's parameters, on which asyncpg would raise.

    Raises:
        ConfigurationError: Another scheme, an unknown parameter, an unreadable certificate. The message never repeats
            the DSN, which carries a password.
    """
    try:
        parts = urlsplit(text)
        query = dict(parse_qsl(parts.query))
        url = make_url(text.partition("?")[0]).set(drivername="postgresql+asyncpg", query={})
    except Exception as error:
        raise ConfigurationError(
            "The database DSN cannot be read: postgresql://user:password@host:port/name"
        ) from error
    if parts.scheme not in _SCHEMES:
        raise ConfigurationError(f"The database DSN must begin with postgresql://, not {parts.scheme}://")
    pooled = query.pop("pgbouncer", "false").lower() in {"true", "1", "yes"}
    return Dsn(url.set(host=url.host or query.pop("host", "localhost")), _arguments(query), pooled)


def _arguments(query: dict[str, str]) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    mode = query.pop("sslmode", query.pop("ssl", None))
    root = query.pop("sslrootcert", None)
    certificate, key = query.pop("sslcert", None), query.pop("sslkey", None)
    if mode is not None or root is not None:
        arguments["ssl"] = _ssl(mode or "prefer", root, certificate, key)
    if "connect_timeout" in query:
        arguments["timeout"] = float(query.pop("connect_timeout"))
    if "target_session_attrs" in query:
        arguments["target_session_attrs"] = query.pop("target_session_attrs")
    if "application_name" in query:
        arguments["server_settings"] = {"application_name": query.pop("application_name")}
    unknown = sorted(set(query) - _IGNORED)
    if unknown:
        raise ConfigurationError(f"The database DSN has parameters Mnemic does not know: {', '.join(unknown)}")
    return arguments


def _ssl(mode: str, root: str | None, certificate: str | None, key: str | None) -> ssl.SSLContext | str:
    if mode not in _SSL_MODES:
        raise ConfigurationError(f"sslmode must be one of {', '.join(sorted(_SSL_MODES))}, not '{mode}'")
    if root is None and certificate is None:
        return mode
    context = ssl.create_default_context(cafile=root)
    context.check_hostname = mode == "verify-full"
    if root is None or mode in {"allow", "prefer"}:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if certificate is not None:
        context.load_cert_chain(certificate, key)
    return context
