"""What a user asks to remember or to forget, done with the very append that says so."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from app.domain.extraction.candidates import Candidate
from app.domain.extraction.folding import folded
from app.domain.extraction.requests import forgets, remembered
from app.domain.extraction.turns import Turn
from app.domain.gate.sentences import asks_to_forget, asks_to_remember
from app.domain.principal import Principal
from app.repositories.base import Row, RowLike
from app.repositories.models import ModelRecord
from app.repositories.vectors import Embedded
from app.schemas.memories import SourceIn
from app.schemas.messages import Message, MessageIn, text_of
from app.services.drafting import Origin, drafts_of, judged, zone_of_sender
from app.services.embedding import Embedder
from app.services.extraction import embedded, turn_in_request
from app.services.learning import Learner, Learnt
from app.services.writing import Draft
from app.uow import Transaction, UnitOfWork


@dataclass(frozen=True, slots=True)
class Asked:
    """What an append asks for, ready to be written: turns are numbered by their place in the append."""

    origin: Origin
    turns: Sequence[Turn]
    candidates: Sequence[Candidate]
    drafts: Sequence[Draft]
    vectors: Sequence[Embedded]
    model: ModelRecord


@dataclass(frozen=True, slots=True)
class Remembering:
    """The fast path beside the job `extract`; by rules, whatever extractor the job has."""

    uow: UnitOfWork
    embedder: Embedder

    async def asked(
        self,
        principal: Principal,
        session: RowLike,
        given: Sequence[MessageIn],
        zone: str | None,
        at: datetime,
    ) -> Asked | None:
        """Read the messages before they are stored, no connection held; None where they ask for nothing.

        Args:
            principal: Who appends.
            session: As it would be made, if it is absent.
            given: The messages.
            zone: Of those that name none.
            at: When they arrived.
        """
        asking = [
            (place, message)
            for place, message in enumerate(given, 1)
            if message.role == "user" and _asks(text_of(message.content))
        ]
        if not asking:
            return None
        async with self.uow.begin(principal) as tx:
            there = await tx.sessions.get(session["id"]) or session
            user = None if there["user_id"] is None else await tx.users.get(there["user_id"])
        turns = [turn_in_request(place, message, zone_of_sender(zone, there, user), at) for place, message in asking]
        meant = [turn for turn in turns if forgets(turn)]
        found = judged([one for turn in turns for one in remembered(turn)], turns)
        candidates = [one.candidate for one in found if one.passed]
        if not candidates and not meant:
            return None
        origin = Origin.of_session(there)
        drafts = await drafts_of(origin, candidates, turns, at, principal.defaults.forgetting.ttls)
        vectors = await embedded(self.embedder, drafts)
        return Asked(origin, turns, candidates, drafts, vectors, await self.embedder.record())

    async def keep(
        self, tx: Transaction, session: Row, asked: Asked, stored: Sequence[Message], at: datetime
    ) -> Learnt:
        """Write it in the append's transaction. What the session's owner is not meant for is left."""
        if session["memory"] != "on" or Origin.of_session(session) != asked.origin:
            return Learnt()
        numbers = {place: message.seq for place, message in enumerate(stored, 1)}
        turns = [replace(turn, seq=numbers[turn.seq]) for turn in asked.turns]
        candidates = [replace(one, seqs=tuple(numbers[place] for place in one.seqs)) for one in asked.candidates]
        drafts = [
            _placed(draft, session["id"], candidate) for draft, candidate in zip(asked.drafts, candidates, strict=True)
        ]
        learner = Learner(tx, f"session:{session['id']}", at, asked.origin, asked.model, self.embedder.calibration)
        return await learner.learn(candidates, drafts, asked.vectors, turns)


def _asks(text: str) -> bool:
    plain = folded(text)
    return asks_to_remember(plain) or asks_to_forget(plain)


def _placed(draft: Draft, session_id: str, candidate: Candidate) -> Draft:
    source = SourceIn(session_id=session_id, seqs=sorted(candidate.seqs), quote=candidate.quote)
    return replace(draft, memory=draft.memory.model_copy(update={"sources": [source]}))
