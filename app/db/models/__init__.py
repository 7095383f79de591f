"""The tables, one module a subject. Importing this package fills `app.db.base.metadata`."""

from app.db.models.access import api_keys, installation, rate_buckets, tenants
from app.db.models.blocks import block_versions, blocks
from app.db.models.checkpoints import (
    checkpoint_blobs,
    checkpoint_steps,
    checkpoint_threads,
    checkpoint_writes,
    checkpoints,
    store_items,
    store_texts,
)
from app.db.models.dreams import dreams
from app.db.models.embeddings import embedding_models
from app.db.models.jobs import jobs
from app.db.models.keys import key_aliases, memory_keys
from app.db.models.ledger import audit_heads, audit_log, context_cache, erasures, idempotency_keys, search_explanations
from app.db.models.memories import (
    memories,
    memory_conflicts,
    memory_events,
    memory_postings,
    memory_sources,
    memory_vectors,
)
from app.db.models.messages import message_postings, message_vectors, messages
from app.db.models.owners import owner_stats
from app.db.models.procedures import experiences, lessons, procedure_versions, procedures
from app.db.models.sessions import session_states, sessions, summaries
from app.db.models.usage import language_model_usage, tenant_usage, usage_changes
from app.db.models.users import users

__all__ = [
    "api_keys",
    "audit_heads",
    "audit_log",
    "block_versions",
    "blocks",
    "checkpoint_blobs",
    "checkpoint_steps",
    "checkpoint_threads",
    "checkpoint_writes",
    "checkpoints",
    "context_cache",
    "dreams",
    "embedding_models",
    "erasures",
    "experiences",
    "idempotency_keys",
    "installation",
    "jobs",
    "key_aliases",
    "language_model_usage",
    "lessons",
    "memories",
    "memory_conflicts",
    "memory_events",
    "memory_keys",
    "memory_postings",
    "memory_sources",
    "memory_vectors",
    "message_postings",
    "message_vectors",
    "messages",
    "owner_stats",
    "procedure_versions",
    "procedures",
    "rate_buckets",
    "search_explanations",
    "session_states",
    "sessions",
    "store_items",
    "store_texts",
    "summaries",
    "tenant_usage",
    "tenants",
    "usage_changes",
    "users",
]
