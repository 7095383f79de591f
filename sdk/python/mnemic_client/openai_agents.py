"""A `Session` of the OpenAI Agents SDK, kept in Mnemic. The SDK itself is not needed: its protocol is met by shape."""

from collections.abc import Mapping
from itertools import count
from typing import Any, Final

from mnemic_client.aclient import AsyncMnemic
from mnemic_client.errors import NotFoundError
from mnemic_client.models import Message

Item = dict[str, Any]
"""An item of the conversation: whatever JSON the SDK gives."""

ITEM: Final = "openai_item"
AT_ONCE: Final = 1_000
ROLES: Final = frozenset({"system", "user", "assistant", "tool"})


class MnemicSession:
    """The history of one conversation, in the order in which it was added.

    Items are kept whole, beside the text in them, so that messages can be searched and learnt from like any others.
    Secrets are taken out of them unless the tenant keeps those.

    Args:
        session_id: Which conversation; it is made at the first add.
        client: The client.
        user_id: Whose.
    """

    session_settings: Any = None
    """What the SDK may set; it is the SDK that reads it."""

    def __init__(self, session_id: str, client: AsyncMnemic, *, user_id: str | None = None) -> None:
        self.session_id = session_id
        self._client = client
        self._user_id = user_id

    async def get_items(self, limit: int | None = None) -> list[Item]:
        """The items, or the latest so many, in chronological order."""
        if limit is None:
            limit = getattr(self.session_settings, "limit", None)
        if limit is not None and limit <= 0:
            return []
        latest: list[Item] = []
        try:
            page = 200 if limit is None else min(200, limit)
            async for message in self._client.list_messages(self.session_id, order="desc", limit=page):
                latest.append(_item(message))
                if len(latest) == limit:
                    break
        except NotFoundError:
            return []
        return latest[::-1]

    async def add_items(self, items: list[Any]) -> None:
        """Add items at the end: all of them, or none of each thousand."""
        messages = [_message(item) for item in items]
        for start in count(0, AT_ONCE):
            portion = messages[start : start + AT_ONCE]
            if not portion:
                return
            await self._client.append(self.session_id, *portion, user_id=self._user_id)

    async def pop_item(self) -> Item | None:
        """Take the last item away and return it; of two callers at once each gets another one."""
        try:
            message = await self._client.pop_message(self.session_id)
        except NotFoundError:
            return None
        return None if message is None else _item(message)

    async def clear_session(self) -> None:
        """Take every item away."""
        try:
            await self._client.clear_messages(self.session_id)
        except NotFoundError:
            return


def _message(item: Mapping[str, Any]) -> dict[str, Any]:
    """An item as a message: with its text where it has one, and whole in a part of its own."""
    role = item.get("role")
    kept = {"type": ITEM, ITEM: dict(item)}
    text = _text(item.get("content"))
    content = [{"type": "text", "text": text}, kept] if text else [kept]
    if isinstance(role, str) and role in ROLES:
        return {"role": role, "content": content}
    output = str(item.get("type", "")).endswith("_output")
    return {"role": "tool" if output else "system" if role == "developer" else "assistant", "content": content}


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, Mapping))
    return "\n".join(text for text in texts if isinstance(text, str))


def _item(message: Message) -> Item:
    """The item again; a message that was appended by other means is one of its own."""
    if isinstance(message.content, list):
        for part in message.content:
            if part.get("type") == ITEM and isinstance(part.get(ITEM), dict):
                return dict(part[ITEM])
    return {"role": message.role, "content": message.content}
