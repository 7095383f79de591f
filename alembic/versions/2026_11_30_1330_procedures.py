"""Procedures and lessons; and at which message a state was written."""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

POLICY = "tenant_id = nullif(current_setting('app.tenant', true), '')::uuid"

NAMES = ("procedures", "procedure_versions", "lessons", "experiences")

TABLES = (
    """
    CREATE TABLE procedures (
        tenant_id UUID NOT NULL,
        id UUID NOT NULL,
        owner TEXT COLLATE "C" NOT NULL,
        title TEXT NOT NULL,
        when_to_use TEXT NOT NULL,
        body TEXT NOT NULL,
        steps JSONB DEFAULT '[]'::jsonb NOT NULL,
        examples JSONB DEFAULT '[]'::jsonb NOT NULL,
        tags TEXT[] DEFAULT '{}'::text[] NOT NULL,
        path TEXT COLLATE "C" NOT NULL,
        front_matter JSONB DEFAULT '{}'::jsonb NOT NULL,
        file TEXT,
        successes INTEGER DEFAULT 0 NOT NULL,
        failures INTEGER DEFAULT 0 NOT NULL,
        lesson_id UUID,
        version INTEGER DEFAULT 1 NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE NOT NULL,
        updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
        CONSTRAINT pk_procedures PRIMARY KEY (tenant_id, id),
        CONSTRAINT fk_procedures_tenant_id_id FOREIGN KEY (tenant_id, id)
            REFERENCES memories (tenant_id, id) ON DELETE CASCADE,
        CONSTRAINT fk_procedures_tenant_id_lesson_id FOREIGN KEY (tenant_id, lesson_id)
            REFERENCES memories (tenant_id, id) ON DELETE SET NULL (lesson_id)
    )
    """,
    """
    CREATE TABLE procedure_versions (
        tenant_id UUID NOT NULL,
        procedure_id UUID NOT NULL,
        version INTEGER NOT NULL,
        document JSONB NOT NULL,
        actor TEXT COLLATE "C" NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE NOT NULL,
        CONSTRAINT pk_procedure_versions PRIMARY KEY (tenant_id, procedure_id, version),
        CONSTRAINT fk_procedure_versions_tenant_id_procedure_id FOREIGN KEY (tenant_id, procedure_id)
            REFERENCES procedures (tenant_id, id) ON DELETE CASCADE
    )
    """,
    """
    CREATE TABLE lessons (
        tenant_id UUID NOT NULL,
        id UUID NOT NULL,
        owner TEXT COLLATE "C" NOT NULL,
        outcome TEXT COLLATE "C" NOT NULL,
        task TEXT NOT NULL,
        successes INTEGER DEFAULT 0 NOT NULL,
        failures INTEGER DEFAULT 0 NOT NULL,
        CONSTRAINT pk_lessons PRIMARY KEY (tenant_id, id),
        CONSTRAINT fk_lessons_tenant_id_id FOREIGN KEY (tenant_id, id)
            REFERENCES memories (tenant_id, id) ON DELETE CASCADE,
        CONSTRAINT ck_lessons_outcome CHECK (outcome IN ('success', 'failure'))
    )
    """,
    """
    CREATE TABLE experiences (
        tenant_id UUID NOT NULL,
        id UUID NOT NULL,
        lesson_id UUID NOT NULL,
        session_id TEXT COLLATE "C",
        outcome TEXT COLLATE "C" NOT NULL,
        task TEXT NOT NULL,
        steps JSONB DEFAULT '[]'::jsonb NOT NULL,
        evaluation TEXT,
        created_at TIMESTAMP WITH TIME ZONE NOT NULL,
        CONSTRAINT pk_experiences PRIMARY KEY (tenant_id, id),
        CONSTRAINT fk_experiences_tenant_id_lesson_id FOREIGN KEY (tenant_id, lesson_id)
            REFERENCES lessons (tenant_id, id) ON DELETE CASCADE,
        CONSTRAINT fk_experiences_tenant_id_session_id FOREIGN KEY (tenant_id, session_id)
            REFERENCES sessions (tenant_id, id) ON DELETE SET NULL (session_id),
        CONSTRAINT ck_experiences_outcome CHECK (outcome IN ('success', 'failure'))
    )
    """,
)

INDEXES = (
    "CREATE INDEX ix_procedures_tenant_id_lesson_id ON procedures (tenant_id, lesson_id) WHERE lesson_id IS NOT NULL",
    "CREATE INDEX ix_procedures_tenant_id_owner_id ON procedures (tenant_id, owner, id)",
    "CREATE INDEX ix_lessons_tenant_id_owner_id ON lessons (tenant_id, owner, id)",
    "CREATE INDEX ix_experiences_tenant_id_lesson_id_id ON experiences (tenant_id, lesson_id, id)",
    (
        "CREATE INDEX ix_experiences_tenant_id_session_id ON experiences (tenant_id, session_id) "
        "WHERE session_id IS NOT NULL"
    ),
)


def upgrade() -> None:
    op.execute("ALTER TABLE session_states ADD COLUMN at_seq BIGINT")
    for statement in (*TABLES, *INDEXES):
        op.execute(statement)
    for name in NAMES:
        op.execute(f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {name} FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY tenant_isolation ON {name} USING ({POLICY}) WITH CHECK ({POLICY})")
        op.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {name} TO mnemic_app")


def downgrade() -> None:
    for name in reversed(NAMES):
        op.execute(f"DROP TABLE {name}")
    op.execute("ALTER TABLE session_states DROP COLUMN at_seq")
