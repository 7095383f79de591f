"""Identifiers: UUIDv7, so that new rows land at the end of their indexes."""

from uuid import UUID

import uuid_utils


def new_id() -> UUID:
    """A fresh UUIDv7."""
    return UUID(int=uuid_utils.uuid7().int)
