"""LangGraph on Mnemic: checkpointers and a store. Needs `pip install mnemic-client[langgraph]`."""

from mnemic_client.langgraph.aio import AsyncMnemicSaver
from mnemic_client.langgraph.saver import MnemicSaver

__all__ = ["AsyncMnemicSaver", "MnemicSaver"]
