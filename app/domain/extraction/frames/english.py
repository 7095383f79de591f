"""English sentences of the form "my N is V", "V is my N", "the N was moved to V", "we renamed the N, it's V"."""

import re
from typing import Final

from app.domain.extraction.candidates import Change
from app.domain.extraction.clauses import Clause
from app.domain.extraction.frames.english_forms import (
    BAD_VALUE,
    BECAME,
    CHANGE_WORDS,
    COPULA,
    DID,
    EVENT,
    HAS_VERB,
    INSTEAD,
    PREPOSITIONS,
    PRONOUNS,
    RECURRING,
    RENAMED,
    REVERSED,
    REWROTE,
    THING,
    TIMES_OF,
    USED_TO,
)
from app.domain.extraction.frames.english_verbs import FRAMES
from app.domain.extraction.frames.frame import Frame
from app.domain.extraction.frames.nouns import (
    HEADS,
    LONGEST_NOUN,
    is_animal,
    is_kin,
    plain_noun,
    singular,
    slot_of,
    written_in,
)
from app.domain.extraction.frames.values import Sort, as_written, cleaned, sort_of
from app.domain.extraction.frames.verb_frame import VerbFrame, first_frame
from app.domain.extraction.slots import favourite_key, key_of_name
from app.domain.memory import Category

_SENTENCE: Final = re.compile(r"(?:i|i'm|i've|i'll|we|we're|we've|you|they|there|it's|he's|she's)\b")


def frame_of(clause: Clause) -> Frame | None:
    """What a clause says fills which slot; None where its form does not tell."""
    plain, text = clause.plain, clause.text
    for found in (_by_verb, _did, _became, _used_to, _renamed, _instead, _copula, _verb_of_noun, _reversed):
        frame = found(plain, text)
        if frame is not None:
            return frame
    return None


def cue_of(plain: str) -> Change | None:
    """Whether the words of a clause say that something is new."""
    return "replaces" if CHANGE_WORDS.search(plain) is not None else None


def category_of(key: str, plain: str) -> Category:
    """What a memory of a slot is about."""
    if key.startswith("project."):
        return "project"
    if key.startswith(("preference.", "user.favourite")):
        return "preference"
    if key.endswith((".time", ".deadline")):
        return "event" if not plain.startswith(("our", "we")) else "project"
    return "identity"


def value_of(plain: str, text: str, span: tuple[int, int]) -> tuple[str, str] | None:
    """The cleaned value of a group, folded and as it is written; None of a sentence."""
    found = cleaned(plain[slice(*span)], text[slice(*span)], chinese=False)
    return None if found is None or _SENTENCE.match(found[0]) else found


def filled(
    plain: str,
    text: str,
    match: "re.Match[str]",
    *,
    noun: str,
    named: bool = False,
    change: Change | None = None,
    firm: bool = True,
    hours: bool = False,
) -> Frame | None:
    """The frame of a noun with the match's value."""
    value = value_of(plain, text, match.span("value"))
    if value is None:
        return None
    sort = sort_of(*value, hours=hours)
    key = slot_of(noun, sort, named=named)
    if key is None:
        return None
    key = written_in(key, value[0])
    return Frame(
        key, value[1], category_of(key, plain), change or cue_of(plain), as_written(text, match, "before"), firm
    )


def _by_verb(plain: str, text: str) -> Frame | None:
    return first_frame(FRAMES, plain, lambda verb, match: _verb_frame(verb, match, plain, text))


def _verb_frame(verb: VerbFrame, match: "re.Match[str]", plain: str, text: str) -> Frame | None:
    value = value_of(plain, text, match.span("value"))
    if value is None:
        return None
    folded_value, said = value
    if verb.key == "user.employer":
        cut = re.search(r" (?:as|in) (?:an?|the|their)\b.*", folded_value)
        said = said[: cut.start()] if cut else said
    if verb.name and sort_of(folded_value, said) not in {"name", "number"}:
        return None
    key = _key_of(verb, match.groupdict().get("noun"), match, value, plain)
    if key is None:
        return None
    return Frame(key, said, verb.category, verb.change or cue_of(plain), as_written(text, match, "before"), verb.firm)


def _key_of(
    verb: VerbFrame, noun: str | None, match: "re.Match[str]", value: tuple[str, str], plain: str
) -> str | None:
    """The key of a verb frame, with its noun or the name of its value filled in."""
    sort = sort_of(*value)
    if verb.key == "{name}":
        return key_of_name(value[0], of_a_project=plain.startswith("we"))
    if noun is None:
        moved = verb.key == "user.city" and verb.change == "replaces"
        return (key_of_name(value[0], of_a_project=plain.startswith("we")) if moved else None) or verb.key
    if verb.key in {"{due}", "{release}"}:
        if sort != "time":
            return None
        return slot_of(f"{noun} deadline" if verb.key == "{due}" else f"{noun} release", "time")
    if verb.key == "{head}":
        return slot_of(f"{noun} {match['head']}", sort)
    if "{slot}" in verb.key:
        return _slot_key(verb.key, noun, *value, plain)
    return verb.key.replace("{noun}", "_".join(plain_noun(noun).split()))


def _slot_key(template: str, noun: str, plain: str, written: str, clause: str) -> str | None:
    cut = cleaned(noun, noun, chinese=False)
    if cut is None:
        return None
    noun = cut[0]
    if template == "favourite.{slot}":
        return favourite_key(singular(plain_noun(noun)))
    if template == "{slot}.owner":
        head = "_".join(plain_noun(noun).split()[:LONGEST_NOUN])
        return "project.owner" if head == "project" else f"project.{head}.owner"
    if re.search(r"\bprefer\b", clause):
        return favourite_key(singular(plain_noun(noun)))
    known = HEADS.get(plain_noun(noun))
    return known or slot_of(noun, sort_of(plain, written))


def _did(plain: str, text: str) -> Frame | None:
    match = DID.fullmatch(plain) or REWROTE.fullmatch(plain)
    if match is None or match["noun"].split()[0] in PREPOSITIONS | PRONOUNS:
        return None
    named = " renamed " in f" {plain} "
    return filled(plain, text, match, noun=match["noun"], named=named, change="replaces", hours=True)


def _became(plain: str, text: str) -> Frame | None:
    match = BECAME.fullmatch(plain)
    if match is None or not (match["own"] or _bare(match["noun"])):
        return None
    return filled(plain, text, match, noun=match["noun"], named="renamed" in plain, change="replaces", hours=True)


def _used_to(plain: str, text: str) -> Frame | None:
    match = USED_TO.fullmatch(plain)
    return None if match is None else filled(plain, text, match, noun=match["noun"], change="replaces")


def _renamed(plain: str, text: str) -> Frame | None:
    """A name that became another: the slot is that of what holds the old one."""
    match = RENAMED.fullmatch(plain)
    if match is None:
        return None
    old, new = ("before", "value") if match["before"] else ("was", "now")
    before, value = text[slice(*match.span(old))], value_of(plain, text, match.span(new))
    told = re.search(r"\b(?:now|new|renamed?|these days)\b", plain) is not None
    if value is None or not told or not before[:1].isupper() or not value[1][:1].isupper():
        return None
    return Frame("", value[1], "other", "replaces", before)


def _instead(plain: str, text: str) -> Frame | None:
    match = INSTEAD.fullmatch(plain)
    value = value_of(plain, text, match.span("value")) if match is not None else None
    if match is None or value is None or sort_of(*value) == "time":
        return None
    key = key_of_name(value[0], of_a_project=plain.startswith("we")) or ""
    noun = re.sub(r"^(?:a|an|the|my|our) ", "", match["before"])
    if not key and noun in HEADS:
        key = HEADS[noun]
    before = text[slice(*match.span("before"))]
    return Frame(key, value[1], "preference", "replaces", before, firm=True)


def _copula(plain: str, text: str) -> Frame | None:
    match = COPULA.fullmatch(plain)
    recurs = (
        match is not None and len(match["noun"].split()) <= LONGEST_NOUN and RECURRING.match(match["value"]) is not None
    )
    if match is None or (
        _is_no_slot(match) and not (recurs and match["noun"].split()[0] not in PRONOUNS | PREPOSITIONS)
    ):
        return None
    how = (match["how"] or "").strip()
    value = value_of(plain, text, match.span("value"))
    if value is None or (BAD_VALUE.match(value[0]) and how not in {"called", "named"}):
        return None
    noun, hours = (
        match["noun"].removesuffix(" for me").removesuffix(" base"),
        how in {"at", "from", "by"} or match["own"] is None,
    )
    sort = sort_of(*value, hours=hours)
    named = how in {"called", "named", "known as"}
    if not _fits(match, sort, named=named, known=_is_known(noun)):
        return None
    if how.startswith("due") or (how == "by" and sort == "time"):
        return _due(noun, value[1], plain) if sort == "time" else None
    firm = recurs or match["own"] is not None or (is_event(noun) and sort == "time" and cue_of(plain) is not None)
    return filled(plain, text, match, noun=noun, named=named, firm=firm, hours=hours)


def _is_no_slot(match: "re.Match[str]") -> bool:
    noun = match["noun"]
    return (
        noun.split()[0] in PRONOUNS | PREPOSITIONS
        or (match["own"] is None and not _bare(noun))
        or re.search(r" (?:that|which|who|and|or|but|because|if|when|to|from|is|are|was) ", f" {noun} ") is not None
    )


def _bare(noun: str) -> bool:
    """Whether a noun may stand without "my" or "the": Mia's party, standup, CI."""
    return noun.split(maxsplit=1)[0] not in PRONOUNS and (
        noun in {"home", "home for me", "home base"}
        or "'s " in noun
        or EVENT.match(noun) is not None
        or THING.match(noun) is not None
        or _is_new(noun)
    )


def is_event(noun: str) -> bool:
    """Whether a noun is of something that takes place at a time."""
    return EVENT.match(noun) is not None


def _is_new(noun: str) -> bool:
    return noun.startswith("new ") and _is_known(noun)


def _is_known(noun: str) -> bool:
    plain = plain_noun(noun)
    return (
        plain in HEADS
        or singular(plain) in HEADS
        or re.match(r"(?:\w+ )?(?:favou?rite|fave?|preferred|go-to) ", noun) is not None
    )


def _fits(match: "re.Match[str]", sort: Sort, *, named: bool, known: bool) -> bool:
    """Whether a value of this sort says what something is, not how it is."""
    noun, own = match["noun"], match["own"]
    if is_kin(plain_noun(noun)) and not named:
        return False
    if sort == "phrase":
        return known or named or (own is not None and re.search(r"(?:hair|colou?r|size|schedule)$", noun) is not None)
    return own != "the" or sort != "name" or known or named or match["how"] is not None or THING.match(noun) is not None


def _due(noun: str, value: str, plain: str) -> Frame | None:
    key = slot_of(noun if noun.endswith("deadline") else f"{noun} deadline", "time")
    return None if key is None else Frame(key, value, "project", cue_of(plain))


def _verb_of_noun(plain: str, text: str) -> Frame | None:
    match = HAS_VERB.fullmatch(plain)
    if match is None or _is_no_slot(match):
        return None
    how, noun = match["how"], match["noun"]
    value = value_of(plain, text, match.span("value"))
    if value is None:
        return None
    sort = sort_of(*value, hours=match["prep"] is not None)
    due = how.startswith(("has to", "needs to", "must"))
    if due or how in TIMES_OF:
        if sort != "time":
            return None
        return (
            _due(noun, value[1], plain)
            if due or how == "closes "
            else filled(plain, text, match, noun=noun, hours=True)
        )
    if sort not in {"name", "number"} or (is_kin(plain_noun(noun)) and how not in {"goes to ", "attends "}):
        return None
    if how in {"goes to ", "attends "}:
        person = "_".join(plain_noun(noun).split())
        return Frame(f"user.{person}.school", value[1], "relation", cue_of(plain), firm=False) if is_kin(noun) else None
    if value[0].startswith("port "):
        noun = f"{noun} port"
    if how == "costs ":
        noun = f"{noun} price"
    return filled(plain, text, match, noun=noun, named=how == "goes by ", firm=match["own"] is not None)


def _reversed(plain: str, text: str) -> Frame | None:
    match = REVERSED.fullmatch(plain)
    if match is None:
        return None
    noun, own = match["noun"], match["own"]
    if own is None and not (noun == "home" and match["now"]):
        return None
    value = value_of(plain, text, match.span("value"))
    if value is None:
        return None
    known = _is_known(noun)
    sort = sort_of(*value)
    if own == "our" and not match["now"] and cue_of(plain) is None and not _is_favourite(noun):
        return None
    if not known and (sort != "name" or own == "the" or is_kin(plain_noun(noun)) or is_animal(plain_noun(noun))):
        return None
    if sort == "phrase" and not _is_favourite(noun):
        return None
    told = own == "our" and sort == "name" and cue_of(plain) is not None
    return filled(plain, text, match, noun=noun, firm=known or told)


def _is_favourite(noun: str) -> bool:
    return re.search(r"favou?rite|fave?\b|preferred|go-to", noun) is not None
