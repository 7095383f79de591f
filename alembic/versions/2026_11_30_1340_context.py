"""Summaries and contexts: kinds of jobs, who waits to be folded, what prepared contexts depend on, a key to sign."""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

BEFORE = "'embed_messages', 'embed_memories', 'delete_memories', 'extract', 'reconcile', 'sweep'"
AFTER = (
    "'embed_messages', 'embed_memories', 'delete_memories', 'extract', 'reconcile', 'summarise', 'prefetch', 'sweep'"
)

RANDOM_KEY = "uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())"

COLUMNS = (
    "ALTER TABLE sessions ADD COLUMN weighed_seq BIGINT DEFAULT 0 NOT NULL",
    "ALTER TABLE owner_stats ADD COLUMN memory_version BIGINT DEFAULT 0 NOT NULL",
    # A few rows: each tenant gets a key of its own.
    f"ALTER TABLE tenants ADD COLUMN fence_key BYTEA DEFAULT {RANDOM_KEY} NOT NULL",
)

INDEXES = {
    "ix_sessions_folding_lag": "sessions (tenant_id, updated_at) WHERE weighed_seq < last_seq",
    "ix_context_cache_tenant_id_created_at": "context_cache (tenant_id, created_at)",
    "ix_summaries_current": "summaries (tenant_id, session_id, from_seq) WHERE superseded_at IS NULL",
}


def _kinds(listed: str) -> None:
    # Added without a look at the rows, then checked without keeping writers out.
    op.execute("ALTER TABLE jobs DROP CONSTRAINT ck_jobs_kind")
    op.execute(f"ALTER TABLE jobs ADD CONSTRAINT ck_jobs_kind CHECK (kind IN ({listed})) NOT VALID")
    op.execute("ALTER TABLE jobs VALIDATE CONSTRAINT ck_jobs_kind")


def upgrade() -> None:
    _kinds(AFTER)
    for statement in COLUMNS:
        op.execute(statement)
    with op.get_context().autocommit_block():
        # Building waits for transactions that are older, however long they last; what was left half built goes first.
        op.execute("SET statement_timeout = 0")
        op.execute("SET lock_timeout = 0")
        for name, on in INDEXES.items():
            op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
            op.execute(f"CREATE INDEX CONCURRENTLY {name} ON {on}")


def downgrade() -> None:
    for name in INDEXES:
        op.execute(f"DROP INDEX IF EXISTS {name}")
    op.execute("ALTER TABLE tenants DROP COLUMN fence_key")
    op.execute("ALTER TABLE owner_stats DROP COLUMN memory_version")
    op.execute("ALTER TABLE sessions DROP COLUMN weighed_seq")
    op.execute("DELETE FROM jobs WHERE kind IN ('summarise', 'prefetch')")
    _kinds(BEFORE)
