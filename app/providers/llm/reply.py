"""One answer of `/v1/chat/completions`, whatever of it is there."""

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from app.core.text.normal import clean

MOST_TOKENS: Final = 10_000_000
"""A larger number of tokens is no count."""

_THOUGHTS = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHTS_END = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)


class NoReply(Exception):  # noqa: N818 - a state of the answer
    """The answer is none of the protocol: a proxy's page, or an error under a good status."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model said.

    Args:
        content: Its text as it came, without NUL and lone surrogates.
        arguments: Those of its first tool call: some gateways turn a schema into a tool.
        cut: It ended at the longest length.
        prompt_tokens: Tokens read, as the host counts them.
        completion_tokens: Tokens written.
    """

    content: str
    arguments: str = ""
    cut: bool = False
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def text(self) -> str:
        """The text without the thoughts before it."""
        return without_thoughts(self.content)


def without_thoughts(content: str) -> str:
    """What follows `<think>` blocks, also where only their end is there, or never comes."""
    return _THOUGHTS_END.split(_THOUGHTS.sub("", content))[-1].strip()


def read_reply(raw: bytes) -> Reply:
    """The first choice of an answer.

    Raises:
        NoReply: It is not an answer of the protocol.
    """
    try:
        answer = json.loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise NoReply("The host's answer is not JSON.") from None
    choice = _first(_member(answer, "choices"))
    message = _member(choice, "message")
    if not isinstance(message, dict):
        raise NoReply("The host's answer has no message.")
    usage = _member(answer, "usage")
    return Reply(
        content=clean(_text(message.get("content"))),
        arguments=clean(_text(_member(_member(_first(message.get("tool_calls")), "function"), "arguments"))),
        cut=_member(choice, "finish_reason") == "length",
        prompt_tokens=_count(_member(usage, "prompt_tokens")),
        completion_tokens=_count(_member(usage, "completion_tokens")),
    )


def _member(value: Any, name: str) -> Any:  # noqa: ANN401 - JSON is anything
    return value.get(name) if isinstance(value, dict) else None


def _first(value: Any) -> Any:  # noqa: ANN401 - likewise
    return value[0] if isinstance(value, list) and value else None


def _text(content: Any) -> str:  # noqa: ANN401 - likewise
    """A string, or the texts of a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(part if isinstance(part, str) else _part(part) for part in content)
    if isinstance(content, dict):
        # An object where its text was due: one part, or the very structure that was asked for.
        return _part(content) or json.dumps(content, ensure_ascii=False)
    return ""


def _part(part: Any) -> str:  # noqa: ANN401 - likewise
    text = _member(part, "text")
    kind = _member(part, "type")
    return text if isinstance(text, str) and kind in {None, "text", "output_text"} else ""


def _count(tokens: Any) -> int:  # noqa: ANN401 - likewise
    return tokens if isinstance(tokens, int) and 0 <= tokens <= MOST_TOKENS else 0
