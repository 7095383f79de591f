"""Keys: how many calls a minute, and when each bucket of calls will be full again."""

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

BUCKETS = """
CREATE UNLOGGED TABLE rate_buckets (
    subject TEXT COLLATE "C" NOT NULL,
    full_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_rate_buckets PRIMARY KEY (subject)
)
"""


def upgrade() -> None:
    op.execute("ALTER TABLE api_keys ADD COLUMN rate_limit INTEGER")
    # Added without a look at the rows, then checked without keeping writers out.
    op.execute("ALTER TABLE api_keys ADD CONSTRAINT ck_api_keys_rate_limit CHECK (rate_limit > 0) NOT VALID")
    op.execute("ALTER TABLE api_keys VALIDATE CONSTRAINT ck_api_keys_rate_limit")
    op.execute(BUCKETS)
    op.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON rate_buckets TO mnemic_app")


def downgrade() -> None:
    op.execute("DROP TABLE rate_buckets")
    op.execute("ALTER TABLE api_keys DROP COLUMN rate_limit")
