"""Tenants and the keys that open them: global tables, read before the tenant is known."""

from typing import Final

from sqlalchemy import (
    ARRAY,
    CheckConstraint,
    Column,
    ForeignKey,
    Integer,
    LargeBinary,
    SmallInteger,
    Table,
    Text,
    Uuid,
    text,
)

from app.db.base import json_object, label, metadata, one_of, timestamp
from app.domain.principal import ROLES

RANDOM_KEY: Final = "uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())"
"""32 bytes of which 244 bits are random: what a tenant's contexts are signed with."""

tenants = Table(
    "tenants",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("name", Text(collation="C"), nullable=False, unique=True),
    json_object("settings"),
    timestamp("created_at", required=True),
    Column("fence_key", LargeBinary, nullable=False, server_default=text(RANDOM_KEY)),
)

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("tenant_id", Uuid, ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("name", Text, nullable=False),
    label("prefix", required=True),
    Column("key_hash", LargeBinary, nullable=False, unique=True),
    label("role", required=True),
    Column("scopes", ARRAY(Text), nullable=False),
    Column("user_ids", ARRAY(Text)),
    timestamp("created_at", required=True),
    timestamp("expires_at"),
    timestamp("revoked_at"),
    timestamp("last_used_at"),
    Column("rate_limit", Integer),
    CheckConstraint(one_of("role", ROLES), name="role"),
    CheckConstraint("rate_limit > 0", name="rate_limit"),
)

rate_buckets = Table(
    "rate_buckets",
    metadata,
    Column("subject", Text(collation="C"), primary_key=True),
    timestamp("full_at", required=True),
    prefixes=["UNLOGGED"],
)
"""When each bucket will be full again (`app.domain.rates`): of a key's calls, of an address's wrong keys."""

installation = Table(
    "installation",
    metadata,
    Column("id", SmallInteger, primary_key=True, autoincrement=False),
    Column("pseudonym_key", LargeBinary, nullable=False, server_default=text(RANDOM_KEY)),
    CheckConstraint("id = 1", name="single"),
)
"""One row. Its key makes pseudonyms of users' ids, in the audit log and in receipts of erasures."""
