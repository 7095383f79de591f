-- Roles, rights and the extension, laid down by an administrator once; harmless when repeated.
-- Run it with psql in the database that Mnemic shall use. The passwords come from the environment of psql, so that they
-- stand neither in this file nor on a command line: MNEMIC_MIGRATOR_PASSWORD and MNEMIC_APP_PASSWORD.

\set ON_ERROR_STOP on
\set migrator_password ''
\set app_password ''
\getenv migrator_password MNEMIC_MIGRATOR_PASSWORD
\getenv app_password MNEMIC_APP_PASSWORD
SELECT :'migrator_password' = '' OR :'app_password' = '' AS missing \gset
\if :missing
    DO $$ BEGIN RAISE EXCEPTION 'Set MNEMIC_MIGRATOR_PASSWORD and MNEMIC_APP_PASSWORD in the environment.'; END $$;
\endif

-- A password stands in two of the statements that follow: the server's log shall not keep it.
SET log_statement = 'none';
SET log_min_duration_statement = -1;
SET log_min_error_statement = 'panic';
SET password_encryption = 'scram-sha-256';

SELECT 'CREATE ROLE mnemic_migrator' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'mnemic_migrator') \gexec
SELECT 'CREATE ROLE mnemic_app' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'mnemic_app') \gexec

-- Owns the tables. BYPASSRLS, because under forced row-level security a plain owner sees no rows: a migration that
-- fills in a column, or a backup, would silently do nothing.
ALTER ROLE mnemic_migrator LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE BYPASSRLS PASSWORD :'migrator_password';
-- The API and the worker. Row-level security binds it, and it owns nothing.
ALTER ROLE mnemic_app LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS PASSWORD :'app_password';
GRANT mnemic_app TO mnemic_migrator;

ALTER DATABASE :"DBNAME" OWNER TO mnemic_migrator;
REVOKE ALL ON DATABASE :"DBNAME" FROM PUBLIC;
GRANT CONNECT ON DATABASE :"DBNAME" TO mnemic_app;
CREATE EXTENSION IF NOT EXISTS vector;
