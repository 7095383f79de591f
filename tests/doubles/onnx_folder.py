"""A tiny sentence encoder in a folder: real ONNX, a real tokeniser, weights of which the result can be foretold."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Regex, Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Sequence, Split, Whitespace
from tokenizers.processors import TemplateProcessing

DIMENSION = 16
WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "query", "passage", "where", "is", "berlin", "home", "deploy", "failed")
CHARACTERS = "我住在上海外币汇率换算:"
VOCABULARY = {token: number for number, token in enumerate([*WORDS, *CHARACTERS])}


def weights(dimension: int = DIMENSION) -> np.ndarray[Any, np.dtype[np.float32]]:
    """The vector of each token."""
    return np.random.default_rng(7).standard_normal((len(VOCABULARY), dimension)).astype(np.float32)


def write_model(
    folder: Path, *, dimension: int = DIMENSION, inputs: tuple[str, ...] = ("input_ids", "attention_mask")
) -> None:
    """`model.onnx`: the hidden state of a token is its vector."""
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])]
    shape = ["texts", "tokens"]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in inputs],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*shape, dimension])],
        [numpy_helper.from_array(weights(dimension), "table")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, folder / "model.onnx")


def write_tokenizer(folder: Path, *, special: bool = True) -> None:
    """`tokenizer.json`: words and single Chinese characters, [CLS] in front, [SEP] behind."""
    tokenizer = Tokenizer(WordLevel(VOCABULARY, unk_token="[UNK]"))
    han = Split(Regex(r"\p{Han}"), "isolated")
    tokenizer.pre_tokenizer = Sequence([Whitespace(), han])
    if special:
        tokenizer.post_processor = TemplateProcessing(
            single="[CLS] $A [SEP]",
            special_tokens=[("[CLS]", VOCABULARY["[CLS]"]), ("[SEP]", VOCABULARY["[SEP]"])],
        )
    tokenizer.save(str(folder / "tokenizer.json"))


def write_description(folder: Path, **changes: Any) -> None:
    """`mnemic.json`; a change to None leaves a field out."""
    fields = {
        "name": "tiny",
        "dimension": DIMENSION,
        "pooling": "mean",
        "query_prefix": "",
        "passage_prefix": "",
        "max_tokens": 16,
        **changes,
    }
    kept = {name: value for name, value in fields.items() if value is not None}
    (folder / "mnemic.json").write_text(json.dumps(kept), encoding="utf-8")


def write_folder(folder: Path, **changes: Any) -> Path:
    """All three files."""
    folder.mkdir(exist_ok=True)
    write_model(folder)
    write_tokenizer(folder)
    write_description(folder, **changes)
    return folder
