"""The names of what is done to memories in time, and of what each does."""

from typing import Final, Literal, get_args

PolicyName = Literal["expire", "decay", "capacity", "retention", "verify"]
"""expire: what is past its time; decay: what nobody uses; capacity: the weakest above an owner's limit; retention: what
was archived long ago; verify: facts that somebody should be asked about."""

POLICIES: Final[tuple[PolicyName, ...]] = get_args(PolicyName)

ActionName = Literal["expire", "archive", "delete", "ask", "settle"]
"""ask: the memory needs a confirmation; settle: it no longer does."""
