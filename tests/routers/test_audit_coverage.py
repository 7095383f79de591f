"""Every route that writes leaves a line in the audit log: by where lines are written, and by trying."""

import ast
import inspect
from pathlib import Path

from fastapi.routing import APIRoute

from app import uow
from app.main import create_app
from app.routers.requests import StrictRoute
from app.settings import Settings
from tests.conftest import Tenant
from tests.routers.calls import every
from tests.routers.test_erasure import Planting, plant

APP = Path(__file__).parents[2] / "app"

CHANGE_NOTHING = {"delete_memories", "search_memories", "make_context", "prefetch_context", "fold_summary"}
"""They read, prepare what is made anew at any time, or find nothing to delete here."""


async def test_every_route_that_was_written_through_has_left_a_line(learning_tenant: Tenant) -> None:
    api = await learning_tenant.client()
    planting = Planting()
    await plant(api, planting)
    told = {line["action"] for line in await every(api, "/v1/admin/audit", limit=200)}
    assert planting.operations - told == CHANGE_NOTHING & planting.operations


def test_transactions_are_opened_in_one_place_and_each_tells_what_it_changed() -> None:
    opening = {
        str(path.relative_to(APP))
        for path in APP.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "transaction" and "database" in ast.unparse(node)
    }
    assert opening == {"uow.py", "db/replica.py"}, "a replica's stand within those of uow.begin, which tells of them"
    for begin in (uow.UnitOfWork.begin, uow.UnitOfWork.begin_tenant, uow.UnitOfWork.begin_global):
        assert "await note(" in inspect.getsource(inspect.unwrap(begin))


def test_the_log_is_written_in_one_place() -> None:
    writers = {str(path.relative_to(APP)) for path in APP.rglob("*.py") if "line_script(" in path.read_text("utf-8")}
    assert writers == {"repositories/audit.py", "repositories/noting.py"}


def test_every_route_under_v1_says_which_call_it_is() -> None:
    routes = [route for route in create_app(Settings(_env_file=None)).routes if isinstance(route, APIRoute)]
    loose = {route.path for route in routes if route.path.startswith("/v1") and not isinstance(route, StrictRoute)}
    assert loose == set()
