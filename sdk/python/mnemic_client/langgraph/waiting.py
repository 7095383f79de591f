"""Between threads and the event loop that a saver or a store belongs to."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

Answer = TypeVar("Answer")


def from_outside(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Answer]) -> Answer:
    """Wait, in a thread that is not the loop's, for what the loop does."""
    try:
        here: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
    except RuntimeError:
        here = None
    if here is loop:
        work.close()
        raise RuntimeError("This would wait for its own event loop: await the method with an 'a' before its name.")
    return asyncio.run_coroutine_threadsafe(work, loop).result()
