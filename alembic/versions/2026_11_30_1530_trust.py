"""Trust: a chained audit log, erasures with receipts, sealed memories that are found for rotation, flags."""

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

POLICY = "tenant_id = nullif(current_setting('app.tenant', true), '')::uuid"

RANDOM_KEY = "uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())"

BEFORE = (
    "'embed_messages', 'embed_memories', 'delete_memories', 'extract', 'reconcile', 'summarise', 'prefetch', "
    "'expire', 'maintain', 'consolidate', 'revive', 'sweep'"
)
AFTER = (
    "'embed_messages', 'embed_memories', 'delete_memories', 'extract', 'reconcile', 'summarise', 'prefetch', "
    "'expire', 'maintain', 'consolidate', 'revive', 'sweep', 'erase'"
)

INSTALLATION = f"""
CREATE TABLE installation (
    id SMALLINT NOT NULL,
    pseudonym_key BYTEA DEFAULT {RANDOM_KEY} NOT NULL,
    CONSTRAINT pk_installation PRIMARY KEY (id),
    CONSTRAINT ck_installation_single CHECK (id = 1)
)
"""

HEADS = """
CREATE TABLE audit_heads (
    tenant_id UUID NOT NULL,
    position BIGINT NOT NULL,
    hash BYTEA NOT NULL,
    CONSTRAINT pk_audit_heads PRIMARY KEY (tenant_id)
)
"""

ERASURES = """
CREATE TABLE erasures (
    tenant_id UUID NOT NULL,
    id UUID NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    requested_by TEXT COLLATE "C" NOT NULL,
    requested_at TIMESTAMP WITH TIME ZONE NOT NULL,
    finished_at TIMESTAMP WITH TIME ZONE,
    counts JSONB DEFAULT '{}'::jsonb NOT NULL,
    chain_position BIGINT,
    chain_hash BYTEA,
    CONSTRAINT pk_erasures PRIMARY KEY (tenant_id, id),
    CONSTRAINT ck_erasures_state CHECK (state IN ('running', 'finished'))
)
"""

INDEXES = {
    "ix_audit_log_tenant_id_subject_id": "audit_log (tenant_id, subject, id) WHERE subject IS NOT NULL",
    "ix_audit_log_tenant_id_resource_id_id": "audit_log (tenant_id, resource_id, id) WHERE resource_id IS NOT NULL",
    "ix_idempotency_keys_of_nobody": "idempotency_keys (tenant_id) WHERE user_id IS NULL",
    "ix_search_explanations_of_nobody": "search_explanations (tenant_id) WHERE user_id IS NULL",
    "ix_memories_sealed": "memories (tenant_id, id) WHERE sealed IS NOT NULL",
}


def _kinds(listed: str) -> None:
    # Added without a look at the rows, then checked without keeping writers out.
    op.execute("ALTER TABLE jobs DROP CONSTRAINT ck_jobs_kind")
    op.execute(f"ALTER TABLE jobs ADD CONSTRAINT ck_jobs_kind CHECK (kind IN ({listed})) NOT VALID")
    op.execute("ALTER TABLE jobs VALIDATE CONSTRAINT ck_jobs_kind")


def upgrade() -> None:
    _kinds(AFTER)
    op.execute(INSTALLATION)
    op.execute("INSERT INTO installation (id) VALUES (1)")
    op.execute("GRANT SELECT ON installation TO mnemic_app")
    for name, statement in (("audit_heads", HEADS), ("erasures", ERASURES)):
        op.execute(statement)
        op.execute(f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {name} FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY tenant_isolation ON {name} USING ({POLICY}) WITH CHECK ({POLICY})")
        op.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {name} TO mnemic_app")
    op.execute("CREATE INDEX ix_erasures_tenant_id_subject ON erasures (tenant_id, subject)")
    op.execute('ALTER TABLE audit_log ADD COLUMN subject TEXT COLLATE "C"')
    # A line that is written stays as it is: the service itself can only give it its place in the chain.
    op.execute("REVOKE UPDATE, DELETE ON audit_log FROM mnemic_app")
    op.execute("GRANT UPDATE (position, previous_hash, hash) ON audit_log TO mnemic_app")
    op.execute("ALTER TABLE memories ADD COLUMN flags TEXT[] DEFAULT '{}'::text[] NOT NULL")
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
    op.execute("ALTER TABLE memories DROP COLUMN flags")
    op.execute("REVOKE UPDATE (position, previous_hash, hash) ON audit_log FROM mnemic_app")
    op.execute("GRANT UPDATE, DELETE ON audit_log TO mnemic_app")
    op.execute("ALTER TABLE audit_log DROP COLUMN subject")
    op.execute("DROP TABLE erasures, audit_heads, installation")
    op.execute("DELETE FROM jobs WHERE kind = 'erase'")
    _kinds(BEFORE)
