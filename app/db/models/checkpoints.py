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
    SmallInteger,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from app.db.base import json_object, label, tenant_table, timestamp
from app.db.types import Halfvec

checkpoint_threads = tenant_table(
    "checkpoint_threads",
    label("thread_id", required=True),
    label("user_id"),
    label("session_id"),
    json_object("settings"),
    timestamp("created_at", required=True),
    timestamp("updated_at", required=True),
    PrimaryKeyConstraint("tenant_id", "thread_id"),
    Column("last_position", BigInteger, nullable=False, server_default=text("0")),
    ForeignKeyConstraint(["tenant_id", "session_id"], ["sessions.tenant_id", "sessions.id"], ondelete="CASCADE"),
    Index(None, "tenant_id", "user_id", postgresql_where=text("user_id IS NOT NULL")),
    Index(None, "tenant_id", "session_id", postgresql_where=text("session_id IS NOT NULL")),
)
"""`session_id` is set where the thread is a session's own: it goes with the session."""

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
    Column("message_seq", BigInteger),
    PrimaryKeyConstraint("tenant_id", "thread_id", "ns", "checkpoint_id"),
    ForeignKeyConstraint(*_THREAD, ondelete="CASCADE"),
    Index(
        "ix_checkpoints_position",
        *("tenant_id", "thread_id", "position"),
        unique=True,
        postgresql_where=text("position > 0"),
    ),
    Index(None, "tenant_id", "checkpoint_id"),
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

checkpoint_steps = tenant_table(
    "checkpoint_steps",
    label("thread_id", required=True),
    label("step_id", required=True),
    label("checkpoint_id"),
    Column("position", BigInteger, nullable=False),
    Column("input", JSONB),
    Column("output", JSONB),
    timestamp("created_at", required=True),
    PrimaryKeyConstraint("tenant_id", "thread_id", "step_id"),
    ForeignKeyConstraint(*_THREAD, ondelete="CASCADE"),
    Index("ix_checkpoint_steps_position", "tenant_id", "thread_id", "position", unique=True),
)

store_items = tenant_table(
    "store_items",
    Column("id", Uuid, nullable=False),
    label("path", required=True),
    label("key", required=True),
    label("user_id"),
    Column("value", JSONB, nullable=False),
    Column("ttl_minutes", Double),
    timestamp("created_at", required=True),
    timestamp("updated_at", required=True),
    timestamp("expires_at"),
    PrimaryKeyConstraint("tenant_id", "path", "key"),
    UniqueConstraint("tenant_id", "id"),
    Index(None, "tenant_id", "user_id", postgresql_where=text("user_id IS NOT NULL")),
    Index(None, "tenant_id", "expires_at", postgresql_where=text("expires_at IS NOT NULL")),
)
"""`path` is the namespace as one text: what lies below a namespace is a range of it, which an array's order is not."""

store_texts = tenant_table(
    "store_texts",
    Column("item_id", Uuid, nullable=False),
    Column("part", SmallInteger, nullable=False),
    Column("length", Integer, nullable=False),
    Column("tokens", ARRAY(Text(collation="C")), nullable=False),
    Column("model_id", SmallInteger),
    Column("embedding", Halfvec),
    Column("text", Text),
    Column("second_model_id", SmallInteger),
    Column("second_embedding", Halfvec),
    PrimaryKeyConstraint("tenant_id", "item_id", "part"),
    ForeignKeyConstraint(["tenant_id", "item_id"], ["store_items.tenant_id", "store_items.id"], ondelete="CASCADE"),
)
"""What is searched of a stored item: one row for each indexed field, replaced with the item.

While two embedding models stand side by side, the second one's vector is there too. `text` is what was embedded; rows
of before it was kept have their tokens."""
