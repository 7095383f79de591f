"""Procedural memory. Each row here is the rest of a row of `memories`, which says whose it is and is searched.

The owner is the memory's: it stands here too, so that lists begin with it.
"""

from sqlalchemy import (
    ARRAY,
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
from app.domain.procedure import OUTCOMES

_ZERO = text("0")
_NONE = text("'[]'::jsonb")

procedures = tenant_table(
    "procedures",
    Column("id", Uuid, nullable=False),
    label("owner", required=True),
    Column("title", Text, nullable=False),
    Column("when_to_use", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("steps", JSONB, nullable=False, server_default=_NONE),
    Column("examples", JSONB, nullable=False, server_default=_NONE),
    Column("tags", ARRAY(Text), nullable=False, server_default=text("'{}'::text[]")),
    label("path", required=True),
    json_object("front_matter"),
    Column("file", Text),
    Column("successes", Integer, nullable=False, server_default=_ZERO),
    Column("failures", Integer, nullable=False, server_default=_ZERO),
    Column("lesson_id", Uuid),
    Column("version", Integer, nullable=False, server_default=text("1")),
    timestamp("created_at", required=True),
    timestamp("updated_at", required=True),
    PrimaryKeyConstraint("tenant_id", "id"),
    ForeignKeyConstraint(["tenant_id", "id"], ["memories.tenant_id", "memories.id"], ondelete="CASCADE"),
    ForeignKeyConstraint(
        ["tenant_id", "lesson_id"], ["memories.tenant_id", "memories.id"], ondelete="SET NULL (lesson_id)"
    ),
    Index(None, "tenant_id", "owner", "id"),
    Index(None, "tenant_id", "lesson_id", postgresql_where=text("lesson_id IS NOT NULL")),
)

procedure_versions = tenant_table(
    "procedure_versions",
    Column("procedure_id", Uuid, nullable=False),
    Column("version", Integer, nullable=False),
    Column("document", JSONB, nullable=False),
    label("actor", required=True),
    timestamp("created_at", required=True),
    PrimaryKeyConstraint("tenant_id", "procedure_id", "version"),
    ForeignKeyConstraint(["tenant_id", "procedure_id"], ["procedures.tenant_id", "procedures.id"], ondelete="CASCADE"),
)

lessons = tenant_table(
    "lessons",
    Column("id", Uuid, nullable=False),
    label("owner", required=True),
    label("outcome", required=True),
    Column("task", Text, nullable=False),
    Column("successes", Integer, nullable=False, server_default=_ZERO),
    Column("failures", Integer, nullable=False, server_default=_ZERO),
    PrimaryKeyConstraint("tenant_id", "id"),
    ForeignKeyConstraint(["tenant_id", "id"], ["memories.tenant_id", "memories.id"], ondelete="CASCADE"),
    CheckConstraint(one_of("outcome", OUTCOMES), name="outcome"),
    Index(None, "tenant_id", "owner", "id"),
)

experiences = tenant_table(
    "experiences",
    Column("id", Uuid, nullable=False),
    Column("lesson_id", Uuid, nullable=False),
    label("session_id"),
    label("outcome", required=True),
    Column("task", Text, nullable=False),
    Column("steps", JSONB, nullable=False, server_default=_NONE),
    Column("evaluation", Text),
    timestamp("created_at", required=True),
    PrimaryKeyConstraint("tenant_id", "id"),
    ForeignKeyConstraint(["tenant_id", "lesson_id"], ["lessons.tenant_id", "lessons.id"], ondelete="CASCADE"),
    ForeignKeyConstraint(
        ["tenant_id", "session_id"], ["sessions.tenant_id", "sessions.id"], ondelete="SET NULL (session_id)"
    ),
    CheckConstraint(one_of("outcome", OUTCOMES), name="outcome"),
    Index(None, "tenant_id", "lesson_id", "id"),
    Index(None, "tenant_id", "session_id", postgresql_where=text("session_id IS NOT NULL")),
)
