"""The tools that an agent has over its own memory (MemGPT), as each kind of client wants them described."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, assert_never, get_args

from app.domain.budget import estimate_tokens

ToolName = Literal[
    "core_memory_append",
    "core_memory_replace",
    "archival_memory_insert",
    "archival_memory_search",
    "conversation_search",
]
TOOL_NAMES: Final[tuple[ToolName, ...]] = get_args(ToolName)
ToolForm = Literal["openai", "anthropic", "mcp"]
ToolSet = Literal["full", "minimal"]
Language = Literal["en", "zh"]

MINIMAL: Final[tuple[ToolName, ...]] = ("core_memory_append", "archival_memory_insert", "archival_memory_search")
"""Enough to note and to find, for small contexts: without options, and each told in a sentence."""

READS: Final[frozenset[ToolName]] = frozenset({"archival_memory_search", "conversation_search"})


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool's definition.

    Args:
        name: Its name.
        description: What it is for, in sentences that begin with the shortest useful one.
        properties: JSON schemas of its arguments, by name.
        required: Arguments that must be given.
    """

    name: ToolName
    description: str
    properties: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    required: Sequence[str] = ()

    def shortened(self) -> "Tool":
        """The first sentence, and what must be given."""
        stop = "。" if "。" in self.description else ". "
        first = self.description.split(stop)[0].rstrip(".") + stop.strip()
        needed = {name: schema for name, schema in self.properties.items() if name in self.required}
        return replace(self, description=first, properties=needed)

    @property
    def schema(self) -> dict[str, Any]:
        """The arguments as one JSON schema."""
        shown = {name: dict(schema) for name, schema in self.properties.items()}
        return {
            "type": "object",
            "properties": shown,
            "required": list(self.required),
            "additionalProperties": False,
        }


def in_form(tool: Tool, form: ToolForm) -> dict[str, Any]:
    """A definition as the API of this kind takes it."""
    told = {"name": tool.name, "description": tool.description}
    match form:
        case "openai":
            return {"type": "function", "function": told | {"parameters": tool.schema}}
        case "anthropic":
            return told | {"input_schema": tool.schema}
        case "mcp":
            hints = {"readOnlyHint": tool.name in READS, "destructiveHint": tool.name == "core_memory_replace"}
            return told | {"inputSchema": tool.schema, "annotations": hints}
        case _:
            assert_never(form)


def cost(definitions: Sequence[Mapping[str, Any]]) -> int:
    """What definitions cost in every prompt, in tokens, estimated."""
    return estimate_tokens(json.dumps(list(definitions), ensure_ascii=False)) if definitions else 0
