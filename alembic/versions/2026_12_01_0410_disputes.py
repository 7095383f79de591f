"""Disputes: when one was opened again; of equal texts one is current, whether it is disputed or not."""

from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

BEFORE, AFTER = "uq_memories_active_content", "uq_memories_current_content"
CONTENT = (
    "tenant_id, owner, (CASE WHEN extracted THEN NULL ELSE agent_id END), "
    "(CASE WHEN extracted THEN NULL ELSE app_id END), session_id, kind, content_hash, key, md5(value::text)"
)

JOIN_TWINS = f"""
WITH ranked AS (
    SELECT tenant_id, id, owner, length,
           first_value(id) OVER same AS kept, row_number() OVER same AS place
    FROM memories WHERE status IN ('active', 'disputed')
    WINDOW same AS (PARTITION BY {CONTENT} ORDER BY status, id)
), gone AS (
    UPDATE memories m SET status = 'superseded', superseded_by = r.kept, superseded_at = now(), valid_to = now(),
        updated_at = now(), version = m.version + 1
    FROM ranked r WHERE r.place > 1 AND m.tenant_id = r.tenant_id AND m.id = r.id
    RETURNING m.tenant_id, m.id, m.owner, m.length
), closed AS (
    UPDATE memory_conflicts c SET resolution = 'displaced', resolved_at = now()
    FROM gone g WHERE c.tenant_id = g.tenant_id AND g.id IN (c.memory_id, c.other_id) AND c.resolved_at IS NULL
)
UPDATE owner_stats s SET memory_count = s.memory_count - g.rows, memory_tokens = s.memory_tokens - g.tokens
FROM (SELECT tenant_id, owner, count(*) AS rows, sum(length) AS tokens FROM gone GROUP BY tenant_id, owner) g
WHERE s.tenant_id = g.tenant_id AND s.owner = g.owner
"""
"""Of equal texts the active one stays, else the eldest. What it was disputed with stands undisputed, see below."""

UNDISPUTE = """
UPDATE memories m SET status = 'active', updated_at = now(), version = m.version + 1
WHERE m.status = 'disputed' AND NOT EXISTS (
    SELECT FROM memory_conflicts c
    WHERE c.tenant_id = m.tenant_id AND m.id IN (c.memory_id, c.other_id) AND c.resolved_at IS NULL
)
"""


CURRENT = "(CASE WHEN status IN ('active', 'disputed') THEN true END)"
"""Written so that no query is taken to mean it that does not say it: the index is for equal texts, not for owners."""


def _index(name: str, condition: str, gone: str) -> None:
    with op.get_context().autocommit_block():
        # Building waits for transactions that are older, however long they last; what was left half built goes first.
        op.execute("SET statement_timeout = 0")
        op.execute("SET lock_timeout = 0")
        op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
        op.execute(
            f"CREATE UNIQUE INDEX CONCURRENTLY {name} ON memories ({CONTENT}) NULLS NOT DISTINCT WHERE {condition}"
        )
        op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {gone}")


def upgrade() -> None:
    op.execute("ALTER TABLE memory_conflicts ADD COLUMN IF NOT EXISTS reopened_at TIMESTAMP WITH TIME ZONE")
    op.execute(JOIN_TWINS)
    op.execute(UNDISPUTE)
    _index(AFTER, CURRENT, BEFORE)


def downgrade() -> None:
    op.execute("ALTER TABLE memory_conflicts DROP COLUMN IF EXISTS reopened_at")
    _index(BEFORE, "status = 'active'", AFTER)
