"""Search: explained searches are kept for a day; constraints and periods are found by an index."""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

POLICY = "tenant_id = nullif(current_setting('app.tenant', true), '')::uuid"

TABLE = """
CREATE TABLE search_explanations (
    tenant_id UUID NOT NULL,
    id UUID NOT NULL,
    key_id UUID NOT NULL,
    user_id TEXT COLLATE "C",
    content JSONB NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_search_explanations PRIMARY KEY (tenant_id, id)
)
"""

BY_AGE = """
CREATE INDEX ix_search_explanations_tenant_id_created_at ON search_explanations (tenant_id, created_at)
"""

BY_USER = """
CREATE INDEX ix_search_explanations_tenant_id_user_id ON search_explanations (tenant_id, user_id)
WHERE user_id IS NOT NULL
"""

PINNED = """
CREATE INDEX CONCURRENTLY ix_memories_pinned ON memories (tenant_id, owner, id) WHERE pinned
"""

HAPPENED = """
CREATE INDEX CONCURRENTLY ix_memories_happened ON memories
(tenant_id, owner, (COALESCE(occurred_at, created_at)))
"""


def upgrade() -> None:
    for statement in (TABLE, BY_AGE, BY_USER):
        op.execute(statement)
    op.execute("ALTER TABLE search_explanations ENABLE ROW LEVEL SECURITY")
    op.execute("ALTER TABLE search_explanations FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY tenant_isolation ON search_explanations USING ({POLICY}) WITH CHECK ({POLICY})")
    op.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON search_explanations TO mnemic_app")
    with op.get_context().autocommit_block():
        # Building waits for transactions that are older, however long they last; what was left half built goes first.
        op.execute("SET statement_timeout = 0")
        op.execute("SET lock_timeout = 0")
        for name, statement in (("ix_memories_pinned", PINNED), ("ix_memories_happened", HAPPENED)):
            op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
            op.execute(statement)


def downgrade() -> None:
    op.execute("DROP INDEX IF EXISTS ix_memories_happened, ix_memories_pinned")
    op.execute("DROP TABLE search_explanations")
