import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.domain.periods import AskedTime, asked_time, asks_for_latest, mentions, time_match

DATA = Path(__file__).parent / "data"
NOW = datetime(2026, 6, 17, 15, 30, tzinfo=UTC)
"""A Wednesday: 23:30 in Shanghai, 11:30 in New York."""

ZONES = {"zh": ZoneInfo("Asia/Shanghai"), "en": ZoneInfo("America/New_York")}
SHANGHAI, NEW_YORK, UTC_ZONE = ZONES["zh"], ZONES["en"], ZoneInfo("UTC")
LANGUAGES = tuple(ZONES)
NO_PERIOD = (None, None)

Bounds = tuple[datetime | None, datetime | None]


def lines(name: str) -> list[str]:
    return (DATA / name).read_text("utf-8").splitlines()


def local(text: str, zone: ZoneInfo) -> datetime | None:
    if not text:
        return None
    return datetime.fromisoformat(text + (":00" if len(text) == 13 else "")).replace(tzinfo=zone).astimezone(UTC)


def asked(text: str, now: datetime = NOW, zone: ZoneInfo = UTC_ZONE) -> Bounds:
    found = asked_time(text, now, zone)
    return (found.since, found.until) if found else NO_PERIOD


def period(since: str, until: str, zone: ZoneInfo = UTC_ZONE) -> Bounds:
    return local(since, zone), local(until, zone)


@pytest.mark.parametrize("language", LANGUAGES)
def test_labelled_questions_name_the_period_that_people_mean(language: str) -> None:
    rows = [line.split("\t") for line in lines(f"times_{language}.tsv")]
    zone = ZONES[language]
    wrong = [text for text, since, until in rows if asked(text, NOW, zone) != period(since, until, zone)]
    assert len(rows) >= 120
    assert len(wrong) <= 0.02 * len(rows), wrong


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_only_looks_like_a_time_is_none(language: str) -> None:
    texts = lines(f"no_times_{language}.txt")
    taken = [text for text in texts if mentions(text, NOW, ZONES[language])]
    assert len(texts) >= 100
    assert len(taken) <= 1, taken


def test_labelled_questions_for_the_latest_are_told_from_periods() -> None:
    rows = [line.split("\t") for line in lines("latest.tsv")]
    wrong = [text for label, text in rows if asks_for_latest(text) != (label == "yes")]
    assert len(rows) >= 70
    assert len(wrong) <= 2, wrong


@pytest.mark.parametrize(("text", "zone"), [("昨天", SHANGHAI), ("yesterday", NEW_YORK)])
def test_yesterday_is_that_of_the_sender(text: str, zone: ZoneInfo) -> None:
    late = datetime(2026, 6, 17, 23, 30, tzinfo=zone)
    assert asked(text, late, zone) == period("2026-06-16", "2026-06-17", zone)


def test_a_day_that_the_clocks_change_has_23_hours() -> None:
    since, until = asked("yesterday", datetime(2026, 3, 9, 12, tzinfo=NEW_YORK), NEW_YORK)
    assert since
    assert until
    assert until - since == timedelta(hours=23)


def test_a_day_that_the_zone_skipped_is_none() -> None:
    assert asked("2011-12-30", NOW, ZoneInfo("Pacific/Apia")) == NO_PERIOD


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        # The latest that has begun, or of a text about the future the next.
        ("What did I do in July?", "2025-07-01", "2025-08-01"),
        ("What will I do in July?", "2026-07-01", "2026-08-01"),
        ("我七月去了哪", "2025-07-01", "2025-08-01"),
        ("我七月打算去哪", "2026-07-01", "2026-08-01"),
        ("What did I do on Feb 29?", "2024-02-29", "2024-03-01"),
        ("2月29日我在哪", "2024-02-29", "2024-03-01"),
        ("31号我在哪", "2026-05-31", "2026-06-01"),
        # Last, this and next.
        ("last June", "2025-06-01", "2025-07-01"),
        ("this June", "2026-06-01", "2026-07-01"),
        ("next June", "2027-06-01", "2027-07-01"),
        ("this winter", "2026-12-01", "2027-03-01"),
        ("this past Friday", "2026-06-12", "2026-06-13"),
        ("this coming Friday", "2026-06-19", "2026-06-20"),
        ("this past weekend", "2026-06-13", "2026-06-15"),
        ("this coming weekend", "2026-06-20", "2026-06-22"),
        ("the weekend before last", "2026-06-06", "2026-06-08"),
        ("the month after next", "2026-08-01", "2026-09-01"),
        ("last fortnight", "2026-06-01", "2026-06-15"),
        ("next quarter", "2026-07-01", "2026-10-01"),
        ("H2 2024", "2024-07-01", "2025-01-01"),
        # Windows.
        ("the next two weeks", "2026-06-17", "2026-07-02"),
        ("未来三个月", "2026-06-17", "2026-09-18"),
        ("过去两个季度", "2025-12-17", "2026-06-18"),
        ("this past decade", "2016-06-17", "2026-06-18"),
        ("in the last year", "2025-06-17", "2026-06-18"),
        ("这一周", "2026-06-15", "2026-06-22"),
        ("这三年", "2023-06-17", "2026-06-18"),
        ("the past days", "2026-06-11", "2026-06-18"),
        ("前阵子", "2026-04-18", "2026-06-13"),
        # Amounts.
        ("three and a half years ago", "2022-12-01", "2023-01-01"),
        ("two fortnights ago", "2026-05-18", "2026-05-25"),
        ("a decade ago", "2016-01-01", "2017-01-01"),
        ("两个季度前", "2025-12-01", "2026-01-01"),
        ("half an hour ago", "2026-06-17T14:59:30", "2026-06-17T15:00:30"),
        ("3 days from now", "2026-06-20", "2026-06-21"),
        ("十几年前", "2007-01-01", "2016-01-01"),
        # Seasons and days beside words that are also others.
        ("去夏我们去了哪", "2025-06-01", "2025-09-01"),
        ("今冬要下雪", "2026-12-01", "2027-03-01"),
        ("上个夏天我在哪", "2025-06-01", "2025-09-01"),
        ("下个冬天我要去滑雪", "2026-12-01", "2027-03-01"),
        ("在春天我种了花", "2026-03-01", "2026-06-01"),
        ("7th may", "2026-05-07", "2026-05-08"),
        ("two weekends ago", "2026-06-06", "2026-06-08"),
        # Holidays with a date of their own.
        ("last Christmas", "2025-12-25", "2025-12-26"),
        ("Christmas Eve 2022", "2022-12-24", "2022-12-25"),
        ("since Halloween", "2025-10-31", ""),
        ("2024年国庆", "2024-10-01", "2024-10-08"),
        ("去年五一我在哪", "2025-05-01", "2025-05-06"),
        ("情人节那天我做了什么", "2026-02-14", "2026-02-15"),
        # A date and the name of its day.
        ("Tuesday, March 3", "2026-03-03", "2026-03-04"),
        ("5月7日（周四）", "2026-05-07", "2026-05-08"),
        ("我打算下周去成都，周五回来", "2026-06-26", "2026-06-27"),
        # Parts.
        ("early last week", "2026-06-08", "2026-06-10"),
        ("mid-2023", "2023-05-01", "2023-09-01"),
        ("the middle of summer 2023", "2023-07-01", "2023-08-01"),
        ("the night of 2023-05-07", "2023-05-07T18", "2023-05-08T06"),
        ("the end of yesterday", "2026-06-16", "2026-06-17"),
        ("上个月中旬", "2026-05-11", "2026-05-21"),
        ("5月初", "2026-05-01", "2026-05-11"),
        ("三月，15号我去看牙", "2026-03-15", "2026-03-16"),
        ("May 3-7", "2026-05-03", "2026-05-08"),
        ("from 10 to 12 May", "2026-05-10", "2026-05-13"),
        ("3-5月我在哪", "2026-03-01", "2026-06-01"),
        # Digits.
        ("2023.05.07的日记", "2023-05-07", "2023-05-08"),
        ("07.05.2023", "2023-05-07", "2023-05-08"),
        ("in 2023-05", "2023-05-01", "2023-06-01"),
        ("2023-05-07T10:30:00Z", "2023-05-07", "2023-05-08"),
        ("75年5月", "1975-05-01", "1975-06-01"),
        ("二十世纪八十年代", "1980-01-01", "1990-01-01"),
        ("the 00s", "2000-01-01", "2010-01-01"),
        # Ranges and relations.
        ("from March to last month", "2026-03-01", "2026-06-01"),
        ("between Monday and Wednesday", "2026-06-15", "2026-06-18"),
        ("from last week to today", "2026-06-08", "2026-06-18"),
        ("三月和五月之间", "2026-03-01", "2026-06-01"),
        ("until 2021", "", "2022-01-01"),
        ("after last month", "2026-06-01", ""),
        ("before last month", "", "2026-05-01"),
        ("从上周的会议", "2026-06-08", "2026-06-15"),
        ("从上周我就在忙", "2026-06-08", ""),
        # Several: listed, nested, apart.
        ("yesterday and before 2020", "", "2026-06-17"),
        ("today or since March", "2026-03-01", ""),
        ("This month, and what about it did I say three days ago?", "2026-06-14", "2026-06-15"),
        ("Last year I wrote that I would be rich in 2030", "2025-01-01", "2026-01-01"),
        ("What changed since last week, and what did I say yesterday?", "2026-06-16", "2026-06-17"),
        ("Last year was good. In March I was ill.", "2025-01-01", "2026-01-01"),
    ],
)
def test_expression_means_its_period(text: str, since: str, until: str) -> None:
    assert asked(text) == period(since, until)


def test_the_winter_that_is_running_is_this_winter() -> None:
    assert asked("this winter", datetime(2026, 1, 20, tzinfo=UTC)) == period("2025-12-01", "2026-03-01")
    assert asked("this March", datetime(2026, 1, 20, tzinfo=UTC)) == period("2026-03-01", "2026-04-01")


@pytest.mark.parametrize(
    "text",
    [
        "May 32",
        "2月30日",
        "2023-02-30",
        "2023-13-01",
        "on the 0th",
        "99号",
        "99/99/2023",
        "from 2023 to 2019",
        "morning",
        "入职两年后我升职了",
        "Christmas carols",
        "圣诞节的由来",
        "周末愉快",
        "那年夏天我在哪",
        "each of the 7 may be wrong",
        "early",
    ],
)
def test_what_no_calendar_has_is_none(text: str) -> None:
    assert asked(text) == NO_PERIOD


@pytest.mark.parametrize("text", ["999 years ago", "999年前", "过去999年", "the last 999 decades"])
def test_before_the_first_year_is_none(text: str) -> None:
    assert asked(text, datetime(500, 1, 1, tzinfo=UTC)) == NO_PERIOD


def test_mentions_are_where_they_stand_in_the_text() -> None:
    text = "昨天買了書，上週三退了；I called Bob on March 3, 2024 and since 2022 I have not."
    found = mentions(text, NOW, SHANGHAI)
    assert [mention.text for mention in found] == ["昨天", "上週三", "March 3, 2024", "since 2022"]
    assert all(text[mention.start : mention.end] == mention.text == mention.period.matched for mention in found)


def test_words_that_are_matched_span_a_list() -> None:
    found = asked_time("Compare last year and this year for me", NOW, UTC_ZONE)
    assert found == AskedTime(*period("2025-01-01", "2027-01-01"), "last year and this year")


ZONE_NAMES = st.sampled_from(["UTC", "Asia/Shanghai", "America/New_York", "Pacific/Apia", "Asia/Kathmandu"])
WORDS = st.sampled_from(
    "last next this 3 May March on in the week days ago Monday since from to between and 2023 Q3 "  # noqa: SIM905
    "summer early of morning 上 下 周 三 月 年 天 前 后 去年 十二 个 号 到 从 5 - / 底 春天 晚上 最近".split()
)


@given(
    st.text(max_size=80) | st.lists(WORDS, max_size=12).map(" ".join) | st.lists(WORDS, max_size=12).map("".join),
    st.datetimes(timezones=st.just(UTC)),
    ZONE_NAMES,
)
@example("March last year", datetime.min.replace(tzinfo=UTC), "America/New_York")
@example("tomorrow 明年", datetime.max.replace(tzinfo=UTC), "Asia/Shanghai")
@settings(deadline=None, max_examples=300)
def test_every_string_at_any_time_has_proper_periods_or_none(text: str, now: datetime, zone: str) -> None:
    found = mentions(text, now, ZoneInfo(zone))
    for mention in found:
        since, until = mention.period.since, mention.period.until
        assert since is None or until is None or since < until
        assert (since or until) is not None
        assert all(bound is None or bound.utcoffset() == timedelta(0) for bound in (since, until))
        assert text[mention.start : mention.end] == mention.text
    assert (asked_time(text, now, ZoneInfo(zone)) is None) == (not found)
    assert asks_for_latest(text) in {True, False}


@pytest.mark.parametrize(
    "bit", ["last ", " ", "when i ", "一", "上", "1", "2023-", "a few ", "and ", "前天", "从三月到", "5月"]
)
def test_time_grows_no_faster_than_the_text(bit: str) -> None:
    def seconds(length: int) -> float:
        text = (bit * length)[:length]
        start = time.process_time()
        mentions(text, NOW, SHANGHAI)
        asks_for_latest(text)
        return time.process_time() - start

    # Quadratic time would be some 100 times as long; linear is 10 times.
    small = min(seconds(2_000) for _ in range(3))
    assert seconds(20_000) < 40 * small + 0.05


MOMENTS = st.datetimes(datetime(1990, 1, 1), datetime(2060, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
PERIODS = st.builds(
    lambda since, length, opened: AskedTime(
        None if opened == "since" else since, None if opened == "until" else since + length, ""
    ),
    MOMENTS,
    st.timedeltas(timedelta(seconds=1), timedelta(days=4000)),
    st.sampled_from(["", "since", "until"]),
)


@given(PERIODS, MOMENTS, st.timedeltas(timedelta(0), timedelta(days=9000)))
def test_a_moment_further_off_fits_no_better(period: AskedTime, moment: datetime, further: timedelta) -> None:
    near = time_match(period, moment)
    assert 0 <= near <= 1
    if period.since is not None and moment < period.since:
        assert time_match(period, moment - further) <= near
    elif period.until is not None and moment >= period.until:
        assert time_match(period, moment + further) <= near
    else:
        assert near == 1


def test_match_is_halved_with_each_length_of_the_period() -> None:
    day = AskedTime(datetime(2026, 6, 16, tzinfo=UTC), datetime(2026, 6, 17, tzinfo=UTC), "yesterday")
    assert time_match(day, datetime(2026, 6, 15, tzinfo=UTC)) == 0.25
    assert time_match(day, datetime(2026, 6, 19, tzinfo=UTC)) == 0.125
    assert time_match(AskedTime(NOW, None, ""), NOW - timedelta(days=7)) == 0.25
    assert time_match(AskedTime(None, NOW, ""), NOW + timedelta(days=14)) == 0.125
    assert time_match(AskedTime(NOW, NOW, ""), NOW + timedelta(seconds=1)) == 0.25
    assert time_match(AskedTime(None, None, ""), NOW) == 1
