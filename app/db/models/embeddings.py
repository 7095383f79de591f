"""The embedding models that have ever served: global, their small id stands in every vector."""

from sqlalchemy import CheckConstraint, Column, Identity, Integer, SmallInteger, Table, Text

from app.db.base import json_object, label, metadata, one_of, timestamp
from app.domain.embedding import MODEL_STATUSES

embedding_models = Table(
    "embedding_models",
    metadata,
    Column("id", SmallInteger, Identity(always=True), primary_key=True),
    Column("name", Text(collation="C"), nullable=False, unique=True),
    Column("dimension", Integer, nullable=False),
    label("metric", required=True),
    label("status", required=True),
    json_object("calibration"),
    timestamp("created_at", required=True),
    timestamp("activated_at"),
    timestamp("retired_at"),
    json_object("progress"),
    CheckConstraint(one_of("status", MODEL_STATUSES), name="status"),
    CheckConstraint(one_of("metric", ("cosine",)), name="metric"),
    CheckConstraint("dimension BETWEEN 1 AND 4000", name="dimension"),
)
