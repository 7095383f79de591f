"""Words by which people end what they said: a taste that is gone, a plan that is off, a number that was wrong."""

import httpx
import pytest

from tests.conftest import Tenant
from tests.routers.calls import every, say

ADA = {"user_id": "ada"}


@pytest.fixture
def tenant(learning_tenant: Tenant) -> Tenant:
    """A fresh tenant of a service that learns from what is appended."""
    return learning_tenant


async def after(api: httpx.AsyncClient, tenant: Tenant, *said: str, session: str = "s") -> list[str]:
    """What is current once all of it was said, each in a session of its own where `session` has a place for it."""
    for place, text in enumerate(said):
        await say(api, session.format(place), text, **ADA)
        await tenant.work()
    return [memory["text"] for memory in await every(api, "/v1/memories", **ADA)]


@pytest.mark.parametrize("session", ["s", "s{}"])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I'm vegetarian.", "I'm not vegetarian any more, I eat fish now."),
        ("I like jazz.", "I've gone off jazz."),
        ("I love running.", "I lost interest in running."),
        ("My phone number is +49 151 2345678.", "I got a new number: +49 170 9876543."),
        ("My order number is A-1187.", "Sorry, the order number is A-1178."),
        ("I am flying to Rome on 3 March 2099.", "I've cancelled the trip to Rome."),
        ("Dinner with Clara is on 4 May 2099.", "The dinner with Clara is off."),
        ("The dentist is on Friday at 7.", "We moved the dentist to Saturday."),
        ("我吃素。", "我现在不吃素了，开始吃鱼了。"),
        ("我喜欢爵士乐。", "我现在对爵士乐没兴趣了。"),
        ("我喜欢跑步。", "我对跑步没兴趣了。"),
        ("我2099年3月3号飞罗马。", "罗马那趟取消了。"),
        ("我2099年5月4号和林悦吃饭。", "和林悦的饭局取消了。"),
    ],
)
async def test_what_was_said_before_is_no_longer_current(
    api: httpx.AsyncClient, tenant: Tenant, old: str, new: str, session: str
) -> None:
    current = await after(api, tenant, old, new, session=session)
    assert not [text for text in current if text.startswith(old[:-1])], current
    assert len(current) == 1, current


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I am flying to Rome on 3 March 2099.", "The hotel in Rome was cancelled."),
        ("I am flying to Rome on 3 March 2099.", "I've cancelled the trip to Oslo."),
        ("I flew to Rome on 3 March 2019.", "I've cancelled the trip to Rome."),
        ("I like jazz.", "I've gone off opera."),
        ("My order number is A-1187.", "Sorry, the room number is B14."),
        ("我2099年3月3号飞罗马。", "罗马的酒店取消了。"),
        ("我2099年3月3号飞罗马。", "奥斯陆那趟取消了。"),
        ("我喜欢爵士乐。", "我现在对歌剧没兴趣了。"),
    ],
)
async def test_what_is_about_something_else_ends_nothing(
    api: httpx.AsyncClient, tenant: Tenant, old: str, new: str
) -> None:
    current = await after(api, tenant, old, new)
    assert [text for text in current if text.startswith(old[:-1].partition("3号")[0])], current


@pytest.mark.parametrize(
    ("old", "new", "right"),
    [
        ("The order number is A-1187.", "No wait, it's A-1178.", "The order number is A-1178"),
        ("My seat number is 12A.", "No, it's 14C.", "My seat number is 14C"),
        ("The price is 30 euros.", "Sorry, the price is 40 euros.", "The price is 40 euros"),
        ("我的订单号是A-1187。", "订单号说错了，是A-1178。", "我的订单号是A-1178"),
        ("会员号是H2207。", "不对，是H2270。", "会员号是H2270"),
    ],
)
async def test_a_number_that_was_wrong_is_put_right_in_its_sentence(
    api: httpx.AsyncClient, tenant: Tenant, old: str, new: str, right: str
) -> None:
    assert await after(api, tenant, old, new) == [right]


@pytest.mark.parametrize(
    "said",
    ["I put the kids to bed.", "I brought the dog to the vet.", "I'm over it.", "We are not interested in buying it."],
)
async def test_what_only_sounds_like_a_change_is_not_kept(api: httpx.AsyncClient, tenant: Tenant, said: str) -> None:
    assert await after(api, tenant, said) == []


async def test_what_has_always_been_so_is_no_instruction(api: httpx.AsyncClient, tenant: Tenant) -> None:
    assert await after(api, tenant, "I'm allergic to peanuts, always have been.") == ["I'm allergic to peanuts"]
