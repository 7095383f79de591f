"""The people whom agents speak with."""

from sqlalchemy import Column, PrimaryKeyConstraint, Text

from app.db.base import json_object, label, tenant_table, timestamp

users = tenant_table(
    "users",
    label("id", required=True),
    Column("timezone", Text),
    json_object("metadata"),
    timestamp("first_seen_at", required=True),
    timestamp("updated_at", required=True),
    timestamp("erased_at"),
    PrimaryKeyConstraint("tenant_id", "id"),
)
