"""Commands about embedding models: another one without downtime, step by step or in one go; their calibration."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from app.cli_trust import NOBODY, DataDir, with_services
from app.core.errors import ConfigurationError
from app.domain.principal import ROLE_SCOPES, Principal

if TYPE_CHECKING:  # each command loads only what it needs
    from app.composition import Services
    from app.domain.calibration import Calibration
    from app.schemas.embedding_models import (
        AskedQuery,
        ComparedQuery,
        Comparison,
        EmbeddingModelRecord,
        EmbeddingModels,
    )
    from app.services.calibrating import Measurement

models = typer.Typer(no_args_is_help=True, help="Embedding models: list, register, activate and retire them.")
embedding = typer.Typer()

out = Console(markup=False, emoji=False, highlight=False)
err = Console(stderr=True, markup=False, emoji=False, highlight=False)

LOOK_SECONDS: Final = 0.5
ModelName = Annotated[str, typer.Argument(help="The model's name, as 'mnemic models list' shows it")]


@models.command("list")
def list_models(data_dir: DataDir = None) -> None:
    """List the models of the database, and those that the settings name beside."""

    async def work(services: "Services") -> "EmbeddingModels":
        return await services.embedding_models.all(await _operator(services))

    known = with_services(work, data_dir)
    heads = ("id", "name", "dimension", "status", "loadable", "indexed", "calibration", "vectors made", "waits for")
    table = Table(*heads)
    for one in known.results:
        yes = ("yes" if fact else "no" for fact in (one.loadable, one.indexed))
        told = one.progress
        source = "" if one.calibration is None else one.calibration.source
        row = (str(one.id), one.name, str(one.dimension), one.status, *yes, source, str(told.done))
        table.add_row(*row, told.waits_for or "")
    for name in known.unregistered:
        table.add_row("", name, "", "unregistered", "yes")
    out.print(table)


@models.command("register")
def register_model(name: ModelName, data_dir: DataDir = None) -> None:
    """Register a model: a running worker gives it vectors of everything. 'mnemic reembed' does it and waits."""

    async def work(services: "Services") -> "EmbeddingModelRecord":
        return await services.embedding_models.register(await _operator(services), name)

    out.print(with_services(work, data_dir).model_dump_json(indent=2))


@models.command("activate")
def activate_model(
    name: ModelName,
    force: Annotated[bool, typer.Option("--force", help="Although vectors or indexes are missing")] = False,  # noqa: FBT002
    data_dir: DataDir = None,
) -> None:
    """Switch to a model; the one before stands by. To go back, activate that one."""

    async def work(services: "Services") -> "EmbeddingModelRecord":
        principal = await _operator(services)
        found = await _by_name(services, principal, name)
        return await services.embedding_models.activate(principal, found.id, force=force)

    with_services(work, data_dir)
    out.print(f"{name} serves.")


@models.command("retire")
def retire_model(name: ModelName, data_dir: DataDir = None) -> None:
    """Give a model up: a running worker removes its vectors and its index. This cannot be undone."""

    async def work(services: "Services") -> "EmbeddingModelRecord":
        principal = await _operator(services)
        return await services.embedding_models.retire(principal, (await _by_name(services, principal, name)).id)

    with_services(work, data_dir)
    out.print(f"{name} is retired; its vectors are being removed.")


@embedding.command("reembed")
def reembed(
    name: ModelName,
    switch: Annotated[bool, typer.Option("--switch", help="Let it serve as soon as it is complete")] = False,  # noqa: FBT002
    data_dir: DataDir = None,
) -> None:
    """Give a model vectors of everything, beside the running service, and show how far it is.

    The work is a running worker's: stop this command at any moment, and call it again to look on.
    """

    async def work(services: "Services") -> "EmbeddingModelRecord":
        principal = await _operator(services)
        found = await _registered(services, principal, name)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=err) as bar:
            task = bar.add_task(name, total=None)
            while found.status == "building":
                told = found.progress
                says = f"{name}: waits for {told.waits_for}" if told.waits_for else name
                bar.update(task, description=says, completed=told.looked, total=max(told.total, told.looked) or None)
                await asyncio.sleep(LOOK_SECONDS)
                found = await services.embedding_models.get(principal, found.id)
        if switch and found.status == "standby":
            found = await services.embedding_models.activate(principal, found.id, force=False)
        return found

    done = with_services(work, data_dir)
    told = done.progress
    out.print(f"{name}: {told.done} vectors made in {told.walks} walks; its status is {done.status}.", soft_wrap=True)
    if told.waits_for:
        out.print(f"It waits for {told.waits_for}.", soft_wrap=True)


@embedding.command("compare-embeddings")
def compare_embeddings(
    name: ModelName,
    queries: Annotated[
        Path | None, typer.Option(help="Your questions: one a line, or JSON lines of {query, user_id}")
    ] = None,
    user: Annotated[str | None, typer.Option(help="Whose memories the lines of plain text ask for")] = None,
    limit: Annotated[int, typer.Option(min=1, max=200, help="Recent questions, where none are given")] = 20,
    tenant: Annotated[str, typer.Option(help="Whose memories")] = "default",
    as_json: Annotated[bool, typer.Option("--json", help="For programs")] = False,  # noqa: FBT002
    data_dir: DataDir = None,
) -> None:
    """Compare what the model that serves and another one find: overlap@10, and what only one of them finds."""
    from app.schemas.embedding_models import CompareRequest  # noqa: PLC0415 - each command loads only what it needs

    given = None if queries is None else _questions(queries, user)

    async def work(services: "Services") -> list["Comparison"]:
        principal = await _operator(services, tenant)
        found = await _by_name(services, principal, name)
        asked = given or await services.comparison.recent(principal, limit)
        with Progress(console=err) as bar:
            return [
                await services.comparison.compare(principal, found.id, CompareRequest(queries=[one]))
                for one in bar.track(asked, description="comparing")
            ]

    told = [one for report in with_services(work, data_dir) for one in report.results]
    if as_json:
        typer.echo(json.dumps([one.model_dump() for one in told], ensure_ascii=False, indent=2))
        return
    _show(name, told)


def _show(name: str, told: Sequence["ComparedQuery"]) -> None:
    if not told:
        raise ConfigurationError("There are no recent questions: give a file of your own with --queries.")
    table = Table("question", "user", "by meaning", "as served", "only the active one", f"only {name}")
    for one in told:
        only = ("\n".join(hit.text[:60] for hit in hits[:3]) for hits in (one.only_active, one.only_other))
        table.add_row(one.query, one.user_id or "", f"{one.overlap:.2f}", f"{one.overlap_as_served:.2f}", *only)
    out.print(table)
    by_meaning = sum(one.overlap for one in told) / len(told)
    served = sum(one.overlap_as_served for one in told) / len(told)
    out.print(f"overlap@10 of {len(told)} questions: {by_meaning:.3f} by meaning, {served:.3f} as served.")


@embedding.command("calibrate")
def calibrate(
    model: Annotated[
        str | None, typer.Option(help="Its name, as 'mnemic models list' shows it; the configured")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Measure and show, keep nothing")] = False,  # noqa: FBT002
    reset: Annotated[bool, typer.Option("--reset", help="Go back to what comes with the model")] = False,  # noqa: FBT002
    data_dir: DataDir = None,
) -> None:
    """Measure what a model's cosines mean, and keep it: every process goes by it, for this model alone.

    Sentences of known meaning, in Chinese and English, are part of this command: it embeds some hundreds of texts.
    """
    if dry_run and reset:
        raise ConfigurationError("--dry-run measures and --reset forgets what was measured: name one of them.")

    async def forget(services: "Services") -> "EmbeddingModelRecord":
        principal = await _operator(services)
        return await services.embedding_models.calibrate(principal, model or services.embedder.model.name, None)

    async def measure(services: "Services") -> tuple[str, "Calibration", "Measurement"]:
        from app.services.calibrating import TEXTS  # noqa: PLC0415 - each command loads only what it needs

        principal, known = await _operator(services), services.embedding_models
        name = model or services.embedder.model.name
        if not dry_run:
            await _by_name(services, principal, name)
        before = await known.calibration(principal, name)
        with Progress(console=err) as bar:
            task = bar.add_task(f"measuring {name}", total=TEXTS)
            found = await known.measure(principal, name, lambda more: bar.advance(task, more))
        if not dry_run:
            await known.calibrate(principal, name, found.calibration)
        return name, before, found

    if reset:
        done = with_services(forget, data_dir)
        source = "another process's" if done.calibration is None else done.calibration.source
        out.print(f"{done.name}: what was measured is forgotten; the calibration in use is {source}.", soft_wrap=True)
        return
    name, before, found = with_services(measure, data_dir)
    _show_measured(before, found)
    if dry_run:
        out.print("Nothing was kept.")
    elif before.source == "settings":
        out.print(
            f"Kept for {name}, but EMBEDDING_SIMILARITY_LOW and EMBEDDING_SIMILARITY_HIGH go before it: unset them.",
            soft_wrap=True,
        )
    else:
        out.print(f"Kept for {name}: every process goes by it from now on.", soft_wrap=True)


def _show_measured(before: "Calibration", found: "Measurement") -> None:
    from app.domain.calibrating.bounds import LEFT_OUT, NEARLY_ALL, NOT_SIMILAR, nominated, quantile  # noqa: PLC0415

    groups = {**found.languages, "both": found.both}
    compared = Table("", f"in use ({before.source})", "measured")
    for bound in ("low", "high", "duplicate"):
        compared.add_row(bound, *(f"{getattr(one, bound):.3f}" for one in (before, found.calibration)))
    for told, kind in (("say the same", "same"), ("only look alike", "other")):
        for name, cosines in groups.items():
            shares = (nominated(getattr(cosines, kind), one) for one in (before, found.calibration))
            compared.add_row(f"nominated of pairs that {told}, {name}", *(f"{share:.0%}" for share in shares))
    out.print(compared)
    heads = (
        *("raw cosines", "a text and itself: least"),
        *(f"unrelated: {part} % up to" for part in (50, NOT_SIMILAR, NEARLY_ALL)),
        *("question and answer: median", f"say the same: {LEFT_OUT} % below", "look alike: median"),
    )
    table = Table(*heads)
    for name, cosines in groups.items():
        figures = (
            min(cosines.identical),
            *(quantile(cosines.unrelated, part) for part in (50, NOT_SIMILAR, NEARLY_ALL)),
            quantile(cosines.answers, 50),
            quantile(cosines.same, LEFT_OUT),
            quantile(cosines.other, 50),
        )
        table.add_row(name, *(f"{figure:.3f}" for figure in figures))
    out.print(table)


def _questions(file: Path, user: str | None) -> list["AskedQuery"]:
    """The questions of a file. Raises `ConfigurationError` where a line is none."""
    from pydantic import ValidationError  # noqa: PLC0415 - each command loads only what it needs

    from app.schemas.embedding_models import AskedQuery  # noqa: PLC0415

    try:
        lines = file.read_text("utf-8").splitlines()
    except (FileNotFoundError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{file} is no file of questions in UTF-8.") from error

    def question(number: int, line: str) -> AskedQuery:
        try:
            if line.startswith("{"):
                return AskedQuery.model_validate_json(line)
            return AskedQuery(query=line, user_id=user)
        except ValidationError as error:
            raise ConfigurationError(f"{file}, line {number}: no question that could be asked.") from error

    asked = [question(number, line.strip()) for number, line in enumerate(lines, 1) if line.strip()]
    if not asked:
        raise ConfigurationError(f"{file} holds no question.")
    return asked


async def _operator(services: "Services", tenant: str = "default") -> Principal:
    tenant_id = await services.access.known_tenant(tenant)
    return Principal(tenant_id, NOBODY, "command", "operator", ROLE_SCOPES["operator"])


async def _by_name(services: "Services", principal: Principal, name: str) -> "EmbeddingModelRecord":
    known = (await services.embedding_models.all(principal)).results
    found = next((one for one in known if one.name == name), None)
    if found is None:
        raise ConfigurationError(f"{name} is not registered: see 'mnemic models list'.")
    return found


async def _registered(services: "Services", principal: Principal, name: str) -> "EmbeddingModelRecord":
    """The model, registered if it is new, and with a job that works on it."""
    known = (await services.embedding_models.all(principal)).results
    found = next((one for one in known if one.name == name), None)
    if found is None or found.status == "retired":
        return await services.embedding_models.register(principal, name)
    return await services.embedding_models.build(principal, found.id)
