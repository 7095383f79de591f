"""Statements that put something right: "Sorry, I meant I live in Riga, not Oslo", 说错了，我住在杭州，不是上海.

`corrections` mends a candidate of the same session. Here a sentence says by itself what is right, whatever was known.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal

from app.domain.extraction.candidates import Candidate
from app.domain.extraction.clauses import Clause
from app.domain.extraction.frames.frame import Frame
from app.domain.extraction.frames.values import cleaned, sort_of

Mending = Literal["strong", "weak", "plans"]
"""`strong`: it says that something was wrong. `weak`: "no", "actually", 其实, which may only begin a sentence.
`plans`: it says that what was meant to be is not to be."""

_STRONG: Final = re.compile(
    r"(?:(?:oh|ah|oops|hmm|well|no|nope|wait|ok|okay|hey|and|but|so|hang on|hold on|actually|sorry|my apologies)"
    r"[,.!: -]+)*"
    r"(?:correction\b|i misspoke|i mis(?:typed|spelled|stated)|what i (?:actually )?meant|i (?:actually )?meant|"
    r"i should have said|my (?:mistake|bad)\b|i was (?:wrong|mistaken)\b|i made a mistake|"
    r"i (?:got|had|said|told you|wrote) (?:it|that|this|the|something)?[\w ]{0,20}?\b(?:wrong|wrongly|incorrectly)\b|"
    r"scratch that|let me correct|to correct|that(?:'s| was| is) (?:wrong|not right|incorrect|a mistake|a typo)|"
    r"typo\b|i mixed (?:that|it|them|something) up|i gave you the wrong)|"
    r"(?:啊|哦|噢|呃|等等|等下|等一下|抱歉|不好意思|对不起|不|不对|那个|[,。!、 ])*"
    r"(?:(?:我)?(?:刚才|刚刚|之前|前面|上次|上面)?(?:那个|的)?(?:说|写|打|搞|记|讲|弄|填)(?:错|反|混)了?|错了|口误|"
    r"笔误|"
    r"(?:我)?(?:来)?(?:更正|纠正|订正)(?:一?下)?|我的意思是|我是说|我想说的是)"
)
_WEAK: Final = re.compile(
    r"(?:(?:oh|ah|hmm|well|hey|but)[,.!: -]+)*(?:no|nope|actually|sorry|wait|oops|hold on)(?:[,.:!-]+| (?=i\b|my\b|"
    r"it's\b))(?! ?(?:problem|worries|idea|thanks))|"
    r"(?:啊|哦|噢|呃|[,。!、 ])*(?:不对|不是|不|其实|实际上|应该)[,，。!: ]*(?=我|是|他|她|咱|叫)"
)
_PLANS: Final = re.compile(
    r"(?:(?:ok|okay|so|well|update)[,.!: -]+)*(?:change of plans?|(?:our|my|the) plans? (?:have |has )?changed|"
    r"(?:i|we)(?:'ve| have)? changed (?:my|our) minds?)\b|(?:我们?)?(?:计划|行程|安排)(?:有变|变了|改了)|"
    r"(?:我)?改(?:变)?主意了"
)
_MEANT: Final = re.compile(
    r"(?:(?:sorry|correction|no)[,: ]+)*(?:what )?i (?:actually )?(?:meant?|should have said)(?: to say| was| is)*"
    r"(?: that)?[:,]? (?=\S)|(?:我的意思是|我是说|我想说的是|应该是?(?=我)|(?:说|写|打|搞|记)错了[,: ]?(?=我))"
)
_NOT: Final = re.compile(
    r",? (?:and )?not (?:in |at |on |by |from |for |with |an? |the |called |named )?(?P<en>[^,]{1,40})$|"
    r",?(?:而)?(?:不是|并不是|不叫|不在|不住在?|不用)(?P<zh>[^,]{1,16})$"
)
_DENIAL: Final = re.compile(r"(?:而)?(?:不是|并不是|不叫|不在|不住在?|不用)(?:在|用|叫|对)?(?P<before>[^,]{1,14})")
_BARE: Final = re.compile(
    r"(?:i meant (?:to say )?|it's |it is |that's |it should be |should be |make (?:that|it) |it was )?"
    r"(?P<value>(?!(?:i|i'm|i've|we|we're|my|our|the)\b)[^,]{1,40}),? (?:and )?not (?:in |at |on |an? |the )?"
    r"(?P<before>[^,]{1,40})|"
    r"(?:应该)?(?:是|叫)(?P<right>[^,]{1,16}),?(?:而)?不(?:是|叫)(?P<wrong>[^,]{1,16})|"
    r"不是(?P<not>[^,]{1,16}),?(?:而)?(?:应该)?是(?P<but>[^,]{1,16})"
)


def mending_of(sentence: Clause, before: Mending | None, *, alone: bool) -> Mending | None:
    """Whether a sentence puts something right.

    Args:
        sentence: Whole.
        before: What the sentence before it did.
        alone: Whether that one told nothing itself: "Sorry, my mistake."
    """
    told = f"{sentence.lead}{sentence.plain}"
    if _STRONG.match(told) is not None:
        return "strong"
    if before == "strong" and alone:
        return "strong"
    if _PLANS.match(told) is not None or (before == "plans" and alone):
        return "plans"
    return "weak" if _WEAK.match(told) is not None else None


def meant(clause: Clause) -> tuple[Clause, str | None]:
    """The statement in a clause that puts something right, and what it says was wrong."""
    lead = _MEANT.match(clause.plain)
    start = lead.end() if lead is not None else 0
    denied = _NOT.search(clause.plain, start)
    end, before = len(clause.plain), None
    if denied is not None and denied.start() > start:
        end = denied.start()
        before = clause.text[slice(*denied.span("en" if denied["en"] is not None else "zh"))]
    stated = replace(
        clause,
        start=clause.start + start,
        end=clause.start + end,
        text=clause.text[start:end],
        plain=clause.plain[start:end],
    )
    return stated, before


def denial_of(clause: Clause) -> str | None:
    """What a Chinese clause behind a correction says was wrong: 不是上海."""
    match = _DENIAL.fullmatch(clause.plain) if clause.chinese else None
    return None if match is None else clause.text[slice(*match.span("before"))]


def bare(clause: Clause) -> Frame | None:
    """A value that is right and one that is not, of a slot that only what is known can tell: "Riga, not Oslo"."""
    match = _BARE.fullmatch(clause.plain)
    if match is None:
        return None
    right, wrong = next(
        names for names in (("value", "before"), ("right", "wrong"), ("but", "not")) if match[names[0]] is not None
    )
    value = cleaned(match[right], clause.text[slice(*match.span(right))], chinese=clause.chinese)
    if value is None or sort_of(*value) == "phrase":
        return None
    return Frame("", value[1], "other", "corrects", clause.text[slice(*match.span(wrong))])


def mended(candidate: Candidate, how: Mending, before: str | None, earlier: Sequence[Candidate]) -> Candidate:
    """The candidate as what puts right what was known.

    Args:
        candidate: What a sentence tells that begins so.
        how: It begins.
        before: What it says was wrong.
        earlier: Candidates before it.
    """
    if how == "plans":
        return replace(candidate, change=candidate.change or "replaces")
    if candidate.change in {"ends", "adds"} or (candidate.change == "replaces" and how == "weak"):
        return candidate
    if candidate.key is None and before is None:
        return candidate
    held = [one.value for one in earlier if one.key == candidate.key and one.value != candidate.value and one.key]
    known = before or candidate.before or (held[-1] if held else None)
    if how == "weak" and known is None and candidate.key is None:
        return candidate
    return replace(candidate, change="corrects", before=known)
