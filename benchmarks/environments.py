"""Virtual environments of other systems, made once and kept in a cache folder; packages by pip's configured index."""

import subprocess
import sys
import venv
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final

SAME_AS_OURS: Final = ("fastapi", "uvicorn", "uvloop", "httptools", "numpy")
"""What stands around each system is what stands around Mnemic."""

DRIVER: Final = "psycopg[binary,pool]==3.3.9"
PEERS: Final[Mapping[str, Sequence[str]]] = {
    "mem0": ("mem0ai==2.2.1", DRIVER),
    "langgraph": ("langgraph-checkpoint-postgres==3.2.0", DRIVER),
}


def environment_python(name: str, folder: Path) -> Path:
    """The interpreter of a peer's environment, which is made if it is not there.

    Raises:
        RuntimeError: pip could not install it; the message has the end of what it said.
    """
    place = folder / name
    python = place / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    wanted = [*PEERS[name], *(f"{package}=={version(package)}" for package in SAME_AS_OURS)]
    mark = place / "installed.txt"
    if mark.exists() and mark.read_text("utf-8").split() == wanted:
        return python
    print(f"Installing {wanted[0]} into {place} (once)")
    venv.create(place, clear=True, with_pip=True)
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - pip of that environment
    if done.returncode != 0:
        raise RuntimeError(f"{name} cannot be installed: {done.stderr[-2_000:]}")
    mark.write_text("\n".join(wanted), "utf-8")
    return python
