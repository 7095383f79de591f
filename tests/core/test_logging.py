"""What a log line may say."""

import json
import logging
from collections.abc import Iterator

import pytest
import structlog
from pydantic import BaseModel

from app.core.errors import ConfigurationError, Unavailable
from app.core.logging import configure

PLANTED = "我住在槟榔屿 planted"


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, levels = root.handlers[:], (root.level, logging.getLogger("app").level)
    yield
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(levels[0])
    logging.getLogger("app").setLevel(levels[1])


class Counted(BaseModel):
    count: int


class DatabaseError(Exception):
    sqlstate = "23505"
    constraint_name = "uq_memories_hash"


def by_pydantic() -> None:
    Counted.model_validate({"count": PLANTED})


def by_key() -> None:
    {}[PLANTED]  # type: ignore[index]


def by_chain() -> None:
    try:
        by_key()
    except KeyError as error:
        raise RuntimeError(PLANTED) from error


def by_group() -> None:
    raise ExceptionGroup(PLANTED, [ValueError(PLANTED), DatabaseError(f"DETAIL: Key (text)=({PLANTED})")])


@pytest.mark.parametrize("as_json", [True, False])
@pytest.mark.parametrize("failing", [by_pydantic, by_key, by_chain, by_group])
@pytest.mark.parametrize("logger", ["ours", "theirs"])
def test_error_is_told_without_the_value_it_chokes_on(
    capsys: pytest.CaptureFixture[str], as_json: bool, failing: object, logger: str
) -> None:
    configure("debug", as_json=as_json)
    try:
        failing()  # type: ignore[operator]
    except Exception:
        if logger == "ours":
            structlog.get_logger("app.test").exception("job_failed", job_id=7)
        else:
            logging.getLogger("uvicorn.error").exception("Exception in ASGI application")
    told = capsys.readouterr().err
    assert "planted" not in told
    assert "槟榔" not in told
    assert "槟榔" not in told.encode().decode("unicode_escape", "replace")
    assert failing.__name__ in told  # type: ignore[attr-defined]
    assert "Error" in told


def test_facts_of_a_database_error_and_our_own_sentences_stay(capsys: pytest.CaptureFixture[str]) -> None:
    configure("info", as_json=True)
    log = structlog.get_logger("app.test")
    for error in (DatabaseError(PLANTED), Unavailable("The database is away."), ConfigurationError("Set a DSN.")):
        log.error("failed", exc_info=error)
    lines = [json.loads(line)["exception"] for line in capsys.readouterr().err.splitlines()]
    assert "DatabaseError (sqlstate=23505, constraint_name=uq_memories_hash)" in lines[0]
    assert "The database is away." in lines[1]
    assert "Set a DSN." in lines[2]


def test_libraries_are_not_asked_for_details(capsys: pytest.CaptureFixture[str]) -> None:
    configure("debug", as_json=True)
    for library in ("httpx", "httpcore", "asyncio", "pgqueuer", "uvicorn.access", "sqlalchemy.engine", "anything"):
        logging.getLogger(library).info("sent %s", PLANTED)
        logging.getLogger(library).debug("sent %s", PLANTED)
    structlog.get_logger("app.test").debug("ours", count=1)
    told = capsys.readouterr().err
    assert "planted" not in told
    assert '"event": "ours"' in told


def test_level_holds_for_our_own_lines(capsys: pytest.CaptureFixture[str]) -> None:
    configure("error", as_json=True)
    structlog.get_logger("app.test").warning("quiet")
    logging.getLogger("library").warning("quiet")
    structlog.get_logger("app.test").error("loud")
    assert [json.loads(line)["event"] for line in capsys.readouterr().err.splitlines()] == ["loud"]
