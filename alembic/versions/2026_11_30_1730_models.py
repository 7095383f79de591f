"""Embedding models side by side: one that stands by, progress of a building one, a second vector of stored items."""

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

BEFORE = (
    "'embed_messages', 'embed_memories', 'delete_memories', 'extract', 'reconcile', 'summarise', 'prefetch', "
    "'expire', 'maintain', 'consolidate', 'revive', 'sweep', 'erase', 'reflect', 'dream'"
)
AFTER = (
    "'embed_messages', 'embed_memories', 'delete_memories', 'extract', 'reconcile', 'summarise', 'prefetch', "
    "'expire', 'maintain', 'consolidate', 'revive', 'sweep', 'erase', 'reflect', 'dream', "
    "'reembed', 'retire_model'"
)


def _kinds(listed: str) -> None:
    # Added without a look at the rows, then checked without keeping writers out.
    op.execute("ALTER TABLE jobs DROP CONSTRAINT ck_jobs_kind")
    op.execute(f"ALTER TABLE jobs ADD CONSTRAINT ck_jobs_kind CHECK (kind IN ({listed})) NOT VALID")
    op.execute("ALTER TABLE jobs VALIDATE CONSTRAINT ck_jobs_kind")


def _statuses(listed: str) -> None:
    op.execute("ALTER TABLE embedding_models DROP CONSTRAINT ck_embedding_models_status")
    op.execute(f"ALTER TABLE embedding_models ADD CONSTRAINT ck_embedding_models_status CHECK (status IN ({listed}))")


def upgrade() -> None:
    _kinds(AFTER)
    _statuses("'building', 'standby', 'active', 'retired'")
    op.execute("ALTER TABLE embedding_models ADD COLUMN progress JSONB DEFAULT '{}'::jsonb NOT NULL")
    op.execute("ALTER TABLE store_texts ADD COLUMN text TEXT")
    op.execute("ALTER TABLE store_texts ADD COLUMN second_model_id SMALLINT")
    op.execute("ALTER TABLE store_texts ADD COLUMN second_embedding HALFVEC")
    op.execute("ALTER TABLE store_texts ALTER COLUMN second_embedding SET STORAGE PLAIN")


def downgrade() -> None:
    for name in ("second_embedding", "second_model_id", "text"):
        op.execute(f"ALTER TABLE store_texts DROP COLUMN {name}")
    op.execute("ALTER TABLE embedding_models DROP COLUMN progress")
    op.execute("UPDATE embedding_models SET status = 'building' WHERE status = 'standby'")
    _statuses("'building', 'active', 'retired'")
    op.execute("DELETE FROM jobs WHERE kind IN ('reembed', 'retire_model')")
    _kinds(BEFORE)
