"""Questions that ask for a fact by their form, and those that ask for none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.asked_keys import LONGEST, asked_keys
from app.domain.keys import built_in


@pytest.mark.parametrize(
    ("question", "key"),
    [
        ("Where do I live?", "user.city"),
        ("Which city do I live in now?", "user.city"),
        ("where does Ada currently work?", "user.employer"),
        ("Who do I work for these days?", "user.employer"),
        ("What does she do for a living?", "user.job"),
        ("When was I born?", "user.birthday"),
        ("How old am I?", "user.age"),
        ("What is my name?", "user.name"),
        ("What am I allergic to?", "user.allergy"),
        ("When is the report due?", "project.deadline"),
        ("What time do I get up?", "user.wake_up_time"),
        ("我住在哪里?", "user.city"),
        ("我 现在 住 在 哪个 城市?", "user.city"),
        ("他在哪家公司上班?", "user.employer"),
        ("我是做什么工作的?", "user.job"),
        ("我的生日是哪天?", "user.birthday"),
        ("我今年多大了?", "user.age"),
        ("我叫什么名字?", "user.name"),
        ("我对什么过敏?", "user.allergy"),
        ("报告什么时候截止?", "project.deadline"),
        ("我几点起床?", "user.wake_up_time"),
    ],
)
def test_a_question_names_its_fact_by_its_form(question: str, key: str) -> None:
    assert asked_keys(question)[0] == key


@pytest.mark.parametrize(
    "question",
    [
        "How does photosynthesis work?",
        "Where is the bug?",
        "Explain the deadline of TCP.",
        "天气怎么样?",
        "帮我写一封感谢信。",
    ],
)
def test_other_questions_name_none(question: str) -> None:
    assert asked_keys(question) == []


@given(st.text(max_size=2 * LONGEST))
def test_any_text_gives_known_keys_each_once(text: str) -> None:
    keys = asked_keys(text)
    assert len(keys) == len(set(keys))
    assert all(built_in(key) is not None for key in keys)
