"""What a language model makes of short dialogues, and what of it is kept: to be read by a person.

python -m benchmarks.summaries --url http://127.0.0.1:8080/v1 --model NAME
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final
from zoneinfo import ZoneInfo

from app.core.metrics import Metrics
from app.domain.budget import estimate_tokens
from app.domain.extraction.turns import Turn
from app.domain.summary.choosing import room_for
from app.domain.summary.faithful import figures_of, names_of
from app.domain.summary.lines import Line
from app.providers.llm.openai import ChatModel, Endpoint
from app.services.summaries.summarisers import LanguageModelSummariser

DIALOGUES: Final[Sequence[Sequence[str]]] = (
    (
        "Please never book a hotel with stairs, my knee is bad.", "Understood, only hotels with a lift.",
        "The budget is 1200 euros.", "Noted. When do you travel?",
        "On 14 May, with Clara. Actually make the budget 1500 euros.", "OK: 14 May with Clara, 1500 euros.",
        "What's the weather like there?", "I don't know yet.",
        "Thanks!", "You're welcome.",
    ),
    (
        "We decided to move the billing service to PostgreSQL 16.", "Good choice. Who does it?",
        "Marta leads it, the deadline is June 9.", "OK.",
        "The staging host is db7.internal, port 5433.", "Noted.",
        "Never deploy on Fridays, please.", "I won't.",
        "The deadline moved to June 23.", "Noted, June 23.",
    ),
    (
        "以后请绝对不要订有楼梯的酒店,我膝盖不好。", "明白,只订有电梯的。",
        "预算是1200欧元。", "记下了。什么时候出发?",
        "5月14日,和林悦一起。预算改成1500欧元吧。", "好的:5月14日,1500欧元。",
        "那边天气怎么样?", "我还不知道。",
        "谢谢!", "不客气。",
    ),
    (
        "我们决定把计费服务迁到PostgreSQL 16。", "好。谁负责?",
        "王敏负责,截止日期是6月9日。", "好的。",
        "预发布主机是db7.internal,端口5433。", "记下了。",
        "请不要在周五发布。", "好的。",
        "截止日期改到6月23日。", "记下了,6月23日。",
    ),
)  # fmt: skip


def lines_of(dialogue: Sequence[str]) -> list[Line]:
    """The user and the assistant in turn."""
    roles = ("user", "assistant")
    return [
        Line(
            Turn(seq, roles[(seq + 1) % 2], text, datetime(2026, 3, 1, tzinfo=UTC), ZoneInfo("UTC")),  # type: ignore[arg-type]
            tokens=estimate_tokens(text),
        )
        for seq, text in enumerate(dialogue, 1)
    ]


async def ask(url: str, model: str) -> None:
    """Each dialogue once: the seconds, what was dropped, and each sentence with its range."""
    metrics = Metrics()
    asked = ChatModel(Endpoint(base_url=url, model=model, attempts=1, timeout=600.0), metrics)
    summariser = LanguageModelSummariser(asked)
    for number, dialogue in enumerate(DIALOGUES, 1):
        lines = lines_of(dialogue)
        began = time.perf_counter()
        made = await summariser.summarise(lines, room_for(sum(line.tokens for line in lines)))
        seconds = time.perf_counter() - began
        print(
            f"{number}. by {made.by}, {seconds:.0f} s, {len(made.sentences)} kept, {made.dropped} dropped", flush=True
        )
        for one in made.sentences:
            heard = "\n".join(line.turn.text for line in lines if one.from_seq <= line.seq <= one.to_seq)
            borne_out = figures_of(one.text) <= figures_of(heard)
            borne_out &= all(name in heard.casefold() for name in names_of(one.text))
            whose = one.role or "model"
            print(f"   [{one.from_seq}..{one.to_seq}] {whose}: {one.text}{'' if borne_out else '   <- LOOK AT THIS'}")
    await asked.close()


def main() -> int:
    """Ask, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True, help="what stands before /chat/completions")
    parser.add_argument("--model", required=True)
    given = parser.parse_args()
    asyncio.run(ask(given.url, given.model))
    return 0


if __name__ == "__main__":
    sys.exit(main())
