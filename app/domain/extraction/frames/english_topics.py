"""English announcements of a change and what completes them: "I got a new phone, it's a Pixel"."""

import re
from dataclasses import replace
from typing import Final

from app.domain.extraction.clauses import Clause
from app.domain.extraction.frames.english import filled, frame_of, is_event, value_of
from app.domain.extraction.frames.frame import Frame
from app.domain.extraction.frames.nouns import HEADS, LONGEST_NOUN, plain_noun, singular
from app.domain.extraction.slots import favourite_key, key_of_name

_SUBJECT: Final = (
    r"(?:(?:quick update|update|good news|news|big news|btw|so|well|also|yesterday|last (?:week|month)|this week|fyi|"
    r"heads up)[,:]? )*"
    r"(?:(?:i|we|they)(?:'ve| have|'d| had)?(?: just| finally| recently| also| now| had to| decided to| already)* )?"
)
_VERB: Final = (
    r"(?:changed|switched|swapped|renamed|moved|rescheduled|updated|replaced|traded in|upgraded|reinstalled|dyed|"
    r"cut|repainted|"
    r"postponed|pushed|redid|migrated|rewrote|rebuilt|change|switch|finished migrating|finished moving|"
    r"transferred|left|"
    r"ditched|dropped|got rid of|sold|bought out|hired)"
)
_GOT: Final = r"(?:got|have|bought|picked up|found|chose|picked|ordered|adopted|hired|signed up for|joined|started)"
_WHEN: Final = (
    r"(?: (?:again|already|around|over|this|last|the other|a few|two|three|yesterday|today|recently|"
    r"finally|in)\b[\w ]{0,20})?"
)
_NOUN: Final = r"(?P<noun>[a-z][\w'-]*(?: [\w'-]+){0,3}?)"
_ANNOUNCED: Final = (
    re.compile(rf"{_SUBJECT}{_VERB} (?:my |our |the )?{_NOUN}{_WHEN}(?: (?:name|around))?$"),
    re.compile(
        rf"(?:{_SUBJECT}changed my mind (?:about|on)|(?:correction|update|news) (?:about|on|for|regarding)) (?:my "
        rf"|our |the )"
        rf"{_NOUN}$"
    ),
    re.compile(rf"{_SUBJECT}{_GOT} (?:a |an |my |our |the )?(?P<new>new|different|another) {_NOUN}{_WHEN}$"),
    re.compile(
        rf"(?:my|our|the) {_NOUN} (?:has |have |just |was |were |got |has been )*(?:changed|moved|switched|different|"
        rf"renamed|rescheduled|replaced|updated|upgraded){_WHEN}$"
    ),
    re.compile(rf"(?:there's|we have|i have|i've got|we've got) (?:a )(?P<new>new|different) {_NOUN}{_WHEN}$"),
)
_NAMED: Final = (
    re.compile(rf"{_SUBJECT}(?:gave|given|picked|chose) (?:my|our|the|a) {_NOUN} a (?:new|different) name$"),
    re.compile(rf"{_SUBJECT}(?:changed|switched) (?:my |our |the )?{_NOUN}'s name$"),
    re.compile(rf"{_SUBJECT}(?:renamed|rechristened|renaming) (?:my |our |the )?{_NOUN}{_WHEN}$"),
    re.compile(rf"(?:my|our|the) {_NOUN} (?:has |was |got |has been )*(?:renamed|a new name){_WHEN}$"),
)
_FIXED: Final = (
    (
        re.compile(
            rf"{_SUBJECT}(?:moved|relocated|moved house|moved home|packed up and left|moved out|moved away){_WHEN}$"
        ),
        "home",
    ),
    (
        re.compile(
            rf"{_SUBJECT}(?:changed|switched|quit|left|lost|got a new|found a new|started a new|have a new) (?:my )?"
            rf"(?:job|jobs|employers?|companies|company){_WHEN}$|{_SUBJECT}(?:handed in my notice|got hired){_WHEN}$"
        ),
        "company",
    ),
    (
        re.compile(rf"{_SUBJECT}(?:changed|switched) careers?{_WHEN}$|{_SUBJECT}(?:got|was|been) promoted{_WHEN}$"),
        "job",
    ),
    (re.compile(r".{0,40}\b(?:got|gave (?:me|us)|granted|received|have) an extension\b.{0,20}$"), "deadline"),
    (re.compile(rf"{_SUBJECT}(?:changed|switched|moved) (?:phone )?numbers?{_WHEN}$"), "phone number"),
)
_IT: Final = re.compile(
    r"(?:and |so |now )*(?:(?:it|she|he|they|that|this|its name|the name|the new (?:one|name|number|date|time|"
    r"address|day)|"
    r"new (?:one|name|number|date|time|address)|mine|ours)(?:'s| is|'re| are| will be| has become)|(?:it|that|he|she) "
    r"(?:ends in|ends with|goes by|leaves|starts|runs(?: on)?|uses|takes place|happens|begins|departs)|now)"
    r"(?: now| currently| called| named| just| actually| simply| already)*(?: called| named| on| at| in| due(?: "
    r"on)?| by)? "
    r"(?P<value>.+)"
)
_DOES: Final = re.compile(
    r"(?:and |so )?(?:now |these days |currently )?(?:(?:i|we)\b|(?=(?:got|bought|joined|took|picked)\b)(?<![\w]))"
    r"(?:'m|'re| am| are)?(?: now| currently| just| both)*"
    r"(?: (?:go to|going to|use|using|have|having|drive|driving|see|seeing|buy from|buying from|order from|work "
    r"(?:at|for|with)|"
    r"bank with|train at|own|work out at|picked|chose|got|went with|call (?:it|him|her|them)|live in|living in|"
    r"with|at|on|in|"
    r"bought|prefer|eat|play|do|read|take|taking|learning|study|wear|a|an)) (?P<value>.+)"
)
_BARE: Final = re.compile(r"(?P<value>(?:an?|the) [\w .+'&/-]{2,40}|[\w .+'&/@:-]{1,40})")
_LONGEST_BARE: Final = 5
"""Words of a clause that is nothing but a value."""

_INLINE: Final = re.compile(
    r"(?P<head>.{6,60}?)(?:,|:| -| —| –| ->| to be called| to| called| named) (?P<tail>(?!and\b|but\b|so\b|i\b|"
    r"we\b).{1,50})"
)
_NEW: Final = re.compile(
    r"(?:(?:my|our|the) )?new (?P<noun>[a-z][\w -]{1,30}?)(?: (?:btw|since \w+|as of \w+|from \w+|here|now|"
    r"starting \w+))?:"
    r" ?(?P<value>.+)"
)
_FAVOURITE: Final = re.compile(
    r"(?:now )?(?P<value>[\w .+#'&-]+?) is (?:now |currently )?my (?:new )?(?:favou?rite|fave?|go-to|number one|first "
    r"choice)"
    r"(?: one)?(?: now| these days| nowadays| at the moment)*"
)
_SURE: Final = re.compile(r"(?:an?|the|number|no\.?) (?=.*[A-Z0-9])|[A-Z0-9]")


def announced(clause: Clause) -> str | None:
    """The noun of which a clause says that it has changed, but not into what; "NOUN name" where it got a name."""
    plain = clause.plain
    for pattern, noun in _FIXED:
        if pattern.match(plain) is not None:
            return noun
    for pattern in _NAMED:
        match = pattern.match(plain)
        if match is not None:
            return f"{match['noun']} name"
    for pattern in _ANNOUNCED:
        match = pattern.match(plain)
        if match is not None and _is_a_slot(match["noun"]):
            return match["noun"]
    return None


def announced_at_once(clause: Clause) -> Frame | None:
    """A change that one clause announces and tells: "I got a new phone, an iPhone 15", "New address: 4 Elm Street"."""
    match = _NEW.fullmatch(clause.plain)
    if match is not None:
        return filled(clause.plain, clause.text, match, noun=match["noun"], change="replaces")
    inline = _INLINE.fullmatch(clause.plain)
    if inline is None:
        return None
    head = clause.plain[: inline.end("head")]
    noun = _announced_plain(head)
    start = inline.start("tail")
    if noun is None:
        return None
    tail = replace(clause, start=clause.start + start, text=clause.text[start:], plain=clause.plain[start:])
    choice = _chosen(tail, noun)
    if choice is not None:
        return choice
    bare = _BARE.fullmatch(clause.plain, start)
    if bare is None or re.search(r" (?:is|are|was) ", bare["value"]) or not _SURE.match(clause.text[start:]):
        return None
    return filled(clause.plain, clause.text, bare, noun=noun, change="replaces")


_GIVEN_UP: Final = re.compile(
    rf"{_SUBJECT}(?:dropped|ditched|dumped|stopped(?: using| doing| playing| learning| eating| drinking| going to|"
    rf" with)?|quit|"
    rf"gave up(?: on)?|sold|got rid of|cancelled|canceled|left|uninstalled|closed|abandoned|am done with|"
    rf"(?:no longer|don't|do not|not) (?:use|using|drive|eat|drink|live in|work (?:at|for|with)|go to|play|learn|"
    rf"have|bank with|"
    rf"take|do)) (?:my |our |the )?(?P<before>[\w .+#'&/-]{{2,40}}?)(?: any ?more| any longer| for good| account| "
    rf"membership|"
    rf" altogether| completely| lately){{0,2}}$|"
    rf"(?:i'm|i am|we're|we are) (?:not|no longer) (?:saving (?:up )?for|learning|training for|using|living in|"
    rf"working (?:at|for)|"
    rf"studying|playing|on|in|at|with) (?:the |a |an )?(?P<was>[\w .+#'&/-]{{2,40}}?)(?: any ?more| any longer)?$"
)


def given_up(clause: Clause) -> str | None:
    """What a clause says is over, as it is written: what follows may take its place."""
    match = _GIVEN_UP.fullmatch(clause.plain)
    if match is None:
        return None
    return clause.text[slice(*match.span("before" if match["before"] else "was"))]


def in_place_of(clause: Clause, before: str) -> Frame | None:
    """What a clause says is there instead of what was given up."""
    own = frame_of(clause)
    if own is not None:
        return Frame(own.key, own.value, own.category, "replaces", own.before or before, own.firm)
    match = _DOES.fullmatch(clause.plain)
    value = value_of(clause.plain, clause.text, match.span("value")) if match is not None else None
    if value is None:
        return None
    key = key_of_name(value[0], of_a_project=clause.plain.startswith("we")) or ""
    return Frame(key, value[1], "preference", "replaces", before)


def completed(clause: Clause, topic: str) -> Frame | None:
    """What a clause after an announcement says it has changed into."""
    plain, text = clause.plain, clause.text
    choice = _chosen(clause, topic)
    if choice is not None:
        return choice
    it = _IT.fullmatch(plain)
    if it is not None and (frame := _of_topic(plain, text, it, topic)) is not None:
        return frame
    own = frame_of(clause)
    if own is not None and own.key:
        return own if own.change else Frame(own.key, own.value, own.category, "replaces", own.before, own.firm)
    for pattern in (_DOES, _BARE):
        match = pattern.fullmatch(plain)
        if match is None or (pattern is _BARE and (len(plain.split()) > _LONGEST_BARE or not _SURE.match(text))):
            continue
        frame = _of_topic(plain, text, match, topic)
        if frame is not None:
            return frame
    return None


def _chosen(clause: Clause, topic: str) -> Frame | None:
    """What is said to be the favourite now, of the noun that was announced."""
    match = _FAVOURITE.fullmatch(clause.plain)
    value = None if match is None else value_of(clause.plain, clause.text, match.span("value"))
    key = favourite_key(singular(plain_noun(topic)))
    return None if value is None or key is None else Frame(key, value[1], "preference", "replaces")


def _of_topic(plain: str, text: str, match: "re.Match[str]", topic: str) -> Frame | None:
    named = topic.endswith(" name")
    noun = topic.removesuffix(" name")
    noun = noun if plain_noun(noun) in HEADS else singular(noun)
    hours = is_event(noun)
    return filled(plain, text, match, noun=noun, named=named, change="replaces", hours=hours)


def _announced_plain(head: str) -> str | None:
    clause = Clause(0, len(head), head, head, 0, asked=False, chinese=False, lead="")
    return announced(clause)


def _is_a_slot(noun: str) -> bool:
    words = plain_noun(noun)
    if words.split()[0] in {
        "it",
        "this",
        "that",
        "them",
        "up",
        "to",
        "over",
        "back",
        "out",
        "on",
        "me",
        "into",
        "from",
        "off",
        "away",
    }:
        return False
    return words in HEADS or singular(words) in HEADS or len(words.split()) <= LONGEST_NOUN
