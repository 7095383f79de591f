"""One walk through the whole slice."""

import httpx

from tests.conftest import Tenant


async def test_an_appended_message_is_found_by_its_words_at_once_and_by_its_meaning_after_the_job(
    api: httpx.AsyncClient, tenant: Tenant
) -> None:
    appended = await api.post(
        "/v1/sessions/walk/messages", json={"user_id": "ada", "role": "user", "content": "I moved to Lisbon last week."}
    )
    assert appended.status_code == 201
    query = {"query": "Lisbon", "user_id": "ada", "include_messages": True}
    by_word = (await api.post("/v1/memories/search", json=query)).json()["results"]
    assert [hit["id"] for hit in by_word] == [appended.json()["id"]]
    assert by_word[0]["score_breakdown"]["similarity"] is None
    assert await tenant.work() == 1
    query["query"] = "她现在住在哪座城市?"
    by_meaning = (await api.post("/v1/memories/search", json=query)).json()["results"]
    assert [hit["id"] for hit in by_meaning] == [appended.json()["id"]]
    assert by_meaning[0]["sources"][0]["message_ids"] == [appended.json()["id"]]
    assert by_meaning[0]["sources"][0]["seqs"] == [1]
