"""Secrets in texts: what is found, what stays, and that it takes linear time by construction."""

import json
import re
import re._parser as parser  # type: ignore[import-not-found]
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain import redaction
from app.domain.redaction import (
    KINDS,
    api_keys,
    codes,
    find_secrets,
    folding,
    numbers,
    passwords,
    placeholder,
    private_keys,
    redact,
    tokens,
    urls,
    values,
)

DATA = Path(__file__).parent / "data"
LEAST = 160
"""Texts of each set that the rules were made with, and of their held-out twin a bit more than a third of it."""


def rows(name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines()]


def bare(text: str) -> str:
    """A text without the mark that may end a sentence or a password."""
    return text.rstrip("!?.")


SECRETS = rows("secrets") + rows("secrets_held_out")
NONE = rows("not_secrets") + rows("not_secrets_held_out")


def test_the_sets_are_large_and_in_both_languages() -> None:
    assert len(rows("secrets")) >= LEAST
    assert len(rows("not_secrets")) >= LEAST
    assert min(len(rows("secrets_held_out")), len(rows("not_secrets_held_out"))) >= 60
    for labelled in (SECRETS, NONE):
        chinese = sum(row["language"] == "zh" for row in labelled)
        assert chinese >= len(labelled) // 4


@pytest.mark.parametrize("row", SECRETS, ids=lambda row: row["text"][:40])
def test_a_secret_is_replaced_and_nothing_around_it(row: dict[str, str]) -> None:
    secret = row["head"] + row["tail"]
    redacted = redact(row["text"].replace("{}", secret))
    assert redacted.kinds == (row["kind"],)
    assert bare(redacted.text) == bare(row["text"].replace("{}", f"[redacted:{row['kind']}]"))


@pytest.mark.parametrize("row", NONE, ids=lambda row: row["text"][:40])
def test_what_is_no_secret_stays(row: dict[str, str]) -> None:
    assert redact(row["text"]) == redaction.Redacted(row["text"], ())


@pytest.mark.parametrize("row", SECRETS, ids=lambda row: row["text"][:40])
def test_redacting_twice_changes_nothing(row: dict[str, str]) -> None:
    once = redact(row["text"].replace("{}", row["head"] + row["tail"]))
    assert redact(once.text) == redaction.Redacted(once.text, ())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("around", ["{}", "my password is {}", "密码是{}", "api_key={}", "Bearer {}", "https://a:{}@b"])
def test_a_placeholder_is_never_a_secret(kind: Any, around: str) -> None:
    text = around.replace("{}", placeholder(kind))
    assert redact(text, phones=True).text == text


@pytest.mark.parametrize(
    "number",
    ["13800138000", "+86 138 0013 8000", "138-0013-8000", "(212) 555-0134", "+44 20 7946 0958", "+1-212-555-0134",
     "021-61234567", "020 7946 0958", "01 23 45 67 89", "400-820-8820", "１３８００１３８０００"],
)  # fmt: skip
@pytest.mark.parametrize("around", ["call {} tomorrow", "我的电话是{}，晚上再打"])
def test_a_telephone_number_is_a_secret_only_when_asked_for(number: str, around: str) -> None:
    text = around.replace("{}", number)
    assert redact(text).text == text
    assert redact(text, phones=True).text == around.replace("{}", "[redacted:phone_number]")


@pytest.mark.parametrize(
    "text", ["version 3.11.9", "2024-05-01T12:30:45", "0193a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b", "订单 20240501123456",
             "10.0.0.14:5432", "ISBN 978-3-16-148410-0", "1717171717171", "port 8080, 4000 tokens"],
)  # fmt: skip
def test_other_numbers_are_no_telephone_numbers(text: str) -> None:
    assert redact(text, phones=True).text == text


def test_a_connection_string_keeps_its_host_and_its_database() -> None:
    given_ = "postgresql+asyncpg://app:s3cr3t@db.acme.dev:5432/orders?sslmode=require"
    assert redact(given_).text == "postgresql+asyncpg://app:[redacted:password]@db.acme.dev:5432/orders?sslmode=require"


def test_several_secrets_of_a_text_are_named_once_each_in_a_fixed_order() -> None:
    text = f"my password is hunter2 and yours is pw: b4nana1, key {'gh' + 'p_' + 'aB3' * 12}"
    assert redact(text).kinds == ("api_key", "password")


@pytest.mark.parametrize("hidden", ["\u200b", "\u00ad", "\u2060", "\ufeff", "\u202e", "\ufe0f", "\U000e0041", "\u0301"])
def test_an_invisible_character_within_a_secret_hides_nothing(hidden: str) -> None:
    secret = hidden.join("sk-ant-api03-" + "aB3-" * 10 + "Zz")
    assert redact(f"key {secret}.").text == "key [redacted:api_key]."


@pytest.mark.parametrize("size", [1, 5, 300])
def test_a_file_in_base64_is_no_text(size: int) -> None:
    image = "data:image/png;base64," + "LTAI" + "aB3dE5gH" * 300 * size
    assert redact(image).text == image


def test_a_private_key_without_its_end_is_replaced_as_far_as_its_lines_go() -> None:
    lines = "\n".join(["MIIEowIBAAKCAQEA7bq0hVvZ0h8yPz3c9Qh1wq"] * 3)
    begin = "-----BEGIN RSA " + "PRIVATE KEY-----"
    assert redact(f"{begin}\n{lines}\nand that is all").text == "[redacted:private_key]\nand that is all"


# What may be in a text, put together at random: idempotence and the spans must hold for all of it.
PIECES = st.sampled_from(
    ["password", "密码", "口令", " is ", "是", "：", "=", ":", " ", "hunter2", '"', "'", "sk-", "aB3" * 12, "Bearer ",
     "api_key", "token", "https://", "ada:", "@", "/", "4111111111111111", "\u200b", "，", "。", "[redacted:password]",
     "[redacted:", "-----BEGIN PRIVATE KEY-----", "AKIA", "ABCDEFGHIJKLMNOP", "ｐａｓｓ", "½", "ﬁ", "+86",
     "13800138000"]
)  # fmt: skip
TEXTS = st.one_of(st.text(), st.lists(PIECES, max_size=12).map("".join))


@given(TEXTS, st.booleans())
def test_redacting_is_idempotent(text: str, phones: bool) -> None:
    once = redact(text, phones=phones)
    assert redact(once.text, phones=phones) == redaction.Redacted(once.text, ())


@given(TEXTS | st.lists(PIECES | st.sampled_from(redaction._WORDS) | st.text(max_size=4), max_size=9).map("".join))
def test_a_text_without_any_sign_of_a_secret_has_none_by_any_rule(text: str) -> None:
    folded = folding.fold(text)
    assert redaction._SIGNS.search(folded.lower) is not None or redaction._found(folded) == []


@given(TEXTS)
def test_spans_are_in_order_within_the_text_and_apart(text: str) -> None:
    at = 0
    for secret in find_secrets(text, phones=True):
        assert at <= secret.start < secret.end <= len(text)
        at = secret.end


@given(st.text())
def test_a_text_is_folded_character_by_character(text: str) -> None:
    folded = folding.fold(text)
    assert len(folded.text) == len(folded.lower)
    for place in range(len(folded.text)):
        start, end = folded.span(place, place + 1)
        assert 0 <= start < end <= len(text)


def test_what_is_taken_for_plain_folds_to_itself() -> None:
    kept = "，；！？（）"
    for character in re.findall(f"[{folding.PLAIN}]", "".join(map(chr, range(0xD800)))):
        assert character in kept or unicodedata.normalize("NFKC", character) == character


# Linear by construction. A pattern's cost is the most steps from one start, backtracking included; it is a constant if
# what is unbounded is possessive and stands last, where nothing can fail after it, so that finditer goes on behind it.

BOUND = 200_000


def patterns_of(module: Any) -> Iterator[re.Pattern[str]]:
    for thing in vars(module).values():
        held = thing.values() if isinstance(thing, dict) else thing if isinstance(thing, tuple | list) else [thing]
        yield from (one for one in held if isinstance(one, re.Pattern))


PATTERNS = {
    pattern.pattern: pattern
    for module in (redaction, api_keys, codes, folding, numbers, passwords, private_keys, tokens, urls, values)
    for pattern in patterns_of(module)
}


def cost(items: Any, rest: int, *, last: bool) -> int:
    """The most steps that a sequence takes with what follows it, which takes `rest`."""
    steps = rest
    sequence = list(items)
    for place, (operator, argument) in reversed(list(enumerate(sequence))):
        steps = cost_of(str(operator), argument, steps, last=last and place == len(sequence) - 1)
    return steps


def cost_of(operator: str, argument: Any, rest: int, *, last: bool) -> int:
    if operator in {"MAX_REPEAT", "MIN_REPEAT"}:
        _, most, inner = argument
        assert most != parser.MAXREPEAT, "an unbounded repetition that gives back"
        assert most == 1 or cost(inner, 0, last=False) == 1 or most <= 8, "a repeated group that gives back"
        return (most + 1) * (cost(inner, 0, last=False) + rest)
    if operator == "POSSESSIVE_REPEAT":
        _, most, inner = argument
        if most == parser.MAXREPEAT:
            assert last, "an unbounded repetition that something follows"
            return cost(inner, 0, last=False) + rest
        return int(most) * cost(inner, 0, last=False) + rest
    if operator == "BRANCH":
        return sum(cost(branch, rest, last=last) for branch in argument[1])
    if operator == "SUBPATTERN":
        return cost(argument[3], rest, last=last)
    if operator == "ATOMIC_GROUP":
        return cost(argument, 0, last=last) + rest
    if operator in {"ASSERT", "ASSERT_NOT"}:
        return cost(argument[1], 0, last=False) + rest
    return 1 + rest


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_takes_a_constant_number_of_steps_from_each_start(pattern: str) -> None:
    assert cost(parser.parse(pattern, PATTERNS[pattern].flags), 0, last=True) < BOUND
