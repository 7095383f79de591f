"""The worker as a process of its own: stops cleanly on a signal."""

import asyncio
import signal

from app.composition import services
from app.settings import Settings
from app.workers.worker import Worker


async def run_worker(settings: Settings) -> None:
    """Work until SIGTERM or SIGINT, then finish what runs."""
    async with services(settings) as running, running.metrics.served(settings.metrics_host, settings.metrics_port):
        await running.embedder.look()
        worker = Worker(running)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, worker.stop)
        await worker.run()
