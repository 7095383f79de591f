"""Canonical keys: one key for all its spellings, in both languages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.keys import BUILT_IN, built_in, spelled


@pytest.mark.parametrize(
    ("written", "key"),
    [("user.city", "user.city"), ("City", "user.city"), ("home_location", "user.city"), ("Home-City", "user.city"),
     ("居住地", "user.city"), ("城市", "user.city"), ("ｃｉｔｙ", "user.city"), (" my name ", "user.name"),
     ("姓名", "user.name"), ("Date of Birth", "user.birthday"), ("preference.programming_language",
     "preference.programming_language"), ("Programming-Language", "preference.programming_language")],
)  # fmt: skip
def test_every_spelling_leads_to_its_key(written: str, key: str) -> None:
    found = built_in(written)
    assert found is not None
    assert found.key == key


@pytest.mark.parametrize("written", ["", "...", "user", "user.shoe.size", "鞋码"])
def test_what_nobody_registered_has_no_key(written: str) -> None:
    assert built_in(written) is None


def test_no_spelling_means_two_keys() -> None:
    meant: dict[str, str] = {}
    for entry in BUILT_IN:
        for name in {spelled(name) for name in (entry.key, *entry.aliases)}:
            assert meant.setdefault(name, entry.key) == entry.key, name
            assert built_in(name) is entry
    assert len({entry.key for entry in BUILT_IN}) == len(BUILT_IN)


def test_every_key_says_what_it_holds() -> None:
    assert all(entry.description and entry.key.count(".") == 1 for entry in BUILT_IN)


def test_tea_does_not_replace_coffee_and_a_new_city_replaces_the_old() -> None:
    several = {entry.key: entry.multi_valued for entry in BUILT_IN}
    assert several["preference.drink"]
    assert several["user.child"]
    assert not several["user.city"]


@given(st.text())
def test_a_spelling_has_no_spaces_at_its_ends_and_no_empty_part(text: str) -> None:
    plain = spelled(text)
    assert plain == "" or all(plain.split("."))
    assert not set(plain) & {" ", "_", "-"}


@given(st.lists(st.text("abz09汇", min_size=1), min_size=1), st.sampled_from([".", " ", "_", "-", "__", " . "]))
def test_words_are_joined_by_dots_whatever_was_between_them(words: list[str], between: str) -> None:
    assert spelled(between.join(words)) == ".".join(words)
    assert spelled(between.join(words).upper()) == ".".join(words)
    assert spelled(spelled(between.join(words))) == ".".join(words)
