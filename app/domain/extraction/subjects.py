"""Who a clause is about that does not say it: the subject of the clause before it, or the "I" that people leave out."""

import re
from dataclasses import replace
from typing import Final

from app.domain.extraction.clauses import Clause

_VERB_EN: Final = re.compile(
    r"(?:also |now |then |currently |recently |mostly |usually |really |just )*(?:work|"
    r"live|have|love|like|hate|prefer|use|speak|play|study|own|drive|am|want|"
    r"plan|enjoy|teach|run|moved|started|switched|"
    r"can't|cannot|don't|dislike|need|got|grew up|was born|keep|deploy|host|write|store)\b"
)
_ELIDED_EN: Final = (
    (re.compile(r"been "), "I've "),
    (
        re.compile(
            r"(?:also |just |now |still |currently |originally |only )*(?:learning|studying|"
            r"working (?:at|for|as|in)|flying|travell?ing|heading to|living in|moving to|(?:hoping|aiming|"
            r"trying) (?:to|for) (?!fix|find|get|make|run|open|understand|figure)|freelancing|between jobs|bilingual|"
            r"\d(?:st|nd|rd|th)[- ]year|more of an?|(?:a )?(?:big|huge) fan of|on an? [\w -]{2,20} diet|planning (?:to|"
            r"a)|doing (?:a|my)|employed (?:by|at)|training for|saving (?:up )?for|preparing for|allergic|"
            r"based in|from |vegan|vegetarian|married|left-handed|born)\b"
        ),
        "I'm ",
    ),
    (
        re.compile(
            r"(?:also |just |finally |recently |still |never |really |now )*(?:got|grew up|"
            r"moved|started|stopped|quit|signed|bought|sold|dropped|ditched|switched|"
            r"joined|left|adopted|graduated|retired|booked|injured|used to|prefer|love|"
            r"hate|can't (?:stand|eat|drink|do|handle)|worked (?:at|for|as|in)|won't eat|don't (?:like|eat|drink)|"
            r"dislike|live in|"
            r"work (?:at|for|as|in)|have (?:a|an|two|three)|went|decided|broke|passed|"
            r"turned|finished|settled|speak|play)\b"
        ),
        "I ",
    ),
)
_ELIDED_ZH: Final = re.compile(
    r"(?:刚|在|报|学|住|养|喜欢|不喜欢|讨厌|爱(?:吃|喝|看|玩|好|听)|打算|计划|"
    r"准备|决定|会|买|小时候|[去今明前后昨]年?天?|上|下个?|每|早上|晚上|中午|"
    r"拿到|提|能(?:看懂|听懂)|不会|学的|最(?!好|后|近|终|多|少)|一周|坐|吃不了|结婚|待业|自由职业|开了|近视|攒|教|租|"
    r"签|离婚|单身|退休|"
    r"怀孕|养|做了|干了|练|带|当|大[一二三四]|"
    r"研[一二三]|最爱|偏爱|平常|长期|常年|一直|当初|大学|网名|右|左|"
    r"周末|平时|老家|对.{1,8}过敏|从|有(?:一|两|三|个|只|条)|已经|目前|现在|戒|"
    r"改|搬|换|入职|毕业|最近|一般|习惯|不吃|不喝|从来不|从不|家里|家在|本周|"
    r"这周|去掉)"
)
_TOPIC_ZH: Final = re.compile(r"[^我你他她,]{1,8}(?<![和跟给让叫问说对把被找带陪帮请教像比在于到从])(?=我(?!们?的))")
_MINE: Final = re.compile(r"(?:i|i'm|i've|im)\b|我(?!们|家|的)")
_OURS: Final = re.compile(r"(?:we|we're|we've)\b|我们|咱们")


def has_subject(clause: Clause) -> bool:
    """Whether the clause says I or we, so that the next one of its sentence need not."""
    return bool(_MINE.match(clause.plain) or _OURS.match(clause.plain)) or clause.plain.startswith("my name")


def with_subject(clause: Clause, before: Clause | None) -> Clause | None:
    """The clause as it would be with the subject it leaves out; None if it leaves out none.

    Args:
        clause: Without a subject.
        before: The clause of the same sentence that has one; None without such a clause.
    """
    if before is None:
        return _elided(clause)
    ours = _OURS.match(before.plain) is not None
    if clause.chinese:
        word = (
            None
            if re.match(r"我|你|他|她|它|这|那|请|别|.{0,12}(?:帮|给|让)我", clause.plain)
            else "我们"
            if ours
            else "我"
        )
    elif _VERB_EN.match(clause.plain):
        word = "we " if ours else "I "
    elif re.match(r"(?:an?|the|\d{1,2}) (?!.{1,60} (?:is|are|was|were|has) )", clause.plain) and re.match(
        r"i'm|i am|my name", before.plain
    ):
        word = "I'm "
    else:
        word = _elided_word(clause.plain)
    return _prefixed(clause, word)


def _elided(clause: Clause) -> Clause | None:
    if not clause.chinese:
        return _prefixed(clause, _elided_word(clause.plain))
    topic = _TOPIC_ZH.match(clause.plain)
    if topic is not None:
        return replace(clause, text=clause.text[topic.end() :], plain=clause.plain[topic.end() :])
    return _prefixed(clause, "我" if _ELIDED_ZH.match(clause.plain) else None)


def _elided_word(plain: str) -> str | None:
    return next((word for pattern, word in _ELIDED_EN if pattern.match(plain)), None)


def _prefixed(clause: Clause, word: str | None) -> Clause | None:
    return replace(clause, text=word + clause.text, plain=word.lower() + clause.plain) if word else None
