"""What conflicts and undoing need: memories by their messages, all that a change changed, a job, usage by day."""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

POLICY = "tenant_id = nullif(current_setting('app.tenant', true), '')::uuid"

USAGE = """
CREATE TABLE language_model_usage (
    tenant_id UUID NOT NULL,
    day DATE NOT NULL,
    calls BIGINT NOT NULL DEFAULT 0,
    tokens BIGINT NOT NULL DEFAULT 0,
    CONSTRAINT pk_language_model_usage PRIMARY KEY (tenant_id, day)
)
"""

KINDS_BEFORE = "'embed_messages', 'embed_memories', 'delete_memories', 'extract', 'sweep'"
KINDS_AFTER = "'embed_messages', 'embed_memories', 'delete_memories', 'extract', 'reconcile', 'sweep'"

BEFORE = "ix_memory_sources_tenant_id_session_id"
AFTER = "ix_memory_sources_first_message"


def _kinds(listed: str) -> None:
    # Added without a look at the rows, then checked without keeping writers out.
    op.execute("ALTER TABLE jobs DROP CONSTRAINT ck_jobs_kind")
    op.execute(f"ALTER TABLE jobs ADD CONSTRAINT ck_jobs_kind CHECK (kind IN ({listed})) NOT VALID")
    op.execute("ALTER TABLE jobs VALIDATE CONSTRAINT ck_jobs_kind")


def _build(name: str, columns: str) -> None:
    # Building waits for transactions that are older, however long they last; what was left half built goes first.
    op.execute("SET statement_timeout = 0")
    op.execute("SET lock_timeout = 0")
    op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
    op.execute(f"CREATE INDEX CONCURRENTLY {name} ON memory_sources ({columns}) WHERE session_id IS NOT NULL")


def upgrade() -> None:
    _kinds(KINDS_AFTER)
    op.execute("ALTER TABLE memory_events ADD COLUMN changed JSONB")
    op.execute(USAGE)
    op.execute("ALTER TABLE language_model_usage ENABLE ROW LEVEL SECURITY")
    op.execute("ALTER TABLE language_model_usage FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY tenant_isolation ON language_model_usage USING ({POLICY}) WITH CHECK ({POLICY})")
    op.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON language_model_usage TO mnemic_app")
    with op.get_context().autocommit_block():
        _build(AFTER, "tenant_id, session_id, (seqs[1])")
        op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {BEFORE}")


def downgrade() -> None:
    with op.get_context().autocommit_block():
        _build(BEFORE, "tenant_id, session_id")
        op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {AFTER}")
    op.execute("DROP TABLE language_model_usage")
    op.execute("ALTER TABLE memory_events DROP COLUMN changed")
    op.execute("DELETE FROM jobs WHERE kind = 'reconcile'")
    _kinds(KINDS_BEFORE)
