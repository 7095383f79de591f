"""Foundation: every table, its policy, the app role's rights, and the dispatcher's tables."""

from pathlib import Path
from typing import Any

from sqlalchemy import text

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

SQL = Path(__file__).resolve().parent.parent / "sql"

EXTENSION = "CREATE EXTENSION IF NOT EXISTS vector"

ROLE = """
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'mnemic_app') THEN
        CREATE ROLE mnemic_app NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS;
    END IF;
    IF NOT pg_has_role(current_user, 'mnemic_app', 'MEMBER') THEN
        EXECUTE format('GRANT mnemic_app TO %I', current_user);
    END IF;
END $$
"""

GRANTS = """
GRANT USAGE ON SCHEMA public TO mnemic_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO mnemic_app;
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO mnemic_app;
REVOKE ALL ON alembic_version FROM mnemic_app;
GRANT SELECT ON alembic_version TO mnemic_app;
"""

TABLES = (
    *("context_cache", "audit_log", "idempotency_keys", "jobs", "store_items"),
    *("checkpoint_writes", "checkpoint_blobs", "checkpoints", "checkpoint_threads"),
    *("block_versions", "blocks", "key_aliases", "memory_keys"),
    *("memory_vectors", "memory_postings", "memory_events", "memory_sources", "memories"),
    *("message_vectors", "message_postings", "messages", "summaries", "session_states", "sessions"),
    *("owner_stats", "users", "embedding_models", "api_keys", "tenants"),
)

DISPATCHER_DOWN = """
DROP TABLE pgqueuer, pgqueuer_log, pgqueuer_schedules, pgqueuer_statistics;
DROP FUNCTION fn_pgqueuer_changed;
DROP TYPE pgqueuer_status;
"""


def script(sql: str) -> None:
    """Several statements at once: only the driver's simple protocol takes them."""
    bind = op.get_bind()
    bind.execute(text("SELECT 1"))  # SQLAlchemy's transaction begins with its first statement

    async def run(driver: Any) -> None:  # noqa: ANN401 - asyncpg's connection
        await driver.execute(sql)

    bind.connection.dbapi_connection.run_async(run)  # type: ignore[union-attr]


def upgrade() -> None:
    script(EXTENSION)
    script(ROLE)
    script((SQL / "2026_11_30_0200_foundation.sql").read_text("utf-8"))
    script((SQL / "2026_11_30_0200_dispatcher.sql").read_text("utf-8"))
    script(GRANTS)


def downgrade() -> None:
    script(DISPATCHER_DOWN)
    script("DROP TABLE " + ", ".join(TABLES))
