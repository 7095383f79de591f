"""One call at least of every public method of every repository, for the test that looks at their statements.

A new method needs an entry here: its name, a case, and how it is called on the corpus of `corpus.py`.
"""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from app.core.ids import new_id
from app.core.sealing import KeyRing, SealingKey
from app.db.models import memory_events, summaries
from app.domain.filters import parse_filter
from app.domain.rates import Rate
from app.domain.scope import SHARED_OWNER, Scope
from app.domain.store import parse_store_filter
from app.repositories.audit import AuditFilter
from app.repositories.base import Bound
from app.repositories.checkpoints import Blob, Listed, PendingWrite
from app.repositories.idempotency import IdempotencyClaim
from app.repositories.jobs import Fence
from app.repositories.owners import OwnerChange
from app.repositories.postings import Posting
from app.repositories.reach import ContextSelection
from app.repositories.reembedding import StoredVector
from app.repositories.sealed import place_of
from app.repositories.search import DenseQuery, LegQuery, Period, TimeQuery
from app.repositories.selection import Selection, Then
from app.repositories.snapshots import Asked, session_thread
from app.repositories.store import IndexedText, Within
from app.repositories.ties import MEMORY as MEMORY_PARENT
from app.repositories.ties import SESSION as SESSION_PARENT
from app.repositories.timelines import TimeSpan
from app.repositories.transfer import BLOCKS, ITEMS, LESSONS, MEMORIES, PROCEDURES, SESSIONS, TABLES, THREADS
from app.repositories.vectors import Embedded
from app.uow import GlobalTransaction, Transaction
from tests.architecture.corpus import AT, MODEL, TENANT, a_vector, an_id, at, session_at


@dataclass(frozen=True)
class Call:
    """A call of `method` ("Class.method"); `users` binds the key as a bound key would be."""

    method: str
    case: str
    run: Callable[[Any], Awaitable[Any]]
    users: frozenset[str] | None = None

    @property
    def name(self) -> str:
        return f"{self.method} ({self.case})"


USER, OWNER = "17", "u:17"
MONTH = AT.date().replace(day=1)
BOUND = frozenset({USER})
S = session_at(817)
N = 10 * S - 9
"""A text of user 17: the first of their session."""
SESSION = f"s{S}"
SESSIONS_OF_30 = [f"s{s}" for s in (session_at(place) for place in range(801, 1600)) if s % 3 == 0][:20]
"""Sessions in which a memory is visible alone."""
CHANGED = f"s{next(s for s in map(session_at, range(810, 1600)) if s % 5 == 1)}"
"""A session of which a memory was superseded."""

MEMORY, MESSAGE, JOB, BLOCK = an_id(1, N), an_id(2, N), an_id(5, N), an_id(7, N)
CARD = an_id(1, N + 7)
"""A procedure and a lesson of user 17, of no agent and no app."""
HASH = b"\x01" * 32
CLAIM = IdempotencyClaim(an_id(6, N % 20), "POST", "/v1/memories", f"k{N}", HASH)
TOKENS = ["everywhere", f"often{N % 5}", f"some{N % 50}", f"rare{N % 4999}"]
ALL_OWNERS = [*(f"u:{n}" for n in range(80)), "u:big", SHARED_OWNER, "a:helper", "p:shop"]


def legs(*owners: str, path: Any = "exact", dense: bool = True, tokens: bool = True) -> LegQuery:
    return LegQuery(
        owners=owners,
        tokens=TOKENS if tokens else [],
        dense=DenseQuery(a_vector(N), MODEL) if dense else None,
        limit=50,
        path=path,
    )


PLAIN = Scope(USER)
"""Memories of user 17 that name no agent and no app: every fourth."""
OF_USER = Selection(Scope(USER), AT)
OF_AGENT = Selection(Scope(agent_id="agent7"), AT)
OF_APP = Selection(Scope(app_id="app7"), AT)
OF_SESSION = Selection(Scope(session_id=SESSION), AT)
WITH_SHARED = Selection(Scope(USER, "helper"), AT, shared_owners=["a:helper", SHARED_OWNER])
FILTERED = replace(
    OF_USER, categories=["other"], kinds=["semantic"], filter=parse_filter({"metadata.tags": {"contains": "red"}})
)
OF_ALL = Selection(Scope(), AT)


def memory_row() -> dict[str, Any]:
    return {
        "id": new_id(),
        "owner": OWNER,
        "user_id": USER,
        "agent_id": None,
        "app_id": None,
        "session_id": None,
        "kind": "semantic",
        "text": "new",
        "category": "other",
        "source": "user_stated",
        "confidence": 0.9,
        "importance": 5,
        "weight": 1.0,
        "use": "everywhere",
        "status": "active",
        "created_at": AT,
        "updated_at": AT,
        "last_seen_at": AT,
        "tokens": 1,
        "length": 1,
        "content_hash": HASH,
    }


def message_row() -> dict[str, Any]:
    return {
        "id": new_id(),
        "session_id": SESSION,
        "seq": 11,
        "role": "user",
        "text": "new",
        "tokens": 1,
        "length": 1,
        "content_hash": HASH,
        "occurred_at": AT,
        "created_at": AT,
    }


def session_row(session_id: str) -> dict[str, Any]:
    return {
        "id": session_id,
        "owner": OWNER,
        "user_id": USER,
        "memory": "on",
        "status": "open",
        "created_at": AT,
        "updated_at": AT,
    }


def key_row() -> dict[str, Any]:
    return {
        "id": new_id(),
        "tenant_id": TENANT,
        "name": "test",
        "prefix": "mnk_",
        "key_hash": b"\x02" * 32,
        "role": "admin",
        "scopes": [],
        "user_ids": None,
        "created_at": AT,
    }


def block_row() -> dict[str, Any]:
    stamps = {"created_at": AT, "updated_at": AT}
    return {"id": new_id(), "owner": OWNER, "user_id": USER, "label": "new", "text": "", "char_limit": 10, **stamps}


async def note_block(tx: Transaction) -> None:
    row = await tx.blocks.get(f"label{N % 5}", f"u{N // 5}", None)
    assert row is not None
    await tx.blocks.note({**row, "version": 2}, "me", AT)  # type: ignore[arg-type]


async def twin(tx: Transaction) -> None:
    row = await tx.memories.get(MEMORY)
    assert row is not None
    await tx.memories.twin({**row, "content_hash": HASH})


async def rivals(tx: Transaction) -> None:
    row = await tx.memories.get(MEMORY)
    assert row is not None
    await tx.facts.rivals({**row, "key": "user.key1"}, AT)


def memory_calls() -> Iterator[Call]:
    name = "MemoryRepository."
    new = Posting(MEMORY, {"new": 1}, 1)
    yield Call(name + "put", "new", lambda tx: tx.memories.put([memory_row()]))
    yield Call(name + "index", "new", lambda tx: tx.memories.index(OWNER, [new]))
    yield Call(name + "unindex", "one", lambda tx: tx.memories.unindex(MEMORY))
    for who, users in (("any", None), ("bound", BOUND)):
        yield Call(name + "get", who, lambda tx: tx.memories.get(MEMORY), users)
        yield Call(name + "get_for_update", who, lambda tx: tx.memories.get_for_update(MEMORY, unexpired_at=AT), users)
        yield Call(name + "get_any", who, lambda tx: tx.memories.get_any(MEMORY), users)
        yield Call(name + "get_any_for_update", who, lambda tx: tx.memories.get_any_for_update(MEMORY), users)
        yield Call(name + "erase", who, lambda tx: tx.memories.erase(MEMORY), users)
        yield Call(name + "exists", who, lambda tx: tx.memories.exists(MEMORY), users)
        yield Call(name + "by_ids", who, lambda tx: tx.memories.by_ids([an_id(1, N + n) for n in range(50)]), users)
        yield Call(name + "change", who, lambda tx: tx.memories.change(MEMORY, {"importance": 6}), users)
        yield Call("FactRepository.go_on_from", who, lambda tx: tx.facts.go_on_from(MEMORY, 6), users)
        yield Call(name + "drawn_from_only", who, lambda tx: tx.memories.drawn_from_only(SESSION), users)
    yield Call(name + "twin", "one", twin)
    selections = (
        ("of a user", OF_USER),
        ("of an agent", OF_AGENT),
        ("of an app", OF_APP),
        ("of a session", OF_SESSION),
        ("with shared levels", WITH_SHARED),
        ("filtered", FILTERED),
        ("of all", OF_ALL),
    )
    for case, selection in selections:
        yield Call(name + "page", case, lambda tx, chosen=selection: tx.memories.page(chosen, None, 50))
        yield Call(name + "count", case, lambda tx, chosen=selection: tx.memories.count(chosen))
        yield Call(name + "owners_of", case, lambda tx, chosen=selection: tx.memories.owners_of(chosen))
        yield Call(
            name + "lock_selected",
            case,
            lambda tx, chosen=selection: tx.memories.lock_selected(chosen, ALL_OWNERS, 50),
        )
    yield Call(name + "delete_many", "two", lambda tx: tx.memories.delete_many([MEMORY, an_id(1, N + 1)], AT))
    yield Call(name + "page", "next", lambda tx: tx.memories.page(OF_USER, an_id(1, N + 5), 50))
    yield Call(name + "page", "bound, of a user", lambda tx: tx.memories.page(OF_USER, None, 50), BOUND)
    yield Call(name + "page", "bound, of all", lambda tx: tx.memories.page(OF_ALL, None, 50), BOUND)
    event = {"memory_id": MEMORY, "action": "added", "actor": "me", "created_at": AT}
    yield Call(name + "record", "new", lambda tx: tx.memories.record([{"id": new_id(), **event}]))
    yield Call(name + "history", "one", lambda tx: tx.memories.history(MEMORY))
    parts: dict[str, Any] = {"seqs": [1], "message_ids": [MESSAGE], "external_ids": [], "quote": None}
    source = {"memory_id": MEMORY, "session_id": SESSION, "created_at": AT, **parts}
    yield Call(name + "add_sources", "new", lambda tx: tx.memories.add_sources([{"id": new_id(), **source}]))
    said = {**memory_row(), "uncertain": False}
    yield Call(name + "reinforce", "one", lambda tx: tx.memories.reinforce(MEMORY, said))
    yield Call(name + "drawn", "of a session", lambda tx: tx.memories.drawn(SESSION, [1, 2, 3]))
    yield Call(name + "sources", "many", lambda tx: tx.memories.sources([an_id(1, N + n) for n in range(50)]))


def history_calls() -> Iterator[Call]:
    name, some, then = "HistoryRepository.", [an_id(1, N + n) for n in range(50)], Then(AT, AT)
    yield Call(name + "rejected", "some", lambda tx: tx.history.rejected(OWNER, 500))
    yield Call(name + "displaced_by", "one", lambda tx: tx.history.displaced_by(MEMORY))
    yield Call(name + "drop_sources", "one", lambda tx: tx.history.drop_sources(MEMORY, at(N)))
    yield Call(name + "events_of", "a job", lambda tx: tx.history.events_of(job_id=an_id(9, N)))
    yield Call(name + "events_of", "a deletion", lambda tx: tx.history.events_of(undo_id=an_id(9, N)))
    yield Call(name + "event", "one", lambda tx: tx.history.event(an_id(4, N)))
    yield Call(name + "events_since", "many", lambda tx: tx.history.events_since(some, AT))
    yield Call("MemoryRepository.held", "then", lambda tx: tx.memories.held(MEMORY, then))
    yield Call("MemoryRepository.any_for_update", "many", lambda tx: tx.memories.any_for_update(some))
    past = Selection(Scope(USER), AT, then=then)
    yield Call("MemoryRepository.page", "of the past", lambda tx: tx.memories.page(past, None, 50))
    gathered = ([MEMORY], "me", an_id(4, N - 1), new_id(), "edited")
    yield Call("HistoryRepository.gather", "one", lambda tx: tx.history.gather(*gathered))


def fact_calls() -> Iterator[Call]:
    name, key = "FactRepository.", f"user.key{(N + 1) % 500}"
    for who, users in (("any", None), ("bound", BOUND)):
        yield Call(name + "current", who, lambda tx: tx.facts.current(OWNER, key, AT), users)
        yield Call(name + "current_for_update", who, lambda tx: tx.facts.current_for_update(OWNER, key, AT), users)
        yield Call(name + "sealed", who, lambda tx: tx.facts.sealed({(OWNER, key)}, AT), users)
    yield Call(name + "keys", "all", lambda tx: tx.facts.keys(OWNER, AT, 60))
    yield Call(name + "page", "all", lambda tx: tx.facts.page(OWNER, "", None, 50, AT))
    yield Call(name + "page", "prefix", lambda tx: tx.facts.page(OWNER, "user.key2", None, 50, AT))
    yield Call(name + "page", "next", lambda tx: tx.facts.page(OWNER, "", ("user.key", MEMORY), 50, AT))
    yield Call(name + "count", "prefix", lambda tx: tx.facts.count(OWNER, "user.key2", AT))
    yield Call(name + "history", "first", lambda tx: tx.facts.history(OWNER, key, None, 50))
    yield Call(name + "history", "bound", lambda tx: tx.facts.history(OWNER, key, None, 50), BOUND)
    yield Call(name + "rivals", "one", rivals)
    yield Call(name + "contested", "one", lambda tx: tx.facts.contested(OWNER, AT))
    yield Call(name + "supersede", "one", lambda tx: tx.facts.supersede([MEMORY], an_id(1, N + 1), AT, AT))


def forgetting_calls() -> Iterator[Call]:
    name, late, kinds = "ForgettingRepository.", AT + timedelta(days=4000), ["episodic", "semantic"]
    yield Call(name + "expiring", "of a tenant", lambda tx: tx.forgetting.expiring(late, 200))
    yield Call(name + "expiring", "of an owner", lambda tx: tx.forgetting.expiring(late, 200, OWNER))
    yield Call(name + "expired_before", "some", lambda tx: tx.forgetting.expired_before(late, 200))
    yield Call(name + "deleted_before", "some", lambda tx: tx.forgetting.deleted_before(late, 200))
    yield Call(name + "erase", "two", lambda tx: tx.forgetting.erase([MEMORY, an_id(1, N + 1)]))
    yield Call(name + "mark", "two", lambda tx: tx.forgetting.mark([MEMORY, an_id(1, N + 1)], {"updated_at": AT}))
    yield Call(name + "untouched", "some", lambda tx: tx.forgetting.untouched(OWNER, kinds, late, AT, 200))
    yield Call(name + "fading", "some", lambda tx: tx.forgetting.fading(OWNER, kinds, AT, 200))
    yield Call(name + "current_count", "one", lambda tx: tx.forgetting.current_count(OWNER, AT))
    yield Call(name + "archived_before", "some", lambda tx: tx.forgetting.archived_before("u:big", late, 200))
    yield Call(name + "questionable", "some", lambda tx: tx.forgetting.questionable(OWNER, 7, late, AT))
    yield Call(name + "after", "first", lambda tx: tx.forgetting.after(OWNER, None, AT, 25))
    yield Call(name + "after", "next", lambda tx: tx.forgetting.after(OWNER, MEMORY, AT, 25))
    for who, owner in (("of a tenant", None), ("of an owner", OWNER)):
        yield Call("HealthRepository.counts", who, lambda tx, whose=owner: tx.health.counts(AT, whose))
        yield Call("HealthRepository.contradictions", who, lambda tx, whose=owner: tx.health.contradictions(whose))
    change = {OWNER: OwnerChange(-1, -8), "u:18": OwnerChange(-1, -8)}
    yield Call("OwnerRepository.change_all", "two", lambda tx: tx.owners.change_all(change))
    yield Call("OwnerRepository.unmaintained", "never yet", lambda tx: tx.owners.unmaintained(None, 100))
    yield Call("OwnerRepository.unmaintained", "some", lambda tx: tx.owners.unmaintained(late, 100))
    yield Call("OwnerRepository.maintained", "some", lambda tx: tx.owners.maintained([OWNER], AT))
    yield Call(name + "newest", "one", lambda tx: tx.forgetting.newest(OWNER))


def dreaming_calls() -> Iterator[Call]:
    late, user, dream = AT + timedelta(days=4000), USER, an_id(12, N)
    yield Call("OwnerRepository.dreamers", "some", lambda tx: tx.owners.dreamers(late, 100))
    yield Call("OwnerRepository.dreamed", "some", lambda tx: tx.owners.dreamed([OWNER], AT))
    yield Call("SessionRepository.last_of", "some", lambda tx: tx.sessions.last_of(OWNER, 5))
    yield Call("SessionRepository.last_active", "one", lambda tx: tx.sessions.last_active(OWNER))
    name = "DreamRepository."
    fresh = {"id": new_id(), "user_id": user, "state": "proposed", "changes": {}, "created_at": AT}
    yield Call(name + "add", "one", lambda tx: tx.dreams.add(fresh))
    for who, users in (("any", None), ("bound", BOUND)):
        yield Call(name + "get", who, lambda tx: tx.dreams.get(user, dream), users)
        yield Call(name + "get_for_update", who, lambda tx: tx.dreams.get_for_update(user, dream), users)
        yield Call(name + "page", f"first, {who}", lambda tx: tx.dreams.page(user, None, 50), users)
    yield Call(name + "page", "next", lambda tx: tx.dreams.page(user, an_id(12, N + 5), 50))
    yield Call(name + "change", "one", lambda tx: tx.dreams.change(dream, {"state": "rejected"}))
    yield Call(name + "forget", "old", lambda tx: tx.dreams.forget(at(20)))
    yield Call(name + "forget_of", "one", lambda tx: tx.dreams.forget_of(user))
    some = [an_id(1, N + n) for n in range(50)]
    yield Call(name + "predecessors", "some", lambda tx: tx.dreams.predecessors(some))


def profile_calls() -> Iterator[Call]:
    late, actions = AT + timedelta(days=4000), ["added", "superseded"]
    for what in ("facts", "known", "insights"):
        yield Call(f"ProfileRepository.{what}", "one", lambda tx, of=what: getattr(tx.profiles, of)(OWNER, AT, 200))
    name = "InsightRepository."
    yield Call(name + "last", "one", lambda tx: tx.insights.last(OWNER))
    yield Call(name + "reflected", "one", lambda tx: tx.insights.reflected(OWNER, AT))
    for since, when in (("ever", None), ("some", AT - timedelta(days=4000))):
        yield Call(name + "gathered", since, lambda tx, at=when: tx.insights.gathered(OWNER, at, AT))
        yield Call(name + "observations", since, lambda tx, at=when: tx.insights.observations(OWNER, at, AT, 500))
    yield Call(name + "corrected", "some", lambda tx: tx.insights.corrected(OWNER, 2, 3))
    yield Call(name + "outweigh", "two", lambda tx: tx.insights.outweigh([MEMORY, an_id(1, N + 1)], 0.5, AT))
    span, name = TimeSpan(), "TimelineRepository."
    narrow = TimeSpan(AT - timedelta(days=4000), late, (late, "m:x"))
    for which, within in (("first", span), ("next", narrow)):
        yield Call(
            name + "of_memories", which, lambda tx, one=within: tx.timelines.of_memories(OWNER, actions, one, 50)
        )
        yield Call(
            name + "of_memories",
            f"{which}, some",
            lambda tx, one=within: tx.timelines.of_memories(OWNER, actions, one, 50, kind="semantic", category="other"),
        )
        yield Call(
            name + "of_sessions", which, lambda tx, one=within: tx.timelines.of_sessions(OWNER, one, 50, closed=False)
        )
    yield Call(name + "of_sessions", "closed", lambda tx: tx.timelines.of_sessions("u:u5", span, 50, closed=True))


def conflict_calls() -> Iterator[Call]:
    name, conflict = "ConflictRepository.", an_id(8, N)
    for who, users in (("any", None), ("bound", BOUND)):
        yield Call(name + "page", f"first, {who}", lambda tx: tx.conflicts.page(None, 50, AT), users)
        yield Call(name + "get", who, lambda tx: tx.conflicts.get(conflict), users)
    yield Call(name + "page", "next", lambda tx: tx.conflicts.page(an_id(8, 9 * N), 50, AT))
    yield Call(name + "count", "all", lambda tx: tx.conflicts.count(AT))
    yield Call(name + "touching", "many", lambda tx: tx.conflicts.touching([an_id(1, 100 * n) for n in range(1, 200)]))
    yield Call(
        name + "resolve",
        "some",
        lambda tx: tx.conflicts.resolve([an_id(8, 100 * n) for n in range(1, 200)], "both", AT),
    )
    some = [an_id(1, 100 * n) for n in range(1, 200)]
    yield Call(name + "parted", "some", lambda tx: tx.conflicts.parted(some, [AT], AT))
    yield Call(name + "opened", "some", lambda tx: tx.conflicts.opened(some, [AT]))
    yield Call(name + "between", "some", lambda tx: tx.conflicts.between(some))
    yield Call(name + "reopen", "one", lambda tx: tx.conflicts.reopen([conflict], AT))
    yield Call(name + "torn", "one", lambda tx: tx.conflicts.torn(OWNER, AT))
    yield Call(name + "unfounded", "one", lambda tx: tx.conflicts.unfounded(OWNER))
    yield Call(name + "unmarked", "one", lambda tx: tx.conflicts.unmarked(OWNER))
    yield Call(name + "open", "one", lambda tx: tx.conflicts.open(MEMORY, [an_id(1, N + 1)], "same", AT))


def message_calls() -> Iterator[Call]:
    name = "MessageRepository."

    def page(
        tx: Transaction, after: int | None = None, *, newest_first: bool = False, to_seq: int | None = None
    ) -> Any:
        return tx.messages.page(SESSION, after=after, limit=50, newest_first=newest_first, from_seq=0, to_seq=to_seq)

    async def insert(tx: Transaction) -> None:
        row = message_row()
        await tx.messages.insert(OWNER, [row], [Posting(row["id"], {"new": 1}, 1)])

    async def copy(tx: Transaction) -> None:
        row = message_row()
        await tx.messages.insert(OWNER, [row], [])
        await tx.messages.copy_index([(MESSAGE, row["id"])], OWNER)

    yield Call(name + "insert", "new", insert)
    yield Call(name + "copy_index", "one", copy)
    yield Call(name + "by_external_ids", "two", lambda tx: tx.messages.by_external_ids(SESSION, [f"e{N}", "other"]))
    yield Call(name + "page", "oldest first", page)
    yield Call(name + "page", "newest first, next", lambda tx: page(tx, 8, newest_first=True))
    yield Call(name + "page", "range", lambda tx: page(tx, to_seq=5))
    yield Call(name + "count", "one", lambda tx: tx.messages.count(SESSION))
    yield Call(name + "latest", "one", lambda tx: tx.messages.latest(SESSION, 40))
    yield Call(name + "get", "one", lambda tx: tx.messages.get(SESSION, 1))
    yield Call(name + "by_seqs", "two", lambda tx: tx.messages.by_seqs(SESSION, [1, 2]))
    yield Call(name + "window", "two", lambda tx: tx.messages.window(SESSION, 8, 128))
    yield Call(name + "said", "two", lambda tx: tx.messages.said(SESSION, 8, 60, 4))
    yield Call(name + "by_ids", "many", lambda tx: tx.messages.by_ids([an_id(2, N + n) for n in range(50)]))
    yield Call(
        name + "with_memories", "many", lambda tx: tx.messages.with_memories([an_id(2, N + n) for n in range(30)])
    )
    yield Call(name + "around", "two", lambda tx: tx.messages.around([(SESSION, 1, 3), (f"s{S + 1}", 4, 6)]))
    yield Call(name + "redact", "one", lambda tx: tx.messages.redact(MESSAGE, {"text": "", "redacted_at": AT}))
    yield Call(name + "pop", "one", lambda tx: tx.messages.pop(SESSION))
    yield Call(name + "extent", "one", lambda tx: tx.messages.extent(SESSION))
    yield Call(name + "clear", "one", lambda tx: tx.messages.clear(SESSION))


def session_calls() -> Iterator[Call]:
    name = "SessionRepository."
    for who, users in (("any", None), ("bound", BOUND)):
        yield Call(name + "get", who, lambda tx: tx.sessions.get(SESSION), users)
        yield Call(name + "get_for_update", who, lambda tx: tx.sessions.get_for_update(SESSION), users)
        yield Call(name + "hold", who, lambda tx: tx.sessions.hold(SESSION, AT), users)
        yield Call(name + "hold", f"unchanged, {who}", lambda tx: tx.sessions.hold(SESSION, AT, at(N + 9)), users)
        yield Call("ContextRepository.at_hand", who, lambda tx: tx.contexts.at_hand(SESSION), users)
        yield Call(name + "change", who, lambda tx: tx.sessions.change(SESSION, {"title": "new"}), users)
        yield Call(name + "page", f"{who}, of all", lambda tx: tx.sessions.page({}, None, 50, AT), users)
    yield Call(name + "expired", "some", lambda tx: tx.sessions.expired(at(600_000), 50))
    yield Call(name + "create", "new", lambda tx: tx.sessions.create(session_row("new")))
    yield Call(name + "create_or_lock", "new", lambda tx: tx.sessions.create_or_lock(session_row("new"), messages=1))
    yield Call(
        name + "create_or_lock", "known", lambda tx: tx.sessions.create_or_lock(session_row(SESSION), messages=1)
    )
    yield Call(name + "take_sequence", "one", lambda tx: tx.sessions.take_sequence(SESSION, 2))
    yield Call(name + "grow", "one", lambda tx: tx.sessions.grow(SESSION, 2, AT))
    yield Call(name + "shrink", "one", lambda tx: tx.sessions.shrink(SESSION, 2, AT))
    for field, value in (("user_id", USER), ("agent_id", "agent7"), ("app_id", "app7")):
        yield Call(name + "page", f"by {field}", lambda tx, one={field: value}: tx.sessions.page(one, None, 50, AT))
        yield Call(name + "count", f"by {field}", lambda tx, one={field: value}: tx.sessions.count(one, AT))
    yield Call(name + "page", "next", lambda tx: tx.sessions.page({}, (at(N), SESSION), 50, AT))
    yield Call(name + "count", "of all", lambda tx: tx.sessions.count({}, AT))
    yield Call(name + "delete", "one", lambda tx: tx.sessions.delete(SESSION))
    yield Call(name + "embedded_to", "one", lambda tx: tx.sessions.embedded_to("s200", 10))
    yield Call(name + "lagging", "some", lambda tx: tx.sessions.lagging("embed_messages", AT, 50))
    yield Call(name + "lagging", "unread", lambda tx: tx.sessions.lagging("extract", AT, 50))
    yield Call(name + "extracted_to", "one", lambda tx: tx.sessions.extracted_to("s200", 10))
    yield Call(name + "lagging", "unfolded", lambda tx: tx.sessions.lagging("summarise", AT, 50))
    yield Call(name + "summarized_to", "one", lambda tx: tx.sessions.summarized_to("s200", 5, 10))
    yield Call(name + "ordinal", "one", lambda tx: tx.sessions.ordinal(OWNER, AT))
    states = "StateRepository."
    yield Call(states + "current", "one", lambda tx: tx.states.current(SESSION))
    yield Call(states + "version", "one", lambda tx: tx.states.version(SESSION, 3))
    yield Call(states + "add", "one", lambda tx: tx.states.add(SESSION, 11, {}, "me", AT, 10))
    yield Call(states + "at_message", "one", lambda tx: tx.states.at_message(SESSION, 5))
    yield Call(states + "page", "all", lambda tx: tx.states.page(SESSION, None, 50))
    yield Call(states + "page", "next", lambda tx: tx.states.page(SESSION, 5, 50))
    forks = "ForkRepository."
    yield Call(forks + "copy_summaries", "all", lambda tx: tx.forks.copy_summaries(SESSION, "s200", 10))


def summary_calls() -> Iterator[Call]:
    name, contexts, summary = "SummaryRepository.", "ContextRepository.", an_id(10, N)
    row: dict[str, Any] = {"level": 0, "from_seq": 1, "to_seq": 2, "text": "new", "tokens": 1, "created_at": AT}
    yield Call(name + "current", "one", lambda tx: tx.summaries.current(SESSION))
    yield Call(name + "tree", "one", lambda tx: tx.summaries.tree(SESSION))
    yield Call(name + "stretches", "two", lambda tx: tx.summaries.stretches(SESSION, [1, 3], 8))
    yield Call(name + "covering", "one", lambda tx: tx.summaries.covering(SESSION, 2))
    yield Call(name + "overtaken", "one", lambda tx: tx.summaries.overtaken(CHANGED, 50))
    yield Call(name + "add", "new", lambda tx: tx.summaries.add([{"id": new_id(), "session_id": SESSION, **row}]))
    yield Call(name + "change", "one", lambda tx: tx.summaries.change(summary, {"text": "new"}))
    yield Call(name + "supersede", "two", lambda tx: tx.summaries.supersede([summary, an_id(10, N + 1)], AT))
    yield Call(name + "clear", "one", lambda tx: tx.summaries.clear(SESSION))
    yield Call(contexts + "prepared", "one", lambda tx: tx.contexts.prepared(SESSION))
    yield Call(contexts + "prepare", "known", lambda tx: tx.contexts.prepare(SESSION, "v1", 1, 10, {}, AT))
    yield Call(contexts + "expire", "some", lambda tx: tx.contexts.expire(at(3_000)))
    yield Call(contexts + "forget", "one", lambda tx: tx.contexts.forget(SESSION))
    yield Call("OwnerRepository.memory_versions", "two", lambda tx: tx.owners.memory_versions([OWNER, SHARED_OWNER]))
    in_context = ContextSelection(
        Scope(None, "helper", "shop", SESSION), AT, shared_owners=["a:helper", SHARED_OWNER], owner=OWNER
    )
    widened = legs(OWNER, "a:helper", SHARED_OWNER)
    yield Call("SearchRepository.memories", "of a context", lambda tx: tx.search.memories(widened, in_context))
    helping = replace(in_context, kinds=["procedural"])
    chosen = replace(widened, path="selected")
    yield Call("SearchRepository.memories", "what helps", lambda tx: tx.search.memories(chosen, helping))
    alone = replace(WITH_SHARED, kinds=["procedural"])
    yield Call("SearchRepository.extent_of_memories", "how", lambda tx: tx.search.extent_of_memories(alone, 5_001))
    yield Call("SearchRepository.procedural", "of a context", lambda tx: tx.search.procedural(widened.owners, 5_001))
    yield Call("MemoryRepository.important", "of a context", lambda tx: tx.memories.important(in_context, 5))
    yield Call("MemoryRepository.important", "bound", lambda tx: tx.memories.important(in_context, 5), BOUND)


def job_calls() -> Iterator[Call]:
    name = "JobRepository."
    queued, running, dead = (an_id(5, n) for n in (400, 201, 202))
    fence = Fence(running, 0, AT)
    yield Call(name + "enqueue", "new", lambda tx: tx.jobs.enqueue("embed_messages", SESSION, AT))
    both = {"embed_messages": timedelta(0), "extract": timedelta(0)}
    yield Call(name + "enqueue_all", "new", lambda tx: tx.jobs.enqueue_all(both, SESSION, AT))
    yield Call(name + "enqueue", "known", lambda tx: tx.jobs.enqueue("embed_messages", "s400", AT))
    yield Call(name + "wake", "one", lambda tx: tx.jobs.wake(queued))
    yield Call(name + "get", "any", lambda tx: tx.jobs.get(JOB))
    yield Call(name + "get", "bound", lambda tx: tx.jobs.get(JOB), BOUND)
    yield Call(name + "hasten", "one", lambda tx: tx.jobs.hasten(queued, at(0)))
    yield Call(name + "claim", "one", lambda tx: tx.jobs.claim(queued, AT))
    yield Call(name + "finish", "one", lambda tx: tx.jobs.finish(fence, "succeeded", AT, result={}, window={}))
    yield Call(name + "still_running", "one", lambda tx: tx.jobs.still_running(fence, AT))
    yield Call(name + "retry_later", "one", lambda tx: tx.jobs.retry_later(fence, AT, timedelta(seconds=1), "x"))
    yield Call(name + "cancel", "one", lambda tx: tx.jobs.cancel(queued, AT))
    yield Call(name + "requeue", "one", lambda tx: tx.jobs.requeue(dead, AT))
    yield Call(name + "page", "all", lambda tx: tx.jobs.page({}, None, 50))
    yield Call(name + "page", "next", lambda tx: tx.jobs.page({}, JOB, 50))
    yield Call(name + "page", "by state", lambda tx: tx.jobs.page({"state": "dead"}, None, 50))
    yield Call(name + "page", "bound", lambda tx: tx.jobs.page({}, None, 50), BOUND)
    yield Call(name + "count", "by state", lambda tx: tx.jobs.count({"state": "dead"}))
    yield Call(name + "count", "bound", lambda tx: tx.jobs.count({}), BOUND)
    yield Call(name + "tally", "all", lambda tx: tx.jobs.tally())
    yield Call(name + "overdue", "some", lambda tx: tx.jobs.overdue(AT, 50))
    yield Call(name + "forget", "some", lambda tx: tx.jobs.forget(at(100), ["sweep"], ["succeeded", "cancelled"]))
    yield Call(name + "forget_dispatch_log", "some", lambda tx: tx.jobs.forget_dispatch_log(AT))


def search_calls() -> Iterator[Call]:
    name = "SearchRepository."
    small, large = legs(OWNER), legs("u:big", path="hnsw")
    shared = legs(OWNER, "a:helper", SHARED_OWNER)
    whole = legs(*ALL_OWNERS, path="hnsw")
    of_big = replace(OF_USER, scope=Scope("big"))
    yield Call(name + "memories", "small owner", lambda tx: tx.search.memories(small, OF_USER))
    yield Call(name + "memories", "small owner, bound", lambda tx: tx.search.memories(small, OF_USER), BOUND)
    yield Call(name + "memories", "with shared levels", lambda tx: tx.search.memories(shared, WITH_SHARED))
    yield Call(name + "memories", "large owner", lambda tx: tx.search.memories(large, of_big))
    yield Call(name + "memories", "whole tenant", lambda tx: tx.search.memories(whole, OF_ALL))
    yield Call(name + "memories", "dense only", lambda tx: tx.search.memories(replace(small, tokens=[]), OF_USER))
    yield Call(name + "memories", "lexical only", lambda tx: tx.search.memories(replace(small, dense=None), OF_USER))
    yield Call(name + "messages", "small owner", lambda tx: tx.search.messages(small, Scope(USER)))
    yield Call(name + "messages", "small owner, bound", lambda tx: tx.search.messages(small, Scope(USER)), BOUND)
    yield Call(name + "messages", "of a session", lambda tx: tx.search.messages(small, Scope(USER, session_id=SESSION)))
    yield Call(name + "messages", "of an agent", lambda tx: tx.search.messages(small, Scope(USER, "agent17")))
    period = Period(["user"], since=at(N - 20), until=at(N + 20))
    yield Call(name + "messages", "of a time", lambda tx: tx.search.messages(small, Scope(USER), period))
    yield Call(name + "latest", "small owner", lambda tx: tx.search.latest([OWNER], Scope(USER), Period(), 50))
    yield Call(name + "latest", "of a time", lambda tx: tx.search.latest([OWNER], Scope(USER), period, 50))
    yield Call(name + "latest", "of a session", lambda tx: tx.search.latest([OWNER], OF_SESSION.scope, Period(), 50))
    yield Call(name + "latest", "large owner", lambda tx: tx.search.latest(["u:big"], Scope("big"), Period(), 50))
    yield Call(name + "latest", "whole tenant", lambda tx: tx.search.latest(ALL_OWNERS, Scope(), Period(), 50))
    everything = replace(
        small,
        keys=[f"user.key{(N + 3) // 4 * 4 % 500}", f"key{N}"],
        constraints=True,
        time=TimeQuery(at(N - 20), at(N + 20)),
    )
    latest = replace(small, time=TimeQuery())
    narrow = replace(small, path="selected")
    yield Call(name + "memories", "every leg", lambda tx: tx.search.memories(everything, OF_USER))
    yield Call(name + "memories", "latest", lambda tx: tx.search.memories(latest, OF_USER))
    yield Call(name + "memories", "selected", lambda tx: tx.search.memories(narrow, OF_USER))
    widened = replace(small, neighbours=True)
    yield Call(name + "messages", "with neighbours", lambda tx: tx.search.messages(widened, Scope(USER)))
    yield Call(name + "messages", "latest", lambda tx: tx.search.messages(latest, Scope(USER)))
    yield Call(name + "messages", "selected", lambda tx: tx.search.messages(narrow, Scope(USER), period))
    of_agent = replace(OF_USER, scope=Scope(None, "agent17"))
    yield Call(name + "indexed", "memories", lambda tx: tx.search.indexed("memories"))
    yield Call(name + "extent_of_memories", "of an agent", lambda tx: tx.search.extent_of_memories(of_agent, 5_001))
    yield Call(
        name + "extent_of_messages",
        "of a session",
        lambda tx: tx.search.extent_of_messages(Scope(USER, session_id=SESSION), Period(), 5_001),
    )
    yield Call(name + "messages", "large owner", lambda tx: tx.search.messages(large, Scope("big")))
    yield Call(name + "messages", "whole tenant", lambda tx: tx.search.messages(whole, Scope()))


def search_record_calls() -> Iterator[Call]:
    told = "ExplanationRepository."
    explanation = {"id": new_id(), "key_id": new_id(), "user_id": USER, "content": {"pools": []}, "created_at": AT}
    yield Call(told + "add", "one", lambda tx: tx.explanations.add(explanation))
    yield Call(told + "get", "one", lambda tx: tx.explanations.get(an_id(9, N), an_id(6, N % 20)))
    yield Call(told + "recent", "some", lambda tx: tx.explanations.recent(20))
    yield Call(told + "forget", "old ones", lambda tx: tx.explanations.forget(at(100)))
    yield Call("MessageRepository.last", "of a session", lambda tx: tx.messages.last(SESSION, 6))
    yield Call("MessageRepository.last_said", "of all", lambda tx: tx.messages.last_said(20))
    yield Call("MessageRepository.last", "bound", lambda tx: tx.messages.last(SESSION, 6), BOUND)
    seen = [(an_id(1, N + n), 2, AT) for n in range(10)]
    wanted = [an_id(1, N + n) for n in range(10)]
    yield Call("MemoryRepository.with_sources", "ten", lambda tx: tx.memories.with_sources(wanted))
    yield Call("MemoryRepository.with_sources", "bound", lambda tx: tx.memories.with_sources(wanted), BOUND)
    yield Call("MemoryRepository.accessed", "ten", lambda tx: tx.memories.accessed(seen))


def reembedding_calls() -> Iterator[Call]:
    anew, item = "ReembeddingRepository.", an_id(10, 6)
    made = StoredVector(item, 0, "everywhere often1", a_vector(6))
    yield Call(anew + "put_store", "one", lambda tx: tx.reembedding.put_store(MODEL.id, [made]))
    yield Call(anew + "total", "all", lambda tx: tx.reembedding.total())
    for corpus, place in (("memories", [str(MEMORY)]), ("messages", [str(MESSAGE)]), ("store", [str(item), "0"])):
        yield Call(anew + "window", corpus, lambda tx, c=corpus, p=place: tx.reembedding.window(c, MODEL.id, p, 128))
        yield Call(anew + "gaps", corpus, lambda tx, c=corpus, p=place: tx.reembedding.gaps(c, MODEL.id, 2, p, 500))
        yield Call(anew + "remove", corpus, lambda tx, c=corpus, p=place: tx.reembedding.remove(c, MODEL.id, p, 500))


def usage_calls() -> Iterator[Call]:
    yield Call("UsageRepository.tokens", "today", lambda tx: tx.usage.tokens(AT.date()))
    yield Call("UsageRepository.add", "today", lambda tx: tx.usage.add(AT.date(), 1, 100))
    yield Call("UsageRepository.tokens_between", "a month", lambda tx: tx.usage.tokens_between(MONTH, AT.date()))
    name = "QuotaRepository."
    yield Call(name + "get", "", lambda tx: tx.quotas.get())
    yield Call(name + "start", "", lambda tx: tx.quotas.start())
    yield Call(name + "drain", "", lambda tx: tx.quotas.drain("messages"))
    yield Call(name + "lock", "", lambda tx: tx.quotas.lock())
    yield Call(name + "held", "all", lambda tx: tx.quotas.held())
    yield Call(name + "set", "", lambda tx: tx.quotas.set(memory_limit=10**9))
    yield Call(name + "stop", "", lambda tx: tx.quotas.stop())


def other_calls() -> Iterator[Call]:
    yield from reembedding_calls()
    owners, users, vectors = "OwnerRepository.", "UserRepository.", "VectorRepository."
    yield Call(
        owners + "lock_and_change", "known", lambda tx: tx.owners.lock_and_change(OWNER, OwnerChange(memories=1))
    )
    yield Call(owners + "lock", "two", lambda tx: tx.owners.lock([OWNER, SHARED_OWNER]))
    yield Call(owners + "of_session", "one", lambda tx: tx.owners.of_session(SESSION))
    yield Call(owners + "of_session", "drawn from too", lambda tx: tx.owners.of_session(SESSION, drawn=True))
    yield Call(owners + "of_memories", "two", lambda tx: tx.owners.of_memories([MEMORY, an_id(1, N + 1)]))
    yield Call(owners + "after", "first", lambda tx: tx.owners.after(None, 50))
    yield Call(owners + "after", "next", lambda tx: tx.owners.after(OWNER, 50))
    yield Call(owners + "differing", "two", lambda tx: tx.owners.differing([OWNER, SHARED_OWNER]))
    yield Call(owners + "recount", "one", lambda tx: tx.owners.recount(OWNER))
    yield Call(owners + "held_by_session", "one", lambda tx: tx.owners.held_by_session(SESSION))
    yield Call(owners + "size", "two", lambda tx: tx.owners.size([OWNER, SHARED_OWNER]))
    yield Call(owners + "size", "all", lambda tx: tx.owners.size(None))
    yield Call(users + "touch", "two", lambda tx: tx.users.touch([USER, "new"], AT))
    yield Call(users + "get", "one", lambda tx: tx.users.get(USER))
    yield Call(users + "lock", "two", lambda tx: tx.users.lock([USER, "18"]))
    yield Call(users + "page", "all", lambda tx: tx.users.page(None, 50))
    yield Call(users + "page", "next", lambda tx: tx.users.page(USER, 50))
    yield Call(users + "page", "bound", lambda tx: tx.users.page(None, 50), BOUND)
    yield Call(users + "count", "all", lambda tx: tx.users.count())
    yield Call(users + "change", "one", lambda tx: tx.users.change(USER, {"timezone": "UTC"}))
    yield Call(users + "delete", "one", lambda tx: tx.users.delete(USER))
    given = [Embedded(MEMORY, HASH, a_vector(N)), Embedded(an_id(1, N + 1), HASH, a_vector(N))]
    yield Call(vectors + "put_memories", "two", lambda tx: tx.vectors.put_memories(MODEL.id, given))
    yield Call(vectors + "of_texts", "two", lambda tx: tx.vectors.of_texts(MODEL.id, [MEMORY, an_id(1, N + 1)]))
    yield Call(vectors + "of_memories", "two", lambda tx: tx.vectors.of_memories(MODEL.id, [MEMORY, an_id(1, N + 1)]))
    said = [Embedded(MESSAGE, HASH, a_vector(N)), Embedded(an_id(2, N + 1), HASH, a_vector(N))]
    yield Call(vectors + "put_messages", "two", lambda tx: tx.vectors.put_messages(MODEL.id, said))
    many = [an_id(1, N + n) for n in range(100)]
    yield Call(vectors + "memories_without", "many", lambda tx: tx.vectors.memories_without(MODEL.id, many))
    yield from usage_calls()
    answers = "IdempotencyRepository."
    fresh = replace(CLAIM, key="new")
    yield Call(answers + "claim", "known", lambda tx: tx.idempotency.claim(CLAIM, AT, at(0)))
    yield Call(answers + "claim", "new", lambda tx: tx.idempotency.claim(fresh, AT, at(0)))
    yield Call(answers + "store", "one", lambda tx: tx.idempotency.store(CLAIM, 201, "{}", USER))
    yield Call(answers + "sweep", "some", lambda tx: tx.idempotency.sweep(at(100)))


def block_calls() -> Iterator[Call]:
    name, keys = "BlockRepository.", "KeyRepository."
    user, label = f"u{N // 5}", f"label{N % 5}"
    for who, users in (("any", None), ("bound", frozenset({user}))):
        yield Call(name + "get", who, lambda tx: tx.blocks.get(label, user, None), users)
        yield Call(name + "get_for_update", who, lambda tx: tx.blocks.get_for_update(label, user, None), users)
    yield Call(name + "get", "of nobody", lambda tx: tx.blocks.get(label, None, None))
    yield Call(name + "in_reach", "of a user and an agent", lambda tx: tx.blocks.in_reach(user, f"agent{N % 50}"))
    yield Call(name + "in_reach", "bound", lambda tx: tx.blocks.in_reach(user, None), frozenset({user}))
    yield Call(name + "create", "new", lambda tx: tx.blocks.create(block_row()))
    yield Call(name + "change", "one", lambda tx: tx.blocks.change(BLOCK, {"text": "new"}))
    yield Call(name + "delete", "one", lambda tx: tx.blocks.delete(BLOCK))
    yield Call(name + "note", "one", note_block)
    yield Call(name + "versions", "one", lambda tx: tx.blocks.versions(BLOCK, None, 50))
    yield Call(name + "versions", "next", lambda tx: tx.blocks.versions(BLOCK, 2, 50))
    yield Call(name + "page", "of a user", lambda tx: tx.blocks.page(user, None, None, 50))
    yield Call(name + "page", "of all", lambda tx: tx.blocks.page(None, None, None, 50))
    yield Call(name + "count", "of a user", lambda tx: tx.blocks.count(user, None))
    yield Call(name + "page", "next", lambda tx: tx.blocks.page(None, None, BLOCK, 50))
    key = f"user.key{N}"
    yield Call(keys + "entries", "two", lambda tx: tx.keys.entries([key, f"alias{N}"]))
    yield Call(keys + "count", "all", lambda tx: tx.keys.count())
    yield Call(keys + "page", "all", lambda tx: tx.keys.page(None, 50))
    yield Call(keys + "page", "next", lambda tx: tx.keys.page(key, 50))
    put = {"multi_valued": True, "description": None, "at": AT}
    yield Call(keys + "put", "known", lambda tx: tx.keys.put(key, **put))
    yield Call(keys + "set_aliases", "two", lambda tx: tx.keys.set_aliases(key, ["one", "two"]))
    yield Call(keys + "delete", "one", lambda tx: tx.keys.delete(key))
    yield Call(keys + "in_use", "one", lambda tx: tx.keys.in_use(OWNER))
    merge, stats = "MergeRepository.", "StatsRepository."
    yield Call(merge + "block_labels_of_both", "two", lambda tx: tx.merging.block_labels_of_both(user, "u18"))
    yield Call(merge + "lock_sessions", "one", lambda tx: tx.merging.lock_sessions(USER))
    yield Call(merge + "expire", "two", lambda tx: tx.merging.expire([USER, "18"], AT))
    yield Call(merge + "close_twins", "two", lambda tx: tx.merging.close_twins(USER, "18", AT))
    yield Call(merge + "move", "two", lambda tx: tx.merging.move(USER, "18"))
    yield Call(stats + "counts", "all", lambda tx: tx.stats.counts())
    yield Call(stats + "memories_by_status", "all", lambda tx: tx.stats.memories_by_status())
    yield Call(stats + "jobs_by_state", "all", lambda tx: tx.stats.jobs_by_state())


def procedure_calls() -> Iterator[Call]:
    name = "ProcedureRepository."
    user, nobody = Scope(USER), Scope()
    row = {"id": an_id(1, 2 * N), "owner": OWNER, "title": "t", "when_to_use": "w", "body": "b", "path": "x.md"}
    row |= {"created_at": AT, "updated_at": AT}
    yield Call(name + "get", "any", lambda tx: tx.procedures.get(CARD))
    yield Call(name + "get", "bound", lambda tx: tx.procedures.get(CARD), BOUND)
    yield Call(name + "holds", "one", lambda tx: tx.procedures.holds(CARD))
    yield Call(name + "by_ids", "some", lambda tx: tx.procedures.by_ids([CARD, an_id(1, N + 1)]))
    yield Call(name + "by_ids", "bound", lambda tx: tx.procedures.by_ids([CARD, an_id(1, N + 1)]), BOUND)
    yield Call(name + "by_path", "one", lambda tx: tx.procedures.by_path(PLAIN, f"p{(N + 7) % 3000}.md"))
    yield Call(name + "of_lesson", "one", lambda tx: tx.procedures.of_lesson(CARD))
    yield Call(name + "page", "of user", lambda tx: tx.procedures.page(user, "published", None, None, 50))
    yield Call(name + "page", "bound", lambda tx: tx.procedures.page(user, None, None, None, 50), BOUND)
    yield Call(name + "page", "of all", lambda tx: tx.procedures.page(nobody, None, None, None, 50))
    yield Call(name + "page", "next", lambda tx: tx.procedures.page(nobody, None, None, CARD, 50))
    yield Call(name + "count", "of user", lambda tx: tx.procedures.count(user, None, "tag"))
    yield Call(name + "count", "of all", lambda tx: tx.procedures.count(nobody, None, None))
    yield Call(name + "of_scope", "first", lambda tx: tx.procedures.of_scope(user, None, 50))
    yield Call(name + "of_scope", "next", lambda tx: tx.procedures.of_scope(user, an_id(1, 1), 50))
    yield Call(name + "create", "new", lambda tx: _created(tx, row))
    yield Call(name + "change", "one", lambda tx: tx.procedures.change(CARD, {"version": 2}))
    yield Call(name + "count_outcome", "one", lambda tx: tx.procedures.count_outcome(CARD, "success"))
    yield Call(name + "note", "new", lambda tx: tx.procedures.note(CARD, 2, {}, "me", AT))
    yield Call(name + "versions", "first", lambda tx: tx.procedures.versions(CARD, None, 50))
    yield Call(name + "versions", "next", lambda tx: tx.procedures.versions(CARD, 2, 50))


async def _created(tx: Transaction, row: dict[str, Any]) -> None:
    card = {**memory_row(), "id": new_id()}
    await tx.memories.put([card])
    await tx.procedures.create({**row, "id": card["id"]})


def lesson_calls() -> Iterator[Call]:
    name = "LessonRepository."
    user, nobody = Scope(USER), Scope()
    row = {"id": new_id(), "lesson_id": CARD, "session_id": SESSION, "outcome": "success", "task": "t"}
    row |= {"created_at": AT}
    yield Call(name + "get", "any", lambda tx: tx.lessons.get(CARD, AT))
    yield Call(name + "by_ids", "some", lambda tx: tx.lessons.by_ids([CARD, an_id(1, N + 1)], AT))
    yield Call(name + "by_ids", "bound", lambda tx: tx.lessons.by_ids([CARD], AT), BOUND)
    yield Call(name + "page", "of user", lambda tx: tx.lessons.page(user, "failure", None, 50, AT))
    yield Call(name + "page", "bound", lambda tx: tx.lessons.page(user, None, None, 50, AT), BOUND)
    yield Call(name + "page", "of all", lambda tx: tx.lessons.page(nobody, None, None, 50, AT))
    yield Call(name + "page", "next", lambda tx: tx.lessons.page(nobody, None, CARD, 50, AT))
    yield Call(name + "count", "of user", lambda tx: tx.lessons.count(user, "failure", AT))
    yield Call(name + "count", "of all", lambda tx: tx.lessons.count(nobody, None, AT))
    yield Call(name + "taught", "known", lambda tx: tx.lessons.taught(CARD, OWNER, "success", "t"))
    yield Call(name + "count_outcome", "one", lambda tx: tx.lessons.count_outcome(CARD, "failure"))
    yield Call(name + "add_experience", "new", lambda tx: tx.lessons.add_experience(row))
    yield Call(name + "experiences", "of one", lambda tx: tx.lessons.experiences(CARD, 20))


def on(work: Callable[[GlobalTransaction], Awaitable[Any]]) -> Callable[[Transaction], Awaitable[Any]]:
    """A call of a repository that knows no tenants."""
    return lambda tx: work(GlobalTransaction(tx._bound.connection))


def calls_of_keys() -> Iterator[Call]:
    name = "AccessRepository."

    yield Call(name + "key", "", on(lambda tx: tx.access.key(an_id(1, 1), TENANT)))
    yield Call(name + "set_key", "", on(lambda tx: tx.access.set_key(an_id(1, 1), {"rate_limit": 60})))
    yield Call(name + "used", "", on(lambda tx: tx.access.used(an_id(1, 1), AT)))
    yield Call("RateRepository.take", "", on(lambda tx: tx.rates.take("key:1", Rate(60), AT)))
    yield Call("RateRepository.forget_full", "", on(lambda tx: tx.rates.forget_full(AT)))


def global_calls() -> Iterator[Call]:
    name, models = "AccessRepository.", "ModelRepository."

    yield Call(name + "ping", "", on(lambda tx: tx.access.ping()))
    yield Call(name + "revision", "", on(lambda tx: tx.access.revision()))
    yield Call(name + "oldest_due_seconds", "", on(lambda tx: tx.access.oldest_due_seconds()))
    yield Call(name + "key_by_hash", "", on(lambda tx: tx.access.key_by_hash(HASH)))
    yield Call(name + "add_key", "", on(lambda tx: tx.access.add_key(key_row())))
    yield Call(name + "keys", "all", on(lambda tx: tx.access.keys()))
    yield Call(name + "keys", "tenant", on(lambda tx: tx.access.keys(TENANT)))
    yield Call(name + "keys_page", "", on(lambda tx: tx.access.keys_page(TENANT, an_id(1, 2), 50)))
    yield Call(name + "keys_count", "", on(lambda tx: tx.access.keys_count(TENANT)))
    yield Call(name + "tenants_count", "", on(lambda tx: tx.access.tenants_count()))
    yield Call(name + "tenants_page", "", on(lambda tx: tx.access.tenants_page(TENANT, 50)))
    yield Call(name + "tenant", "", on(lambda tx: tx.access.tenant(TENANT)))
    yield Call(name + "tenant_for_update", "", on(lambda tx: tx.access.tenant_for_update(TENANT)))
    yield Call(name + "set_settings", "", on(lambda tx: tx.access.set_settings(TENANT, {})))
    yield Call(name + "merge_settings", "", on(lambda tx: tx.access.merge_settings(TENANT, {})))
    yield Call(name + "revoke_key", "", on(lambda tx: tx.access.revoke_key(an_id(1, 1), AT, TENANT)))
    yield Call(name + "unbind", "", on(lambda tx: tx.access.unbind(TENANT, "17", AT)))
    yield Call(name + "tenant_ids", "", on(lambda tx: tx.access.tenant_ids()))
    yield Call(name + "tenant_by_name", "", on(lambda tx: tx.access.tenant_by_name("tenant 1")))
    yield Call(name + "ensure_tenant", "", on(lambda tx: tx.access.ensure_tenant(new_id(), "tenant 1", AT)))
    yield Call(models + "by_name", "", on(lambda tx: tx.models.by_name(MODEL.name)))
    yield Call(models + "active", "", on(lambda tx: tx.models.active()))
    yield Call(models + "active_for_update", "", on(lambda tx: tx.models.active_for_update()))
    yield Call(models + "has_vectors", "", on(lambda tx: tx.models.has_vectors(MODEL.id)))
    yield Call(models + "add", "", on(lambda tx: tx.models.add("new", 8, AT)))
    yield Call(models + "activate", "", on(lambda tx: tx.models.activate(MODEL.id, AT)))
    yield Call(models + "retire", "", on(lambda tx: tx.models.retire(MODEL.id, AT)))
    yield Call(models + "stand_by", "", on(lambda tx: tx.models.stand_by(MODEL.id)))
    yield Call(models + "build", "", on(lambda tx: tx.models.build(MODEL.id, AT)))
    yield Call(models + "note", "", on(lambda tx: tx.models.note(MODEL.id, {"looked": 1})))
    yield Call(models + "calibrate", "", on(lambda tx: tx.models.calibrate(MODEL.id, {})))
    yield Call(models + "kept_up", "", on(lambda tx: tx.models.kept_up()))
    yield Call(models + "all", "", on(lambda tx: tx.models.all()))
    yield Call(models + "one", "", on(lambda tx: tx.models.one(MODEL.id)))
    yield Call(models + "lock", "", on(lambda tx: tx.models.lock()))
    yield Call(models + "valid_indexes", "", on(lambda tx: tx.models.valid_indexes()))


THREAD = "t5005"
"""A thread of LangGraph's, u5's, with three checkpoints."""

BOUND_THREAD = frozenset({"u5"})


def checkpoint_calls() -> Iterator[Call]:
    name, upkeep = "CheckpointRepository.", "CheckpointUpkeepRepository."
    row = {
        "ns": "",
        "checkpoint_id": "005005c9",
        "parent_id": "005005c3",
        "run_id": None,
        "type": "m",
        "document": b"x",
    }
    row |= {"channel_versions": '{"a": "9"}', "metadata": "{}"}
    task = {"ns": "", "checkpoint_id": "005005c3", "task_id": "task", "task_path": ""}
    blobs, writes = [Blob("a", "9", "m", None, b"x")], [PendingWrite(3, "a", "m", b"x")]
    listed = Listed(THREAD, None, None, None, None, None, 20)
    everywhere = replace(
        listed, thread_id=None, before="005005c3", after=("005005c2", THREAD, ""), metadata='{"source": "loop"}'
    )
    for who, users in (("any", None), ("bound", BOUND_THREAD)):
        yield Call(name + "put", who, lambda tx: tx.checkpoints.put(THREAD, None, row, blobs), users)
        yield Call(name + "get", f"newest, {who}", lambda tx: tx.checkpoints.get(THREAD, "", None), users)
        yield Call(name + "get", f"one, {who}", lambda tx: tx.checkpoints.get(THREAD, "", "005005c2"), users)
        yield Call(name + "page", f"of a thread, {who}", lambda tx: tx.checkpoints.page(listed), users)
        yield Call(name + "page", f"of all, {who}", lambda tx: tx.checkpoints.page(everywhere), users)
        yield Call(upkeep + "lock", who, lambda tx: tx.checkpoint_upkeep.lock(THREAD), users)
        yield Call(upkeep + "lock_of_runs", who, lambda tx: tx.checkpoint_upkeep.lock_of_runs(["run5005"]), users)
        yield Call(upkeep + "delete_threads", who, lambda tx: tx.checkpoint_upkeep.delete_threads([THREAD]), users)
    for replaced in (False, True):
        yield Call(
            name + "put_writes",
            "replaced" if replaced else "kept",
            lambda tx, replaced=replaced: tx.checkpoints.put_writes(THREAD, "u5", task, writes, replace=replaced),
        )
    yield Call(upkeep + "create", "new", lambda tx: tx.checkpoint_upkeep.create("new", "u5", AT))
    yield Call(upkeep + "copy", "one", lambda tx: tx.checkpoint_upkeep.copy(THREAD, "t5010"))
    yield Call(upkeep + "uses_deltas", "one", lambda tx: tx.checkpoint_upkeep.uses_deltas("t505"))
    yield Call(upkeep + "delete_all_but_latest", "one", lambda tx: tx.checkpoint_upkeep.delete_all_but_latest(THREAD))
    yield Call(upkeep + "delete_runs", "one", lambda tx: tx.checkpoint_upkeep.delete_runs(THREAD, ["run5005"]))
    yield Call(
        upkeep + "delete_checkpoints", "one", lambda tx: tx.checkpoint_upkeep.delete_checkpoints(THREAD, ["005005c1"])
    )
    yield Call(upkeep + "sweep_blobs", "one", lambda tx: tx.checkpoint_upkeep.sweep_blobs(THREAD))
    yield Call(upkeep + "counts", "one", lambda tx: tx.checkpoint_upkeep.counts(THREAD))
    yield Call(upkeep + "expired", "some", lambda tx: tx.checkpoint_upkeep.expired(at(0) + timedelta(days=366), 100))


def snapshot_calls() -> Iterator[Call]:
    name = "SnapshotRepository."
    row = {"id": "j99", "parent_id": "j9", "run_id": None, "label": None, "document": b"x", "metadata": "{}"}
    row |= {"position": 99, "at": AT, "expires_at": None, "message_seq": 10}
    step = {"step_id": "new", "checkpoint_id": "j9", "position": 99, "input": 1, "output": 2, "created_at": AT}
    asked = Asked("label" + str(N), "run" + str(N), {})
    yield Call(name + "advance", "one", lambda tx: tx.snapshots.advance(SESSION, USER, AT))
    yield Call(name + "settings", "one", lambda tx: tx.snapshots.settings(SESSION))
    yield Call(name + "set_settings", "one", lambda tx: tx.snapshots.set_settings(SESSION, {}))
    yield Call(name + "put", "one", lambda tx: tx.snapshots.put(SESSION, row, [Blob("new", "", "json", None, b"x")]))
    yield Call(name + "newest", "one", lambda tx: tx.snapshots.newest(SESSION))
    yield Call(name + "get", "one", lambda tx: tx.snapshots.get(SESSION, "j5"))
    yield Call(name + "parts", "one", lambda tx: tx.snapshots.parts(SESSION, "j5"))
    yield Call(name + "page", "all", lambda tx: tx.snapshots.page(SESSION, Asked(), 15, 50))
    yield Call(name + "page", "some", lambda tx: tx.snapshots.page(SESSION, asked, None, 50))
    yield Call(name + "count", "some", lambda tx: tx.snapshots.count(SESSION, asked))
    yield Call(name + "ancestors", "one", lambda tx: tx.snapshots.ancestors(SESSION, "j5"))
    yield Call(name + "change", "one", lambda tx: tx.snapshots.change(SESSION, "j5", {"label": "x"}))
    yield Call(name + "add_step", "new", lambda tx: tx.snapshots.add_step(SESSION, step))
    done = step | {"step_id": "step9"}
    yield Call(name + "complete_step", "one", lambda tx: tx.snapshots.complete_step(SESSION, done))
    yield Call(name + "step", "one", lambda tx: tx.snapshots.step(SESSION, "step3"))
    yield Call(name + "steps", "all", lambda tx: tx.snapshots.steps(SESSION, 3, 50))
    yield Call(name + "count_steps", "all", lambda tx: tx.snapshots.count_steps(SESSION))
    yield Call(name + "after", "all", lambda tx: tx.snapshots.after(SESSION, 3, 50))
    yield Call(name + "places", "all", lambda tx: tx.snapshots.places(SESSION))
    yield Call(name + "has_more_than", "five", lambda tx: tx.snapshots.has_more_than(SESSION, 5))
    thread = session_thread(SESSION)
    upkeep = "CheckpointUpkeepRepository.sweep_blobs"
    yield Call(upkeep, "of a session", lambda tx: tx.checkpoint_upkeep.sweep_blobs(thread))


def store_calls() -> Iterator[Call]:
    name, path = "StoreRepository.", "ns\x1fu15\x1f"
    row = {"id": new_id(), "path": path, "key": "k15", "user_id": "u15", "value": {}, "ttl_minutes": None}
    row |= {"created_at": AT, "updated_at": AT, "expires_at": None}
    within = Within(path, AT, parse_store_filter({"n": {"$gte": 0}}))
    question = DenseQuery(a_vector(N), MODEL)
    item = an_id(10, 1515)
    for who, users in (("any", None), ("bound", frozenset({"u15"}))):
        yield Call(name + "get", who, lambda tx: tx.store.get([(path, "k15"), (path, "k1515")], AT), users)
        yield Call(name + "put", who, lambda tx: tx.store.put(row, [IndexedText(["a"], 1)]), users)
        yield Call(name + "delete", who, lambda tx: tx.store.delete(path, "k1515"), users)
        yield Call(name + "page", who, lambda tx: tx.store.page(within, 10, 0, [item]), users)
        yield Call(name + "candidates", who, lambda tx: tx.store.candidates(within, TOKENS, question, 60), users)
        yield Call(name + "paths", who, lambda tx: tx.store.paths(path, AT), users)
    yield Call(name + "candidates", "words alone", lambda tx: tx.store.candidates(within, TOKENS, None, 60))
    yield Call(name + "by_ids", "one", lambda tx: tx.store.by_ids([item]))
    yield Call(name + "refresh", "one", lambda tx: tx.store.refresh([an_id(10, 120)], AT))
    yield Call(name + "forget", "some", lambda tx: tx.store.forget(at(0) + timedelta(days=366), 100))


def audit_calls() -> Iterator[Call]:
    name = "AuditRepository."
    subject, resource = AuditFilter(subject="u7"), AuditFilter(resource_ids=[f"m{N}"])
    yield Call(name + "page", "all", lambda tx: tx.audit.page(AuditFilter(), None, 50))
    yield Call(name + "page", "next", lambda tx: tx.audit.page(AuditFilter(), an_id(12, N), 50))
    yield Call(name + "page", "of a user", lambda tx: tx.audit.page(subject, None, 50))
    yield Call(name + "page", "of a resource", lambda tx: tx.audit.page(resource, None, 50))
    yield Call(name + "chain", "some", lambda tx: tx.audit.chain(100, 100))
    yield Call(name + "unsealed", "some", lambda tx: tx.audit.unsealed(100))
    yield Call(name + "has_unsealed", "some", lambda tx: tx.audit.has_unsealed())
    yield Call(name + "count_unsealed", "some", lambda tx: tx.audit.count_unsealed())
    yield Call(name + "head", "there", lambda tx: tx.audit.head())
    yield Call(name + "lock_head", "there", lambda tx: tx.audit.lock_head())
    yield Call(name + "seal", "one", lambda tx: tx.audit.seal([an_id(12, N)], [(99_999, b"x", HASH)]))


def erasure_calls() -> Iterator[Call]:
    name, erasure = "ErasureRepository.", an_id(13, N)
    yield Call(name + "add", "new", lambda tx: tx.erasures.add(new_id(), "s", "key:x", AT))
    yield Call(name + "get", "one", lambda tx: tx.erasures.get(erasure))
    yield Call(name + "running", "one", lambda tx: tx.erasures.running("s10050"))
    yield Call(name + "add_counts", "one", lambda tx: tx.erasures.add_counts(erasure, {"messages": 1}))
    yield Call(name + "finish", "one", lambda tx: tx.erasures.finish(erasure, AT))
    yield Call(name + "attest", "one", lambda tx: tx.erasures.attest(erasure, 1, HASH))
    name = "ErasingRepository."
    yield Call(name + "sessions", "some", lambda tx: tx.erasing.sessions(USER, 20))
    yield Call(name + "memories", "some", lambda tx: tx.erasing.memories(USER, 100))
    yield Call(name + "threads", "some", lambda tx: tx.erasing.threads("u15", 20))
    yield Call(name + "drawn_elsewhere", "some", lambda tx: tx.erasing.drawn_elsewhere("18", [SESSION]))
    yield Call(name + "erase_traces", "some", lambda tx: tx.erasing.erase_traces([SESSION]))
    yield Call(name + "erase_sessions", "one", lambda tx: tx.erasing.erase_sessions([SESSION]))
    yield Call(name + "erase_memories", "some", lambda tx: tx.erasing.erase_memories([MEMORY, CARD]))
    yield Call(name + "threads_of", "one", lambda tx: tx.erasing.threads_of([SESSION]))
    yield Call(name + "memories_of", "one", lambda tx: tx.erasing.memories_of(SESSIONS_OF_30))
    yield Call(name + "erase_threads", "one", lambda tx: tx.erasing.erase_threads([THREAD]))
    yield Call(name + "erase_rest", "one", lambda tx: tx.erasing.erase_rest(USER))
    yield Call("JobRepository.blank", "one", lambda tx: tx.jobs.blank(JOB))
    name = "SealedRepository."
    ring = KeyRing((SealingKey(HASH),))
    row = {"id": MEMORY, "sealed": ring.seal(b"{}", place_of(TENANT, MEMORY))}
    yield Call(name + "page", "all", lambda tx: tx.sealed.page(None, 100))
    yield Call(name + "page", "next", lambda tx: tx.sealed.page(an_id(1, 100), 100))
    yield Call(name + "count", "all", lambda tx: tx.sealed.count())
    yield Call(name + "reseal", "changed meanwhile", lambda tx: tx.sealed.reseal(ring, row))


def transfer_calls() -> Iterator[Call]:
    name = "TransferRepository."
    yield Call(name + "owners", "some", lambda tx: tx.transfer.owners("u:1", 200))
    yield Call(name + "users", "some", lambda tx: tx.transfer.users("u1", 200))
    for kept, of in ((SESSIONS, OWNER), (MEMORIES, OWNER), (PROCEDURES, OWNER), (LESSONS, OWNER)):
        table = kept.table.name
        yield Call(name + "page", table, lambda tx, kept=kept, of=of: tx.transfer.page(kept, of, None, 200))
    yield Call(name + "page", "memories, next", lambda tx: tx.transfer.page(MEMORIES, OWNER, [an_id(1, 100)], 200))
    for kept, of in ((BLOCKS, f"u{N // 5}"), (THREADS, "u15"), (ITEMS, "u15")):
        table = kept.table.name
        yield Call(name + "page", table, lambda tx, kept=kept, of=of: tx.transfer.page(kept, of, None, 200))
    yield Call(name + "children", "memories", lambda tx: tx.transfer.children(memory_events, "memory_id", [MEMORY]))
    yield Call(name + "children", "sessions", lambda tx: tx.transfer.children(summaries, "session_id", [SESSION]))
    yield Call(name + "messages", "some", lambda tx: tx.transfer.messages(SESSION, 2, 200))
    yield Call(name + "conflicts", "one", lambda tx: tx.transfer.conflicts([MEMORY]))
    fresh = {"id": "brand new", "first_seen_at": AT, "updated_at": AT}
    yield Call(name + "put", "new", lambda tx: tx.transfer.put(TABLES["users"], [fresh]))
    yield Call(name + "link", "one", lambda tx: tx.transfer.link([(MEMORY, CARD)]))
    for parent, key in ((SESSION_PARENT, SESSION), (MEMORY_PARENT, MEMORY)):
        case, run = parent.table.name, lambda tx, parent=parent, key=key: tx.ties.owners_of(parent, [key], locked=True)
        yield Call("TieRepository.owners_of", case, run)
    for table, row in (("messages", {"id": MESSAGE}), ("session_states", {"session_id": SESSION, "version": 1})):
        standing = lambda tx, table=table, row=row: tx.ties.standing(TABLES[table], [row])  # noqa: E731
        yield Call("TieRepository.standing", table, standing)
    yield Call("TieRepository.follow", "one", lambda tx: tx.ties.follow({SESSION: 10**6}))
    yield Call("UserRepository.refuse_erased", "one", lambda tx: tx.users.refuse_erased(["brand new"], AT))
    posting = Posting(MESSAGE, {"brandnew": 1}, 1)
    yield Call("MessageRepository.index", "one", lambda tx: tx.messages.index(OWNER, [posting]))


CALLS: list[Call] = [
    *audit_calls(),
    *erasure_calls(),
    *transfer_calls(),
    *checkpoint_calls(),
    *snapshot_calls(),
    *store_calls(),
    *memory_calls(),
    *history_calls(),
    *fact_calls(),
    *forgetting_calls(),
    *dreaming_calls(),
    *profile_calls(),
    *conflict_calls(),
    *message_calls(),
    *session_calls(),
    *summary_calls(),
    *job_calls(),
    *search_calls(),
    *search_record_calls(),
    *other_calls(),
    *block_calls(),
    *procedure_calls(),
    *lesson_calls(),
    *global_calls(),
    *calls_of_keys(),
]


def bound(connection: Any, call: Call) -> Transaction:
    return Transaction(Bound(connection, TENANT, call.users))
