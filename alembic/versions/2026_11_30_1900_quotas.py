"""Quotas: what a tenant holds, counted by triggers at the COMMIT; nothing is counted where nothing is limited."""

from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

POLICY = "tenant_id = nullif(current_setting('app.tenant', true), '')::uuid"

TENANT_USAGE = """
CREATE TABLE tenant_usage (
    tenant_id UUID NOT NULL,
    memories BIGINT DEFAULT 0 NOT NULL,
    messages BIGINT DEFAULT 0 NOT NULL,
    bytes BIGINT DEFAULT 0 NOT NULL,
    memory_limit BIGINT,
    message_limit BIGINT,
    byte_limit BIGINT,
    counted BOOLEAN DEFAULT false NOT NULL,
    CONSTRAINT pk_tenant_usage PRIMARY KEY (tenant_id)
)
"""

USAGE_CHANGES = """
CREATE UNLOGGED TABLE usage_changes (
    tenant_id UUID NOT NULL,
    id BIGINT GENERATED ALWAYS AS IDENTITY NOT NULL,
    memories BIGINT NOT NULL,
    messages BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    CONSTRAINT pk_usage_changes PRIMARY KEY (tenant_id, id)
)
"""

KEEP_QUOTA = """
CREATE FUNCTION keep_quota() RETURNS trigger LANGUAGE plpgsql AS $body$
DECLARE
    added record;
    held tenant_usage;
BEGIN
    WITH gone AS (DELETE FROM usage_changes c WHERE c.tenant_id = NEW.tenant_id RETURNING *)
    SELECT count(*) AS changes, coalesce(sum(memories), 0) AS memories, coalesce(sum(messages), 0) AS messages,
           coalesce(sum(bytes), 0) AS bytes INTO added FROM gone;
    IF added.changes = 0 THEN
        RETURN NULL;
    END IF;
    UPDATE tenant_usage u
    SET memories = u.memories + added.memories, messages = u.messages + added.messages, bytes = u.bytes + added.bytes
    WHERE u.tenant_id = NEW.tenant_id RETURNING * INTO held;
    IF added.memories > 0 AND held.memories > held.memory_limit THEN
        RAISE EXCEPTION 'quota exceeded' USING ERRCODE = 'MQ001',
            DETAIL = format('memories %s %s', held.memory_limit, held.memories - added.memories);
    ELSIF added.messages > 0 AND held.messages > held.message_limit THEN
        RAISE EXCEPTION 'quota exceeded' USING ERRCODE = 'MQ001',
            DETAIL = format('messages %s %s', held.message_limit, held.messages - added.messages);
    ELSIF added.bytes > 0 AND held.bytes > held.byte_limit THEN
        RAISE EXCEPTION 'quota exceeded' USING ERRCODE = 'MQ001',
            DETAIL = format('bytes %s %s', held.byte_limit, held.bytes - added.bytes);
    END IF;
    RETURN NULL;
END
$body$
"""

AT_COMMIT = """
CREATE CONSTRAINT TRIGGER keep_quota AFTER INSERT ON usage_changes DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION keep_quota()
"""

TABLES = {
    "memories": (
        "CASE WHEN r.status IN ('active', 'disputed') THEN 1 ELSE 0 END",
        "0",
        (
            "CASE WHEN r.status = 'deleted' THEN 0 ELSE "
            "coalesce(octet_length(r.text), 0) + coalesce(octet_length(r.value::text), 0) + "
            "coalesce(octet_length(r.metadata::text), 0) + coalesce(octet_length(r.sealed), 0)"
            " END"
        ),
    ),
    "messages": (
        "0",
        "1",
        (
            "coalesce(octet_length(r.text), 0) + coalesce(octet_length(r.parts::text), 0) + "
            "coalesce(octet_length(r.tool_calls::text), 0) + coalesce(octet_length(r.metadata::text), 0)"
        ),
    ),
    "session_states": (
        "0",
        "0",
        "coalesce(octet_length(r.document::text), 0)",
    ),
    "checkpoints": (
        "0",
        "0",
        "coalesce(octet_length(r.document), 0) + coalesce(octet_length(r.metadata::text), 0)",
    ),
    "checkpoint_blobs": (
        "0",
        "0",
        "coalesce(octet_length(r.blob), 0)",
    ),
    "checkpoint_writes": (
        "0",
        "0",
        "coalesce(octet_length(r.blob), 0)",
    ),
    "checkpoint_steps": (
        "0",
        "0",
        "coalesce(octet_length(r.input::text), 0) + coalesce(octet_length(r.output::text), 0)",
    ),
    "store_items": (
        "0",
        "0",
        "coalesce(octet_length(r.value::text), 0)",
    ),
    "blocks": (
        "0",
        "0",
        "coalesce(octet_length(r.text), 0)",
    ),
    "procedures": (
        "0",
        "0",
        (
            "coalesce(octet_length(r.body), 0) + coalesce(octet_length(r.steps::text), 0) + "
            "coalesce(octet_length(r.examples::text), 0) + coalesce(octet_length(r.file), 0)"
        ),
    ),
}
"""What the rows of a table count for: memories, messages, bytes."""

TRANSITIONS = {
    "INSERT": "REFERENCING NEW TABLE AS new_rows",
    "UPDATE": "REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows",
    "DELETE": "REFERENCING OLD TABLE AS old_rows",
}

COUNT = """
CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    IF EXISTS (SELECT FROM tenant_usage) THEN
        INSERT INTO usage_changes (tenant_id, memories, messages, bytes)
        SELECT c.tenant_id, sum(c.memories), sum(c.messages), sum(c.bytes)
        FROM ({rows}) AS c
        JOIN tenant_usage u ON u.tenant_id = c.tenant_id
        GROUP BY c.tenant_id
        HAVING sum(c.memories) <> 0 OR sum(c.messages) <> 0 OR sum(c.bytes) <> 0;
    END IF;
    RETURN NULL;
END
$body$
"""

SIDE = (
    "SELECT r.tenant_id, {sign}({memories}) AS memories, {sign}({messages}) AS messages, "
    "{sign}({byte_count})::bigint AS bytes FROM {rows} r"
)


def _function(table: str, event: str, name: str) -> str:
    memories, messages, byte_count = TABLES[table]
    sides = [("new_rows", "")] * (event != "DELETE") + [("old_rows", "-")] * (event != "INSERT")
    counted = {"memories": memories, "messages": messages, "byte_count": byte_count}
    return COUNT.format(
        name=name, rows=" UNION ALL ".join(SIDE.format(rows=rows, sign=sign, **counted) for rows, sign in sides)
    )


def upgrade() -> None:
    for name, statement in (("tenant_usage", TENANT_USAGE), ("usage_changes", USAGE_CHANGES)):
        op.execute(statement)
        op.execute(f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {name} FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY tenant_isolation ON {name} USING ({POLICY}) WITH CHECK ({POLICY})")
        op.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {name} TO mnemic_app")
    op.execute(KEEP_QUOTA)
    op.execute(AT_COMMIT)
    for table in TABLES:
        for event, transition in TRANSITIONS.items():
            name = f"count_{table}_{event.lower()}"
            op.execute(_function(table, event, name))
            op.execute(
                f"CREATE TRIGGER {name} AFTER {event} ON {table} {transition} "
                f"FOR EACH STATEMENT EXECUTE FUNCTION {name}()"
            )


def downgrade() -> None:
    for table in TABLES:
        for event in TRANSITIONS:
            name = f"count_{table}_{event.lower()}"
            op.execute(f"DROP TRIGGER {name} ON {table}")
            op.execute(f"DROP FUNCTION {name}()")
    op.execute("DROP TABLE usage_changes, tenant_usage")
    op.execute("DROP FUNCTION keep_quota()")
