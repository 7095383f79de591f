"""A model in a folder: what it computes, and what is wrong with a folder."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.core.errors import ConfigurationError
from app.domain.calibration import Calibration
from app.providers import onnx_folder
from app.providers.embeddings.onnx import BATCH_CHARACTERS, BATCH_TEXTS, OnnxModel
from tests.doubles.onnx_folder import (
    DIMENSION,
    VOCABULARY,
    weights,
    write_description,
    write_folder,
    write_model,
    write_tokenizer,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "model")


@asynccontextmanager
async def loaded(folder: Path) -> AsyncIterator[OnnxModel]:
    model = OnnxModel(folder, threads=2)
    await model.prepare()
    yield model
    await model.close()


def mean_of(*tokens: str) -> np.ndarray[Any, Any]:
    return unit(weights()[[VOCABULARY[token] for token in tokens]].mean(axis=0))


def unit(vector: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return vector / np.linalg.norm(vector)


async def test_mean_pooling_averages_the_tokens_and_nothing_of_the_padding(folder: Path) -> None:
    async with loaded(folder) as model:
        short, long = await model.embed_passages(["berlin", "我住在上海 home"])
    assert np.allclose(short, mean_of("[CLS]", "berlin", "[SEP]"), atol=1e-6)
    assert np.allclose(long, mean_of("[CLS]", *"我住在上海", "home", "[SEP]"), atol=1e-6)


async def test_cls_pooling_takes_the_first_token(folder: Path) -> None:
    write_tokenizer(folder, special=False)
    write_description(folder, pooling="cls")
    async with loaded(folder) as model:
        assert np.allclose(await model.embed_query("海 berlin home"), unit(weights()[VOCABULARY["海"]]), atol=1e-6)


async def test_prefixes_stand_before_questions_and_passages(folder: Path) -> None:
    write_description(folder, query_prefix="query: ", passage_prefix="passage: ")
    async with loaded(folder) as model:
        question = await model.embed_query("berlin")
        (passage,) = await model.embed_passages(["berlin"])
    assert np.allclose(question, mean_of("[CLS]", "query", ":", "berlin", "[SEP]"), atol=1e-6)
    assert np.allclose(passage, mean_of("[CLS]", "passage", ":", "berlin", "[SEP]"), atol=1e-6)


async def test_long_texts_are_cut_at_the_maximum_and_keep_their_end_mark(folder: Path) -> None:
    write_description(folder, max_tokens=8)
    async with loaded(folder) as model:
        vector = await model.embed_query("berlin " * 6 + "home " * 100)
    assert np.allclose(vector, mean_of("[CLS]", *["berlin"] * 6, "[SEP]"), atol=1e-6)


async def test_a_text_of_which_no_token_is_left_has_a_vector(folder: Path) -> None:
    write_tokenizer(folder, special=False)
    async with loaded(folder) as model:
        empty, worded = await model.embed_passages(["", "berlin"])
    assert np.linalg.norm(empty) == pytest.approx(1, abs=1e-5)
    assert np.allclose(worded, mean_of("berlin"), atol=1e-6)


async def test_token_types_are_given_to_a_network_that_wants_them(folder: Path) -> None:
    write_model(folder, inputs=("input_ids", "attention_mask", "token_type_ids"))
    async with loaded(folder) as model:
        assert (await model.embed_query("berlin")).shape == (DIMENSION,)


async def test_a_network_that_wants_token_ids_alone_gets_them_alone(folder: Path) -> None:
    write_model(folder, inputs=("input_ids",))
    async with loaded(folder) as model:
        assert (await model.embed_query("berlin")).shape == (DIMENSION,)


async def test_the_description_names_and_calibrates_the_model(folder: Path) -> None:
    write_description(folder, name="bge-small-zh", calibration={"low": 0.3, "high": 0.95})
    async with loaded(folder) as model:
        assert model.name == "bge-small-zh"
        assert model.calibration == Calibration(0.3, 0.95)


def test_batches_are_bounded_in_texts_and_characters(folder: Path) -> None:
    write_description(folder, max_tokens=512)
    texts = ["x"] * 100 + ["y" * (BATCH_CHARACTERS - 1)] * 3
    batches = list(OnnxModel(folder)._batches(texts))
    assert [text for batch in batches for text in batch] == texts
    assert max(map(len, batches)) == BATCH_TEXTS
    assert all(sum(map(len, batch)) <= BATCH_CHARACTERS for batch in batches)


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="is not a folder"):
        OnnxModel(tmp_path / "nowhere")


@pytest.mark.parametrize("name", onnx_folder.FILES)
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(ConfigurationError, match=f"lacks {name}"):
        OnnxModel(folder)


@pytest.mark.parametrize("field", ["name", "dimension", "pooling", "query_prefix", "passage_prefix", "max_tokens"])
def test_a_missing_field_is_named(folder: Path, field: str) -> None:
    write_description(folder, **{field: None})
    with pytest.raises(ConfigurationError, match=field):
        OnnxModel(folder)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("pooling", "max"),
        ("dimension", 0),
        ("dimension", 4_001),
        ("dimension", "many"),
        ("max_tokens", 1),
        ("name", ""),
        ("name", "two words"),
        ("calibration", {"low": 0.9}),
        ("calibration", {"low": -3, "high": 1}),
        ("prefix", "query: "),
    ],
)
def test_a_field_that_means_nothing_is_named(folder: Path, field: str, value: object) -> None:
    write_description(folder, **{field: value})
    with pytest.raises(ConfigurationError, match=field):
        OnnxModel(folder)


def test_a_calibration_out_of_order_is_refused(folder: Path) -> None:
    write_description(folder, calibration={"low": 0.9, "high": 0.1})
    with pytest.raises(ConfigurationError, match="low < high"):
        OnnxModel(folder)


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"\xff"])
def test_a_description_that_is_no_json_object_is_refused(folder: Path, raw: bytes) -> None:
    (folder / "mnemic.json").write_bytes(raw)
    with pytest.raises(ConfigurationError, match="does not describe a model"):
        OnnxModel(folder)


async def refusal(folder: Path) -> str:
    model = OnnxModel(folder)
    with pytest.raises(ConfigurationError) as refused:
        await model.prepare()
    await model.close()
    return str(refused.value)


async def test_another_dimension_than_described_is_refused(folder: Path) -> None:
    write_description(folder, dimension=24)
    assert "the dimension is 24" in await refusal(folder)
    assert "gives 16" in await refusal(folder)


async def test_files_that_are_not_what_their_names_say_are_refused(folder: Path) -> None:
    (folder / "model.onnx").write_bytes(b"not a network")
    assert "model.onnx cannot be loaded" in await refusal(folder)
    (folder / "tokenizer.json").write_text("{}")
    assert "tokenizer.json is not a tokenizer" in await refusal(folder)


async def test_a_network_with_inputs_that_are_not_ours_is_refused(folder: Path) -> None:
    write_model(folder, inputs=("input_ids", "pixel_values"))
    assert "takes input_ids, pixel_values" in await refusal(folder)


async def test_a_tokenizer_of_another_model_is_refused(folder: Path) -> None:
    content = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    content["model"]["vocab"] = {token: number + 10_000 for token, number in content["model"]["vocab"].items()}
    (folder / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")
    assert "does not embed" in await refusal(folder)


def test_a_missing_extra_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = util.find_spec
    monkeypatch.setattr(onnx_folder, "find_spec", lambda name: None if name == "onnxruntime" else found(name))
    with pytest.raises(ConfigurationError, match=r"mnemic\[onnx\]"):
        OnnxModel(folder)
