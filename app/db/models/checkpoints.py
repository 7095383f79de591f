"""Agents' saved states (LangGraph's contract) and their key-value store."""

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Column,
    Double,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from app.db.base import json_object, label, tenant_table, timestamp

checkpoint_threads = tenant_table(
    "checkpoint_threads",
    label("thread_id", required=True),
    label("user_id"),
    label("session_id"),
    json_object("settings"),
    timestamp("created_at", required=True),
    timestamp("updated_at", required=True),
    PrimaryKeyConstraint("tenant_id", "thread_id"),
    ForeignKeyConstraint(
        ["tenant_id", "session_id"], ["sessions.tenant_id", "sessions.id"], ondelete="SET NULL (session_id)"
    ),
    Index(None, "tenant_id", "user_id", postgresql_where=text("user_id IS NOT NULL")),
    Index(None, "tenant_id", "session_id", postgresql_where=text("session_id IS NOT NULL")),
)

_THREAD = (["tenant_id", "thread_id"], ["checkpoint_threads.tenant_id", "checkpoint_threads.thread_id"])

checkpoints = tenant_table(
    "checkpoints",
    label("thread_id", required=True),
    label("ns", required=True),
    label("checkpoint_id", required=True),
    label("parent_id"),
    label("run_id"),
    label("label"),
    label("type", required=True),
    Column("document", LargeBinary, nullable=False),
    json_object("channel_versions"),
    json_object("metadata"),
    Column("position", BigInteger, nullable=False),
    timestamp("created_at", required=True),
    timestamp("expires_at"),
    PrimaryKeyConstraint("tenant_id", "thread_id", "ns", "checkpoint_id"),
    ForeignKeyConstraint(*_THREAD, ondelete="CASCADE"),
    Index(None, "tenant_id", "run_id", postgresql_where=text("run_id IS NOT NULL")),
    Index(None, "tenant_id", "expires_at", postgresql_where=text("expires_at IS NOT NULL")),
)

checkpoint_blobs = tenant_table(
    "checkpoint_blobs",
    label("thread_id", required=True),
    label("ns", required=True),
    label("channel", required=True),
    label("version", required=True),
    label("type", required=True),
    label("codec"),
    Column("blob", LargeBinary),
    PrimaryKeyConstraint("tenant_id", "thread_id", "ns", "channel", "version"),
    ForeignKeyConstraint(*_THREAD, ondelete="CASCADE"),
)

checkpoint_writes = tenant_table(
    "checkpoint_writes",
    label("thread_id", required=True),
    label("ns", required=True),
    label("checkpoint_id", required=True),
    label("task_id", required=True),
    Column("idx", Integer, nullable=False),
    label("task_path", required=True),
    label("channel", required=True),
    label("type", required=True),
    Column("blob", LargeBinary, nullable=False),
    PrimaryKeyConstraint("tenant_id", "thread_id", "ns", "checkpoint_id", "task_id", "idx"),
    ForeignKeyConstraint(*_THREAD, ondelete="CASCADE"),
)

store_items = tenant_table(
    "store_items",
    Column("namespace", ARRAY(Text(collation="C")), nullable=False),
    label("key", required=True),
    label("user_id"),
    Column("value", JSONB, nullable=False),
    Column("ttl_minutes", Double),
    timestamp("created_at", required=True),
    timestamp("updated_at", required=True),
    timestamp("expires_at"),
    PrimaryKeyConstraint("tenant_id", "namespace", "key"),
    Index(None, "tenant_id", "user_id", postgresql_where=text("user_id IS NOT NULL")),
    Index(None, "tenant_id", "expires_at", postgresql_where=text("expires_at IS NOT NULL")),
)
