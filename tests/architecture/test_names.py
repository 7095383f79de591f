"""The habits that a linter does not know: read from the source, without a database, in a moment."""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
APP = sorted((ROOT / "app").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))

BANNED = re.compile(r"(util|helper|manager|engine|common|misc)s?")
LONGEST_FILE = 400
LONGEST_ROUTE = 12
METHODS = {"get", "post", "put", "patch", "delete", "head", "options", "api_route"}

ALLOWED_NAMES = {"app/db/engine.py"}  # SQLAlchemy's own word for the pool
ALLOWED_ENVIRONMENT = {"app/settings.py"}
ALLOWED_TIME = {"app/core/clock.py"}
ALLOWED_SERVER_TIME = {
    "app/db/catalog.py",  # the doctor looks how far the server's clock is from ours
    "app/repositories/access.py",  # how long the dispatcher's jobs are due, by the clock that made them due
}

SERVER_TIME = re.compile(
    r"\b(now|clock_timestamp|statement_timestamp|transaction_timestamp|timeofday)\s*\(\s*\)"
    r"|\b(current_timestamp|localtimestamp|current_date|current_time)\b",
    re.IGNORECASE,
)


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


TREES = {name(path): parsed(path) for path in APP}


def offenders(find: Callable[[ast.AST], bool], allowed: set[str]) -> list[str]:
    """`file:line` of every node that `find` names outside of the allowed files."""
    return [
        f"{file}:{getattr(node, 'lineno', 0)}"
        for file, tree in TREES.items()
        if file not in allowed
        for node in ast.walk(tree)
        if find(node)
    ]


def test_no_module_or_folder_has_a_name_that_hides_a_design() -> None:
    places = {part for path in APP for part in (path, *path.relative_to(ROOT).parents)}
    hiding = {str(place) for place in places if BANNED.fullmatch(place.stem) and place.name != "."}
    assert {name(ROOT / place) for place in hiding} == ALLOWED_NAMES


def test_no_class_has_a_name_that_hides_a_design() -> None:
    def hides(node: ast.AST) -> bool:
        return (
            isinstance(node, ast.ClassDef) and re.search(r"(Util|Helper|Manager|Engine|Misc)s?$", node.name) is not None
        )

    assert offenders(hides, set()) == []


def test_no_file_is_longer_than_a_sitting() -> None:
    lengths = {name(path): len(path.read_text("utf-8").splitlines()) for path in APP}
    assert {file: length for file, length in lengths.items() if length > LONGEST_FILE} == {}


def routes(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and any(map(is_route, node.decorator_list)):
            yield node


def is_route(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(called, ast.Attribute) and called.attr in METHODS


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of the body without its docstring."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return 0 if not body else (body[-1].end_lineno or 0) - body[0].lineno + 1


def test_a_route_only_names_a_use_case() -> None:
    found = {
        f"{file}:{route.name}": body_lines(route)
        for file, tree in TREES.items()
        if file.startswith("app/routers/")
        for route in routes(tree)
    }
    assert found, "no routes were seen: has their form changed?"
    assert {route: lines for route, lines in found.items() if lines > LONGEST_ROUTE} == {}


def test_the_time_comes_from_one_place() -> None:
    def reads_clock(node: ast.AST) -> bool:
        if not isinstance(node, ast.Attribute):
            return False
        owner = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
        return (owner, node.attr) in {
            *(("datetime", word) for word in ("now", "utcnow", "today")),
            ("date", "today"),
            *(("time", word) for word in ("time", "time_ns", "monotonic", "localtime", "gmtime")),
        }

    assert offenders(reads_clock, ALLOWED_TIME) == []


def test_the_environment_is_read_in_one_place() -> None:
    def reads_environment(node: ast.AST) -> bool:
        if isinstance(node, ast.ImportFrom) and node.module == "os":
            return any(alias.name in {"environ", "getenv", "putenv"} for alias in node.names)
        return isinstance(node, ast.Attribute) and node.attr in {"environ", "getenv", "putenv"}

    assert offenders(reads_environment, ALLOWED_ENVIRONMENT) == []


def docstrings(tree: ast.Module) -> set[int]:
    """Ids of the nodes that are a docstring or a remark below a name."""
    return {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}


def asks_for_server_time(tree: ast.Module) -> bool:
    remarks = docstrings(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in remarks:
            asked = SERVER_TIME.search(node.value)
        elif isinstance(node, ast.Attribute) and getattr(node.value, "id", None) == "func":
            asked = SERVER_TIME.fullmatch(node.attr) or SERVER_TIME.fullmatch(f"{node.attr}()")
        else:
            continue
        if asked:
            return True
    return False


def test_no_statement_asks_the_server_for_the_time() -> None:
    assert {file for file, tree in TREES.items() if asks_for_server_time(tree)} == ALLOWED_SERVER_TIME


def test_sql_is_written_in_repositories_and_below() -> None:
    """import-linter sees who imports SQLAlchemy; this sees SQL that goes past it."""
    verbs = re.compile(r"^\s*(SELECT\s|INSERT\s+INTO\s|UPDATE\s+\w+\s+SET\s|DELETE\s+FROM\s|WITH\s+\w+\s+AS\s)")

    def is_sql(node: ast.AST) -> bool:
        return isinstance(node, ast.Constant) and isinstance(node.value, str) and verbs.match(node.value) is not None

    below = {file for file in TREES if file.startswith(("app/repositories/", "app/db/"))}
    assert offenders(is_sql, below) == []


def test_every_function_in_a_test_module_that_asserts_is_collected() -> None:
    """A typo in a test's name would take it out of the run without a word."""
    odd = re.compile(r"_?tests?(?!_)|_test_|Test")
    lost = [
        f"{name(path)}:{node.lineno} {node.name}"
        for path in TESTS
        if path.name.startswith("test_")
        for node in parsed(path).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and odd.match(node.name)
    ]
    assert lost == []


def test_no_test_module_repeats_a_test_name() -> None:
    """The second of two equal names hides the first."""
    repeated = []
    for path in TESTS:
        names = [node.name for node in parsed(path).body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        repeated += [f"{name(path)}: {one}" for one in set(names) if names.count(one) > 1]
    assert repeated == []
