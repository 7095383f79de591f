"""What can go wrong: the service's problem (RFC 9457), or no answer at all."""

import re
from typing import Any, Final


class MnemicError(Exception):
    """Whatever this client raises."""


class NoAnswer(MnemicError):  # noqa: N818 - what happened
    """The service could not be reached, or did not answer in time. A write may have been done or not."""


class UnreadableAnswer(NoAnswer):
    """Something answered, not as the service does: a proxy's page, another encoding, another shape."""


class ProblemError(MnemicError):
    """The service said no.

    Args:
        status: The HTTP status.
        problem: The problem document: `code` for programs, `detail` for people, `errors` for single faults.
        retry_after: Seconds to wait, where the service named them.
    """

    def __init__(self, status: int, problem: dict[str, Any], retry_after: float | None = None) -> None:
        super().__init__(f"{status} {problem.get('code', '')}: {problem.get('detail', '')}")
        self.status = status
        self.problem = problem
        self.retry_after = retry_after

    @property
    def code(self) -> str:
        """The stable word of the problem, such as `id_taken`."""
        return str(self.problem.get("code", ""))

    @property
    def detail(self) -> str:
        """What is wrong and what to do about it."""
        return str(self.problem.get("detail", ""))

    @property
    def errors(self) -> list[dict[str, Any]]:
        """The single faults of a validation: `loc`, `msg`, `type`."""
        return list(self.problem.get("errors", ()))


class NotFoundError(ProblemError):
    """404: absent, or another's."""


class ConflictError(ProblemError):
    """409: the request contradicts what is stored."""


class VersionMismatchError(ProblemError):
    """412: a compare-and-set met another version; `problem` has the current one."""


_SECONDS: Final = re.compile(r"[0-9]{1,9}")
_BY_STATUS: dict[int, type[ProblemError]] = {404: NotFoundError, 409: ConflictError, 412: VersionMismatchError}


def problem_of(status: int, document: Any, retry_after: str | None) -> ProblemError:
    """The error that an answer is."""
    problem = document if isinstance(document, dict) else {"code": "unknown", "detail": str(document)[:500]}
    return _BY_STATUS.get(status, ProblemError)(status, problem, seconds_of(retry_after))


def seconds_of(retry_after: str | None) -> float | None:
    """What the header asks for; None where it is no number of seconds that anybody could wait."""
    return float(retry_after) if retry_after is not None and _SECONDS.fullmatch(retry_after) else None
