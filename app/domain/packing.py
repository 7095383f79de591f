"""Bytes as they are kept: compressed where it pays."""

import zlib
from typing import Final

from app.core.errors import Invalid

LEAST_BYTES: Final = 512
"""Smaller ones stay as they are: a header eats what compression saves."""

WORTHWHILE: Final = 0.9
"""Kept compressed only if it takes no more than this share of the room."""

LEVEL: Final = 1
CODEC: Final = "zlib"


def pack(data: bytes) -> tuple[str | None, bytes]:
    """The codec (None: as they are) and the bytes to keep."""
    if len(data) < LEAST_BYTES:
        return None, data
    packed = zlib.compress(data, LEVEL)
    if len(packed) > WORTHWHILE * len(data):
        return None, data
    return CODEC, packed


def unpack(codec: str | None, data: bytes) -> bytes:
    """What `pack` was given.

    Raises:
        Invalid: A newer version of the service has packed them in a way that this one does not know.
    """
    if codec is None:
        return data
    if codec != CODEC:
        raise Invalid(f"What is stored is packed with {codec}, which this version cannot read.", code="unknown_codec")
    return zlib.decompress(data)
