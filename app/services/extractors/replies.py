"""What language models are asked for. Words are checked here; whether they are true is checked by `grounding`.

What is merely careless (a category that nobody knows, "7" for 7) becomes what it must mean, or nothing; what is not
there cannot be repaired here, and the model is asked again.
"""

import math
import re
from typing import Annotated, Any, Final, cast, get_args

from pydantic import BaseModel, BeforeValidator

from app.domain.conflict.statements import VERDICTS, Verdict
from app.domain.extraction.candidates import Change
from app.domain.memory import CATEGORIES, KINDS, Category, Kind

MOST_NUMBERS: Final = 20
"""Message numbers of one memory that are looked at."""

_CHANGES: Final[tuple[Change, ...]] = get_args(Change)
_NUMBER: Final = re.compile(r"\d{1,9}")
_SPELLINGS: Final[dict[str, Verdict]] = {
    "noop": "reinforce",
    "none": "reinforce",
    "same": "reinforce",
    "duplicate": "reinforce",
    "update": "supersede",
    "replace": "supersede",
    "delete": "retract",
    "remove": "retract",
    "new": "add",
    "correction": "correct",
    "conflict": "contradict",
}


def _word(value: Any) -> str:  # noqa: ANN401 - JSON is anything
    return value.strip().casefold() if isinstance(value, str) else ""


def _numbers(value: Any) -> list[int]:  # noqa: ANN401 - likewise
    """Numbers however they are written: 3, "3", "[3]", [3, "4"]."""
    items = value if isinstance(value, list) else [value]
    found: list[int] = []
    for item in items[:MOST_NUMBERS]:
        if isinstance(item, bool):
            continue
        if isinstance(item, int):
            found.append(item)
        elif isinstance(item, float) and item.is_integer():
            found.append(int(item))
        elif isinstance(item, str):
            found += map(int, _NUMBER.findall(item))
    return list(dict.fromkeys(found))


def _one_number(value: Any) -> int:  # noqa: ANN401 - likewise
    """The only number; 0, which is no pair, where there is none or several."""
    found = _numbers(value)
    return found[0] if len(found) == 1 else 0


def _kind(value: Any) -> Kind | None:  # noqa: ANN401 - likewise
    return cast("Kind", _word(value)) if _word(value) in KINDS else None


def _category(value: Any) -> Category:  # noqa: ANN401 - likewise
    return cast("Category", _word(value)) if _word(value) in CATEGORIES else "other"


def _change(value: Any) -> Change | None:  # noqa: ANN401 - likewise
    return cast("Change", _word(value)) if _word(value) in _CHANGES else None


def _text(value: Any) -> str | None:  # noqa: ANN401 - likewise
    """A short text or a number; what else there is, is no value."""
    if isinstance(value, bool) or value is None:
        return None
    written = f"{value:g}" if isinstance(value, float) else str(value) if isinstance(value, str | int) else ""
    return written.strip() or None


def _importance(value: Any) -> int | None:  # noqa: ANN401 - likewise
    if isinstance(value, str) and (number := _NUMBER.search(value)):
        value = -1 if value.strip().startswith("-") else int(number.group())
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return min(10, max(1, round(value)))


def _verdict(value: Any) -> Verdict | None:  # noqa: ANN401 - likewise
    word = _word(value)
    return next((verdict for verdict in VERDICTS if verdict == word), _SPELLINGS.get(word))


class MemoryRow(BaseModel):
    """One memory as a model proposes it; `quote` stands before `text`, for it is written first."""

    messages: Annotated[list[int], BeforeValidator(_numbers)]
    quote: str
    text: str
    kind: Annotated[Kind | None, BeforeValidator(_kind)] = None
    category: Annotated[Category, BeforeValidator(_category)] = "other"
    key: Annotated[str | None, BeforeValidator(_text)] = None
    value: Annotated[str | None, BeforeValidator(_text)] = None
    importance: Annotated[int | None, BeforeValidator(_importance)] = None
    change: Annotated[Change | None, BeforeValidator(_change)] = None
    before: Annotated[str | None, BeforeValidator(_text)] = None


class ExtractReply(BaseModel):
    """What is worth remembering."""

    memories: list[MemoryRow]


class VerdictRow(BaseModel):
    """One pair's verdict; None where the model's word is none."""

    pair: Annotated[int, BeforeValidator(_one_number)]
    verdict: Annotated[Verdict | None, BeforeValidator(_verdict)]


class JudgeReply(BaseModel):
    """Verdicts on numbered pairs."""

    verdicts: list[VerdictRow]
