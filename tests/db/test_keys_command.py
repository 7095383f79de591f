"""`mnemic keys`, on the tests' own database."""

import json

import pytest

from app import cli
from app.settings import Settings


class Command:
    """The command with what it prints and how it ends."""

    def __init__(
        self, settings: Settings, monkeypatch: pytest.MonkeyPatch, captured: pytest.CaptureFixture[str]
    ) -> None:
        self._monkeypatch, self._captured = monkeypatch, captured
        monkeypatch.setattr(cli, "get_settings", lambda: settings)
        monkeypatch.setattr("app.cli.logging.configure", lambda *_, **__: None)
        monkeypatch.setattr(cli.out, "width", 300)

    def run(self, *arguments: str) -> tuple[int, str, str]:
        """Exit code, stdout and stderr."""
        self._monkeypatch.setattr("sys.argv", ["mnemic", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = self._captured.readouterr()
        assert ended.value.code is None or isinstance(ended.value.code, int)
        return ended.value.code or 0, out, err


@pytest.fixture
def command(settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(settings, monkeypatch, capsys)


@pytest.mark.parametrize("name", ["x[/nope]y", "[bold]loud[/bold]", "a [link=x", "\\[x]", ":smile:", "钥匙［］"])
def test_key_of_any_name_is_listed_as_it_is_called(command: Command, name: str) -> None:
    code, out, _ = command.run("keys", "create", name, "--user", f"u{name}")
    assert code == 0
    made = json.loads(out)["id"]
    code, out, err = command.run("keys", "list")
    assert (code, err) == (0, "")
    (line,) = [line for line in out.splitlines() if made in line]
    assert f" {name} " in line
    assert f" u{name} " in line


@pytest.mark.parametrize("width", [30, 80, 140])
@pytest.mark.parametrize("name", ["the agent of the travel desk", "旅行社的智能代理"])
def test_ids_of_keys_are_whole_however_narrow_the_terminal_is(
    command: Command, monkeypatch: pytest.MonkeyPatch, name: str, width: int
) -> None:
    made = json.loads(command.run("keys", "create", name, "--user", "ada")[1])
    monkeypatch.setattr(cli.out, "width", width)
    code, out, _ = command.run("keys", "list")
    words = out.split()
    assert code == 0
    assert made["id"] in words
    assert all(len(word) == 36 for word in words if word.count("-") == 4 and ":" not in word)
    assert made["key"][:10] in words
    assert command.run("keys", "revoke", made["id"])[0] == 0


def test_control_characters_in_a_key_name_do_not_reach_the_terminal(command: Command) -> None:
    assert command.run("keys", "create", "a\x1b[2Jb\nc")[0] == 0
    code, out, _ = command.run("keys", "list")
    assert code == 0
    assert "\x1b" not in out
    assert "a\N{REPLACEMENT CHARACTER}[2Jb\N{REPLACEMENT CHARACTER}c" in out


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("",), "the name"),
        (("x" * 5000,), "the name"),
        (("a\udc80",), "the name"),
        (("x", "--user", ""), "--user"),
        (("x", "--user", "ada", "--user", "\x01"), "--user"),
        (("x", "--user", "."), "--user"),
        (("x", "--tenant", ""), "--tenant"),
        (("x", "--tenant", "t" * 256), "--tenant"),
        (("x", "--tenant", ".."), "--tenant"),
        (("x", "--role", "god"), "--role"),
        (("x", "--days", "2918000"), "--days"),
        (("x", "--days", "4000000"), "--days"),
        (("x", "--days", "99999999999999"), "--days"),
    ],
)
def test_key_that_the_api_would_refuse_is_refused_in_one_line(
    command: Command, arguments: tuple[str, ...], what: str
) -> None:
    code, out, err = command.run("keys", "create", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert err.startswith(f"mnemic: The key cannot be made, {what}: ")
