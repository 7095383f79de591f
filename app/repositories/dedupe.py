"""One memory for one text: what a current one that says the same already takes from a new saying."""

from typing import Any, Final

from sqlalchemy import case, false, func, literal_column, null, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.sql.dml import ReturningInsert

from app.db.models import memories
from app.db.models.memories import CURRENT

DEDUPE: Final = (
    memories.c.tenant_id,
    memories.c.owner,
    text("(CASE WHEN extracted THEN NULL ELSE agent_id END)"),
    text("(CASE WHEN extracted THEN NULL ELSE app_id END)"),
    memories.c.session_id,
    memories.c.kind,
    memories.c.content_hash,
    memories.c.key,
    text("md5(value::text)"),
)

REINFORCED: Final = memories.c.confidence + (1.0 - memories.c.confidence) * 0.1
"""As `domain.memory.reinforced` has it."""


def _put() -> ReturningInsert[Any]:
    statement = insert(memories)
    given, known = statement.excluded, memories.c
    settled = known.uncertain & ~given.uncertain
    return statement.on_conflict_do_update(
        index_elements=DEDUPE,
        index_where=text(CURRENT),
        set_={
            "seen_count": known.seen_count + 1,
            "last_seen_at": func.greatest(known.last_seen_at, given.last_seen_at),
            "confidence": case((settled, func.greatest(given.confidence, REINFORCED)), else_=REINFORCED),
            "uncertain": known.uncertain & given.uncertain,
            "needs_confirmation": false(),
            "source": case((settled, given.source), else_=known.source),
            "expires_at": case(
                (known.expires_at <= given.created_at, known.expires_at),
                (given.expires_at.is_(None), null()),
                (known.expires_at.is_(None), null()),
                else_=func.greatest(known.expires_at, given.expires_at),
            ),
            "version": case((settled, known.version + 1), else_=known.version),
            "updated_at": case((settled, given.updated_at), else_=known.updated_at),
        },
    ).returning(memories, literal_column("(xmax = 0)").label("created"))


PUT: Final = _put()
"""Built once."""
