"""What holds connections: a context manager that closes them."""

from types import TracebackType
from typing import Self


class Closing:
    """Closed at the end of a `with`."""

    __slots__ = ()

    def close(self) -> None:
        """Close the connections."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncClosing:
    """Closed at the end of an `async with`."""

    __slots__ = ()

    async def close(self) -> None:
        """Close the connections."""
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
