"""Whom the processes of a test run call: every Python process that inherits our environment is watched from inside."""

import ast
import os
import tempfile
from pathlib import Path

HOOK = """
import os, sys

def watch(event, arguments, file=os.environ.get("WATCHED_CALLS_OF_ALL")):
    if file and event in ("socket.connect", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname"):
        with open(file, "a") as calls:
            told = [argument for argument in arguments if not hasattr(argument, "fileno")]
            calls.write(repr((sys.argv, sys.orig_argv, event, told)) + "\\n")

sys.addaudithook(watch)
"""

HERE = frozenset({"127.0.0.1", "localhost", "::1", "0.0.0.0", "::", "", None})  # noqa: S104 - addresses to listen on
AWAY = frozenset({"example.invalid", "nowhere.invalid"})
"""Names that tests configure because nobody has them."""


def begin() -> Path:
    """Put the hook where each Python process of ours finds it; the file that their calls go to."""
    folder = Path(tempfile.mkdtemp(prefix="mnemic-test-watch-"))
    folder.chmod(0o755)
    (folder / "sitecustomize.py").write_text(HOOK)
    calls = folder / "calls"
    calls.touch()
    calls.chmod(0o666)
    environment = os.environ  # noqa: TID251 - the children's
    environment["PYTHONPATH"] = os.pathsep.join([str(folder), *filter(None, [environment.get("PYTHONPATH")])])
    environment["WATCHED_CALLS_OF_ALL"] = str(calls)
    return calls


def calls_elsewhere(calls: Path) -> list[str]:
    """What processes of the service have asked of other machines."""
    found = []
    for line in calls.read_text().splitlines():
        argv, original, event, arguments = ast.literal_eval(line)
        if _is_the_service(argv, original) and _host(arguments) not in HERE | AWAY:
            found.append(f"{' '.join(original)}: {event} {arguments}")
    return found


def _is_the_service(argv: list[str], original: list[str]) -> bool:
    return Path(argv[0]).name == "mnemic" or "app.cli" in original


def _host(arguments: list[object]) -> object:
    first = arguments[0] if arguments else None
    host = first[0] if isinstance(first, tuple) else first
    return host.decode() if isinstance(host, bytes) else host
