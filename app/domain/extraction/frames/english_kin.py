"""What English sentences say of those who are close: where they live, work and study."""

from typing import Final

from app.domain.extraction.frames.verb_frame import VALUE, verb_frame

_KIN: Final = (
    r"(?:my|our) (?P<noun>(?:(?:older|younger|big|little|eldest|youngest|twin|best|middle) )?(?:wife|husband|partner|"
    r"girlfriend|boyfriend|fianc[eé]e?|mom|mum|mother|dad|father|brother|sister|son|daughter|grandma|grandpa|"
    r"grandmother|"
    r"grandfather|parents|friend(?<=best friend)))"
)
_NOW: Final = r"(?: now| currently| just| recently| also| still|'s| is| has| have)*"

KIN: Final = (
    verb_frame(rf"{_KIN}{_NOW} (?:lives?|living|based|resides?) in {VALUE}", "user.{noun}.city", "relation", name=True),
    verb_frame(
        rf"{_KIN}{_NOW} (?:moved|moving|relocated|relocating)(?: back)?(?: from (?P<before>[\w' -]+?))? to {VALUE}",
        "user.{noun}.city",
        "relation",
        "replaces",
        name=True,
    ),
    verb_frame(
        rf"{_KIN}{_NOW} (?:works?|working) (?:at|for|with) {VALUE}", "user.{noun}.employer", "relation", name=True
    ),
    verb_frame(
        rf"{_KIN}{_NOW} (?:joined|started (?:at|working (?:at|for))|got a job at) {VALUE}",
        "user.{noun}.employer",
        "relation",
        "replaces",
        name=True,
    ),
    verb_frame(rf"{_KIN}{_NOW} (?P<value>retired)\b.*", "user.{noun}.job", "relation", "replaces"),
    verb_frame(
        rf"{_KIN}{_NOW} (?:stud(?:y|ies|ying)|majors? in|majoring in) (?P<value>(?!at\b|in\b|hard|for\b|"
        rf"abroad)[a-z][a-z &]+?)"
        r"(?: (?:at|in) .*)?",
        "user.{noun}.major",
        "relation",
    ),
    verb_frame(
        rf"{_KIN}{_NOW} (?:switched|changed)(?: (?:majors?|her major|his major|"
        rf"their major))?(?: from (?P<before>[\w ]+?))? to "
        r"(?P<value>(?:medicine|law|biology|physics|chemistry|maths?|mathematics|history|economics|philosophy|"
        r"psychology|"
        r"engineering|nursing|art|music|business|computer science|literature|geography|sociology|politics|"
        r"architecture))\b.*",
        "user.{noun}.major",
        "relation",
        "replaces",
    ),
)
