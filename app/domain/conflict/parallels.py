"""Two sentences that are one but for a single part: "My son is in 3rd grade", "My son is in 4th grade now"."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from app.core.text.normal import normalise
from app.core.text.stopwords import ENGLISH

_HAN: Final = re.compile("[\u3400-\u9fff]")
_STAMP: Final = re.compile(r" ?[(（]\d{4}(?:-\d\d){0,2}(?:(?: to |至)\d{4}(?:-\d\d){0,2})?[)）]")
_WORD: Final = re.compile(r"[\w$€£%+#'./:@-]*[\w%+#]")
_OPENING: Final = re.compile(
    r"^(?:change of plans?|(?:quick )?update|correction|news|actually|计划变了|更正(?:一下)?|更新(?:一下)?|"
    r"改主意了)[,:，： -]+"
)
_CUES_EN: Final = frozenset(
    [
        "now",
        "nowadays",
        "currently",
        "instead",
        "lately",
        "anymore",
        "actually",
        "just",
        "already",
        "also",
        "still",
        "usually",
        "always",
        "only",
        "always",
        "mostly",
        "normally",
        "generally",
        "typically",
        "recently",
        "new",
        "again",
        "then",
        "today",
        "'ve",
        "have",
        "'m",
    ]
)
_PHRASES_EN: Final = re.compile(
    r"\b(?:these days|at the moment|from now on|right now|any more|as of \w+|going forward|for now|no longer)\b"
)
_CUES_ZH: Final = re.compile(
    r"现在|目前|如今|最近|已经|一般|通常|平时|平常|基本|以后|开始|从今|今后|都|就|了|吧|的话|又|也|还|的|,|。|!"
)
_CHANGES_ZH: Final = re.compile(
    r"(?:调[高低整]?|涨|[升降]级?|提[高前]?|推迟|挪|移|搬|延期?|增加|减少?)(?:成|为|到|至|去)|(?:换|改|变|转)"
    r"(?:成|为|到|用|去)?(?=[^,换改变转])"
)
_GENERIC: Final = frozenset(
    [
        "my",
        "our",
        "the",
        "a",
        "an",
        "i",
        "we",
        "i'm",
        "we're",
        "i've",
        "is",
        "are",
        "am",
        "to",
        "of",
        "in",
        "on",
        "at",
        "for",
        "with",
        "it's",
        "be",
        "do",
        "so",
        "and",
    ]
)
_EMPTY_ZH: Final = frozenset("我们的是在有要去到得")
_TIMES_ZH: Final = re.compile(r"早上|上午|中午|下午|晚上|每天|每周|今年|今天|上班")
_SUBJECT_ZH: Final = re.compile(
    r"^我?们?的?(?:老婆|老公|爸爸?|妈妈?|姐姐?|妹妹?|哥哥?|弟弟?|儿子|女儿|孩子|同事|朋友)|早上|晚上|每天|每周|上午|下午"
)
_TOLD_ZH: Final = re.compile("现在|如今|目前|改|换|不再")
_COMMON_VERB: Final = re.compile(
    r"\b(?:like|love|hate|enjoy|have|has|eat|drink|use|want|need|go|get|got|read|see|saw|know|do|make|made|play|"
    r"try|learn|take|"
    r"watch|buy|bought|visit|met|meet|speak|own|is|are|am|'m|'s|'re|can|like[sd]|moved?|switched|changed|upgraded|"
    r"replaced|turned|quit|joined|started|stopped|left|got|think|add|added|cook|study|write|"
    r"fix|work)\b|'(?:m|re|s)\b"
)
"""Of what these verbs have, one may have several."""

MOST_DIFFERENT: Final = 5
"""Words, or two characters each, of the part that differs."""


@dataclass(frozen=True, slots=True)
class Parallel:
    """What two sentences have in common, and what not.

    Args:
        shared: Words (in Chinese: characters) of both that say something.
        new: The part of the new one that differs.
        old: That of the old one.
        least: How many words they must have in common to be about one thing.
    """

    shared: int
    new: str
    old: str
    least: int


def parallel(new: str, old: str) -> Parallel | None:
    """How two sentences run side by side, without words of a change; None where more than one part differs."""
    chinese = _HAN.search(new) is not None
    if chinese != (_HAN.search(old) is not None):
        return None
    said, stored = _parts(new), _parts(old)
    first = 0
    while first < min(len(said), len(stored)) and said[first] == stored[first]:
        first += 1
    last = 0
    while last < min(len(said), len(stored)) - first and said[-1 - last] == stored[-1 - last]:
        last += 1
    only_new, only_old = said[first : len(said) - last], stored[first : len(stored) - last]
    if not only_new or not only_old or max(len(only_new), len(only_old)) > MOST_DIFFERENT * (2 if chinese else 1):
        return None
    common = [*said[:first], *said[len(said) - last :]]
    telling = [
        part for part in _without_subject(common, chinese=chinese) if part not in (_EMPTY_ZH if chinese else _GENERIC)
    ]
    joint = "" if chinese else " "
    least = _least_zh(new, said[:first], ended=last > 1) if chinese else _least_en(new, common, telling)
    return Parallel(len(telling), joint.join(only_new), joint.join(only_old), least)


def _without_subject(common: Sequence[str], *, chinese: bool) -> Sequence[str]:
    """What is shared without whom it is about, and without hours of the day: these say too little of a Chinese one."""
    return _SUBJECT_ZH.sub("", "".join(common)) if chinese else common


def _least_en(new: str, common: Sequence[str], telling: Sequence[str]) -> int:
    """Two words; one where that is what the speaker does, and seldom done with several things: I ride, we indent."""
    own = len(common) > 1 and common[0] in {"i", "we"} and telling == [common[1]]
    return 1 if own and _COMMON_VERB.search(new.lower()) is None else 2


def _least_zh(new: str, beginning: Sequence[str], *, ended: bool) -> int:
    """Three characters; two where the verb stands among them, and the sentence says that it is new or ends alike."""
    verb = [part for part in _TIMES_ZH.sub("", "".join(beginning)) if part not in {"我", "们", "的", "是"}]
    enough = len(verb) > 1 or (ended and bool(verb))
    return 2 if enough and (ended or _TOLD_ZH.search(new) is not None) else 3


def replaces(new: str, old: str, *, least: int | None = None) -> bool:
    """Whether a sentence that says that something is new says it of what the old one tells.

    Both are the same but for one part, and what they share names the thing: at least two words, or three characters.
    """
    first = re.split(r"[,，;；]", new, maxsplit=1)[0]
    found = parallel(new, old) or (parallel(first, old) if first != new else None)
    if found is None:
        return False
    return found.shared >= (least or found.least) and (found.new.isdigit() or found.new not in ENGLISH)


def is_new_state(new: str, old: str) -> bool:
    """Whether a Chinese sentence ends with 了, that says that something is so now, and the old one does not."""
    return re.search(r"了[。!！~]*$", new) is not None and re.search(r"了[。!！~]*$", old) is None


@lru_cache(maxsize=4_096)
def _parts(text: str) -> tuple[str, ...]:
    plain = _OPENING.sub("", normalise(_STAMP.sub("", text)).strip(" .!。"))
    if _HAN.search(plain) is None:
        words = _WORD.findall(_PHRASES_EN.sub(" ", plain))
        return tuple(_stem(word) for word in words if word not in _CUES_EN)
    return tuple(_pieces_zh(_CHANGES_ZH.sub("是", _CUES_ZH.sub("", plain))))


def _stem(word: str) -> str:
    return {"i've": "i", "we've": "we", "isn't": "is"}.get(word, word)


def _pieces_zh(plain: str) -> list[str]:
    """Characters; a Latin word or a number is one."""
    found = re.findall(r"[a-z0-9][a-z0-9.+#:_-]*|\S", plain)
    # 换成用, 改成叫: the verb of the old sentence stands behind that of the change.
    return [
        piece
        for place, piece in enumerate(found)
        if piece != "是"
        or found[place + 1 : place + 2]
        not in (["用"], ["叫"], ["喝"], ["吃"], ["是"], ["在"], ["开"], ["坐"], ["学"], ["玩"])
    ]
