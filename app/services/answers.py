"""One answer per idempotency key: the first call's, whatever happened to the connection it went out on."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypeVar

from pydantic import BaseModel

from app.core import clock
from app.core.errors import Conflict, Contention
from app.core.sealing import Unsealable
from app.domain.calls import serving
from app.domain.principal import Principal
from app.repositories.idempotency import IdempotencyClaim
from app.uow import Transaction, UnitOfWork

KEPT_FOR: Final = timedelta(hours=24)

TELLS_SEALED: Final = '"sensitive":true'
"""In the answers of calls that store, or show, something sealed."""

ATTEMPTS: Final = 4
"""A transaction that fell into a deadlock is done again so often, the first time included."""

PAUSE_SECONDS: Final = 0.1

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Answer:
    """A response body (None: there is none) with its status; `replayed` where it was given before."""

    status: int
    body: BaseModel | None
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Write:
    """A call that changes something: whose, under which idempotency key, and on which version it insists."""

    principal: Principal
    claim: IdempotencyClaim | None = None
    if_match: int | None = None

    def expected(self, named: int | None) -> int | None:
        """The version that must be current: If-Match, else the one that the body names."""
        return named if self.if_match is None else self.if_match


async def write_once(
    uow: UnitOfWork,
    write: Write,
    model: type[BaseModel] | None,
    work: Callable[[Transaction], Awaitable[Answer]],
    *,
    planned_once: bool = False,
) -> Answer:
    """Do `work` in a transaction of its own, once per idempotency key; `model` is what its answers are.

    Where the transaction and another one stood in each other's way, all of it is done again after a moment: `work` must
    bear that. `planned_once` as `Database` has it.
    """
    for _ in range(ATTEMPTS - 1):
        try:
            return await _attempt(uow, write, model, work, planned_once=planned_once)
        except Contention:
            await asyncio.sleep(random.uniform(0, PAUSE_SECONDS))  # noqa: S311 - no secret: who goes first
    return await _attempt(uow, write, model, work, planned_once=planned_once)


async def _attempt(
    uow: UnitOfWork,
    write: Write,
    model: type[BaseModel] | None,
    work: Callable[[Transaction], Awaitable[Answer]],
    *,
    planned_once: bool,
) -> Answer:
    async with uow.begin(write.principal, planned_once=planned_once) as tx:
        shape = None if model is None else model.model_validate_json
        return await _answer_once(tx, write.claim, clock.now(), shape, lambda: work(tx))


async def _answer_once(
    tx: Transaction,
    claim: IdempotencyClaim | None,
    at: datetime,
    shape: Callable[[str], BaseModel] | None,
    work: Callable[[], Awaitable[Answer]],
) -> Answer:
    """Do `work` and keep its answer with it, in one transaction; or give the answer that the key had before.

    Args:
        tx: The transaction of the work.
        claim: The call's key; None does the work unconditionally.
        at: The time of the call.
        shape: Reads a stored body; None where the call's answers have none.
        work: What the call does.

    Raises:
        Conflict: The key was used for another request.
    """
    if claim is None:
        return await work()
    stored = await tx.idempotency.claim(claim, at, at - KEPT_FOR)
    if stored is not None:
        if bytes(stored["request_hash"]) != claim.request_hash:
            raise Conflict("This Idempotency-Key was used for another request.", code="idempotency_key_reused")
        return Answer(
            stored["status"], None if shape is None else shape(_read(tx, claim, stored["body"])), replayed=True
        )
    answer = await work()
    body = "" if answer.body is None else answer.body.model_dump_json()
    call = serving()
    whose = next(iter(tx.met)) if len(tx.met) == 1 else None if call is None or tx.met else call.user_id
    await tx.idempotency.store(claim, answer.status, _kept(tx, claim, body), whose)
    return answer


def _kept(tx: Transaction, claim: IdempotencyClaim, body: str) -> str:
    """An answer as it is stored: one that tells what is sealed is sealed itself."""
    return tx.closed(body, _place(claim)) if TELLS_SEALED in body else body


def _read(tx: Transaction, claim: IdempotencyClaim, body: str) -> str:
    try:
        return tx.disclosed(body, _place(claim))
    except Unsealable as error:
        detail = "The first answer was sealed with a key that is no longer here."
        raise Conflict(detail, code="answer_sealed") from error


def _place(claim: IdempotencyClaim) -> str:
    return f"answer:{claim.principal_id}:{claim.method}:{claim.route}:{claim.key}"
