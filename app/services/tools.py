"""Tools: an agent's own way to its memory. Whatever goes wrong is told to the model, in words it can act on."""

from dataclasses import dataclass
from typing import Final

from pydantic import ValidationError

from app.core.errors import Conflict, Forbidden, Invalid, NotFound, Problem
from app.core.text.language import language_of
from app.domain.fence import cut
from app.domain.principal import Principal
from app.domain.tooling import MINIMAL, TOOL_NAMES, Language, ToolForm, ToolSet, cost, in_form
from app.providers.llm.prompts import prompt_language
from app.schemas.tools import ToolCall, ToolList, ToolResult
from app.services.answers import Write
from app.services.redacting import Redacting
from app.services.tool_calls import ToolCalls, ToolFault
from app.services.tool_texts import ARGUMENTS, say, tool

MOST_FAULTS: Final = 3
TOLD: Final = (Conflict, Forbidden, Invalid, NotFound)
"""What goes wrong by what the model asked for; the rest is the program's to handle."""


@dataclass(frozen=True, slots=True)
class ToolService:
    """The use cases of tools."""

    calls: ToolCalls
    redacting: Redacting

    @staticmethod
    def listed(principal: Principal, form: ToolForm, chosen: ToolSet, language: Language) -> ToolList:
        """Definitions of a set in a form, and what each set costs in every prompt."""
        principal.require("memories:read")
        sets: dict[ToolSet, list[dict[str, object]]] = {
            "full": [in_form(tool(name, language), form) for name in TOOL_NAMES],
            "minimal": [in_form(tool(name, language).shortened(), form) for name in MINIMAL],
        }
        costs = {name: cost(definitions) for name, definitions in sets.items()}
        return ToolList(format=form, set=chosen, tools=sets[chosen], tokens=costs[chosen], costs=costs)

    async def run(self, write: Write, name: str, call: ToolCall) -> ToolResult:
        """Do what a model asks for.

        Raises:
            Forbidden: The key may not do this for this user; no other call of the model's would help.
        """
        language = prompt_language(language_of(_said(call)))
        user_id = write.principal.own_user(call.user_id)
        call = call.model_copy(update={"user_id": user_id})
        try:
            cleaned = await self.redacting.clean(write.principal, call)
            text = await self._done(write, name, cleaned.request, language)
        except ToolFault as fault:
            return ToolResult(name=name, is_error=True, text=fault.words)
        except TOLD as problem:
            if problem.code == "missing_scope":  # no argument of the model's can mend that
                raise
            return ToolResult(name=name, is_error=True, text=_told(problem, language))
        return ToolResult(name=name, is_error=False, text=text, redacted=cleaned.kinds())

    async def _done(self, write: Write, name: str, call: ToolCall, language: Language) -> str:
        known = next((one for one in TOOL_NAMES if one == name), None)
        if known is None:
            raise ToolFault(say("unknown_tool", language, name=name, names=", ".join(TOOL_NAMES)))
        names = ", ".join(ARGUMENTS[known].model_fields)
        if not isinstance(call.arguments, dict):
            raise ToolFault(say("not_an_object", language, name=name, names=names))
        try:
            return await self.calls.run(write, ARGUMENTS[known].model_validate(call.arguments), call, language)
        except ValidationError as error:
            raise ToolFault(say("bad_arguments", language, faults=_faults(error), name=name, names=names)) from error


def _said(call: ToolCall) -> str:
    """What the model says in its own words, names of arguments apart; all of it where none are its own."""
    given = call.arguments
    values = given.values() if isinstance(given, dict) else [given]
    said = "\n".join(value for value in values if isinstance(value, str))
    own = cut(said)
    return own if own.strip() else said


def _faults(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_context=False, include_input=False)[:MOST_FAULTS]
    return "; ".join(f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}" for fault in faults)


def _told(problem: Problem, language: Language) -> str:
    return say("refused", language, detail=problem.detail)
