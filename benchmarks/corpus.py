"""A corpus for benchmarks: seeded texts in both languages, owners of very different size.

Texts are two clauses each, drawn from tens of thousands. Every clause is embedded once by the bundled model; the vector
of a text is the normalised sum of its clauses' vectors, so that a million texts have vectors of a real model's shape
without a million calls of it. Tokens are a text's clauses' too. Questions are embedded as they stand.
"""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt
from pydantic_settings import BaseSettings

from app.core.text.tokens import term_frequencies
from app.providers.embeddings.base import EmbeddingModel

SEED: Final = 20
LARGEST_SHARE: Final = 0.05
"""Of all memories, the largest owner's: 50,000 of a million."""

OWNERS: Final = 1_000
POOL: Final = 20_000
CHUNK: Final = 5_000
EMBEDDED_AT_ONCE: Final = 1_000

TEN: Final = "user-ten"
THOUSAND: Final = "user-thousand"
ROOM_FOR_THOUSAND: Final = 10_000
"""Size from which the corpus has an owner of exactly 1,000 memories; one of exactly 10 is always there."""

PEOPLE: Final = """
    Ada Bruno Carla Dmitri Elif Farid Greta Hugo Ines Jonas Kofi Leila Marek Nadia Otto Priya Quentin Rosa Stefan Tove
    Ugo Vera Wanda Xenia Yusuf Zoe 小林 周叔 阿梅 老何 张伟 王芳 李娜 刘洋 陈静 杨帆 赵磊 黄敏 吴昊 徐丽
""".split()  # noqa: SIM905 - a list of names is read as names
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
    "zh": "从春天开始|搬家以后|和邻居一起|工作日的时候|已经第三年了|因为新工作|"
    "夏天之前|不顾朋友劝告|按团队的约定|到年底为止",
}


def clauses() -> list[str]:
    """Every clause, in a seeded order: who does what, and how it came."""
    made = [
        f"{person}{joint}{verb}{joint}{thing}{joint}{circumstance}"
        for language, joint in (("en", " "), ("zh", ""))
        for person in PEOPLE
        for verb, things in THINGS[language].items()
        for thing in things.split("|")
        for circumstance in CIRCUMSTANCES[language].split("|")
    ]
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
    left = max(0, total - sum(sizes))  # less than one each, by rounding down
    return [size + (rank < left) for rank, size in enumerate(sizes)]


@dataclass(frozen=True)
class Clauses:
    """Clauses with what a text inherits from them: vectors of shape (clauses, dimension), and tokens."""

    texts: list[str]
    vectors: npt.NDArray[np.float32]
    frequencies: list[dict[str, int]]


async def prepare(model: EmbeddingModel, folder: Path | None = None, pool: int = POOL) -> Clauses:
    """Embed the clauses; their vectors are kept in a folder, as that takes a minute or two."""
    texts = clauses()[:pool]
    frequencies = [term_frequencies(text) for text in texts]
    known = blake2b("\n".join([model.name, *texts]).encode(), digest_size=8).hexdigest()
    file = None if folder is None else folder / f"clauses-{known}.npy"
    if file is not None and file.exists():
        return Clauses(texts, np.load(file), frequencies)
    vectors: list[Any] = []
    for first in range(0, len(texts), EMBEDDED_AT_ONCE):
        vectors += await model.embed_passages(texts[first : first + EMBEDDED_AT_ONCE])
    made = Clauses(texts, np.array(vectors, np.float32), frequencies)
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        np.save(file, made.vectors)
    return made


class Cache(BaseSettings):
    """Where this machine keeps what can be made again."""

    xdg_cache_home: Path = Path.home() / ".cache"

    @property
    def folder(self) -> Path:
        return self.xdg_cache_home / "mnemic-benchmarks"


@dataclass(frozen=True)
class Chunk:
    """Consecutive texts: lists of equal length, and vectors of length 1 and shape (texts, dimension)."""

    numbers: range
    user_ids: list[str]
    texts: list[str]
    pairs: list[tuple[int, int]]
    vectors: npt.NDArray[np.float32]


class Source(Protocol):
    """Texts to load, with their owners, vectors and tokens, and questions to ask of them."""

    @property
    def total(self) -> int: ...

    @property
    def stores(self) -> Sequence[tuple[str, int]]:
        """Users and how many texts each has."""
        ...

    def chunks(self) -> Iterator[Chunk]:
        """All texts, some thousand at once."""
        ...

    def frequencies(self, number: int, pair: tuple[int, int]) -> dict[str, int]:
        """The term frequencies of a chunk's text."""
        ...

    def questions(self, count: int, users: Sequence[str] | None = None) -> list[tuple[str, str]]:
        """User ids and questions."""
        ...


@dataclass(frozen=True)
class Corpus:
    """So many texts of so many owners; the same for every run and every system under test.

    Args:
        clauses: What texts are made of.
        stores: Users and how many texts each has, largest first.
        seed: Another one gives other texts.
    """

    clauses: Clauses
    stores: Sequence[tuple[str, int]]
    seed: int = SEED

    @classmethod
    def skewed(cls, clauses: Clauses, total: int, owners: int = OWNERS) -> "Corpus":
        """Very different owners, and beside them one with exactly 10 texts and, if there is room, one with 1,000."""
        apart = [(THOUSAND, 1_000), (TEN, 10)] if total >= ROOM_FOR_THOUSAND else [(TEN, 10)]
        ranked = owner_sizes(total - sum(size for _, size in apart), owners)
        return cls(clauses, [*((f"user-{rank:04d}", size) for rank, size in enumerate(ranked)), *apart])

    @property
    def total(self) -> int:
        return sum(size for _, size in self.stores)

    def chunks(self) -> Iterator[Chunk]:
        """All texts in the order in which they came: owners' texts lie among each other's, as time brings them."""
        draw = np.random.default_rng(self.seed)
        owners = np.repeat(np.arange(len(self.stores)), [size for _, size in self.stores])
        draw.shuffle(owners)
        for first in range(0, len(owners), CHUNK):
            theirs = owners[first : first + CHUNK]
            pairs = draw.integers(len(self.clauses.texts), size=(len(theirs), 2))
            vectors = self.clauses.vectors[pairs[:, 0]] + self.clauses.vectors[pairs[:, 1]]
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            numbers = range(first + 1, first + len(theirs) + 1)
            drawn = [(int(one), int(other)) for one, other in pairs]
            texts = [self._text(number, *pair) for number, pair in zip(numbers, drawn, strict=True)]
            yield Chunk(numbers, [self.stores[owner][0] for owner in theirs], texts, drawn, vectors)

    def frequencies(self, number: int, pair: tuple[int, int]) -> dict[str, int]:
        """The term frequencies of a text: its clauses' and those of its note number."""
        one, other = pair
        found = Counter(self.clauses.frequencies[one])
        found.update(self.clauses.frequencies[other])
        found.update(_NOTE)
        found[str(number)] += 1
        return found

    def questions(self, count: int, users: Sequence[str] | None = None) -> list[tuple[str, str]]:
        """Questions with the user who asks: drawn by the size of their stores, or one of those named."""
        pick = random.Random(self.seed + 2)
        names, sizes = zip(*self.stores, strict=True)
        asking = pick.choices(names, weights=sizes, k=count) if users is None else pick.choices(users, k=count)
        return [(user_id, question(pick)) for user_id in asking]

    def _text(self, number: int, one: int, other: int) -> str:
        return f"{self.clauses.texts[one]}; {self.clauses.texts[other]} (note {number})"


_NOTE: Final = term_frequencies("note")


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
