"""From messages to what was learnt from them: the memories that say it now, whatever has replaced the first ones."""

from typing import Final

from app.repositories.prepared import Prepared

LONGEST_LINE: Final = 64
"""Successors that are followed; a longer line ends unknown."""

WITH_MEMORIES: Final = Prepared(
    f"""
SELECT messages.*, line.memories, line.stale
FROM messages
CROSS JOIN LATERAL (
    WITH RECURSIVE line AS (
        SELECT memories.id, memories.status, memories.superseded_by, 0 AS depth, memory_sources.quote
        FROM memory_sources
        JOIN memories ON memories.tenant_id = $1 AND memories.id = memory_sources.memory_id
        WHERE memory_sources.tenant_id = $1 AND memory_sources.session_id = messages.session_id
            AND memory_sources.seqs[1] = messages.seq
        UNION
        SELECT memories.id, memories.status, memories.superseded_by, line.depth + 1, NULL
        FROM line
        JOIN memories ON memories.tenant_id = $1 AND memories.id = line.superseded_by
        WHERE line.status = 'superseded' AND line.depth < {LONGEST_LINE}
    )
    SELECT
        coalesce(array_agg(DISTINCT id) FILTER (WHERE status IN ('active', 'disputed')), '{{}}') AS memories,
        coalesce(
            2 * sum(length(quote)) FILTER (WHERE depth = 0 AND status = 'superseded') >= length(messages.text)
            AND NOT bool_or(depth = 0 AND status IN ('active', 'disputed')),
            false
        ) AS stale
    FROM line
) AS line
WHERE messages.tenant_id = $1 AND messages.id = ANY($2)
""",  # noqa: S608 - its own constant alone is put in
    ("tenant_id", "ids"),
    {},
)
"""Messages by id, with two columns more.

`memories`: ids of current memories that were drawn from the message, or that have replaced such. `stale`: all that was
learnt from the message is history, and that was at least half of what it says.
"""
