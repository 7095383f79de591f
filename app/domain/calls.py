"""Which call is being served: set by whoever receives it, read where changes are noted in the audit log."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from uuid import UUID


@dataclass(slots=True)
class Call:
    """One request, job or command, as the audit log tells of it.

    Args:
        action: What is done: an operation of the API, `job.` or `command.` and a name.
        resource: What kind of thing it is done to, as in the path: `memories`.
        actor: Who does it (`key:<id>`, `job:<id>`, `command`); None while nobody has shown a key.
        tenant_id: Whose log tells of changes to tables that know no tenants.
        ids: What the call is about, by name, as the caller gave it.
        user_id: The user whom the call names.
        request_id: The request's id.
        is_told: Whether the log tells of it although it changes nothing: an administrator's reads.
        may_lag: Whether it is content with what a replica knows; it then need not see its own writes.
        of_content: Whether only changes of content count: the bookkeeping of jobs is none.
    """

    action: str
    resource: str
    actor: str | None = None
    tenant_id: UUID | None = None
    ids: dict[str, str] = field(default_factory=dict)
    user_id: str | None = None
    request_id: str | None = None
    is_told: bool = False
    may_lag: bool = False
    of_content: bool = False
    noted: bool = False


_serving: ContextVar[Call | None] = ContextVar("serving", default=None)


def serving() -> Call | None:
    """The call that is being served."""
    return _serving.get()


def may_lag() -> bool:
    """Whether the call that is being served is content with what a replica knows."""
    call = _serving.get()
    return call is not None and call.may_lag


@contextmanager
def served(call: Call) -> Iterator[Call]:
    """Let what happens in this block be part of a call."""
    token = _serving.set(call)
    try:
        yield call
    finally:
        _serving.reset(token)
