"""Extraction: a kind of job, an index of sessions that wait for it, and pairs of memories that cannot both be true."""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

BEFORE = "'embed_messages', 'embed_memories', 'delete_memories', 'sweep'"
AFTER = "'embed_messages', 'embed_memories', 'delete_memories', 'extract', 'sweep'"

POLICY = "tenant_id = nullif(current_setting('app.tenant', true), '')::uuid"

TABLE = """
CREATE TABLE memory_conflicts (
    tenant_id UUID NOT NULL,
    id UUID NOT NULL,
    memory_id UUID NOT NULL,
    other_id UUID NOT NULL,
    reason TEXT NOT NULL,
    resolution TEXT,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    resolved_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_memory_conflicts PRIMARY KEY (tenant_id, id),
    CONSTRAINT fk_memory_conflicts_tenant_id_memory_id FOREIGN KEY (tenant_id, memory_id)
        REFERENCES memories (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_memory_conflicts_tenant_id_other_id FOREIGN KEY (tenant_id, other_id)
        REFERENCES memories (tenant_id, id) ON DELETE CASCADE
)
"""

INDEXES = (
    "CREATE INDEX ix_memory_conflicts_tenant_id_memory_id ON memory_conflicts (tenant_id, memory_id)",
    "CREATE INDEX ix_memory_conflicts_tenant_id_other_id ON memory_conflicts (tenant_id, other_id)",
    "CREATE INDEX ix_memory_conflicts_open ON memory_conflicts (tenant_id, id) WHERE resolved_at IS NULL",
)

LAG = """
CREATE INDEX CONCURRENTLY ix_sessions_extraction_lag ON sessions (tenant_id, updated_at)
WHERE extracted_seq < last_seq AND memory = 'on'
"""


def _kinds(listed: str) -> None:
    # Added without a look at the rows, then checked without keeping writers out.
    op.execute("ALTER TABLE jobs DROP CONSTRAINT ck_jobs_kind")
    op.execute(f"ALTER TABLE jobs ADD CONSTRAINT ck_jobs_kind CHECK (kind IN ({listed})) NOT VALID")
    op.execute("ALTER TABLE jobs VALIDATE CONSTRAINT ck_jobs_kind")


def upgrade() -> None:
    _kinds(AFTER)
    for statement in (TABLE, *INDEXES):
        op.execute(statement)
    op.execute("ALTER TABLE memory_conflicts ENABLE ROW LEVEL SECURITY")
    op.execute("ALTER TABLE memory_conflicts FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY tenant_isolation ON memory_conflicts USING ({POLICY}) WITH CHECK ({POLICY})")
    op.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON memory_conflicts TO mnemic_app")
    with op.get_context().autocommit_block():
        # Building waits for transactions that are older, however long they last; what was left half built goes first.
        op.execute("SET statement_timeout = 0")
        op.execute("SET lock_timeout = 0")
        op.execute("DROP INDEX CONCURRENTLY IF EXISTS ix_sessions_extraction_lag")
        op.execute(LAG)


def downgrade() -> None:
    op.execute("DROP INDEX IF EXISTS ix_sessions_extraction_lag")
    op.execute("DROP TABLE memory_conflicts")
    op.execute("DELETE FROM jobs WHERE kind = 'extract'")
    _kinds(BEFORE)
