"""A corpus as files that any program reads: `{name}.jsonl`, a pair of user id and text a line, beside `{name}.npy`."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from app.providers.embeddings.base import EmbeddingModel
from benchmarks.corpus import Source


async def write(folder: Path, corpus: Source, questions: Sequence[tuple[str, str]], model: EmbeddingModel) -> None:
    """Memories and questions, each with float32 vectors of shape (rows, dimension)."""
    vectors = np.array([await model.embed_query(text) for _, text in questions], np.float32)
    np.save(folder / "questions.npy", vectors)
    (folder / "questions.jsonl").write_text("".join(_line(*asked) for asked in questions), "utf-8")
    shape = (corpus.total, vectors.shape[1])
    rows = np.lib.format.open_memmap(folder / "memories.npy", mode="w+", dtype=np.float32, shape=shape)
    first = 0
    with (folder / "memories.jsonl").open("w", encoding="utf-8") as lines:
        for chunk in corpus.chunks():
            rows[first : first + len(chunk.texts)] = chunk.vectors
            lines.writelines(_line(*pair) for pair in zip(chunk.user_ids, chunk.texts, strict=True))
            first += len(chunk.texts)
    rows.flush()


def _line(user_id: str, text: str) -> str:
    return json.dumps([user_id, text], ensure_ascii=False) + "\n"
