"""A tiny cross-encoder in a folder: real ONNX and tokeniser; a pair's logit is the count of shared tokens, less 3."""

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

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "where", "is", "berlin", "home", "deploy", "failed", "tea", "coffee")
CHARACTERS = "我住在上海外币汇率换算茶"
VOCABULARY = {token: number for number, token in enumerate([*WORDS, *CHARACTERS])}
LESS = 3.0
"""Of the shared tokens one is [SEP], which every pair has."""


def write_model(folder: Path, *, inputs: tuple[str, ...] | None = None, labels: int = 1) -> None:
    """`model.onnx`: compares each token of the question with each of the text."""
    names = inputs or ("input_ids", "attention_mask", "token_type_ids")
    nodes = [
        helper.make_node("Sub", ["one", "token_type_ids"], ["not_text"]),
        helper.make_node("Mul", ["not_text", "attention_mask"], ["question"]),
        helper.make_node("Mul", ["token_type_ids", "attention_mask"], ["text"]),
        *(helper.make_node("Unsqueeze", [name, "second"], [f"{name}_rows"]) for name in ("input_ids", "question")),
        *(helper.make_node("Unsqueeze", [name, "first"], [f"{name}_columns"]) for name in ("input_ids", "text")),
        helper.make_node("Equal", ["input_ids_rows", "input_ids_columns"], ["equal"]),
        helper.make_node("Cast", ["equal"], ["same"], to=TensorProto.INT64),
        helper.make_node("Mul", ["same", "question_rows"], ["asked"]),
        helper.make_node("Mul", ["asked", "text_columns"], ["shared"]),
        helper.make_node("ReduceSum", ["shared", "both"], ["count"], keepdims=0),
        helper.make_node("Cast", ["count"], ["number"], to=TensorProto.FLOAT),
        helper.make_node("Sub", ["number", "less"], ["flat"]),
        helper.make_node("Reshape", ["flat", "column"], ["mark"]),
        *([helper.make_node("Concat", ["zeros", "mark"], ["logits"], axis=1)] if labels > 1 else []),
    ]
    if labels > 1:
        nodes.insert(-1, helper.make_node("Sub", ["mark", "mark"], ["zeros"]))
    if labels > 2:
        nodes[-1] = helper.make_node("Concat", ["zeros", "mark", "mark"], ["logits"], axis=1)
    constants = {
        "one": np.array(1, dtype=np.int64),
        "first": np.array([1], dtype=np.int64),
        "second": np.array([2], dtype=np.int64),
        "both": np.array([1, 2], dtype=np.int64),
        "less": np.array(LESS, dtype=np.float32),
        "column": np.array([-1, 1], dtype=np.int64),
    }
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["pairs", "tokens"]) for name in names],
        [helper.make_tensor_value_info("logits" if labels > 1 else "mark", TensorProto.FLOAT, ["pairs", labels])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, folder / "model.onnx")


def write_tokenizer(folder: Path) -> None:
    """`tokenizer.json`: words and single Chinese characters; the text's tokens are of type 1."""
    tokenizer = Tokenizer(WordLevel(VOCABULARY, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Sequence([Whitespace(), Split(Regex(r"\p{Han}"), "isolated")])
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", VOCABULARY["[CLS]"]), ("[SEP]", VOCABULARY["[SEP]"])],
    )
    tokenizer.save(str(folder / "tokenizer.json"))


def write_description(folder: Path, **changes: Any) -> None:
    """`mnemic.json`; a change to None leaves a field out."""
    fields = {"name": "tiny-reranker", "max_tokens": 32, "marks": "logit", **changes}
    kept = {name: value for name, value in fields.items() if value is not None}
    (folder / "mnemic.json").write_text(json.dumps(kept), encoding="utf-8")


def write_folder(folder: Path, **changes: Any) -> Path:
    """All three files."""
    folder.mkdir(exist_ok=True)
    write_model(folder)
    write_tokenizer(folder)
    write_description(folder, **changes)
    return folder
