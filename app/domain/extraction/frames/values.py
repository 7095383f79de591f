"""Values: where they end, and of which sort they are."""

import re
from typing import Final, Literal

Sort = Literal["time", "number", "name", "phrase"]
"""`time`: an hour, a day or a date. `number`: an amount. `name`: written as one. `phrase`: any other words."""

MOST_CHARACTERS: Final = 60
"""Of the longest value of a slot."""

_CLOCK: Final = r"\d{1,2}(?::\d\d)? ?[ap]\.?m\b|\d{1,2}:\d\d\b|noon\b|midnight\b|\d{1,2} o'clock"
_DAY: Final = (
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|tomorrow\b|(?:next|this) (?:week|month|spring|summer|fall|autumn|"
    r"winter)\b|(?:january|february|april|june|july|august|september|october|november|december)\b(?! \d)|"
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.? \d{1,2}|\d{1,2}(?:st|nd|rd|th)? (?:of )?(?:january|february|march|"
    r"april|may|june|july|august|september|october|november|december)|\d{4}-\d\d-\d\d|the \d{1,2}(?:st|nd|rd|th)\b"
    r"(?! (?:floor|grade|year))"
)
_DIGIT_ZH: Final = "[\\d一二两三四五六七八九十]"
_TIME_ZH: Final = (
    rf"{_DIGIT_ZH}{{1,3}}点|{_DIGIT_ZH}{{1,3}}:\d\d|(?:上|下|这|本|每)?(?:周|星期|礼拜)[一二三四五六日天末]|"
    rf"{_DIGIT_ZH}{{1,3}}月(?:{_DIGIT_ZH}{{1,3}}[日号]?|[初中底])|{_DIGIT_ZH}{{1,3}}[号日](?!楼|线|院|门|机)|"
    "月底|年底|[明后]天|下个?月|中午|午夜"
)
TIME: Final = re.compile(
    r"(?:(?:at|on|by|around|about|before|every|each|the|next|late|early|mid|from|in|大概|大约|约|每天?|每个?月的?|"
    r"在|下个?|早上|上午|"
    rf"下午|晚上|中午|凌晨|傍晚|改?到|差不多|就|隔) ?)*(?:{_CLOCK}|{_DAY}|{_TIME_ZH})"
)
_BARE_HOUR: Final = re.compile(
    r"\d{1,2}(?::\d\d)?(?: ?(?:am|pm))?(?: ?(?:to|-|–|until|till) ?\d{1,2}(?::\d\d)?(?: ?(?:am|pm))?)?$"
)
_NUMBER: Final = re.compile(
    r"(?:about |around |roughly |only |大约|大概|约)*[$€£¥]? ?\d[\d.,]*(?: ?(?:k|m|%|[a-z]{1,12}|percent|per|a|an)\b)*"
    rf"|{_DIGIT_ZH}+(?:岁|元|块|万|千|公斤|斤|公里|米|楼|层|分钟|小时|片|次|天|个|毫|人)"
)
_TAIL_EN: Final = re.compile(
    r"[ ,;:-]*(?:\b(?:right |just )?now|\b(?:these|nowa)days|\bthese days|\bat (?:the moment|present)|\bcurrently|"
    r"\binstead|"
    r"\bfor (?:good|now|sure|everything|work|most things)|\bfrom (?:now|here|today) on(?:wards?)?|\bany ?more|\bagain|"
    r"\bgoing forward|\blately|\bas of\b.*|\bsince\b.*|\bstarting\b.*|\beffective\b.*|"
    r"\b(?:earlier )?(?:last|this|over the) (?:week(?:end)?|month|year|season|"
    r"spring|summer|fall|autumn|winter|morning)|\byesterday|\btoday|\balready|\bofficially|\bpermanently|\bbtw|"
    r"\bby the way|\bhaha+|\blol|\bplease|\bthough|\btoo|\bas well|\bbecause\b.*|\bcause\b.*|\bso (?:i|we|that|it)\b.*|"
    r"\bbut\b.*|\band (?:i|we|it|my|our|the|so|now|love|like|really|then)\b.*|\bhands down|\bin the end|\bafter all|"
    r"\bby far|\bno longer\b.*|\binstead of\b.*|\brather than\b.*|\bwhich\b.*|\bwho\b.*|\bwhere\b.*|"
    r"\bto be (?:precise|exact|honest)|\bif\b.*|\bwhen\b.*|\bwhile\b.*|\buntil further notice|\bonce\b.*|\bonly|"
    r"\bwith (?:my|our|the)\b.*|\bfor (?:my|our|me|us)\b.*|\bin case\b.*|\bsince then|\b(?:a|two|three|"
    r"few|couple)(?: of)? (?:days?|weeks?|months?|years?) ago|\b\w+ (?:days?|weeks?|months?|years?) ago|"
    r"[.!?~]+)$"
)
"""What a value does not end with; commas are handled apart."""

_COMMA: Final = re.compile(r"(?<!\d)\s*,.*|,(?!\d).*|\s[-–(—].*$|: .*$|; .*$")
_TAIL_ZH: Final = re.compile(
    r"(?:了(?:哦|啊|呢|吧|哈)?|吧|呢|啊|哦|哈|的|这边|那边|就行|就好|就可以|为主|来着|而不是.*|不是.*|因为.*|所以.*|"
    r"上班|工作|(?<=[日号天点半一二三四五六])(?:之前|以前|前)?(?:提交|交|截止|开始|举行)|[,。!~;].*)$"
)
_ARTICLE: Final = re.compile(r"(?:the|now|currently|still|called|named|just|about) (?=\S)")


def sort_of(plain: str, written: str, *, hours: bool = False) -> Sort:
    """The sort of a folded value.

    Args:
        plain: Folded.
        written: As it is written.
        hours: Whether a bare number is an hour: "at 10".
    """
    if TIME.match(plain) is not None or (hours and _BARE_HOUR.match(plain) is not None):
        return "time"
    if _NUMBER.match(plain) is not None:
        return "number"
    if re.search(r"[A-Z]|[\u3400-\u9fff]|\w@\w|\w\.\w|\d", written) is not None:
        return "name"
    return "phrase"


def cleaned(plain: str, written: str, *, chinese: bool) -> tuple[str, str] | None:
    """A value without what goes on after it, folded and as it is written; None if nothing remains.

    Both have the same length, letter for letter.
    """
    start, end = 0, len(plain)
    if not chinese:
        comma = _COMMA.search(plain)
        end = comma.start() if comma is not None else end
    tail = _TAIL_ZH if chinese else _TAIL_EN
    for _ in range(4):
        end = len(plain[:end].rstrip(" ,、:;!.。~\"'”」"))
        found = tail.search(plain[:end])
        if found is None:
            break
        end = found.start()
    article = _ARTICLE.match(plain[:end])
    start = article.end() if article is not None and not chinese else 0
    start += len(plain[start:end]) - len(plain[start:end].lstrip(" :\"'“「"))
    if end - start < 1 or end - start > MOST_CHARACTERS or not re.search(r"\w", plain[start:end]):
        return None
    return plain[start:end], written[start:end]


def as_written(text: str, match: "re.Match[str]", group: str) -> str | None:
    """A group of a match of the folded text as it is written; None where it has none."""
    return text[slice(*match.span(group))] if match.groupdict().get(group) is not None else None
