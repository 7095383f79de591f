import asyncio

import pytest
from starlette.types import Message, Receive, Scope, Send

from benchmarks.stopwatch import Spent, Stopwatch, Waits


async def received() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def sent(_message: Message) -> None:
    return


async def test_requests_at_the_same_time_do_not_pay_for_each_others_waits() -> None:
    watch = Stopwatch()
    both_inside, first_is_done = asyncio.Barrier(2), asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/embeds":
            with watch.embedding():
                await both_inside.wait()
            first_is_done.set()
        else:
            await both_inside.wait()
            await first_is_done.wait()

    timed = watch.application(app)
    await asyncio.gather(*(timed({"type": "http", "path": path}, received, sent) for path in ("/embeds", "/rests")))
    spent = sorted(watch.finished, key=lambda one: one.embedding.seconds)
    assert [one.embedding.seconds > 0 for one in spent] == [False, True]
    assert spent[0].rest == spent[0].total


async def test_a_task_that_a_request_began_is_counted_to_it() -> None:
    watch = Stopwatch()

    async def embed() -> None:
        with watch.embedding():
            await asyncio.sleep(0)

    async def app(_scope: Scope, _receive: Receive, _send: Send) -> None:
        await asyncio.create_task(embed())

    await watch.application(app)({"type": "http"}, received, sent)
    (spent,) = watch.finished
    assert 0 < spent.embedding.seconds <= spent.total


def test_waits_that_overlap_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter(range(10))
    monkeypatch.setattr("benchmarks.stopwatch.time.perf_counter", lambda: next(ticks))
    spent = Spent(total=10.0)
    with spent.waiting(spent.sql), spent.waiting(spent.embedding):  # from 0, either from 1; from 2 to 3
        pass
    assert (spent.either.seconds, spent.sql.seconds, spent.embedding.seconds) == (3, 5, 1)
    assert spent.rest == 7


def test_a_wait_within_a_wait_of_its_kind_is_not_counted_twice() -> None:
    waits = Waits()
    waits.begin()
    waits.begin()
    waits.end()
    assert waits.seconds == 0
    waits.end()
    assert waits.seconds > 0
