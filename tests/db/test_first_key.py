"""The admin key in a file: whose it is, and what is refused to be one."""

import asyncio
import stat
from pathlib import Path

import pytest

from app import bootstrap
from app.composition import Services
from app.core.errors import ConfigurationError
from app.services.access import looks_like_key, new_secret
from app.settings import Settings


async def prepared(settings: Settings, key_file: Path) -> None:
    dsns = {name: getattr(settings, f"{name}_url").get_secret_value() for name in ("database", "migration_database")}
    await asyncio.to_thread(
        bootstrap.prepare,
        settings,
        migrator_dsn=dsns["migration_database"],
        app_dsn=dsns["database"],
        admin_key_file=key_file,
    )


async def test_a_first_key_is_made_for_its_owners_eyes_and_kept(
    settings: Settings, services: Services, tmp_path: Path
) -> None:
    file = tmp_path / "admin.key"
    await prepared(settings, file)
    secret = file.read_text().strip()
    assert looks_like_key(secret)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert (await services.access.authenticate(secret)).role == "admin"
    await prepared(settings, file)
    assert file.read_text().strip() == secret


async def test_a_key_of_another_database_is_entered_into_a_new_one(
    settings: Settings, services: Services, tmp_path: Path
) -> None:
    file, secret = tmp_path / "admin.key", new_secret()
    file.write_text(f"{secret}\n")
    await prepared(settings, file)
    assert (await services.access.authenticate(secret)).role == "admin"


@pytest.mark.parametrize(
    "content",
    [b"secret", b"mnk_", b"mnk_short", b"mnk_" + b"x" * 44, b"mnk_" + b"!" * 43, b"\xff\xfe", "钥匙".encode(),
     b"sk-" + b"x" * 44],
)  # fmt: skip
async def test_what_is_no_key_is_refused_with_what_to_do(settings: Settings, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "admin.key"
    file.write_bytes(content)
    with pytest.raises(ConfigurationError, match=r"admin\.key holds something .* remove the file") as refused:
        await prepared(settings, file)
    assert "mnk_" not in str(refused.value)
    assert file.read_bytes() == content
