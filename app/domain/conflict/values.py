"""Whether two values of a key are one, however they are spelt."""

import json
import re
from functools import lru_cache
from typing import Any, Final

from app.core.text.normal import normalise
from app.core.text.scripts import HAN
from app.domain.conflict.meaning import Meaning
from app.domain.conflict.quantities import quantities, with_digits
from app.domain.conflict.synonyms import VALUES

_HAN: Final = re.compile(f"[{HAN}]")
_LATIN: Final = re.compile(r"[A-Za-z\u00c0-\u024f]")
_PUNCTUATION: Final = re.compile(r"[\s\"'“”‘’`.,;:!?()（）。，、；：！？《》「」]+")
_ARTICLE: Final = re.compile(r"^(?:the|a|an|my|our|in|at|on) (?=\S)")
_TRAILING: Final = re.compile(
    r" (?:inc|ltd|llc|gmbh|corp|corporation|co|company|plc|city|ag|se|bv|oy|srl|pty)$"
    r"|(?:有限责任公司|股份有限公司|有限公司|集团公司|公司|集团)$"
)
_PLACE: Final = re.compile(r"(?P<name>.{2,})(?:市|省|特别行政区|壮族自治区|回族自治区|维吾尔自治区|自治区)$")
_WITHIN: Final = re.compile(
    r"^(?:[^\W\da-z]{1,3}(?:省|自治区)|(?:中|法|德|美|英|韩|泰)国|日本|意大利|西班牙)(?=[^\W\da-z]{2})"
)
"""What a place lies in, written before it."""

_TWO_PLACES: Final = frozenset({"吉林"})
"""A province and a city have this name."""

FEWEST_INITIALS: Final = 3
_VERSION: Final = re.compile(r"\s*v?\d+(?:\.\d+)*(?:\s*(?:lts|beta|rc\d*))?$")
_YEAR: Final = re.compile(r"@\d{4}-")


def same_value(one: Any, other: Any) -> bool:  # noqa: ANN401 - a value is any JSON
    """Whether both are one value: by spelling, a known other name, the same number, date or words. Symmetric."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    first, second = _text(one), _text(other)
    if first is None or second is None:
        return first is None and second is None and _json(one) == _json(other)
    return (
        _spelling(first) == _spelling(second)
        or _says(first) == _says(second)
        or _is_short_for(first, second)
        or _is_short_for(second, first)
    )


def _is_short_for(short: str, long: str) -> bool:
    """Whether capital letters are the initials of a name of three words or more: IBM."""
    words = re.findall(r"[A-Za-z]+", long)
    capital = len(words) >= FEWEST_INITIALS and all(word[0].isupper() for word in words)
    return capital and short == "".join(word[0] for word in words)


def in_other_scripts(one: Any, other: Any) -> bool:  # noqa: ANN401 - likewise
    """Whether one is written in Chinese and the other in Latin letters: no rule knows that 北京 is Beijing."""
    first, second = str(one), str(other)
    return _only_in(_HAN, first, _LATIN, second) or _only_in(_HAN, second, _LATIN, first)


def _only_in(first: re.Pattern[str], one: str, second: re.Pattern[str], other: str) -> bool:
    own = first.search(one) is not None and second.search(one) is None
    return own and second.search(other) is not None and first.search(other) is None


def refines(new: Any, old: Any) -> bool:  # noqa: ANN401 - likewise
    """Whether the new value is the old one and a version, or a year, that it did not have."""
    if not isinstance(new, str) or not isinstance(old, str):
        return False
    longer, shorter = _spelling(new), _spelling(old)
    version = _VERSION.search(normalise(new).strip())
    if version is not None and version.start() and not _VERSION.search(normalise(old).strip()):
        return _spelling(new.strip()[: version.start()]) == shorter
    return _YEAR.match(longer) is not None and shorter == "@" + longer[6:]


def mentioned(value: Any, text: str) -> bool:  # noqa: ANN401 - likewise
    """Whether a text names the value, in one of its spellings."""
    written = _text(value)
    if not written or not written.strip():
        return False
    if _folded(written) in _folded(text) and _bounded(_folded(written), _folded(text)):
        return True
    standing = VALUES.get(_folded(written))
    if standing is not None:
        folded = _folded(text)
        if any(other == standing and _bounded(name, folded) for name, other in VALUES.items()):
            return True
    return bool(_says(written)) and set(_says(written)) <= set(Meaning.of(text).words)


def _bounded(name: str, text: str) -> bool:
    """Whether the name stands there as words of its own; Chinese has no borders."""
    edge = r"(?<![a-z0-9]){}(?![a-z0-9])" if name.isascii() else "{}"
    return bool(name) and re.search(edge.format(re.escape(name)), text) is not None


def _text(value: Any) -> str | None:  # noqa: ANN401 - likewise
    if isinstance(value, str):
        return value
    return f"{value:g}" if isinstance(value, int | float) else None


def _json(value: Any) -> str:  # noqa: ANN401 - likewise
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def _folded(text: str) -> str:
    return _PUNCTUATION.sub(" ", normalise(text)).strip()


@lru_cache(maxsize=4_096)
def _spelling(value: str) -> str:
    plain = with_digits(normalise(value).strip())
    found = quantities(plain)
    if len(found) == 1 and found[0].start == 0 and found[0].end == len(plain):
        return found[0].token
    folded = _ARTICLE.sub("", _folded(value))
    if folded in VALUES:
        return VALUES[folded]
    bare = _WITHIN.sub("", _TRAILING.sub("", folded) or folded)
    place = _PLACE.match(bare)
    if place is not None and place["name"] not in _TWO_PLACES:
        bare = place["name"]
    return VALUES.get(bare, bare.replace(" ", "").replace("-", ""))


@lru_cache(maxsize=4_096)
def _says(value: str) -> tuple[str, ...]:
    found = Meaning.of(value)
    return (*found.words, *("not" for _ in range(found.negations))) if found.words else (_spelling(value),)
