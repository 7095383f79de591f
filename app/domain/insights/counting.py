"""Patterns that can be counted: what comes up often, what falls on one weekday, what is corrected again and again."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Final
from uuid import UUID

from app.core.text.scripts import HAN
from app.core.text.segmentation import segment
from app.core.text.stemming import stem
from app.core.text.stopwords import CHINESE, ENGLISH
from app.domain.context.words import Tongue

LEAST_TIMES: Final = 5
LEAST_SHARE: Final = 0.05
MOST_SHARE: Final = 0.8
"""What is in nearly every memory is whom they are about, and no topic."""

LEAST_DAYS: Final = 4
LEAST_WEEKS: Final = 3
WEEKDAY_SHARE: Final = 0.7
LEAST_CORRECTIONS: Final = 2

_WORD: Final = re.compile(rf"[{HAN}]+|[A-Za-z][A-Za-z'’-]{{2,40}}")
_NO_TOPICS: Final = frozenset(
    """
    user users today yesterday tomorrow week weeks month year day days time monday tuesday wednesday thursday friday
    saturday sunday january february march april june july august september october november december morning afternoon
    evening night went got made said like likes want wants use uses new good number first last next every usually often
    用户 今天 昨天 明天 上周 本周 下周 今年 去年 上个月 这个月 下个月 早上 上午 中午 下午 晚上 星期
    周一 周二 周三 周四 周五 周六 周日 每天 每周 喜欢 觉得 可以 需要 使用 一次 有点 非常 时间 没有 一起 自己 经常
    """.split()  # noqa: SIM905 - a list of words is read as words
)
WEEKDAYS: Final[Mapping[Tongue, Sequence[str]]] = {
    "en": ("Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays"),
    "zh": ("星期一", "星期二", "星期三", "星期四", "星期五", "星期六", "星期日"),
}


@dataclass(frozen=True, slots=True)
class Observation:
    """A memory that is reflected on.

    Args:
        id: The memory's.
        text: What it says.
        happened_at: When.
        episodic: Whether it is something that happened.
    """

    id: UUID
    text: str
    happened_at: datetime
    episodic: bool


@dataclass(frozen=True, slots=True)
class Finding:
    """An insight, the memories that bear it, and what it is about, by which it is known again."""

    text: str
    sources: tuple[UUID, ...]
    topic: str


def patterns(
    observations: Sequence[Observation], zone: tzinfo, tongue: Tongue, whose: str | None = None
) -> list[Finding]:
    """What can be counted, weekdays before frequencies, the clearest first; each topic once.

    Args:
        observations: Memories of one owner.
        zone: Where weekdays are taken.
        tongue: Of the findings.
        whose: The user's id: that they speak of themselves is no finding.
    """
    topics, spelled = _topics(observations)
    own = {_stem(word) for word in _words(whose or "")}
    topics = {name: rows for name, rows in topics.items() if not any(_names(one, name) for one in own)}
    topics = {name: rows for name, rows in topics.items() if len(rows) <= MOST_SHARE * len(observations)}
    found = [*_weekdays(topics, spelled, zone, tongue), *_frequent(topics, spelled, len(observations), tongue)]
    kept: dict[frozenset[UUID], Finding] = {}
    names: set[str] = set()
    for one in found:
        name = one.topic.partition(":")[2]
        if name not in names:
            names.add(name)
            kept.setdefault(frozenset(one.sources), one)  # words that always come together are one topic
    return list(kept.values())


def _names(own: str, topic: str) -> bool:
    """Chinese words may stand together with the name before them."""
    return own == topic if own.isascii() else own in topic


def correction(key: str, times: int, sources: Iterable[UUID], tongue: Tongue) -> Finding:
    """That a value was changed or corrected so often."""
    text = (
        f"统计：“{key}”已更改或更正 {times} 次。"
        if tongue == "zh"
        else f"Counted: “{key}” was changed or corrected {times} times."
    )
    return Finding(text, tuple(sources), f"corrected:{key}")


def _topics(observations: Sequence[Observation]) -> tuple[dict[str, list[Observation]], dict[str, str]]:
    """Words that may be topics, by their stem, with the memories that have them; and how they are mostly spelled."""
    found: dict[str, list[Observation]] = {}
    spelled: dict[str, Counter[str]] = {}
    for one in observations:
        words = {_stem(word): word for word in _words(one.text)}
        for name, word in words.items():
            found.setdefault(name, []).append(one)
            spelled.setdefault(name, Counter())[word] += 1
    return found, {name: words.most_common(1)[0][0] for name, words in spelled.items()}


def _words(text: str) -> Iterable[str]:
    for match in _WORD.finditer(text):
        word = match.group()
        if word.isascii() or not re.match(f"[{HAN}]", word):
            plain = word.strip("'’-").lower()
            if plain not in ENGLISH and plain not in _NO_TOPICS:
                yield plain
            continue
        for part in segment(word):
            if len(part) > 1 and part not in CHINESE and part not in _NO_TOPICS:
                yield part


def _stem(word: str) -> str:
    return stem(word) if word.isascii() else word


def _frequent(
    topics: Mapping[str, list[Observation]], spelled: Mapping[str, str], total: int, tongue: Tongue
) -> list[Finding]:
    often = [(len(rows), name) for name, rows in topics.items() if len(rows) >= max(LEAST_TIMES, LEAST_SHARE * total)]
    found = []
    for times, name in sorted(often, key=lambda one: -one[0]):
        word = spelled[name]
        text = (
            f"统计：最近 {total} 条记忆中有 {times} 条提到“{word}”。"
            if tongue == "zh"
            else f"Counted: “{word}” comes up in {times} of the last {total} memories."
        )
        found.append(Finding(text, tuple(row.id for row in topics[name]), f"often:{name}"))
    return found


def _weekdays(
    topics: Mapping[str, list[Observation]], spelled: Mapping[str, str], zone: tzinfo, tongue: Tongue
) -> list[Finding]:
    found: list[tuple[float, int, Finding]] = []
    for name, rows in topics.items():
        days = {row.happened_at.astimezone(zone).date(): row for row in rows if row.episodic}
        if len(days) < LEAST_DAYS:
            continue
        (weekday, times), *_ = Counter(day.weekday() for day in days).most_common(1)
        mine = [day for day in days if day.weekday() == weekday]
        weeks = {day.isocalendar()[:2] for day in mine}
        share = times / len(days)
        if share < WEEKDAY_SHARE or len(weeks) < LEAST_WEEKS:
            continue
        word, named = spelled[name], WEEKDAYS[tongue][weekday]
        text = (
            f"统计：“{word}”大多在{named}（{len(days)} 次中有 {times} 次）。"
            if tongue == "zh"
            else f"Counted: “{word}” falls mostly on {named} ({times} of {len(days)} times)."
        )
        finding = Finding(text, tuple(days[day].id for day in sorted(mine)), f"weekday:{name}")
        found.append((share, times, finding))
    return [one for _, _, one in sorted(found, key=lambda each: (-each[0], -each[1]))]
