"""How people ask a memory to remember something, or to forget it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.core.text.normal import unify
from app.core.text.tokens import tokens
from app.domain.extraction.candidates import Candidate
from app.domain.extraction.clauses import Clause, joined, sentences_of
from app.domain.extraction.turns import Turn
from app.domain.gate.sentences import asks_to_forget


@dataclass(frozen=True, slots=True)
class Forget:
    """A request to forget.

    Args:
        what: The user's words for what is meant, "" for what was said last.
        seq: The turn it stands in.
    """

    what: str
    seq: int


_REMEMBER_EN: Final = re.compile(
    r"(?:please |can you |could you |will you |would you |you should |i want you to |"
    r"i need you to |i'd like you to |also |and |just |hey |ok |pls )*"
    r"(?:remember(?! (?:when|how|the time|what|who|where|why|if|whether|seeing|"
    r"going|reading|being)\b)|keep in mind|(?:please )?note(?! to self)(?= that|"
    r":| down| for)|don't forget|do not forget|make a note|take (?:a )?note|bear in mind|"
    r"for (?:future|your|later) reference|"
    r"save (?:this|that)|write (?:this|that) down|store (?:this|that)|add (?:this|"
    r"that )?to (?:your )?memory|memori[sz]e|jot (?:this|that)? ?down|put (?:this|"
    r"that) in your notes)(?![a-z])"
    r"(?:[ ,:]+(?:that|this(?! (?:is|week|month|year))|for (?:me|later|future reference|"
    r"next time|the future)|down|to memory|in mind|of (?:this|that)|about me|"
    r"please|of the fact))*[ ,:]*"
)
_REMEMBER_EN_AFTER: Final = re.compile(
    r"(?:^|[ ,-])*(?:so |and |please |,)*(?:please )?(?:remember (?:this|that|"
    r"it)|keep (?:this|that|it) in mind|don't forget (?:this|that|it)?|make a note(?: of (?:this|"
    r"that|it))?|note (?:this|that|it)(?: down)?|save (?:this|that|it)|write (?:this|"
    r"that|it) down)(?: please| for (?:me|later|next time))?$"
)
_REMEMBER_ZH: Final = re.compile(
    r"(?:请你?|麻烦你?|帮我|帮忙|你|要|一定要?|可以|能不能|能|可否|给我|务必|千万|,|替我|好好|把这个)*"
    r"(?:记住(?!了?吗)|记一下|记下来?|记得(?!吗|我们?|那|上次|不)|记着|牢记|(?:别|"
    r"不要)忘(?:了|记)?|备忘(?:一下)?|备注(?:一下)?|记个(?:笔记|事)|记一笔|记录(?:一下)?|"
    r"存一下|保存(?:一下)?|写进记忆|加到记忆里?|记到(?:备忘录|记忆)里?)"
    r"(?:一下|这(?:一)?点|这个|这件事|这句话?|哦|啊|了|,|:|、|\s|的是|~)*"
)
_REMEMBER_ZH_AFTER: Final = re.compile(
    r"[,\s]*(?:请你?|麻烦你?|帮我|帮忙|你|要|一定要?|可以|给我|务必|千万|替我|"
    r"这(?:一)?点|这个|这件事|都)*(?:记住|记一下|记下来?|记着|记好|牢记|(?:别|"
    r"不要)忘(?:了|记)?|备忘一下|记录一下|存一下|保存一下)(?:这(?:一)?点|这个|"
    r"一下|哦|啊|了|吧|哈|~)*$"
)
_FORGET: Final = re.compile(
    r"(?:.*?\b(?:forget|delete|erase|remove|wipe|drop|remember|save|store|record|"
    r"memori[sz]e|keep)(?:ing)?\b(?: (?:about|that|the fact that|what i (?:said|"
    r"told you|mentioned)(?: about)?|everything (?:about|i said about|i told you about)|"
    r"anything about|all about|the (?:part|thing|bit|memory) (?:about|that)|from (?:your )?memory|"
    r"your memory of|my|this|it|any|what you (?:know|remember)(?: about)?))*)\s*(?P<en>.*)|"
    r".*?把(?:我|你|关于)*(?:之前|刚才|刚刚|以前)?(?:说(?:过)?的|提(?:到)?(?:过)?的|"
    r"告诉你的|记(?:住|下)?的)?(?:关于)?(?P<ba>.{1,40}?)(?:的事情?|的信息|这件事|"
    r"这条|给|都|从记忆里|从记忆中)*(?:忘|删|清)|"
    r".*?(?:忘掉|忘了|忘记|别(?:再)?记住?|不(?:要|用|必)(?:再)?记(?:住|录)?)(?:吧|"
    r"了)?(?:我|关于|刚才|之前|以前|那个|,)*(?:说(?:过)?的|提(?:到)?(?:过)?的|"
    r"告诉你的)?(?:关于)?(?P<zh>.*)"
)
_NOTHING: Final = re.compile(
    r"[\s\W]*(?:that|this|it|this one|的话|这个|这条|这件事|吧|了|的事情?|about me|"
    r"from (?:your )?memory|please|,)*[\s\W]*$"
)
_TAIL: Final = re.compile(r"(?:的事情?|这件事|的信息|吧|了|的话|,? please|from (?:your )?memory)+$")
_HAN: Final = re.compile("[\u3400-\u9fff]")
_EMPTY: Final = frozenset("的了我你在是有说过和那这个")

FORGOTTEN_SHARE: Final = 0.6
"""The share of the words of a request to forget that a candidate must hold to be what is meant."""


def forgets(turn: Turn) -> list[Forget]:
    """What a user's turn asks to forget."""
    if turn.role != "user":
        return []
    found = []
    for clauses in sentences_of(turn.text):
        sentence = joined(turn.text, clauses)
        if asks_to_forget(sentence.plain):
            found.append(Forget(_what(sentence), turn.seq))
    return found


def is_meant(forget: Forget, candidate: Candidate) -> bool:
    """Whether a candidate holds most of the words of a request to forget."""
    return is_meant_by(forget, f"{candidate.text} {candidate.value or ''}")


def is_meant_by(forget: Forget, text: str) -> bool:
    """Whether a text holds most of the words of a request to forget."""
    asked, held = _words(forget.what), _words(text)
    return bool(asked) and len(asked & held) >= FORGOTTEN_SHARE * len(asked)


def _words(text: str) -> frozenset[str]:
    """Latin words as in a search, Chinese characters one by one: 养猫 is in 养了一只猫."""
    return frozenset(word for word in tokens(_HAN.sub(" ", text))) | frozenset(_HAN.findall(unify(text))) - _EMPTY


def request_of(clauses: Sequence[Clause]) -> tuple[list[Clause], bool] | None:
    """A request to remember: the clauses it is about, and whether it points to what comes after; None if it is none.

    No clauses: it is about the sentence before, or after.
    """
    first, last = clauses[0], clauses[-1]
    chinese = any(clause.chinese for clause in clauses)
    marker = (_REMEMBER_ZH if chinese else _REMEMBER_EN).match(first.plain)
    if marker is not None:
        rest = _without(first, marker.end())
        about = [*([rest] if rest else []), *clauses[1:]]
        if not about or not _is_pronoun(about):
            return about, first.plain.rstrip().endswith(("this", "these", "以下", "这些"))
    for place, clause in enumerate(clauses):
        after = (_REMEMBER_ZH_AFTER if chinese else _REMEMBER_EN_AFTER).search(clause.plain)
        if after is None or place != len(clauses) - 1:
            continue
        kept = _until(last, after.start())
        return [*clauses[:-1], *([kept] if kept else [])], False
    return None


def _is_pronoun(about: list[Clause]) -> bool:
    return len(about) == 1 and about[0].plain in {"that", "this", "it", "这个", "这点", "to"}


def _without(clause: Clause, length: int) -> Clause | None:
    if not clause.plain[length:].strip():
        return None
    start = clause.start + length
    skipped = re.match(r"(?:to (?=always|never))?[\s,:，：]*", clause.plain[length:])
    start += skipped.end() if skipped else 0
    cut = start - clause.start
    text, plain = clause.text[cut:], clause.plain[cut:]
    return Clause(start, clause.end, text, plain, clause.sentence, False, clause.chinese, clause.lead) if text else None


def _until(clause: Clause, length: int) -> Clause | None:
    plain = clause.plain[:length].rstrip(" ,、-")
    if not re.search(r"\w", plain):
        return None
    end = clause.start + len(plain)
    text = clause.text[: len(plain)]
    return Clause(clause.start, end, text, plain, clause.sentence, False, clause.chinese, clause.lead)


def _what(sentence: Clause) -> str:
    match = _FORGET.match(sentence.plain)
    if match is None:
        return ""
    group = next((name for name in ("ba", "zh", "en") if match[name]), None)
    if group is None:
        return ""
    start, end = match.span(group)
    plain = _TAIL.sub("", sentence.plain[start:end])
    return "" if _NOTHING.fullmatch(plain) else sentence.text[start : start + len(plain)].strip(" ,，。.")
