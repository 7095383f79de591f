"""A rule: what a clause looks like, and what it then tells."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from app.domain.extraction.candidates import Change
from app.domain.memory import Category, Kind

Voice = Literal["first", "second"]
"""Who is spoken of: the speaker (I, 我), or the one spoken to (you, 你)."""

_ADVERBS: Final = (
    r"(?: (?:also|always|usually|often|mostly|just|currently|now|then|do|already|"
    r"basically|generally|definitely|kinda|mainly|personally|really|absolutely|"
    "actually|still|typically|normally|primarily|only|both|all|recently|finally|officially|temporarily|originally|initially|strongly|"
    "sometimes|regularly|simply|totally|truly|particularly|especially|kind of|sort of))*"
)
_WORDS: Final[Mapping[Voice, Mapping[str, str]]] = {
    "first": {
        "<i>": rf"(?:i|we)(?:'ve| have(?! (?:a|an|to|two|three|the|no|my|one)\b))?{_ADVERBS}",
        "<am>": f"(?:i am|i'm|im|we are|we're|i was|we were)(?! not\\b){_ADVERBS}",
        "<my>": "(?:my|our)",
        "<me>": "(?:me|us)",
        "<我>": r"(?:(?:我们?|咱们?|俺|本人)(?:家里?|这边|这里|平时|平常|目前|现在|一直|一般|"
        r"通常|其实|自己|个人|也|还|都|就|真的|特别|本来|每天|最近|已经|刚刚?|比较|"
        r"挺|主要|从小|又|确实|经常|总是|只|长期|常年)*)",
        "<我的>": "(?:(?:我们?|咱们?)(?:家|的|公司|团队|组|部门|项目|这边|家里|项目组)*)",
        "<我家>": "(?:我们?|咱们?)",
    },
    "second": {
        "<i>": f"you(?:'ve| have(?! (?:a|an|to|two|three|the|no|one)\\b))?{_ADVERBS}",
        "<am>": f"(?:you are|you're|you were)(?! not\\b){_ADVERBS}",
        "<my>": "your",
        "<me>": "you",
        "<我>": "(?:(?:你们?|您)(?:家里?|这边|平时|目前|现在|一直|一般|通常|其实|自己|"
        r"也|还|都|就|特别|比较|挺|主要|经常|总是)*)",
        "<我的>": "(?:(?:你们?|您)(?:家|的|公司|团队|项目)*)",
        "<我家>": "(?:你们?|您)",
    },
}


@dataclass(frozen=True, slots=True)
class Rule:
    """What a clause that begins like `pattern` tells.

    The pattern's groups: `value` is what the key holds, `before` what was true before, `what` a part of the key's name.

    Args:
        pattern: Regular expression over a folded clause; `<i>`, `<am>`, `<my>`, `<我>` stand for who is spoken of.
        category: Of the memory.
        key: Canonical key, or a name with `{what}` in it.
        kind: Of the memory.
        change: What it does to what was known.
        importance: 1 to 10; that of the category if None.
        needs_time: Whether a time must be named: "I met Bob" is kept only with its day.
        personal: Whether it is about the one who is spoken of, so that it can be turned to "you".
        annotate: Whether dates are written beside relative times.
        proper: Whether the value must be written as a name, with a capital.
    """

    pattern: str
    category: Category
    key: str | None = None
    kind: Kind = "semantic"
    change: Change | None = None
    importance: int | None = None
    needs_time: bool = False
    personal: bool = True
    annotate: bool = True
    proper: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """A rule that a clause fits, and its match."""

    rule: Rule
    match: "re.Match[str]"

    def group(self, name: str) -> str | None:
        """The group of the match, None if the rule has none of the name or it took no part."""
        return self.match.groupdict().get(name)


class Rules:
    """Rules in their order: the first that fits counts."""

    def __init__(self, *tables: tuple[Rule, ...]) -> None:
        rules = [rule for table in tables for rule in table]
        self._rules: Final[Mapping[Voice, list[tuple[re.Pattern[str], Rule]]]] = {
            "first": [(_compiled(rule.pattern, "first"), rule) for rule in rules],
            "second": [(_compiled(rule.pattern, "second"), rule) for rule in rules if _is_of_a_person(rule)],
        }

    def first_fit(self, plain: str, voice: Voice = "first", *, has_time: bool = False, text: str = "") -> Found | None:
        """The first rule that a folded clause fits.

        Args:
            plain: The clause, without fillers before it.
            voice: Who is spoken of.
            has_time: Whether the clause names a time.
            text: The clause as it is written.
        """
        for pattern, rule in self._rules[voice]:
            if rule.needs_time and not has_time:
                continue
            match = pattern.match(plain)
            if match is None or (rule.proper and not _is_name(text[slice(*match.span("value"))])):
                continue
            return Found(rule, match)
        return None


_NO_NAMES: Final = frozenset(
    """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september
    october november december christmas easter english chinese german french spanish python java rust linux docker ok
    """.split()  # noqa: SIM905 - a list of words is read as words
)


def _is_name(words: str) -> bool:
    parts = words.split()
    return all(part[:1].isupper() and not part.isupper() and part.lower() not in _NO_NAMES for part in parts)


def _is_of_a_person(rule: Rule) -> bool:
    """Whether the rule holds of the one spoken to as well; wishes are the speaker's alone."""
    return rule.personal and rule.key is not None and "<" in rule.pattern[:40] and rule.category != "goal"


def _compiled(pattern: str, voice: Voice) -> re.Pattern[str]:
    for word, meaning in _WORDS[voice].items():
        pattern = pattern.replace(word, meaning)
    return re.compile(pattern)
