"""Jobs: the record of background work. The queue library only wakes it and carries ids."""

from sqlalchemy import CheckConstraint, Column, Index, Integer, PrimaryKeyConstraint, Text, Uuid, text
from sqlalchemy.dialects.postgresql import JSONB

from app.db.base import json_object, label, one_of, tenant_table, timestamp
from app.domain.jobs import JOB_KINDS, JOB_STATES

jobs = tenant_table(
    "jobs",
    Column("id", Uuid, nullable=False),
    label("kind", required=True),
    label("subject", required=True),
    label("user_id"),
    label("state", required=True),
    json_object("payload"),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("error", Text),
    Column("input_window", JSONB(none_as_null=True)),
    Column("result", JSONB(none_as_null=True)),
    timestamp("run_after", required=True),
    timestamp("created_at", required=True),
    timestamp("updated_at", required=True),
    timestamp("started_at"),
    timestamp("finished_at"),
    PrimaryKeyConstraint("tenant_id", "id"),
    CheckConstraint(one_of("kind", JOB_KINDS), name="kind"),
    CheckConstraint(one_of("state", JOB_STATES), name="state"),
    Index("uq_jobs_queued", "tenant_id", "kind", "subject", unique=True, postgresql_where=text("state = 'queued'")),
    Index("uq_jobs_running", "tenant_id", "kind", "subject", unique=True, postgresql_where=text("state = 'running'")),
    Index("ix_jobs_unfinished", "tenant_id", "state", "run_after", postgresql_where=text("finished_at IS NULL")),
    Index(None, "tenant_id", "kind", "subject", "id"),
    Index(None, "tenant_id", "state", "id"),
    Index(None, "tenant_id", "kind", "finished_at", postgresql_where=text("finished_at IS NOT NULL")),
    Index(None, "tenant_id", "user_id", postgresql_where=text("user_id IS NOT NULL")),
)
