"""LangGraph on Mnemic: checkpointers and stores. Needs `pip install mnemic-client[langgraph]`."""

from mnemic_client.langgraph.aio import AsyncMnemicSaver
from mnemic_client.langgraph.saver import MnemicSaver
from mnemic_client.langgraph.store import AsyncMnemicStore, MnemicStore

__all__ = ["AsyncMnemicSaver", "AsyncMnemicStore", "MnemicSaver", "MnemicStore"]
