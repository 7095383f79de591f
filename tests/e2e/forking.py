"""The API in a child that is there again at once when it is killed: everything is made before it is forked."""

import os
import signal
import sys

import uvicorn

from app.main import create_app
from app.settings import get_settings


def server() -> uvicorn.Server:
    """The API, on the environment's database and port, ready to run."""
    settings = get_settings()
    made = uvicorn.Config(create_app(settings), settings.host, settings.port, log_config=None, access_log=False)
    made.load()
    return uvicorn.Server(made)


def main() -> None:
    """Fork, tell the child's id, wait for its end, and fork again."""
    child = 0
    ready = server()

    def end(*_: object) -> None:
        if child:
            os.kill(child, signal.SIGKILL)
        os._exit(0)

    signal.signal(signal.SIGTERM, end)
    while True:
        child = os.fork()
        if not child:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.dup2(2, 1)  # the log, beside the ids
            ready.run()
            os._exit(0)
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
