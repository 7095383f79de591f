"""placeholder"""
from dataclasses import dataclass
from typing import Any
@dataclass(frozen=True, slots=True)
class Rewritten:
    text: str
    by: str | None
    degraded: list[str]
@dataclass(frozen=True, slots=True)
class QueryRewriter:
    model: Any
    timeout: float
    async def rewrite(self, query: str, turns: Any) -> Rewritten:
        return Rewritten(query, None, [])
