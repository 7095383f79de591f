"""What is counted per owner: read-your-writes, BM25's statistics, the choice of a search path."""

from sqlalchemy import BigInteger, Column, Index, PrimaryKeyConstraint, text

from app.db.base import label, tenant_table, timestamp

_ZERO = text("0")

owner_stats = tenant_table(
    "owner_stats",
    label("owner", required=True),
    Column("version", BigInteger, nullable=False, server_default=_ZERO),
    Column("memory_count", BigInteger, nullable=False, server_default=_ZERO),
    Column("memory_tokens", BigInteger, nullable=False, server_default=_ZERO),
    Column("message_count", BigInteger, nullable=False, server_default=_ZERO),
    Column("message_tokens", BigInteger, nullable=False, server_default=_ZERO),
    Column("memory_version", BigInteger, nullable=False, server_default=_ZERO),
    timestamp("maintained_at"),
    timestamp("reflected_at"),
    timestamp("dreamed_at"),
    PrimaryKeyConstraint("tenant_id", "owner"),
    Index(None, "tenant_id", "maintained_at", postgresql_where=text("memory_count > 0")),
    Index(None, "tenant_id", "dreamed_at", postgresql_where=text("memory_count > 0")),
)
