"""What the service keeps about its own doings: answers given, changes made, contexts prepared, searches explained."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Text,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from app.db.base import json_object, label, one_of, tenant_table, timestamp
from app.domain.erasure import ERASURE_STATES

idempotency_keys = tenant_table(
    "idempotency_keys",
    Column("principal_id", Uuid, nullable=False),
    label("method", required=True),
    label("route", required=True),
    label("key", required=True),
    Column("request_hash", LargeBinary, nullable=False),
    label("user_id"),
    Column("status", Integer, nullable=False),
    Column("body", Text, nullable=False),
    timestamp("created_at", required=True),
    PrimaryKeyConstraint("tenant_id", "principal_id", "method", "route", "key"),
    Index(None, "tenant_id", "created_at"),
    Index(None, "tenant_id", "user_id", postgresql_where=text("user_id IS NOT NULL")),
    Index("ix_idempotency_keys_of_nobody", "tenant_id", postgresql_where=text("user_id IS NULL")),
)

search_explanations = tenant_table(
    "search_explanations",
    Column("id", Uuid, nullable=False),
    Column("key_id", Uuid, nullable=False),
    label("user_id"),
    Column("content", JSONB, nullable=False),
    timestamp("created_at", required=True),
    PrimaryKeyConstraint("tenant_id", "id"),
    Index(None, "tenant_id", "created_at"),
    Index(None, "tenant_id", "user_id", postgresql_where=text("user_id IS NOT NULL")),
    Index("ix_search_explanations_of_nobody", "tenant_id", postgresql_where=text("user_id IS NULL")),
)

audit_log = tenant_table(
    "audit_log",
    Column("id", Uuid, nullable=False),
    label("actor", required=True),
    label("action", required=True),
    label("resource", required=True),
    label("resource_id"),
    json_object("details"),
    timestamp("created_at", required=True),
    Column("position", BigInteger),
    Column("previous_hash", LargeBinary),
    Column("hash", LargeBinary),
    PrimaryKeyConstraint("tenant_id", "id"),
    Index("uq_audit_log_position", "tenant_id", "position", unique=True, postgresql_where=text("position IS NOT NULL")),
    Index("ix_audit_log_unsealed", "tenant_id", "id", postgresql_where=text("position IS NULL")),
    label("subject"),
    Index(None, "tenant_id", "subject", "id", postgresql_where=text("subject IS NOT NULL")),
    Index(None, "tenant_id", "resource_id", "id", postgresql_where=text("resource_id IS NOT NULL")),
)
"""Ids that clients choose stand here as HMACs, `subject` is the user's: an erasure leaves nothing to take out."""

audit_heads = tenant_table(
    "audit_heads",
    Column("position", BigInteger, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    PrimaryKeyConstraint("tenant_id"),
)
"""Where each tenant's chain of audit lines ends: without it the last lines could be cut off unseen."""

erasures = tenant_table(
    "erasures",
    Column("id", Uuid, nullable=False),
    label("subject", required=True),
    label("state", required=True),
    label("requested_by", required=True),
    timestamp("requested_at", required=True),
    timestamp("finished_at"),
    json_object("counts"),
    Column("chain_position", BigInteger),
    Column("chain_hash", LargeBinary),
    PrimaryKeyConstraint("tenant_id", "id"),
    CheckConstraint(one_of("state", ERASURE_STATES), name="state"),
    Index(None, "tenant_id", "subject"),
)
"""What was erased, for whom as an HMAC: the receipt, and the tombstone that keeps late writes from reviving anyone."""

context_cache = tenant_table(
    "context_cache",
    label("session_id", required=True),
    label("variant", required=True),
    Column("owner_version", BigInteger, nullable=False),
    Column("last_seq", BigInteger, nullable=False),
    Column("content", JSONB, nullable=False),
    timestamp("created_at", required=True),
    PrimaryKeyConstraint("tenant_id", "session_id", "variant"),
    Index(None, "tenant_id", "created_at"),
    ForeignKeyConstraint(["tenant_id", "session_id"], ["sessions.tenant_id", "sessions.id"], ondelete="CASCADE"),
    prefixes=["UNLOGGED"],
)
