"""Migrations: run by hand, by `mnemic migrate`, or by `mnemic up`."""

from pathlib import Path

from alembic.config import Config
from alembic.script import ScriptDirectory

from alembic import command

_PACKAGE = Path(__file__).resolve().parent.parent


def _folder() -> Path:
    """The migration scripts: inside an installed package, beside it in a checkout."""
    inside = _PACKAGE / "_alembic"
    return inside if inside.is_dir() else _PACKAGE.parent / "alembic"


def configuration(dsn: str) -> Config:
    """Alembic's configuration for a database, without an ini file."""
    config = Config()
    config.set_main_option("script_location", str(_folder()).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["dsn"] = dsn
    return config


def upgrade(migrator_dsn: str, revision: str = "head") -> None:
    """Bring a database up to `revision`. Runs its own event loop: call it outside of one."""
    command.upgrade(configuration(migrator_dsn), revision)


def downgrade(migrator_dsn: str, revision: str) -> None:
    """Take a database down to `revision` (`base`: nothing of Mnemic is left)."""
    command.downgrade(configuration(migrator_dsn), revision)


def head() -> str:
    """The newest revision that this code knows."""
    revision = ScriptDirectory.from_config(configuration("")).get_current_head()
    if revision is None:
        raise RuntimeError("There are no migrations in this installation.")
    return revision


def knows(revision: str) -> bool:
    """Whether this code can take a database on from `revision`."""
    return revision in {script.revision for script in ScriptDirectory.from_config(configuration("")).walk_revisions()}
