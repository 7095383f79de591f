"""What a database needs once before it can serve: a tenant, the embedding model with its indexes, a first key."""

import asyncio
import os
from pathlib import Path

from app.composition import embedding_model
from app.core import clock, ids
from app.core.errors import ConfigurationError
from app.db.checks import RoleCheck
from app.db.dsn import parse_dsn
from app.db.engine import create_engine
from app.db.scoped import Database
from app.providers.embeddings.choice import other_models
from app.repositories.models import ModelRecord, index_names
from app.repositories.vector_indexes import VectorIndexes
from app.services.access import DEFAULT_TENANT, IssuedKey, hash_key, key_row, looks_like_key, new_secret
from app.services.registration import ModelRegistration
from app.settings import Settings
from app.uow import UnitOfWork

FIRST_KEY = "first admin key"


def prepare(settings: Settings, *, migrator_dsn: str, app_dsn: str, admin_key_file: Path) -> None:
    """Bring a migrated database into service, as often as it is asked. Runs its own event loop.

    The key file is complete before the key is valid, and both before this returns.
    """
    del app_dsn
    asyncio.run(_prepare(settings, migrator_dsn, admin_key_file))


def register_model(settings: Settings, migrator_dsn: str) -> None:
    """Enter the configured embedding model and build its indexes. Runs its own event loop."""
    asyncio.run(_prepare(settings, migrator_dsn, None))


async def _prepare(settings: Settings, migrator_dsn: str, key_file: Path | None) -> None:
    dsn = parse_dsn(migrator_dsn)
    pool = create_engine(dsn, pool_size=1, pool_timeout=10, connect_timeout=settings.connect_timeout_seconds)
    model, also = embedding_model(settings), other_models(settings)
    try:
        uow = UnitOfWork(Database(pool, check=RoleCheck(passed=True)))
        async with uow.begin_global() as tx:
            await tx.access.ensure_tenant(ids.new_id(), DEFAULT_TENANT, clock.now())
        record = await ModelRegistration(uow).register(model, [one.name for one in also])
        await _bring_indexes_up_to_date(uow, VectorIndexes(dsn.asyncpg_arguments), record)
        if key_file is not None:
            await _first_key(uow, key_file)
    finally:
        for one in (model, *also):
            await one.close()
        await pool.dispose()


async def _bring_indexes_up_to_date(uow: UnitOfWork, indexes: VectorIndexes, active: ModelRecord) -> None:
    """Indexes of the models that serve or may serve at once; those of models that are gone are dropped.

    A model that is being built gets its indexes when it has its vectors: row by row they would take many times as long.
    """
    async with uow.begin_global() as tx:
        known = await tx.models.all()
        there = await tx.models.valid_indexes()
        kept_up = await tx.models.kept_up()
    await indexes.build(active)
    for one in kept_up:
        if one.status == "standby":
            await indexes.build(one)
    for row in known:
        if row["status"] == "retired" and there & set(index_names(row["id"])):
            await indexes.drop(row["id"])


async def _first_key(uow: UnitOfWork, key_file: Path) -> None:
    """An admin key in a file of one's own: made if absent, entered if the database is a new one."""
    secret = _kept_secret(key_file)
    async with uow.begin_global() as tx:
        if await tx.access.key_by_hash(hash_key(secret)) is None:
            if not looks_like_key(secret):
                raise _no_key(key_file)
            tenant_id = await tx.access.ensure_tenant(ids.new_id(), DEFAULT_TENANT, clock.now())
            issued = IssuedKey(ids.new_id(), secret)
            await tx.access.add_key(key_row(issued, tenant_id=tenant_id, name=FIRST_KEY, role="admin"))


def _kept_secret(path: Path) -> str:
    """The key in the file; a file that only its owner reads is made, whole or not at all, where there is none."""
    try:
        kept = path.read_text("utf-8").strip() if path.exists() else ""
    except UnicodeDecodeError as error:
        raise _no_key(path) from error
    if kept:
        return kept
    secret = new_secret()
    half = path.with_suffix(".new")
    half.unlink(missing_ok=True)
    descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(secret + "\n")
        file.flush()
        os.fsync(file.fileno())
    half.replace(path)
    return secret


def _no_key(path: Path) -> ConfigurationError:
    return ConfigurationError(
        f"{path} holds something that is not an API key: remove the file, and the next start writes a new admin key."
    )
