"""The English rules."""

from typing import Final

from app.domain.extraction.english import (
    changes,
    health,
    notes,
    others,
    person,
    plans,
    practices,
    tastes,
    things,
    times,
    work,
)
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
    notes.RULES,
    times.LAST,
)
