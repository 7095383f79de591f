"""Messages, their postings for the lexical leg and their vectors for the dense one."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
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

from app.db.base import json_object, label, one_of, tenant_table, timestamp
from app.db.types import Halfvec
from app.domain.session import MESSAGE_ROLES

messages = tenant_table(
    "messages",
    Column("id", Uuid, nullable=False),
    label("session_id", required=True),
    Column("seq", BigInteger, nullable=False),
    label("owner", required=True),
    label("external_id"),
    label("role", required=True),
    Column("text", Text, nullable=False),
    Column("parts", JSONB(none_as_null=True)),
    Column("tool_calls", JSONB(none_as_null=True)),
    Column("tool_call_id", Text),
    Column("name", Text),
    Column("timezone", Text),
    Column("tokens", Integer, nullable=False),
    Column("length", Integer, nullable=False),
    Column("content_hash", LargeBinary, nullable=False),
    json_object("metadata"),
    timestamp("occurred_at", required=True),
    timestamp("created_at", required=True),
    timestamp("redacted_at"),
    PrimaryKeyConstraint("tenant_id", "id"),
    UniqueConstraint("tenant_id", "session_id", "seq"),
    ForeignKeyConstraint(["tenant_id", "session_id"], ["sessions.tenant_id", "sessions.id"], ondelete="CASCADE"),
    CheckConstraint(one_of("role", MESSAGE_ROLES), name="role"),
    Index(
        "uq_messages_external_id",
        "tenant_id",
        "session_id",
        "external_id",
        unique=True,
        postgresql_where=text("external_id IS NOT NULL"),
    ),
    Index(None, "tenant_id", "owner", "occurred_at"),
)

message_postings = tenant_table(
    "message_postings",
    label("owner", required=True),
    label("token", required=True),
    Column("message_id", Uuid, nullable=False),
    Column("tf", Integer, nullable=False),
    Column("len", Integer, nullable=False),
    PrimaryKeyConstraint("tenant_id", "owner", "token", "message_id", postgresql_include=["tf", "len"]),
    ForeignKeyConstraint(["tenant_id", "message_id"], ["messages.tenant_id", "messages.id"], ondelete="CASCADE"),
    Index(None, "tenant_id", "message_id"),
)

message_vectors = tenant_table(
    "message_vectors",
    Column("message_id", Uuid, nullable=False),
    Column("model_id", SmallInteger, nullable=False),
    label("owner", required=True),
    Column("text_hash", LargeBinary, nullable=False),
    Column("embedding", Halfvec, nullable=False),
    PrimaryKeyConstraint("tenant_id", "message_id", "model_id"),
    ForeignKeyConstraint(["tenant_id", "message_id"], ["messages.tenant_id", "messages.id"], ondelete="CASCADE"),
    ForeignKeyConstraint(["model_id"], ["embedding_models.id"]),
    Index(None, "tenant_id", "owner", "model_id"),
)
