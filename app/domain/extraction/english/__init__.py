"""The English rules."""

from typing import Final

from app.domain.extraction.english import changes, others, person, plans, tastes, things, times, work
from app.domain.extraction.patterns import Rules

RULES: Final = Rules(
    changes.RULES,
    person.RULES,
    things.RULES,
    tastes.RULES,
    times.RULES,
    others.RULES,
    plans.RULES,
    work.RULES,
    times.LAST,
)
