"""Lets the fuzzer write bodies that are lines of JSON."""

import json
from typing import Any

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines_of_json(_context: Any, value: Any) -> bytes:
    """One line, or the text as it is."""
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else json.dumps(value).encode()
