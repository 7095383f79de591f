"""Checkpoints of plain JSON agents (positions, steps), and a store that is found by prefix, by words and by meaning."""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

POLICY = "tenant_id = nullif(current_setting('app.tenant', true), '')::uuid"

SESSION_KEY = "fk_checkpoint_threads_tenant_id_session_id"

STEPS = """
CREATE TABLE checkpoint_steps (
    tenant_id UUID NOT NULL,
    thread_id TEXT COLLATE "C" NOT NULL,
    step_id TEXT COLLATE "C" NOT NULL,
    checkpoint_id TEXT COLLATE "C",
    position BIGINT NOT NULL,
    input JSONB,
    output JSONB,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_checkpoint_steps PRIMARY KEY (tenant_id, thread_id, step_id),
    CONSTRAINT fk_checkpoint_steps_tenant_id_thread_id FOREIGN KEY (tenant_id, thread_id)
        REFERENCES checkpoint_threads (tenant_id, thread_id) ON DELETE CASCADE
)
"""

ITEMS = """
CREATE TABLE store_items (
    tenant_id UUID NOT NULL,
    id UUID NOT NULL,
    path TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C",
    value JSONB NOT NULL,
    ttl_minutes DOUBLE PRECISION,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_store_items PRIMARY KEY (tenant_id, path, key),
    CONSTRAINT uq_store_items_tenant_id_id UNIQUE (tenant_id, id)
)
"""

TEXTS = """
CREATE TABLE store_texts (
    tenant_id UUID NOT NULL,
    item_id UUID NOT NULL,
    part SMALLINT NOT NULL,
    length INTEGER NOT NULL,
    tokens TEXT[] COLLATE "C" NOT NULL,
    model_id SMALLINT,
    embedding halfvec,
    CONSTRAINT pk_store_texts PRIMARY KEY (tenant_id, item_id, part),
    CONSTRAINT fk_store_texts_tenant_id_item_id FOREIGN KEY (tenant_id, item_id)
        REFERENCES store_items (tenant_id, id) ON DELETE CASCADE
)
"""

ITEMS_BEFORE = """
CREATE TABLE store_items (
    tenant_id UUID NOT NULL,
    namespace TEXT[] COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C",
    value JSONB NOT NULL,
    ttl_minutes DOUBLE PRECISION,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_store_items PRIMARY KEY (tenant_id, namespace, key)
)
"""

ITEM_INDEXES = (
    """
    CREATE INDEX ix_store_items_tenant_id_expires_at ON store_items (tenant_id, expires_at)
    WHERE expires_at IS NOT NULL
    """,
    "CREATE INDEX ix_store_items_tenant_id_user_id ON store_items (tenant_id, user_id) WHERE user_id IS NOT NULL",
)

CHECKPOINT_INDEXES = (
    "CREATE UNIQUE INDEX ix_checkpoints_position ON checkpoints (tenant_id, thread_id, position) WHERE position > 0",
    "CREATE INDEX ix_checkpoints_tenant_id_checkpoint_id ON checkpoints (tenant_id, checkpoint_id)",
    "CREATE UNIQUE INDEX ix_checkpoint_steps_position ON checkpoint_steps (tenant_id, thread_id, position)",
)


def _guard(table: str) -> None:
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
    op.execute(f"CREATE POLICY tenant_isolation ON {table} USING ({POLICY}) WITH CHECK ({POLICY})")
    op.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO mnemic_app")


def _session_key(action: str) -> None:
    op.execute(f"ALTER TABLE checkpoint_threads DROP CONSTRAINT {SESSION_KEY}")
    op.execute(
        f"ALTER TABLE checkpoint_threads ADD CONSTRAINT {SESSION_KEY} FOREIGN KEY (tenant_id, session_id) "
        f"REFERENCES sessions (tenant_id, id) ON DELETE {action} NOT VALID"
    )
    op.execute(f"ALTER TABLE checkpoint_threads VALIDATE CONSTRAINT {SESSION_KEY}")


def upgrade() -> None:
    op.execute("ALTER TABLE sessions ADD COLUMN known_at TIMESTAMP WITH TIME ZONE")
    op.execute("ALTER TABLE checkpoint_threads ADD COLUMN last_position BIGINT NOT NULL DEFAULT 0")
    op.execute("ALTER TABLE checkpoints ADD COLUMN message_seq BIGINT")
    _session_key("CASCADE")
    # No release has written to these tables: nothing is lost, and no index is built over rows.
    op.execute("DROP TABLE store_items")
    for statement in (STEPS, ITEMS, *ITEM_INDEXES, TEXTS, *CHECKPOINT_INDEXES):
        op.execute(statement)
    op.execute("ALTER TABLE store_texts ALTER COLUMN embedding SET STORAGE PLAIN")
    for table in ("checkpoint_steps", "store_items", "store_texts"):
        _guard(table)


def downgrade() -> None:
    op.execute("DROP TABLE store_texts, store_items, checkpoint_steps")
    for statement in (ITEMS_BEFORE, *ITEM_INDEXES):
        op.execute(statement)
    _guard("store_items")
    op.execute("DROP INDEX ix_checkpoints_position, ix_checkpoints_tenant_id_checkpoint_id")
    _session_key("SET NULL (session_id)")
    op.execute("ALTER TABLE checkpoints DROP COLUMN message_seq")
    op.execute("ALTER TABLE checkpoint_threads DROP COLUMN last_position")
    op.execute("ALTER TABLE sessions DROP COLUMN known_at")
