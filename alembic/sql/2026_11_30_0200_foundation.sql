-- The tables, indexes and policies of the first revision. Frozen: later revisions change, this file never does.

CREATE TABLE audit_log (
    tenant_id UUID NOT NULL,
    id UUID NOT NULL,
    actor TEXT COLLATE "C" NOT NULL,
    action TEXT COLLATE "C" NOT NULL,
    resource TEXT COLLATE "C" NOT NULL,
    resource_id TEXT COLLATE "C",
    details JSONB DEFAULT '{}'::jsonb NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    position BIGINT,
    previous_hash BYTEA,
    hash BYTEA,
    CONSTRAINT pk_audit_log PRIMARY KEY (tenant_id, id)
);

CREATE INDEX ix_audit_log_unsealed ON audit_log (tenant_id, id) WHERE position IS NULL;

CREATE UNIQUE INDEX uq_audit_log_position ON audit_log (tenant_id, position) WHERE position IS NOT NULL;

CREATE TABLE blocks (
    tenant_id UUID NOT NULL,
    id UUID NOT NULL,
    owner TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C",
    agent_id TEXT COLLATE "C",
    label TEXT COLLATE "C" NOT NULL,
    description TEXT,
    text TEXT NOT NULL,
    char_limit INTEGER NOT NULL,
    read_only BOOLEAN DEFAULT false NOT NULL,
    version INTEGER DEFAULT 1 NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_blocks PRIMARY KEY (tenant_id, id),
    CONSTRAINT ck_blocks_char_limit CHECK (char_limit > 0)
);

CREATE UNIQUE INDEX uq_blocks_scope_label ON blocks (tenant_id, user_id, agent_id, label) NULLS NOT DISTINCT;

CREATE TABLE embedding_models (
    id SMALLINT GENERATED ALWAYS AS IDENTITY,
    name TEXT COLLATE "C" NOT NULL,
    dimension INTEGER NOT NULL,
    metric TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    calibration JSONB DEFAULT '{}'::jsonb NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    activated_at TIMESTAMP WITH TIME ZONE,
    retired_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_embedding_models PRIMARY KEY (id),
    CONSTRAINT ck_embedding_models_status CHECK (status IN ('building', 'active', 'retired')),
    CONSTRAINT ck_embedding_models_metric CHECK (metric IN ('cosine')),
    CONSTRAINT ck_embedding_models_dimension CHECK (dimension BETWEEN 1 AND 4000),
    CONSTRAINT uq_embedding_models_name UNIQUE (name)
);

CREATE TABLE idempotency_keys (
    tenant_id UUID NOT NULL,
    principal_id UUID NOT NULL,
    method TEXT COLLATE "C" NOT NULL,
    route TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    request_hash BYTEA NOT NULL,
    user_id TEXT COLLATE "C",
    status INTEGER NOT NULL,
    body TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_idempotency_keys PRIMARY KEY (tenant_id, principal_id, method, route, key)
);

CREATE INDEX ix_idempotency_keys_tenant_id_created_at ON idempotency_keys (tenant_id, created_at);

CREATE INDEX ix_idempotency_keys_tenant_id_user_id ON idempotency_keys (tenant_id, user_id) WHERE user_id IS NOT NULL;

CREATE TABLE jobs (
    tenant_id UUID NOT NULL,
    id UUID NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C",
    state TEXT COLLATE "C" NOT NULL,
    payload JSONB DEFAULT '{}'::jsonb NOT NULL,
    attempts INTEGER DEFAULT 0 NOT NULL,
    error TEXT,
    input_window JSONB,
    result JSONB,
    run_after TIMESTAMP WITH TIME ZONE NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE,
    finished_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_jobs PRIMARY KEY (tenant_id, id),
    CONSTRAINT ck_jobs_kind CHECK (kind IN ('embed_messages', 'embed_memories', 'delete_memories', 'sweep')),
    CONSTRAINT ck_jobs_state CHECK (state IN ('queued', 'running', 'succeeded', 'failed', 'dead', 'cancelled'))
);

CREATE INDEX ix_jobs_tenant_id_kind_finished_at ON jobs (tenant_id, kind, finished_at) WHERE finished_at IS NOT NULL;

CREATE INDEX ix_jobs_tenant_id_kind_subject_id ON jobs (tenant_id, kind, subject, id);

CREATE INDEX ix_jobs_tenant_id_state_id ON jobs (tenant_id, state, id);

CREATE INDEX ix_jobs_tenant_id_user_id ON jobs (tenant_id, user_id) WHERE user_id IS NOT NULL;

CREATE INDEX ix_jobs_unfinished ON jobs (tenant_id, state, run_after) WHERE finished_at IS NULL;

CREATE UNIQUE INDEX uq_jobs_queued ON jobs (tenant_id, kind, subject) WHERE state = 'queued';

CREATE UNIQUE INDEX uq_jobs_running ON jobs (tenant_id, kind, subject) WHERE state = 'running';

CREATE TABLE memory_keys (
    tenant_id UUID NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    multi_valued BOOLEAN DEFAULT false NOT NULL,
    description TEXT,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_memory_keys PRIMARY KEY (tenant_id, key)
);

CREATE TABLE owner_stats (
    tenant_id UUID NOT NULL,
    owner TEXT COLLATE "C" NOT NULL,
    version BIGINT DEFAULT 0 NOT NULL,
    memory_count BIGINT DEFAULT 0 NOT NULL,
    memory_tokens BIGINT DEFAULT 0 NOT NULL,
    message_count BIGINT DEFAULT 0 NOT NULL,
    message_tokens BIGINT DEFAULT 0 NOT NULL,
    CONSTRAINT pk_owner_stats PRIMARY KEY (tenant_id, owner)
);

CREATE TABLE sessions (
    tenant_id UUID NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    owner TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C",
    agent_id TEXT COLLATE "C",
    app_id TEXT COLLATE "C",
    title TEXT,
    timezone TEXT,
    metadata JSONB DEFAULT '{}'::jsonb NOT NULL,
    memory TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    version INTEGER DEFAULT 1 NOT NULL,
    last_seq BIGINT DEFAULT 0 NOT NULL,
    embedded_seq BIGINT DEFAULT 0 NOT NULL,
    extracted_seq BIGINT DEFAULT 0 NOT NULL,
    summarized_seq BIGINT DEFAULT 0 NOT NULL,
    message_count BIGINT DEFAULT 0 NOT NULL,
    forked_from TEXT COLLATE "C",
    forked_at_seq BIGINT,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    last_message_at TIMESTAMP WITH TIME ZONE,
    closed_at TIMESTAMP WITH TIME ZONE,
    expires_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_sessions PRIMARY KEY (tenant_id, id),
    CONSTRAINT ck_sessions_memory CHECK (memory IN ('on', 'read_only', 'off')),
    CONSTRAINT ck_sessions_status CHECK (status IN ('open', 'closed'))
);

CREATE INDEX ix_sessions_embedding_lag ON sessions (tenant_id, updated_at) WHERE embedded_seq < last_seq;

CREATE INDEX ix_sessions_tenant_id_agent_id_created_at_id ON sessions (tenant_id, agent_id, created_at, id) WHERE agent_id IS NOT NULL;

CREATE INDEX ix_sessions_tenant_id_app_id_created_at_id ON sessions (tenant_id, app_id, created_at, id) WHERE app_id IS NOT NULL;

CREATE INDEX ix_sessions_tenant_id_created_at_id ON sessions (tenant_id, created_at, id);

CREATE INDEX ix_sessions_tenant_id_expires_at ON sessions (tenant_id, expires_at) WHERE expires_at IS NOT NULL;

CREATE INDEX ix_sessions_tenant_id_owner_created_at_id ON sessions (tenant_id, owner, created_at, id);

CREATE TABLE store_items (
    tenant_id UUID NOT NULL,
    namespace TEXT[] COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C",
    value JSONB NOT NULL,
    ttl_minutes DOUBLE PRECISION,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_store_items PRIMARY KEY (tenant_id, namespace, key)
);

CREATE INDEX ix_store_items_tenant_id_expires_at ON store_items (tenant_id, expires_at) WHERE expires_at IS NOT NULL;

CREATE INDEX ix_store_items_tenant_id_user_id ON store_items (tenant_id, user_id) WHERE user_id IS NOT NULL;

CREATE TABLE tenants (
    id UUID NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    settings JSONB DEFAULT '{}'::jsonb NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_tenants PRIMARY KEY (id),
    CONSTRAINT uq_tenants_name UNIQUE (name)
);

CREATE TABLE users (
    tenant_id UUID NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    timezone TEXT,
    metadata JSONB DEFAULT '{}'::jsonb NOT NULL,
    first_seen_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    erased_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_users PRIMARY KEY (tenant_id, id)
);

CREATE TABLE api_keys (
    id UUID NOT NULL,
    tenant_id UUID NOT NULL,
    name TEXT NOT NULL,
    prefix TEXT COLLATE "C" NOT NULL,
    key_hash BYTEA NOT NULL,
    role TEXT COLLATE "C" NOT NULL,
    scopes TEXT[] NOT NULL,
    user_ids TEXT[],
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    revoked_at TIMESTAMP WITH TIME ZONE,
    last_used_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_api_keys PRIMARY KEY (id),
    CONSTRAINT ck_api_keys_role CHECK (role IN ('operator', 'admin', 'member', 'reader')),
    CONSTRAINT fk_api_keys_tenant_id FOREIGN KEY(tenant_id) REFERENCES tenants (id) ON DELETE CASCADE,
    CONSTRAINT uq_api_keys_key_hash UNIQUE (key_hash)
);

CREATE INDEX ix_api_keys_tenant_id ON api_keys (tenant_id);

CREATE TABLE block_versions (
    tenant_id UUID NOT NULL,
    block_id UUID NOT NULL,
    version INTEGER NOT NULL,
    text TEXT NOT NULL,
    actor TEXT COLLATE "C" NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_block_versions PRIMARY KEY (tenant_id, block_id, version),
    CONSTRAINT fk_block_versions_tenant_id_block_id FOREIGN KEY(tenant_id, block_id) REFERENCES blocks (tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE checkpoint_threads (
    tenant_id UUID NOT NULL,
    thread_id TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C",
    session_id TEXT COLLATE "C",
    settings JSONB DEFAULT '{}'::jsonb NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_checkpoint_threads PRIMARY KEY (tenant_id, thread_id),
    CONSTRAINT fk_checkpoint_threads_tenant_id_session_id FOREIGN KEY(tenant_id, session_id) REFERENCES sessions (tenant_id, id) ON DELETE SET NULL (session_id)
);

CREATE INDEX ix_checkpoint_threads_tenant_id_session_id ON checkpoint_threads (tenant_id, session_id) WHERE session_id IS NOT NULL;

CREATE INDEX ix_checkpoint_threads_tenant_id_user_id ON checkpoint_threads (tenant_id, user_id) WHERE user_id IS NOT NULL;

CREATE UNLOGGED TABLE context_cache (
    tenant_id UUID NOT NULL,
    session_id TEXT COLLATE "C" NOT NULL,
    variant TEXT COLLATE "C" NOT NULL,
    owner_version BIGINT NOT NULL,
    last_seq BIGINT NOT NULL,
    content JSONB NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_context_cache PRIMARY KEY (tenant_id, session_id, variant),
    CONSTRAINT fk_context_cache_tenant_id_session_id FOREIGN KEY(tenant_id, session_id) REFERENCES sessions (tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE key_aliases (
    tenant_id UUID NOT NULL,
    alias TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    CONSTRAINT pk_key_aliases PRIMARY KEY (tenant_id, alias),
    CONSTRAINT fk_key_aliases_tenant_id_key FOREIGN KEY(tenant_id, key) REFERENCES memory_keys (tenant_id, key) ON DELETE CASCADE
);

CREATE INDEX ix_key_aliases_tenant_id_key ON key_aliases (tenant_id, key);

CREATE TABLE memories (
    tenant_id UUID NOT NULL,
    id UUID NOT NULL,
    owner TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C",
    agent_id TEXT COLLATE "C",
    app_id TEXT COLLATE "C",
    session_id TEXT COLLATE "C",
    kind TEXT COLLATE "C" NOT NULL,
    text TEXT NOT NULL,
    key TEXT COLLATE "C",
    value JSONB,
    category TEXT COLLATE "C" NOT NULL,
    source TEXT COLLATE "C" NOT NULL,
    uncertain BOOLEAN DEFAULT false NOT NULL,
    extracted BOOLEAN DEFAULT false NOT NULL,
    sensitive BOOLEAN DEFAULT false NOT NULL,
    sealed BYTEA,
    confidence DOUBLE PRECISION NOT NULL,
    importance SMALLINT NOT NULL,
    weight DOUBLE PRECISION NOT NULL,
    pinned BOOLEAN DEFAULT false NOT NULL,
    use TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    valid_from TIMESTAMP WITH TIME ZONE,
    valid_to TIMESTAMP WITH TIME ZONE,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    superseded_at TIMESTAMP WITH TIME ZONE,
    superseded_by UUID,
    deleted_at TIMESTAMP WITH TIME ZONE,
    occurred_at TIMESTAMP WITH TIME ZONE,
    expires_at TIMESTAMP WITH TIME ZONE,
    last_seen_at TIMESTAMP WITH TIME ZONE NOT NULL,
    seen_count INTEGER DEFAULT 1 NOT NULL,
    last_accessed_at TIMESTAMP WITH TIME ZONE,
    access_count INTEGER DEFAULT 0 NOT NULL,
    tokens INTEGER NOT NULL,
    length INTEGER NOT NULL,
    content_hash BYTEA NOT NULL,
    metadata JSONB DEFAULT '{}'::jsonb NOT NULL,
    version INTEGER DEFAULT 1 NOT NULL,
    CONSTRAINT pk_memories PRIMARY KEY (tenant_id, id),
    CONSTRAINT fk_memories_tenant_id_session_id FOREIGN KEY(tenant_id, session_id) REFERENCES sessions (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_memories_tenant_id_superseded_by FOREIGN KEY(tenant_id, superseded_by) REFERENCES memories (tenant_id, id) ON DELETE SET NULL (superseded_by),
    CONSTRAINT ck_memories_kind CHECK (kind IN ('episodic', 'semantic', 'procedural')),
    CONSTRAINT ck_memories_category CHECK (category IN ('identity', 'preference', 'constraint', 'goal', 'decision', 'project', 'tool_config', 'domain', 'relation', 'event', 'lesson', 'other')),
    CONSTRAINT ck_memories_source CHECK (source IN ('user_stated', 'tool_observed', 'imported', 'assistant_said', 'inferred', 'derived')),
    CONSTRAINT ck_memories_status CHECK (status IN ('active', 'superseded', 'archived', 'expired', 'disputed', 'deleted')),
    CONSTRAINT ck_memories_use CHECK (use IN ('everywhere', 'this_app', 'never_in_context')),
    CONSTRAINT ck_memories_importance CHECK (importance BETWEEN 1 AND 10),
    CONSTRAINT ck_memories_confidence CHECK (confidence BETWEEN 0 AND 1),
    CONSTRAINT ck_memories_weight CHECK (weight BETWEEN 0 AND 100)
);

CREATE INDEX ix_memories_tenant_id_agent_id_id ON memories (tenant_id, agent_id, id) WHERE agent_id IS NOT NULL;

CREATE INDEX ix_memories_tenant_id_app_id_id ON memories (tenant_id, app_id, id) WHERE app_id IS NOT NULL;

CREATE INDEX ix_memories_tenant_id_deleted_at ON memories (tenant_id, deleted_at) WHERE deleted_at IS NOT NULL;

CREATE INDEX ix_memories_tenant_id_expires_at ON memories (tenant_id, expires_at) WHERE expires_at IS NOT NULL;

CREATE INDEX ix_memories_tenant_id_owner_id ON memories (tenant_id, owner, id);

CREATE INDEX ix_memories_tenant_id_owner_key ON memories (tenant_id, owner, key) WHERE key IS NOT NULL;

CREATE INDEX ix_memories_tenant_id_session_id_id ON memories (tenant_id, session_id, id) WHERE session_id IS NOT NULL;

CREATE INDEX ix_memories_tenant_id_superseded_by ON memories (tenant_id, superseded_by) WHERE superseded_by IS NOT NULL;

CREATE UNIQUE INDEX uq_memories_active_content ON memories (tenant_id, owner, (CASE WHEN extracted THEN NULL ELSE agent_id END), (CASE WHEN extracted THEN NULL ELSE app_id END), session_id, kind, content_hash, key, md5(value::text)) NULLS NOT DISTINCT WHERE status = 'active';

CREATE TABLE messages (
    tenant_id UUID NOT NULL,
    id UUID NOT NULL,
    session_id TEXT COLLATE "C" NOT NULL,
    seq BIGINT NOT NULL,
    owner TEXT COLLATE "C" NOT NULL,
    external_id TEXT COLLATE "C",
    role TEXT COLLATE "C" NOT NULL,
    text TEXT NOT NULL,
    parts JSONB,
    tool_calls JSONB,
    tool_call_id TEXT,
    name TEXT,
    timezone TEXT,
    tokens INTEGER NOT NULL,
    length INTEGER NOT NULL,
    content_hash BYTEA NOT NULL,
    metadata JSONB DEFAULT '{}'::jsonb NOT NULL,
    occurred_at TIMESTAMP WITH TIME ZONE NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    redacted_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_messages PRIMARY KEY (tenant_id, id),
    CONSTRAINT uq_messages_tenant_id_session_id_seq UNIQUE (tenant_id, session_id, seq),
    CONSTRAINT fk_messages_tenant_id_session_id FOREIGN KEY(tenant_id, session_id) REFERENCES sessions (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT ck_messages_role CHECK (role IN ('system', 'user', 'assistant', 'tool'))
);

CREATE INDEX ix_messages_tenant_id_owner_occurred_at ON messages (tenant_id, owner, occurred_at);

CREATE UNIQUE INDEX uq_messages_external_id ON messages (tenant_id, session_id, external_id) WHERE external_id IS NOT NULL;

CREATE TABLE session_states (
    tenant_id UUID NOT NULL,
    session_id TEXT COLLATE "C" NOT NULL,
    version INTEGER NOT NULL,
    document JSONB NOT NULL,
    actor TEXT COLLATE "C" NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_session_states PRIMARY KEY (tenant_id, session_id, version),
    CONSTRAINT fk_session_states_tenant_id_session_id FOREIGN KEY(tenant_id, session_id) REFERENCES sessions (tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE summaries (
    tenant_id UUID NOT NULL,
    id UUID NOT NULL,
    session_id TEXT COLLATE "C" NOT NULL,
    level INTEGER NOT NULL,
    from_seq BIGINT NOT NULL,
    to_seq BIGINT NOT NULL,
    text TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    parents UUID[] DEFAULT '{}'::uuid[] NOT NULL,
    details JSONB DEFAULT '{}'::jsonb NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    superseded_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_summaries PRIMARY KEY (tenant_id, id),
    CONSTRAINT fk_summaries_tenant_id_session_id FOREIGN KEY(tenant_id, session_id) REFERENCES sessions (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT ck_summaries_range CHECK (from_seq <= to_seq)
);

CREATE INDEX ix_summaries_tenant_id_session_id_level_from_seq ON summaries (tenant_id, session_id, level, from_seq);

CREATE TABLE checkpoint_blobs (
    tenant_id UUID NOT NULL,
    thread_id TEXT COLLATE "C" NOT NULL,
    ns TEXT COLLATE "C" NOT NULL,
    channel TEXT COLLATE "C" NOT NULL,
    version TEXT COLLATE "C" NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    codec TEXT COLLATE "C",
    blob BYTEA,
    CONSTRAINT pk_checkpoint_blobs PRIMARY KEY (tenant_id, thread_id, ns, channel, version),
    CONSTRAINT fk_checkpoint_blobs_tenant_id_thread_id FOREIGN KEY(tenant_id, thread_id) REFERENCES checkpoint_threads (tenant_id, thread_id) ON DELETE CASCADE
);

CREATE TABLE checkpoint_writes (
    tenant_id UUID NOT NULL,
    thread_id TEXT COLLATE "C" NOT NULL,
    ns TEXT COLLATE "C" NOT NULL,
    checkpoint_id TEXT COLLATE "C" NOT NULL,
    task_id TEXT COLLATE "C" NOT NULL,
    idx INTEGER NOT NULL,
    task_path TEXT COLLATE "C" NOT NULL,
    channel TEXT COLLATE "C" NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    blob BYTEA NOT NULL,
    CONSTRAINT pk_checkpoint_writes PRIMARY KEY (tenant_id, thread_id, ns, checkpoint_id, task_id, idx),
    CONSTRAINT fk_checkpoint_writes_tenant_id_thread_id FOREIGN KEY(tenant_id, thread_id) REFERENCES checkpoint_threads (tenant_id, thread_id) ON DELETE CASCADE
);

CREATE TABLE checkpoints (
    tenant_id UUID NOT NULL,
    thread_id TEXT COLLATE "C" NOT NULL,
    ns TEXT COLLATE "C" NOT NULL,
    checkpoint_id TEXT COLLATE "C" NOT NULL,
    parent_id TEXT COLLATE "C",
    run_id TEXT COLLATE "C",
    label TEXT COLLATE "C",
    type TEXT COLLATE "C" NOT NULL,
    document BYTEA NOT NULL,
    channel_versions JSONB DEFAULT '{}'::jsonb NOT NULL,
    metadata JSONB DEFAULT '{}'::jsonb NOT NULL,
    position BIGINT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    expires_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_checkpoints PRIMARY KEY (tenant_id, thread_id, ns, checkpoint_id),
    CONSTRAINT fk_checkpoints_tenant_id_thread_id FOREIGN KEY(tenant_id, thread_id) REFERENCES checkpoint_threads (tenant_id, thread_id) ON DELETE CASCADE
);

CREATE INDEX ix_checkpoints_tenant_id_expires_at ON checkpoints (tenant_id, expires_at) WHERE expires_at IS NOT NULL;

CREATE INDEX ix_checkpoints_tenant_id_run_id ON checkpoints (tenant_id, run_id) WHERE run_id IS NOT NULL;

CREATE TABLE memory_events (
    tenant_id UUID NOT NULL,
    id UUID NOT NULL,
    memory_id UUID NOT NULL,
    action TEXT COLLATE "C" NOT NULL,
    actor TEXT COLLATE "C" NOT NULL,
    reason TEXT,
    job_id UUID,
    undo_id UUID,
    before JSONB,
    after JSONB,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_memory_events PRIMARY KEY (tenant_id, id),
    CONSTRAINT fk_memory_events_tenant_id_memory_id FOREIGN KEY(tenant_id, memory_id) REFERENCES memories (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_memory_events_tenant_id_job_id ON memory_events (tenant_id, job_id) WHERE job_id IS NOT NULL;

CREATE INDEX ix_memory_events_tenant_id_undo_id ON memory_events (tenant_id, undo_id) WHERE undo_id IS NOT NULL;

CREATE INDEX ix_memory_events_tenant_id_memory_id_id ON memory_events (tenant_id, memory_id, id);

CREATE TABLE memory_postings (
    tenant_id UUID NOT NULL,
    owner TEXT COLLATE "C" NOT NULL,
    token TEXT COLLATE "C" NOT NULL,
    memory_id UUID NOT NULL,
    tf INTEGER NOT NULL,
    len INTEGER NOT NULL,
    CONSTRAINT pk_memory_postings PRIMARY KEY (tenant_id, owner, token, memory_id) INCLUDE (tf, len),
    CONSTRAINT fk_memory_postings_tenant_id_memory_id FOREIGN KEY(tenant_id, memory_id) REFERENCES memories (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_memory_postings_tenant_id_memory_id ON memory_postings (tenant_id, memory_id);

CREATE TABLE memory_sources (
    tenant_id UUID NOT NULL,
    id UUID NOT NULL,
    memory_id UUID NOT NULL,
    session_id TEXT COLLATE "C",
    seqs BIGINT[] DEFAULT '{}'::bigint[] NOT NULL,
    message_ids UUID[] DEFAULT '{}'::uuid[] NOT NULL,
    external_ids TEXT[] DEFAULT '{}'::text[] NOT NULL,
    quote TEXT,
    agent_id TEXT COLLATE "C",
    app_id TEXT COLLATE "C",
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    CONSTRAINT pk_memory_sources PRIMARY KEY (tenant_id, id),
    CONSTRAINT fk_memory_sources_tenant_id_memory_id FOREIGN KEY(tenant_id, memory_id) REFERENCES memories (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_memory_sources_tenant_id_session_id FOREIGN KEY(tenant_id, session_id) REFERENCES sessions (tenant_id, id) ON DELETE SET NULL (session_id)
);

CREATE INDEX ix_memory_sources_tenant_id_memory_id ON memory_sources (tenant_id, memory_id);

CREATE INDEX ix_memory_sources_tenant_id_session_id ON memory_sources (tenant_id, session_id) WHERE session_id IS NOT NULL;

CREATE TABLE memory_vectors (
    tenant_id UUID NOT NULL,
    memory_id UUID NOT NULL,
    model_id SMALLINT NOT NULL,
    owner TEXT COLLATE "C" NOT NULL,
    text_hash BYTEA NOT NULL,
    embedding halfvec NOT NULL,
    CONSTRAINT pk_memory_vectors PRIMARY KEY (tenant_id, memory_id, model_id),
    CONSTRAINT fk_memory_vectors_tenant_id_memory_id FOREIGN KEY(tenant_id, memory_id) REFERENCES memories (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_memory_vectors_model_id FOREIGN KEY(model_id) REFERENCES embedding_models (id)
);

CREATE INDEX ix_memory_vectors_tenant_id_owner_model_id ON memory_vectors (tenant_id, owner, model_id);

CREATE TABLE message_postings (
    tenant_id UUID NOT NULL,
    owner TEXT COLLATE "C" NOT NULL,
    token TEXT COLLATE "C" NOT NULL,
    message_id UUID NOT NULL,
    tf INTEGER NOT NULL,
    len INTEGER NOT NULL,
    CONSTRAINT pk_message_postings PRIMARY KEY (tenant_id, owner, token, message_id) INCLUDE (tf, len),
    CONSTRAINT fk_message_postings_tenant_id_message_id FOREIGN KEY(tenant_id, message_id) REFERENCES messages (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_message_postings_tenant_id_message_id ON message_postings (tenant_id, message_id);

CREATE TABLE message_vectors (
    tenant_id UUID NOT NULL,
    message_id UUID NOT NULL,
    model_id SMALLINT NOT NULL,
    owner TEXT COLLATE "C" NOT NULL,
    text_hash BYTEA NOT NULL,
    embedding halfvec NOT NULL,
    CONSTRAINT pk_message_vectors PRIMARY KEY (tenant_id, message_id, model_id),
    CONSTRAINT fk_message_vectors_tenant_id_message_id FOREIGN KEY(tenant_id, message_id) REFERENCES messages (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_message_vectors_model_id FOREIGN KEY(model_id) REFERENCES embedding_models (id)
);

CREATE INDEX ix_message_vectors_tenant_id_owner_model_id ON message_vectors (tenant_id, owner, model_id);

ALTER TABLE memory_vectors ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE message_vectors ALTER COLUMN embedding SET STORAGE PLAIN;

ALTER TABLE audit_log ENABLE ROW LEVEL SECURITY;

ALTER TABLE audit_log FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant_isolation ON audit_log USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid) WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

ALTER TABLE blocks ENABLE ROW LEVEL SECURITY;

ALTER TABLE blocks FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant_isolation ON blocks USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid) WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

ALTER TABLE idempotency_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE idempotency_keys FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant_isolation ON idempotency_keys USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid) WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

ALTER TABLE jobs ENABLE ROW LEVEL SECURITY;

ALTER TABLE jobs FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant_isolation ON jobs USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid) WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

ALTER TABLE memory_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE memory_keys FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant_isolation ON memory_keys USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid) WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

ALTER TABLE owner_stats ENABLE ROW LEVEL SECURITY;

ALTER TABLE owner_stats FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant_isolation ON owner_stats USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid) WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

ALTER TABLE sessions ENABLE ROW LEVEL SECURITY;

ALTER TABLE sessions FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant_isolation ON sessions USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid) WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

ALTER TABLE store_items ENABLE ROW LEVEL SECURITY;

ALTER TABLE store_items FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant_isolation ON store_items USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid) WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

ALTER TABLE users ENABLE ROW LEVEL SECURITY;

ALTER TABLE users FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant_isolation ON users USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid) WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

ALTER TABLE block_versions ENABLE ROW LEVEL SECURITY;

ALTER TABLE block_versions FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant_isolation ON block_versions USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid) WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

ALTER TABLE checkpoint_threads ENABLE ROW LEVEL SECURITY;

ALTER TABLE checkpoint_threads FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant_isolation ON checkpoint_threads USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid) WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

ALTER TABLE context_cache ENABLE ROW LEVEL SECURITY;

ALTER TABLE context_cache FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant_isolation ON context_cache USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid) WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

ALTER TABLE key_aliases ENABLE ROW LEVEL SECURITY;

ALTER TABLE key_aliases FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant_isolation ON key_aliases USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid) WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

ALTER TABLE memories ENABLE ROW LEVEL SECURITY;

ALTER TABLE memories FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant_isolation ON memories USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid) WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

ALTER TABLE messages ENABLE ROW LEVEL SECURITY;

ALTER TABLE messages FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant_isolation ON messages USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid) WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

ALTER TABLE session_states ENABLE ROW LEVEL SECURITY;

ALTER TABLE session_states FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant_isolation ON session_states USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid) WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

ALTER TABLE summaries ENABLE ROW LEVEL SECURITY;

ALTER TABLE summaries FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant_isolation ON summaries USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid) WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

ALTER TABLE checkpoint_blobs ENABLE ROW LEVEL SECURITY;

ALTER TABLE checkpoint_blobs FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant_isolation ON checkpoint_blobs USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid) WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

ALTER TABLE checkpoint_writes ENABLE ROW LEVEL SECURITY;

ALTER TABLE checkpoint_writes FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant_isolation ON checkpoint_writes USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid) WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

ALTER TABLE checkpoints ENABLE ROW LEVEL SECURITY;

ALTER TABLE checkpoints FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant_isolation ON checkpoints USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid) WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

ALTER TABLE memory_events ENABLE ROW LEVEL SECURITY;

ALTER TABLE memory_events FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant_isolation ON memory_events USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid) WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

ALTER TABLE memory_postings ENABLE ROW LEVEL SECURITY;

ALTER TABLE memory_postings FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant_isolation ON memory_postings USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid) WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

ALTER TABLE memory_sources ENABLE ROW LEVEL SECURITY;

ALTER TABLE memory_sources FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant_isolation ON memory_sources USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid) WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

ALTER TABLE memory_vectors ENABLE ROW LEVEL SECURITY;

ALTER TABLE memory_vectors FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant_isolation ON memory_vectors USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid) WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

ALTER TABLE message_postings ENABLE ROW LEVEL SECURITY;

ALTER TABLE message_postings FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant_isolation ON message_postings USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid) WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

ALTER TABLE message_vectors ENABLE ROW LEVEL SECURITY;

ALTER TABLE message_vectors FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant_isolation ON message_vectors USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid) WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);
