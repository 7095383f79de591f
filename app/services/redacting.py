"""The one door that what clients write goes through before anything is done with it: secrets stay outside.

Each request names its fields of content here; ids, names and enumerations are none. A test looks at every request of
the API and fails where it has a text that is not named.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from pydantic import BaseModel

from app.core.errors import Invalid
from app.core.metrics import Metrics
from app.domain.principal import Principal
from app.domain.redaction import KINDS, SecretKind
from app.domain.redaction.documents import Path, redact_json
from app.schemas.blocks import BlockPatch, BlockPut, Replacement
from app.schemas.checkpoints import CheckpointPut
from app.schemas.context import ContextRequest, ContextWarm
from app.schemas.curation import Feedback, Judgement
from app.schemas.dreams import DreamChangeEdit, DreamEdit
from app.schemas.extraction import ExtractRequest
from app.schemas.facts import FactPut, KeyPut
from app.schemas.lessons import ExperienceIn, StepTaken
from app.schemas.lifecycle import SessionFork
from app.schemas.memories import MemoriesAdd, MemoryAdd, MemoryChange, MemoryIn, SourceIn
from app.schemas.memory_file import MemoryFileIn
from app.schemas.messages import MessageAppend, MessageIn, MessagesAppend
from app.schemas.procedures import (
    Example,
    MatchRequest,
    OutcomeReport,
    ProcedureChange,
    ProcedureContent,
    ProcedureCreate,
    ProcedureFile,
    ProcedureImport,
)
from app.schemas.recall import RecallRequest
from app.schemas.search import RecentTurns, SearchRequest
from app.schemas.sessions import SessionChange, SessionCreate
from app.schemas.snapshots import SnapshotChange, SnapshotCreate, SnapshotFork, StepPut
from app.schemas.states import StatePatch, StatePut
from app.schemas.store import StoreBatch, StoreGet, StoreNamespaces, StorePut, StoreSearch
from app.schemas.tools import ToolCall
from app.schemas.transfer import ForeignMemory
from app.schemas.turns import TurnCreate, TurnState
from app.schemas.users import UserChange

INLINE_CHARACTERS: Final = 20_000
"""A request with more of it is looked through off the event loop, where it cannot hold up other requests."""

SHOWN_FAULTS: Final = 50

_MESSAGE: Final = ("content", "tool_calls", "metadata")
_MEMORY: Final = ("text", "value", "metadata", "sources")
_PROCEDURE: Final = ("title", "when_to_use", "body", "steps", "examples")
CONTENT: Final[Mapping[type[BaseModel], Sequence[str]]] = {
    MessageIn: _MESSAGE,
    MessageAppend: _MESSAGE,
    MessagesAppend: ("messages",),
    ExtractRequest: ("messages",),
    MemoryIn: _MEMORY,
    MemoryAdd: _MEMORY,
    MemoriesAdd: ("memories",),
    SourceIn: ("quote",),
    MemoryChange: ("text", "value", "metadata"),
    FactPut: ("text", "value"),
    KeyPut: ("description",),
    BlockPut: ("text", "description"),
    BlockPatch: ("append", "replace", "text", "description"),
    Replacement: ("old", "new"),
    CheckpointPut: ("metadata",),
    SnapshotCreate: ("state", "label", "metadata"),
    SnapshotChange: ("label",),
    SnapshotFork: ("title",),
    StepPut: ("input", "output", "state"),
    StoreBatch: ("ops",),
    StoreGet: (),
    StorePut: ("value",),
    StoreSearch: ("query",),
    StoreNamespaces: (),
    SessionCreate: ("title", "metadata"),
    SessionChange: ("title", "metadata"),
    SessionFork: ("title",),
    StatePut: ("state",),
    StatePatch: ("patch",),
    TurnCreate: ("messages", "state", "checkpoint"),
    TurnState: ("patch", "state"),
    ProcedureContent: _PROCEDURE,
    ProcedureCreate: _PROCEDURE,
    ProcedureChange: _PROCEDURE,
    Example: ("input", "output"),
    OutcomeReport: ("note",),
    MatchRequest: ("task",),
    ProcedureImport: ("files",),
    ProcedureFile: ("content",),
    ExperienceIn: ("task", "steps", "evaluation"),
    StepTaken: ("action", "result"),
    ToolCall: ("arguments",),
    UserChange: ("metadata",),
    ForeignMemory: ("text", "value", "metadata"),
    MemoryFileIn: ("text",),
    DreamEdit: ("changes",),
    DreamChangeEdit: ("after",),
    Judgement: ("reason",),
    Feedback: ("reason",),
    SearchRequest: ("query", "recent"),
    RecentTurns: ("messages",),
    RecallRequest: ("query",),
    ContextRequest: ("query",),
    ContextWarm: ("partial_input",),
}
"""The fields of each request that hold what people and agents say. What is nested in them is looked up here as well."""

QUERIES: Final = (SearchRequest, RecallRequest, MatchRequest, ContextRequest, ContextWarm)
"""Questions are never refused for a secret: nothing is written, and it is taken out before anything sees it."""

SEALABLE: Final = (MemoryAdd, MemoriesAdd, FactPut)
"""Where the tenant has secrets sealed, these are stored with them, encrypted."""

Request = TypeVar("Request", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Cleaned(Generic[Request]):
    """A request without its secrets, and where in it they stood."""

    request: Request
    finds: Sequence[tuple[Path, SecretKind]]

    def kinds(self, *within: str | int) -> list[SecretKind]:
        """The kinds that were found, in all of the request or within a part of it."""
        found = {kind for path, kind in self.finds if path[: len(within)] == within}
        return [kind for kind in KINDS if kind in found]


@dataclass(frozen=True, slots=True)
class Redacting:
    """Takes secrets out of requests, or refuses them, as the tenant has it."""

    metrics: Metrics

    async def clean(self, principal: Principal, request: Request, *, name: str | None = None) -> Cleaned[Request]:
        """The request as everything else may see it.

        Args:
            principal: Whose tenant decides: redact, reject or allow.
            request: What the client sent, of a type in `CONTENT`.
            name: The key whose value the request sets, if it sets one.

        Raises:
            Invalid: There is a secret, and the tenant refuses them; the answer says of what kind and where, no more.
        """
        policy = principal.defaults.redaction
        if policy == "allow":
            return Cleaned(request, ())
        phones = principal.defaults.redact_phone_numbers
        if _characters(request) <= INLINE_CHARACTERS:
            cleaned = _cleaned(request, name, phones=phones)
        else:
            cleaned = await asyncio.to_thread(_cleaned, request, name, phones=phones)
        if policy == "seal" and cleaned.finds and isinstance(request, SEALABLE):
            for _, kind in cleaned.finds:
                self.metrics.secrets.labels(kind, "sealed").inc()
            return Cleaned(_to_be_sealed(request, cleaned.finds), ())
        refused = policy == "reject" and not isinstance(request, QUERIES)
        for _, kind in cleaned.finds:
            self.metrics.secrets.labels(kind, "rejected" if refused else "redacted").inc()
        if refused and cleaned.finds:
            raise _refusal(cleaned)
        return cleaned

    def kept(self, principal: Principal, request: SearchRequest) -> SearchRequest:
        """A search as its explanation keeps it: the filter may name a secret to look for it."""
        if principal.defaults.redaction == "allow" or request.filters is None:
            return request
        filters, _ = redact_json(request.filters, phones=principal.defaults.redact_phone_numbers)
        return request.model_copy(update={"filters": filters})


def _to_be_sealed(request: Request, finds: Sequence[tuple[Path, SecretKind]]) -> Request:
    """The request with what has a secret marked as sensitive."""
    if not isinstance(request, MemoriesAdd):
        return request.model_copy(update={"sensitive": True})
    places = {path[1] for path, _ in finds}
    items = [
        one.model_copy(update={"sensitive": True}) if place in places else one
        for place, one in enumerate(request.memories)
    ]
    return request.model_copy(update={"memories": items})


def _refusal(cleaned: Cleaned[Any]) -> Invalid:
    faults = [
        {"loc": ["body", *path], "msg": f"a secret stands here ({kind})", "type": "secret_found"}
        for path, kind in cleaned.finds[:SHOWN_FAULTS]
    ]
    return Invalid(
        f"The request holds secrets ({', '.join(cleaned.kinds())}), which this tenant does not accept: take them out.",
        code="secret_found",
        errors=faults,
    )


def _cleaned(request: Request, name: str | None, *, phones: bool) -> Cleaned[Request]:
    finds: list[tuple[Path, SecretKind]] = []
    changed: dict[str, Any] = {}
    own = getattr(request, "key", None) or name
    for field in CONTENT[type(request)]:
        value = getattr(request, field)
        if value is None or field not in request.model_fields_set:
            continue
        new, found = _without_secrets(value, own if field == "value" else None, phones=phones)
        if found:
            changed[field] = new
            finds.extend(((field, *path), kind) for path, kind in found)
    return Cleaned(request.model_copy(update=changed) if changed else request, finds)


def _without_secrets(value: Any, name: str | None, *, phones: bool) -> tuple[Any, Sequence[tuple[Path, SecretKind]]]:  # noqa: ANN401 - a field
    if isinstance(value, BaseModel):
        cleaned = _cleaned(value, None, phones=phones)
        return cleaned.request, cleaned.finds
    if isinstance(value, list) and value and isinstance(value[0], BaseModel):
        parts = [_cleaned(part, None, phones=phones) for part in value]
        finds = [((place, *path), kind) for place, part in enumerate(parts) for path, kind in part.finds]
        return [part.request for part in parts], finds
    return redact_json(value, phones=phones, name=name)


def _characters(request: BaseModel) -> int:
    """How long the texts of a request are together."""
    total, waiting = 0, list[Any]([request])
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            total += len(part)
        elif isinstance(part, BaseModel):
            waiting.extend(getattr(part, field) for field in CONTENT[type(part)])
        elif isinstance(part, list):
            waiting.extend(part)
        elif isinstance(part, dict):
            waiting.extend(part.keys())
            waiting.extend(part.values())
    return total
