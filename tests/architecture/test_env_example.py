"""`.env.example` says of every setting what it is and what it is by default, and of nothing else."""

import re
from pathlib import Path

import pytest
from pydantic.fields import FieldInfo

from app.settings import Settings

FILE = Path(__file__).parents[2] / ".env.example"
COMPOSE_ONLY = {"POSTGRES_PASSWORD", "MNEMIC_MIGRATOR_PASSWORD", "MNEMIC_APP_PASSWORD"}


def entries() -> dict[str, tuple[str, str]]:
    """Each name's value and the comment above it."""
    found: dict[str, tuple[str, str]] = {}
    comment = ""
    for line in FILE.read_text("utf-8").splitlines():
        if line.startswith("#"):
            comment = line.removeprefix("#").strip()
        elif line:
            name, _, value = line.partition("=")
            assert name not in found, f"{name} stands there twice"
            found[name] = (value, comment)
    return found


def as_written(default: object) -> str:
    if default is None:
        return ""
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, tuple | list):
        return ",".join(map(str, default))
    return str(default)


@pytest.mark.parametrize(("name", "field"), sorted(Settings.model_fields.items()))
def test_setting_stands_in_the_example_with_default_and_meaning(name: str, field: FieldInfo) -> None:
    wanted = (as_written(field.get_default(call_default_factory=True)), field.description or "")
    assert wanted[1], f"{name} has no description"
    advice = f"write into .env.example:\n\n# {wanted[1]}\n{name.upper()}={wanted[0]}\n"
    assert entries().get(name.upper()) == wanted, advice


def test_example_names_nothing_that_is_no_setting() -> None:
    assert set(entries()) - {name.upper() for name in Settings.model_fields} == COMPOSE_ONLY


def test_example_read_as_it_stands_gives_the_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    assert Settings(_env_file=FILE) == Settings(_env_file=None)


def test_compose_file_asks_for_nothing_that_the_example_does_not_name() -> None:
    compose = (FILE.parent / "docker-compose.yml").read_text("utf-8")
    assert set(re.findall(r"\$\{([A-Z_]+)", compose)) <= set(entries())
