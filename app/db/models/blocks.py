"""Core memory: short labelled texts that are always in the context, with every version they had."""

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Text,
    Uuid,
    false,
    text,
)

from app.db.base import label, tenant_table, timestamp

blocks = tenant_table(
    "blocks",
    Column("id", Uuid, nullable=False),
    label("owner", required=True),
    label("user_id"),
    label("agent_id"),
    label("label", required=True),
    Column("description", Text),
    Column("text", Text, nullable=False),
    Column("char_limit", Integer, nullable=False),
    Column("read_only", Boolean, nullable=False, server_default=false()),
    Column("version", Integer, nullable=False, server_default=text("1")),
    timestamp("created_at", required=True),
    timestamp("updated_at", required=True),
    PrimaryKeyConstraint("tenant_id", "id"),
    CheckConstraint("char_limit > 0", name="char_limit"),
    Index(
        "uq_blocks_scope_label",
        "tenant_id",
        "user_id",
        "agent_id",
        "label",
        unique=True,
        postgresql_nulls_not_distinct=True,
    ),
)

block_versions = tenant_table(
    "block_versions",
    Column("block_id", Uuid, nullable=False),
    Column("version", Integer, nullable=False),
    Column("text", Text, nullable=False),
    label("actor", required=True),
    timestamp("created_at", required=True),
    PrimaryKeyConstraint("tenant_id", "block_id", "version"),
    ForeignKeyConstraint(["tenant_id", "block_id"], ["blocks.tenant_id", "blocks.id"], ondelete="CASCADE"),
)
