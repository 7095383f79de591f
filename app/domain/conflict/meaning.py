"""What a sentence says, for comparison: its content words in order, its quantities, its names and its negations."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Self

import rjieba

from app.core.text.content import content_terms
from app.core.text.normal import normalise
from app.core.text.scripts import HAN
from app.core.text.stemming import stem
from app.core.text.stopwords import CHINESE, ENGLISH
from app.core.text.variants import one_word
from app.domain.conflict.comparisons import compares, preferred_first, with_plain_comparisons
from app.domain.conflict.quantities import Quantity, quantities, with_digits
from app.domain.conflict.synonyms import LIGHT, WORDS

LONGEST: Final = 2_000
"""Characters of a text that are compared: memories are sentences."""

FEWEST_TO_ROTATE: Final = 3

_NEGATION: Final = re.compile(
    r"\b(?:not|never|no(?! one's)|none|nobody|nothing|without|cannot|neither|nor|avoid(?:s|ing|ed)?|"
    r"forbidden|prohibited|banned|refus(?:es|ed|e|ing)|dislik(?:es|ed|e|ing)|hat(?:es|ed|e)|detests?|loathes?|"
    r"(?:can|don|doesn|didn|isn|aren|wasn|weren|won|wouldn|shouldn|couldn|mustn|hasn|haven|hadn)['’]?t)\b"
    r"|从来不|从来没有?|从不|从没|再也不|不再|并不|并没有?|已经不|不要|不能|不可以?|不许|不得(?!了)|不准|不应该?|不会|不是|不太|"
    r"禁止|严禁|讨厌|厌恶|反感|避免|拒绝|(?<![特区分性级差类告])别(?![人的处墅克针])|没有|没(?!关系|问题)|"
    r"不(?![同过错仅但少久断管论如妨])|勿|无法|无(?![锡论线人印糖])|未(?![来婚])"
)
_LIKE: Final = re.compile(r"dislik|^hate|detest|loath|讨厌|厌恶|反感")
_LIKING: Final = "like"
_LIMITS: Final = re.compile(
    r"\b(?:only|almost|nearly|unless|except|until|sometimes|rarely|seldom|used to|formerly)\b"
    r"|[只仅]|几乎|除非|除了|有时|偶尔|很少"
)
_WAS: Final = re.compile(r"\b(?:was|were|had)\b(?! born)")
_AUXILIARIES: Final = frozenset({"was", "were", "had"})
_REASON: Final = re.compile(r"\b(?:because|since|so that|due to|in order to)\b|因为|由于|以便")
_SUBJECT: Final = re.compile(
    r"^\W*(?:the\s)?user(?:['’]s)?\b(?:\s(?:is|has)\b)?|^\W*(?:i['’]m|i['’]ve|i['’]d|we['’]re|we['’]ve|i|my|we|"
    r"our)\b|^\W*(?:用户|我们?|本人)的?"
)
_PARTS: Final = re.compile(rf"(?P<han>[{HAN}]+)|(?P<latin>[^\W_{HAN}]+(?:[.+#/@'’-](?=[^\W_{HAN}])[^\W_{HAN}]+)*[+#]*)")
_DIRECTIONS: Final = frozenset(
    {"from", "before", "after", "over", "under", "off", "out", "against", "down", "up", "by"}
)
_HAN_DIRECTIONS: Final = frozenset({"从", "被", "给"})
_NO_NAME: Final = re.compile(
    r"[\W\d]|users?$|(?:mon|tues|wednes|thurs|fri|satur|sun)day|[哥姐弟妹爸妈爷奶]|外[公婆]|[叔阿]?[姨叔姑舅伯]|儿子|女儿|孩子|用户"
)
"""Numbers, days and relatives: what is written or tagged like a name and is none."""

_TIMES: Final = frozenset(
    """
    morn afternoon evening night noon midnight today tomorrow yesterday weekend
    早上 早晨 清晨 上午 中午 下午 傍晚 晚上 夜里 今天 明天 昨天 前天 后天 周末
    上周 下周 本周 上个月 下个月 上月 下月 去年 今年 明年 前年
    """.split()  # noqa: SIM905 - words
)
"""As `_words` leaves them."""

_TIME_MARKS: Final = "@%&"
"""With which the tokens of dates, hours and days of the week begin."""

_FILLERS: Final = frozenset(
    """
    user users really please all currently now still again always there's let lets must way kind sort
    longer anymore any every each
    用户 请 一直 总是 目前 现在 仍然 还是 非常 特别 真的 比较 挺 蛮 一定 必须 应该
    自己 我 我们 他 她 本人 时候 进行 来说 之间 了 里 上 天
    """.split()  # noqa: SIM905 - words
) - {"上", "里"}


@dataclass(frozen=True, slots=True)
class Meaning:
    """A sentence to be compared.

    Args:
        words: Content words in order: stems, one word for several of one meaning, a quantity as its token; without
            negations.
        slots: The quantities among them.
        negations: How many there are.
        limits: Words that narrow what is said (only, 只), sorted.
        past: Verbs in the past tense, as stems.
        names: Names in it, each as its words.
        compares: Whether it prefers one thing to another; `words` then has what is preferred first.
        has_reason: Whether it says why.
    """

    words: tuple[str, ...]
    slots: tuple[Quantity, ...]
    negations: int
    limits: tuple[str, ...]
    past: frozenset[str]
    names: frozenset[str]
    compares: bool
    has_reason: bool

    @classmethod
    @lru_cache(maxsize=4_096)  # a statement is compared with many
    def of(cls, text: str) -> Self:
        """Work it out. Total: any string."""
        text = text[:LONGEST]
        plain = with_digits(normalise(text))
        compared = preferred_first(plain)
        body = _SUBJECT.sub(" ", compared or with_plain_comparisons(plain))
        slots = quantities(body)
        negations = list(_NEGATION.finditer(body))
        words, past = _words(body, slots, negations)
        names = frozenset(
            word
            for term in content_terms(text)
            if term.kind == "name"
            for word in _words(with_digits(normalise(term.text)), [], [])[0]
            if not _NO_NAME.match(word)
        )
        return cls(
            words=tuple(words),
            slots=tuple(slots),
            negations=len(negations),
            limits=tuple(sorted(_LIMITS.findall(body))),
            past=frozenset(past) | frozenset(_WAS.findall(body)),
            names=names,
            compares=compared is not None or compares(plain),
            has_reason=_REASON.search(plain) is not None,
        )

    @property
    def joined(self) -> str:
        """The words without their borders: one Chinese phrase is cut in several ways."""
        return "".join(self.words)

    @property
    def tokens(self) -> tuple[str, ...]:
        """Those of the quantities, in order."""
        return tuple(slot.token for slot in self.slots)

    def agrees_with(self, other: Self) -> bool:
        """Whether quantities, negations, limits and tenses are the same."""
        return (
            sorted(self.tokens) == sorted(other.tokens)
            and self.negations == other.negations
            and self.same_but_negation(other)
        )

    def same_but_negation(self, other: Self) -> bool:
        """Whether limits and tenses are the same."""
        tenses = (self.past ^ other.past) - ((set(self.words) ^ set(other.words)) - _AUXILIARIES)
        return self.limits == other.limits and not tenses

    def says_the_same_as(self, other: Self) -> bool:
        """Whether both say one thing: words in order, or one part brought to the front; and all that turns a meaning.

        Symmetric. Names, numbers, dates, negations, directions and what is preferred to what all have to agree.
        """
        return self.agrees_with(other) and self.has_the_words_of(other)

    def has_the_words_of(self, other: Self) -> bool:
        """Whether the content words are the same, in order or with one part brought to the front."""
        mine, others = self._core, other._core
        return bool(mine) and (
            mine == others
            or "".join(mine) == "".join(others)
            or self._rotated(other)
            or self._of_one_measure(other)
            or self._of_one_time(other)
        )

    @property
    def _core(self) -> tuple[str, ...]:
        """The words that none may leave out."""
        return tuple(word for word in self.words if word not in LIGHT) or self.words

    def _of_one_measure(self, other: Self) -> bool:
        """Whether the same few words stand around the same quantity in another order: 5 km every morning."""
        mine, others = self._core, other._core
        if not self.tokens or self.compares or other.compares or self.names | other.names:
            return False
        if len({slot.sort for slot in self.slots}) < len(self.slots):  # which of the two belongs to what?
            return False
        ordered = any(word in _DIRECTIONS or word in _HAN_DIRECTIONS for word in mine)
        return not ordered and len(mine) >= FEWEST_TO_ROTATE - 1 and sorted(mine) == sorted(others)

    def _of_one_time(self, other: Self) -> bool:
        """Whether only the place of the time differs: 每周三晚上小莉去游泳, 小莉每周三晚上去游泳."""
        if self.compares or other.compares:
            return False
        mine, others = _without_time(self._core), _without_time(other._core)
        return mine is not None and mine == others

    def _rotated(self, other: Self) -> bool:
        mine, others = self._core, other._core
        if self.compares or other.compares or len(mine) != len(others):
            return False
        size, names = len(mine), self.names | other.names
        if size < FEWEST_TO_ROTATE and sum(word in names for word in mine) > 1:
            return False
        if any(word in _DIRECTIONS or word in _HAN_DIRECTIONS for word in mine):
            return False
        twice = mine * 2
        return any(twice[start : start + size] == others for start in range(1, size))


def _without_time(words: tuple[str, ...]) -> tuple[str, str] | None:
    """The one time that is named, and the rest; None where there is none, or several, or nothing but it."""
    times = [place for place, word in enumerate(words) if word in _TIMES or word[0] in _TIME_MARKS]
    if not times or times[-1] - times[0] + 1 != len(times) or len(times) == len(words):
        return None
    start, end = times[0], times[-1] + 1
    return "".join(words[start:end]), "".join(words[:start] + words[end:])


def _words(plain: str, slots: Sequence[Quantity], negations: Sequence["re.Match[str]"]) -> tuple[list[str], list[str]]:
    marks = sorted(
        [(slot.start, slot.end, slot.token) for slot in slots]
        + [(match.start(), match.end(), _LIKING if _LIKE.search(match.group()) else "") for match in negations]
    )
    found: list[str] = []
    past: list[str] = []
    at = 0
    for start, end, token in marks:
        if start < at:
            continue
        for word, is_past in _cut(plain[at:start]):
            found.append(word)
            past += [word] if is_past else []
        if token:
            found.append(_like_of(plain[start:end]) if token == _LIKING else token)
        at = end
    for word, is_past in _cut(plain[at:]):
        found.append(word)
        past += [word] if is_past else []
    return found, past


def _like_of(negation: str) -> str:
    return "like" if negation.isascii() else "喜欢"


def _cut(piece: str) -> Iterator[tuple[str, bool]]:
    for match in _PARTS.finditer(piece):
        if match["han"] is not None:
            yield from ((word, False) for word in _of_han(match["han"]))
        else:
            yield from _of_latin(match["latin"])


def _of_han(run: str) -> Iterator[str]:
    for word in _apart(run):
        if (word in CHINESE and word not in _HAN_DIRECTIONS) or word in _FILLERS:
            continue
        yield WORDS.get(one_word(word), one_word(word))


def _apart(run: str) -> Iterator[str]:
    """The dictionary's words, without the verbs that it leaves at nouns and names: 车是, 叫小明."""
    for word in rjieba.cut(run):
        if len(word) > 1 and word.endswith("是"):
            yield word[:-1]
        elif word.startswith("叫") and len(word) > len("叫做") and word not in WORDS:
            yield from ("叫", word[1:])
        elif word not in {"有个", "有只", "有条", "有位"}:
            yield word


def _of_latin(word: str) -> Iterator[tuple[str, bool]]:
    word = word.replace("’", "'").removesuffix("'s")
    if (word in ENGLISH and word not in _DIRECTIONS) or word in _FILLERS:
        return
    plain = one_word(word)
    plain = WORDS.get(plain, plain)
    root = stem(plain)
    root = WORDS.get(root, root)
    yield _ROOTS.get(root, root), word.endswith("ed") and word != root


_ROOTS: Final = {stem(word): stem(standing) for word, standing in WORDS.items() if word.isascii()}
