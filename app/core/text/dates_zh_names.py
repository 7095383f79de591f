"""Chinese names of times: 2023年, 三月, 五月七日, 15号, 夏天, 第三季度, 年底, 九十年代. On folded text."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from app.core.text.dates import (
    Cycle,
    Cyclic,
    Pick,
    Token,
    date_of_year,
    day_of_month,
    decade,
    months_of_year,
    quarter,
    season,
    third_of,
    turn,
    year,
)
from app.core.text.dates_zh import NUMERAL, THIRDS, number_of

_DIGIT: Final = str.maketrans("零〇○一二三四五六七八九", "000123456789")
_YEARS: Final = {"大前": -3, "前": -2, "去": -1, "上一": -1, "今": 0, "本": 0, "明": 1, "下一": 1, "后": 2}
_PICKS: Final = {"今": Pick.THIS, "这": Pick.THIS, "上": Pick.LAST, "下": Pick.NEXT}
_SEASONS: Final = {"春": 0, "夏": 1, "秋": 2, "冬": 3}

_MONTH: Final = r"(?:1[0-2]|0?[1-9]|十[一二]|十|[一二三四五六七八九])"
_DAY: Final = r"(?:[12]\d|3[01]|0?[1-9]|[二三]?十[一二三四五六七八九]?|[一二三四五六七八九])"
_NO_NUMBER: Final = rf"(?<![\d.{NUMERAL}第每逢几数历])"
_MONTHLY: Final = re.compile(r"农历$|阴历$|旧历$|每年的?$|每逢$")
_NOT_A_MONTH: Final = (
    r"(?!龄|兔|大|嫂|子|薪|租|费|卡|供|经|饼|票|球|亮|光|刊|息|活|考|怀胎|天(?!气)|"
    r"[一二两三四五六七八九十\d]{1,2}[次回])"
)

Read = Callable[[re.Match[str]], tuple[Cyclic | None, bool]]
"""From a match: what it names, and whether that is weak."""


def _numbered_year(match: re.Match[str]) -> tuple[Cyclic | None, bool]:
    number = int(match["year"].translate(_DIGIT))
    if number < 100:  # noqa: PLR2004 - 98 年
        number += 2000 if number < 70 else 1900  # noqa: PLR2004 - 70 is 1970, 69 is 2069
    return _part_of_year(year(number), match["third"]), False


def _relative_year(match: re.Match[str]) -> tuple[Cyclic | None, bool]:
    return _part_of_year(turn(Cycle.YEAR, _YEARS[match["which"]]), match["third"]), False


def _year_part(match: re.Match[str]) -> tuple[Cyclic | None, bool]:
    return third_of(months_of_year(1, 12), THIRDS[match["third"]]), False


def _part_of_year(value: Cyclic, third: str | None) -> Cyclic | None:
    return third_of(value, THIRDS[third]) if third else value


def _month(match: re.Match[str]) -> tuple[Cyclic | None, bool]:
    month = number_of(match["month"])
    if match["day"]:
        last = match["to"]
        return date_of_year(month, number_of(match["day"]), number_of(last) if last else None), False
    value = months_of_year(month)
    return third_of(value, THIRDS[match["third"]]) if match["third"] else value, False


def _months(match: re.Match[str]) -> tuple[Cyclic | None, bool]:
    first, last = number_of(match["first"]), number_of(match["last"])
    return (months_of_year(first, last - first + 1) if first < last else None), False


def _day(match: re.Match[str]) -> tuple[Cyclic | None, bool]:
    return day_of_month(number_of(match["day"])), match["alone"] is None


def _season(match: re.Match[str]) -> tuple[Cyclic | None, bool]:
    value, before = season(_SEASONS[match["season"]]), (match["before"] or "")[:1]
    if before in {"去", "明"}:
        return replace(value, offset=_YEARS[before]), False
    if pick := _PICKS.get(before):
        return replace(value, pick=pick), False
    return value, not before and match["after"] is None


def _quarter(match: re.Match[str]) -> tuple[Cyclic | None, bool]:
    return quarter(number_of(match["index"])), False


def _relative_quarter(match: re.Match[str]) -> tuple[Cyclic | None, bool]:
    return turn(Cycle.QUARTER, {"上": -1, "这": 0, "本": 0, "下": 1}[match["which"]]), False


def _half(match: re.Match[str]) -> tuple[Cyclic | None, bool]:
    return months_of_year(1 if match["which"] == "上" else 7, 6), False


def _decade(match: re.Match[str]) -> tuple[Cyclic | None, bool]:
    tens = match["tens"]
    digit = int(tens[0]) if tens[0].isdigit() and tens[0].isascii() else number_of(tens[0])
    century = int(match["century"]) if match["century"] else (19 if digit > 2 else 20)  # noqa: PLR2004 - 三十 is 193x, 二十 202x
    return decade(100 * century + 10 * digit), False


_THIRD: Final = (
    r"(?:(?:年(?!年))?(?P<third>初(?![中一二三级次恋步衷夏冬春秋])|底(?!特律|薪|下)|末|"
    r"中(?![国学文心秋午旬部间外等奖东美])))?"
)
_RULES: Final[tuple[tuple[re.Pattern[str], Read], ...]] = tuple(
    (re.compile(pattern, re.ASCII), read)
    for pattern, read in (
        (
            (
                rf"(?<![\d.,$¥-])(?<![零〇○一二三四五六七八九])(?P<year>(?:19|20)\d\d|[一二][九零〇○][零〇○一二三四五六七八九]{{2}}|"
                rf"\d\d(?=\s?年{_MONTH}月|年?[初底末][^期中]|年第?[一二三四1-4]季度|年[上下]半年|年[春夏秋冬]))\s?"
                rf"年度?(?![级代龄轮薪卡假]|前的?今天){_THIRD}"
            ),
            _numbered_year,
        ),
        (
            (
                r"(?P<which>大前|(?<![之以目提从年月周天日午])前|(?<![过失])去|上一|(?<!如)今|(?<![基日根])本|"
                rf"(?<![说声证表聪光透发黎文照])明|下一|(?<![之以然今往])后)年度?(?![级轻龄薪货代纪])(?!会(?!不)){_THIRD}"
            ),
            _relative_year,
        ),
        (rf"(?<![\d{NUMERAL}年每逢去今明前后本])年(?P<third>初(?!一|二|三)|底|末)", _year_part),
        (
            (
                rf"{_NO_NUMBER}(?P<month>{_MONTH})\s?月\s?(?:份(?!额)|(?P<day>{_DAY})(?:\s?[-~到至]\s?(?P<to>{_DAY}))?\s?[日号]"
                rf"(?!线)|(?P<third>初(?!中)|[上中下]旬|底|末|中(?=[,，。?？我你他她有去]|$)))?{_NOT_A_MONTH}"
            ),
            _month,
        ),
        (rf"{_NO_NUMBER}(?P<first>{_MONTH})\s?[-~到至]\s?(?P<last>{_MONTH})\s?月(?!{_DAY}[日号])份?", _months),
        (
            (
                rf"{_NO_NUMBER}(?<![\d{NUMERAL}]月)(?P<day>{_DAY})\s?[号日](?!线|楼|院|门|店|馆|桌|床|电|球|机|选|种|房|厅|室|口|台|车|位|仓|文|码|称|元|"
                rf"召|令|角|游|内|本|语)(?P<alone>(?=那天|当天|早上|上午|中午|下午|晚上|之前|以前|之后|以后|前|后|[我你他她咱去要会]|"
                rf"[,，。?？！!]|$))?"
            ),
            _day,
        ),
        (
            (
                r"(?<!那年)(?<!每个)(?P<before>去|今|明|在|从|自|到|这个?|上个?|下个?)?(?P<season>[春夏秋冬])(?:[天季](?!真|气|节)|(?<=[去今明].))"
                r"(?P<after>(?=我|你|他|她|咱|去了|的时候|里|期间))?"
            ),
            _season,
        ),
        (rf"(?<![\d.{NUMERAL}每个])第?(?P<index>[一二三四1-4])季度", _quarter),
        (r"(?P<which>上|这|(?<![基根日])本|下)一?个?季度", _relative_quarter),
        (r"(?<![晚早马])(?P<which>上|下)半年", _half),
        (r"(?<!\d)(?:(?P<century>19|20)|(?:上世纪|二十世纪|20世纪)?)(?P<tens>\d0|[一二三四五六七八九]十)年代", _decade),
    )
)


def find(folded: str) -> Iterator[Token]:
    """Names of times in a folded text, in no order."""
    for pattern, read in _RULES:
        for match in pattern.finditer(folded):
            if _MONTHLY.search(folded, max(0, match.start() - 3), match.start()):
                continue
            value, weak = read(match)
            if value:
                yield Token(*match.span(), value, weak)
