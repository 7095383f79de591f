"""The server's log: seven files named by weekday, none of which grows without bound or shows stored content."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path

FILE_BYTES = 32 * 1024 * 1024
SETTINGS: Mapping[str, str] = {
    "logging_collector": "on",
    "log_filename": "postgresql-%a.log",
    "log_rotation_age": "1d",
    "log_rotation_size": "0",
    "log_truncate_on_rotation": "on",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    "log_error_verbosity": "terse",  # DETAIL lines quote rows
}


def folder(files: Path) -> Path:
    """Where the log is, for PostgreSQL's own folder."""
    return files / "log"


def tail(files: Path, size: int = 2000) -> str:
    """The end of the newest log file, at most `size` bytes."""
    newest = max(folder(files).glob("postgresql-*.log"), key=lambda path: path.lstat().st_mtime, default=None)
    if newest is None:
        return ""
    with os.fdopen(os.open(newest, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - size))
        return file.read().decode(errors="replace")


def bound(files: Path) -> None:
    """Empty each log file that has outgrown its size; PostgreSQL appends, so it goes on at the new end."""
    for path in folder(files).glob("postgresql-*.log"):
        found = path.lstat()
        # The folder belongs to an unprivileged account: root must not be led elsewhere by a link in it.
        if stat.S_ISREG(found.st_mode) and found.st_nlink == 1 and found.st_size > FILE_BYTES:
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_NOFOLLOW), "wb") as file:
                file.truncate(0)
