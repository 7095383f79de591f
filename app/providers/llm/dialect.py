"""What hosts of `/v1/chat/completions` take differently, and how that is found out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from pydantic import BaseModel

from app.providers.llm.base import ChatMessage

StructuredOutput = Literal["json_schema", "json_object", "none"]
"""How the host is asked for JSON: held to a schema, held to JSON, or by words alone."""

ADAPTABLE: Final = frozenset({400, 422})
"""Statuses of a host that does not take a parameter."""

_LOWER: Final[dict[StructuredOutput, StructuredOutput]] = {"json_schema": "json_object", "json_object": "none"}


@dataclass(frozen=True, slots=True)
class Dialect:
    """The parameters that a host takes.

    Args:
        output: How it is asked for JSON.
        adapts: Whether another way is tried where it refuses this one.
        tokens: The name it has for the longest reply.
        temperature: Whether it lets a temperature be chosen.
    """

    output: StructuredOutput = "json_schema"
    adapts: bool = True
    tokens: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True

    def request(
        self,
        model: str,
        messages: Sequence[ChatMessage],
        max_tokens: int,
        temperature: float,
        schema: type[BaseModel] | None,
    ) -> dict[str, Any]:
        """The body of a request."""
        body: dict[str, Any] = {
            "model": model,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            self.tokens: max_tokens,
            "stream": False,
        }
        if self.temperature:
            body["temperature"] = temperature
        if schema is not None and (form := self._response_format(schema)) is not None:
            body["response_format"] = form
        return body

    def after_refusal(self, said: str, *, structured: bool) -> "Dialect | None":
        """What to try after a host refused this: by the parameter that it names, else with less asked of the form.

        Args:
            said: The host's words.
            structured: Whether a form was asked for.
        """
        if self.tokens == "max_tokens" and "max_completion_tokens" in said:
            return replace(self, tokens="max_completion_tokens")
        if self.temperature and "temperature" in said:
            return replace(self, temperature=False)
        if structured and self.adapts and self.output in _LOWER:
            return replace(self, output=_LOWER[self.output])
        return None

    def _response_format(self, schema: type[BaseModel]) -> dict[str, Any] | None:
        if self.output == "none":
            return None
        if self.output == "json_object":
            return {"type": "json_object"}
        form = {"name": schema.__name__, "strict": True, "schema": strict_schema(schema)}
        return {"type": "json_schema", "json_schema": form}


def strict_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema as hosts enforce it: every named property is required, and no other is allowed."""
    strict: dict[str, Any] = _strict(schema.model_json_schema())
    return strict


def _strict(part: Any) -> Any:  # noqa: ANN401 - JSON is anything
    if isinstance(part, list):
        return [_strict(item) for item in part]
    if not isinstance(part, dict):
        return part
    known = {name: value for name, value in part.items() if name != "default"}
    properties = known.pop("properties", None)
    made = {name: _strict(value) for name, value in known.items()}
    if isinstance(properties, dict):
        # Below `properties` the names are the model's own, not the schema language's.
        made["properties"] = {name: _strict(value) for name, value in properties.items()}
        made["required"] = list(properties)
        made["additionalProperties"] = False
    return made
