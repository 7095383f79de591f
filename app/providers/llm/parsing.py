"""From what a model wrote to a value of a schema."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from pydantic import ValidationError

from app.core.text.normal import clean
from app.providers.llm.base import Schema
from app.providers.llm.reply import Reply, without_thoughts

MOST_STARTS: Final = 50
"""Brackets of a chatty text that are looked at: each costs a pass over what follows."""

MOST_FAULTS: Final = 8
"""Faults that are told to the model; the others go with them."""

_FENCE = re.compile(r"```[a-zA-Z0-9_-]*[ \t]*\r?\n?(.*?)(?:```|\Z)", re.DOTALL)
_START = re.compile(r"[{\[]")
_DECODER: Final = json.JSONDecoder(strict=False)


class Unfit(Exception):  # noqa: N818 - a state of the reply
    """A reply that is no value of the schema.

    Args:
        short: What is wrong, without anything of the reply.
        told: What is wrong, for the model that wrote it.
    """

    def __init__(self, short: str, told: str) -> None:
        super().__init__(short)
        self.short = short
        self.told = told


def parsed(reply: Reply, schema: type[Schema]) -> Schema:
    """The value that a reply holds: alone, fenced, after thoughts, or amid other words (the longest that fits).

    Raises:
        Unfit: There is none.
    """
    content = reply.content if reply.content.strip() else reply.arguments
    fault: ValidationError | None = None
    for value in _values(content):
        try:
            return schema.model_validate_json(_rewritten(value))
        except ValidationError as error:
            fault = fault or error
        except (ValueError, RecursionError):
            continue
    if fault is not None:
        raise _misfit(fault)
    if not content.strip():
        raise Unfit("The reply is empty.", "The reply is empty.")
    if reply.cut:
        raise Unfit(
            "The reply was cut at its longest length.",
            "The reply was cut because it was too long. Answer shorter, and say nothing twice.",
        )
    raise Unfit("The reply is not JSON.", "The reply is not valid JSON.")


def _values(content: str) -> Iterator[Any]:
    """Values that the text holds, the likeliest first; each is an object, a list, or all of the text."""
    answer = without_thoughts(content)
    for whole in dict.fromkeys((content.strip(), answer)):
        try:
            yield json.loads(whole, strict=False)
        except (ValueError, RecursionError):
            continue
    for fenced in _FENCE.findall(answer):
        try:
            yield json.loads(fenced, strict=False)
        except (ValueError, RecursionError):
            continue
    found = list(_embedded(answer))
    yield from (value for value, _ in sorted(found, key=lambda pair: -pair[1]))


def _embedded(text: str) -> Iterator[tuple[Any, int]]:
    """Each object or list amid other words, with its length."""
    position = 0
    for _ in range(MOST_STARTS):
        start = _START.search(text, position)
        if start is None:
            return
        try:
            value, position = _DECODER.raw_decode(text, start.start())
        except json.JSONDecodeError as error:
            # Not from the next bracket: what is inside a broken object is a part of it, not the answer.
            position = max(error.pos, start.end())
        except (ValueError, RecursionError):
            return
        else:
            yield value, position - start.start()


def _rewritten(value: Any) -> str:  # noqa: ANN401 - JSON is anything
    """The value as JSON again: now without NUL, and without half of a character that was written as an escape."""
    return clean(json.dumps(_without_nul(value), ensure_ascii=False))


def _without_nul(value: Any) -> Any:  # noqa: ANN401 - likewise
    if isinstance(value, str):
        return value.replace("\0", "")
    if isinstance(value, list):
        return [_without_nul(item) for item in value]
    if isinstance(value, dict):
        return {_without_nul(name): _without_nul(item) for name, item in value.items()}
    return value


def _misfit(error: ValidationError) -> Unfit:
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    lines = [f"{'.'.join(map(str, fault['loc'])) or 'the reply'}: {fault['msg']}" for fault in faults[:MOST_FAULTS]]
    return Unfit(f"The reply does not fit its schema ({len(faults)} faults).", "\n".join(map(clean, lines)))
