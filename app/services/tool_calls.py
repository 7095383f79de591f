"""What each tool does, by the use cases that clients call as well."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from app.core.errors import Forbidden, Invalid
from app.domain.fence import cut, wrap
from app.domain.principal import Principal
from app.domain.tooling import Language
from app.repositories.base import Row
from app.schemas.blocks import Block, BlockPatch, Replacement
from app.schemas.memories import AddedMemory, MemoryAdd, SourceIn
from app.schemas.recall import RecallRequest
from app.schemas.search import SearchRequest
from app.schemas.tools import (
    ArchivalMemoryInsert,
    ArchivalMemorySearch,
    Arguments,
    ConversationSearch,
    CoreMemoryAppend,
    CoreMemoryReplace,
    ToolCall,
)
from app.services.answers import Write
from app.services.blocks import BlockAddress, BlockService
from app.services.memories import MemoryService
from app.services.recall import RecallService
from app.services.retrieval import RetrievalService
from app.services.tool_texts import say
from app.uow import UnitOfWork

MOST_BLOCKS: Final = 50
SHORT_DATE: Final = 10


class ToolFault(Exception):  # noqa: N818 - told to the model
    """What the model did wrong, in words it can act on."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.words = words


@dataclass(frozen=True, slots=True)
class ToolCalls:
    """The use cases behind the tools. What was served from memory is neither served nor kept a second time."""

    uow: UnitOfWork
    blocks: BlockService
    memories: MemoryService
    retrieval: RetrievalService
    recall: RecallService

    async def run(self, write: Write, arguments: Arguments, call: ToolCall, language: Language) -> str:
        """What the model is told. Raises `ToolFault`, or what the use case raises."""
        match arguments:
            case CoreMemoryAppend():
                patch = BlockPatch(append=_own(arguments.content, language))
                return await self._changed(write, arguments.label, patch, call, language)
            case CoreMemoryReplace():
                new = _own(arguments.new_content, language)
                replacement = Replacement(old=arguments.old_content, new=new)
                return await self._changed(write, arguments.label, BlockPatch(replace=replacement), call, language)
            case ArchivalMemoryInsert():
                return await self._insert(write, arguments, call, language)
            case ArchivalMemorySearch():
                return await self._search(write.principal, arguments, call, language)
            case ConversationSearch():
                return await self._conversations(write.principal, arguments, call, language)
            case _:
                raise AssertionError(type(arguments).__name__)

    async def _changed(self, write: Write, label: str, patch: BlockPatch, call: ToolCall, language: Language) -> str:
        address, before = await self._block(write.principal, label, call, language)
        try:
            answer = await self.blocks.patch(write, address, patch)
        except Invalid as problem:
            raise ToolFault(_why_not(problem, label, before, patch, language)) from problem
        except Forbidden as problem:
            if problem.code != "read_only":
                raise
            raise ToolFault(say("read_only", language, label=label)) from problem
        block = Block.model_validate(answer.body)
        places = {name: getattr(block, name) for name in ("label", "version", "characters", "limit")}
        text = _fenced(write.principal, block.text, f"block:{label}")
        return say("block", language, **places, text=text)

    async def _block(
        self, principal: Principal, label: str, call: ToolCall, language: Language
    ) -> tuple[BlockAddress, Row]:
        """The block of this label that is nearest: of the user with this agent, the user, the agent, or all."""
        principal.require("memories:read")
        scopes = [(call.user_id, call.agent_id), (call.user_id, None), (None, call.agent_id), (None, None)]
        tried = list(dict.fromkeys(scopes))
        async with self.uow.begin(principal) as tx:
            for user_id, agent_id in tried:
                row = await tx.blocks.get(label, user_id, agent_id)
                if row is not None:
                    return BlockAddress(label, user_id, agent_id), row
            rows = [row for scope in tried for row in await tx.blocks.page(*scope, None, MOST_BLOCKS)]
        names = sorted({row["label"] for row in rows if (row["user_id"], row["agent_id"]) in tried})
        if not names:
            raise ToolFault(say("no_blocks", language, label=label))
        raise ToolFault(say("no_block", language, label=label, names=", ".join(names)))

    async def _insert(self, write: Write, arguments: ArchivalMemoryInsert, call: ToolCall, language: Language) -> str:
        """What an agent says of its own accord is its word, not the user's: uncertain until somebody confirms it."""
        sources = [] if call.session_id is None else [SourceIn(session_id=call.session_id)]
        request = MemoryAdd(
            text=_own(arguments.content, language),
            category=arguments.category,
            importance=arguments.importance,
            source="assistant_said",
            user_id=call.user_id,
            agent_id=call.agent_id,
            app_id=call.app_id,
            sources=sources,
        )
        answer = await self.memories.add(write.principal, request, write.claim)
        memory = AddedMemory.model_validate(answer.body)
        saying = "kept" if memory.seen_count == 1 else "known"
        return say(saying, language, id=memory.id, text=_fenced(write.principal, memory.text, "memories"))

    async def _search(
        self, principal: Principal, arguments: ArchivalMemorySearch, call: ToolCall, language: Language
    ) -> str:
        first = arguments.page * arguments.limit
        request = SearchRequest(
            query=arguments.query,
            user_id=call.user_id,
            agent_id=call.agent_id,
            app_id=call.app_id,
            include_shared=True,
            include_uncertain=True,
            top_k=min(first + arguments.limit + 1, 200),
        )
        found = await self.retrieval.search(principal, request)
        lines = []
        for hit in found.results:
            marks = say("unconfirmed", language) if hit.uncertain else ""
            marks += say("disputed", language) if hit.disputed else ""
            at = (hit.occurred_at or hit.created_at).isoformat()[:SHORT_DATE]
            lines.append(f"[{at}] {hit.text}{marks}")
        return _page(principal, lines, arguments, "memories", language)

    async def _conversations(
        self, principal: Principal, arguments: ConversationSearch, call: ToolCall, language: Language
    ) -> str:
        since, until = _period(arguments, call, language)
        request = RecallRequest(
            query=arguments.query,
            mode=arguments.mode,
            user_id=call.user_id,
            # What a user has said is looked for in all of their sessions, as it is in a context.
            agent_id=call.agent_id if call.user_id is None else None,
            app_id=call.app_id,
            session_id=call.session_id if call.user_id is None else None,
            roles=[] if arguments.role is None else [arguments.role],
            since=since,
            until=until,
            limit=min((arguments.page + 1) * arguments.limit + 1, 200),
        )
        found = await self.recall.search(principal, request)
        lines = []
        for hit in found.results:
            message = hit.message
            at = message.occurred_at.astimezone(_zone(call)).strftime("%Y-%m-%d %H:%M")
            text = message.content if isinstance(message.content, str) else " ".join(_texts(message.content))
            lines.append(f"[{at}, {message.session_id} #{message.seq}] {message.role}: {cut(text).strip()}")
        return _page(principal, lines, arguments, "messages", language)


def _page(
    principal: Principal,
    lines: Sequence[str],
    asked: ArchivalMemorySearch | ConversationSearch,
    source: str,
    language: Language,
) -> str:
    first, size = asked.page * asked.limit, asked.limit
    shown = lines[first : first + size]
    if not shown:
        return say("no_more", language, page=asked.page) if lines else say("nothing", language)
    numbered = "\n".join(f"{number}. {line}" for number, line in enumerate(shown, first + 1))
    more = say("more", language, page=asked.page + 1) if len(lines) > first + size else ""
    text = _fenced(principal, numbered, source)
    return say("found", language, first=first + 1, last=first + len(shown), more=more, text=text)


def _fenced(principal: Principal, text: str, source: str) -> str:
    return wrap(text, key=principal.defaults.fence_key, source=source)


def _own(text: str, language: Language) -> str:
    """What is to be kept but for what memory has served into it."""
    own = cut(text)
    if own == text:
        return text
    if not own.strip():
        raise ToolFault(say("recalled", language))
    return own.strip()


def _why_not(problem: Invalid, label: str, before: Row, patch: BlockPatch, language: Language) -> str:
    text = before["text"]
    match problem.code:
        case "block_full":
            return say("block_full", language, limit=before["char_limit"], characters=len(text))
        case "old_text_not_unique":
            times = 0 if patch.replace is None else text.count(patch.replace.old)
            return say("old_text_not_unique", language, label=label, times=times, text=text)
        case _:
            return say("refused", language, detail=problem.detail)


def _period(
    arguments: ConversationSearch, call: ToolCall, language: Language
) -> tuple[datetime | None, datetime | None]:
    """From the beginning of the first day to the end of the last one; a time of the day is taken as it is."""
    since = _instant("start_date", arguments.start_date, call, language)
    until = _instant("end_date", arguments.end_date, call, language, end=True)
    if since is not None and until is not None and since >= until:
        raise ToolFault(say("dates_reversed", language))
    return since, until


def _instant(name: str, given: str | None, call: ToolCall, language: Language, *, end: bool = False) -> datetime | None:
    if given is None:
        return None
    try:
        if len(given.strip()) <= SHORT_DATE:
            day = date.fromisoformat(given.strip()) + timedelta(days=int(end))
            return datetime.combine(day, time(), _zone(call)).astimezone(UTC)
        at = datetime.fromisoformat(given.strip())
        return (at if at.tzinfo is not None else at.replace(tzinfo=_zone(call))).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ToolFault(say("bad_date", language, name=name)) from error


def _zone(call: ToolCall) -> ZoneInfo:
    return ZoneInfo(call.timezone or "UTC")


def _texts(parts: Sequence[dict[str, object]]) -> list[str]:
    return [str(part["text"]) for part in parts if isinstance(part.get("text"), str)]
