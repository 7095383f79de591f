"""The command `mnemic`."""

import asyncio
import gc
import json
import os
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar
from uuid import UUID

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.table import Table

from app.cli_models import embedding, models
from app.cli_trust import audit, seal, transfer
from app.core import clock, logging
from app.core.errors import ConfigurationError, Problem
from app.domain.calls import Call, served
from app.domain.principal import ROLES
from app.schemas.access import KeyCreate, TenantCreate
from app.settings import Settings, get_settings

if TYPE_CHECKING:  # each command loads only what it needs
    from app.composition import Services
    from app.services.access import KeyInfo

app = typer.Typer(no_args_is_help=True, add_completion=False, help="Mnemic: memory for AI agents.")
keys = typer.Typer(no_args_is_help=True, help="API keys: make, list and revoke them.")
app.add_typer(keys, name="keys")
app.add_typer(seal, name="seal")
app.add_typer(audit, name="audit")
app.add_typer(transfer)
app.add_typer(models, name="models")
app.add_typer(embedding)

# What is printed is data: brackets in it are no styles, and words between colons no pictures.
out = Console(markup=False, emoji=False, highlight=False)
err = Console(stderr=True, markup=False, emoji=False, highlight=False)

MISCONFIGURED: Final = 2
NARROWEST: Final = 60
"""Columns for an id and some words beside it."""
COLOURS: Final = {"ok": "", "warn": "yellow", "fail": "red"}

Result = TypeVar("Result")


def _configured(**given: Any) -> Settings:  # noqa: ANN401 - settings of several kinds
    """The settings, with what the command line says on top."""
    settings = get_settings().model_copy(update={name: value for name, value in given.items() if value is not None})
    logging.configure(settings.log_level, as_json=settings.log_format == "json")
    return settings


@app.command()
def up(
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Port of the API")] = None,
    data_dir: Annotated[Path | None, typer.Option(help="Folder of the data and keys")] = None,
    host: Annotated[str | None, typer.Option(help="Address of the API")] = None,
) -> None:
    """Run everything in the foreground: embedded PostgreSQL, migrations, API and worker."""
    from app.supervisor import run_up  # noqa: PLC0415 - each command loads only what it needs

    raise typer.Exit(run_up(_configured(port=port, data_dir=data_dir, host=host)))


@app.command()
def serve(
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Port of the API")] = None,
    host: Annotated[str | None, typer.Option(help="Address of the API")] = None,
) -> None:
    """Run the API alone, on the database of DATABASE_URL."""
    import uvicorn  # noqa: PLC0415 - each command loads only what it needs

    from app.main import create_app  # noqa: PLC0415
    from app.routers.protocol import ProblemProtocol  # noqa: PLC0415

    settings = _configured(port=port, host=host)
    asyncio.run(_refuse_unisolated(settings))  # uvicorn would wrap the reason in a traceback
    uvicorn.run(
        create_app(settings, settled=_leave_to_itself),
        host=settings.host,
        port=settings.port,
        http=ProblemProtocol,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # the application does it, from its own setting
        timeout_graceful_shutdown=int(settings.shutdown_seconds),
    )


def _leave_to_itself() -> None:
    """What stands when the application does stands to its end: collections of garbage pass over it from here on."""
    gc.collect()
    gc.freeze()


async def _refuse_unisolated(settings: Settings) -> None:
    """Raise `ConfigurationError` where tenants would not be isolated; a database that is down is waited for."""
    from app.composition import services  # noqa: PLC0415 - each command loads only what it needs

    async with services(settings) as running:
        with suppress(Problem):
            async with running.uow.begin_global() as tx:
                await tx.access.ping()


@app.command()
def worker() -> None:
    """Run a worker alone, on the database of DATABASE_URL."""
    from app.workers.process import run_worker  # noqa: PLC0415 - each command loads only what it needs

    settings = _configured()
    if hasattr(os, "nice"):
        os.nice(settings.worker_nice)  # whoever waits for an answer goes first
    asyncio.run(run_worker(settings))


@app.command()
def migrate() -> None:
    """Bring the database up to date and register the embedding model. Uses MIGRATION_DATABASE_URL."""
    from app import bootstrap  # noqa: PLC0415 - each command loads only what it needs
    from app.db import migrate as migrations  # noqa: PLC0415

    settings = _configured()
    chosen = settings.migration_database_url or settings.database_url
    if chosen is None:
        raise ConfigurationError("Set DATABASE_URL (and MIGRATION_DATABASE_URL): 'mnemic up' migrates its own server.")
    migrations.upgrade(chosen.get_secret_value())
    bootstrap.register_model(settings, chosen.get_secret_value())
    out.print(f"The database is at revision {migrations.head()}.")


@app.command()
def backup(
    file: Annotated[Path, typer.Argument(help="The file to write; it must not exist")],
    data_dir: Annotated[Path | None, typer.Option(help="Folder of the data and keys")] = None,
) -> None:
    """Write the embedded database into one file. Works beside a running 'mnemic up'."""
    from app.db.embedded import archive  # noqa: PLC0415 - each command loads only what it needs

    settings = _embedded(data_dir)
    made = archive.back_up(settings.data_dir, file, _announce)
    out.print(f"Backed up {sum(made.rows.values())} rows of {len(made.rows)} tables to {file}.", soft_wrap=True)


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(help="What 'mnemic backup' wrote")],
    data_dir: Annotated[Path | None, typer.Option(help="Folder of the data and keys; nothing may run on it")] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace the database that is there")] = False,  # noqa: FBT002
) -> None:
    """Bring a backup into a new data folder, or with --replace in place of what a folder has."""
    from app.db.embedded import archive  # noqa: PLC0415 - each command loads only what it needs

    settings = _embedded(data_dir)
    made = archive.restore(settings.data_dir, file, replace=replace, announce=_announce)
    out.print(
        f"Restored {sum(made.rows.values())} rows of {len(made.rows)} tables, as they were at {made.made_at}. "
        "Start 'mnemic up' on this folder.",
        soft_wrap=True,
    )


@app.command()
def doctor(
    data_dir: Annotated[Path | None, typer.Option(help="Folder of a running 'mnemic up'")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For programs")] = False,  # noqa: FBT002
) -> None:
    """Look at everything the service needs and say what to do about each fault. Ends with 1 if one is grave."""
    from app.doctor import examine, graveness  # noqa: PLC0415 - each command loads only what it needs

    findings = asyncio.run(examine(_configured(data_dir=data_dir)))
    if as_json:
        typer.echo(json.dumps([asdict(finding) for finding in findings], ensure_ascii=False, indent=2))
    else:
        table = Table("", "check", "found", "what to do")
        for finding in findings:
            table.add_row(finding.verdict, finding.check, finding.found, finding.advice, style=COLOURS[finding.verdict])
        out.print(table)
    raise typer.Exit(1 if graveness(findings) == "fail" else 0)


@keys.command("create")
def create_key(
    name: Annotated[str, typer.Argument(help="What the key is for")],
    role: Annotated[str, typer.Option(help=", ".join(ROLES))] = "member",
    user: Annotated[list[str] | None, typer.Option(help="Bind the key to this user; may be repeated")] = None,
    tenant: Annotated[str, typer.Option(help="The tenant, made if it is new")] = "default",
    days: Annotated[int | None, typer.Option(min=1, help="Days until the key expires")] = None,
    data_dir: Annotated[Path | None, typer.Option(help="Folder of a running 'mnemic up'")] = None,
) -> None:
    """Make a key. It is shown once."""
    asked, owner = _key_asked_for(name, role, user, days, tenant)

    async def work(services: "Services") -> str:
        tenant_id = await services.access.tenant(owner)
        issued = await services.access.issue(
            tenant_id=tenant_id,
            name=asked.name,
            role=asked.role,
            user_ids=asked.user_ids,
            expires_at=asked.expires_at,
        )
        return json.dumps({"id": str(issued.id), "key": issued.secret})

    typer.echo(_with_services(work, data_dir))


@keys.command("list")
def list_keys(
    data_dir: Annotated[Path | None, typer.Option(help="Folder of a running 'mnemic up'")] = None,
) -> None:
    """List keys. The keys themselves are not stored and cannot be shown."""

    async def work(services: "Services") -> "list[KeyInfo]":
        return await services.access.keys()

    heads = ("id", "tenant", "name", "begins with", "role", "users", "created", "expires", "revoked")
    rows = []
    for key in _with_services(work, data_dir):
        users = "all" if key.user_ids is None else ", ".join(key.user_ids)
        dates = (
            at.isoformat(timespec="seconds") if at else "" for at in (key.created_at, key.expires_at, key.revoked_at)
        )
        rows.append((str(key.id), str(key.tenant_id), _printable(key.name), key.prefix, key.role, users, *dates))
    out.width = max(out.width, NARROWEST)
    out.print(_of_whole_ids(heads, rows))


@keys.command("revoke")
def revoke_key(
    key_id: Annotated[str, typer.Argument(help="The key's id, as the list shows it")],
    data_dir: Annotated[Path | None, typer.Option(help="Folder of a running 'mnemic up'")] = None,
) -> None:
    """Close a key for good. Running processes learn it within seconds."""
    try:
        chosen = UUID(key_id)
    except ValueError as error:
        raise ConfigurationError("A key's id looks like 0190f3c2-...: see 'mnemic keys list'.") from error

    async def work(services: "Services") -> bool:
        return await services.access.revoke(chosen)

    if not _with_services(work, data_dir):
        raise ConfigurationError("There is no such key, or it is revoked already.")
    out.print("Revoked.")


def _key_asked_for(
    name: str, role: str, users: list[str] | None, days: int | None, tenant: str
) -> tuple[KeyCreate, str]:
    """The key and the name of its tenant, held to the rules of the API."""
    try:
        expires_at = None if days is None else clock.now() + timedelta(days=days)
    except OverflowError as error:
        raise ConfigurationError("The key cannot be made, --days: years to 9998 are kept") from error
    given = {"name": name, "role": role, "user_ids": users or None, "expires_at": expires_at}
    try:
        return KeyCreate.model_validate(given), TenantCreate(name=tenant).name
    except ValidationError as error:
        fault = error.errors(include_input=False, include_url=False)[0]
        options = {"user_ids": "--user", "role": "--role", "expires_at": "--days"}
        where = "--tenant" if error.title == TenantCreate.__name__ else options.get(str(fault["loc"][0]), "the name")
        reason = fault["msg"].removeprefix("Value error, ")
        raise ConfigurationError(f"The key cannot be made, {where}: {reason}") from error


def _of_whole_ids(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> Table:
    """A table that cuts no id: where the terminal is too narrow, the first two columns stand above one another."""
    table = Table(*heads)
    for row in rows:
        table.add_row(*row)
    if out.measure(table, options=out.options.update(width=10_000)).maximum <= out.width:
        return table
    folded = Table(show_lines=True)
    folded.add_column("\n".join(heads[:2]), no_wrap=True)
    folded.add_column("what it is", overflow="fold")
    for row in rows:
        told = (f"{head}: {cell}" for head, cell in zip(heads[2:], row[2:], strict=True) if cell)
        folded.add_row("\n".join(row[:2]), "\n".join(told))
    return folded


def _printable(text: str) -> str:
    """A text as one line that does nothing to a terminal."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)


def _embedded(data_dir: Path | None) -> Settings:
    settings = _configured(data_dir=data_dir)
    if not settings.embedded:
        raise ConfigurationError(
            "DATABASE_URL is set: back up and restore a server of your own with pg_dump and pg_restore as the migrator "
            "(docs/operations.md). These commands are for the embedded database."
        )
    return settings


def _announce(text: str) -> None:
    err.print(text, soft_wrap=True)


def _with_services(work: Callable[["Services"], Coroutine[Any, Any, Result]], data_dir: Path | None) -> Result:
    from app.composition import services  # noqa: PLC0415 - each command loads only what it needs

    settings = _configured(data_dir=data_dir)

    async def run() -> Result:
        async with services(settings) as running:
            with served(
                Call(action=f"command.{work.__qualname__.partition('.')[0]}", resource="command", actor="command")
            ):
                return await work(running)

    return asyncio.run(run())


def main() -> None:
    """Run the command; what is wrong with the configuration is one clear line."""
    try:
        app()
    except ConfigurationError as error:
        err.print(f"mnemic: {error}", style="red", soft_wrap=True)
        raise SystemExit(MISCONFIGURED) from error
    except Problem as problem:
        err.print(f"mnemic: {problem.detail}", style="red", soft_wrap=True)
        raise SystemExit(1) from problem


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
