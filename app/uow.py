"""The unit of work: one use case, one transaction, committed before the answer is sent."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.core.sealing import KeyRing
from app.db.replica import Replica
from app.db.scoped import Database
from app.domain.calls import may_lag, serving
from app.domain.principal import Principal
from app.repositories.access import AccessRepository
from app.repositories.audit import AuditRepository
from app.repositories.base import Bound, Pseudonyms, RowLike
from app.repositories.blocks import BlockRepository
from app.repositories.checkpoint_upkeep import CheckpointUpkeepRepository
from app.repositories.checkpoints import CheckpointRepository
from app.repositories.conflicts import ConflictRepository
from app.repositories.contexts import ContextRepository
from app.repositories.dreams import DreamRepository
from app.repositories.erasing import ErasingRepository
from app.repositories.erasures import ErasureRepository
from app.repositories.explanations import ExplanationRepository
from app.repositories.facts import FactRepository
from app.repositories.forgetting import ForgettingRepository
from app.repositories.forks import ForkRepository
from app.repositories.health import HealthRepository
from app.repositories.history import HistoryRepository
from app.repositories.idempotency import IdempotencyRepository
from app.repositories.insights import InsightRepository
from app.repositories.jobs import JobRepository
from app.repositories.keys import KeyRepository
from app.repositories.lessons import LessonRepository
from app.repositories.memories import MemoryRepository
from app.repositories.merging import MergeRepository
from app.repositories.messages import MessageRepository
from app.repositories.models import ModelRepository
from app.repositories.noting import note
from app.repositories.owners import OwnerRepository
from app.repositories.procedures import ProcedureRepository
from app.repositories.profiles import ProfileRepository
from app.repositories.quotas import QuotaRepository
from app.repositories.rates import RateRepository
from app.repositories.reembedding import ReembeddingRepository
from app.repositories.sealed import SealedRepository, closed, disclosed, opened, sealed_columns, shown
from app.repositories.search import SearchRepository
from app.repositories.sessions import SessionRepository
from app.repositories.snapshots import SnapshotRepository
from app.repositories.states import StateRepository
from app.repositories.stats import StatsRepository
from app.repositories.store import StoreRepository
from app.repositories.summaries import SummaryRepository
from app.repositories.ties import TieRepository
from app.repositories.timelines import TimelineRepository
from app.repositories.transfer import TransferRepository
from app.repositories.usage import UsageRepository
from app.repositories.users import UserRepository
from app.repositories.vectors import VectorRepository


class Transaction:
    """The repositories of one transaction."""

    def __init__(self, bound: Bound) -> None:
        self._bound = bound

    @property
    def met(self) -> frozenset[str]:
        """The users whose rows this transaction has read one by one, or written."""
        return frozenset(self._bound.met)

    async def pseudonym(self, kind: str, name: str) -> str:
        """What stands for an id of this kind in the audit log and in receipts."""
        return await self._bound.pseudonyms.of(self._bound.connection, kind, name)

    def shown(self, rows: Sequence[RowLike]) -> list[RowLike]:
        """Memories with their sealed contents where the key may read them, with a placeholder where it may not."""
        if not self._bound.reads_sealed:
            return list(rows)
        return [shown(self._bound.ring, self._bound.tenant_id, row) for row in rows]

    def opened(self, row: RowLike) -> dict[str, Any]:
        """A memory with its sealed contents, for the service's own work. Raises `Unsealable`."""
        return opened(self._bound.ring, self._bound.tenant_id, row)

    def sealed_columns(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The columns of a memory whose contents are sealed. Raises `Unsealable` where there is no key."""
        return sealed_columns(self._bound.ring, self._bound.tenant_id, row)

    def closed(self, text: str, place: str) -> str:
        """A text that tells something sealed, sealed for a place of its own. Raises `Unsealable`."""
        return closed(self._bound.ring, f"{self._bound.tenant_id}:{place}", text)

    def disclosed(self, text: str, place: str) -> str:
        """What `closed` has closed; any other text as it is. Raises `Unsealable`."""
        return disclosed(self._bound.ring, f"{self._bound.tenant_id}:{place}", text)

    @cached_property
    def sealed(self) -> SealedRepository:
        """Memories whose contents are sealed."""
        return SealedRepository(self._bound)

    def may_see_user(self, user_id: str | None) -> bool:
        """Whether the key that this transaction serves may see this user's rows (None: rows of no user)."""
        return self._bound.user_ids is None or (user_id is not None and user_id in self._bound.user_ids)

    async def tenant(self) -> RowLike | None:
        """The tenant itself: a row of a table that knows no tenants."""
        return await AccessRepository(self._bound.connection).tenant(self._bound.tenant_id)

    async def set_tenant_settings(self, named: Mapping[str, Any]) -> dict[str, Any]:
        """Set what is named among the tenant's settings, null taking one out; all of them as they are then."""
        return await AccessRepository(self._bound.connection).merge_settings(self._bound.tenant_id, named)

    @cached_property
    def audit(self) -> AuditRepository:
        """The audit log."""
        return AuditRepository(self._bound)

    @cached_property
    def erasures(self) -> ErasureRepository:
        """Receipts of what was erased."""
        return ErasureRepository(self._bound)

    @cached_property
    def erasing(self) -> ErasingRepository:
        """What an erasure removes."""
        return ErasingRepository(self._bound)

    @cached_property
    def sessions(self) -> SessionRepository:
        """Sessions."""
        return SessionRepository(self._bound)

    @cached_property
    def messages(self) -> MessageRepository:
        """Messages."""
        return MessageRepository(self._bound)

    @cached_property
    def memories(self) -> MemoryRepository:
        """Memories, their sources and their history."""
        return MemoryRepository(self._bound)

    @cached_property
    def forgetting(self) -> ForgettingRepository:
        """Memories that the rules of forgetting are about."""
        return ForgettingRepository(self._bound)

    @cached_property
    def health(self) -> HealthRepository:
        """How well memories serve."""
        return HealthRepository(self._bound)

    @cached_property
    def history(self) -> HistoryRepository:
        """What happened to memories."""
        return HistoryRepository(self._bound)

    @cached_property
    def vectors(self) -> VectorRepository:
        """Vectors of memories and messages."""
        return VectorRepository(self._bound)

    @cached_property
    def search(self) -> SearchRepository:
        """The legs of a search."""
        return SearchRepository(self._bound)

    @cached_property
    def explanations(self) -> ExplanationRepository:
        """How searches went."""
        return ExplanationRepository(self._bound)

    @cached_property
    def owners(self) -> OwnerRepository:
        """Counters per owner."""
        return OwnerRepository(self._bound)

    @cached_property
    def facts(self) -> FactRepository:
        """Memories by exact key."""
        return FactRepository(self._bound)

    @cached_property
    def profiles(self) -> ProfileRepository:
        """What is known about users for certain."""
        return ProfileRepository(self._bound)

    @cached_property
    def timelines(self) -> TimelineRepository:
        """What happened with users."""
        return TimelineRepository(self._bound)

    @cached_property
    def insights(self) -> InsightRepository:
        """What reflection looks at."""
        return InsightRepository(self._bound)

    @cached_property
    def dreams(self) -> DreamRepository:
        """What dreams propose."""
        return DreamRepository(self._bound)

    @cached_property
    def conflicts(self) -> ConflictRepository:
        """Pairs of memories that contradict each other."""
        return ConflictRepository(self._bound)

    @cached_property
    def keys(self) -> KeyRepository:
        """The registry of canonical keys."""
        return KeyRepository(self._bound)

    @cached_property
    def states(self) -> StateRepository:
        """Versions of session state."""
        return StateRepository(self._bound)

    @cached_property
    def forks(self) -> ForkRepository:
        """What copies of sessions take along."""
        return ForkRepository(self._bound)

    @cached_property
    def procedures(self) -> ProcedureRepository:
        """How things are done."""
        return ProcedureRepository(self._bound)

    @cached_property
    def lessons(self) -> LessonRepository:
        """What attempts have taught."""
        return LessonRepository(self._bound)

    @cached_property
    def summaries(self) -> SummaryRepository:
        """Summaries of sessions."""
        return SummaryRepository(self._bound)

    @cached_property
    def contexts(self) -> ContextRepository:
        """Contexts that were prepared."""
        return ContextRepository(self._bound)

    @cached_property
    def blocks(self) -> BlockRepository:
        """Core memory."""
        return BlockRepository(self._bound)

    @cached_property
    def checkpoints(self) -> CheckpointRepository:
        """LangGraph's checkpoints."""
        return CheckpointRepository(self._bound)

    @cached_property
    def checkpoint_upkeep(self) -> CheckpointUpkeepRepository:
        """Whole threads of checkpoints."""
        return CheckpointUpkeepRepository(self._bound)

    @cached_property
    def snapshots(self) -> SnapshotRepository:
        """Checkpoints of plain JSON states, and steps."""
        return SnapshotRepository(self._bound)

    @cached_property
    def store(self) -> StoreRepository:
        """The key-value store of agents."""
        return StoreRepository(self._bound)

    @cached_property
    def merging(self) -> MergeRepository:
        """What moves when two users turn out to be one."""
        return MergeRepository(self._bound)

    @cached_property
    def reembedding(self) -> ReembeddingRepository:
        """Everything that is embedded, window by window."""
        return ReembeddingRepository(self._bound)

    @property
    def models(self) -> ModelRepository:
        """The embedding models: rows of a table that knows no tenants."""
        return ModelRepository(self._bound.connection)

    @cached_property
    def stats(self) -> StatsRepository:
        """Counts of a tenant."""
        return StatsRepository(self._bound)

    @cached_property
    def usage(self) -> UsageRepository:
        """What was used of the language model."""
        return UsageRepository(self._bound)

    @cached_property
    def quotas(self) -> QuotaRepository:
        """What a tenant may hold, and what it holds."""
        return QuotaRepository(self._bound)

    @cached_property
    def transfer(self) -> TransferRepository:
        """Rows on their way out, or in."""
        return TransferRepository(self._bound)

    @cached_property
    def ties(self) -> TieRepository:
        """What rows on their way in hang on."""
        return TieRepository(self._bound)

    @cached_property
    def users(self) -> UserRepository:
        """Users."""
        return UserRepository(self._bound)

    @cached_property
    def jobs(self) -> JobRepository:
        """Jobs."""
        return JobRepository(self._bound)

    @cached_property
    def idempotency(self) -> IdempotencyRepository:
        """Answers already given."""
        return IdempotencyRepository(self._bound)


class GlobalTransaction:
    """The repositories of the tables that know no tenant."""

    def __init__(self, connection: AsyncConnection) -> None:
        self.access = AccessRepository(connection)
        self.models = ModelRepository(connection)
        self.rates = RateRepository(connection)


@dataclass(frozen=True, slots=True)
class UnitOfWork:
    """Opens transactions. Leaving the block commits; an error in it rolls back.

    What a transaction changes on behalf of a call is told in the audit log by a line that goes out with its COMMIT.
    """

    database: Database
    pseudonyms: Pseudonyms = field(default_factory=Pseudonyms)
    ring: KeyRing = field(default_factory=KeyRing)
    replica: Replica | None = None

    @asynccontextmanager
    async def begin(
        self, principal: Principal, *, planned_once: bool = False, reading: bool = False
    ) -> AsyncIterator[Transaction]:
        """A transaction on behalf of a key: its tenant, its bound users; `planned_once` as `Database` has it.

        What is only `reading` is read from the replica, if there is one and the call allows it.
        """
        source = self.replica if reading and self.replica is not None and may_lag() else self.database
        async with source.transaction(principal.tenant_id, planned_once=planned_once) as connection:
            bound = Bound(
                connection,
                principal.tenant_id,
                principal.user_ids,
                self.pseudonyms,
                ring=self.ring,
                reads_sealed="sensitive" in principal.scopes,
            )
            yield Transaction(bound)
            await note(connection, principal.tenant_id, self.pseudonyms, bound.met)

    @asynccontextmanager
    async def begin_tenant(self, tenant_id: UUID, user_ids: frozenset[str] | None = None) -> AsyncIterator[Transaction]:
        """A transaction of the service itself within one tenant: jobs and sweeps.

        `user_ids` confines it as the key was that asked for the work.
        """
        async with self.database.transaction(tenant_id) as connection:
            bound = Bound(connection, tenant_id, user_ids, self.pseudonyms, ring=self.ring)
            yield Transaction(bound)
            await note(connection, tenant_id, self.pseudonyms, bound.met)

    @asynccontextmanager
    async def begin_global(self, told_to: UUID | None = None) -> AsyncIterator[GlobalTransaction]:
        """A transaction over the global tables; row-level security shows no tenant's rows in it.

        `told_to` is the tenant whose audit log tells of changes; by default the caller's own.
        """
        async with self.database.transaction(None) as connection:
            yield GlobalTransaction(connection)
            call = serving()
            tenant_id = told_to or (None if call is None else call.tenant_id)
            if tenant_id is not None:
                await note(connection, tenant_id, self.pseudonyms, ())
