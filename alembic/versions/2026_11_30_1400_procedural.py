"""Lessons and procedures are found among many memories: contexts look for them at every question."""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

INDEX = "ix_memories_procedural"


def upgrade() -> None:
    with op.get_context().autocommit_block():
        # Building waits for transactions that are older, however long they last; what was left half built goes first.
        op.execute("SET statement_timeout = 0")
        op.execute("SET lock_timeout = 0")
        op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {INDEX}")
        op.execute(f"CREATE INDEX CONCURRENTLY {INDEX} ON memories (tenant_id, owner, id) WHERE kind = 'procedural'")


def downgrade() -> None:
    op.execute(f"DROP INDEX IF EXISTS {INDEX}")
