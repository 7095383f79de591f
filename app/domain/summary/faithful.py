"""Whether a sentence of a language model's stands in what was said: every number and every name of it does."""

import re
from collections.abc import Sequence
from typing import Final

import rjieba

from app.core.text.content import content_terms
from app.core.text.language import language_of
from app.core.text.normal import normalise
from app.core.text.scripts import HAN
from app.core.text.stemming import stem
from app.core.text.stopwords import ENGLISH
from app.domain.conflict.quantities import with_digits
from app.domain.summary.lines import Line
from app.domain.summary.sentences import Sentence

MOST_SENTENCES: Final = 8
"""Of one stretch: what a model says beyond that is cut."""

LONGEST: Final = 400

_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_LATIN: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_HAN: Final = re.compile(f"[{HAN}]")
_SURNAMES: Final = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任"
    "姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文欧阳司马"
)
_PERSON: Final = re.compile(
    f"(?<![{HAN}])(?P<name>[{_SURNAMES}][{HAN}]{{1,2}}?)(?=说|要求|要|会|将|负责|表示|认为|建议|决定|同意|提出|提议|加入|先生|女士|经理|总|批准|确认)"
)
_SPEAKERS: Final = frozenset("the user users assistant he she they it we i you".split())  # noqa: SIM905 - words
_TAGS: Final = frozenset({"nr", "nrt", "nrfg", "ns", "nt", "nz", "eng", "x"})


def figures_of(text: str) -> set[str]:
    """The numbers in a text, Chinese numerals before measures too, thousands without their comma."""
    plain = with_digits(normalise(text))
    return {re.sub(r",(?=\d{3}(?!\d))", "", run) for run in _NUMBER.findall(plain)}


def names_of(text: str) -> set[str]:
    """What a text names, each word folded: whatever may be the name of somebody or something.

    In English also the first word of a sentence: an invented name may stand there.
    """
    found: set[str] = set()
    for term in content_terms(text):
        if term.kind == "name":
            found |= set(normalise(term.text).split())
    for word in _LATIN.findall(text):
        if word[:1].isupper():
            found.add(normalise(word))
    if _HAN.search(text):
        found |= {normalise(word) for word, tag in rjieba.tag(text) if tag in _TAGS and len(word) > 1}
        found |= {normalise(match["name"]) for match in _PERSON.finditer(text)}
    return {name for name in found if name not in _SPEAKERS and name not in ENGLISH and not _NUMBER.fullmatch(name)}


def grounded(text: str, cited: Sequence[int], lines: Sequence[Line]) -> Sentence | None:
    """The model's sentence with the range of messages that bear it out; None where it cannot be believed.

    The range is that of the messages it cites, widened to those of the stretch in which its numbers and names stand.
    A sentence in another language than the messages, too long, or with a number or name that no message has, is not
    believed.
    """
    text = " ".join(text.split())
    spoken = [line for line in lines if line.turn.text.strip() or line.calls]
    if not text or len(text) > LONGEST or not spoken or not _one_language(text, spoken):
        return None
    by_seq = {line.seq: line for line in spoken}
    used = {seq for seq in cited if seq in by_seq}
    wanted = {("#", one) for one in figures_of(text)} | {("@", one) for one in names_of(text)}
    for mark, one in sorted(wanted):
        if any(_has(by_seq[seq], mark, one) for seq in used):
            continue
        witness = next((line for line in reversed(spoken) if _has(line, mark, one)), None)
        if witness is None:
            return None
        used.add(witness.seq)
    if not used:
        return None
    return Sentence(text, min(used), max(used), None, "statement", 0.6)


def _has(line: Line, mark: str, one: str) -> bool:
    heard = " ".join([line.turn.text, line.turn.name or "", *(f"{call.name} {call.arguments}" for call in line.calls)])
    if mark == "#":
        return one in figures_of(heard)
    plain = normalise(heard)
    if not one.isascii():
        return one in plain
    if re.search(rf"(?<![a-z0-9]){re.escape(one)}(?![a-z0-9])", plain):
        return True
    return stem(one) in {stem(word) for word in re.findall(r"[a-z0-9]+", plain)}


def _one_language(text: str, lines: Sequence[Line]) -> bool:
    said = language_of("\n".join(line.turn.text for line in lines if line.turn.role == "user") or lines[0].turn.text)
    written = language_of(text)
    return written == said or "other" in {written, said}
