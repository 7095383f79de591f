"""The catalogue of tables: naming, and what every table of a tenant has in common."""

from typing import Any, Final

from sqlalchemy import Column, DateTime, MetaData, Table, Text, Uuid, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.schema import SchemaItem

from app.db.types import Halfvec

NAMING: Final = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}

metadata = MetaData(naming_convention=NAMING)

APP_ROLE: Final = "mnemic_app"
"""The role that the API and the worker act under: bound by row-level security, owner of nothing."""

GLOBAL_TABLES: Final = frozenset({"tenants", "api_keys", "embedding_models", "installation", "rate_buckets"})
"""Tables without a tenant's row-level security: they are read before the tenant is known."""

POLICY_EXPRESSION: Final = "tenant_id = nullif(current_setting('app.tenant', true), '')::uuid"
"""After one SET LOCAL the setting of a pooled connection is '' and not NULL: hence nullif."""


def tenant_table(name: str, *items: SchemaItem, **options: Any) -> Table:  # noqa: ANN401 - Table's own keywords
    """A table whose rows belong to a tenant: led by `tenant_id`, guarded by row-level security."""
    return Table(name, metadata, Column("tenant_id", Uuid, nullable=False), *items, **options)


def timestamp(name: str, *, required: bool = False) -> Column[Any]:
    """An instant, stored as `timestamptz`."""
    return Column(name, DateTime(timezone=True), nullable=not required)


def json_object(name: str) -> Column[Any]:
    """A JSON object, `{}` where nothing was said."""
    return Column(name, JSONB, nullable=False, server_default=text("'{}'::jsonb"))


def label(name: str, *, required: bool = False) -> Column[Any]:
    """An id or a word: compared byte by byte, so that order and prefix ranges do not depend on a locale."""
    return Column(name, Text(collation="C"), nullable=not required)


def one_of(column: str, values: tuple[str, ...]) -> str:
    """The text of a CHECK that keeps `column` within `values`; enums' `=` is not leakproof, so text it is."""
    quoted = ", ".join(f"'{value}'" for value in values)
    return f"{column} IN ({quoted})"


def tenant_tables() -> list[Table]:
    """Every table under row-level security, parents before children."""
    return [table for table in metadata.sorted_tables if table.name not in GLOBAL_TABLES]


def policy_statements(table: str) -> list[str]:
    """DDL that puts `table` under the tenant policy, for its owner too."""
    return [
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
        f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY",
        f"CREATE POLICY tenant_isolation ON {table} USING ({POLICY_EXPRESSION}) WITH CHECK ({POLICY_EXPRESSION})",
    ]


def storage_statements() -> list[str]:
    """DDL that keeps every vector in its row: a TOASTed one would cost a second fetch in each exact scan."""
    return [
        f"ALTER TABLE {table.name} ALTER COLUMN {column.name} SET STORAGE PLAIN"
        for table in metadata.sorted_tables
        for column in table.columns
        if isinstance(column.type, Halfvec)
    ]
