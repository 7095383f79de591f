"""The Chinese rules."""

from typing import Final

from app.domain.extraction.chinese import changes, health, notes, others, person, practices, tastes, times, work
from app.domain.extraction.patterns import Rules

RULES: Final = Rules(
    changes.RULES,
    health.RULES,
    person.RULES,
    tastes.RULES,
    others.RULES,
    work.RULES,
    practices.RULES,
    notes.RULES,
    times.RULES,
)
