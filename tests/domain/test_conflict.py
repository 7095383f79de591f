"""What a new statement does to a stored one: by table in both languages, by source and age, and as properties."""

import csv
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.conflict.cues import before_of, change_of, is_tentative
from app.domain.conflict.deciding import decide
from app.domain.conflict.judged import guarded
from app.domain.conflict.meaning import Meaning
from app.domain.conflict.settling import Plan, settle
from app.domain.conflict.statements import DISPLACING, VERDICTS, Decision, Statement, Verdict
from app.domain.conflict.values import mentioned, refines, same_value
from app.domain.extraction.candidates import Change
from app.domain.keys import built_in
from app.domain.memory import SOURCES, Source

CERTAIN = {"user_stated", "tool_observed", "imported"}
NOW = datetime(2025, 4, 1, 9, tzinfo=UTC)
TABLE = (Path(__file__).parent / "data" / "conflicts.tsv").read_text("utf-8")
ROWS = list(csv.reader(TABLE.splitlines(), delimiter="\t"))[1:]


def said(text: str, key: str | None = None, value: Any = None, *, days: int = 0, **more: Any) -> Statement:
    fields = {"kind": "semantic", "category": "other", "source": "user_stated", **more}
    return Statement(text, key, value, occurred_at=NOW + timedelta(days), **fields)


def multivalued(*statements: Statement) -> bool:
    known = next((entry for one in statements if one.key and (entry := built_in(one.key))), None)
    return known is not None and known.multi_valued


def verdict_of(new: Statement, old: Statement, similarity: float | None = None) -> tuple[Verdict, str]:
    found = decide(new, old, similarity=similarity, multivalued=multivalued(new, old))
    return found.verdict, found.reason


OSLO = said("The user lives in Oslo.", "user.city", "Oslo")
RIGA = said("The user lives in Riga.", "user.city", "Riga", days=1)
TEA = said("The user drinks tea.", "preference.drink", "tea")


def test_each_pair_of_statements_gets_its_verdict() -> None:
    wrong = []
    for verdict, text, key, value, new_text, new_key, new_value in ROWS:
        old = said(text, key or None, value or None)
        new = said(new_text, new_key or None, new_value or None, days=1)
        given = verdict_of(new, old)[0]
        wrong += [f"{given}, not {verdict}: {text} <- {new_text}"] if given != verdict else []
    assert len(ROWS) >= 200
    assert wrong == []


def test_similarity_alone_makes_nothing_a_repetition() -> None:
    tabs, spaces = said("The user prefers tabs over spaces."), said("The user prefers spaces over tabs.", days=1)
    assert verdict_of(spaces, tabs, 0.995) == ("contradict", "order")
    assert verdict_of(said("用户喜欢空格胜过制表符。"), said("用户喜欢制表符胜过空格。"), 1.0) == (
        "contradict",
        "order",
    )


def test_values_in_other_scripts_are_both_kept_until_somebody_decides() -> None:
    chinese = said("我住在法鲁。", "user.city", "法鲁", days=1)
    english = said("I live in Faro.", "user.city", "Faro", days=2)
    assert verdict_of(english, chinese) == ("contradict", "other_language")
    moved = said("我从 Faro 搬到了上海。", "user.city", "上海", days=3, change="replaces", before="Faro")
    assert verdict_of(moved, english)[0] == "supersede", "it names the old value"
    editor = said("我用的编辑器是 vim。", "tool.editor", "vim"), said("I use emacs.", "tool.editor", "emacs", days=1)
    assert verdict_of(editor[1], editor[0])[0] == "supersede", "both are written in one script"


def test_texts_far_apart_without_a_common_key_are_not_compared() -> None:
    old, new = said("The user eats meat."), said("The user never eats meat.", days=1)
    assert verdict_of(new, old, 0.9) == ("contradict", "negation")
    assert verdict_of(new, old, 0.1) == ("add", "unrelated")


def test_a_key_in_another_spelling_is_the_same_key() -> None:
    assert (
        verdict_of(said("用户住在 Riga。", "居住地", "Riga", days=1), replace(OSLO, key="home.location"))[0]
        == "supersede"
    )


def test_an_older_statement_that_arrives_late_does_not_replace_the_newer_one() -> None:
    late = replace(RIGA, occurred_at=NOW - timedelta(1))
    assert verdict_of(late, OSLO) == ("add", "older")
    plan = settle(late, [("oslo", OSLO, None)], multivalued=False)
    assert (plan.outcome, plan.verdict, plan.reason, plan.superseded_by) == ("add", "add", "older", "oslo")
    assert not plan.effects


def test_a_late_statement_is_history_until_the_first_that_followed_it() -> None:
    late = said("The user lives in Bonn.", "user.city", "Bonn", days=-1)
    plan = settle(late, [("riga", RIGA, None), ("oslo", OSLO, None)], multivalued=False)
    assert plan.superseded_by == "oslo"


@pytest.mark.parametrize("source", ["assistant_said", "inferred", "derived"])
def test_a_claim_that_differs_from_the_users_word_is_added_as_uncertain(source: Source) -> None:
    claim = replace(RIGA, source=source)
    assert verdict_of(claim, OSLO) == ("add", "weaker_source")
    plan = settle(claim, [(1, OSLO, None)], multivalued=False)
    assert (plan.outcome, plan.uncertain, plan.key, plan.effects) == ("add", True, None, ())


@pytest.mark.parametrize("source", ["assistant_said", "inferred", "derived"])
def test_a_claim_that_repeats_the_users_word_strengthens_nothing(source: Source) -> None:
    claim = replace(OSLO, source=source, occurred_at=NOW + timedelta(1))
    assert verdict_of(claim, OSLO) == ("add", "echo")
    plan = settle(claim, [(1, OSLO, 1.0)], multivalued=False)
    assert (plan.outcome, plan.target, plan.effects) == ("ignore", None, ())


def test_what_was_derived_twice_is_no_evidence_for_itself() -> None:
    derived = replace(OSLO, source="derived")
    assert verdict_of(derived, derived) == ("add", "echo")


def test_the_user_confirms_a_claim_by_saying_it() -> None:
    claim = replace(OSLO, source="assistant_said", uncertain=True)
    plan = settle(replace(OSLO, occurred_at=NOW - timedelta(1)), [("claim", claim, 1.0)], multivalued=False)
    assert (plan.outcome, plan.reason, plan.target) == ("reinforce", "confirmed", "claim")


def test_the_users_word_replaces_a_claim_whenever_it_was_said() -> None:
    claim = replace(RIGA, source="assistant_said", uncertain=True)
    assert verdict_of(OSLO, claim)[0] == "supersede"


def test_a_claim_makes_no_word_of_the_users_doubtful() -> None:
    likes, claim = said("The user likes jazz."), said("The user does not like jazz.", source="assistant_said", days=1)
    assert verdict_of(claim, likes) == ("add", "weaker_source")
    assert verdict_of(replace(likes, occurred_at=NOW + timedelta(2)), claim) == ("add", "stronger_source")


def test_a_tool_replaces_what_a_tool_saw_and_never_a_wish_of_the_users() -> None:
    old = said("数据库是 MySQL。", "project.database", "MySQL", source="tool_observed", category="project")
    new = said("数据库是 Redis。", "project.database", "Redis", source="tool_observed", category="project", days=1)
    assert verdict_of(new, old)[0] == "supersede"
    assert verdict_of(new, replace(old, source="user_stated", category="preference")) == ("add", "weaker_source")
    assert verdict_of(new, replace(old, source="user_stated")) == ("contradict", "other_source")


def test_an_uncertain_statement_displaces_no_certain_one() -> None:
    assert verdict_of(replace(RIGA, uncertain=True), OSLO) == ("add", "weaker_source")
    assert verdict_of(replace(RIGA, uncertain=True), replace(OSLO, uncertain=True))[0] == "supersede"


def test_two_events_of_one_shape_do_not_contradict() -> None:
    monday = said("The user ran 5 km on Monday.", kind="episodic")
    assert verdict_of(said("The user ran 7 km on Monday.", kind="episodic", days=1), monday)[0] in {"add", "complement"}


@pytest.mark.parametrize(
    ("change", "before", "expected"),
    [
        ("replaces", "tea", "supersede"), ("corrects", "tea", "correct"), ("replaces", "beer", "complement"),
        ("adds", None, "complement"), (None, None, "complement"), ("replaces", None, "complement"),
    ],
)  # fmt: skip
def test_of_a_key_with_many_values_only_the_one_named_gives_way(
    change: Change | None, before: str | None, expected: Verdict
) -> None:
    new = said("The user drinks coffee.", "preference.drink", "coffee", days=1, change=change, before=before)
    assert verdict_of(new, TEA)[0] == expected


def test_coffee_after_five_is_not_all_coffee() -> None:
    coffee = said("The user drinks coffee.", "preference.drink", "coffee")
    new = said("The user no longer drinks coffee after 5 pm.", "preference.drink", days=1)
    assert verdict_of(new, coffee)[0] == "complement"
    assert verdict_of(replace(new, key=None), replace(coffee, key=None))[0] not in DISPLACING


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("NYC", "New York"), ("北京", "北京市"), ("北大", "北京大学"), ("Ｎｅｏｖｉｍ", "nvim"), ("運動", "运动"),
        (41, "41"),
        ("12 May 2025", "2025-05-12"), ("2025年5月12日", "2025-05-12"), ("VS Code", "vscode"), ("Acme Inc.", "ACME"),
        ("5 km", "5000 m"), ("70公斤", "140斤"), ("五公里", "5公里"), ("9 am", "9:00"), ("下午三点", "15:00"),
        (["a", "b"], ["a", "b"]), ({"a": 1, "b": 2}, {"b": 2, "a": 1}), (True, True), ("简短", "brief"),
        ("$5,000", "5000 USD"),
    ],
)  # fmt: skip
def test_a_value_in_another_spelling_is_the_same_value(one: Any, other: Any) -> None:
    assert same_value(one, other)
    assert same_value(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("York", "New York"), ("吉林", "吉林市"), ("PostgreSQL 15", "PostgreSQL 16"), ("5 km", "5 miles"), (True, 1),
        ("12 May", "21 May"), ("张伟", "章伟"), ("Tom", "Tim"), ("tabs", "no tabs"), ([1], [2]), ("C", "C#"), ("", "x"),
        ("9 am", "9 pm"), ("Java", "JavaScript"), ("北京", "南京"),
    ],
)  # fmt: skip
def test_values_that_only_look_alike_are_two(one: Any, other: Any) -> None:
    assert not same_value(one, other)
    assert not same_value(other, one)


def test_a_version_or_a_year_more_is_no_other_value() -> None:
    assert refines("PostgreSQL 16", "Postgres")
    assert refines("12 May 2025", "12 May")
    assert not refines("PostgreSQL 16", "PostgreSQL 15")
    assert not refines("New York", "York")
    old = said("用 PostgreSQL。", "project.database", "PostgreSQL")
    new = said("用 PostgreSQL 16。", "project.database", "PostgreSQL 16", days=1)
    plan = settle(new, [(1, old, None)], multivalued=False)
    assert (plan.verdict, plan.key) == ("complement", None)


def test_a_value_is_named_only_as_a_word() -> None:
    assert mentioned("Go", "The user left Go behind.")
    assert not mentioned("Go", "The user left Google.")
    assert mentioned("北京大学", "用户离开了北大。")
    assert not mentioned("", "anything")
    assert not mentioned(["a"], "a")


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("The user moved to Riga.", "replaces"), ("用户搬到里加了。", "replaces"),
        ("I switched from tea to coffee.", "replaces"),
        ("I no longer smoke.", "ends"), ("我戒烟了，再也不抽。", "ends"), ("No, I meant Thursday.", "corrects"),
        ("更正：是周四。", "corrects"), ("I also play chess.", "adds"), ("我也下棋。", "adds"), ("I play chess.", None),
        ("我下棋。", None), ("I now play chess.", "replaces"), ("我现在下棋。", "replaces"),
        ("I used to play chess.", "ends"),
    ],
)  # fmt: skip
def test_the_words_of_a_change_are_understood(text: str, change: Change | None) -> None:
    assert change_of(text) == change


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("I switched from tea to coffee.", "tea"), ("Use spaces instead of tabs.", "tabs"),
        ("把咖啡换成了茶。", "咖啡"),
        ("从上海搬到了杭州。", "上海"), ("不是周二，是周四。", "周二"), ("Not Tuesday but Thursday.", "tuesday"),
        ("I like tea.", None),
    ],
)  # fmt: skip
def test_what_was_before_is_read_from_the_sentence(text: str, before: str | None) -> None:
    assert before_of(text) == before


def test_plans_are_told_from_facts() -> None:
    assert is_tentative("I am thinking of moving to Riga.")
    assert is_tentative("我打算搬到里加。")
    assert not is_tentative("I moved to Riga.")
    plan = settle(said("I plan to move to Riga.", "user.city", "Riga", days=1), [(1, OSLO, None)], multivalued=False)
    assert (plan.verdict, plan.reason, plan.key) == ("complement", "only_planned", None)


def test_a_retraction_leaves_no_value() -> None:
    new = said("The user no longer works.", "user.employer", days=1, change="ends", before="Acme")
    plan = settle(new, [(1, said("Works at Acme.", "user.employer", "Acme"), None)], multivalued=False)
    assert (plan.outcome, plan.verdict, plan.key, plan.ids("retract")) == ("add", "retract", None, [1])


def test_of_a_single_valued_key_the_latest_value_gets_the_verdict_and_the_others_go() -> None:
    new = said("No, Bonn, not Riga.", "user.city", "Bonn", days=2, change="corrects", before="Riga")
    plan = settle(new, [("oslo", OSLO, None), ("riga", RIGA, None)], multivalued=False)
    assert plan.verdict == "correct"
    assert (plan.ids("correct"), plan.ids("supersede"), plan.key) == (["riga"], ["oslo"], "user.city")


def test_a_value_said_again_is_reinforced_and_its_rival_goes() -> None:
    new = replace(RIGA, occurred_at=NOW + timedelta(5))
    plan = settle(new, [("oslo", OSLO, 0.9), ("riga", RIGA, 1.0)], multivalued=False)
    assert (plan.outcome, plan.target, plan.ids("supersede")) == ("reinforce", "riga", ["oslo"])


def test_nothing_near_means_a_new_row() -> None:
    assert settle(OSLO, [], multivalued=False) == Plan("add", "add", "new", key="user.city")


def test_a_contradiction_leaves_both_as_disputed() -> None:
    plan = settle(said("用户不吃肉。", days=1), [(7, said("用户吃肉。"), 0.9)], multivalued=False)
    assert (plan.outcome, plan.verdict, plan.ids("contradict")) == ("add", "contradict", [7])


def judged(verdict: Verdict) -> Decision:
    return Decision(verdict, "judged", None)


@pytest.mark.parametrize(
    ("new", "old", "given", "expected"),
    [
        # It decides where words cannot tell.
        (said("I take the bus to work now.", days=1), said("I take the train to work."), "supersede", "supersede"),
        (said("用户坐公交上班。", days=1), said("用户开车上班。"), "complement", "complement"),
        # It displaces nothing by a weaker source, by an older statement, or of another topic.
        (replace(RIGA, source="assistant_said"), OSLO, "supersede", "add"),
        (replace(RIGA, occurred_at=NOW - timedelta(1)), OSLO, "supersede", "add"),
        (said("I like jazz.", days=1), said("The server runs Debian."), "retract", "add"),
        # Tea and coffee stay; a second city does not.
        (said("The user drinks coffee.", "preference.drink", "coffee", days=1), TEA, "supersede", "complement"),
        (RIGA, OSLO, "complement", "supersede"),
        # What has another number, a negation or a name more is no repetition.
        (said("The rent is 900.", days=1), said("The rent is 800."), "reinforce", "contradict"),
        (said("用户不吃肉。", days=1), said("用户吃肉。"), "reinforce", "contradict"),
        (said("Met Anna and Ben.", days=1), said("Met Anna."), "reinforce", "complement"),
    ],
)  # fmt: skip
def test_a_models_verdict_stands_only_where_rules_let_it(
    new: Statement, old: Statement, given: Verdict, expected: Verdict
) -> None:
    found = decide(new, old, similarity=None, multivalued=multivalued(new, old))
    assert guarded(new, old, found, judged(given), multivalued=multivalued(new, old)).verdict == expected


@pytest.mark.parametrize(
    "part", ["not a ", "from a to ", "不是", "从", "prefer a ", "喜欢", "比", "1,", "rather ", "把"]
)
def test_long_texts_are_compared_by_their_beginning(part: str) -> None:
    long = said(part * 5_000)
    assert verdict_of(said(part * 5_000 + "x", days=1), long) == verdict_of(said(part * 9_000, days=1), long)


def test_liking_and_disliking_one_thing_are_opposites() -> None:
    likes = said("I like jazz.", "preference.like", "jazz")
    dislikes = said("I don't like jazz.", "preference.dislike", "Jazz", days=1)
    assert verdict_of(dislikes, likes) == ("contradict", "opposite")
    assert verdict_of(replace(dislikes, change="replaces"), likes) == ("supersede", "changed")
    assert verdict_of(replace(dislikes, value="opera"), likes) == ("add", "other_value")


@pytest.mark.parametrize(
    ("text", "old", "expected"),
    [
        ("The job runs on db-01.", "The job runs on db-02.", ("contradict", "number")),
        ("The user wants short answers.", "The user wants detailed answers.", ("contradict", "opposite")),
        ("用户的房间号是三〇五室。", "用户的房间号是305室。", ("complement", "same_topic")),
        ("用户凌晨12点睡。", "用户零点睡。", ("reinforce", "same_words")),
        ("The store is on 12 May.", "The store opens.", ("complement", "same_topic")),
        ("I now drink tea.", "I drink coffee at home.", ("complement", "same_topic")),
        ("The team lunch is pizza now.", "The team lunch is sushi.", ("supersede", "changed")),
        ("一亿两千万元的预算。", "120000000元的预算。", ("reinforce", "same_words")),
        ("车不再是红色的。", "用户不买车。", ("add", "different")),
        ("He is 42.", "", ("add", "different")),
    ],
)
def test_what_differs_is_told(text: str, old: str, expected: tuple[Verdict, str]) -> None:
    assert verdict_of(said(text, days=1), said(old)) == expected


def test_a_less_exact_value_says_nothing_new() -> None:
    old = said("The database is PostgreSQL 16.", "project.database", "PostgreSQL 16")
    assert verdict_of(said("The database is Postgres.", "db", "Postgres", days=1), old) == ("reinforce", "less_exact")


def test_nested_values_are_compared_as_they_are() -> None:
    assert not same_value([1], "1")
    assert not refines([1], "1")


def test_a_model_may_say_that_a_value_never_was_right_and_not_that_another_name_is_the_same() -> None:
    old, new = (
        said("Lives in Oslo.", "user.city", "Oslo"),
        said("Lives in Kristiania.", "user.city", "Kristiania", days=1),
    )
    found = decide(new, old, similarity=None, multivalued=False)
    assert guarded(new, old, found, judged("correct"), multivalued=False).verdict == "correct"
    assert guarded(new, old, found, judged("reinforce"), multivalued=False).verdict == "supersede"


# --- properties ---------------------------------------------------------------------------------------------------

WORDS = st.sampled_from(
    """
    the user not never no likes tea coffee tabs over spaces from Oslo to Riga 5 km miles 12 May Friday now longer
    also was Anna Ben 用户 不 喜欢 茶 咖啡 从 上海 搬到 杭州 五 公里 周五 不再 现在 也 王芳
    """.split()  # noqa: SIM905 - words
)
TEXTS = st.lists(WORDS, max_size=8).map(" ".join) | st.text(max_size=30)
KEYS = st.sampled_from([None, "user.city", "城市", "preference.drink", "user.shoe.size"])
STATEMENTS = st.builds(
    Statement,
    text=TEXTS,
    key=KEYS,
    value=st.none() | st.sampled_from(["Oslo", "Riga", "NYC", "New York", "北京", "北京市"]) | TEXTS,
    kind=st.sampled_from(["semantic", "episodic", "procedural"]),
    category=st.sampled_from(["other", "preference", "project"]),
    source=st.sampled_from(SOURCES),
    occurred_at=st.integers(-3, 3).map(lambda day: NOW + timedelta(day)),
    uncertain=st.booleans(),
    change=st.sampled_from([None, "replaces", "adds", "ends", "corrects"]),
    before=st.none() | st.sampled_from(["Oslo", "北京"]),
)


@given(new=STATEMENTS, old=STATEMENTS, similarity=st.none() | st.floats(0, 1), many=st.booleans())
def test_deciding_is_total_and_deterministic(
    new: Statement, old: Statement, similarity: float | None, many: bool
) -> None:
    first = decide(new, old, similarity=similarity, multivalued=many)
    assert first == decide(new, old, similarity=similarity, multivalued=many)
    assert first.verdict in VERDICTS
    assert first.reason.replace("_", "").isalpha()


@given(TEXTS, TEXTS)
def test_saying_the_same_is_symmetric(one: str, other: str) -> None:
    first, second = Meaning.of(one), Meaning.of(other)
    assert first.says_the_same_as(second) == second.says_the_same_as(first)
    assert same_value(one, other) == same_value(other, one)


@given(TEXTS)
def test_every_value_is_itself(text: str) -> None:
    assert same_value(text, text)


@given(new=STATEMENTS, old=STATEMENTS, many=st.booleans(), given_verdict=st.sampled_from(VERDICTS))
def test_nothing_derived_or_claimed_ever_displaces_what_the_user_said(
    new: Statement, old: Statement, many: bool, given_verdict: Verdict
) -> None:
    user = replace(old, source="user_stated", uncertain=False)
    if new.source == "user_stated" and not new.uncertain:
        new = replace(new, source="derived")
    found = decide(new, user, similarity=None, multivalued=many)
    verdicts = {found.verdict, guarded(new, user, found, judged(given_verdict), multivalued=many).verdict}
    assert not verdicts & {*DISPLACING, "reinforce"}


@given(new=STATEMENTS, old=STATEMENTS, many=st.booleans())
def test_what_is_older_displaces_nothing_of_its_rank(new: Statement, old: Statement, many: bool) -> None:
    old = replace(old, source=new.source, uncertain=new.uncertain, occurred_at=new.occurred_at + timedelta(1))
    assert decide(new, old, similarity=None, multivalued=many).verdict not in DISPLACING


@given(
    statements=st.lists(STATEMENTS, max_size=6),
    verdicts=st.lists(st.sampled_from([None, *VERDICTS]), min_size=6, max_size=6),
)
def test_a_single_valued_key_keeps_at_most_one_value_whatever_is_said_of_it(
    statements: list[Statement], verdicts: list[Verdict | None]
) -> None:
    rows: dict[int, Statement] = {}
    history: set[int] = set()
    disputed: set[int] = set()
    for number, one in enumerate(statements):
        new = replace(one, key="user.city", value=one.value or "Oslo")
        near = [(name, row, None) for name, row in rows.items() if name not in history]
        told = verdicts[number]
        models = {name: judged(told) for name, _, _ in near} if told else None
        plan = settle(new, near, multivalued=False, judged=models)
        history |= set(plan.ids("correct", "supersede", "retract"))
        disputed |= set(plan.ids("contradict"))
        if plan.outcome == "add":
            rows[number] = replace(new, key=plan.key, uncertain=plan.uncertain)
            if plan.superseded_by is not None:
                history.add(number)
            if plan.verdict == "contradict":
                disputed.add(number)
        current = {
            name
            for name, row in rows.items()
            if name not in history | disputed and row.key and not row.uncertain and row.source in CERTAIN
        }
        assert len(current) <= 1
        assert len(plan.effects) == len({effect.id for effect in plan.effects})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("每周三晚上小莉去游泳。", "小莉每周三晚上去游泳。"),
        ("上个月小王在上海出差。", "小王上个月在上海出差。"),
        ("小李周末和小张打球。", "周末小李和小张打球。"),
        ("晚上八点小王下班。", "小王晚上八点下班。"),
        ("On Wednesday evenings Lily swims at the lake.", "Lily on Wednesday evenings swims at the lake."),
        ("On Monday Tom calls Mia.", "Tom on Monday calls Mia."),
    ],
)
def test_where_in_a_sentence_the_time_stands_makes_no_difference(one: str, other: str) -> None:
    assert Meaning.of(one).says_the_same_as(Meaning.of(other))
    assert Meaning.of(other).says_the_same_as(Meaning.of(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("每周三晚上小莉去游泳。", "小莉每周四晚上去游泳。"),
        ("上个月小王教小李。", "小李上个月教小王。"),
        ("周三开会周四休息。", "周四开会周三休息。"),
        ("早上喝茶晚上喝咖啡。", "晚上喝茶早上喝咖啡。"),
        ("On Monday Tom calls Mia.", "Mia on Monday calls Tom."),
        ("I have 2 cats and 3 dogs.", "I have 3 cats and 2 dogs."),
    ],
)
def test_who_does_what_when_makes_a_difference(one: str, other: str) -> None:
    assert not Meaning.of(one).says_the_same_as(Meaning.of(other))
    assert not Meaning.of(other).says_the_same_as(Meaning.of(one))
