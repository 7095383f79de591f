"""Clauses about somebody or something that was named before."""

import re
from typing import Final

from app.domain.extraction.candidates import Candidate
from app.domain.extraction.clauses import Clause

_PRONOUN_EN: Final = re.compile(r"(?:(?:he|she|it|they|his|her|their|its)(?:'s|'re|'ll)?|both|which|who) ")
_THIRD_EN: Final = re.compile(
    r"(?:also |now |just |recently |currently )*(?:lives|works|loves|likes|hates|"
    r"prefers|uses|studies|is|has|was|plays|speaks|teaches|got|moved|started|"
    r"wants)\b"
)
_PRONOUN_ZH: Final = re.compile(r"(?:[他她它]们?|其中|对方|名字叫?|叫做?|名叫)(?!人)")
_NAMING: Final = re.compile(
    r"(?:his|her|its|their) names? (?:is|are) (.{1,30})$|[他她它]?(?:的名字)?(?:是)?叫(.{1,12})$"
)


def is_of_another(clause: Clause) -> bool:
    """Whether a clause is about somebody or something that was named just before."""
    return bool((_PRONOUN_ZH if clause.chinese else _PRONOUN_EN).match(clause.plain)) or (
        not clause.chinese and bool(_THIRD_EN.match(clause.plain))
    )


def is_of_a_person(candidate: Candidate) -> bool:
    """Whether a pronoun of a later turn may stand for whom a candidate is about."""
    return candidate.source == "user_stated" and candidate.category == "relation"


def name_in(clause: Clause) -> str | None:
    """The name that a clause gives to what was named before, as it is written."""
    match = _NAMING.match(clause.plain)
    return clause.text[slice(*match.span(match.lastindex or 0))] if match else None
