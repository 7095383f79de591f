"""The English rules."""

from typing import Final

from app.domain.extraction.english import changes, health, others, person, plans, practices, tastes, things, times, work
from app.domain.extraction.patterns import Rules

RULES: Final = Rules(
    changes.RULES,
    health.RULES,
    person.RULES,
    things.RULES,
    tastes.RULES,
    times.RULES,
    others.RULES,
    plans.RULES,
    work.RULES,
    practices.RULES,
    times.LAST,
)
