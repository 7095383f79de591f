"""Where PostgreSQL's own files are: in the data folder, or elsewhere if their owner cannot get there."""

import os
import stat
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from app.core.errors import ConfigurationError
from app.db.embedded.binaries import MAJOR
from app.db.embedded.owner import Owner, passable

ELSEWHERE = Path("/var/lib/mnemic")
POINTER = "pg.path"


def known_files(data_dir: Path) -> Path:
    """The folder a database of this data folder is in, or would be in first."""
    pointer = data_dir / POINTER
    if pointer.exists():
        return Path(pointer.read_text(encoding="utf-8").strip())
    inside, outside = data_dir / "pg", _outside(data_dir)
    return outside if not inside.exists() and os.geteuid() == 0 and (outside / "pgdata").exists() else inside


def postgres_files(data_dir: Path, owner: Owner, announce: Callable[[str], None]) -> Path:
    """The folder for PostgreSQL's files, made and given to its owner.

    Raises `ConfigurationError` if a database is known to be somewhere and cannot be used there: an empty one is never
    started in its place.
    """
    files = known_files(data_dir)
    if (data_dir / POINTER).exists() and not (files / "pgdata").exists():
        raise ConfigurationError(
            f"{data_dir / POINTER} says that the database is in {files}, and it is not there: bring it back, or remove "
            f"{data_dir / POINTER} to begin with an empty one.",
        )
    if owner.drops:
        _admit(data_dir, owner)
        if files.parent == data_dir and not owner.enters(data_dir):
            if (files / "pgdata").exists():
                raise ConfigurationError(
                    f"The database is in {files}, where {owner.name}, its user, cannot get: a folder above is closed "
                    "to it. Move the data folder, or give the folders above search permission (chmod o+x).",
                )
            files = _outside(data_dir)
            announce(f"PostgreSQL's files are in {files}: {owner.name}, its user, cannot reach {data_dir}.")
    if files.parent != data_dir:
        passable(files.parent)
    files.mkdir(mode=0o700, exist_ok=True)
    if owner.drops:
        os.chown(files, owner.uid, owner.gid, follow_symlinks=False)
    return files


def point(data_dir: Path, files: Path) -> None:
    """Remember files that are elsewhere, so that the data folder may be renamed and nothing is lost from sight."""
    if files.parent != data_dir:
        (data_dir / POINTER).write_text(f"{files}\n", encoding="utf-8")


def refuse_other_major(pgdata: Path) -> None:
    """Raise `ConfigurationError` if the database was made by another major version. Nothing is touched."""
    try:
        found = (pgdata / "PG_VERSION").read_text(encoding="utf-8").strip()
    except FileNotFoundError as error:
        raise ConfigurationError(
            f"{pgdata} is not a PostgreSQL database (no PG_VERSION): move it away, or choose another DATA_DIR.",
        ) from error
    if found != MAJOR:
        raise ConfigurationError(
            f"{pgdata} was made by PostgreSQL {found}, and this is PostgreSQL {MAJOR}. Nothing was changed. Take a "
            "backup with the Mnemic that made it (mnemic backup, or pg_dump of that version), start this one on a new "
            "DATA_DIR and restore there (mnemic restore); or set DATABASE_URL to a server that runs the old version.",
        )


def _outside(data_dir: Path) -> Path:
    return ELSEWHERE / sha256(os.fsencode(data_dir)).hexdigest()[:16]


def _admit(folder: Path, owner: Owner) -> None:
    """Let the owner search the folder itself: the one bit that concerns it, and nothing above."""
    found = folder.stat()
    if found.st_uid == owner.uid:
        bit = stat.S_IXUSR
    elif found.st_gid == owner.gid:
        bit = stat.S_IXGRP
    else:
        bit = stat.S_IXOTH
    if not found.st_mode & bit:
        folder.chmod(stat.S_IMODE(found.st_mode) | bit)
