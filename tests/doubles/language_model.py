"""A host of `/v1/chat/completions` on loopback that does what it is told, and every bad reply seen or feared."""

import gzip
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from tests.doubles.scripted_host import Body, Request, ScriptedHost, Turn, serving

FACTS: Final = {
    "memories": [
        {"text": "用户住在杭州。", "key": "home_city", "importance": 7},
        {"text": "The user is allergic to penicillin.", "key": "allergy", "importance": 10},
    ]
}
"""What a sound model answers, unless it is told otherwise."""

GOOD_JSON: Final = json.dumps(FACTS, ensure_ascii=False)


@dataclass
class LanguageModelHost(ScriptedHost):
    """A running host. `content` is what its model says in an ordinary turn."""

    content: str = GOOD_JSON

    def ordinary(self, request: Request) -> Body:
        """The whole answer."""
        message = {"role": "assistant", "content": self.content}
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "model": request.body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
        }

    @property
    def prompts(self) -> list[list[str]]:
        """The contents of each request's messages."""
        return [[message["content"] for message in request.body["messages"]] for request in self.requests]

    @property
    def forms(self) -> list[str | None]:
        """The response format of each request."""
        return [request.body.get("response_format", {}).get("type") for request in self.requests]


@contextmanager
def language_model_host() -> Iterator[LanguageModelHost]:
    """A host for the length of a test."""
    host = LanguageModelHost()
    with serving(host):
        yield host


def answer(change: Mapping[str, Any]) -> Turn:
    """The ordinary answer with other members."""
    return Turn(change=lambda ordinary: {**ordinary, **change})


def message(change: Mapping[str, Any], finish: str | None = "stop") -> Turn:
    """The ordinary answer with another message."""
    return answer({"choices": [{"index": 0, "message": {"role": "assistant", **change}, "finish_reason": finish}]})


def said(content: Any, finish: str | None = "stop") -> Turn:
    """The model says this."""
    return message({"content": content}, finish)


def refusing(*words: str, status: int = 400) -> Turn:
    """The host does not take a parameter."""
    body = {"error": {"message": " ".join(words), "type": "invalid_request_error"}}
    return Turn(status=status, raw=json.dumps(body).encode())


_ROW = '{"text": "用户住在杭州。", "key": "home_city", "importance": 5}'
_LONE = GOOD_JSON.replace("杭州", "杭州\\ud83d")
_HTML = b"<!doctype html><html><head><title>502</title></head><body>nginx</body></html>"
_TOOL = {"id": "1", "type": "function", "function": {"name": "answer", "arguments": GOOD_JSON}}

READABLE: Final[Mapping[str, Turn]] = {
    "plain": said(GOOD_JSON),
    "with spaces around": said(f"\n\n  {GOOD_JSON}\n"),
    "indented": said(json.dumps(FACTS, ensure_ascii=False, indent=4)),
    "escaped": said(json.dumps(FACTS)),
    "fenced": said(f"```json\n{GOOD_JSON}\n```"),
    "fenced without a language": said(f"```\n{GOOD_JSON}\n```"),
    "fenced on one line": said(f"```json {GOOD_JSON}```"),
    "fence never closed": said(f"```json\n{GOOD_JSON}"),
    "fenced amid words": said(f"Sure! Here you go:\n\n```json\n{GOOD_JSON}\n```\nLet me know."),
    "chatty before": said(f"Here are the {{memories}} you asked for: {GOOD_JSON}"),
    "chatty after": said(f"{GOOD_JSON}\n\nI left out the weather [1]."),
    "chatty in Chinese": said(f"好的，以下是提取结果：\n{GOOD_JSON}\n如需修改请告诉我。"),
    "thoughts before": said(f'<think>{{"memories": "no"}} hmm, 杭州</think>\n{GOOD_JSON}'),
    "thoughts with only their end": said(f"The user moved, so...</think>{GOOD_JSON}"),
    "two blocks of thoughts": said(f"<think>a</think><think>b</think>{GOOD_JSON}"),
    "thoughts in another tag": said(f"<thinking>a</thinking>{GOOD_JSON}"),
    "an example first": said(f'Format: {{"memories": []}}. Answer: {GOOD_JSON}'),
    "half of a character": said(_LONE),
    "half of a character in the envelope": Turn(
        raw=b'{"choices": [{"message": {"content": ' + json.dumps(GOOD_JSON + " \ud83d").encode() + b"}}]}"
    ),
    "NUL inside": said(GOOD_JSON.replace("杭州", "杭\\u0000州")),
    "line breaks in strings": said(GOOD_JSON.replace("allergic to", "allergic to\n")),
    "byte order mark": said("\ufeff" + GOOD_JSON),
    "list of parts": said([{"type": "text", "text": GOOD_JSON}]),
    "parts with thoughts": said([{"type": "thinking", "text": "hmm"}, {"type": "text", "text": GOOD_JSON}]),
    "parts in pieces": said([{"type": "text", "text": GOOD_JSON[:40]}, {"type": "text", "text": GOOD_JSON[40:]}]),
    "an object for content": said(FACTS),
    "tool calls only": message({"content": None, "tool_calls": [_TOOL]}, "tool_calls"),
    "reasoning beside": message({"content": GOOD_JSON, "reasoning_content": "{}"}),
    "numbers as words": said(GOOD_JSON.replace("10", '"10"')),
    "more than was asked": said(json.dumps({**FACTS, "confidence": 1})),
    "whole, then cut in the words after": said(f"{GOOD_JSON}\n\nI have", "length"),
    "no finish reason": said(GOOD_JSON, None),
    "no usage": answer({"usage": None}),
    "usage of nonsense": answer({"usage": {"prompt_tokens": "many", "completion_tokens": -4}}),
    "huge usage": answer({"usage": {"prompt_tokens": 10**30, "completion_tokens": 1.5}}),
    "wrong content type": Turn(headers={"Content-Type": "text/html"}),
    "compressed": Turn(
        raw=gzip.compress(json.dumps({"choices": [{"message": {"content": GOOD_JSON}}]}).encode()),
        headers={"Content-Encoding": "gzip"},
    ),
    "created": Turn(status=201),
}
"""Replies in which the value is, whatever is around it."""

UNFIT: Final[Mapping[str, Turn]] = {
    "empty": said(""),
    "blank": said(" \n "),
    "null": said(None),
    "no content": message({}),
    "a number for content": said(7),
    "nothing but thoughts": said("<think>let me see</think>"),
    "thoughts that never end": said(f"<think>so {GOOD_JSON}", "length"),
    "words": said("I could not find any facts."),
    "words in Chinese": said("对不起，我无法完成这个请求。"),
    "refusal": message({"content": None, "refusal": "I can't help with that."}),
    "filtered": said("", "content_filter"),
    "cut in a string": said(GOOD_JSON[:60], "length"),
    "cut between rows": said('{"memories": [' + ", ".join([_ROW] * 3) + ",", "length"),
    "the same row many times, then cut": said('{"memories": [' + ", ".join([_ROW] * 200)[:-20], "length"),
    "cut without saying so": said(GOOD_JSON[:-3]),
    "cut inside its fence": said(f"```json\n{GOOD_JSON[:-5]}", "length"),
    "an object where a string was due": said('{"memories": [{"text": {"zh": "杭州"}, "key": "a", "importance": 1}]}'),
    "a list where an object was due": said(json.dumps(FACTS["memories"])),
    "a string around the JSON": said(json.dumps(GOOD_JSON)),
    "another object": said('{"error": "no facts"}'),
    "empty object": said("{}"),
    "JSON null": said("null"),
    "JSON number": said("42"),
    "not a number": said('{"memories": [{"text": "a", "key": "b", "importance": NaN}]}'),
    "infinite": said('{"memories": [{"text": "a", "key": "b", "importance": 1e999}]}'),
    "a number of 5,000 digits": said('{"memories": [{"text": "a", "key": "b", "importance": ' + "9" * 5_000 + "}]}"),
    "missing field": said('{"memories": [{"text": "a"}]}'),
    "Python's spelling": said("{'memories': [{'text': 'a', 'key': None}]}"),
    "trailing comma": said('{"memories": [{"text": "a", "key": "b", "importance": 1},]}'),
    "comments": said('{"memories": [] // none\n}'),
    "brackets only": said("{" * 3_000),
    "a bottomless list": said("[" * 100_000),
    "a deep list that is closed": said("[" * 5_000 + "]" * 5_000),
    "YAML": said("memories:\n  - text: a\n    key: b"),
    "XML": said("<memories><memory>a</memory></memories>"),
    "a tool call without JSON": message(
        {"content": "", "tool_calls": [{"function": {"name": "answer", "arguments": "city: 杭州"}}]}, "tool_calls"
    ),
    "a tool call that is none": message({"content": None, "tool_calls": ["answer"]}),
    "parts that are none": said([None, 3, {"type": "image_url"}]),
    "200,000 characters of nothing": said("la " * 70_000, "length"),
}
"""Replies that hold no value of the schema: one repair is asked for."""

PASSING: Final[Mapping[str, Turn]] = {
    "busy": Turn(status=429, headers={"Retry-After": "0"}),
    "busy without a word": Turn(status=429),
    "down": Turn(status=503),
    "down with a page": Turn(status=502, raw=_HTML, headers={"Content-Type": "text/html"}),
    "request timeout": Turn(status=408),
    "internal error": Turn(status=500, raw=b'{"error": {"message": "CUDA out of memory"}}'),
    "overloaded": Turn(status=529),
    "dropped": Turn(drop=True),
    "dropped in the middle": Turn(short=True),
    "a page under 200": Turn(raw=_HTML, headers={"Content-Type": "text/html"}),
    "nothing under 200": Turn(raw=b""),
    "JSON null under 200": Turn(raw=b"null"),
    "no body": Turn(status=204, raw=b""),
    "an error under 200": Turn(raw=b'{"error": {"code": 429, "message": "slow down"}}'),
    "no choices": answer({"choices": []}),
    "choices of null": answer({"choices": None}),
    "choices of words": answer({"choices": "none"}),
    "a choice of null": answer({"choices": [None]}),
    "no message": answer({"choices": [{"text": "old protocol"}]}),
    "a list": Turn(raw=b"[]"),
    "a stream": Turn(raw=b'data: {"choices": [{"delta": {"content": "{"}}]}\n\ndata: [DONE]\n\n'),
    "broken compression": Turn(raw=b"not gzip", headers={"Content-Encoding": "gzip"}),
    "not UTF-8": Turn(raw=b"\xff\xfe\x00"),
    "bottomless JSON": Turn(raw=b"[" * 200_000),
}
"""Answers after which the same request may succeed."""

LASTING: Final[Mapping[str, Turn]] = {
    "no key": Turn(status=401, raw=b'{"error": "who are you"}'),
    "forbidden": Turn(status=403),
    "no such model": Turn(status=404),
    "elsewhere": Turn(status=307, headers={"Location": "http://127.0.0.1:1/"}),
    "too large": Turn(status=413),
    "busy for an hour": Turn(status=429, headers={"Retry-After": "3600"}),
    "too long a prompt": refusing("maximum context length is 4096 tokens"),
    "unprocessable": refusing("nope", status=422),
    "without end": Turn(raw=b" " * (9 * 1024 * 1024)),
    "hanging": Turn(hang=True),
    "trickling": Turn(trickle=True),
}
"""Answers after which patience does not help, or has run out."""
