"""The passwords of the embedded server's roles, random, made once."""

import json
import os
import secrets
from dataclasses import asdict, dataclass, field
from pathlib import Path

from app.core.errors import ConfigurationError

FILE = "credentials.json"


@dataclass(frozen=True)
class Credentials:
    """One password a role, kept in `DATA_DIR/credentials.json` (0600)."""

    superuser: str = field(repr=False)
    migrator: str = field(repr=False)
    app: str = field(repr=False)


def read_credentials(data_dir: Path) -> Credentials | None:
    """The passwords of this data folder, if it has any. Raises `ConfigurationError` if the file is not readable."""
    path = data_dir / FILE
    try:
        return Credentials(**json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, TypeError, ValueError) as error:
        raise ConfigurationError(f"The database's passwords in {path} cannot be read: {error}") from error


def keep_credentials(data_dir: Path) -> Credentials:
    """The passwords of this data folder, made now if it has none."""
    known = read_credentials(data_dir)
    if known is not None:
        return known
    made = Credentials(*(secrets.token_urlsafe(32) for _ in range(3)))
    half = data_dir / f"{FILE}.new"
    half.unlink(missing_ok=True)
    write_secret(half, json.dumps(asdict(made)))
    half.replace(data_dir / FILE)
    return made


def write_secret(path: Path, text: str, *, uid: int = -1, gid: int = -1) -> None:
    """Write a new file that only its owner can read; `uid` and `gid` name another owner than ourselves."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        os.fchown(descriptor, uid, gid)
        file.write(text)
        file.flush()
        os.fsync(descriptor)
