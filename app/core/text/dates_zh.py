"""Chinese expressions that count from now: 昨天, 三天前, 过去一周, 上周三, 下个月初. On folded text."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from app.core.text.dates import (
    AFTERNOON,
    EARLY,
    EVENING,
    MORNING,
    NIGHT,
    NOON,
    WEEKEND,
    Cycle,
    Expression,
    Hours,
    Stretch,
    Token,
    Value,
    Window,
    day,
    third_of,
    turn,
    weekday,
)
from app.core.text.dates_amount import FEW, Amount
from app.core.text.dates_tense import looks_back

NUMERAL: Final = "零〇○一二两三四五六七八九十"
_DIGITS: Final = {character: number for number, character in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "○": 0,
    "两": 2,
}
_WEEKDAYS: Final = {character: number % 7 for number, character in enumerate("一二三四五六日1234567")} | {"天": 6}
_VAGUE: Final = {
    "好几": FEW,
    "几": FEW,
    "数": FEW,
    "一两": (1, 2),
    "一二": (1, 2),
    "两三": (2, 3),
    "三四": (3, 4),
    "三五": (3, 5),
    "四五": (4, 5),
    "五六": (5, 6),
    "十几": (11, 19),
    "几十": (20, 99),
}
_UNITS: Final = {
    "分钟": "minute",
    "小时": "hour",
    "钟头": "hour",
    "天": "day",
    "日": "day",
    "周": "week",
    "星期": "week",
    "礼拜": "week",
    "月": "month",
    "季度": "quarter",
    "年": "year",
}
_HOURS: Final = {
    "凌晨": EARLY,
    "清晨": MORNING,
    "早晨": MORNING,
    "早上": MORNING,
    "上午": MORNING,
    "中午": NOON,
    "下午": AFTERNOON,
    "傍晚": EVENING,
    "晚上": NIGHT,
    "夜里": NIGHT,
    "深夜": NIGHT,
    "夜": NIGHT,
    "晚": NIGHT,
    "晨": MORNING,
    "早": MORNING,
}
_DAYS: Final = {"大前": -3, "前": -2, "昨": -1, "今": 0, "明": 1, "后": 2, "大后": 3}
OFFSETS: Final = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
THIRDS: Final = {"初": 0, "上旬": 0, "中": 1, "中旬": 1, "底": 2, "末": 2, "下旬": 2}

TRIGGER: Final = re.compile(r"[天日号周月年今昨明早晚夜季春夏秋冬前后下]|星期|礼拜|小时|分钟|钟头|旬")
"""Some letters of every expression: a text without them needs no search."""

_NUMBER: Final = (
    rf"(?:(?P<vague>{'|'.join(sorted(_VAGUE, key=len, reverse=True))})|(?P<half>半)|"
    r"(?P<number>\d{1,3}|[一二两三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九]))"
)
_NO_NUMBER: Final = rf"(?<![\d.第{NUMERAL}百千万几数])"
_UNIT: Final = r"\s?(?P<measure>个)?多?(?P<unit>分钟|小时|钟头|天|日|周|星期|礼拜|月|季度|年)(?P<plus>半)?多?"

# What follows 周三 or 上周一 and takes its last character for another word: 上周一起, 上周三次, 上周日本.
_WEEKDAY: Final = (
    r"(?P<day>一(?!起|直|些|样|般|切|定|共|边|会|旦|向|再|个|次|下(?!午|班|课)|点(?:也|都|儿))|二(?!手|维|胎|十)|"
    r"三(?!明治|文鱼|亚|里屯|峡|国|百|千|万|十)|四(?!川|百|千|万|十)|五(?!粮液|百|千|万|十)|六(?!百|千|万|十)|"
    r"日(?!常|程|报|记|语|元|历|式|料|本(?!来))|天(?!气|天|津)|[1-7](?![\d.%:]))(?!次|回(?![来去家到国程复])|遍|趟|[天日](?![气本])|个|小时|分钟)"
)

_WHICH: Final = r"(?P<which>上上|(?<![早晚马网线路身以手街世地海])上|(?<![乡之以地手当])下|下下|这|(?<![基根日])本)"


def number_of(digits: str) -> int:
    """A number below 1,000 in Arabic or below 100 in Chinese digits."""
    if digits.isdigit() and digits.isascii():
        return int(digits)
    tens, ten, ones = digits.rpartition("十")
    return (_DIGITS[tens] if tens else 1) * 10 * bool(ten) + (_DIGITS[ones] if ones else 0)


def _amount(match: re.Match[str]) -> Amount | None:
    unit, measured = _UNITS[match["unit"]], match["measure"]
    # Three months are 三个月, while 三月 is March; years and days take no measure word.
    if bool(measured) != (unit == "month") and unit in {"month", "year", "day", "minute"}:
        return None
    if match["half"]:
        return Amount.half(unit)
    low, high = _VAGUE[match["vague"]] if match["vague"] else (number_of(match["number"]),) * 2
    if match["plus"] and unit == "year":
        return Amount(12 * low + 6, 12 * high + 6, "month")
    return Amount(low, high, unit)


def _away(match: re.Match[str], sign: int) -> Expression | None:
    amount = _amount(match)
    return amount.away(sign) if amount else None


def _ago(match: re.Match[str]) -> Expression | None:
    return _away(match, -1)


def _window(match: re.Match[str]) -> Expression | None:
    amount = _amount(match)
    if match["this"] and amount and amount.low == 1 and amount.unit in {"week", "day", "month"}:
        return turn({"week": Cycle.WEEK, "day": Cycle.DAY, "month": Cycle.MONTH}[amount.unit], 0)
    return amount.window(ahead=bool(match["ahead"])) if amount else None


def _day(match: re.Match[str]) -> Expression:
    part = match["part"]
    return day(_DAYS[match["which"]], _HOURS[part[0]] if part else None)


def _week(match: re.Match[str]) -> Expression:
    offset, name = OFFSETS[match["which"]], match["day"]
    if match["end"]:
        return replace(WEEKEND, offset=offset)
    return replace(weekday(_WEEKDAYS[name]), offset=offset) if name else turn(Cycle.WEEK, offset)


def _weekday(match: re.Match[str]) -> Expression:
    return WEEKEND if match["end"] else weekday(_WEEKDAYS[match["day"]])


def _month(match: re.Match[str]) -> Expression | None:
    whole = turn(Cycle.MONTH, OFFSETS[match["which"]])
    return third_of(whole, THIRDS[match["third"]]) if match["third"] else whole


def _month_part(match: re.Match[str]) -> Expression | None:
    return third_of(replace(turn(Cycle.MONTH, 0), offset=None), THIRDS[match["third"]])


def _few_days(_: re.Match[str]) -> Expression:
    return Stretch(Cycle.DAY, -7, -1)


def _while_ago(_: re.Match[str]) -> Expression:
    return Stretch(Cycle.DAY, -60, -5)


def _these_days(_: re.Match[str]) -> Expression:
    return Window(Cycle.DAY, FEW[1])


def _part(match: re.Match[str]) -> Hours:
    return _HOURS[match[0]]


_RULES: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Value | None]], ...]] = tuple(
    (re.compile(pattern, re.ASCII), read)
    for pattern, read in (
        (
            rf"(?<!月){_NO_NUMBER}{_NUMBER}{_UNIT}(?:之|以)?前(?!端|往|夫|妻|女友|男友|任|台|锋|列|缀|提|言|沿|后|半)",
            _ago,
        ),
        (
            (
                r"(?:(?:过去|刚过去|最近)(?:的?这)?|(?<![附将接靠远])近|(?P<this>这)|(?P<ahead>未来|接下来|今后|往后))(?:的)?"
                rf"{_NUMBER}{_UNIT}(?![初底末中级])"
            ),
            _window,
        ),
        (
            (
                r"(?P<which>大前|(?<![之以目年月周天日午提])前|(?<!如)今|昨|(?<![说声证表聪光透发黎文照])明|大后|"
                r"(?<![先之以然午最年月周天])后)"
                r"(?:(?:天|日(?!头条|方舟|之)|儿(?!童))(?!天|性|养成|努力|习得|培养)|(?P<part>夜|晚(?!年)上?|晨|早(?!已|就)上?))"
            ),
            _day,
        ),
        (
            _WHICH + rf"(?:一?个?)(?:周|星期|礼拜)(?![围边到岁年长期刊]|杰伦)(?:(?P<end>末(?!愉快|快乐))|{_WEEKDAY})?",
            _week,
        ),
        (
            rf"(?<![每逢一二两三四五六七八九十几\d个半数])(?:周|星期|礼拜)(?:(?P<end>末(?!愉快|快乐))|{_WEEKDAY})",
            _weekday,
        ),
        (
            _WHICH + r"(?:一?个?)月份?(?!薪|亮|饼|光|球|台|票|刊|息)(?P<third>初|上旬|中旬?|下旬|底|末)?",
            _month,
        ),
        (rf"(?<![\d{NUMERAL}个每逢份正腊])月(?P<third>初|底|末|中旬|上旬|下旬)", _month_part),
        (r"前(?:几|两|些)天|前几日", _few_days),
        (r"前阵子|前一阵子?|前段时间|前一段时间|前些日子|前些时候", _while_ago),
        (r"这(?:几|两|些)天", _these_days),
        (r"凌晨|清晨|早晨|早上|上午|中午|下午|傍晚|晚上|夜里|深夜|晚(?=[我你他她吃在去,，。?？]|$)", _part),
    )
)

_AFTER: Final = re.compile(
    rf"(?<!月)(?:再过)?{_NO_NUMBER}{_NUMBER}{_UNIT}(?:之|以)?后(?!来|面|悔|续|台|端|代|期|半|果|勤|宫|辈|缀|院)",
    re.ASCII,
)


def find(folded: str) -> Iterator[Token]:
    """Relative expressions in a folded text, in no order."""
    for pattern, read in _RULES:
        for match in pattern.finditer(folded):
            if value := read(match):
                yield Token(*match.span(), value)
    # 入职两年后我升职了 counts from something else than now.
    for match in _AFTER.finditer(folded):
        if (later := _away(match, 1)) and not looks_back(folded):
            yield Token(*match.span(), later)
