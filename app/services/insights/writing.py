"""What reflection writes: insights with all sources of the memories that bear them, and what becomes of these."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from app.domain.insights.checking import LEAST_SOURCES
from app.domain.insights.counting import Finding
from app.domain.insights.policy import ReflectionPolicy
from app.domain.lifecycle.strength import exempt
from app.domain.principal import TenantDefaults
from app.repositories.base import Row
from app.repositories.vectors import Embedded
from app.schemas.memories import MemoryIn
from app.services.analysis import analyse_all
from app.services.context.prefetching import service_principal
from app.services.embedding import Embedder, TextToEmbed
from app.services.forgetting.digesting import copied
from app.services.forgetting.marking import Marker, locked
from app.services.insights.finding import Found, ids_of
from app.services.presenting import is_current
from app.services.profiles import INSIGHT
from app.services.vectorising import JobRun
from app.services.writing import Draft, MemoryWriter, draft_of, embed_later
from app.uow import Transaction

IMPORTANCE: Final = 6
OUTWEIGHED: Final = 0.5
"""The share of its weight that an episode keeps which an insight stands for."""

NOBODY: Final = UUID(int=0)


@dataclass(frozen=True, slots=True)
class Ready:
    """Findings with the drafts of their memories, and their vectors unless the embedder is down."""

    findings: Sequence[Finding]
    drafts: Sequence[Draft]
    vectors: Sequence[Embedded]
    model_id: int


async def prepared(embedder: Embedder, user_id: str | None, found: Found, at: datetime) -> Ready:
    """Everything that takes a model, before a connection is held."""
    principal = service_principal(NOBODY, TenantDefaults())
    texts = [one.text for one in found.findings]
    drafts = [
        draft_of(principal, _memory(one, user_id, found.by), analysis, at)
        for one, analysis in zip(found.findings, await analyse_all(texts), strict=True)
    ]
    wanted = [TextToEmbed(one.row["id"], one.row["text"], one.analysis.content_hash) for one in drafts]
    vectors = await embedder.passages_if_up(wanted) if wanted else []
    return Ready(found.findings, drafts, vectors, (await embedder.record()).id)


def _memory(finding: Finding, user_id: str | None, by: str) -> MemoryIn:
    known = {"method": by, "based_on": [str(one) for one in finding.sources], "topic": finding.topic}
    return MemoryIn(
        text=finding.text, user_id=user_id, source="derived", importance=IMPORTANCE, metadata={INSIGHT: known}
    )


@dataclass(frozen=True, slots=True)
class InsightWriter:
    """Writes for one job about one owner, in the transaction that ends it."""

    tx: Transaction
    run: JobRun
    owner: str
    at: datetime
    policy: ReflectionPolicy

    async def write(self, ready: Ready) -> tuple[list[UUID], int]:
        """Store what still has two sources at least; the insights, and how many episodes weigh less."""
        if not ready.findings:
            return [], 0
        rows = {row["id"]: row for row in await locked(self.tx, self.owner, ids_of(ready.findings))}
        rows = {name: row for name, row in rows.items() if row["status"] != "deleted" and row["source"] != "derived"}
        borne = [
            (finding, draft)
            for finding, draft in zip(ready.findings, ready.drafts, strict=True)
            if sum(one in rows for one in finding.sources) >= LEAST_SOURCES
        ]
        if not borne:
            return [], 0
        marker = Marker.of(self.tx, self.run, self.at)
        writer = MemoryWriter(self.tx, marker.actor, self.at)
        written = await writer.run([draft for _, draft in borne], ready.vectors, ready.model_id)
        ids = [UUID(one.id) for one in written]
        for memory_id, (finding, _) in zip(ids, borne, strict=True):
            sources = await self.tx.memories.sources([one for one in finding.sources if one in rows])
            await self.tx.memories.add_sources([copied(source, memory_id, self.at) for source in sources])
        if not ready.vectors:
            await embed_later(self.tx, ids, self.at, borne[0][1].row["user_id"])
        named = dict.fromkeys(one for finding, _ in borne for one in finding.sources if one in rows)
        return ids, await self._settle(marker, [rows[one] for one in named])

    async def _settle(self, marker: Marker, rows: Sequence[Row]) -> int:
        """What becomes of episodes that an insight stands for; facts, constraints and what is pinned stay."""
        fading = [row for row in rows if row["kind"] == "episodic" and is_current(row, self.at) and not exempt(row)]
        if not fading or self.policy.observations == "keep":
            return 0
        if self.policy.observations == "archive":
            values: dict[str, Any] = {"status": "archived", "archived_at": self.at}
            return len(await marker.mark(fading, "archived", values, {row["id"]: INSIGHT for row in fading}))
        before = {row["id"]: row for row in fading}
        changed = await self.tx.insights.outweigh(list(before), OUTWEIGHED, self.at)
        events = [marker.event("outweighed", before[row["id"]], row, INSIGHT) for row in changed]
        await self.tx.memories.record(events)
        return len(changed)
