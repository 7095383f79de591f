"""Dreams and reflection: what a dream would change, kept until somebody decides; whose turn it is."""

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

POLICY = "tenant_id = nullif(current_setting('app.tenant', true), '')::uuid"

BEFORE = (
    "'embed_messages', 'embed_memories', 'delete_memories', 'extract', 'reconcile', 'summarise', 'prefetch', "
    "'expire', 'maintain', 'consolidate', 'revive', 'sweep', 'erase'"
)
AFTER = (
    "'embed_messages', 'embed_memories', 'delete_memories', 'extract', 'reconcile', 'summarise', 'prefetch', "
    "'expire', 'maintain', 'consolidate', 'revive', 'sweep', 'erase', 'reflect', 'dream'"
)

DREAMS = """
CREATE TABLE dreams (
    tenant_id UUID NOT NULL,
    id UUID NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    changes JSONB DEFAULT '{}'::jsonb NOT NULL,
    job_id UUID,
    version INTEGER DEFAULT 1 NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    decided_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_dreams PRIMARY KEY (tenant_id, id),
    CONSTRAINT ck_dreams_state CHECK (state IN ('proposed', 'applying', 'applied', 'rejected'))
)
"""

INDEX = "ix_owner_stats_tenant_id_dreamed_at"


def _kinds(listed: str) -> None:
    # Added without a look at the rows, then checked without keeping writers out.
    op.execute("ALTER TABLE jobs DROP CONSTRAINT ck_jobs_kind")
    op.execute(f"ALTER TABLE jobs ADD CONSTRAINT ck_jobs_kind CHECK (kind IN ({listed})) NOT VALID")
    op.execute("ALTER TABLE jobs VALIDATE CONSTRAINT ck_jobs_kind")


def upgrade() -> None:
    _kinds(AFTER)
    op.execute(DREAMS)
    op.execute("ALTER TABLE dreams ENABLE ROW LEVEL SECURITY")
    op.execute("ALTER TABLE dreams FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY tenant_isolation ON dreams USING ({POLICY}) WITH CHECK ({POLICY})")
    op.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON dreams TO mnemic_app")
    op.execute("CREATE INDEX ix_dreams_tenant_id_user_id_id ON dreams (tenant_id, user_id, id)")
    op.execute("CREATE INDEX ix_dreams_tenant_id_created_at ON dreams (tenant_id, created_at)")
    op.execute("ALTER TABLE owner_stats ADD COLUMN reflected_at TIMESTAMP WITH TIME ZONE")
    op.execute("ALTER TABLE owner_stats ADD COLUMN dreamed_at TIMESTAMP WITH TIME ZONE")
    with op.get_context().autocommit_block():
        # Building waits for transactions that are older, however long they last; what was left half built goes first.
        op.execute("SET statement_timeout = 0")
        op.execute("SET lock_timeout = 0")
        op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {INDEX}")
        op.execute(f"CREATE INDEX CONCURRENTLY {INDEX} ON owner_stats (tenant_id, dreamed_at) WHERE memory_count > 0")


def downgrade() -> None:
    op.execute(f"DROP INDEX IF EXISTS {INDEX}")
    op.execute("ALTER TABLE owner_stats DROP COLUMN dreamed_at")
    op.execute("ALTER TABLE owner_stats DROP COLUMN reflected_at")
    op.execute("DROP TABLE dreams")
    op.execute("DELETE FROM jobs WHERE kind IN ('reflect', 'dream')")
    _kinds(BEFORE)
