"""Procedures and lessons; and at which message a state was written."""

from alembic import op

revision = "0004_procedures"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE session_states ADD COLUMN at_seq BIGINT")


def downgrade() -> None:
    op.execute("ALTER TABLE session_states DROP COLUMN at_seq")
