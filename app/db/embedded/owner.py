"""Whom PostgreSQL runs as: it refuses root, so root steps down to an account that exists everywhere."""

import os
import pwd
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from app.core.errors import ConfigurationError

ACCOUNTS = ("postgres", "nobody")
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}


@dataclass(frozen=True)
class Owner:
    """The account that owns PostgreSQL's files and runs its processes.

    Args:
        uid: Its user id.
        gid: Its primary group.
        drops: Whether this process is root and steps down to it for each command.
    """

    uid: int
    gid: int
    drops: bool

    @property
    def name(self) -> str:
        """Its name, or its number where /etc/passwd has none."""
        return account_name(self.uid) or str(self.uid)

    def spawn(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        output: IO[bytes] | int = subprocess.DEVNULL,
        before: Callable[[], None] | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start a command as this account, in our process group, with an environment that carries nothing of ours.

        Args:
            command: Program and arguments.
            cwd: Where it starts; entered before stepping down.
            output: Where stdout and stderr go.
            before: Called in the child between stepping down and exec.
        """
        return subprocess.Popen(  # noqa: S603 - our own binaries
            command,
            cwd=cwd,
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            user=self.uid if self.drops else None,
            group=self.gid if self.drops else None,
            extra_groups=[] if self.drops else None,
            preexec_fn=before,  # noqa: PLW1509 - one prctl, no locks
        )

    def succeeds(self, command: Sequence[str]) -> bool:
        """Whether a short command ends well when this account runs it."""
        try:
            return self.spawn(command, cwd=Path("/")).wait() == 0
        except OSError:
            return False

    def enters(self, folder: Path) -> bool:
        """Whether this account can get into a folder. The kernel is asked: modes alone do not tell of ACLs."""
        return self.succeeds(["/bin/sh", "-c", 'cd "$1"', "sh", str(folder)])


def account_name(uid: int) -> str | None:
    """The name of a user id, if it has one."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return None


def passable(folder: Path) -> None:
    """Make a folder that every account may go through and only root may list, whatever the umask."""
    if not folder.exists():
        folder.mkdir(parents=True)
        folder.chmod(0o711)


def owner_of(folder: Path) -> Owner:
    """The account for PostgreSQL's files in `folder`: who owns them, ourselves, or an unprivileged one for root.

    Raises `ConfigurationError` if the files belong to someone else, or if root finds nobody to become.
    """
    try:
        found = folder.lstat()
    except FileNotFoundError:
        found = None
    except PermissionError as error:
        raise ConfigurationError(f"{folder} cannot be reached by this user; run as the one who made it.") from error
    if os.geteuid() != 0:
        if found is not None and found.st_uid != os.geteuid():
            raise ConfigurationError(
                f"The database in {folder} belongs to {account_name(found.st_uid) or found.st_uid}, made by another "
                "user or by root: run as the one who made it, or choose another folder with DATA_DIR.",
            )
        return Owner(os.geteuid(), os.getegid(), drops=False)
    if found is not None and found.st_uid != 0:
        return Owner(found.st_uid, found.st_gid, drops=True)
    return _unprivileged()


def _unprivileged() -> Owner:
    for account in ACCOUNTS:
        try:
            entry = pwd.getpwnam(account)
        except KeyError:
            continue
        owner = Owner(entry.pw_uid, entry.pw_gid, drops=True)
        if owner.enters(Path("/")):
            return owner
    raise ConfigurationError(
        f"PostgreSQL does not run as root, and root cannot become {' or '.join(ACCOUNTS)} here: "
        "run Mnemic as another user, or set DATABASE_URL to a PostgreSQL of your own.",
    )
