"""The operator's commands against one database, beside which an API serves in a process of its own."""

import io
import json
import re
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from pydantic import SecretStr

from app import cli, cli_models
from app.composition import services as composed
from app.core.sealing import SealingKey
from app.db.embedded.bootstrap import finished
from app.db.embedded.server import EmbeddedServer
from app.providers.embeddings.use import UseModel
from app.settings import Settings
from tests.databases import run_sql

TEXTS = ("艾达住在杭州。", "Ada plays the cello.")


@dataclass
class Ended:
    """How a command ended, and what it said."""

    returncode: int
    stdout: str
    stderr: str


@dataclass
class Operator:
    """Who calls commands: with the settings of the service."""

    settings: Settings
    url: str
    key_file: Path
    superuser_dsn: str

    def run(self, *arguments: str, **changes: Any) -> Ended:
        """The command's own entry, in this process: to start Python anew costs seconds each time."""
        said, complained = io.StringIO(), io.StringIO()
        settings = self.settings.model_copy(update=changes)
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(said), redirect_stderr(complained):
            patch.setattr("sys.argv", ["mnemic", *arguments])
            patch.setattr(cli, "get_settings", lambda: settings)
            patch.setattr("app.settings.get_settings", lambda: settings)
            patch.setattr("app.cli.logging.configure", lambda *_, **__: None)
            patch.setattr(cli.out, "width", 300)
            patch.setattr(cli_models.out, "width", 300)
            with pytest.raises(SystemExit) as ended:
                cli.main()
        code = ended.value.code
        assert code is None or isinstance(code, int)
        return Ended(code or 0, said.getvalue(), complained.getvalue())

    def done(self, *arguments: str) -> str:
        """What a command prints that succeeds."""
        ended = self.run(*arguments)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    def refused(self, *arguments: str, code: int = 2) -> str:
        """What a command complains of that cannot be done."""
        ended = self.run(*arguments)
        assert ended.returncode == code, (ended.stdout, ended.stderr)
        return ended.stderr

    def chain(self, tenant: str) -> None:
        """What a running worker does every second."""

        async def work() -> None:
            async with composed(self.settings) as services:
                await services.audit.seal(await services.access.known_tenant(tenant))

        finished(work())

    def api(self, tenant: str) -> httpx.Client:
        """A client of a tenant, with a key that a command has made."""
        made = json.loads(self.done("keys", "create", "desk", "--role", "admin", "--tenant", tenant))
        headers = {"Authorization": f"Bearer {made['key']}"}
        return httpx.Client(base_url=self.url, headers=headers, trust_env=False)


@pytest.fixture(scope="module")
def operator(
    live: str, settings: Settings, server: EmbeddedServer, tmp_path_factory: pytest.TempPathFactory
) -> Operator:
    key_file = tmp_path_factory.mktemp("sealing") / "sealing.key"
    key_file.write_text(SealingKey.fresh().written() + "\n", "utf-8")
    key_file.chmod(0o600)
    sealing = settings.model_copy(update={"sealing_key_file": key_file})
    return Operator(sealing, live, key_file, server.superuser_dsn)


def add(api: httpx.Client, text: str, **fields: Any) -> dict[str, Any]:
    answer = api.post("/v1/memories", json={"text": text, "user_id": "ada", **fields})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def test_a_key_is_made_listed_used_and_revoked(operator: Operator) -> None:
    made = json.loads(operator.done("keys", "create", "钥匙", "--tenant", "keys", "--user", "ada", "--days", "3"))
    with httpx.Client(base_url=operator.url, headers={"X-API-Key": made["key"]}, trust_env=False) as client:
        assert client.get("/v1/me").json()["user_ids"] == ["ada"]
        assert made["id"] in operator.done("keys", "list")
        assert made["key"] not in operator.done("keys", "list")
        assert operator.done("keys", "revoke", made["id"]).strip() == "Revoked."
    assert "revoked already" in operator.refused("keys", "revoke", made["id"])
    assert "id looks like" in operator.refused("keys", "revoke", "nonsense")
    assert "--role" in operator.refused("keys", "create", "x", "--role", "god")


def test_an_audit_log_is_verified_and_exported_and_a_tampered_one_ends_with_1(operator: Operator) -> None:
    with operator.api("audited") as api:
        for text in TEXTS:
            add(api, text)
    operator.chain("audited")
    log = json.loads(operator.done("audit", "verify", "--tenant", "audited"))
    assert (log["intact"], log["waiting"]) == (True, 0)
    assert log["checked"] >= len(TEXTS)
    lines = [json.loads(line) for line in operator.done("audit", "export", "--tenant", "audited").splitlines()]
    assert [line["position"] for line in lines] == list(range(1, log["checked"] + 1))
    assert not any(text in json.dumps(lines, ensure_ascii=False) for text in TEXTS)
    later = operator.done("audit", "export", "--tenant", "audited", "--after", "1").splitlines()
    assert [json.loads(line) for line in later] == lines[1:]
    kept = ("--position", str(log["head"]["position"]), "--hash", log["head"]["hash"])
    assert json.loads(operator.done("audit", "verify", "--tenant", "audited", *kept))["intact"]
    assert (
        operator.run("audit", "verify", "--tenant", "audited", "--position", "1", "--hash", "00" * 32).returncode == 1
    )
    finished(run_sql(operator.superuser_dsn, tampering("audited")))
    ended = operator.run("audit", "verify", "--tenant", "audited")
    assert ended.returncode == 1
    assert [one["position"] for one in json.loads(ended.stdout)["breaks"]][:1] == [1]


def tampering(tenant: str) -> str:
    """What somebody with the database in hand would do to the first line."""
    return (
        "UPDATE audit_log SET actor = 'key:somebody-else' WHERE position = 1 "
        f"AND tenant_id = (SELECT id FROM tenants WHERE name = '{tenant}')"
    )


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("audit", "verify", "--tenant", "nowhere"), 1, "no tenant nowhere"),
        (("audit", "export", "--tenant", "nowhere"), 1, "no tenant nowhere"),
        (("audit", "verify", "--position", "3"), 2, "belong together"),
        (("audit", "verify", "--position", "0", "--hash", "x"), 2, "--position"),
        (("audit", "export", "--after", "-1"), 2, "--after"),
        (("export", "/nowhere/file", "--tenant", "nowhere"), 1, "no tenant nowhere"),
        (("import", "/nowhere/file"), 2, "no file"),
        (("models", "activate", "unheard-of"), 2, "not registered"),
        (("models", "retire", "unheard-of"), 2, "not registered"),
        (("calibrate", "--model", "unheard-of"), 2, "not registered"),
        (("calibrate", "--reset", "--model", "unheard-of"), 1, "not registered"),
        (("seal", "turn"), 2, "turn"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(
    operator: Operator, arguments: tuple[str, ...], code: int, told: str
) -> None:
    assert told in operator.refused(*arguments, code=code)
    assert "nowhere" not in operator.done("keys", "list"), "asking makes no tenant"


def unopened(told: str) -> int:
    return int(re.search(r"No key opens: (\d+)", told)[1])  # type: ignore[index]


def test_sealing_keys_are_rotated_beside_the_running_service(operator: Operator) -> None:
    source = operator.key_file.with_name("sealed.ndjson")
    source.write_text("".join(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in TEXTS), "utf-8")
    operator.done("import", str(source), "--tenant", "open", "--user", "ada")
    plain, marked = source.with_name("plain.ndjson"), source.with_name("marked.ndjson")
    operator.done("export", str(plain), "--tenant", "open")
    written = plain.read_text("utf-8")
    sensitive = re.sub(r'"sensitive": ?false', '"sensitive": true', written)
    assert sensitive != written
    marked.write_text(sensitive, "utf-8")
    operator.done("import", str(marked), "--tenant", "sealing")
    before = operator.key_file.read_text("utf-8")
    strangers = unopened(operator.run("seal", "rotate", "--same-key").stdout)  # other tests' keys sealed those
    ended = operator.run("seal", "rotate")
    assert ended.returncode == int(strangers > 0)
    after = operator.key_file.read_text("utf-8")
    assert after.endswith(before)
    assert len(after.split()) == len(before.split()) + 1
    assert unopened(ended.stdout) == strangers
    assert f"Sealed anew: {len(TEXTS)}." in ended.stdout
    assert "Sealed anew: 0." in operator.run("seal", "rotate", "--same-key").stdout
    whole = operator.key_file.with_name("sealing-export.ndjson")
    operator.done("export", str(whole), "--tenant", "sealing")
    assert all(text in whole.read_text("utf-8") for text in TEXTS)
    assert whole.stat().st_mode & 0o777 == 0o600
    without = operator.run("seal", "rotate", "--same-key", sealing_key_file=None)
    assert (without.returncode, "no sealing key" in without.stderr) == (2, True)
    other = operator.run(
        "seal", "rotate", "--same-key", sealing_key_file=None, sealing_keys=SecretStr(SealingKey.fresh().written())
    )
    assert other.returncode == 1, "what no key opens is told by the exit code"


def test_an_export_is_imported_elsewhere_the_same(operator: Operator, tmp_path: Path) -> None:
    with operator.api("from") as api:
        made = [add(api, text, metadata={"n": n}) for n, text in enumerate(TEXTS)]
        api.post("/v1/sessions/s/messages", json={"role": "user", "content": TEXTS[0], "user_id": "ada"})
    file, again = tmp_path / "whole.ndjson", tmp_path / "again.ndjson"
    assert str(file) in operator.done("export", str(file), "--tenant", "from")
    assert "exists already" in operator.refused("export", str(file), "--tenant", "from")
    operator.done("import", str(file), "--tenant", "to")
    second = json.loads(operator.done("import", str(file), "--tenant", "to"))
    assert sum(second["stored"].values()) == 0, second
    operator.done("export", str(again), "--tenant", "to")
    assert again.read_text("utf-8") == file.read_text("utf-8")
    with operator.api("to") as api:
        assert {one["id"] for one in api.get("/v1/memories").json()["results"]} == {one["id"] for one in made}
    file.write_text("no JSON\n", "utf-8")
    assert "Line 1" in operator.refused("import", str(file), "--tenant", "to", code=1)


def test_models_are_listed(operator: Operator) -> None:
    told = operator.done("models", "list")
    assert "active" in told


def calibration_of(operator: Operator, name: str) -> dict[str, Any]:
    """The one in use, as the API tells it that serves beside the commands."""
    with operator.api("calibrated") as api:
        listed = api.get("/v1/admin/embedding-models").json()["results"]
    found: dict[str, Any] = next(one for one in listed if one["name"] == name)["calibration"]
    return found


def test_the_bundled_model_measures_as_it_is_built_and_its_calibration_is_kept_and_reset(operator: Operator) -> None:
    before = calibration_of(operator, UseModel.name)
    assert before["source"] == "built_in"
    assert "Nothing was kept" in operator.done("calibrate", "--dry-run")
    assert calibration_of(operator, UseModel.name) == before
    try:
        told = operator.done("calibrate", "--model", UseModel.name)
        assert all(word in told for word in ("in use (built_in)", "measured", "nominated of pairs that say the same"))
        kept = calibration_of(operator, UseModel.name)
        assert (kept["source"], kept["high"]) == ("measured", before["high"])
        assert kept["measured_at"] is not None
        assert abs(kept["low"] - before["low"]) <= 0.03
        assert abs(kept["duplicate"] - before["duplicate"]) <= 0.05
        assert "measured" in operator.done("models", "list")
        assert "in use (measured)" in operator.done("calibrate", "--dry-run")
    finally:
        assert "forgotten" in operator.done("calibrate", "--reset")
    assert calibration_of(operator, UseModel.name) == before


def test_a_model_that_cannot_be_calibrated_is_refused_and_nothing_is_kept(
    operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = calibration_of(operator, UseModel.name)
    monkeypatch.setattr(UseModel, "_encode", lambda _self, texts, _purpose: np.full((len(texts), 512), 512**-0.5))
    assert "cannot be calibrated" in operator.refused("calibrate", code=1)
    assert calibration_of(operator, UseModel.name) == before
    assert "can load" in operator.refused("calibrate", "--dry-run", "--model", "unheard-of", code=1)
    assert "name one" in operator.refused("calibrate", "--dry-run", "--reset")
