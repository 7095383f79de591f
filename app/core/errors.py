"""What can go wrong for a caller, as values: each becomes one `application/problem+json` answer (RFC 9457)."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar


class Problem(Exception):  # noqa: N818 - RFC 9457 names it a problem
    """A failure that the caller is told about.

    Args:
        detail: One sentence for a person: what is wrong and what to do about it. It never carries stored content.
        code: A stable word for a program; the class's own by default.
        errors: The single faults of a validation, each with `loc`, `msg` and `type`.
        headers: Response headers that belong to the failure, such as `Retry-After`.
        extra: Further members of the problem document, such as `current_version`.
    """

    status: ClassVar[int] = 500
    title: ClassVar[str] = "Internal error"
    default_code: ClassVar[str] = "internal"

    def __init__(
        self,
        detail: str,
        *,
        code: str | None = None,
        errors: Sequence[Mapping[str, Any]] = (),
        headers: Mapping[str, str] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.code = code or self.default_code
        self.errors = list(errors)
        self.headers = dict(headers or {})
        self.extra = dict(extra or {})


class BadRequest(Problem):
    """The request cannot be read at all: broken JSON or broken UTF-8."""

    status, title, default_code = 400, "Bad request", "bad_request"


class Unauthenticated(Problem):
    """No key, or none that is known and still valid."""

    status, title, default_code = 401, "Not authenticated", "unauthenticated"

    def __init__(self, detail: str, *, code: str | None = None) -> None:
        super().__init__(detail, code=code, headers={"WWW-Authenticate": "Bearer"})


class Forbidden(Problem):
    """The key is known and may not do this."""

    status, title, default_code = 403, "Forbidden", "forbidden"


class QuotaExceeded(Problem):
    """The tenant has as much as it may have; deleting makes room."""

    status, title, default_code = 403, "Quota exceeded", "quota_exceeded"

    def __init__(self, quota: str, limit: int, used: int) -> None:
        super().__init__(
            f"This would go beyond the tenant's quota: {limit} {quota}, of which {used} are used.",
            extra={"quota": quota, "limit": limit, "used": used},
        )
        self.quota = quota


class NotFound(Problem):
    """There is no such resource for this caller; a foreign one answers the same."""

    status, title, default_code = 404, "Not found", "not_found"


class Conflict(Problem):
    """The request contradicts what is stored."""

    status, title, default_code = 409, "Conflict", "conflict"


class PreconditionFailed(Problem):
    """A compare-and-set met another version."""

    status, title, default_code = 412, "Precondition failed", "version_mismatch"


class TooLarge(Problem):
    """The body exceeds the configured size."""

    status, title, default_code = 413, "Content too large", "body_too_large"


class UnsupportedMediaType(Problem):
    """The body comes in a form that is not read."""

    status, title, default_code = 415, "Unsupported media type", "unsupported_media_type"


class Invalid(Problem):
    """The request is well-formed and says something that cannot be accepted."""

    status, title, default_code = 422, "Unprocessable content", "invalid"


class TooManyRequests(Problem):
    """The caller has used up a limit for now."""

    status, title, default_code = 429, "Too many requests", "rate_limited"

    def __init__(self, detail: str, *, code: str | None = None, retry_after: int = 1) -> None:
        super().__init__(detail, code=code, headers={"Retry-After": str(retry_after)})


class HeadTooLarge(Problem):
    """A request's line and headers are longer than is read."""

    status, title, default_code = 431, "Request header fields too large", "request_header_fields_too_large"


class Unavailable(Problem):
    """Something the service needs is not there at the moment; trying again helps."""

    status, title, default_code = 503, "Service unavailable", "unavailable"

    def __init__(self, detail: str, *, code: str | None = None, retry_after: int = 1) -> None:
        super().__init__(detail, code=code, headers={"Retry-After": str(retry_after)})


class Contention(Unavailable):
    """Two transactions stood in each other's way and this one gave up: nothing of it was kept, doing it again helps."""


class ConfigurationError(Exception):
    """The service cannot start as it is configured. The message says what to change."""
