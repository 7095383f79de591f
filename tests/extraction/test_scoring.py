from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.memory import Source, Status
from tests.extraction.labels import Dialogue, Fact, Junk, LabelledTurn, Language, Role, Why, dialogues
from tests.extraction.matching import Prediction, matching, place
from tests.extraction.scores import Score, Share
from tests.extraction.scoring import score

SHANGHAI = ZoneInfo("Asia/Shanghai")
STARTED = datetime(2025, 3, 5, 1, 0, tzinfo=UTC)


def fact(*words: str, about: int = 1, **other: object) -> Fact:
    """A fact about the user whose alternatives are these words, each one's parts joined by `+`."""
    plain = Fact(
        about=(about,),
        category="other",
        key=None,
        words=tuple(tuple(alternative.split("+")) for alternative in words),
        subject=(),
        current=True,
        source="user_stated",
        explicit=False,
        expires=None,
        date=None,
        optional=False,
    )
    return replace(plain, **other)  # type: ignore[arg-type]


def dialogue(
    *texts: str,
    facts: tuple[Fact, ...] = (),
    junk: tuple[tuple[int, Why], ...] = (),
    language: Language = "en",
    roles: tuple[Role, ...] = (),
) -> Dialogue:
    speakers: list[Role] = [*roles] or ["user" for _ in texts]
    turns = tuple(
        LabelledTurn(seq, role, text, STARTED + timedelta(minutes=seq), SHANGHAI, None)
        for seq, (text, role) in enumerate(zip(texts, speakers, strict=True), start=1)
    )
    return Dialogue("d", language, SHANGHAI, turns, facts, tuple(Junk(seq, why) for seq, why in junk))


def said(text: str, *seqs: int) -> Prediction:
    return Prediction(text, seqs=seqs or (1,))


def judged(one: Dialogue, *predictions: Prediction) -> Score:
    return score([one], {one.id: predictions}).total


@pytest.mark.parametrize(
    ("word", "text", "stands"),
    [
        ("tea", "likes tea", True),
        ("tea", "leads a team", False),
        ("hen", "has six hens", True),
        ("rust", "i trust you", False),
        ("hate", "hates cilantro", True),
        ("5", "runs 5 km", True),
        ("5", "runs 15 km", False),
        ("5", "runs 5.5 km", False),
        ("5", "runs 5km", True),
        ("3.11", "python 3.11", True),
        ("vim", "用vim写代码", True),
        ("vim", "用neovim写代码", False),
        ("Ｖｉｍ", "用vim写代码", True),
        ("臺北", "住在台北", True),
        ("new york", "lives in new york", True),
        ("new york", "a new yorkshire terrier", True),  # a longer word may be a stem
    ],
)
def test_a_word_stands_in_a_text_from_the_start_of_a_word_or_anywhere_in_chinese(
    word: str, text: str, stands: bool
) -> None:
    assert (place(word, text) is not None) is stands


def test_a_memory_with_the_words_of_one_alternative_holds_the_fact() -> None:
    one = dialogue("I moved to Lisbon", facts=(fact("lisbon+lives", "lisbon+moved"),))
    found = judged(one, said("The user MOVED to Ｌisbon"))
    assert found.precision == found.recall == Share(1, 1)


def test_words_may_stand_in_the_value() -> None:
    one = dialogue("I moved to Lisbon", facts=(fact("lisbon"),))
    assert judged(one, Prediction("home", "Lisbon", seqs=(1,))).recall == Share(1, 1)


def test_traditional_and_simplified_characters_are_equal() -> None:
    one = dialogue("我住在臺北", facts=(fact("台北"),), language="zh")
    assert judged(one, said("用戶住在臺北")).recall == Share(1, 1)


def test_a_memory_that_cites_another_turn_does_not_hold_the_fact() -> None:
    one = dialogue("I moved to Lisbon", "Lisbon!", facts=(fact("lisbon"),))
    found = judged(one, said("The user lives in Lisbon", 2))
    assert (found.precision, found.recall) == (Share(0, 1), Share(0, 1))


def test_a_fact_that_is_no_longer_true_counts_as_right() -> None:
    one = dialogue("I drank coffee", facts=(fact("coffee", current=False),))
    assert judged(one, said("The user drinks coffee")).precision == Share(1, 1)


def test_an_optional_fact_is_right_if_kept_and_not_missed_if_not() -> None:
    one = dialogue("Ben is vegan", facts=(fact("vegan", optional=True),))
    assert judged(one, said("Ben is vegan")).precision == Share(1, 1)
    assert judged(one).recall == Share(0, 0)


def test_dialogues_without_predictions_found_nothing() -> None:
    one = dialogue("I moved to Lisbon", facts=(fact("lisbon"),))
    found = score([one], {}).total
    assert (found.recall, found.precision.rate, found.junk_share.rate) == (Share(0, 1), None, None)


def test_one_duplicate_is_reported_apart_and_those_after_it_are_wrong() -> None:
    one = dialogue("I moved to Lisbon", facts=(fact("lisbon"),))
    twice = judged(one, *[said("The user lives in Lisbon")] * 2)
    assert (twice.precision, twice.duplicate_share) == (Share(1, 1), Share(1, 2))
    often = judged(one, *[said("The user lives in Lisbon")] * 4)
    assert (often.precision, often.duplicate_share) == (Share(1, 3), Share(3, 4))
    assert often.recall == Share(1, 1)


def test_a_memory_holds_two_facts_only_if_it_says_both_at_different_places() -> None:
    both = (fact("nurse"), fact("leeds"))
    one = dialogue("I'm a nurse in Leeds", facts=both)
    assert judged(one, said("The user is a nurse in Leeds")).recall == Share(2, 2)
    alike = dialogue("I'm a nurse in Leeds", facts=(fact("nurse"), fact("a nurse")))
    assert judged(alike, said("The user is a nurse")).recall == Share(1, 2)


def test_a_whole_turn_kept_as_it_is_holds_no_more_than_two_of_its_facts() -> None:
    text = "I'm Ada, a nurse in Leeds with two cats"
    one = dialogue(text, facts=(fact("ada"), fact("nurse"), fact("leeds"), fact("cat")))
    assert judged(one, said(text)).recall == Share(2, 4)


def test_each_fact_is_given_to_a_memory_so_that_most_are_found() -> None:
    one = dialogue("I'm a nurse in Leeds", facts=(fact("nurse"), fact("leeds", "nurse")))
    found = judged(one, said("The user is a nurse in Leeds"), said("The user is a nurse"))
    assert (found.recall, found.duplicate_share) == (Share(2, 2), Share(0, 2))


def test_a_fact_about_another_person_told_of_the_user_is_wrong_and_misattributed() -> None:
    one = dialogue(
        "My sister Anna lives in Oslo", facts=(fact("oslo", category="relation", subject=("anna", "sister")),)
    )
    lie = judged(one, said("The user lives in Oslo"))
    assert (lie.precision, lie.recall, lie.attribution) == (Share(0, 1), Share(0, 1), Share(0, 1))
    truth = judged(one, said("The user's sister lives in Oslo"))
    assert (truth.precision, truth.recall, truth.attribution) == (Share(1, 1), Share(1, 1), Share(1, 1))


def test_a_memory_of_a_junk_turn_is_junk_unless_it_holds_a_fact() -> None:
    one = dialogue("I'm tired, and I'm a nurse", facts=(fact("nurse"),), junk=((1, "momentary"),))
    found = score([one], {"d": [said("The user is tired"), said("The user is a nurse")]})
    assert found.total.junk_share == Share(1, 2)
    assert found.total.precision == Share(1, 2)
    assert any("junk (momentary): 'The user is tired'" in error for error in found.errors)


@pytest.mark.parametrize(
    ("source", "uncertain", "inventions"),
    [("assistant_said", True, 0), ("inferred", True, 0), ("assistant_said", False, 1), ("user_stated", True, 1)],
)
def test_the_assistants_claim_served_as_fact_or_as_the_users_is_an_invention(
    source: Source, uncertain: bool, inventions: int
) -> None:
    one = dialogue("You love green tea", roles=("assistant",), junk=((1, "invention"),))
    found = judged(one, Prediction("The user loves green tea", source=source, uncertain=uncertain, seqs=(1,)))
    assert found.inventions == Share(inventions, 1)


def test_citing_the_user_beside_the_invention_does_not_make_it_a_fact() -> None:
    one = dialogue(
        "You love green tea", "I never said so", roles=("assistant", "user"), junk=((1, "invention"), (2, "small_talk"))
    )
    assert judged(one, said("The user loves green tea", 1, 2)).inventions == Share(1, 1)


def test_a_denial_that_cites_the_invention_is_none() -> None:
    one = dialogue(
        "You love tea",
        "I hate it",
        roles=("assistant", "user"),
        facts=(fact("hate", about=2),),
        junk=((1, "invention"),),
    )
    assert judged(one, said("The user hates tea", 1, 2)).inventions == Share(0, 1)


@pytest.mark.parametrize(
    ("turn", "text", "kept"),
    [
        ("我住在杭州", "用户住在杭州", 1),
        ("我住在杭州", "The user lives in Hangzhou", 0),
        ("I live in Hangzhou", "The user lives in Hangzhou", 1),
        ("I live in Hangzhou", "用户住在杭州", 0),
        ("我编辑器用 Neovim 和 tmux", "编辑器：Neovim + tmux", 1),
        ("I read 三体 again yesterday evening", "The user read 三体", 1),
    ],
)
def test_a_memory_is_in_the_script_of_its_turns(turn: str, text: str, kept: int) -> None:
    assert judged(dialogue(turn), said(text)).language == Share(kept, 1)


@pytest.mark.parametrize(
    ("facts", "text", "copies"),
    [
        (("nurse", "leeds"), "The user said: I'm a nurse  and I live in LEEDS", 1),
        (("nurse", "leeds"), "The user is a nurse", 0),
        (("nurse",), "I'm a nurse and I live in Leeds", 0),
        ((), "I'm a nurse and I live in Leeds", 0),
    ],
)
def test_a_turn_of_several_facts_kept_whole_is_a_copy(facts: tuple[str, ...], text: str, copies: int) -> None:
    one = dialogue("I'm a nurse and I live in Leeds", facts=tuple(map(fact, facts)))
    assert judged(one, said(text)).copies == Share(copies, 1)


def test_a_turn_without_a_language_asks_for_none() -> None:
    assert judged(dialogue("404 🤷"), said("用户说 404")).language == Share(0, 0)


@pytest.mark.parametrize(
    ("label", "source", "uncertain", "right"),
    [
        ("user_stated", "user_stated", False, 1),
        ("user_stated", "user_stated", True, 0),
        ("user_stated", "assistant_said", True, 0),
        ("assistant_said", "assistant_said", True, 1),
        ("assistant_said", "inferred", True, 1),
        ("assistant_said", "assistant_said", False, 0),
        ("tool_observed", "tool_observed", False, 1),
        ("tool_observed", "user_stated", False, 0),
    ],
)
def test_a_memory_names_who_said_it(label: Source, source: Source, uncertain: bool, right: int) -> None:
    one = dialogue("OPS-1432", facts=(fact("ops-1432", source=label),))
    found = judged(one, Prediction("Ticket OPS-1432", source=source, uncertain=uncertain, seqs=(1,)))
    assert found.attribution == Share(right, 1)


@pytest.mark.parametrize(
    ("text", "occurred_at", "right"),
    [
        ("用户昨天考完了", datetime(2025, 3, 3, 16, 0, tzinfo=UTC), 1),  # midnight in Shanghai
        ("用户昨天考完了", datetime(2025, 3, 3, 15, 59, tzinfo=UTC), 0),
        ("用户昨天考完了", None, 0),
        ("用户2025年3月4日考完了", None, 1),
        ("用户2025年3月4号考完了", None, 1),
        ("用户在 2025-03-04 考完了", None, 1),
        ("用户 4 March 2025 考完了", None, 1),
        ("用户2025年3月5日考完了", None, 0),
    ],
)
def test_a_date_is_right_in_the_senders_zone_or_in_words(text: str, occurred_at: datetime | None, right: int) -> None:
    one = dialogue("昨天考完了", facts=(fact("考完", date=date(2025, 3, 4)),), language="zh")
    assert judged(one, Prediction(text, seqs=(1,), occurred_at=occurred_at)).dates == Share(right, 1)


@pytest.mark.parametrize(
    ("expires_at", "right"),
    [
        (None, 0),
        (datetime(2025, 3, 9, 16, 0, tzinfo=UTC), 1),  # the end of Sunday in Shanghai
        (datetime(2025, 3, 9, 15, 59, 59, tzinfo=UTC), 1),
        (datetime(2025, 3, 8, 16, 0, tzinfo=UTC), 0),
        (datetime(2025, 3, 10, 16, 0, tzinfo=UTC), 0),
    ],
)
def test_what_lasts_for_a_time_ends_with_its_last_day(expires_at: datetime | None, right: int) -> None:
    one = dialogue("本周在家办公", facts=(fact("在家办公", expires=date(2025, 3, 9)),), language="zh")
    assert judged(one, Prediction("用户在家办公", seqs=(1,), expires_at=expires_at)).expiries == Share(right, 1)


def test_what_has_no_end_must_be_given_none_but_a_dated_event_may_end_with_its_day() -> None:
    end = datetime(2025, 3, 6, tzinfo=UTC)
    lasting = dialogue("I'm a nurse", facts=(fact("nurse"),))
    assert judged(lasting, replace(said("The user is a nurse"), expires_at=end)).expiries == Share(0, 1)
    assert judged(lasting, said("The user is a nurse")).expiries == Share(0, 0)
    event = dialogue("Test on 5 March", facts=(fact("test", date=date(2025, 3, 5)),))
    assert judged(event, replace(said("Test"), expires_at=end)).expiries == Share(0, 0)
    assert judged(event, replace(said("Test"), expires_at=end - timedelta(days=3))).expiries == Share(0, 1)


@pytest.mark.parametrize(
    ("current", "status", "right"),
    [
        (True, "active", 1),
        (True, "disputed", 1),
        (True, "superseded", 0),
        (False, "superseded", 1),
        (False, "deleted", 1),
        (False, "active", 0),
    ],
)
def test_what_was_replaced_is_not_current(current: bool, status: Status, right: int) -> None:
    one = dialogue("I drink coffee", facts=(fact("coffee", current=current),))
    assert judged(one, replace(said("The user drinks coffee"), status=status)).states == Share(right, 1)


def test_what_lasted_for_a_time_may_have_expired() -> None:
    one = dialogue("In Paris this week", facts=(fact("paris", expires=date(2025, 3, 9)),))
    end = datetime(2025, 3, 9, 16, tzinfo=UTC)
    assert judged(one, replace(said("In Paris"), status="expired", expires_at=end)).states == Share(1, 1)


def test_a_key_is_right_in_any_of_its_spellings() -> None:
    one = dialogue("I moved to Lisbon", facts=(fact("lisbon", key="user.city"),))
    assert judged(one, replace(said("Lisbon"), key="居住地")).keys == Share(1, 1)
    assert judged(one, replace(said("Lisbon"), key="user.hometown")).keys == Share(0, 1)
    assert judged(one, said("Lisbon")).keys == Share(0, 0)


def test_scores_are_given_by_language_and_category_and_errors_say_what_and_where() -> None:
    english = dialogue("I live in Lisbon", facts=(fact("lisbon", category="identity"),))
    chinese = replace(dialogue("我住在杭州", facts=(fact("杭州", category="identity"),), language="zh"), id="z")
    found = score([english, chinese], {"d": [said("The user lives in Lisbon")], "z": [said("用户爱吃面")]})
    assert {name: one.recall for name, one in found.by_language.items()} == {"en": Share(1, 1), "zh": Share(0, 1)}
    assert found.by_category["identity"].recall == Share(1, 2)
    assert found.by_category["none given"].precision == Share(0, 1)
    assert found.errors == [
        "z missed: [identity] 杭州 <- 1: '我住在杭州'",
        "z wrong: '用户爱吃面' <- 1: '我住在杭州'",
    ]
    assert "recall" in found.table()
    assert "0.500 (1/2)" in found.table()


TEXTS = st.sampled_from(
    ["lisbon", "nurse", "coffee", "nothing", "nurse in lisbon", "coffee nurse lisbon", "用户住在杭州"]
)
PREDICTIONS = st.lists(
    st.builds(Prediction, text=TEXTS, seqs=st.lists(st.integers(0, 4), max_size=3).map(tuple)), max_size=8
)


@given(PREDICTIONS)
def test_each_fact_is_held_once_and_every_share_lies_between_none_and_all(made: list[Prediction]) -> None:
    one = dialogue(
        "lisbon nurse",
        "coffee",
        "hi",
        facts=(fact("lisbon"), fact("nurse"), fact("coffee", about=2), fact("coffee", about=2, optional=True)),
        junk=((3, "greeting"),),
    )
    held = [number for facts in matching(one, made).held.values() for number in facts]
    assert len(held) == len(set(held))
    found = score([one], {"d": made}).total
    for measure in ("precision", "recall", "junk_share", "duplicate_share", "inventions", "language", "attribution"):
        share = getattr(found, measure)
        assert 0 <= share.part <= share.whole, measure


@given(PREDICTIONS)
def test_one_more_memory_never_lowers_recall(made: list[Prediction]) -> None:
    one = dialogue("lisbon nurse", "coffee", facts=(fact("lisbon"), fact("nurse"), fact("coffee", about=2)))
    fewer = judged(one, *made[:-1]).recall.part
    assert fewer <= judged(one, *made).recall.part


def test_files_are_read_with_times_of_their_zone() -> None:
    first = dialogues("tuning", "zh")[0]
    assert first.turns[0].occurred_at == datetime(2025, 3, 4, 1, 12, tzinfo=UTC)
    assert first.turns[1].occurred_at == datetime(2025, 3, 4, 1, 13, tzinfo=UTC)
