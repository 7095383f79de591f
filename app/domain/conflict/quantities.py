"""Numbers, dates, hours and days of the week in a text, each in one spelling: 5 km is 5000 m, 五月十二日 is 05-12."""

import re
from dataclasses import dataclass
from typing import Final

_MONTHS: Final = "january february march april may june july august september october november december".split()  # noqa: SIM905 - words
_MONTH_NUMBER: Final = {name: number for number, name in enumerate(_MONTHS, 1)} | {
    name[:3]: number for number, name in enumerate(_MONTHS, 1)
}
_DAYS: Final = "monday tuesday wednesday thursday friday saturday sunday".split()  # noqa: SIM905 - words
_HAN_DIGITS: Final = {digit: number for number, digit in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_HAN_UNITS: Final = {"十": 10, "百": 100, "千": 1000}
_HAN_NUMBER: Final = "零〇一二两三四五六七八九十百千万亿"
_MEASURES: Final = "个只条位名岁年月日号天周次人元块杯点公千米里斤克厘毫升小时分秒倍层台家份张本套支口度万亿"
_NUMBER_WORDS: Final = {
    word: number
    for number, word in enumerate("two three four five six seven eight nine ten eleven twelve".split(), 2)  # noqa: SIM905 - words
}

_SCALES: Final[dict[str, tuple[float, str]]] = {
    spelling: (scale, unit)
    for spellings, scale, unit in (
        ("km kms kilometer kilometers kilometre kilometres 公里 千米", 1000, "m"),
        ("里 里地 里路 华里", 500, "m"),
        ("m meter meters metre metres 米", 1, "m"),
        ("cm centimeter centimeters centimetre centimetres 厘米 公分", 0.01, "m"),
        ("mm 毫米", 0.001, "m"),
        ("mile miles mi 英里", 1609.344, "m"),
        ("kg kgs kilo kilos kilogram kilograms 公斤 千克", 1000, "g"),
        ("g gram grams 克", 1, "g"),
        ("斤", 500, "g"),
        ("lb lbs pound pounds 磅", 453.59237, "g"),
        ("h hr hrs hour hours 小时 个小时 钟头 个钟头", 60, "min"),
        ("min mins minute minutes 分钟", 1, "min"),
        ("tb", 1024, "gb"),
        ("gb gib", 1, "gb"),
        ("mb mib", 1 / 1024, "gb"),
        ("year years 年 岁 周岁 yo", 1, "y"),
        ("week weeks 周 个星期 星期", 7, "d"),
        ("day days 天", 1, "d"),
        ("% percent 百分点", 1, "%"),
        ("usd dollar dollars 美元", 1, "usd"),
        ("euro euros eur 欧元", 1, "eur"),
        ("gbp quid 英镑", 1, "gbp"),
        ("yuan rmb cny 元 块 块钱 元钱", 1, "cny"),
    )
    for spelling in spellings.split()
}
_UNIT: Final = "|".join(sorted(map(re.escape, _SCALES), key=len, reverse=True))
_MONTH: Final = "|".join(sorted(_MONTH_NUMBER, key=len, reverse=True))
_HALVES: Final = "凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上"

_PIECE: Final = re.compile(
    r"(?<!\d)(?P<iy>\d{4})[-/.](?P<im>\d{1,2})[-/.](?P<id>\d{1,2})(?!\d)"
    r"|(?:(?P<zy>\d{4})\s?年\s?)?(?<!\d)(?P<zm>\d{1,2})\s?月\s?(?P<zd>\d{1,2})\s?[日号]?"
    rf"|\b(?P<ed>\d{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?(?P<em>{_MONTH})\b\.?(?:,?\s(?P<ey>\d{{4}}))?"
    rf"|\b(?P<um>{_MONTH})\b\.?\s(?P<ud>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s(?P<uy>\d{{4}}))?(?!\d)"
    r"|(?<![\d.])(?P<ch>\d{1,2}):(?P<cm>\d\d)\s?(?P<cp>[ap]\.?m\b)?"
    r"|(?<![\d.])(?P<ah>\d{1,2})\s?(?P<ap>[ap]\.?m\b)"
    rf"|(?P<zp>{_HALVES})?(?P<zh>\d{{1,2}})\s?点(?:钟|(?P<zhalf>半)|(?P<zmin>\d{{1,2}})分?)?(?!\d)"
    r"|(?:每)?(?:周|星期|礼拜)(?P<zw>[一二三四五六日天])(?![一二三四五六七八九十百年月])"
    rf"|\b(?:every\s|each\s)?(?P<ew>{'|'.join(_DAYS)})s?\b"
    rf"|(?<![\da-z.-])(?P<n>\d[\d,]*(?:\.\d+)?)(?P<mult>[万亿k](?![a-z]))?(?:[\s-]?(?P<unit>{_UNIT})(?![a-z]))?"
)
_HAN_RUN: Final = re.compile(
    rf"(?:(?<=月)|(?<![{_HAN_NUMBER}周期拜第统唯万同]))(?P<number>[{_HAN_NUMBER}]+)"
    rf"(?:(?=[{_MEASURES}])(?!(?:点点|些|起))|(?<=[十百千万亿])(?=[了,。.!;]|$)|(?<=米[一二三四五六七八九]))"
)
_WORD_RUN: Final = re.compile(rf"\b(?:{'|'.join(_NUMBER_WORDS)})\b")
_CURRENCY: Final = re.compile(r"(?P<sign>[$€£¥])\s?(?P<amount>\d[\d,]*(?:\.\d+)?)")
_CODE: Final = re.compile(r"\b(?P<code>eur|usd|gbp|cny|rmb)\s?(?P<amount>\d[\d,]*(?:\.\d+)?)")
_METRES: Final = re.compile(r"(?<!\d)(?P<whole>\d)米(?P<rest>\d{1,2})(?!\d)")
_MIDNIGHT: Final = re.compile(r"\bmidnight\b|午夜")
_NOON: Final = re.compile(r"\bnoon\b|正午")
_SIGNS: Final = {"$": "usd", "€": "eur", "£": "gbp", "¥": "cny"}
_BASE: Final = 10_000


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number, date, hour or day at [start, end) of the plain text.

    Args:
        token: Its one spelling; the first character tells its sort: `#` a number, `@` a date, `%` an hour, `&` a day
            of the week.
        sort: What it can be compared with: its sign, and the unit of a number.
        start: Where it begins.
        end: Where it ends.
    """

    token: str
    sort: str
    start: int
    end: int


def with_digits(plain: str) -> str:
    """The text with Chinese numerals before measures, and English number words, as digits; signs of money behind."""
    plain = _CURRENCY.sub(lambda match: f"{match['amount']} {_SIGNS[match['sign']]}", plain)
    plain = _CODE.sub(lambda match: f"{match['amount']} {match['code']}", plain)
    plain = _HAN_RUN.sub(lambda match: str(_of_han(match["number"])), plain)
    plain = _METRES.sub(lambda match: f"{match['whole']}.{match['rest']}米", plain)
    plain = _MIDNIGHT.sub("0:00", _NOON.sub("12:00", plain))
    return _WORD_RUN.sub(lambda match: str(_NUMBER_WORDS[match.group()]), plain)


def quantities(plain: str) -> list[Quantity]:
    """All of them, in order.

    Args:
        plain: A normalised text (`core.text.normal.normalise`) after `with_digits`.
    """
    found = []
    for match in _PIECE.finditer(plain):
        token, sort = _read(match)
        found.append(Quantity(token, sort, match.start(), match.end()))
    return found


def _read(match: "re.Match[str]") -> tuple[str, str]:
    for year, month, day in (("iy", "im", "id"), ("zy", "zm", "zd"), ("ey", "em", "ed"), ("uy", "um", "ud")):
        if match[day] is not None:
            number = _MONTH_NUMBER.get(match[month]) or int(match[month])
            stamp = f"{number:02}-{int(match[day]):02}"
            return (f"@{match[year]}-{stamp}" if match[year] else f"@{stamp}"), "@"
    if match["ch"] or match["ah"] or match["zh"]:
        return _hour(match), "%"
    if match["zw"]:
        return f"&{min('一二三四五六日天'.index(match['zw']), 6)}", "&"
    if match["ew"]:
        return f"&{_DAYS.index(match['ew'])}", "&"
    return _number(match)


def _hour(match: "re.Match[str]") -> str:
    hour = int(match["ch"] or match["ah"] or match["zh"])
    half = (match["cp"] or match["ap"] or match["zp"] or "").replace(".", "")
    minute = int(match["cm"] or match["zmin"] or (30 if match["zhalf"] else 0))
    noon = 12
    if half in {"pm", "下午", "傍晚", "晚上", "中午"} and 0 < hour < noon and not (half == "中午" and hour > noon - 2):
        hour += noon
    elif half in {"am", "凌晨"} and hour == noon:
        hour = 0
    return f"%{hour:02}:{minute:02}"


def _number(match: "re.Match[str]") -> tuple[str, str]:
    number = float(match["n"].replace(",", ""))
    number *= {"万": _BASE, "亿": _BASE**2, "k": 1000}.get(match["mult"] or "", 1)
    scale, unit = _SCALES.get(match["unit"] or "", (1.0, ""))
    return f"#{number * scale:.6g}{unit}", f"#{unit}"


def _of_han(numeral: str) -> int:
    total = section = digit = 0
    if not any(sign in _HAN_UNITS or sign in "万亿" for sign in numeral):
        return int("".join(str(_HAN_DIGITS[sign]) for sign in numeral))
    for sign in numeral:
        if sign in _HAN_DIGITS:
            digit = _HAN_DIGITS[sign]
        elif sign in _HAN_UNITS:
            section += (digit or 1) * _HAN_UNITS[sign]
            digit = 0
        else:
            total = total + (section + digit) * _BASE if sign == "万" else (total + section + digit) * _BASE**2
            section = digit = 0
    return total + section + digit
