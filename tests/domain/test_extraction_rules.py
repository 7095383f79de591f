"""What the rules take from a conversation, and what they leave."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from app.domain.extraction.candidates import Candidate
from app.domain.extraction.rules import extract
from app.domain.extraction.turns import Role, Turn

DATA = Path(__file__).parent / "data"
NOW = datetime(2026, 3, 4, 10, tzinfo=UTC)
UTC_ZONE = ZoneInfo("UTC")
SHANGHAI = ZoneInfo("Asia/Shanghai")
ROLES: dict[str, Role] = {"A": "assistant", "S": "system", "T": "tool"}


def talk(*texts: str, zone: ZoneInfo = UTC_ZONE, now: datetime = NOW) -> list[Turn]:
    """Turns of a user, or of the role whose letter and a colon stand before them."""
    turns = []
    for seq, text in enumerate(texts, 1):
        role = ROLES.get(text[0]) if text[1:2] == ":" else None
        turns.append(Turn(seq, role or "user", text[2:] if role else text, now, zone))
    return turns


def taken(*texts: str, **options: Any) -> list[Candidate]:
    return extract(talk(*texts, **options))


def labelled(name: str) -> list[list[str]]:
    return [line.split("\t") for line in (DATA / f"{name}.tsv").read_text("utf-8").splitlines()]


def holds(found: list[Candidate], key: str, value: str) -> bool:
    held = any(value.casefold() in f"{one.text} {one.value}".casefold() for one in found)
    return held and (key == "-" or any(one.key == key for one in found))


@pytest.mark.parametrize("name", ["extraction_en", "extraction_zh", "extraction_casual_en", "extraction_casual_zh"])
def test_facts_are_taken_and_other_sentences_are_left(name: str) -> None:
    rows = labelled(name)
    lost = [text for label, key, value, text in rows if label == "keep" and not holds(taken(text), key, value)]
    junk = [text for label, _, _, text in rows if label == "none" and taken(text)]
    assert junk == []
    assert len(lost) <= 0.05 * sum(label == "keep" for label, *_ in rows), lost


def test_each_language_has_its_hundred_and_fifty_sentences() -> None:
    assert min(len(labelled("extraction_en")), len(labelled("extraction_zh"))) >= 150


@pytest.mark.parametrize(
    ("texts", "wanted"),
    [
        (
            ["I live in Oslo and work at Google, but I grew up in Bergen."],
            [
                ("I live in Oslo", "user.city", "Oslo"),
                ("I work at Google", "user.employer", "Google"),
                ("I grew up in Bergen", "user.hometown", "Bergen"),
            ],
        ),
        (
            ["我住在上海，在一家银行工作，养了一只猫，叫咪咪。"],
            [
                ("我住在上海", "user.city", "上海"),
                ("我在一家银行工作", "user.employer", "一家银行"),
                ("我养了一只猫，叫咪咪", "user.pet", "猫, 咪咪"),
            ],
        ),
        (["I have a dog. His name is Rex."], [("I have a dog. His name is Rex", "user.pet", "a dog, Rex")]),
        (
            ["Intro: I'm Lena, a UX designer from Graz, now living in Vienna with my boyfriend Paul."],
            [
                ("I'm Lena", "user.name", "Lena"),
                ("I'm a UX designer from Graz", "user.job", "a UX designer from Graz"),
                ("I'm now living in Vienna with my boyfriend Paul", "user.city", "Vienna"),
            ],
        ),
    ],
)
def test_each_clause_gives_what_it_tells_with_the_subject_of_its_sentence(
    texts: list[str], wanted: list[tuple[str, str, str]]
) -> None:
    assert [(one.text, one.key, one.value) for one in taken(*texts)] == wanted


@pytest.mark.parametrize(
    ("text", "key", "value", "change", "before"),
    [
        ("I moved from Berlin to Lisbon last month.", "user.city", "Lisbon", "replaces", "Berlin"),
        ("我上个月从北京搬到了杭州。", "user.city", "杭州", "replaces", "北京"),
        ("I switched from VS Code to Zed.", "preference.editor", "Zed", "replaces", "VS Code"),
        ("我现在改用 Neovim 了。", "preference.editor", "Neovim", "replaces", None),
        ("We migrated from RabbitMQ to Kafka.", None, "Kafka", "replaces", "RabbitMQ"),
        ("我们把 RabbitMQ 换成了 Kafka。", None, "Kafka", "replaces", "RabbitMQ"),
        ("I no longer drink coffee.", "preference.like", None, "ends", "coffee"),
        ("我不再喝咖啡了。", "preference.like", None, "ends", "咖啡"),
        ("I quit smoking.", None, None, "ends", "smoking"),
        ("我戒烟了。", None, None, "ends", "烟"),
        ("I no longer live in Rome", "user.city", None, "ends", "Rome"),
    ],
)
def test_changes_and_endings_say_what_was_before(
    text: str, key: str | None, value: str | None, change: str, before: str | None
) -> None:
    (found,) = taken(text)
    assert (found.key, found.value, found.change, found.before) == (key, value, change, before)


@pytest.mark.parametrize(
    ("text", "key"),
    [("旅行的预算现在是1800欧元。", "project.旅行预算"), ("其实旅行预算改成2100欧元吧。", "project.旅行预算")],
)
def test_one_thing_has_one_key_with_and_without_a_particle(text: str, key: str) -> None:
    (found,) = taken(text)
    assert found.key == key


@pytest.mark.parametrize(
    ("said", "correction", "text", "before"),
    [
        ("The demo is on Tuesday.", "No, I meant Thursday", "The demo is on Thursday (2026-03-05)", "Tuesday"),
        ("评审会定在周三。", "不对，是周四", "评审会定在周四（2026-03-05）", "周三"),
        ("My locker code is 4211.", "sorry, it's 4212", "My locker code is 4212", "4211"),
        ("我的柜子密码是4211。", "说错了，是4212", "我的柜子密码是4212", "4211"),
        ("Our API runs on port 8080.", "not 8080 but 9090", "Our API runs on port 9090", "8080"),
        ("我们的接口跑在 8080 端口。", "不是8080，是9090", "我们的接口跑在 9090 端口", "8080"),
        ("I live in Oslo.", "oops, I meant Bergen", "I live in Bergen", "Oslo"),
        ("The rent is 900 euros.", "Actually, make it 950 euros", "The rent is 950 euros", "900 euros"),
        ("The rent is 900 euros.", "Actually, make the rent 950 dollars", "The rent is 950 dollars", "900 euros"),
        ("我的旅行预算是1500元。", "不对，改成1800", "我的旅行预算是1800元", "1500"),
        ("会议在周五下午三点。", "改到四点吧", "会议在周五下午（2026-03-06）四点", "三点"),
        ("我3月8日飞罗马。", "那就改成3月9日吧", "我3月9日（2026-03-09）飞罗马", "3月8日"),
    ],
)
def test_a_correction_takes_the_place_of_what_was_said(said: str, correction: str, text: str, before: str) -> None:
    old, new = taken(said, correction)
    assert old.replaced
    assert (new.text, new.before, new.change, new.seqs, new.replaced) == (text, before, "corrects", (1, 2), False)
    assert new.quote in correction


@pytest.mark.parametrize(
    "text", ["I no longer drink coffee", "No idea", "not really", "it's fine", "不是很清楚", "是的"]
)
def test_what_only_sounds_like_a_correction_changes_nothing(text: str) -> None:
    first, *_ = taken("My locker code is 4211.", text)
    assert not first.replaced
    assert first.value == "4211"


@pytest.mark.parametrize(
    ("one", "other"),
    [("I live in Oslo.", "I live in Bergen."), ("我住在上海。", "我住在杭州。"), ("我今年31岁", "我今年32岁")],
)
def test_the_later_value_of_a_single_valued_key_holds_and_the_earlier_is_marked(one: str, other: str) -> None:
    old, new = taken(one, "A:ok", other)
    assert (old.replaced, new.replaced) == (True, False)
    assert (new.change, new.before) == ("replaces", old.value)


@pytest.mark.parametrize(("one", "other"), [("I like tea.", "I like coffee."), ("我喜欢喝茶。", "我喜欢喝咖啡。")])
def test_tea_does_not_replace_coffee(one: str, other: str) -> None:
    assert [found.replaced for found in taken(one, other)] == [False, False]


@pytest.mark.parametrize("text", ["My sister Anna lives in Oslo.", "我妹妹小雨住在北京。", "Priya is our team lead."])
def test_what_is_said_of_others_is_not_the_users(text: str) -> None:
    (found,) = taken(text)
    assert found.category == "relation"
    assert found.key is None


def test_what_another_person_of_the_session_says_is_theirs() -> None:
    turn = Turn(1, "user", "I live in Oslo.", NOW, UTC_ZONE, name="Anna")
    (theirs,) = extract([turn], speaker="Bob")
    (own,) = extract([turn], speaker="anna")
    assert (theirs.text, theirs.category, theirs.key) == ("Anna: I live in Oslo", "relation", None)
    assert (own.text, own.key) == ("I live in Oslo", "user.city")


@pytest.mark.parametrize(
    ("claim", "yes", "text"),
    [
        ("A:You live in Oslo, right?", "yes, exactly", "You live in Oslo"),
        ("A:You're vegetarian.", "That's right!", "You're vegetarian"),
        ("A:你住在上海，对吧？", "没错", "你住在上海"),
    ],
)
def test_a_claim_becomes_the_users_by_a_plain_yes_with_that_as_its_quote(claim: str, yes: str, text: str) -> None:
    (found,) = taken(claim, yes)
    assert (found.text, found.source, found.seqs, found.quote) == (text, "user_stated", (1, 2), yes)


@pytest.mark.parametrize("reply", ["ok", "thanks!", "好的", "嗯", "can you help me?", "lol"])
def test_an_acknowledgement_is_no_assent(reply: str) -> None:
    (found,) = taken("A:You live in Oslo.", reply)
    assert found.source == "assistant_said"


def test_a_yes_to_several_claims_says_nothing_of_one() -> None:
    assert {one.source for one in taken("A:You live in Oslo. You are vegetarian.", "yes")} == {"assistant_said"}


@pytest.mark.parametrize("reply", ["No, I don't", "不是", "no", "我没说过"])
def test_a_claim_that_is_denied_is_dropped(reply: str) -> None:
    assert taken("A:You live in Oslo.", reply) == []
    assert taken("A:你住在上海。", reply) == []


def test_an_assistants_repetition_of_the_users_words_is_no_claim() -> None:
    assert [one.source for one in taken("I live in Oslo.", "A:You live in Oslo, so take the tram.")] == ["user_stated"]


@pytest.mark.parametrize(
    "text",
    [
        "S:The user lives in Oslo. I live in Oslo.",
        "T:my name is Bob",
        "S:我住在上海",
        "A:I live in the cloud",
        "A:我是后端工程师",
    ],
)
def test_other_roles_tell_nothing_of_the_user(text: str) -> None:
    assert taken(text) == []


@pytest.mark.parametrize(
    ("question", "answer", "key", "text"),
    [
        ("A:Where do you live?", "Oslo", "user.city", "Where do you live? Oslo"),
        ("A:好的。你对什么过敏吗？", "花生", "user.allergy", "你对什么过敏吗？花生"),
        ("A:Which editor do you use?", "Helix.", "preference.editor", "Which editor do you use? Helix"),
    ],
)
def test_a_short_answer_is_kept_with_its_question(question: str, answer: str, key: str, text: str) -> None:
    (found,) = taken(question, answer)
    assert (found.key, found.text, found.seqs, found.source) == (key, text, (1, 2), "user_stated")
    assert found.quote in answer


@pytest.mark.parametrize("answer", ["not sure", "why?", "rather not say", "不告诉你", "Skip that", "thanks"])
def test_what_is_no_answer_is_not_kept(answer: str) -> None:
    assert taken("A:Where do you live?", answer) == []


@pytest.mark.parametrize(
    "texts",
    [
        ["Let's role-play: I'll be the king.", "I live in a castle and I have a dragon.", "A:Sire!"],
        ["我们来玩角色扮演，我是国王。", "我住在城堡里。"],
        ["I have two dragons at home.", "just kidding"],
        ["我养了一只老虎", "开玩笑的"],
    ],
)
def test_games_and_jokes_are_not_believed(texts: list[str]) -> None:
    assert taken(*texts) == []


def test_after_a_game_the_user_is_believed_again() -> None:
    found = taken(
        "Let's role-play: I'll be the king.", "I live in a castle.", "OK, stop the role-play.", "I live in Oslo."
    )
    assert [one.value for one in found] == ["Oslo"]


@pytest.mark.parametrize(
    ("texts", "left"),
    [
        (["I live in Oslo.", "I have a dog named Rex.", "Forget that I have a dog named Rex."], ["I live in Oslo"]),
        (["我住在上海。", "我养了一只猫。", "把我养猫的事忘了吧"], ["我住在上海"]),
        (["我住在上海。", "请忘掉我住在上海"], []),
    ],
)
def test_what_is_to_be_forgotten_is_not_kept(texts: list[str], left: list[str]) -> None:
    assert [one.text for one in taken(*texts)] == left


@pytest.mark.parametrize(
    ("text", "written", "expires"),
    [
        ("This week I'm in Paris.", "This week (2026-03-02 to 2026-03-08) I'm in Paris", "2026-03-09"),
        ("本周我在家办公。", "本周（2026-03-02至2026-03-08）我在家办公", "2026-03-08T16"),
        ("I have a dentist appointment tomorrow.", "I have a dentist appointment tomorrow (2026-03-05)", None),
        ("我下周三要去广州。", "我下周三（2026-03-11）要去广州", None),
        ("I moved to Lisbon last month.", "I moved to Lisbon last month (2026-02)", None),
    ],
)
def test_relative_times_get_their_dates_and_a_limited_life_its_end(
    text: str, written: str, expires: str | None
) -> None:
    (found,) = taken(text, zone=SHANGHAI if "我" in text else UTC_ZONE)
    assert found.text == written
    assert (found.expires_at.isoformat() if found.expires_at else "None").startswith(expires or "None")
    assert found.quote in text


def test_yesterday_is_that_of_the_senders_zone_and_of_the_messages_day() -> None:
    late = datetime(2024, 5, 1, 15, 30, tzinfo=UTC)
    (found,) = taken("我昨天升职了！", zone=SHANGHAI, now=late)
    assert found.text == "我昨天（2024-04-30）升职了"
    assert found.occurred_at == datetime(2024, 4, 29, 16, tzinfo=UTC)
    assert found.kind == "episodic"


@pytest.mark.parametrize(
    "text", ["Our standup is every day at 9:30.", "我们的周会是周三下午三点", "My birthday is May 12."]
)
def test_what_comes_round_gets_no_date(text: str) -> None:
    (found,) = taken(text)
    assert "2026" not in found.text


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("我住在上海", "zh"),
        ("Ich heiße Anna. My name is Anna.", "en"),
        ("我在臺北工作，養了一隻貓", "zh"),
        ("我用 FastAPI 和 Redis", "zh"),
    ],
)
def test_a_memory_is_in_the_words_of_its_source(text: str, source: str) -> None:
    found = taken(text)
    assert found
    assert all(one.quote in text for one in found)
    assert all(any("\u4e00" <= letter <= "\u9fff" for letter in one.text) == (source == "zh") for one in found)


def test_the_same_correction_made_twice_is_an_inferred_preference() -> None:
    (found,) = taken("简短点", "A:好的", "还是太长，简短点")
    assert (found.source, found.seqs) == ("inferred", (1, 3))
    (found,) = taken("make it shorter please", "A:ok", "thanks", "A:sure", "again, make it shorter please")
    assert (found.source, found.seqs) == ("inferred", (1, 5))
    assert taken("make it shorter please", "A:ok", "with more salt") == []


def test_what_a_memory_service_served_is_not_learnt_again() -> None:
    recalled = "Relevant memories:\n- user lives in Paris\n- My name is Bob\n\nI moved to Lyon."
    assert [one.value for one in taken(recalled)] == ["Lyon"]
    assert taken("<memories>I live in Paris.\nI have a dog.</memories> thanks") == []


def test_a_method_is_procedural() -> None:
    (found,) = taken("To deploy, run make ship and then tag the release.")
    assert found.kind == "procedural"


@pytest.mark.parametrize(
    ("text", "key", "value", "before"),
    [
        ("Sorry, I meant I live in Riga, not Oslo.", "user.city", "Riga", "Oslo"),
        ("Correction: I live in Riga.", "user.city", "Riga", None),
        ("Actually, I live in Riga.", "user.city", "Riga", None),
        ("Sorry, my mistake. I live in Riga, not Oslo.", "user.city", "Riga", "Oslo"),
        ("No, I meant Riga, not Oslo.", None, "Riga", "Oslo"),
        ("说错了，我住在杭州，不是上海。", "user.city", "杭州", "上海"),
        ("更正一下，我住在杭州。", "user.city", "杭州", None),
        ("其实我住在杭州。", "user.city", "杭州", None),
        ("我记错了，是杭州，不是上海。", None, "杭州", "上海"),
    ],
)
def test_what_puts_something_right_corrects_the_slot_it_states(
    text: str, key: str | None, value: str, before: str | None
) -> None:
    (found,) = taken(text)
    assert (found.key, found.value, found.change, found.before) == (key, value, "corrects", before)


@pytest.mark.parametrize(
    ("text", "job", "employer"),
    [
        ("I'm a nurse at Royal Free.", "a nurse", "Royal Free"),
        ("I work at Siemens as a tester.", "a tester", "Siemens"),
        ("我在协和当护士。", "护士", "协和"),
    ],
)
def test_a_clause_that_tells_of_a_job_and_an_employer_fills_both(text: str, job: str, employer: str) -> None:
    found = {one.key: one for one in taken(text)}
    assert {key: one.value for key, one in found.items()} == {"user.job": job, "user.employer": employer}
    assert found["user.job"].text != found["user.employer"].text


@pytest.mark.parametrize(
    "text",
    [
        "I had a fight with my sister on Sunday.",
        "I can't open the PDF.",
        "My coworker says the Lisbon office is closing in May.",
        "In my opinion the EU should tax kerosene.",
        "I'd like a summary of this article in 3 bullets.",
        "The movie last night was 3 hours long.",
        "我周日跟我姐吵了一架。",
        "我打不开这个PDF。",
        "同事说里斯本办公室五月要关。",
        "我要一个匹配5位数字的正则。",
        "昨晚的电影有三个小时。",
    ],
)
def test_moments_hearsay_opinions_and_what_is_asked_for_once_are_left(text: str) -> None:
    assert taken(text) == []


@pytest.mark.parametrize(
    ("now", "plan", "key", "value"),
    [
        ("I live in Oslo.", "I am moving to Lisbon next month.", "user.city", "Oslo"),
        ("I live in Oslo.", "I plan to move to Lisbon.", "user.city", "Oslo"),
        ("I work at Acme.", "Next month I start working at Siemens.", "user.employer", "Acme"),
        ("我住在成都。", "我下个月搬到重庆。", "user.city", "成都"),
        ("我住在成都。", "我打算搬到重庆。", "user.city", "成都"),
        ("我住在成都。", "我下周搬去重庆。", "user.city", "成都"),
        ("我在腾讯上班。", "我下个月跳槽到阿里。", "user.employer", "腾讯"),
    ],
)
def test_what_is_meant_to_be_takes_no_values_place(now: str, plan: str, key: str, value: str) -> None:
    found = taken(now, plan)
    assert [(one.value, one.replaced) for one in found if one.key == key] == [(value, False)]
    (planned,) = [one for one in found if one.seqs == (2,)]
    assert planned.key in {None, "user.goal"}
    assert planned.change is None
    assert planned.category in {"event", "goal"}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("I moved to Lisbon last month.", "user.city"),
        ("I work at Siemens until next month.", "user.employer"),
        ("The deadline moved to next Friday.", "project.deadline"),
        ("My birthday is next Friday.", "user.birthday"),
        ("我上个月搬到了重庆。", "user.city"),
        ("我在腾讯工作到下个月。", "user.employer"),
        ("截止日期改到下个月五号。", "project.deadline"),
    ],
)
def test_what_is_so_or_appointed_holds_its_key(text: str, key: str) -> None:
    assert key in {one.key for one in taken(text)}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("I live in 上海.", "上海"),
        ("I work at 腾讯 now.", "腾讯"),
        ("I am allergic to 花生.", "花生"),
        ("我在 Acme 上班。", "Acme"),
    ],
)
def test_a_name_of_the_other_language_stands_in_a_sentence_of_either(text: str, value: str) -> None:
    (found,) = taken(text)
    assert found.value == value
