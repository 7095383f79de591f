"""Whether the service can serve, part by part."""

from dataclasses import dataclass
from typing import Final

from app.core.errors import ConfigurationError, Problem
from app.schemas.health import Readiness
from app.services.embedding import Embedder
from app.uow import UnitOfWork

BEHIND_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class HealthService:
    """The use case of being asked."""

    uow: UnitOfWork
    embedder: Embedder
    revision: str

    async def readiness(self) -> Readiness:
        """What works and what does not; never raises."""
        checks = {"database": "ok", "migrations": "unknown", "embedder": "unknown", "queue": "unknown"}
        embeds = False
        try:
            async with self.uow.begin_global() as tx:
                revision = await tx.access.revision()
                checks["migrations"] = self._migrations(revision)
                if checks["migrations"] == "ok":
                    waiting = await tx.access.oldest_due_seconds()
                    checks["queue"] = "ok" if waiting < BEHIND_SECONDS else f"behind by {waiting:.0f} s"
            if checks["migrations"] == "ok":
                checks["embedder"], embeds = await self._embedder()
        except Problem as problem:
            checks["database"] = problem.detail
        except ConfigurationError as error:
            checks["database"] = str(error)
        if self.uow.replica is not None:
            checks["replica"] = await self.uow.replica.look()
        ready = embeds and all(checks[name] == "ok" for name in ("database", "migrations"))
        return Readiness(status="ready" if ready else "not_ready", checks=checks)

    def _migrations(self, found: str | None) -> str:
        if found == self.revision:
            return "ok"
        return f"the database is at {found or 'nothing'}, this code needs {self.revision}: run 'mnemic migrate'"

    async def _embedder(self) -> tuple[str, bool]:
        """What there is to say, and whether requests can be served: without the model, words alone find."""
        try:
            record = await self.embedder.record()
        except ConfigurationError as error:
            return str(error), False
        if record.name not in self.embedder.models:
            return f"this process cannot load {record.name}, which serves: name it in EMBEDDING_ALSO", True
        return "ok", True
