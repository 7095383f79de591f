"""The Chinese rules."""

from typing import Final

from app.domain.extraction.chinese import changes, others, person, tastes, times, work
from app.domain.extraction.patterns import Rules

RULES: Final = Rules(changes.RULES, person.RULES, tastes.RULES, others.RULES, work.RULES, times.RULES)
