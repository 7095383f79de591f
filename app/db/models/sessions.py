"""Sessions, their versioned state and their summaries."""

from sqlalchemy import (
    ARRAY,
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Text,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from app.db.base import json_object, label, one_of, tenant_table, timestamp
from app.domain.session import MEMORY_MODES, SESSION_STATUSES

_ZERO = text("0")

sessions = tenant_table(
    "sessions",
    label("id", required=True),
    label("owner", required=True),
    label("user_id"),
    label("agent_id"),
    label("app_id"),
    Column("title", Text),
    Column("timezone", Text),
    json_object("metadata"),
    label("memory", required=True),
    label("status", required=True),
    Column("version", Integer, nullable=False, server_default=text("1")),
    Column("last_seq", BigInteger, nullable=False, server_default=_ZERO),
    Column("embedded_seq", BigInteger, nullable=False, server_default=_ZERO),
    Column("extracted_seq", BigInteger, nullable=False, server_default=_ZERO),
    Column("summarized_seq", BigInteger, nullable=False, server_default=_ZERO),
    Column("message_count", BigInteger, nullable=False, server_default=_ZERO),
    label("forked_from"),
    Column("forked_at_seq", BigInteger),
    timestamp("created_at", required=True),
    timestamp("updated_at", required=True),
    timestamp("last_message_at"),
    timestamp("closed_at"),
    timestamp("expires_at"),
    Column("weighed_seq", BigInteger, nullable=False, server_default=_ZERO),
    timestamp("known_at"),
    PrimaryKeyConstraint("tenant_id", "id"),
    CheckConstraint(one_of("memory", MEMORY_MODES), name="memory"),
    CheckConstraint(one_of("status", SESSION_STATUSES), name="status"),
    Index(None, "tenant_id", "created_at", "id"),
    Index(None, "tenant_id", "owner", "created_at", "id"),
    Index(None, "tenant_id", "agent_id", "created_at", "id", postgresql_where=text("agent_id IS NOT NULL")),
    Index(None, "tenant_id", "app_id", "created_at", "id", postgresql_where=text("app_id IS NOT NULL")),
    Index(None, "tenant_id", "expires_at", postgresql_where=text("expires_at IS NOT NULL")),
    Index(
        "ix_sessions_extraction_lag",
        "tenant_id",
        "updated_at",
        postgresql_where=text("extracted_seq < last_seq AND memory = 'on'"),
    ),
    Index("ix_sessions_folding_lag", "tenant_id", "updated_at", postgresql_where=text("weighed_seq < last_seq")),
    Index("ix_sessions_embedding_lag", "tenant_id", "updated_at", postgresql_where=text("embedded_seq < last_seq")),
)

session_states = tenant_table(
    "session_states",
    label("session_id", required=True),
    Column("version", Integer, nullable=False),
    Column("document", JSONB, nullable=False),
    label("actor", required=True),
    timestamp("created_at", required=True),
    Column("at_seq", BigInteger),
    PrimaryKeyConstraint("tenant_id", "session_id", "version"),
    ForeignKeyConstraint(["tenant_id", "session_id"], ["sessions.tenant_id", "sessions.id"], ondelete="CASCADE"),
)

summaries = tenant_table(
    "summaries",
    Column("id", Uuid, nullable=False),
    label("session_id", required=True),
    Column("level", Integer, nullable=False),
    Column("from_seq", BigInteger, nullable=False),
    Column("to_seq", BigInteger, nullable=False),
    Column("text", Text, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("parents", ARRAY(Uuid), nullable=False, server_default=text("'{}'::uuid[]")),
    json_object("details"),
    timestamp("created_at", required=True),
    timestamp("superseded_at"),
    PrimaryKeyConstraint("tenant_id", "id"),
    ForeignKeyConstraint(["tenant_id", "session_id"], ["sessions.tenant_id", "sessions.id"], ondelete="CASCADE"),
    CheckConstraint("from_seq <= to_seq", name="range"),
    Index(None, "tenant_id", "session_id", "level", "from_seq"),
    Index(
        "ix_summaries_current",
        "tenant_id",
        "session_id",
        "from_seq",
        postgresql_where=text("superseded_at IS NULL"),
    ),
)
