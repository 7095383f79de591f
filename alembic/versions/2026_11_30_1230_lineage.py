"""From a message to its memories: where a memory comes from is found by the message's number."""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

BEFORE = "ix_memory_sources_tenant_id_session_id"
AFTER = "ix_memory_sources_first_message"


def _build(name: str, columns: str) -> None:
    # Building waits for transactions that are older, however long they last; what was left half built goes first.
    op.execute("SET statement_timeout = 0")
    op.execute("SET lock_timeout = 0")
    op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
    op.execute(f"CREATE INDEX CONCURRENTLY {name} ON memory_sources ({columns}) WHERE session_id IS NOT NULL")


def upgrade() -> None:
    with op.get_context().autocommit_block():
        _build(AFTER, "tenant_id, session_id, (seqs[1])")
        op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {BEFORE}")


def downgrade() -> None:
    with op.get_context().autocommit_block():
        _build(BEFORE, "tenant_id, session_id")
        op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {AFTER}")
