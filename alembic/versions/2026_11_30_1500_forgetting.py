"""Forgetting: how memories served, when they were archived, what waits for a confirmation, whose turn it is."""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

BEFORE = (
    "'embed_messages', 'embed_memories', 'delete_memories', 'extract', 'reconcile', 'summarise', 'prefetch', 'sweep'"
)
AFTER = (
    "'embed_messages', 'embed_memories', 'delete_memories', 'extract', 'reconcile', 'summarise', 'prefetch', "
    "'expire', 'maintain', 'consolidate', 'revive', 'sweep'"
)

COLUMNS = {
    "used_count": "INTEGER DEFAULT 0 NOT NULL",
    "ignored_count": "INTEGER DEFAULT 0 NOT NULL",
    "wrong_count": "INTEGER DEFAULT 0 NOT NULL",
    "needs_confirmation": "BOOLEAN DEFAULT false NOT NULL",
    "archived_at": "TIMESTAMP WITH TIME ZONE",
}

INDEXES = {
    "ix_memories_expiring": (
        "memories (tenant_id, expires_at) WHERE expires_at IS NOT NULL AND status IN ('active', 'disputed', 'archived')"
    ),
    "ix_memories_tenant_id_owner_archived_at": "memories (tenant_id, owner, archived_at) WHERE archived_at IS NOT NULL",
    "ix_memories_to_confirm": "memories (tenant_id, owner, id) WHERE needs_confirmation",
    "ix_owner_stats_tenant_id_maintained_at": "owner_stats (tenant_id, maintained_at) WHERE memory_count > 0",
}


def _kinds(listed: str) -> None:
    # Added without a look at the rows, then checked without keeping writers out.
    op.execute("ALTER TABLE jobs DROP CONSTRAINT ck_jobs_kind")
    op.execute(f"ALTER TABLE jobs ADD CONSTRAINT ck_jobs_kind CHECK (kind IN ({listed})) NOT VALID")
    op.execute("ALTER TABLE jobs VALIDATE CONSTRAINT ck_jobs_kind")


def upgrade() -> None:
    _kinds(AFTER)
    for name, definition in COLUMNS.items():
        op.execute(f"ALTER TABLE memories ADD COLUMN {name} {definition}")
    op.execute("ALTER TABLE owner_stats ADD COLUMN maintained_at TIMESTAMP WITH TIME ZONE")
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
    op.execute("ALTER TABLE owner_stats DROP COLUMN maintained_at")
    for name in COLUMNS:
        op.execute(f"ALTER TABLE memories DROP COLUMN {name}")
    op.execute("DELETE FROM jobs WHERE kind IN ('expire', 'maintain', 'consolidate', 'revive')")
    _kinds(BEFORE)
