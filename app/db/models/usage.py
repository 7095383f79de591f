"""What tenants have used: of the language model by day, and of the room that they have."""

from sqlalchemy import BigInteger, Boolean, Column, Date, Identity, PrimaryKeyConstraint, false, text

from app.db.base import tenant_table

_ZERO = text("0")

language_model_usage = tenant_table(
    "language_model_usage",
    Column("day", Date, nullable=False),
    Column("calls", BigInteger, nullable=False, server_default=_ZERO),
    Column("tokens", BigInteger, nullable=False, server_default=_ZERO),
    PrimaryKeyConstraint("tenant_id", "day"),
)

tenant_usage = tenant_table(
    "tenant_usage",
    Column("memories", BigInteger, nullable=False, server_default=_ZERO),
    Column("messages", BigInteger, nullable=False, server_default=_ZERO),
    Column("bytes", BigInteger, nullable=False, server_default=_ZERO),
    Column("memory_limit", BigInteger),
    Column("message_limit", BigInteger),
    Column("byte_limit", BigInteger),
    Column("counted", Boolean, nullable=False, server_default=false()),
    PrimaryKeyConstraint("tenant_id"),
)
"""What a tenant holds, if it has a limit. `counted` once what was there before is in it (`app.db.metering`)."""

usage_changes = tenant_table(
    "usage_changes",
    Column("id", BigInteger, Identity(always=True), nullable=False),
    Column("memories", BigInteger, nullable=False),
    Column("messages", BigInteger, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    PrimaryKeyConstraint("tenant_id", "id"),
    prefixes=["UNLOGGED"],
)
"""What a transaction has added so far. No row outlives its transaction."""
