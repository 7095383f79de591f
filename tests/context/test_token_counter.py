"""The tokens of a context are those of the tokenizer that the settings name, exactly."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from tokenizers import Regex, Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split

from app.composition import Services
from app.domain.budget import estimate_tokens
from app.domain.context.parts import MESSAGE_TOKENS
from app.providers.counting import configured_counter
from tests.conftest import Tenant, tenant_of
from tests.routers.calls import add, body_of

ADA = {"user_id": "ada"}
SAID = {
    "en": ("The harbour office opens at eight on weekdays.", "When does the harbour office open?"),
    "zh": ("港务办公室平日八点开门。", "港务办公室什么时候开门？"),
}


@pytest.fixture
def letters(tmp_path: Path) -> Path:
    """A tokenizer for which every sign is a token: far more than any estimate."""
    tokenizer = Tokenizer(WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Split(Regex("."), "isolated")
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    return tmp_path / "tokenizer.json"


@pytest.fixture
async def counting(services: Services, app: Any, letters: Path) -> Any:
    """A tenant of a service that counts with it."""
    app.state.services = replace(services, contexts=replace(services.contexts, count=configured_counter(letters)))
    made: Tenant = await tenant_of(app.state.services, app)
    yield await made.client()
    await made.close()


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("strategy", ["full", "window", "summary", "hierarchical", "selective"])
async def test_a_context_costs_what_the_configured_tokenizer_counts_and_never_more_than_its_budget(
    counting: httpx.AsyncClient, letters: Path, language: str, strategy: str
) -> None:
    fact, question = SAID[language]
    count = configured_counter(letters)
    assert count(fact) == len(fact) >= estimate_tokens(fact)
    await add(counting, fact)
    messages = [{"role": "user", "content": f"{question} ({number})"} for number in range(40)]
    body_of(await counting.post("/v1/sessions/s/messages", json={**ADA, "messages": messages}), 201)
    for budget in (700, 1_500, 6_000):
        found = body_of(
            await counting.post("/v1/sessions/s/context", json={"token_budget": budget, "strategy": strategy})
        )
        cost = sum(count(str(one["content"])) + MESSAGE_TOKENS for one in found["messages"])
        assert cost <= found["tokens"] <= budget
        assert found["messages"][-1]["content"] == messages[-1]["content"]
