"""Dreams: what a look over an owner's memories would change, until somebody has decided about it."""

from sqlalchemy import CheckConstraint, Column, Index, Integer, PrimaryKeyConstraint, Uuid, text

from app.db.base import json_object, label, one_of, tenant_table, timestamp
from app.domain.dreaming.changes import DREAM_STATES

dreams = tenant_table(
    "dreams",
    Column("id", Uuid, nullable=False),
    label("user_id", required=True),
    label("state", required=True),
    json_object("changes"),
    Column("job_id", Uuid),
    Column("version", Integer, nullable=False, server_default=text("1")),
    timestamp("created_at", required=True),
    timestamp("decided_at"),
    PrimaryKeyConstraint("tenant_id", "id"),
    CheckConstraint(one_of("state", DREAM_STATES), name="state"),
    Index(None, "tenant_id", "user_id", "id"),
    Index(None, "tenant_id", "created_at"),
)
