"""Commands about trust: sealing keys, the audit log, export and import."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar
from uuid import UUID

import typer
from rich.console import Console
from rich.progress import Progress

from app.core.errors import ConfigurationError
from app.domain.principal import ROLE_SCOPES, Principal

if TYPE_CHECKING:  # each command loads only what it needs
    from app.composition import Services
    from app.schemas.audit import AuditVerdict
    from app.schemas.transfer import Imported
    from app.services.sealing import Rotated

seal = typer.Typer(no_args_is_help=True, help="Sealing: the keys that encrypt sensitive memories.")
audit = typer.Typer(no_args_is_help=True, help="The audit log: verify and export it.")
transfer = typer.Typer()

out = Console(markup=False, emoji=False, highlight=False)
err = Console(stderr=True, markup=False, emoji=False, highlight=False)

DataDir = Annotated[Path | None, typer.Option(help="Folder of a running 'mnemic up'")]
Result = TypeVar("Result")
NOBODY: Final = UUID(int=0)


def with_services(work: Callable[["Services"], Coroutine[Any, Any, Result]], data_dir: Path | None) -> Result:
    """Do something with the use cases, as the command line."""
    from app.composition import services  # noqa: PLC0415 - each command loads only what it needs
    from app.domain.calls import Call, served  # noqa: PLC0415
    from app.settings import get_settings  # noqa: PLC0415

    settings = get_settings()
    chosen = settings if data_dir is None else settings.model_copy(update={"data_dir": data_dir})
    call = Call(action=f"command.{work.__qualname__.partition('.')[0]}", resource="command", actor="command")

    async def run() -> Result:
        async with services(chosen) as running:
            with served(call):
                return await work(running)

    return asyncio.run(run())


@seal.command("new-key")
def new_sealing_key() -> None:
    """Print a new sealing key, for SEALING_KEYS or SEALING_KEY_FILE."""
    from app.core.sealing import SealingKey  # noqa: PLC0415 - each command loads only what it needs

    typer.echo(SealingKey.fresh().written())


@seal.command("rotate")
def rotate_sealing_keys(
    new_key: Annotated[bool, typer.Option("--new-key/--same-key", help="Make a new key first")] = True,  # noqa: FBT002
    data_dir: DataDir = None,
) -> None:
    """Seal every sensitive memory anew under the newest key, beside the running service.

    Keys from SEALING_KEYS are yours to change: put the new one first, restart, and call this with --same-key.
    """
    from app.core.sealing import SealingKey  # noqa: PLC0415 - each command loads only what it needs

    async def work(services: "Services") -> "Rotated":
        if new_key:
            services.uow.ring.add(SealingKey.fresh())
        if services.uow.ring.current is None:
            raise ConfigurationError("There is no sealing key here: set SEALING_KEYS or SEALING_KEY_FILE.")
        with Progress(console=err) as bar:
            task = bar.add_task("sealing anew", total=await services.sealing.total())
            return await services.sealing.rotate(lambda more: bar.advance(task, more))

    done = with_services(work, data_dir)
    out.print(f"Sealed anew: {done.resealed}. Current before: {done.current}. No key opens: {done.unreadable}.")
    raise typer.Exit(1 if done.unreadable else 0)


@audit.command("verify")
def verify_audit_log(
    tenant: Annotated[str, typer.Option(help="Whose log")] = "default",
    position: Annotated[int | None, typer.Option(min=1, help="A place whose hash you kept")] = None,
    digest: Annotated[str | None, typer.Option("--hash", help="The hash that stood there")] = None,
    data_dir: DataDir = None,
) -> None:
    """Compute every hash of the audit log anew. Ends with 1 if a line was changed, removed or moved."""
    if (position is None) != (digest is None):
        raise ConfigurationError("--position and --hash belong together: name both, as you kept them.")
    anchor = None if position is None or digest is None else (position, digest)

    async def work(services: "Services") -> "AuditVerdict":
        return await services.audit.verify(await services.access.known_tenant(tenant), anchor)

    found = with_services(work, data_dir)
    typer.echo(found.model_dump_json(indent=2))
    raise typer.Exit(0 if found.intact else 1)


@audit.command("export")
def export_audit_log(
    tenant: Annotated[str, typer.Option(help="Whose log")] = "default",
    after: Annotated[int, typer.Option(min=0, help="Only lines behind this place")] = 0,
    data_dir: DataDir = None,
) -> None:
    """Write the chained lines of the audit log as NDJSON to the standard output."""

    async def work(services: "Services") -> None:
        async for line in services.audit.lines(await services.access.known_tenant(tenant), after):
            typer.echo(line.model_dump_json())

    with_services(work, data_dir)


@transfer.command("export")
def export(
    file: Annotated[Path, typer.Argument(help="The file to write; it must not exist")],
    tenant: Annotated[str, typer.Option(help="Whose data")] = "default",
    user: Annotated[str | None, typer.Option(help="Only this user's")] = None,
    data_dir: DataDir = None,
) -> None:
    """Write everything of a tenant, or of a user, as NDJSON. Sealed memories are in it in clear: guard the file."""

    async def work(services: "Services") -> int:
        tenant_id = await services.access.known_tenant(tenant)
        exports = services.exports
        if user is None:
            lines = exports.tenant(tenant_id, unsealed=True)
        else:
            lines = exports.user(tenant_id, user, unsealed=True)
        written = 0
        with Progress(console=err) as bar, file.open("x", encoding="utf-8", newline="\n") as target:
            file.chmod(0o600)
            task = bar.add_task("exporting", total=None)
            async for line in lines:
                target.write(line)
                written += 1
                bar.update(task, completed=written)
        return written

    try:
        out.print(f"Wrote {with_services(work, data_dir)} lines to {file}.", soft_wrap=True)
    except FileExistsError as error:
        raise ConfigurationError(f"{file} exists already: name another file.") from error


@transfer.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="What 'mnemic export' wrote, or lines of another system")],
    tenant: Annotated[str, typer.Option(help="Into which tenant; made if it is new")] = "default",
    user: Annotated[str | None, typer.Option(help="For this user alone")] = None,
    data_dir: DataDir = None,
) -> None:
    """Store an export. Stopped anywhere, call it again: what is there already is passed over."""

    async def work(services: "Services") -> "Imported":
        tenant_id = await services.access.tenant(tenant)
        principal = Principal(tenant_id, NOBODY, "command", "admin", ROLE_SCOPES["admin"])
        with Progress(console=err) as bar, file.open("rb") as source:
            task = bar.add_task("importing", total=sum(1 for _ in source))
            source.seek(0)

            async def lines() -> AsyncIterator[bytes]:
                for line in source:
                    yield line

            return await services.imports.run(principal, user, lines(), lambda more: bar.advance(task, more))

    try:
        typer.echo(json.dumps(with_services(work, data_dir).model_dump(), ensure_ascii=False))
    except FileNotFoundError as error:
        raise ConfigurationError(f"There is no file {file}.") from error
