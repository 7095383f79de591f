"""A cross-encoder in a folder: what it computes, what a stuck call costs, and what is wrong with a folder."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import util
from pathlib import Path
from typing import Any

import pytest

from app.core.errors import ConfigurationError
from app.core.metrics import Metrics
from app.providers import onnx_folder
from app.providers.rerank.base import RerankUnavailable, sigmoid
from app.providers.rerank.choice import configured_reranker
from app.providers.rerank.deadline import TimedReranker
from app.providers.rerank.onnx import STEP_TEXTS, OnnxReranker
from app.settings import Settings
from tests.doubles.rerank_folder import write_description, write_folder, write_model


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "model")


@asynccontextmanager
async def loaded(folder: Path, **changes: Any) -> AsyncIterator[OnnxReranker]:
    reranker = OnnxReranker(folder, **changes)
    await reranker.prepare()
    try:
        yield reranker
    finally:
        await reranker.close()


def score(shared: int) -> float:
    """Of a pair that shares so many tokens beside [SEP]."""
    return sigmoid(shared + 1 - 3)


async def test_a_score_is_that_of_the_pair(folder: Path) -> None:
    async with loaded(folder) as reranker:
        english = await reranker.scores("where is berlin", ["berlin", "tea", "where is home", "where is berlin"])
        chinese = await reranker.scores("上海汇率", ["我住在上海", "汇率换算", "茶", "上海汇率"])
    assert english == pytest.approx([score(1), score(0), score(2), score(3)])
    assert chinese == pytest.approx([score(2), score(2), score(0), score(4)])


async def test_the_scores_of_a_text_do_not_depend_on_its_neighbours(folder: Path) -> None:
    texts = ["tea " * n + "berlin" for n in range(3 * STEP_TEXTS + 1)]
    async with loaded(folder, threads=1) as reranker:
        together = await reranker.scores("berlin", texts)
        alone = [(await reranker.scores("berlin", [text]))[0] for text in texts]
    assert together == pytest.approx(alone)


async def test_long_questions_and_texts_are_cut(folder: Path) -> None:
    write_description(folder, max_tokens=12)
    async with loaded(folder) as reranker:
        assert len(await reranker.scores("berlin " * 100, ["tea " * 100, "berlin " * 100])) == 2
    async with loaded(folder, max_characters=6) as reranker:
        assert await reranker.scores("berlin", ["berlin berlin"]) == pytest.approx([score(1)])


@pytest.mark.parametrize("text", ["", "\0", "\ud83d", "🙂"])
async def test_any_text_has_a_score(folder: Path, text: str) -> None:
    async with loaded(folder) as reranker:
        scores = await reranker.scores(text, [text, "berlin"])
        assert await reranker.scores(text, []) == []
    assert all(0 <= one <= 1 for one in scores)


async def test_two_labels_are_no_and_yes(folder: Path) -> None:
    write_model(folder, labels=2)
    async with loaded(folder) as reranker:
        assert await reranker.scores("berlin", ["berlin", "tea"]) == pytest.approx([score(1), score(0)])


async def test_marks_that_are_probabilities_are_taken_as_they_are(folder: Path) -> None:
    write_description(folder, marks="probability")
    reranker = OnnxReranker(folder)
    assert await reranker.scores("where is berlin", ["where is home"]) == [0.0]
    with pytest.raises(ConfigurationError, match="they are logits"):
        await reranker.scores("berlin", ["tea"])
    await reranker.close()


class Stuck(OnnxReranker):
    """Waits inside the network until it is let go."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.entered, self.let_go = threading.Event(), threading.Event()
        self.steps = 0

    def _compute(self, pairs: list[tuple[str, str]], left: threading.Event) -> list[float]:
        marks = self._network.marks

        def slow(step: list[tuple[str, str]]) -> list[float]:
            self.steps += 1
            self.entered.set()
            assert self.let_go.wait(20)
            return marks(step)

        self._network.marks = slow  # type: ignore[method-assign]
        try:
            return super()._compute(pairs, left)
        finally:
            self._network.marks = marks  # type: ignore[method-assign]


async def test_a_stuck_call_is_one_thread_and_later_calls_fail_at_once(folder: Path) -> None:
    stuck = Stuck(folder)
    reranker = TimedReranker(stuck, 0.2, Metrics())
    with pytest.raises(RerankUnavailable, match=r"0\.2 s"):
        await reranker.scores("berlin", ["tea"] * (5 * STEP_TEXTS))
    assert await asyncio.to_thread(stuck.entered.wait, 20)
    before = threading.active_count()
    for _ in range(50):
        with pytest.raises(RerankUnavailable, match="busy"):
            await stuck.scores("berlin", ["tea"])
    assert threading.active_count() == before
    abandoned = stuck._abandoned
    assert abandoned is not None
    stuck.let_go.set()
    assert await asyncio.to_thread(abandoned.result, 20) == [], "it ends after the step it was in"
    assert stuck.steps == 1
    assert await stuck.scores("berlin", ["berlin"]) == pytest.approx([score(1)])
    await reranker.close()


async def test_those_that_wait_behind_a_stuck_call_fail_with_it(folder: Path) -> None:
    stuck = Stuck(folder)
    first = asyncio.create_task(stuck.scores("berlin", ["tea"]))
    assert await asyncio.to_thread(stuck.entered.wait, 20)
    second = asyncio.create_task(stuck.scores("berlin", ["tea"]))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(RerankUnavailable, match="busy"):
        await asyncio.wait_for(second, 10)
    stuck.let_go.set()
    await stuck.close()


async def test_calls_at_the_same_time_are_answered_one_after_the_other(folder: Path) -> None:
    async with loaded(folder) as reranker:
        answers = await asyncio.gather(*(reranker.scores("berlin", ["tea", "berlin"]) for _ in range(20)))
    assert all(answer == pytest.approx([score(0), score(1)]) for answer in answers)


async def test_a_closed_reranker_is_unavailable(folder: Path) -> None:
    async with loaded(folder) as reranker:
        pass
    with pytest.raises(RerankUnavailable, match="closed"):
        await reranker.scores("berlin", ["tea"])


async def test_the_settings_choose_the_folder(folder: Path) -> None:
    chosen = Settings(_env_file=None, rerank_provider="onnx", rerank_model_dir=folder, rerank_deadline_seconds=20)
    reranker = configured_reranker(chosen, Metrics())
    assert reranker is not None
    assert reranker.name == "tiny-reranker"
    assert await reranker.scores("berlin", ["berlin"]) == pytest.approx([score(1)])
    await reranker.close()


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="is not a folder"):
        OnnxReranker(tmp_path / "nowhere")


@pytest.mark.parametrize("name", onnx_folder.FILES)
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(ConfigurationError, match=f"lacks {name}"):
        OnnxReranker(folder)


@pytest.mark.parametrize(
    ("field", "value"),
    [("name", None), ("name", "two words"), ("max_tokens", 1), ("max_tokens", None), ("marks", "stars"), ("x", 1)],
)
def test_a_field_that_means_nothing_is_named(folder: Path, field: str, value: object) -> None:
    write_description(folder, **{field: value})
    with pytest.raises(ConfigurationError, match=field):
        OnnxReranker(folder)


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"\xff"])
def test_a_description_that_is_no_json_object_is_refused(folder: Path, raw: bytes) -> None:
    (folder / "mnemic.json").write_bytes(raw)
    with pytest.raises(ConfigurationError, match="does not describe"):
        OnnxReranker(folder)


async def refusal(folder: Path) -> str:
    reranker = OnnxReranker(folder)
    with pytest.raises(ConfigurationError) as refused:
        await reranker.prepare()
    await reranker.close()
    return str(refused.value)


async def test_files_that_are_not_what_their_names_say_are_refused(folder: Path) -> None:
    (folder / "model.onnx").write_bytes(b"not a network")
    assert "model.onnx cannot be loaded" in await refusal(folder)
    (folder / "tokenizer.json").write_text("{}")
    assert "tokenizer.json is not a tokenizer" in await refusal(folder)


async def test_a_network_with_other_inputs_is_refused(folder: Path) -> None:
    write_model(folder, inputs=("input_ids", "attention_mask", "token_type_ids", "pixel_values"))
    assert "pixel_values" in await refusal(folder)


async def test_a_network_with_more_than_a_mark_a_pair_is_refused(folder: Path) -> None:
    write_model(folder, labels=3)
    assert "not a mark for each" in await refusal(folder)


async def test_a_pair_of_which_no_token_is_left_has_a_score(folder: Path) -> None:
    content = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    content["post_processor"] = None
    (folder / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")
    reranker = OnnxReranker(folder)
    assert len(await reranker.scores("berlin", ["berlin", ""])) == 2
    await reranker.close()


def test_a_missing_extra_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = util.find_spec
    monkeypatch.setattr(onnx_folder, "find_spec", lambda name: None if name == "onnxruntime" else found(name))
    with pytest.raises(ConfigurationError, match=r"mnemic\[onnx\]"):
        OnnxReranker(folder)
