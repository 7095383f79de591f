"""Digests: what is left of many old episodes about one thing, a memory that knows all of their sources."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

from app.core import ids
from app.domain.budget import estimate_tokens
from app.domain.extraction.turns import Turn
from app.domain.lifecycle.topics import Episode, digest_text, topics
from app.domain.likeness import Wording
from app.domain.memory import traits_of
from app.domain.summary.lines import Line
from app.repositories.base import Row, RowLike
from app.repositories.owners import OwnerChange
from app.repositories.postings import Posting
from app.repositories.vectors import Embedded, Vector
from app.services.analysis import Analysis, analyse_all
from app.services.embedding import Embedder, TextToEmbed
from app.services.forgetting.marking import Marker
from app.services.history import SHOWN
from app.services.summaries.summarisers import Summariser
from app.services.writing import embed_later

ROOM: Final = 160
"""Tokens that the sentences of a digest may have."""

MOST_IMPORTANT: Final = 7

_UTC: Final = ZoneInfo("UTC")


@dataclass(frozen=True, slots=True)
class Digest:
    """What stands for a group of episodes.

    Args:
        id: Its memory's.
        members: The ids of the episodes.
        text: What it says.
        analysis: Of the text.
        vector: Of the text, unless the embedder is down.
    """

    id: UUID
    members: list[UUID]
    text: str
    analysis: Analysis
    vector: Embedded | None


def episodes_of(rows: Sequence[RowLike]) -> list[Episode]:
    """What of fading memories can be condensed: what happened, and is no digest itself."""
    return [
        Episode(
            row["id"],
            row["text"],
            (row["agent_id"], row["app_id"], row["session_id"]),
            row["occurred_at"] or row["created_at"],
        )
        for row in rows
        if row["kind"] == "episodic" and not row["uncertain"] and "digest_of" not in row["metadata"]
    ]


@dataclass(frozen=True, slots=True)
class Digester:
    """Makes digests; no connection is held meanwhile."""

    embedder: Embedder
    summariser: Summariser

    async def digests(self, rows: Sequence[RowLike], vectors: Mapping[UUID, Vector]) -> list[Digest]:
        """One for each topic that enough of the rows are about: by a language model that is checked, else by choice."""
        groups = topics(episodes_of(rows), vectors, self.embedder.calibration)
        texts = [digest_text(group, await self._sentences(group)) for group in groups]
        analyses = await analyse_all(texts)
        named = [ids.new_id() for _ in texts]
        wanted = [
            TextToEmbed(name, text, analysis.content_hash)
            for name, text, analysis in zip(named, texts, analyses, strict=True)
        ]
        made = {one.target: one for one in await self.embedder.passages_if_up(wanted)}
        return [
            Digest(name, [one.id for one in group], text, analysis, made.get(name))
            for name, group, text, analysis in zip(named, groups, texts, analyses, strict=True)
        ]

    async def _sentences(self, group: Sequence[Episode]) -> list[str]:
        lines = [
            Line(Turn(place, "user", one.text, one.happened_at, _UTC), tokens=estimate_tokens(one.text))
            for place, one in enumerate(group, 1)
        ]
        done = await self.summariser.summarise(lines, ROOM)
        return [one.text for one in done.sentences] or _extract(group)


def _extract(group: Sequence[Episode]) -> list[str]:
    """The episodes' own words, the newest first to be kept, each thing once, in the order of time."""
    kept: list[str] = []
    left = ROOM
    for one in reversed(group):
        cost = estimate_tokens(one.text)
        again = any(Wording.of(one.text).says_the_same_as(Wording.of(other)) for other in kept)
        if not again and (cost <= left or not kept):
            kept.append(one.text)
            left -= cost
    return kept[::-1]


async def write_digest(marker: Marker, digest: Digest, rows: Sequence[Row], model_id: int) -> UUID:
    """Store a digest of locked episodes with all of their sources; they themselves are the caller's to archive."""
    tx, at = marker.tx, marker.at
    (stored,) = await tx.memories.put([_row(digest, rows, at)])
    if stored["created"]:
        await tx.owners.lock_and_change(stored["owner"], OwnerChange(1, stored["length"]))
        await tx.memories.index(
            stored["owner"], [Posting(stored["id"], digest.analysis.frequencies, digest.analysis.length)]
        )
        if digest.vector is not None:
            await tx.vectors.put_memories(model_id, [digest.vector])
        else:
            await embed_later(tx, [stored["id"]], at, stored["user_id"])
        event = marker.event("added", None, stored, "digest")
        await tx.memories.record([event | {"after": {name: stored[name] for name in sorted(SHOWN)}}])
    sources = await tx.memories.sources(digest.members)
    await tx.memories.add_sources([copied(source, stored["id"], at) for source in sources])
    memory_id: UUID = stored["id"]
    return memory_id


def copied(source: RowLike, memory_id: UUID, at: datetime) -> dict[str, Any]:
    """A source for another memory that says what this one's memory said."""
    kept = {name: value for name, value in source.items() if name != "tenant_id"}
    return kept | {"id": ids.new_id(), "memory_id": memory_id, "created_at": at}


def _row(digest: Digest, rows: Sequence[Row], at: datetime) -> dict[str, Any]:
    last = max(rows, key=lambda row: row["occurred_at"] or row["created_at"])
    scope = ("owner", "user_id", "agent_id", "app_id", "session_id", "extracted", "use")
    began = [row["valid_from"] or row["created_at"] for row in rows]
    traits = traits_of("derived")
    return {name: last[name] for name in scope} | {
        "id": digest.id,
        "kind": "semantic",
        "text": digest.text,
        "key": None,
        "value": None,
        "category": "event",
        "source": "derived",
        "uncertain": traits.uncertain,
        "confidence": traits.confidence,
        "importance": min(MOST_IMPORTANT, max(row["importance"] for row in rows)),
        "weight": 1.0,
        "pinned": False,
        "status": "active",
        "valid_from": min(began),
        "occurred_at": last["occurred_at"],
        "expires_at": None,
        "last_seen_at": at,
        "created_at": at,
        "updated_at": at,
        "tokens": digest.analysis.tokens,
        "length": digest.analysis.length,
        "content_hash": digest.analysis.content_hash,
        "metadata": {"digest_of": [str(one) for one in digest.members]},
    }
