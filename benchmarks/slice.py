"""`make bench`: append and search in one process, and where their time goes. Ratios count; the machine is noted."""

import argparse
import json
import random
import sys
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from benchmarks.clients import Call
from benchmarks.inprocess import WARM_UP, Bench, opened, unread_logs
from benchmarks.instance import Instance, machine, result_file, run, temporary_instance
from benchmarks.stopwatch import summary
from examples.service import interruptible

SEED: Final = 20
OWNERS: Final = 20
BATCH: Final = 100


class Texts:
    """Seeded memories and questions in both languages, owners of very different size."""

    people: Final = ["Ada", "Bruno", "Chen", "Dora", "Emil", "Fatima", "Goran", "Hanna", "小林", "周叔", "阿梅", "老何"]
    english: Final = {
        "likes": ["green tea", "black coffee", "oat milk", "rye bread", "goat cheese", "miso soup", "plum jam"],
        "lives in": ["Lisbon", "Oslo", "Riga", "Porto", "Ghent", "Lima", "Perth", "Cairo", "Braga", "Tallinn"],
        "works on": ["ocean currents", "tram timetables", "seed banks", "bridge sensors", "tax forms", "wind maps"],
        "is learning": ["the cello", "Portuguese", "welding", "calligraphy", "sailing", "Rust", "bookbinding"],
    }
    chinese: Final = {
        "喜欢": ["绿茶", "黑咖啡", "燕麦奶", "黑麦面包", "山羊奶酪", "味噌汤", "梅子酱"],
        "住在": ["里斯本", "成都", "杭州", "西安", "南京", "广州", "武汉", "青岛", "大连", "昆明"],
        "负责": ["洋流数据", "电车时刻表", "种子库", "桥梁传感器", "报税表格", "风力地图"],
        "正在学": ["大提琴", "葡萄牙语", "焊接", "书法", "帆船", "编程", "装订"],
    }
    scenes: Final = ["since the spring", "after the move", "with a neighbour", "on weekdays", "for the third year"]
    times: Final = ["从春天开始", "搬家以后", "和邻居一起", "工作日的时候", "已经第三年了"]

    def __init__(self) -> None:
        self._random = random.Random(SEED)
        self._weights = list(accumulate(1 / rank for rank in range(1, OWNERS + 1)))

    def owner(self) -> str:
        """A user; the first has 28 % of everything, the last 1 %."""
        return self._random.choices([f"user-{number:02d}" for number in range(OWNERS)], cum_weights=self._weights)[0]

    def memory(self, number: int) -> str:
        """A sentence that no other number gives."""
        pick = self._random.choice
        if number % 2:
            verb, things = pick(list(self.chinese.items()))
            return f"{pick(self.people)}{verb}{pick(things)},{pick(self.times)},第{number}条记录。"
        verb, things = pick(list(self.english.items()))
        return f"{pick(self.people)} {verb} {pick(things)} {pick(self.scenes)}, note {number}."

    def question(self, number: int) -> str:
        """A question that was not asked before."""
        pick = self._random.choice
        if number % 2:
            verb, _ = pick(list(self.chinese.items()))
            return f"{pick(self.people)}{pick(self.times)}{verb}什么?第{number}问"
        verb, _ = pick(list(self.english.items()))
        return f"What is it that {pick(self.people)} {verb} {pick(self.scenes)}? {number}"


async def fill(bench: Bench, texts: Texts, start: int, end: int) -> None:
    """Add memories `start` to `end`."""
    for first in range(start, end, BATCH):
        batch = [{"text": texts.memory(number), "user_id": texts.owner()} for number in range(first, first + BATCH)]
        (await bench.client.post("/v1/memories", json={"memories": batch}, timeout=120)).raise_for_status()


async def measured(bench: Bench, texts: Texts, size: int, count: int) -> dict[str, dict[str, Any]]:
    """Every operation at one size."""

    def append(number: int) -> Call:
        owner = texts.owner()
        body = {"user_id": owner, "role": "user", "content": texts.memory(size + number)}
        return Call("POST", f"/v1/sessions/{owner}-{size}/messages", body)

    def add(number: int) -> Call:
        return Call("POST", "/v1/memories", {"user_id": texts.owner(), "text": texts.memory(10 * size + number)})

    def search(number: int) -> Call:
        return Call("POST", "/v1/memories/search", {"query": texts.question(number), "user_id": texts.owner()})

    def search_all(number: int) -> Call:
        body = {"query": texts.question(number), "user_id": texts.owner(), "include_messages": True}
        return Call("POST", "/v1/memories/search", body)

    async def spent(call: Callable[[int], Call]) -> dict[str, Any]:
        return summary(await bench.measure(count, [call(number) for number in range(count + WARM_UP)]))

    found = {"append": await spent(append)}
    await bench.work()
    found["search"] = await spent(search)
    found["search + messages"] = await spent(search_all)
    found["add"] = await spent(add)
    return found


async def measure(instance: Instance, sizes: Sequence[int], count: int) -> dict[str, Any]:
    """All sizes; the empty route is the yardstick of the same run."""
    texts, found = Texts(), {}
    async with opened(instance) as bench:
        yardstick = summary(await bench.measure(count, [Call("GET", "/healthz")] * (count + WARM_UP)))
        filled = 0
        for size in sizes:
            await fill(bench, texts, filled, size)
            filled = size
            found[size] = await measured(bench, texts, size, count)
    return {"machine": machine(), "requests": count, "empty_route": yardstick, "sizes": found}


def show(report: dict[str, Any], console: Console) -> None:
    """The table."""
    table = Table(title="Milliseconds in the server; {cores} cores, load {load_average}".format_map(report["machine"]))
    for name in ("memories", "operation", "p50", "p95", "SQL", "embedding", "own", "own p95", "own / empty route"):
        table.add_column(name, justify="right")
    table.add_column("statements + BEGIN, COMMIT", justify="right")
    empty = report["empty_route"]["p50_ms"]
    table.add_row("", "empty route", f"{empty:.2f}", f"{report['empty_route']['p95_ms']:.2f}")
    for size, operations in report["sizes"].items():
        for name, row in operations.items():
            figures = [
                row[key] for key in ("p50_ms", "p95_ms", "sql_p50_ms", "embedding_p50_ms", "own_p50_ms", "own_p95_ms")
            ]
            shown = [f"{figure:.2f}" for figure in figures]
            ratio = f"{row['own_p50_ms'] / empty:.1f}"
            table.add_row(f"{size:,}", name, *shown, ratio, f"{row['statements']} ({row['round_trips']} trips)")
    console.print(table)


def main() -> int:
    """Start a server, measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000], help="memories, ascending")
    parser.add_argument("--requests", type=int, default=200, help="requests of each operation at each size")
    arguments = parser.parse_args()
    with interruptible(), temporary_instance() as instance, unread_logs():
        report = run(measure(instance, arguments.sizes, arguments.requests))
    show(report, Console(width=140))
    path = result_file("slice")
    path.write_text(json.dumps(report, indent=1), "utf-8")
    print(f"Written to {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
