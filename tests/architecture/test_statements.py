"""Every statement of every repository, EXPLAINed as the app role under a tenant's policy, at realistic size.

Under row-level security only leakproof operators become index conditions: an index that serves its owner may not serve
the app role. So each statement is planned as the service runs it, with the values it is called with and, as a prepared
statement may be after some calls, without knowing them.
"""

import importlib
import inspect
import json
import pkgutil
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncConnection

from app import repositories
from app.db.base import GLOBAL_TABLES, metadata
from app.db.dsn import parse_dsn
from app.db.embedded.bootstrap import finished
from app.db.embedded.server import EmbeddedServer
from app.db.engine import create_engine
from app.db.scoped import Database
from app.repositories.prepared import Prepared
from tests.architecture.calls import CALLS, bound
from tests.architecture.corpus import LEAST_ROWS, MODEL, TENANT, build
from tests.databases import Place, drop_database, fetch

pytestmark = pytest.mark.timeout(300)  # the corpus takes half a minute, and more on a busy machine

MOST_ROWS = 2_500
"""Rows of one table that a call may visit. A user has a hundred memories; the whole tenant has 16,000."""

FANS_OUT = {
    # Counting all of a tenant is asked for by name, by an admin.
    "MemoryRepository.count (of all)",
    "SessionRepository.count (of all)",
    "UserRepository.count (all)",
    "KeyRepository.count (all)",
    "JobRepository.tally (all)",
    "ProcedureRepository.count (of all)",
    "LessonRepository.count (of all)",
    "StatsRepository.counts (all)",
    "QuotaRepository.held (all)",
    "ReembeddingRepository.total (all)",
    "StatsRepository.memories_by_status (all)",
    "StatsRepository.jobs_by_state (all)",
    "HealthRepository.counts (of a tenant)",
    # A bulk delete that names no user looks whose rows it is about to lock.
    "MemoryRepository.owners_of (of all)",
    # Messages of everybody, newest first: sorted.
    "SearchRepository.latest (whole tenant)",
    # The statistics of a search over a whole tenant: one row an owner.
    "OwnerRepository.size (all)",
    # A further page of everybody's procedures: merged with the memories that are their cards, of which one in five is.
    "ProcedureRepository.page (next)",
    # A search over 8,000 rows, or over all: BM25 visits every posting of the question's words.
    "SearchRepository.memories (large owner)",
    "SearchRepository.memories (whole tenant)",
    "SearchRepository.messages (large owner)",
    "SearchRepository.messages (whole tenant)",
}

SCANS = {
    # Half of the table is what was asked for.
    "MemoryRepository.count (of all)",
    "SessionRepository.count (of all)",
    "UserRepository.count (all)",
    "KeyRepository.count (all)",
    "ProcedureRepository.count (of all)",
    "LessonRepository.count (of all)",
    "StatsRepository.counts (all)",
    "QuotaRepository.held (all)",
    "ReembeddingRepository.total (all)",
    "StatsRepository.memories_by_status (all)",
    "StatsRepository.jobs_by_state (all)",
    "HealthRepository.counts (of a tenant)",
    "OwnerRepository.size (all)",
    "MemoryRepository.owners_of (of all)",
    "SearchRepository.latest (whole tenant)",
    # The words of these questions are in a quarter of the rows and more.
    "SearchRepository.memories (large owner)",
    "SearchRepository.memories (whole tenant)",
    "SearchRepository.messages (large owner)",
    "SearchRepository.messages (whole tenant)",
    # Asked once, before a model is registered.
    "ModelRepository.has_vectors ()",
}

PLANNED_ONCE = {"SearchRepository.memories", "SearchRepository.messages"}
"""Methods that run in transactions whose statements are planned once, for any values."""

FINDS_NOTHING = {
    "JobRepository.forget_dispatch_log (some)",  # the dispatcher's log is empty
    "BlockRepository.get (of nobody)",
    "AccessRepository.unbind ()",  # no key is bound
    "RateRepository.forget_full ()",  # no bucket is kept
    "SealedRepository.reseal (changed meanwhile)",
}

AS_MIGRATOR = {
    # Registering a model is the migrator's: it sees the vectors of every tenant, and asks whether there are any.
    "ModelRepository.active_for_update ()",
    "ModelRepository.has_vectors ()",
}


@dataclass
class Seen:
    """A statement, its plan with the values of the call (executed and undone) and its plan without."""

    call: str
    statement: str
    plan: dict[str, Any]
    generic: dict[str, Any]


@dataclass
class Watch:
    """What one engine sends while a call runs."""

    call: str = ""
    active: bool = False
    seen: list[Seen] = field(default_factory=list)

    def explain(
        self, connection: Any, _cursor: Any, statement: str, parameters: Any, _context: Any, _many: bool
    ) -> None:
        if not self.active or statement.startswith(("SET LOCAL ", "LOCK TABLE ")):
            return
        self.active = False
        try:
            cursor = connection.connection.dbapi_connection.cursor()
            cursor.execute("SAVEPOINT explained")
            cursor.execute(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {statement}", parameters)
            plan = plan_of(cursor.fetchone()[0])
            cursor.execute("ROLLBACK TO SAVEPOINT explained")
            generic = self._generic(connection, statement, len(parameters))
            self.seen.append(Seen(self.call, statement, plan, generic))
        finally:
            self.active = True

    @staticmethod
    def _generic(connection: Any, statement: str, count: int) -> dict[str, Any]:
        async def run(driver: Any) -> Any:
            await driver.execute("SET LOCAL plan_cache_mode = force_generic_plan")
            await driver.execute(f"PREPARE explained AS {statement}")
            given = f"({', '.join(['NULL'] * count)})" if count else ""
            found = await driver.fetchval(f"EXPLAIN (FORMAT JSON) EXECUTE explained{given}")
            await driver.execute("DEALLOCATE explained; RESET plan_cache_mode")
            return found

        return plan_of(connection.connection.dbapi_connection.run_async(run))


def plan_of(explained: Any) -> dict[str, Any]:
    """The plan in what EXPLAIN answers, decoded or not."""
    given = json.loads(explained) if isinstance(explained, str | bytes) else explained
    return dict(given[0]["Plan"])


@pytest.fixture(scope="module")
def place(server: EmbeddedServer) -> Iterator[Place]:
    """The corpus."""
    made = build(server)
    yield made
    finished(drop_database(server, made))


async def through_sqlalchemy(prepared: Prepared, connection: AsyncConnection, arguments: list[Any]) -> list[Any]:
    """Sends what else goes to the driver directly, so that it is seen."""
    sent = await connection.exec_driver_sql(prepared.text, tuple(arguments))
    return list(sent.mappings().all())


@pytest.fixture(scope="module")
async def seen(place: Place) -> AsyncIterator[list[Seen]]:
    """Every statement of every call; each call is undone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Prepared, "fetch", through_sqlalchemy)
        async for statements in explained(place):
            yield statements


async def explained(place: Place) -> AsyncIterator[list[Seen]]:
    watch = Watch()
    engines = {}
    for role, dsn in (("app", place.app_dsn), ("migrator", place.migrator_dsn)):
        engines[role] = create_engine(parse_dsn(dsn), pool_size=1, pool_timeout=5, connect_timeout=5)
        event.listen(engines[role].sync_engine, "before_cursor_execute", watch.explain)
    for call in CALLS:
        store = Database(engines["app"])
        if call.name in AS_MIGRATOR:
            store = Database(engines["migrator"])
            store.check.passed = True
        watch.call = call.name
        try:
            async with store.transaction(TENANT, planned_once=call.method in PLANNED_ONCE) as connection:
                watch.active = True
                await call.run(bound(connection, call))
                raise Undone  # noqa: TRY301 - so that every call meets the same corpus
        except Undone:
            pass
        finally:
            watch.active = False
    yield watch.seen
    for engine in engines.values():
        await engine.dispose()


class Undone(Exception):  # noqa: N818 - the way out of a transaction that is to leave nothing
    """Rolls a call back."""


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", []):
        yield from nodes(child)


TENANT_TABLES = set(metadata.tables) - GLOBAL_TABLES


def scanned(plan: dict[str, Any]) -> set[str]:
    """Tenants' tables that are read from end to end."""
    return {
        node["Relation Name"]
        for node in nodes(plan)
        if node["Node Type"] == "Seq Scan" and node["Relation Name"] in TENANT_TABLES
    }


def index_without_condition(plan: dict[str, Any]) -> set[str]:
    """Indexes that are walked without a bound on the tenant (HNSW has an order instead)."""
    return {
        node["Index Name"]
        for node in nodes(plan)
        if "Index Name" in node
        and "tenant_id" not in node.get("Index Cond", "")
        and "Order By" not in node
        and node.get("Relation Name", "memories") in TENANT_TABLES
    }


def visited(plan: dict[str, Any]) -> dict[str, float]:
    """Rows that were looked at, by table."""
    rows: dict[str, float] = defaultdict(float)
    for node in nodes(plan):
        table = node.get("Relation Name")
        if table in TENANT_TABLES and "Scan" in node["Node Type"]:
            removed = sum(node.get(f"Rows Removed by {cause}", 0) for cause in ("Filter", "Index Recheck"))
            rows[table] += (node["Actual Rows"] + removed) * node["Actual Loops"]
    return dict(rows)


def shown(found: dict[str, Any]) -> str:
    return "\n".join(f"{call}: {what}" for call, what in sorted(found.items()))


def test_every_public_method_of_every_repository_is_called_here() -> None:
    known = {
        f"{name}.{method}"
        for module in pkgutil.iter_modules(repositories.__path__)
        for name, cls in vars(importlib.import_module(f"app.repositories.{module.name}")).items()
        if inspect.isclass(cls) and name.endswith("Repository") and name != "Repository"
        for method, function in vars(cls).items()
        if inspect.iscoroutinefunction(function) and not method.startswith("_")
    }
    assert known - {call.method for call in CALLS} == set(), "add these to tests/architecture/calls.py"
    assert {call.method for call in CALLS} - known == set(), "these are no more: remove them from calls.py"
    assert len({call.name for call in CALLS}) == len(CALLS)


async def test_every_table_that_is_asked_is_large_enough_to_make_the_planner_choose(
    place: Place, seen: list[Seen]
) -> None:
    asked = {node["Relation Name"] for one in seen for node in nodes(one.generic) if "Relation Name" in node}
    rows = await fetch(place.superuser_dsn, "SELECT relname, reltuples FROM pg_class WHERE relkind = 'r'")
    sizes = {row["relname"]: row["reltuples"] for row in rows}
    assert {table: sizes[table] for table in asked & TENANT_TABLES if sizes[table] < LEAST_ROWS} == {}


def test_every_call_finds_what_its_case_says(seen: list[Seen]) -> None:
    """A call that finds nothing proves nothing: each reads, or writes, a row at least somewhere."""
    rows: dict[str, float] = defaultdict(float)
    for one in seen:
        rows[one.call] += sum(node["Actual Rows"] for node in nodes(one.plan))
    assert sorted(call for call, number in rows.items() if number == 0 and call not in FINDS_NOTHING) == []


def test_no_statement_reads_a_tenants_table_from_end_to_end(seen: list[Seen]) -> None:
    found = {one.call: (scanned(one.plan), one.statement) for one in seen if scanned(one.plan)}
    assert not set(found) - SCANS, shown({call: found[call] for call in set(found) - SCANS})


def chosen_without_values(one: Seen) -> bool:
    """Whether PostgreSQL would take the generic plan: it costs less than planning anew and what comes of that."""
    relations = sum("Relation Name" in node for node in nodes(one.plan))
    planning = 2.5 * (relations + 1)  # choose_custom_plan() in plancache.c: 1000 * cpu_operator_cost for each
    return bool(one.generic["Total Cost"] < one.plan["Total Cost"] + planning)


def test_no_statement_would_do_so_as_a_prepared_one(seen: list[Seen]) -> None:
    found = {
        one.call: (scanned(one.generic), one.statement)
        for one in seen
        if scanned(one.generic) and (chosen_without_values(one) or one.call.partition(" ")[0] in PLANNED_ONCE)
    }
    assert not set(found) - SCANS, shown({call: found[call] for call in set(found) - SCANS})


def test_every_index_is_entered_by_the_tenant(seen: list[Seen]) -> None:
    found = {
        one.call: index_without_condition(plan)
        for one in seen
        for plan in (one.plan, one.generic)
        if index_without_condition(plan) and one.call not in AS_MIGRATOR
    }
    assert not found, shown(found)


def test_no_call_visits_more_rows_than_it_is_about(seen: list[Seen]) -> None:
    found: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for one in seen:
        for table, rows in visited(one.plan).items():
            found[one.call][table] += rows
    fans = {call: dict(rows) for call, rows in found.items() if max(rows.values()) > MOST_ROWS}
    assert not set(fans) - FANS_OUT, shown({call: fans[call] for call in set(fans) - FANS_OUT})


def test_the_list_of_exceptions_names_only_what_is_one(seen: list[Seen]) -> None:
    calls = {one.call for one in seen}
    assert (FANS_OUT | SCANS | AS_MIGRATOR | FINDS_NOTHING) - calls == set()


def test_a_large_search_uses_its_models_own_index_even_when_its_values_are_unknown(seen: list[Seen]) -> None:
    """The model id stands in the statement: as a parameter it would keep a generic plan from the partial index."""
    for corpus in ("memories", "messages"):
        (one,) = [
            one for one in seen if one.call == f"SearchRepository.{corpus} (whole tenant)" and "<=>" in one.statement
        ]
        for plan in (one.plan, one.generic):
            used = {node["Index Name"] for node in nodes(plan) if "Order By" in node}
            assert used == {f"hnsw_{'memory' if corpus == 'memories' else 'message'}_vectors_{MODEL.id}"}


def test_a_small_search_compares_every_vector(seen: list[Seen]) -> None:
    small = [one for one in seen if "(small owner" in one.call and "<=>" in one.statement]
    assert small
    for one in small:
        for plan in (one.plan, one.generic):
            assert not any(str(node.get("Index Name", "")).startswith("hnsw_") for node in nodes(plan)), one.call
