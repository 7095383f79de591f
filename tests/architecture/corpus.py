"""A database of realistic size and shape, made by SQL in some seconds.

Three tenants; the first has half of everything. Half of its rows belong to one owner (`u:big`, 8,000 memories and as
many messages), the rest to eighty users of a hundred rows each, to an agent, to an app and to everybody. Each of 3,000
sessions has ten messages; memory n and message n have the same owner, tokens and vector. Tenants and owners take turns.
"""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np

from app.db import migrate
from app.db.embedded.bootstrap import finished
from app.db.embedded.server import EmbeddedServer
from app.repositories.models import ModelRecord, index_statements
from tests.databases import Place, create_database, run_sql

TENANT = UUID("01900000-0000-7000-8000-000000000001")
AT = datetime(2026, 6, 1, 12, tzinfo=UTC)
DIMENSION = 8
MODEL = ModelRecord(1, "corpus", DIMENSION, "active")
LEAST_ROWS = 5_000
"""A table with fewer rows is read whole whatever its indexes are: an EXPLAIN over it would prove nothing."""

ROWS = 30_000
STRIDE = 1_009

SEED = f"""
SET session_replication_role = replica;
SET synchronous_commit = off;
SET maintenance_work_mem = '256MB';

CREATE FUNCTION pg_temp.id(kind int, n bigint) RETURNS uuid IMMUTABLE LANGUAGE sql AS
    $$ SELECT ('01900000-0000-7000-8' || lpad(kind::text, 3, '0') || '-' || lpad(to_hex(n), 12, '0'))::uuid $$;
CREATE FUNCTION pg_temp.tenant(s bigint) RETURNS uuid IMMUTABLE LANGUAGE sql AS
    $$ SELECT pg_temp.id(0, CASE WHEN s <= 1600 THEN 1 WHEN s <= 2300 THEN 2 ELSE 3 END) $$;
CREATE FUNCTION pg_temp.owner(s bigint) RETURNS text IMMUTABLE LANGUAGE sql AS
    $$ SELECT CASE WHEN s <= 800 THEN 'u:big' WHEN s % 40 = 1 THEN 't:' WHEN s % 40 = 2 THEN 'a:helper'
        WHEN s % 40 = 3 THEN 'p:shop' ELSE 'u:' || s % 80 END $$;

INSERT INTO tenants (id, name, created_at)
    SELECT pg_temp.id(0, n), 'tenant ' || n, '2026-01-01' FROM generate_series(1, 3) n;
INSERT INTO api_keys (id, tenant_id, name, prefix, key_hash, role, scopes, created_at)
    VALUES (pg_temp.id(1, 1), pg_temp.id(0, 1), 'key', 'mnk_', decode(repeat('01', 32), 'hex'), 'admin', '{{}}', now());
INSERT INTO embedding_models (name, dimension, metric, status, created_at)  -- the first one's id is {MODEL.id}
    VALUES ('{MODEL.name}', {DIMENSION}, 'cosine', 'active', '2026-01-01');

CREATE TEMP TABLE texts AS
    SELECT n, (n + 9) / 10 AS s, pg_temp.tenant(place) AS tenant_id, pg_temp.owner(place) AS owner,
           timestamptz '2026-01-01' + n * interval '1 minute' AS at
    FROM (SELECT n, (n + 9) / 10 * {STRIDE} % 3000 + 1 AS place FROM generate_series(1, {ROWS}) n) t;

INSERT INTO users (tenant_id, id, first_seen_at, updated_at)
    SELECT tenant_id, 'u' || n, at, at FROM texts WHERE n % 3 = 0;
INSERT INTO users (tenant_id, id, first_seen_at, updated_at)
    SELECT DISTINCT ON (tenant_id, owner) tenant_id, substr(owner, 3), at, at FROM texts WHERE owner LIKE 'u:%';
INSERT INTO language_model_usage (tenant_id, day, calls, tokens)
    SELECT pg_temp.id(0, 1 + n % 3), date '2000-01-01' + n / 3, 1, 100 FROM generate_series(0, {ROWS}) n;
INSERT INTO owner_stats (tenant_id, owner, version, memory_count, memory_tokens, message_count, message_tokens)
    SELECT tenant_id, owner, 1, count(*), 8 * count(*), count(*), 8 * count(*) FROM texts GROUP BY 1, 2;
INSERT INTO owner_stats (tenant_id, owner) SELECT tenant_id, 'u:u' || n FROM texts WHERE n % 3 = 0;
UPDATE owner_stats SET maintained_at = '2026-01-01T00:00:00Z' WHERE owner = 'u:17';

INSERT INTO sessions (tenant_id, id, owner, user_id, agent_id, app_id, memory, status, last_seq, embedded_seq,
        extracted_seq, weighed_seq, created_at, updated_at, expires_at)
    SELECT tenant_id, 's' || s, owner, CASE WHEN owner LIKE 'u:%' THEN substr(owner, 3) END, 'agent' || s % 50,
           'app' || s % 20, 'on', 'open', 10, CASE WHEN s % 100 = 0 THEN 5 ELSE 10 END,
           CASE WHEN s % 100 = 0 THEN 5 ELSE 10 END, CASE WHEN s % 100 = 0 THEN 5 ELSE 10 END, at, at,
           CASE WHEN s % 50 = 0 THEN at + interval '1 year' END
    FROM texts WHERE n % 10 = 0;
INSERT INTO sessions (tenant_id, id, owner, user_id, memory, status, created_at, updated_at, closed_at)
    SELECT tenant_id, 'x' || n, 'u:u' || n, 'u' || n, 'on', 'closed', at, at, at FROM texts WHERE n % 5 = 0;
INSERT INTO session_states (tenant_id, session_id, version, document, actor, created_at, at_seq)
    SELECT tenant_id, 's' || s, n % 10 + 1, '{{}}', 'me', at, n % 10 FROM texts;
INSERT INTO summaries (tenant_id, id, session_id, level, from_seq, to_seq, text, tokens, created_at, superseded_at)
    SELECT tenant_id, pg_temp.id(10, n), 's' || s, (n - 1) % 2, (n - 1) % 10 + 1, (n - 1) % 10 + 1, 'summary ' || n, 4,
           at, CASE WHEN n % 5 = 0 THEN at END FROM texts;
INSERT INTO context_cache (tenant_id, session_id, variant, owner_version, last_seq, content, created_at)
    SELECT tenant_id, 's' || s, 'v' || n % 10, 1, 10, '{{}}', at FROM texts;

INSERT INTO messages (tenant_id, id, session_id, seq, owner, external_id, role, text, tokens, length, content_hash,
        occurred_at, created_at)
    SELECT tenant_id, pg_temp.id(2, n), 's' || s, (n - 1) % 10 + 1, owner, 'e' || n, 'user', 'message ' || n, 8, 8,
           sha256(n::text::bytea), at, at FROM texts;
INSERT INTO memories (tenant_id, id, owner, user_id, agent_id, app_id, session_id, kind, text, key, value, category,
        pinned, source, confidence, importance, weight, use, status, valid_from, valid_to, created_at, updated_at,
        deleted_at, superseded_by, expires_at, last_seen_at, tokens, length, content_hash, archived_at)
    SELECT tenant_id, pg_temp.id(1, n), owner, CASE WHEN owner LIKE 'u:%' THEN substr(owner, 3) END,
           CASE WHEN owner = 'a:helper' THEN 'helper' WHEN owner LIKE 'u:%' AND n % 4 <> 0 THEN 'agent' || n % 50 END,
           CASE WHEN owner = 'p:shop' THEN 'shop' WHEN owner LIKE 'u:%' AND n % 4 <> 0 THEN 'app' || n % 20 END,
           CASE WHEN n % 30 = 0 THEN 's' || s END,
           CASE WHEN n % 5 = 3 THEN 'procedural' WHEN n % 3 = 0 THEN 'episodic' ELSE 'semantic' END, 'memory ' || n,
           CASE WHEN n % 4 = 0 THEN 'user.key' || n % 500 END, CASE WHEN n % 4 = 0 THEN to_jsonb(n) END,
           CASE WHEN n % 20 = 3 THEN 'constraint' ELSE 'other' END, n % 20 = 3, 'user_stated', 0.9, 5, 1, 'everywhere',
           CASE n % 50 WHEN 0 THEN 'deleted' WHEN 1 THEN 'superseded' WHEN 48 THEN 'archived' ELSE 'active' END,
           at, CASE WHEN n % 50 = 1 THEN at + interval '1 day' END, at, at, CASE WHEN n % 50 = 0 THEN at END,
           CASE WHEN n % 5 = 2 THEN pg_temp.id(1, n - 1) END,
           CASE WHEN n % 40 = 7 THEN at + interval '1 year' END, at, 8, 8, sha256(n::text::bytea),
           CASE WHEN n % 50 = 48 THEN at END FROM texts;
INSERT INTO procedures (tenant_id, id, owner, title, when_to_use, body, path, lesson_id, created_at, updated_at)
    SELECT tenant_id, pg_temp.id(1, n), owner, 'title', 'memory ' || n, 'body', 'p' || n % 3000 || '.md',
           pg_temp.id(1, n), at, at FROM texts WHERE n % 5 = 3;
INSERT INTO procedure_versions (tenant_id, procedure_id, version, document, actor, created_at)
    SELECT tenant_id, pg_temp.id(1, n), 1, '{{}}', 'me', at FROM texts WHERE n % 5 = 3;
INSERT INTO lessons (tenant_id, id, owner, outcome, task)
    SELECT tenant_id, pg_temp.id(1, n), owner, 'failure', 'task' FROM texts WHERE n % 5 = 3;
INSERT INTO experiences (tenant_id, id, lesson_id, session_id, outcome, task, created_at)
    SELECT tenant_id, pg_temp.id(11, n), pg_temp.id(1, n), 's' || s, 'failure', 'task', at FROM texts WHERE n % 5 = 3;
INSERT INTO memory_sources (tenant_id, id, memory_id, session_id, seqs, quote, created_at)
    SELECT tenant_id, pg_temp.id(3, n), pg_temp.id(1, n), 's' || s, ARRAY[(n - 1) % 10 + 1], 'quote ' || n, at
    FROM texts;
INSERT INTO memory_conflicts (tenant_id, id, memory_id, other_id, reason, created_at, resolved_at)
    SELECT tenant_id, pg_temp.id(8, n), pg_temp.id(1, n), pg_temp.id(1, n), 'same', at,
           CASE WHEN n % 100 > 0 THEN at END FROM texts;
INSERT INTO memory_events (tenant_id, id, memory_id, action, actor, job_id, undo_id, created_at)
    SELECT tenant_id, pg_temp.id(4, n), pg_temp.id(1, n), CASE WHEN n % 50 = 0 THEN 'rejected' ELSE 'added' END, 'me',
           pg_temp.id(9, n), pg_temp.id(9, n), at
    FROM texts;

CREATE TEMP TABLE tokens AS
    SELECT n, tenant_id, owner, token FROM texts, LATERAL (VALUES ('everywhere'), ('often' || n % 5),
        ('some' || n % 50), ('few' || n % 997), ('rare' || n % 4999), ('only' || n)) t (token);
INSERT INTO message_postings (tenant_id, owner, token, message_id, tf, len)
    SELECT tenant_id, owner, token, pg_temp.id(2, n), 1, 8 FROM tokens;
INSERT INTO memory_postings (tenant_id, owner, token, memory_id, tf, len)
    SELECT tenant_id, owner, token, pg_temp.id(1, n), 1, 8 FROM tokens;

CREATE TEMP TABLE vectors AS
    SELECT n, tenant_id, owner, sha256(n::text::bytea) AS text_hash,
           (SELECT array_agg(cos(n * i * 0.7)) FROM generate_series(1, {DIMENSION}) i)::vector::halfvec AS embedding
    FROM texts;
INSERT INTO message_vectors (tenant_id, message_id, model_id, owner, text_hash, embedding)
    SELECT tenant_id, pg_temp.id(2, n), {MODEL.id}, owner, text_hash, embedding FROM vectors;
INSERT INTO memory_vectors (tenant_id, memory_id, model_id, owner, text_hash, embedding)
    SELECT tenant_id, pg_temp.id(1, n), {MODEL.id}, owner, text_hash, embedding FROM vectors;

INSERT INTO jobs (tenant_id, id, kind, subject, user_id, state, run_after, created_at, updated_at, started_at,
        finished_at)
    SELECT tenant_id, pg_temp.id(5, n), CASE n % 3 WHEN 0 THEN 'sweep' ELSE 'embed_messages' END, 's' || n,
           CASE WHEN owner LIKE 'u:%' THEN substr(owner, 3) END, state, at, at, at,
           CASE WHEN state = 'running' THEN timestamptz '{AT}' END,
           CASE WHEN state NOT IN ('queued', 'running') THEN at END
    FROM (SELECT *, CASE n % 200 WHEN 0 THEN 'queued' WHEN 1 THEN 'running' WHEN 2 THEN 'dead' WHEN 3 THEN 'cancelled'
            ELSE 'succeeded' END AS state FROM texts) t;
INSERT INTO idempotency_keys (tenant_id, principal_id, method, route, key, request_hash, user_id, status, body,
        created_at)
    SELECT tenant_id, pg_temp.id(6, n % 20), 'POST', '/v1/memories', 'k' || n, 'x', 'u' || n % 100, 201, '{{}}', at
    FROM texts WHERE n % 2 = 1;
INSERT INTO search_explanations (tenant_id, id, key_id, user_id, content, created_at)
    SELECT tenant_id, pg_temp.id(9, n), pg_temp.id(6, n % 20), 'u' || n % 100, '{{}}', at FROM texts;
INSERT INTO blocks (tenant_id, id, owner, user_id, agent_id, label, text, char_limit, created_at, updated_at)
    SELECT tenant_id, pg_temp.id(7, n), 'u:u' || n / 5, 'u' || n / 5, CASE WHEN n % 2 = 0 THEN 'agent' || n % 50 END,
           'label' || n % 5, 'text', 2000, at, at FROM texts;
INSERT INTO block_versions (tenant_id, block_id, version, text, actor, created_at)
    SELECT tenant_id, pg_temp.id(7, n), 1, 'text', 'me', at FROM texts;
INSERT INTO memory_keys (tenant_id, key, created_at) SELECT tenant_id, 'user.key' || n, at FROM texts WHERE n % 2 = 1;
INSERT INTO key_aliases (tenant_id, alias, key)
    SELECT tenant_id, 'alias' || n, 'user.key' || n FROM texts WHERE n % 2 = 1;
INSERT INTO store_items (tenant_id, id, path, key, user_id, value, ttl_minutes, created_at, updated_at, expires_at)
    SELECT tenant_id, pg_temp.id(10, n), 'ns' || chr(31) || 'u' || n % 500 || chr(31), 'k' || n, 'u' || n % 500,
           jsonb_build_object('n', n), CASE WHEN n % 40 = 0 THEN 10 END, at, at,
           CASE WHEN n % 40 = 0 THEN at + interval '1 year' END FROM texts WHERE n % 3 = 0;
INSERT INTO store_texts (tenant_id, item_id, part, length, tokens, model_id, embedding)
    SELECT tenant_id, pg_temp.id(10, n), 0, 8, ARRAY['everywhere', 'often' || n % 5], {MODEL.id}, embedding
    FROM vectors WHERE n % 3 = 0;
INSERT INTO checkpoint_threads (tenant_id, thread_id, user_id, created_at, updated_at)
    SELECT tenant_id, 't' || n, 'u' || n % 500, at, at FROM texts WHERE n % 5 = 0;
INSERT INTO checkpoint_threads (tenant_id, thread_id, user_id, session_id, last_position, created_at, updated_at)
    SELECT tenant_id, chr(30) || 's' || s, CASE WHEN owner LIKE 'u:%' THEN substr(owner, 3) END, 's' || s, 20, at, at
    FROM texts WHERE n % 10 = 0;
INSERT INTO checkpoints (tenant_id, thread_id, ns, checkpoint_id, parent_id, run_id, type, document, channel_versions,
        metadata, position, created_at, expires_at)
    SELECT tenant_id, 't' || n, '', lpad(n::text, 6, '0') || 'c' || c,
           CASE WHEN c > 1 THEN lpad(n::text, 6, '0') || 'c' || c - 1 END, 'run' || n, 'm', 'x',
           jsonb_build_object('a', c::text, 'b', '1'),
           CASE WHEN n = 505 THEN '{{"counters_since_delta_snapshot": {{}}}}'::jsonb ELSE '{{"source": "loop"}}' END,
           0, at,
           CASE WHEN n % 100 = 0 THEN at + interval '1 year' END
    FROM texts, generate_series(1, 3) c WHERE n % 5 = 0;
INSERT INTO checkpoints (tenant_id, thread_id, ns, checkpoint_id, parent_id, run_id, label, type, document,
        channel_versions, position, created_at)
    SELECT tenant_id, chr(30) || 's' || s, '', 'j' || (n - 1) % 10,
           CASE WHEN n % 10 <> 1 THEN 'j' || (n - 2) % 10 END, 'run' || n, 'label' || n, 'json', 'x',
           jsonb_build_object('p' || n, ''), (n - 1) % 10 * 2 + 1, at FROM texts;
INSERT INTO checkpoint_blobs (tenant_id, thread_id, ns, channel, version, type, blob)
    SELECT tenant_id, 't' || n, '', channel, version, 'm', 'x' FROM texts,
        (VALUES ('a', '1'), ('a', '2'), ('a', '3'), ('b', '1'), ('gone', '1')) v (channel, version) WHERE n % 5 = 0;
INSERT INTO checkpoint_blobs (tenant_id, thread_id, ns, channel, version, type, blob)
    SELECT tenant_id, chr(30) || 's' || s, '', 'p' || n, '', 'json', 'x' FROM texts;
INSERT INTO checkpoint_writes (tenant_id, thread_id, ns, checkpoint_id, task_id, idx, task_path, channel, type, blob)
    SELECT tenant_id, 't' || n, '', lpad(n::text, 6, '0') || 'c' || c, 'task', c, '', 'a', 'm', 'x'
    FROM texts, generate_series(1, 3) c WHERE n % 5 = 0;
INSERT INTO checkpoint_steps (tenant_id, thread_id, step_id, position, output, created_at)
    SELECT tenant_id, chr(30) || 's' || s, 'step' || (n - 1) % 10, (n - 1) % 10 * 2 + 2,
        CASE WHEN n % 10 > 0 THEN '1'::jsonb END, at FROM texts;

INSERT INTO dreams (tenant_id, id, user_id, state, changes, created_at)
    SELECT tenant_id, pg_temp.id(12, n), CASE WHEN owner LIKE 'u:%' THEN substr(owner, 3) ELSE 'x' || n % 500 END,
           'proposed', '{{}}', at FROM texts;

UPDATE memories SET sealed = 'x', sensitive = true WHERE right(id::text, 2) = '29' AND tenant_id = pg_temp.id(0, 1);
INSERT INTO audit_log (tenant_id, id, actor, action, resource, resource_id, subject, created_at, position,
        previous_hash, hash)
    SELECT tenant_id, pg_temp.id(12, n), 'key:x', 'add_memories', 'memories', 'm' || n, 'u' || n % 300, at,
           CASE WHEN n % 100 > 0 THEN n END, 'x', 'x' FROM texts;
INSERT INTO audit_heads (tenant_id, position, hash)
    SELECT pg_temp.id(0, n), 30000, sha256('') FROM generate_series(1, 8000) n;
INSERT INTO tenant_usage (tenant_id, counted) SELECT pg_temp.id(0, n), true FROM generate_series(1, 8000) n;
INSERT INTO erasures (tenant_id, id, subject, state, requested_by, requested_at)
    SELECT tenant_id, pg_temp.id(13, n), 's' || n, CASE WHEN n % 50 = 0 THEN 'running' ELSE 'finished' END, 'key:x', at
    FROM texts;
RESET session_replication_role;
"""


def session_at(place: int) -> int:
    """The number of the session that stands at this place in the order of tenants and owners."""
    return (place - 1) * pow(STRIDE, -1, 3000) % 3000


def an_id(kind: int, n: int) -> UUID:
    """The id of row n: kind 1 is a memory, 2 a message, 5 a job, 7 a block, 9 an explanation, 10 a summary."""
    return UUID(f"01900000-0000-7000-8{kind:03}-{n:012x}")


def a_vector(n: int) -> np.ndarray:
    """The vector of text n."""
    return np.cos(n * np.arange(1, DIMENSION + 1) * 0.7).astype(np.float32)


def at(n: int) -> datetime:
    """When text n was written."""
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=n)


def build(server: EmbeddedServer) -> Place:
    """Make it."""
    place = finished(create_database(server))
    migrate.upgrade(place.migrator_dsn)
    finished(run_sql(place.superuser_dsn, SEED))
    for statement in index_statements(MODEL):
        finished(run_sql(place.migrator_dsn, statement))
    finished(run_sql(place.superuser_dsn, "VACUUM ANALYZE"))
    return place
