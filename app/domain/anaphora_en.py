"""English questions that cannot be understood alone."""

import re
from typing import Final

from app.core.text.stopwords import ENGLISH


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


EMPTY: Final = ENGLISH | _words(
    """
    again anything anyone else ever everything example exactly far fine go going good happen happened happens
    kind know last later like long lot many maybe mean means more much need next nothing now often ok okay old one ones
    other others please really right same say says said second see show so something soon sort still sure tell thing
    things think today tomorrow too used want way went work works well yes yesterday yet first third
    explain help let give get got make makes made come came take takes
    """
)
"""Words that say nothing of what a question is about."""

GREETINGS: Final = _words("hello hi hey thanks thank bye goodbye welcome morning")

_TIME: Final = (
    "week|month|year|morning|afternoon|evening|weekend|quarter|semester|spring|summer|autumn|fall|winter|decade|"
    "century|season|term|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|"
    "june|july|august|september|october|november|december|christmas|time"
)
_SUBJECT: Final = (
    "i|you|he|she|we|they|it|my|our|your|his|her|their|the|a|an|there|"
    "is|was|are|were|has|have|had|can|will|would|should"
)

_EXPLETIVE = re.compile(
    r"\b(?:is|was|will|does|did|would|has|could|might|be|been)\s+it\s+(?:be\s+|been\s+|going\s+to\s+)?"
    r"(?:rain|snow|freez|cold|hot|warm|sunny|cloudy|windy|dark|monday|friday|time\b|my\b|your\b)\w*"
    r"|\b(?:what|which)\s+(?:time|day|date|year|month)\s+(?:is|was)\s+it\b"
    r"|\bit(?:'s|\s+is|\s+was)?\s+(?:\w+\s+){1,2}(?:to|that|if|when|for)\s"
    r"|\b(?:does|did|will|would|do)\s+it\s+(?:usually\s+|normally\s+)?(?:take|cost)\b.*\bto\b"
    r"|\bit\s+(?:take|takes|took|cost|costs)\b.*\bto\b"
    r"|\bhow(?:'s|\s+is)\s+it\s+going\b",
)
_IT = re.compile(r"\b(?:it|its|itself)\b")
_THIS = re.compile(
    rf"\b(?:this|these)\b(?!\s+(?:(?:past|coming|last)\s+)?(?:{_TIME})s?\b)|\bthose\b(?!\s+(?:who|that|which)\b)"
)
_THAT = re.compile(r"\bthat\b(?:'s)?")
_BEFORE_CLAUSE = re.compile(
    r"\b(?:say|says|said|saying|tell|told|know|knew|think|thought|mention|mentioned|remember|remembered|sure|true|"
    r"hope|believe|so|agree|agreed|decide|decided|me|you|him|us|them|everything|anything|something|all|day|time)\s*$"
)
_THERE = re.compile(
    r"(?<!is )(?<!are )(?<!was )(?<!were )(?<!been )(?<!be )(?<!out )"
    r"\bthere\b(?!'s|\s+(?:is|are|was|were|will|be|a|any)\b)"
)
_PERSON = re.compile(r"\b(?:he|him|his|she|her|hers|they|them|their|theirs)\b")
_ONE = re.compile(
    r"\b(?:the|which|another|other|first|second|third|last|previous|same|that|this|new|old|next|better|best|right)\s+"
    r"ones?\b(?!\s+(?:of|that|who|which|with|for|i|we)\b)"
    r"|\bthe\s+(?:other|others|former|latter|same|second|first|third|rest|two)\s*[?.!]*$"
    r"|\bthe\s+(?:same\s+(?:thing|way|place)|(?:second|first|third)\s+(?:option|choice|part|step|point|idea))\b"
    r"|\b(?:as|like|than)\s+(?:before|above|earlier)\b|\bthe\s+above\b|\bdo\s+so\b"
    r"|\b(?:both|either|neither|all)\s+of\s+(?:them|those|these)\b"
)
_ASKED_AFTER = re.compile(r"^(?:and\s+|so\s+|but\s+|then\s+|ok(?:ay)?,?\s+)?(?:what|how)\s+about\b")
_GOES_ON = re.compile(r"^(?:and|but|or|also|then|so|or else|what if|why not|what else|who else|where else|since)\b")
_BARE_VERB = re.compile(
    r"^(?:and\s+|so\s+|but\s+|then\s+)?(?:how|why|when|where|who|what|which)\s+(?:long\s+|often\s+|much\s+)?"
    r"(?:(?:do|does|did|can|could|should|would|will|shall|must|may)\s+(?:i|we|you|one)|to|(?:should|can|could|will)\s+i)\s+"
    r"(?P<verb>[a-z]+)(?:\s+(?:first|again|now|then|exactly|there|up|out|off|on|in|with|for))*\s*\?*$"
)
WHOLE_VERBS: Final = _words(
    """
    live work study commute sleep exercise travel sit park swim vote retire graduate smoke drink eat drive speak die
    relax wake dream walk run train
    """
)
"""Verbs that want nothing after them: `Where do I live?` is a whole question."""

_NOUN_PHRASE = re.compile(r"\b(?:the|a|an|my|our|any|some|every)\s+(?:[\w'-]+\s+){1,3}$")
_ANTECEDENT = re.compile(r"\b(?:my|our|the|a|an|your)\s+(?:[a-z'-]+\s+)*?[a-z'-]+", re.IGNORECASE)
_NAME = re.compile(r"(?<=\s)(?!I\b|I'|IT\b)[A-Z][\w-]+")
_BREAK = re.compile(r",|;|\b(?:and|when|if|after|before|because|since|while|but|so|until|once|than|although)\b")
_POSSESSIVE = re.compile(r"\b(?:his|her|their|its)\s+[a-z]")
_WORD = re.compile(r"[^\W\d_][\w'-]*|\d[\w.]*")


def depends(query: str) -> bool:
    """Whether the question points to something before it, or has nothing that it is about."""
    lower = re.sub("[’`]", "'", query).lower()
    words = _WORD.findall(lower)
    if not words or GREETINGS & set(words[:2]):
        return False
    if _points_to_a_thing(query, lower) or _points_to_a_person(query, lower):
        return True
    bare = _BARE_VERB.search(lower)
    if bare is not None:
        return bare["verb"] not in WHOLE_VERBS
    content = [word for word in words if word.removesuffix("'s") not in EMPTY and not word.endswith("n't")]
    return not content or bool(_ASKED_AFTER.search(lower) or (_GOES_ON.search(lower) and len(content) <= 1))


def _points_to_a_thing(query: str, lower: str) -> bool:
    if _ONE.search(lower) or _THIS.search(lower) or _THERE.search(lower):
        return True
    if any(_is_pronoun(lower, match) for match in _THAT.finditer(lower)):
        return True
    # `IT` is a department.
    it = next((found for found in _IT.finditer(lower) if query[found.start() : found.end()] != "IT"), None)
    return it is not None and not _EXPLETIVE.search(lower) and not _is_resolved(query, lower, it)


def _points_to_a_person(query: str, lower: str) -> bool:
    person = _PERSON.search(lower)
    return person is not None and not _is_resolved(query, lower, person)


def _is_pronoun(lower: str, that: "re.Match[str]") -> bool:
    """Not so in `the city that I love`, `a tool that formats code` and `did I say that I like tea`."""
    before, after = lower[: that.start()], lower[that.end() :]
    said_so = _BEFORE_CLAUSE.search(before) is not None
    last = _WORD.findall(before)[-1:]
    after_noun = bool(last) and last[0] not in EMPTY
    if re.match(rf"\s+(?:{_SUBJECT})\b", after):
        return not (said_so or after_noun)
    if said_so:
        return re.match(r"\s+[\w'-]+(?:s|ed)\b", after) is None
    return not (after_noun and _NOUN_PHRASE.search(before) and re.match(r"\s+[a-z]+", after))


def _is_resolved(query: str, lower: str, pronoun: "re.Match[str]") -> bool:
    """Whether the question itself has named what the pronoun stands for."""
    before = query[: pronoun.start()]
    if not (_ANTECEDENT.search(before) or _NAME.search(before)):
        return False
    return bool(_POSSESSIVE.match(lower, pronoun.start()) or _BREAK.search(lower[: pronoun.start()]))
