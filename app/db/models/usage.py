"""What tenants have used of the language model, by day."""

from sqlalchemy import BigInteger, Column, Date, PrimaryKeyConstraint, text

from app.db.base import tenant_table

_ZERO = text("0")

language_model_usage = tenant_table(
    "language_model_usage",
    Column("day", Date, nullable=False),
    Column("calls", BigInteger, nullable=False, server_default=_ZERO),
    Column("tokens", BigInteger, nullable=False, server_default=_ZERO),
    PrimaryKeyConstraint("tenant_id", "day"),
)
