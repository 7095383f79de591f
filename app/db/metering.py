"""How a tenant's use is counted: by triggers, so that no way of writing goes around it, and in the same transaction.

A statement that changes a counted table leaves what it added in `usage_changes`, if its tenant is counted at all
(`tenant_usage`). At the COMMIT, when every other lock is held already, the sum goes into `tenant_usage`, whose row is
locked from there on: whoever would go beyond a limit is undone, and writers wait for each other for that moment only.
"""

from dataclasses import dataclass
from typing import Final

QUOTA_EXCEEDED: Final = "MQ001"
"""The SQLSTATE of a transaction that would go beyond a limit; its DETAIL is the quota, the limit and what is used."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What the rows `r` of a table count for, as SQL expressions."""

    table: str
    byte_count: str
    memories: str = "0"
    messages: str = "0"


def _bytes(*columns: str) -> str:
    return " + ".join(f"coalesce(octet_length(r.{column}), 0)" for column in columns)


COUNTED: Final = (
    Counted(
        "memories",
        f"CASE WHEN r.status = 'deleted' THEN 0 ELSE {_bytes('text', 'value::text', 'metadata::text', 'sealed')} END",
        memories="CASE WHEN r.status IN ('active', 'disputed') THEN 1 ELSE 0 END",
    ),
    Counted("messages", _bytes("text", "parts::text", "tool_calls::text", "metadata::text"), messages="1"),
    Counted("session_states", _bytes("document::text")),
    Counted("checkpoints", _bytes("document", "metadata::text")),
    Counted("checkpoint_blobs", _bytes("blob")),
    Counted("checkpoint_writes", _bytes("blob")),
    Counted("checkpoint_steps", _bytes("input::text", "output::text")),
    Counted("store_items", _bytes("value::text")),
    Counted("blocks", _bytes("text")),
    Counted("procedures", _bytes("body", "steps::text", "examples::text", "file")),
)

_TRANSITIONS: Final = {
    "INSERT": "REFERENCING NEW TABLE AS new_rows",
    "UPDATE": "REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows",
    "DELETE": "REFERENCING OLD TABLE AS old_rows",
}


def held_statement(counted: Counted) -> str:
    """A query for what a tenant (`:tenant_id`) has in a table: memories, messages and bytes."""
    return (  # only constants of this module
        f"SELECT coalesce(sum({counted.memories}), 0) AS memories, coalesce(sum({counted.messages}), 0) AS messages, "
        f"coalesce(sum(({counted.byte_count})::bigint), 0) AS bytes FROM {counted.table} r "
        "WHERE r.tenant_id = :tenant_id"
    )


def metering_statements() -> list[str]:
    """DDL of the functions and triggers."""
    statements = [_KEEP_QUOTA, _AT_COMMIT]
    for counted in COUNTED:
        for event, transition in _TRANSITIONS.items():
            name = f"count_{counted.table}_{event.lower()}"
            statements.append(_function(counted, event, name))
            statements.append(
                f"CREATE TRIGGER {name} AFTER {event} ON {counted.table} {transition} "
                f"FOR EACH STATEMENT EXECUTE FUNCTION {name}()"
            )
    return statements


def _function(counted: Counted, event: str, name: str) -> str:
    parts = []
    if event != "DELETE":
        parts.append(_side(counted, "new_rows", ""))
    if event != "INSERT":
        parts.append(_side(counted, "old_rows", "-"))
    return f"""
CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    IF EXISTS (SELECT FROM tenant_usage) THEN
        INSERT INTO usage_changes (tenant_id, memories, messages, bytes)
        SELECT c.tenant_id, sum(c.memories), sum(c.messages), sum(c.bytes)
        FROM ({" UNION ALL ".join(parts)}) AS c
        JOIN tenant_usage u ON u.tenant_id = c.tenant_id
        GROUP BY c.tenant_id
        HAVING sum(c.memories) <> 0 OR sum(c.messages) <> 0 OR sum(c.bytes) <> 0;
    END IF;
    RETURN NULL;
END
$body$
"""


def _side(counted: Counted, rows: str, sign: str) -> str:
    return (
        f"SELECT r.tenant_id, {sign}({counted.memories}) AS memories, {sign}({counted.messages}) AS messages, "
        f"{sign}({counted.byte_count})::bigint AS bytes FROM {rows} r"
    )


_KEEP_QUOTA: Final = f"""
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
        RAISE EXCEPTION 'quota exceeded' USING ERRCODE = '{QUOTA_EXCEEDED}',
            DETAIL = format('memories %s %s', held.memory_limit, held.memories - added.memories);
    ELSIF added.messages > 0 AND held.messages > held.message_limit THEN
        RAISE EXCEPTION 'quota exceeded' USING ERRCODE = '{QUOTA_EXCEEDED}',
            DETAIL = format('messages %s %s', held.message_limit, held.messages - added.messages);
    ELSIF added.bytes > 0 AND held.bytes > held.byte_limit THEN
        RAISE EXCEPTION 'quota exceeded' USING ERRCODE = '{QUOTA_EXCEEDED}',
            DETAIL = format('bytes %s %s', held.byte_limit, held.bytes - added.bytes);
    END IF;
    RETURN NULL;
END
$body$
"""

_AT_COMMIT: Final = """
CREATE CONSTRAINT TRIGGER keep_quota AFTER INSERT ON usage_changes DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION keep_quota()
"""
