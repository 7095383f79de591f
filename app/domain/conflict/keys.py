"""Whether two statements fill one slot."""

from app.domain.conflict.statements import Statement
from app.domain.keys import built_in, spelled


def canonical(key: str) -> str:
    """The one spelling of a key, known to the registry or not."""
    known = built_in(key)
    return known.key if known is not None else spelled(key)


def same_key(one: Statement, other: Statement) -> bool:
    """Whether both have a key, and it is one, however it is spelt."""
    return one.key is not None and other.key is not None and canonical(one.key) == canonical(other.key)
