"""Passwords where they are assigned (`password=...`), told ("my password is ...", 密码是……) or given to a command."""

import re
from collections.abc import Iterator
from typing import Final

from app.domain.redaction.folding import Folded
from app.domain.redaction.kinds import Secret
from app.domain.redaction.values import assigned_password, placeholder_like, strong, told_in_han, told_password

KEYWORD: Final = re.compile(
    r"(?P<word>password|passwd|passphrase|passcode|pwd)(?![a-z]|\s(?:manager|policy|hint))"
    r"|(?P<short>(?<![a-z])(?:pass|pw|passw))(?![a-z])"
    r"|(?P<pin>(?<![a-z0-9])pin)(?:[ -]?(?:code|码|碼))?+(?![a-z])"
    r"|(?P<han>密码|密碼|口令|解压码|解壓碼|提取码)"
)
_WORDS: Final = ("pass", "pwd", "pw", "pin", "密码", "密碼", "口令", "解压码", "解壓碼", "提取码")
ASSIGN: Final = re.compile(r"[\"'`\\*]{0,3}+\s{0,3}+(?:[:=]{1,2}+>?|=>|>(?=[^<>\s]{1,128}+</))\s{0,3}+(?:\*\*\s?)?+")
TOLD: Final = re.compile(
    r"(?:\s(?:for|to|of|on|at|in)\s[^.,;:!?\n]{1,40}?)?"
    r"(?:'s|\s(?:is|was|will be|should be|now is|is now|is still):?+)\s{1,2}+(?::\s?)?+"
)
TURNED: Final = re.compile(r"(?:\s(?:for|of|on)\s[^.,;:!?\n]{1,40}?)?\s(?:to|as)\s{1,2}+")
CHANGED: Final = re.compile(
    r"(?:\s(?:for|of|on)\s[^.,;:!?\n]{1,40}?)?\s(?:got |was |has been )?(?:changed |reset |set )?"
    r"(?:from\s[\x21-\x7e]{1,64}+\s)?to\s{1,2}+"
    r"|从\s?[\x21-\x7e]{1,64}?\s?(?:换成|換成|改成|改为|改為|变成)了?\s{0,2}+"
)
"""What it was before stands between."""

LISTED: Final = re.compile(r"\s(?:for|of|on|to)\s[^.,;:!?\n]{1,40}?:\s{0,2}+")
LISTED_HAN: Final = re.compile(r"[^.,;:!?\n，。；\x21-\x7e]{1,12}:\s{0,2}+")
TOLD_HAN: Final = re.compile(
    r"\s{0,2}+(?:已经|已經|也|都|仍|还|還|就|将|將|被我|被|我)?+"
    r"(?:是|为|為|叫|改为|改為|改成|改到|换成|换为|換成|设为|設為|设成|設成|设置为|設置為|设置成|設置成|重置为|重置成|更新为|定为)了?\s{0,2}+(?:[:=]\s?)?+"
)
BESIDE: Final = re.compile(r"(?:\s{1,2}+|(?<=[密码碼令])\s{0,2}+)(?=[\x21-\x7e\"'“「])")
QUOTES: Final = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "「": "」", "『": "』", "”": "”"}
RUN: Final = re.compile(r"[\x21-\x7e]{1,128}+")
HAN_RUN: Final = re.compile(r"[\u4e00-\u9fff]{3,12}+(?=[，。！；、\s,.!;]|$)")
UNIT: Final = re.compile(
    r"\s?(?:[位个個次天年月日种種套遍倍字周分秒]|加密|哈希|算法|散列|存储|格式|类型|编码|小时|以上|以内|[-~到至]\s?[0-9]"
    r"|characters?|chars?|digits?|letters?|words?|days?|bytes?|bits?|times|weeks?|months?|years?|minutes?|hours?)"
)
_NEXT_FIELD: Final = re.compile(
    r"[&;](?=[A-Za-z][A-Za-z_ ]{0,30}+[=:])|[;,](?=\s|$)|</|[\"'`](?=[,;:)\]}&\s]|$)|\\[\"']"
    r"|[,](?=[\"'A-Za-z_]{1,30}+[\"']?[:=])"
)
_CLAUSE_END: Final = re.compile(
    r"[\"'”」)]?(?:\s{0,2}+(?:$|[.,;!\n)，。！；、#—])"
    r"|\s(?:for|on|until|and|but|please|thanks|thank|now|in case|ok|okay|btw|-)\b|\s{0,2}+[\u4e00-\u9fff])"
)
_CLOSERS: Final = {")": "(", "]": "[", "}": "{", ">": "<"}
LOOK_BACK: Final = 100
USED_AS: Final = re.compile(
    r"(?:^|[\s,:(])(?:(?P<quote>[\"'“`「])(?P<inside>[^\"”`」\n]{3,64}+)[\"'”`」]|(?P<run>[\x21-\x7e]{4,64}+))"
    r"\s(?:as|for)\s(?:the|my|a|our|its|your|his|her|their)\s(?:[a-z][a-z-]{1,15}\s){0,2}$"
)
VARIABLE: Final = re.compile(r"\$\{?[a-z0-9_]{0,40}$|<[a-z ]{1,30} $")
"""Before a keyword: it names a variable or a stand-in, `${DB_PASSWORD:-x}` or `<your password>`."""

MAX_QUOTED: Final = 200
COMMANDS: Final = re.compile(
    r"(?<![a-z])(?:(?:mysql|mysqldump|mysqladmin|mariadb)\s[^\n|;]{0,120}?(?<=\s)-p(?=[^\s-])"
    r"|sshpass\s-p\s?|redis-cli\s[^\n|;]{0,80}?(?<=\s)-a\s"
    r"|(?:curl|wget|http)\s[^\n|;]{0,120}?(?<=\s)(?:-u|--user)[\s=][\"']?[^\s:\"']{1,64}+:)"
)
_COMMANDS: Final = ("mysql", "mariadb", "sshpass", "redis-cli", "curl", "wget", "http")
SIGNS: Final = (*_WORDS, *_COMMANDS)
"""One of them stands in a text that has a password, in lower case."""

MIN_DIGITS: Final = 4
"""Of a code that ends in # or *, as keypads want it."""

_PIN: Final = re.compile(r"[0-9]{4,8}(?![0-9])")


def find_passwords(folded: Folded) -> Iterator[Secret]:
    """Passwords, passphrases and PINs by the words and the signs around them."""
    lower = folded.lower
    if any(command in lower for command in _COMMANDS):
        yield from _of_commands(folded)
    if not any(word in lower for word in _WORDS):
        return
    for keyword in KEYWORD.finditer(lower):
        if VARIABLE.search(lower, max(0, keyword.start() - LOOK_BACK), keyword.start()) is not None:
            continue
        found = _after(folded, keyword) or _before(folded, keyword)
        if found is not None:
            yield Secret(*found, "password")


def password_named(name: str) -> bool:
    """Whether a field of this name holds a password."""
    lower = name.lower()
    return any(found.end() == len(lower) for found in KEYWORD.finditer(lower))


def _after(folded: Folded, keyword: "re.Match[str]") -> tuple[int, int] | None:
    """The password that follows its keyword, by the strongest sign there is between them."""
    at = keyword.end()
    assign = ASSIGN.match(folded.text, at)
    if keyword["pin"] is not None:
        return _pin(folded, at, assign)
    if assign is not None:
        return _assigned(folded, assign.end(), keyword, tight=assign[0] in {"=", ":"})
    if keyword["short"] is not None and keyword["short"] == "pass":
        return None
    for link in (TOLD_HAN, TOLD):
        told = link.match(folded.lower, at)
        if told is not None:
            return _told(folded, told.end(), keyword) or _listed(folded, at)
    for link in (TURNED, CHANGED, LISTED):
        turned = link.match(folded.lower, at)
        if turned is not None and (found := _strong(folded, turned.end(), digits=False)) is not None:
            return found
    beside = BESIDE.match(folded.text, at)
    return None if beside is None else _strong(folded, beside.end(), digits=keyword["han"] is not None)


def _listed(folded: Folded, at: int) -> tuple[int, int] | None:
    """Behind the colon that some words lead to."""
    listed = LISTED_HAN.match(folded.lower, at)
    return None if listed is None else _strong(folded, listed.end(), digits=False)


def _pin(folded: Folded, at: int, assign: "re.Match[str] | None") -> tuple[int, int] | None:
    link = assign or TOLD_HAN.match(folded.lower, at) or TOLD.match(folded.lower, at)
    if link is None:
        return None
    digits = _PIN.match(folded.text, link.end() + (folded.text[link.end() : link.end() + 1] in QUOTES))
    return None if digits is None or UNIT.match(folded.lower, digits.end()) else digits.span()


def _assigned(folded: Folded, at: int, keyword: "re.Match[str]", *, tight: bool) -> tuple[int, int] | None:
    quoted = _quoted(folded.text, at)
    if quoted is not None:
        value = folded.text[slice(*quoted)]
        return quoted if assigned_password(value) and (value.isascii() or _watchword(value)) else None
    run = RUN.match(folded.text, at)
    if run is None:
        return _han_words(folded, at, keyword)
    start, end = _cut(folded.text, run.start(), run.end(), keep="!?" if tight else "!")
    value = folded.text[start:end]
    if UNIT.match(folded.lower, end) is not None and not strong(value):
        return None
    sure = strong(value) or (value.isdigit() and len(value) >= 4)  # noqa: PLR2004 - a PIN's length
    if keyword["short"] is not None and not sure:
        return None
    if not assigned_password(value):
        return None
    ends = tight or _CLAUSE_END.match(folded.text, end) is not None
    return (start, end) if sure or ends else None


def _told(folded: Folded, at: int, keyword: "re.Match[str]") -> tuple[int, int] | None:
    quoted = _quoted(folded.text, at)
    if quoted is not None:
        value = folded.text[slice(*quoted)]
        return quoted if assigned_password(value) and (value.isascii() or _watchword(value)) else None
    run = RUN.match(folded.text, at)
    if run is None:
        return _han_words(folded, at, keyword)
    start, end = _cut(folded.text, run.start(), run.end(), keep="!")
    value = folded.text[start:end]
    if UNIT.match(folded.lower, end) is not None and (value.isdigit() or not strong(value)):
        return None
    if keyword["han"] is not None and value.endswith(("#", "*")) and value[:-1].isdigit():
        return (start, end) if len(value) > MIN_DIGITS else None
    return (start, end) if told_password(value, ends_clause=_CLAUSE_END.match(folded.text, end) is not None) else None


def _strong(folded: Folded, at: int, *, digits: bool) -> tuple[int, int] | None:
    """What needs no word between: letters and digits mixed, and after a Chinese keyword digits alone."""
    quoted = _quoted(folded.text, at)
    if quoted is not None:
        value = folded.text[slice(*quoted)]
        return quoted if assigned_password(value) and value.isascii() else None
    run = RUN.match(folded.text, at)
    if run is None:
        return None
    start, end = _cut(folded.text, run.start(), run.end(), keep="!")
    value = folded.text[start:end]
    sure = strong(value) or (
        digits and len(value) >= 4 and value.rstrip("#*").isdigit()  # noqa: PLR2004 - a PIN's length
    )
    return (start, end) if sure and UNIT.match(folded.lower, end) is None else None


def _han_words(folded: Folded, at: int, keyword: "re.Match[str]") -> tuple[int, int] | None:
    """A watchword in Chinese: only 口令 has one without quotes."""
    words = HAN_RUN.match(folded.text, at)
    if words is None or keyword["han"] != "口令" or not told_in_han(words[0]):
        return None
    return words.span()


def _watchword(value: str) -> bool:
    return told_in_han(value) and " " not in value


def _before(folded: Folded, keyword: "re.Match[str]") -> tuple[int, int] | None:
    """`use X as the password`."""
    if keyword["word"] is None and keyword["short"] is None:
        return None
    begin = max(0, keyword.start() - LOOK_BACK)
    window = folded.text[begin : keyword.start()]
    if " as " not in window and " for " not in window:
        return None
    used = USED_AS.search(window)
    if used is None:
        return None
    if used["inside"] is not None:
        return begin + used.start("inside"), begin + used.end("inside")
    return (begin + used.start("run"), begin + used.end("run")) if strong(used["run"]) else None


def _of_commands(folded: Folded) -> Iterator[Secret]:
    for command in COMMANDS.finditer(folded.lower):
        quoted = _quoted(folded.text, command.end())
        run = None if quoted is not None else RUN.match(folded.text, command.end())
        span = quoted if run is None else (run.start(), run.start() + len(run[0].rstrip("\"';")))
        if span is not None and not placeholder_like(folded.text[slice(*span)]):
            yield Secret(*span, "password")


def _quoted(text: str, at: int) -> tuple[int, int] | None:
    """The inside of the quotes that open here, escaped or not; None where none open, or nothing closes them."""
    begin = at
    while begin < at + 3 and text[begin : begin + 1] == "\\":
        begin += 1
    close = QUOTES.get(text[begin : begin + 1])
    if close is None:
        return None
    end = text.find(close, begin + 1, begin + 1 + MAX_QUOTED)
    if end < 0 or "\n" in text[begin:end]:
        return None
    return begin + 1, begin + 1 + len(text[begin + 1 : end].rstrip("\\"))


def _cut(text: str, start: int, end: int, *, keep: str) -> tuple[int, int]:
    """A run of characters without what belongs to the sentence or to the next field."""
    while start < end and text[start] in "\"'`\\(*":
        start += 1
    following = _NEXT_FIELD.search(text, start, end)
    if following is not None:
        end = following.start()
    while end > start and text[end - 1] in ".,;:?!)]}>\"'`\\*" and text[end - 1] not in keep:
        opener = _CLOSERS.get(text[end - 1])
        if opener is not None and opener in text[start:end]:
            break
        end -= 1
    return start, end
