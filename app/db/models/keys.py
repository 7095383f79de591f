"""The registry of canonical keys: what `user.city`, home.location and 居住地 have in common."""

from sqlalchemy import Boolean, Column, ForeignKeyConstraint, Index, PrimaryKeyConstraint, Text, false

from app.db.base import label, tenant_table, timestamp

memory_keys = tenant_table(
    "memory_keys",
    label("key", required=True),
    Column("multi_valued", Boolean, nullable=False, server_default=false()),
    Column("description", Text),
    timestamp("created_at", required=True),
    PrimaryKeyConstraint("tenant_id", "key"),
)

key_aliases = tenant_table(
    "key_aliases",
    label("alias", required=True),
    label("key", required=True),
    PrimaryKeyConstraint("tenant_id", "alias"),
    ForeignKeyConstraint(["tenant_id", "key"], ["memory_keys.tenant_id", "memory_keys.key"], ondelete="CASCADE"),
    Index(None, "tenant_id", "key"),
)
