"""What a running service keeps of short dialogues, with whatever extractor it has: to be read by a person.

python -m benchmarks.dialogues --url http://127.0.0.1:8000 --key "$(cat .mnemic/admin.key)"

Each dialogue is another user's: a correction, a standing instruction, an invention of the assistant's, small talk. Two
correct themselves in a second part, appended when the first has been read, so that verdicts on what is stored are seen.
"""

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

import httpx

PART: Final = "---"
"""Between two parts of a dialogue."""

LONGEST_WAIT: Final = 900.0
LATER: Final = frozenset({"failed", "dead", "cancelled"})

DIALOGUES: Final[Mapping[str, tuple[Sequence[str], Sequence[str]]]] = {
    "en-1": (
        (
            "Hi there!", "Hello! How can I help?",
            "I'm Nora, I teach chemistry at a school in Porto.", "Nice to meet you, Nora. You must love hiking!",
            "Please always answer me in at most three sentences.", "I will.",
            "I'm allergic to peanuts, and I have two cats.", "Noted.",
            "Sorry, it's physics that I teach now, not chemistry.", "Thanks for the correction.",
        ),
        (
            "is called Nora", "teaches physics (not chemistry)", "school in Porto", "at most three sentences",
            "allergic to peanuts", "two cats", "NOT: loves hiking",
        ),
    ),
    "en-2": (
        (
            "We chose PostgreSQL for the billing project.", "Good choice. I think your deadline is in August.",
            "Never deploy on Fridays.", "Understood.",
            "My manager is Clara Jensen.", "OK.",
            PART,
            "Good morning!", "Good morning!",
            "Change of plan: we switched the billing project from PostgreSQL to MySQL.", "OK.",
        ),
        (
            "billing project uses MySQL (PostgreSQL is history)", "never deploy on Fridays", "manager is Clara Jensen",
            "NOT: deadline in August",
        ),
    ),
    "en-3": (
        (
            "I drive a grey Toyota Yaris.", "Great car! Yours is from 2015, isn't it?",
            "What's the capital of Mongolia?", "Ulaanbaatar.",
            "I run every Tuesday evening with my brother Leo.", "Sounds fun.",
            "Haha thanks, see you", "Bye!",
        ),
        (
            "drives a grey Toyota Yaris", "runs on Tuesday evenings with Leo", "brother is called Leo",
            "NOT: car from 2015", "NOT: anything about Mongolia",
        ),
    ),
    "zh-1": (
        (
            "你好呀!", "你好!有什么可以帮你?",
            "我叫林悦,在杭州做护士。", "很高兴认识你,林悦。你一定很喜欢爬山吧!",
            "以后请始终用中文简短回答我。", "好的。",
            "我对花生过敏,家里养了一只叫豆豆的猫。", "记下了。",
            "说错了,我现在不在杭州了,上个月搬到苏州了。", "好的,已更正。",
        ),
        (
            "叫林悦", "护士", "住在苏州(不是杭州)", "始终用中文简短回答", "对花生过敏", "猫叫豆豆", "NOT: 喜欢爬山",
        ),
    ),
    "zh-2": (
        (
            "我们的计费项目决定用PostgreSQL。", "不错的选择。我想你们的截止日期是八月吧。",
            "绝对不要在周五部署。", "明白。",
            "我的经理是王敏。", "好的。",
            PART,
            "早上好!", "早上好!",
            "计划变了:计费项目从PostgreSQL换成MySQL了。", "好的。",
        ),
        ("计费项目用MySQL(PostgreSQL是历史)", "不在周五部署", "经理是王敏", "NOT: 截止日期八月"),
    ),
    "zh-3": (
        (
            "我开一辆灰色的丰田。", "好车!是2015年的吧?",
            "蒙古的首都是哪里?", "乌兰巴托。",
            "我每周二晚上和弟弟小军一起跑步。", "听起来不错。",
            "哈哈谢谢,回头见", "再见!",
        ),
        ("开灰色的丰田", "每周二晚上跑步", "弟弟叫小军", "NOT: 2015年的车", "NOT: 蒙古"),
    ),
}  # fmt: skip


def parts_of(said: Sequence[str]) -> list[list[dict[str, str]]]:
    """Messages of each part: the user and the assistant in turn."""
    parts: list[list[dict[str, str]]] = [[]]
    for text in said:
        if text == PART:
            parts.append([])
            continue
        role = "user" if len(parts[-1]) % 2 == 0 else "assistant"
        parts[-1].append({"role": role, "content": text})
    return parts


class Service:
    """The service as these dialogues use it."""

    def __init__(self, api: httpx.Client) -> None:
        self.api = api

    def call(self, method: str, path: str, **given: Any) -> Any:  # noqa: ANN401 - JSON
        """The answer's body."""
        answer = self.api.request(method, path, **given)
        answer.raise_for_status()
        return answer.json()

    def read(self, session: str) -> dict[str, Any]:
        """Wait until the session's newest reading has ended; its job."""
        until = time.monotonic() + LONGEST_WAIT
        while True:
            listed = self.call("GET", "/v1/jobs", params={"kind": "extract", "limit": 100})["results"]
            mine = [job for job in listed if job["subject"] == session]
            if mine and all(job["state"] in {"succeeded", *LATER} for job in mine):
                return dict(max(mine, key=lambda job: job["created_at"]))
            if time.monotonic() > until:
                raise TimeoutError(session)
            time.sleep(1)

    def calls(self) -> dict[str, float]:
        """Calls of the language model and seconds in them, by purpose."""
        found: dict[str, float] = {}
        for line in self.api.get("/metrics").text.splitlines():
            if line.startswith(("mnemic_llm_seconds_sum", "mnemic_llm_seconds_count")):
                name, value = line.rsplit(" ", 1)
                found[name.removeprefix("mnemic_llm_seconds_")] = float(value)
        return found


def show(service: Service, name: str, run: str) -> None:
    """Say a dialogue, wait, and print what is left of it beside what a person would have kept."""
    said, expected = DIALOGUES[name]
    user = session = f"{name}-{run}"
    before, began = service.calls(), time.monotonic()
    for part in parts_of(said):
        for message in part:
            service.call("POST", f"/v1/sessions/{session}/messages", json={"user_id": user, **message})
        job = service.read(session)
        print(f"   job {job['state']} {job['error'] or ''} {job['result']}", flush=True)
    seconds, after = time.monotonic() - began, service.calls()
    spent = {key: round(value - before.get(key, 0), 1) for key, value in after.items() if value != before.get(key, 0)}
    print(f"{name}: {seconds:.0f} s; {spent}")
    asked = {"user_id": user, "include_uncertain": "true", "limit": 100}
    for status in ("active", "disputed", "superseded", "deleted"):
        for one in service.call("GET", "/v1/memories", params={**asked, "status": status})["results"]:
            marks = f"{one['kind']} {one['category']} {one['source']} {'UNCERTAIN ' if one['uncertain'] else ''}"
            print(f"   {status}: {one['text']!r} {marks}{one['key'] or ''}={one['value'] or ''}")
    print("   expected: " + "; ".join(expected), flush=True)


def main() -> int:
    """Say, wait, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--key", required=True)
    parser.add_argument("--only", nargs="*", choices=list(DIALOGUES), default=list(DIALOGUES))
    given = parser.parse_args()
    headers = {"Authorization": f"Bearer {given.key}"}
    run = f"{time.time():.0f}"
    with httpx.Client(base_url=given.url, headers=headers, timeout=60, trust_env=False) as api:
        for name in given.only:
            show(Service(api), name, run)
    return 0


if __name__ == "__main__":
    sys.exit(main())
