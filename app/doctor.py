"""`mnemic doctor`: everything the service needs, looked at one by one, with what to do about each fault."""

import asyncio
import shutil
import zoneinfo
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import asyncpg
from pydantic import BaseModel

from app.composition import acting_role, embedding_model
from app.core import clock
from app.core.errors import ConfigurationError
from app.core.metrics import Metrics
from app.db import embedded, migrate
from app.db.catalog import About, Catalog
from app.db.checks import RoleCheck
from app.db.dsn import Dsn, parse_dsn
from app.db.embedded.place import known_files
from app.providers.embeddings.base import EmbeddingUnavailable
from app.providers.embeddings.choice import further_models
from app.providers.llm.base import ChatMessage, LanguageModelNonsense, LanguageModelUnavailable
from app.providers.llm.choice import configured_language_model
from app.providers.rerank.base import RerankUnavailable
from app.providers.rerank.choice import bare_reranker
from app.settings import Settings

Verdict = Literal["ok", "warn", "fail"]

OLDEST_SERVER: Final = 160000
OLDEST_VECTOR: Final = (0, 8)
LITTLE_SPACE, NO_SPACE = 2 * 1024**3, 200 * 1024**2
SKEW_SECONDS, WRONG_SECONDS = 2.0, 60.0
BEHIND_SECONDS: Final = 60.0
RERANK_SECONDS: Final = 60.0
ZONES: Final = ("UTC", "Asia/Shanghai", "Europe/Berlin")
UNREACHABLE: Final[Sequence[tuple[type[BaseException], str]]] = (
    (asyncpg.InvalidPasswordError, "The server does not accept this role and password: compare the DSN with the role."),
    (asyncpg.InvalidAuthorizationSpecificationError, "The server refuses this login: see its pg_hba.conf and sslmode."),
    (asyncpg.InvalidCatalogNameError, "Create the database first: docs/deployment.md, 'Your own PostgreSQL'."),
    (asyncpg.TooManyConnectionsError, "Raise max_connections on the server, or lower POOL_SIZE."),
    (TimeoutError, "Nobody answers at this address: a firewall, or a wrong host."),
    (OSError, "Start PostgreSQL, and compare host and port of the DSN with where it listens."),
)
LANGUAGE_MODEL_DOWN: Final = "Start its host, and compare LLM_BASE_URL with where it listens. Mnemic works without it."
LANGUAGE_MODEL_ADVICE: Final[dict[int | None, str]] = {
    401: "The host does not accept LLM_API_KEY.",
    403: "The host does not let this LLM_API_KEY use LLM_MODEL.",
    404: "The host knows no such address or model: LLM_BASE_URL usually ends in /v1; compare LLM_MODEL with its list.",
    400: "The host does not take the request: compare LLM_MODEL with its list, and try LLM_STRUCTURED_OUTPUT=none.",
    422: "The host does not take the request: compare LLM_MODEL with its list, and try LLM_STRUCTURED_OUTPUT=none.",
}
RERANKER_DOWN: Final = "Start its host, and compare the RERANK_ settings with it. Searches go without it meanwhile."


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report: what was looked at, what was found, and what to do if it is not as it should be."""

    check: str
    verdict: Verdict
    found: str
    advice: str = ""


def graveness(findings: Iterable[Finding]) -> Verdict:
    """The gravest verdict of a report."""
    verdicts = {finding.verdict for finding in findings}
    return "fail" if "fail" in verdicts else "warn" if "warn" in verdicts else "ok"


async def examine(settings: Settings) -> list[Finding]:
    """Look at everything, in the order in which things need each other. Never raises for what it finds."""
    findings = [_zones(), _space(settings), *await _language_model(settings), *await _reranker(settings)]
    try:
        dsn, migrator = _addresses(settings)
    except ConfigurationError as error:
        return [*findings, Finding("database", "fail", "no address", str(error)), await _model_alone(settings)]
    try:
        async with _connected(dsn, settings) as connection:
            findings += await _database(settings, dsn, Catalog(connection))
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what was found
        findings += [Finding("database", "fail", _named(error), _advice(error)), await _model_alone(settings)]
        return findings
    findings.append(await _owner(settings, dsn, migrator))
    return findings


def _zones() -> Finding:
    missing = [name for name in ZONES if not _loads(name)]
    if missing:
        return Finding("time zones", "fail", f"no data for {', '.join(missing)}", "pip install tzdata")
    return Finding("time zones", "ok", "data present")


def _loads(zone: str) -> bool:
    try:
        zoneinfo.ZoneInfo(zone)
    except (zoneinfo.ZoneInfoNotFoundError, OSError):
        return False
    return True


def _space(settings: Settings) -> Finding:
    if not settings.embedded:
        return Finding("disk", "ok", "the database is on its own server; watch its disk there")
    place = next(path for path in (known_files(settings.data_dir.resolve()), *_above(settings)) if path.exists())
    free = shutil.disk_usage(place).free
    found = f"{free / 1024**3:.1f} GiB free at {place}"
    if free < NO_SPACE:
        return Finding("disk", "fail", found, "Free space now: PostgreSQL stops accepting writes when it is full.")
    if free < LITTLE_SPACE:
        return Finding("disk", "warn", found, "Free space, or move DATA_DIR to a larger disk (stop 'mnemic up' first).")
    return Finding("disk", "ok", found)


def _above(settings: Settings) -> Iterable[Path]:
    folder = settings.data_dir.resolve()
    return (folder, *folder.parents)


def _addresses(settings: Settings) -> tuple[Dsn, Dsn | None]:
    """Where the service connects, and where the migrator does if that is known here."""
    if settings.database_url is not None:
        migrator = settings.migration_database_url
        own = None if migrator is None else parse_dsn(migrator.get_secret_value())
        return parse_dsn(settings.database_url.get_secret_value()), own
    running = embedded.running(settings.data_dir)
    if running is None:
        raise ConfigurationError(
            f"DATABASE_URL is not set and no 'mnemic up' runs on {settings.data_dir}: start it, or set the DSN."
        )
    return parse_dsn(running.app_dsn), parse_dsn(running.migrator_dsn)


@asynccontextmanager
async def _connected(dsn: Dsn, settings: Settings) -> AsyncIterator["asyncpg.Connection[Any]"]:
    arguments = {"timeout": settings.connect_timeout_seconds, **dsn.asyncpg_arguments}
    if dsn.pooled:
        arguments["statement_cache_size"] = 0
    connection = await asyncpg.connect(**arguments)
    try:
        yield connection
    finally:
        await connection.close()


async def _database(settings: Settings, dsn: Dsn, catalog: Catalog) -> list[Finding]:
    before = clock.now()
    about = await catalog.about()
    middle = before + (clock.now() - before) / 2
    revision = await catalog.revision()
    findings = [
        _server(about),
        _clock((about.at - middle).total_seconds()),
        _vector(about),
        _migrations(revision),
        await _role(settings, dsn, catalog),
    ]
    if revision != migrate.head():
        return [*findings, await _model_alone(settings)]
    if (role := acting_role(settings, dsn)) is not None:
        await catalog.connection.execute(f"SET ROLE {role}")
    models = await catalog.models()
    return [*findings, await _model(settings, models), await _indexes(catalog, models), *await _queue(catalog)]


def _server(about: About) -> Finding:
    found = f"PostgreSQL {about.version_text}, database {about.database}, {about.encoding}"
    if about.version < OLDEST_SERVER:
        return Finding("database", "fail", found, "Mnemic needs PostgreSQL 16 or newer: upgrade the server.")
    if about.encoding != "UTF8":
        return Finding("database", "fail", found, "Create the database anew with ENCODING 'UTF8' TEMPLATE template0.")
    return Finding("database", "ok", found)


def _clock(skew: float) -> Finding:
    found = f"{abs(skew):.1f} s apart from the database's"
    if abs(skew) < SKEW_SECONDS:
        return Finding("clock", "ok", found)
    verdict: Verdict = "warn" if abs(skew) < WRONG_SECONDS else "fail"
    return Finding("clock", verdict, found, "Set both machines by NTP: what expires and what is due goes by the clock.")


def _vector(about: About) -> Finding:
    create = f"psql -d {about.database} -c 'CREATE EXTENSION vector'"
    if about.vector is None and about.vector_available is None:
        advice = (
            f"Install pgvector 0.8 or newer on the server (such as postgresql-18-pgvector); then, as admin: {create}"
        )
        return Finding("pgvector", "fail", "not on the server", advice)
    if about.vector is None:
        advice = f"An admin of the server runs once: {create}"
        return Finding("pgvector", "fail", "not in this database", advice)
    if _numbers(about.vector) < OLDEST_VECTOR:
        advice = f"Install 0.8 or newer; then, as admin: psql -d {about.database} -c 'ALTER EXTENSION vector UPDATE'"
        return Finding("pgvector", "fail", about.vector, advice)
    return Finding("pgvector", "ok", about.vector)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def _migrations(revision: str | None) -> Finding:
    head = migrate.head()
    if revision == head:
        return Finding("migrations", "ok", f"at {revision}")
    if revision is None:
        return Finding("migrations", "fail", "no tables yet", "Run 'mnemic migrate' with MIGRATION_DATABASE_URL.")
    if migrate.knows(revision):
        return Finding("migrations", "fail", f"at {revision}, needed {head}", "Run 'mnemic migrate', then restart.")
    return Finding("migrations", "fail", f"at {revision}, unknown here", "The database is newer: upgrade this Mnemic.")


async def _role(settings: Settings, dsn: Dsn, catalog: Catalog) -> Finding:
    role = acting_role(settings, dsn)
    connection = catalog.connection
    try:
        async with connection.transaction():
            if role is not None:
                await connection.execute(f"SET LOCAL ROLE {role}")
            await RoleCheck().ensure(connection)
    except ConfigurationError as error:
        return Finding("app role", "fail", f"{dsn.url.username} is not bound by row-level security", str(error))
    except asyncpg.PostgresError as error:
        return Finding("app role", "fail", _named(error), f"Run 'mnemic migrate', or: GRANT {role} TO the login.")
    steps = f", which steps down to {role}" if role is not None else ""
    return Finding("app role", "ok", f"{dsn.url.username}{steps}: bound by row-level security")


async def _owner(settings: Settings, dsn: Dsn, migrator: Dsn | None) -> Finding:
    chosen = migrator or (dsn if acting_role(settings, dsn) is not None else None)
    if chosen is None:
        return Finding("migrator role", "ok", "not configured here; only 'mnemic migrate' and backups need it")
    try:
        async with _connected(chosen, settings) as connection:
            login = await Catalog(connection).login()
    except (asyncpg.PostgresError, OSError, TimeoutError) as error:
        return Finding("migrator role", "fail", _named(error), f"MIGRATION_DATABASE_URL: {_advice(error)}")
    if login.owns is False:
        advice = f"The tables belong to another role: use its DSN, or GRANT that role TO {login.name}."
        return Finding("migrator role", "fail", f"{login.name} does not own the tables", advice)
    if not login.superuser and not login.bypasses:
        advice = f"As admin: ALTER ROLE {login.name} BYPASSRLS. Without it migrations and backups see no rows."
        return Finding("migrator role", "fail", f"{login.name} is bound by row-level security", advice)
    return Finding("migrator role", "ok", f"{login.name}: {'superuser' if login.superuser else 'BYPASSRLS'}")


async def _model_alone(settings: Settings) -> Finding:
    return await _model(settings, None)


async def _model(settings: Settings, known: list[dict[str, Any]] | None) -> Finding:
    """The model makes a vector, and the database knows it by that length; `known` is None where it cannot be asked."""
    try:
        model = embedding_model(settings)
        try:
            await model.prepare()
            dimension = len(await model.embed_query("doctor 你好"))
        finally:
            await model.close()
    except ConfigurationError as error:
        return Finding("embedding model", "fail", "misconfigured", str(error))
    except EmbeddingUnavailable as error:
        return Finding(
            "embedding model", "fail", str(error), "See the EMBEDDING_ settings and whether its host answers."
        )
    found = f"{model.name}, {dimension} dimensions"
    if known is None:
        return Finding("embedding model", "ok", found)
    active = next((record["name"] for record in known if record["status"] == "active"), None)
    try:
        further = [one.name for one in further_models(settings)]
    except ConfigurationError as error:
        return Finding("embedding model", "fail", "EMBEDDING_ALSO is misconfigured", str(error))
    if active is not None and active not in {model.name, *further}:
        advice = f"Name {active} in EMBEDDING_ALSO, or configure it again."
        return Finding("embedding model", "fail", f"{found}, and {active} serves", advice)
    if active is not None and active != model.name:
        return Finding("embedding model", "ok", f"{active} serves, of EMBEDDING_ALSO; {found} is configured")
    registered = next((record for record in known if record["name"] == model.name), None)
    if registered is None:
        return Finding("embedding model", "fail", f"{found}, not registered", "Run 'mnemic migrate'.")
    if registered["dimension"] != dimension:
        advice = "Configure the model that made the stored vectors, or register this one under another name."
        return Finding("embedding model", "fail", f"{found}; stored with {registered['dimension']}", advice)
    return Finding("embedding model", "ok", found)


class _Sum(BaseModel):
    total: int


async def _language_model(settings: Settings) -> list[Finding]:
    """The configured language model adds two numbers and says so in JSON."""
    check = "language model"
    asked = [ChatMessage("user", 'Add 2 and 3. Answer in JSON: {"total": <the sum>}')]
    try:
        model = configured_language_model(settings, Metrics())
        if model is None:
            return []
        try:
            await model.structured(asked, _Sum, purpose="check")
        finally:
            await model.close()
    except ConfigurationError as error:
        return [Finding(check, "fail", "misconfigured", str(error))]
    except LanguageModelUnavailable as error:
        return [Finding(check, "fail", str(error), LANGUAGE_MODEL_ADVICE.get(error.status, LANGUAGE_MODEL_DOWN))]
    except LanguageModelNonsense as error:
        advice = "Raise LLM_MAX_TOKENS if the model thinks aloud; otherwise choose a model that follows instructions."
        return [Finding(check, "warn", str(error), advice)]
    return [Finding(check, "ok", f"{model.name}, asked for JSON by {model.dialect.output}")]


async def _reranker(settings: Settings) -> list[Finding]:
    """The configured reranker reads a pair, once to load and once against the clock."""
    try:
        reranker = bare_reranker(settings)
        if reranker is None:
            return []
        try:
            async with asyncio.timeout(RERANK_SECONDS):
                await reranker.scores("doctor 你好", ["hello", "你好"])
                started = clock.monotonic()
                await reranker.scores("doctor 你好", ["hello 你好 " * 20] * settings.rerank_candidates)
        finally:
            await reranker.close()
    except ConfigurationError as error:
        return [Finding("reranker", "fail", "misconfigured", str(error))]
    except TimeoutError:
        return [Finding("reranker", "fail", f"no answer in {RERANK_SECONDS:g} s", RERANKER_DOWN)]
    except RerankUnavailable as error:
        return [Finding("reranker", "fail", str(error), RERANKER_DOWN)]
    seconds = clock.monotonic() - started
    found = f"{reranker.name}, {settings.rerank_candidates} texts in {seconds:.2f} s"
    if seconds > settings.rerank_deadline_seconds:
        advice = "Searches will go without it: raise RERANK_DEADLINE_SECONDS, or lower RERANK_CANDIDATES."
        return [Finding("reranker", "warn", found, advice)]
    return [Finding("reranker", "ok", found)]


async def _indexes(catalog: Catalog, models: list[dict[str, Any]]) -> Finding:
    found = {index.name: index for index in await catalog.indexes()}
    building = [index.name for index in found.values() if index.building]
    invalid = [index.name for index in found.values() if not index.valid and not index.building]
    wanted = {
        f"hnsw_{table}_{model['id']}"
        for model in models
        if model["status"] in {"active", "standby"}
        for table in ("memory_vectors", "message_vectors")
    }
    if invalid:
        return Finding(
            "vector indexes", "fail", f"invalid: {', '.join(invalid)}", "Run 'mnemic migrate': it mends them."
        )
    if missing := sorted(wanted - set(found)):
        return Finding(
            "vector indexes", "fail", f"missing: {', '.join(missing)}", "Run 'mnemic migrate': it makes them."
        )
    if building:
        return Finding("vector indexes", "warn", f"being built: {', '.join(building)}", "Wait; searches are slower.")
    return Finding("vector indexes", "ok", f"{len(found)} valid")


async def _queue(catalog: Catalog) -> list[Finding]:
    waiting, dead = await catalog.oldest_due_seconds(), await catalog.dead_jobs()
    late = Finding("queue", "ok", f"oldest due job waits {waiting:.0f} s")
    if waiting > BEHIND_SECONDS:
        late = Finding("queue", "warn", late.found, "Is a worker running ('mnemic worker')? If so, add another one.")
    if dead:
        advice = "GET /v1/jobs?state=dead says why; POST /v1/jobs/{id}/retry runs one again."
        return [late, Finding("dead letters", "warn", f"{dead} jobs", advice)]
    return [late, Finding("dead letters", "ok", "none")]


def _named(error: BaseException) -> str:
    """The kind of the failure: what drivers say may quote the DSN."""
    return f"not reachable ({type(error).__name__})"


def _advice(error: BaseException) -> str:
    return next((advice for kind, advice in UNREACHABLE if isinstance(error, kind)), "See the server's log.")
