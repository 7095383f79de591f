"""Load conversations in LoCoMo's format into a service of its own, ask the file's questions, show what is found."""

import argparse
import json
import re
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import httpx
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from examples.service import ServiceFailed, temporary_service, wait_until_embedded

OWN: Final = Path(__file__).parent / "conversations" / "demo.json"
DATE_FORMS: Final = ("%I:%M %p on %d %B, %Y", "%I:%M %p on %d %b, %Y")
SHOWN_CHARACTERS: Final = 96
INTERRUPTED: Final = 130

out = Console()


@dataclass(frozen=True, slots=True)
class Question:
    """A question of the file, with the turns that hold its answer."""

    text: str
    answer: str
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation: its sessions as bodies of an append, and what to ask about it."""

    user_id: str
    sessions: dict[str, list[dict[str, Any]]]
    questions: list[Question]

    @property
    def turns(self) -> int:
        """Messages in all."""
        return sum(len(messages) for messages in self.sessions.values())


def read(path: Path) -> list[Conversation]:
    """The conversations of a file.

    Raises:
        ValueError: It is not in LoCoMo's format.
    """
    try:
        return [_conversation(sample) for sample in json.loads(path.read_text("utf-8"))]
    except (KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is not in LoCoMo's format: {type(error).__name__} {error}") from error


def _conversation(sample: dict[str, Any]) -> Conversation:
    spoken = sample["conversation"]
    numbers = sorted(int(name[8:]) for name in spoken if re.fullmatch(r"session_\d+", name))
    sessions = {}
    for number in numbers:
        said_at = _instant(spoken.get(f"session_{number}_date_time", ""))
        messages = [_message(turn, said_at) for turn in spoken[f"session_{number}"]]
        if messages:
            sessions[f"{sample['sample_id']}/{number}"] = messages
    return Conversation(sample["sample_id"], sessions, [_question(asked) for asked in sample.get("qa", [])])


def _message(turn: dict[str, Any], said_at: str | None) -> dict[str, Any]:
    picture = f" [picture: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
    dated = {} if said_at is None else {"occurred_at": said_at}
    return {
        "role": "user",
        "name": turn["speaker"],
        "content": f"{turn['speaker']}: {turn['text']}{picture}",
        "external_id": turn["dia_id"],
        **dated,
    }


def _question(asked: dict[str, Any]) -> Question:
    answer = str(asked.get("answer", asked.get("adversarial_answer", "")))
    turns = re.findall(r"D:?(\d+):(\d+)", " ".join(asked.get("evidence") or []))
    return Question(asked["question"], answer, frozenset(f"D{int(one)}:{int(two)}" for one, two in turns))


def _instant(written: str) -> str | None:
    """LoCoMo dates sessions like `1:56 pm on 8 May, 2023`; they are taken as UTC."""
    for form in DATE_FORMS:
        try:
            return datetime.strptime(written.strip(), form).replace(tzinfo=UTC).isoformat()
        except ValueError:
            continue
    return None


def load(client: httpx.Client, conversations: Sequence[Conversation]) -> None:
    """Append everything and wait for its vectors."""
    total = sum(conversation.turns for conversation in conversations)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=out) as progress:
        appended = progress.add_task("Messages appended", total=total)
        for conversation in conversations:
            for session_id, messages in conversation.sessions.items():
                body = {"user_id": conversation.user_id, "messages": messages}
                client.post(f"/v1/sessions/{quote(session_id, safe='')}/messages", json=body)
                progress.advance(appended, len(messages))
        sessions = sum(len(conversation.sessions) for conversation in conversations)
        embedded = progress.add_task("Sessions embedded", total=sessions)
        wait_until_embedded(client, lambda left: progress.update(embedded, completed=max(sessions - left, 0)))
        progress.update(embedded, completed=sessions)


def ask(client: httpx.Client, conversation: Conversation, questions: Sequence[Question], top_k: int) -> Iterator[bool]:
    """Print each question with its hits; yields whether a turn of the evidence is among them."""
    for question in questions:
        body = {"query": question.text, "user_id": conversation.user_id, "include_messages": True, "top_k": top_k}
        hits = client.post("/v1/memories/search", json=body).json()["results"]
        out.print(_table(conversation.user_id, question, hits))
        yield any(_sources(hit) & question.evidence for hit in hits)


def _table(user_id: str, question: Question, hits: Sequence[dict[str, Any]]) -> Table:
    table = Table(title=f"{user_id}: {question.text}", title_justify="left", title_style="bold", expand=True)
    table.add_column("score", justify="right", width=5)
    table.add_column("said on", width=10)
    table.add_column("source message", width=18)
    table.add_column("text", ratio=1)
    for hit in hits:
        source = hit["sources"][0]
        place = f"{source['session_id']} #{', '.join(map(str, source['seqs']))}"
        style = "green" if _sources(hit) & question.evidence else ""
        table.add_row(f"{hit['score']:.2f}", (hit["occurred_at"] or "")[:10], place, _short(hit["text"]), style=style)
    table.caption = f"answer in the file: {question.answer}"
    table.caption_justify = "left"
    return table


def _sources(hit: dict[str, Any]) -> set[str]:
    return {one for source in hit["sources"] for one in source["external_ids"]}


def _short(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"


def _spread(questions: Sequence[Question], wanted: int) -> list[Question]:
    """So many of them, from all parts of the file."""
    step = max(len(questions) / wanted, 1)
    return [questions[int(index * step)] for index in range(min(wanted, len(questions)))]


def run(arguments: argparse.Namespace) -> None:
    """The whole demo."""
    conversations = read(arguments.data)
    if arguments.first:
        conversations = conversations[:1]
    began = time.monotonic()
    out.print("Starting a Mnemic of its own on a temporary folder (some seconds)")
    with temporary_service() as service, service.client() as client:
        started = time.monotonic()
        out.print(f"It serves at {service.url}, and {service.url}/docs shows its routes while this runs.")
        load(client, conversations)
        loaded = time.monotonic()
        found = [
            whether
            for conversation in conversations
            for whether in ask(
                client, conversation, _spread(conversation.questions, arguments.questions), arguments.top
            )
        ]
        asked = time.monotonic()
    turns = sum(conversation.turns for conversation in conversations)
    out.print(
        f"{sum(found)} of {len(found)} questions have a turn that holds the answer (green) among their first "
        f"{arguments.top} hits.\n"
        f"Start {started - began:.1f} s, {turns} messages loaded and embedded in {loaded - started:.1f} s, "
        f"{len(found)} questions in {asked - loaded:.1f} s. The service is stopped and its folder removed."
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--data", type=Path, default=OWN, help="a file in LoCoMo's format (default: a small one, zh + en)"
    )
    parser.add_argument("--first", action="store_true", help="only the first conversation of the file")
    parser.add_argument("--questions", type=int, default=8, help="how many to ask about each conversation")
    parser.add_argument("--top", type=int, default=5, help="hits to show for each question")
    return parser.parse_args()


def main() -> int:
    """The exit code."""
    try:
        run(_arguments())
    except KeyboardInterrupt:
        out.print("Interrupted: the service is stopped and its folder removed.")
        return INTERRUPTED
    except (ServiceFailed, ValueError, OSError, httpx.HTTPError) as failure:
        out.print(f"The demo failed: {failure}", style="red", markup=False)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
