import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from app.core.errors import ConfigurationError


class DataDirLock:
    """Sole use of a data folder for as long as the context lasts; the kernel gives it back when the process dies.

    Raises `ConfigurationError` on entering if another one holds it, or if the folder cannot be written.
    """

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir.absolute()
        self._descriptor = -1

    def __enter__(self) -> Self:
        path = self.data_dir / "lock"
        try:
            self.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise ConfigurationError(
                f"The data folder {self.data_dir} cannot be written ({error.strerror}): choose another with DATA_DIR.",
            ) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.pread(descriptor, 32, 0).decode().strip() or "unknown"
            os.close(descriptor)
            raise ConfigurationError(
                f"The data folder {self.data_dir} is in use by process {holder}: "
                "stop that one first, or choose another folder with DATA_DIR.",
            ) from error
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        self._descriptor = descriptor
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        os.close(self._descriptor)
        self._descriptor = -1
