"""A corpus for benchmarks: seeded texts in both languages, owners of very different size, loaded by COPY.

Texts are two clauses each, drawn from tens of thousands. Every clause is embedded once by the bundled model; the vector
of a text is the normalised sum of its clauses' vectors, so that a million texts have vectors of a real model's shape
without a million calls of it. Questions are embedded as they stand.
"""

import random
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID, uuid5

import asyncpg
import numpy as np
import numpy.typing as npt
from pgvector import HalfVector

from app.core.text.digest import text_hash
from app.core.text.tokens import document_length, term_frequencies
from app.db.types import register_halfvec
from app.domain.budget import estimate_tokens
from app.providers.embeddings.base import EmbeddingModel

SEED: Final = 20
LARGEST_SHARE: Final = 0.05
"""Of all memories, the largest owner's: 50,000 of a million."""

NAMESPACE: Final = UUID("3f3c1f0e-5a3e-4a53-9d6e-6c1a7f6d2b10")
START: Final = datetime(2025, 1, 1, tzinfo=UTC)
CHUNK: Final = 5_000

PEOPLE: Final = (
    "Ada Bruno Carla Dmitri Elif Farid Greta Hugo Ines Jonas Kofi Leila Marek Nadia Otto Priya Quentin Rosa Stefan Tove "
    "Ugo Vera Wanda Xenia Yusuf Zoe 小林 周叔 阿梅 老何 张伟 王芳 李娜 刘洋 陈静 杨帆 赵磊 黄敏 吴昊 徐丽"
).split()
THINGS: Final = {
    "en": {
        "drinks": "green tea|black coffee|oat milk|ginger ale|mint tea|espresso|apple juice|kombucha|rooibos|cocoa",
        "lives in": "Lisbon|Oslo|Riga|Porto|Ghent|Lima|Perth|Cairo|Braga|Tallinn|Osaka|Quito|Tunis|Malmo|Graz",
        "works on": "ocean currents|tram timetables|seed banks|bridge sensors|tax forms|wind maps|invoice parsing|"
        "the billing service|the search index|a chat widget|release notes|the mobile app|data pipelines",
        "is learning": "the cello|Portuguese|welding|calligraphy|sailing|Rust|bookbinding|chess|pottery|Kotlin",
        "bought": "a folding bike|a rice cooker|a tent|walking boots|a film camera|a standing desk|a used van",
        "is afraid of": "heights|spiders|deep water|flying|thunder|needles|crowds|public speaking",
        "prefers": "tabs over spaces|dark mode|short answers|window seats|early meetings|paper books|metric units",
        "decided to use": "PostgreSQL|Redis|Kafka|FastAPI|Terraform|Grafana|SQLite|nginx|Celery|OpenTelemetry",
    },
    "zh": {
        "爱喝": "绿茶|黑咖啡|燕麦奶|姜汁汽水|薄荷茶|浓缩咖啡|苹果汁|普洱茶|酸梅汤|可可",
        "住在": "里斯本|成都|杭州|西安|南京|广州|武汉|青岛|大连|昆明|厦门|苏州|长沙|哈尔滨|拉萨",
        "负责": "洋流数据|电车时刻表|种子库|桥梁传感器|报税表格|风力地图|发票识别|计费服务|搜索索引|聊天插件|发布说明",
        "正在学": "大提琴|葡萄牙语|焊接|书法|帆船|编程|装订|围棋|陶艺|烘焙",
        "买了": "折叠自行车|电饭煲|帐篷|登山鞋|胶片相机|升降桌|二手面包车",
        "害怕": "高处|蜘蛛|深水|坐飞机|打雷|打针|人群|当众讲话",
        "更喜欢": "深色模式|简短的回答|靠窗的座位|早上开会|纸质书|公制单位|用空格缩进",
        "决定使用": "数据库分片|消息队列|灰度发布|单体仓库|蓝绿部署|读写分离|对象存储|链路追踪",
    },
}
CIRCUMSTANCES: Final = {
    "en": "since the spring|after the move|with a neighbour|on weekdays|for the third year|because of the new job|"
    "before the summer|against the advice of friends|as the team agreed|until the end of the year",
    "zh": "从春天开始|搬家以后|和邻居一起|工作日的时候|已经第三年了|因为新工作|夏天之前|不顾朋友劝告|按团队的约定|到年底为止",
}


def clauses() -> list[str]:
    """Every clause, in a seeded order: who does what, and how it came."""
    made = []
    for language, verbs in THINGS.items():
        joint = " " if language == "en" else ""
        for person in PEOPLE:
            for verb, things in verbs.items():
                for thing in things.split("|"):
                    for circumstance in CIRCUMSTANCES[language].split("|"):
                        made.append(f"{person}{joint}{verb}{joint}{thing}{joint}{circumstance}")
    random.Random(SEED).shuffle(made)
    return made


def owner_sizes(total: int, owners: int) -> list[int]:
    """Sizes that fall as a power of the rank; the largest owner has 5 % of all, every owner at least one."""
    low, high = 0.0, 3.0
    for _ in range(60):
        middle = (low + high) / 2
        weights = [rank**-middle for rank in range(1, owners + 1)]
        low, high = (low, middle) if weights[0] / sum(weights) > LARGEST_SHARE else (middle, high)
    weights = [rank**-low for rank in range(1, owners + 1)]
    sizes = [max(1, int(total * weight / sum(weights))) for weight in weights]
    sizes[-1] += max(0, total - sum(sizes))
    return sizes


@dataclass
class Corpus:
    """So many memories of so many owners; the same for every run and every system under test."""

    total: int
    owners: int = 1_000
    pool: int = 20_000
    _clauses: list[str] = field(default_factory=list)
    _vectors: npt.NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), np.float32))

    async def prepare(self, model: EmbeddingModel) -> None:
        """Embed the clauses."""
        self._clauses = clauses()[: self.pool]
        self._vectors = np.array(await model.embed_passages(self._clauses), np.float32)

    @property
    def sizes(self) -> list[int]:
        """Memories of each owner, largest first."""
        return owner_sizes(self.total, self.owners)

    def texts(self) -> Iterator[tuple[str, str, npt.NDArray[np.float32]]]:
        """Every memory: its owner's user id, its text, its vector of shape (dimension,)."""
        pick = random.Random(SEED + 1)
        number = 0
        for rank, size in enumerate(self.sizes):
            for _ in range(size):
                first, second = pick.randrange(len(self._clauses)), pick.randrange(len(self._clauses))
                number += 1
                text = f"{self._clauses[first]}; {self._clauses[second]} (note {number})"
                vector = self._vectors[first] + self._vectors[second]
                yield f"user-{rank:04d}", text, vector / np.linalg.norm(vector)

    def questions(self, count: int) -> list[tuple[str, str]]:
        """Questions with the user who asks them: half of the users by the size of their store, half alike."""
        pick = random.Random(SEED + 2)
        sizes = self.sizes
        users = pick.choices(range(self.owners), weights=sizes, k=count // 2)
        users += [pick.randrange(self.owners) for _ in range(count - len(users))]
        pick.shuffle(users)
        return [(f"user-{user:04d}", question(pick)) for user in users]


def question(pick: random.Random) -> str:
    """A question about one clause, in one of the two languages."""
    language = pick.choice(("en", "zh"))
    person = pick.choice(PEOPLE)
    verb, things = pick.choice(list(THINGS[language].items()))
    thing = pick.choice(things.split("|"))
    circumstance = pick.choice(CIRCUMSTANCES[language].split("|"))
    if language == "zh":
        return pick.choice((f"{person}{verb}什么?", f"谁{verb}{thing}?", f"{person}{circumstance}{verb}什么?"))
    return pick.choice((f"What is it that {person} {verb}?", f"Who {verb} {thing}?", f"Does {person} {verb} {thing}?"))


@dataclass(frozen=True)
class Loaded:
    """How loading went: seconds, and bytes of the approximate index."""

    copy_seconds: float
    index_seconds: float
    index_bytes: int


async def load(dsn: dict[str, Any], tenant_id: UUID, model_id: int, corpus: Corpus) -> Loaded:
    """COPY the corpus into memories, postings, vectors and counters, over the migrator's connection.

    The approximate index is built afterwards: row by row it takes many times as long.
    """
    connection = await asyncpg.connect(**dsn)
    try:
        await register_halfvec(connection)
        name = f"hnsw_memory_vectors_{model_id}"
        definition = await connection.fetchval("SELECT indexdef FROM pg_indexes WHERE indexname = $1", name)
        await connection.execute(f'DROP INDEX "{name}"')
        began = time.perf_counter()
        counts: dict[str, list[int]] = {}
        async for memories, postings, vectors in _rows(tenant_id, model_id, corpus, counts):
            await connection.copy_records_to_table("memories", records=memories, columns=_MEMORY_COLUMNS)
            await connection.copy_records_to_table("memory_postings", records=postings, columns=_POSTING_COLUMNS)
            await connection.copy_records_to_table("memory_vectors", records=vectors, columns=_VECTOR_COLUMNS)
        stats = [(tenant_id, owner, 1, count, length, 0, 0) for owner, (count, length) in counts.items()]
        await connection.copy_records_to_table("owner_stats", records=stats)
        copied = time.perf_counter() - began
        await connection.execute("SET maintenance_work_mem = '4GB'; SET max_parallel_maintenance_workers = 2")
        began = time.perf_counter()
        await connection.execute(definition)
        built = time.perf_counter() - began
        await connection.execute("VACUUM ANALYZE")
        return Loaded(copied, built, await connection.fetchval("SELECT pg_relation_size($1::regclass)", name))
    finally:
        await connection.close()


_MEMORY_COLUMNS: Final = (
    "tenant_id",
    "id",
    "owner",
    "user_id",
    "kind",
    "text",
    "category",
    "source",
    "uncertain",
    "confidence",
    "importance",
    "weight",
    "use",
    "status",
    "valid_from",
    "occurred_at",
    "last_seen_at",
    "tokens",
    "length",
    "content_hash",
    "created_at",
    "updated_at",
)
_POSTING_COLUMNS: Final = ("tenant_id", "owner", "token", "memory_id", "tf", "len")
_VECTOR_COLUMNS: Final = ("tenant_id", "memory_id", "model_id", "owner", "text_hash", "embedding")

Records = list[tuple[Any, ...]]


async def _rows(
    tenant_id: UUID, model_id: int, corpus: Corpus, counts: dict[str, list[int]]
) -> AsyncIterator[tuple[Records, Records, Records]]:
    memories, postings, vectors = Records(), Records(), Records()
    pick = random.Random(SEED + 3)
    for number, (user_id, text, vector) in enumerate(corpus.texts()):
        owner, digest, at = f"u:{user_id}", text_hash(text), START + timedelta(minutes=number % 500_000)
        frequencies = term_frequencies(text)
        length = document_length(frequencies)
        memory_id = uuid5(NAMESPACE, text)
        importance = pick.randint(1, 10)
        fixed = ("semantic", text, "other", "user_stated", False, 0.9, importance, 1.0, "everywhere", "active")
        memories.append((tenant_id, memory_id, owner, user_id, *fixed, at, at, at, estimate_tokens(text), length, digest, at, at))
        postings += [(tenant_id, owner, token, memory_id, tf, length) for token, tf in frequencies.items()]
        vectors.append((tenant_id, memory_id, model_id, owner, digest, HalfVector(vector)))
        of_owner = counts.setdefault(owner, [0, 0])
        of_owner[0] += 1
        of_owner[1] += length
        if len(memories) == CHUNK:
            yield memories, postings, vectors
            memories, postings, vectors = Records(), Records(), Records()
    if memories:
        yield memories, postings, vectors


def largest(sizes: Sequence[int]) -> str:
    """The user with the most memories."""
    return f"user-{max(range(len(sizes)), key=sizes.__getitem__):04d}"
