"""The fingerprint that ties a vector to the text it was made from."""

from hashlib import blake2b
from typing import Final

DIGEST_BYTES: Final = 16


def text_hash(text: str) -> bytes:
    """BLAKE2b of the UTF-8 text, 16 bytes (RFC 7693). Lone surrogates are hashed as they stand, never refused."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()
