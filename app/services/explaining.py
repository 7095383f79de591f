"""How a search went, kept for a day so that it can be replayed with other weights."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import numpy as np

from app.core import clock, ids
from app.core.errors import NotFound
from app.domain.calibration import Calibration
from app.domain.fusion import Fusion, FusionRule, Leg
from app.domain.periods import AskedTime
from app.domain.principal import Principal
from app.domain.scoring import Weights
from app.schemas.search import Explanation, LeftOut, NamedTime, SearchRequest
from app.services.candidates import Way
from app.services.questions import Question
from app.services.ranking import Pool, Scored, Scoring
from app.services.shortlist import LeftOutHit, Shortlist
from app.uow import UnitOfWork

KEPT_FOR: Final = timedelta(days=1)
SHOWN: Final = 50
"""Candidates that are no hits and are told of at most."""


@dataclass(frozen=True, slots=True)
class Explained:
    """A search that has been run."""

    question: Question
    scoring: Scoring
    request: SearchRequest
    way: Way
    pools: Sequence[Pool]
    chosen: Shortlist
    filtered: Sequence[LeftOutHit]
    ranked: Sequence[Scored]


@dataclass(frozen=True, slots=True)
class Explainer:
    """Tells how searches went, and keeps what a replay needs: ids and numbers, and the question."""

    uow: UnitOfWork

    async def explain(self, principal: Principal, user_id: str | None, search: Explained) -> Explanation:
        """The explanation, stored under its id."""
        explanation_id = ids.new_id()
        row = {
            "id": explanation_id,
            "key_id": principal.key_id,
            "user_id": user_id,
            "content": content_of(search),
            "created_at": clock.now(),
        }
        async with self.uow.begin(principal) as tx:
            await tx.explanations.add(row)
        return self.told(search, str(explanation_id))

    def told(self, search: Explained, explanation_id: str | None) -> Explanation:
        """The explanation as answers have it."""
        question, scoring = search.question, search.scoring
        left = _left_out(search)
        return Explanation(
            id=explanation_id,
            query=question.text,
            path=search.way.paths,
            tokens=question.tokens,
            rows_in_scope=search.way.rows,
            candidates=search.way.candidates,
            embedding_model=None if question.dense is None else question.dense.model.name,
            legs={leg.value: share for leg, share in question.rule.shares.items()},
            weights=asdict(scoring.weights),
            time=_named_time(question),
            keys=[key for key in question.keys if "." in key],
            filtered_count=len(search.filtered),
            left_out=left[:SHOWN],
        )

    async def recall(self, principal: Principal, explanation_id: str) -> dict[str, Any]:
        """What a replay needs of an explanation of this key's own.

        Raises:
            NotFound: There is none, or it is another key's, or too old.
        """
        wanted = _uuid(explanation_id)
        async with self.uow.begin(principal) as tx:
            row = None if wanted is None else await tx.explanations.get(wanted, principal.key_id)
        if row is None or row["created_at"] < clock.now() - KEPT_FOR:
            raise NotFound("There is no such explanation.", code="explanation_not_found")
        content: dict[str, Any] = row["content"]
        return content


def content_of(search: Explained) -> dict[str, Any]:
    """An explained search as JSON."""
    question, scoring = search.question, search.scoring
    time = question.time
    return {
        "request": search.request.model_dump(mode="json"),
        "question": {
            "text": question.text,
            "tokens": question.tokens,
            "dense": question.dense is not None,
            "time": None if time is None else [_iso(time.since), _iso(time.until), time.matched],
            "latest": question.latest,
            "keys": question.keys,
            "weights": {leg.value: weight for leg, weight in question.rule.weights.items()},
            "method": question.rule.method.value,
            "rrf_k": question.rule.rrf_k,
            "calibration": [question.calibration.low, question.calibration.high],
            "model_id": question.model_id,
        },
        "scoring": {
            "weights": asdict(scoring.weights),
            "at": scoring.at.isoformat(),
            "recency_of": scoring.recency_of,
            "half_life_days": scoring.half_life_days,
        },
        "way": asdict(search.way),
        "pools": [_pool_as_json(pool) for pool in search.pools],
    }


def restored(content: dict[str, Any]) -> tuple[Question, Scoring, SearchRequest, Way, list[Pool]]:
    """What `content_of` made, in its own types again."""
    asked, scored = content["question"], content["scoring"]
    time = asked["time"]
    rule = FusionRule(
        Fusion(asked["method"]),
        {Leg(name): weight for name, weight in asked["weights"].items()},
        rrf_k=asked["rrf_k"],
    )
    question = Question(
        text=asked["text"],
        tokens=asked["tokens"],
        dense=None,
        time=None if time is None else AskedTime(_instant(time[0]), _instant(time[1]), time[2]),
        latest=asked["latest"],
        keys=asked["keys"],
        rule=rule,
        calibration=Calibration(*asked["calibration"]),
        model_id=asked.get("model_id"),
    )
    scoring = Scoring(
        Weights(**scored["weights"]),
        datetime.fromisoformat(scored["at"]),
        scored["recency_of"],
        scored["half_life_days"],
    )
    request = SearchRequest.model_validate(content["request"])
    return question, scoring, request, Way(**content["way"]), [_pool_of_json(pool) for pool in content["pools"]]


def _pool_as_json(pool: Pool) -> dict[str, Any]:
    return {
        "type": pool.type,
        "ids": [str(one) for one in pool.ids],
        "cosine": _numbers(pool.cosine),
        "bm25": _numbers(pool.bm25),
        "coverage": _numbers(pool.coverage),
        "happened": [one.isoformat() for one in pool.happened],
        "accessed": [_iso(one) for one in pool.accessed],
        "importance": pool.importance,
        "weight": pool.weight,
        "confidence": pool.confidence,
        "named": pool.named,
        "constraint": pool.constraint,
        "places": [list(place) for place in pool.places],
    }


def _pool_of_json(kept: dict[str, Any]) -> Pool:
    return replace(
        Pool(**kept),
        ids=[UUID(one) for one in kept["ids"]],
        cosine=np.array(kept["cosine"], np.float64),
        bm25=np.array(kept["bm25"], np.float64),
        coverage=np.array(kept["coverage"], np.float64),
        happened=[datetime.fromisoformat(one) for one in kept["happened"]],
        accessed=[_instant(one) for one in kept["accessed"]],
        places=[(session, seq) for session, seq in kept["places"]],
    )


def _left_out(search: Explained) -> list[LeftOut]:
    named = {one.hit.id for one in search.chosen.left_out} | {one.hit.id for one in search.chosen.kept}
    rest = [LeftOutHit(hit, "below_top_k") for hit in search.ranked if hit.id not in named]
    every = sorted([*search.chosen.left_out, *search.filtered, *rest], key=lambda one: -one.hit.score)
    return [
        LeftOut(
            type=one.hit.type,
            id=str(one.hit.id),
            score=one.hit.score,
            reason=one.reason,
            similar_to=None if one.similar_to is None else str(one.similar_to),
        )
        for one in every
    ]


def _named_time(question: Question) -> NamedTime | None:
    if question.time is not None:
        return NamedTime(words=question.time.matched, since=question.time.since, until=question.time.until)
    return NamedTime(words="latest", since=None, until=None) if question.latest else None


def _numbers(column: Any) -> list[float | None]:  # noqa: ANN401 - an array
    return [None if value != value else value for value in column.tolist()]  # noqa: PLR0124 - NaN is not in JSON


def _iso(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()


def _instant(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
