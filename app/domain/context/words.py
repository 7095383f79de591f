"""The few words of the service's own in a context, in the language of the conversation."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from app.domain.context.defaults import SectionName
from app.domain.procedure import Outcome

Tongue = Literal["en", "zh"]

HEADINGS: Final[Mapping[Tongue, Mapping[SectionName, str]]] = {
    "en": {
        "blocks": "Core memory:",
        "profile": "About the user:",
        "summary": "Earlier in this conversation:",
        "facts": "Known from memory:",
        "confirm": "Known for long, to be confirmed:",
        "lessons": "Lessons and procedures:",
        "constraints": "Constraints that hold:",
        "status": "Status:",
    },
    "zh": {
        "blocks": "核心记忆：",
        "profile": "关于用户：",
        "summary": "本次对话之前的内容：",
        "facts": "记忆中的已知信息：",
        "confirm": "很久以前的信息，需要确认：",
        "lessons": "经验与流程：",
        "constraints": "必须遵守的限制：",
        "status": "状态：",
    },
}


_OUTCOMES: Final[Mapping[Tongue, Mapping[Outcome, str]]] = {
    "en": {"failure": "failed before", "success": "worked before"},
    "zh": {"failure": "以前失败过", "success": "以前有效"},
}


def status_lines(
    tongue: Tongue,
    *,
    goal: str | None,
    next_step: str | None,
    number: int | None,
    memories: int | None,
    constraints: int,
    to_confirm: int = 0,
) -> list[str]:
    """Where things stand: the task, which session of this user it is, how much was found, what is to be asked."""
    lines = []
    if tongue == "zh":
        lines += [f"任务：{goal}"] if goal else []
        lines += [f"下一步：{next_step}"] if next_step else []
        if memories is None:
            return lines
        lines += [f"相关会话第 {number} 次；" if number is not None else ""]
        lines[-1] += f"找到 {memories} 条记忆，{constraints} 条限制"
        lines[-1] += f"；其中 {to_confirm} 条请向用户确认" if to_confirm else ""
        return lines
    lines += [f"Task: {goal}"] if goal else []
    lines += [f"Next step: {next_step}"] if next_step else []
    if memories is None:
        return lines
    lines += [f"Related session no. {number}; " if number is not None else ""]
    lines[-1] += f"found {_many(memories, 'memory', 'memories')}, {_many(constraints, 'constraint', 'constraints')}"
    lines[-1] += f"; ask the user to confirm {to_confirm} of them" if to_confirm else ""
    return lines


def conflict_line(tongue: Tongue, stored: str, said: str, seq: int) -> str:
    """That the user has just said something else than what is stored."""
    if tongue == "zh":
        return f"注意：用户在消息 #{seq} 中说“{said}”，与已存的“{stored}”不符，以用户刚说的为准"
    return f'Note: the user said "{said}" (message #{seq}); the stored "{stored}" no longer holds'


def marks_of(source: str, date: str | None, *, uncertain: bool, disputed: bool) -> str:
    """What stands behind a fact: who vouches for it, since when, and whether it is sure."""
    marks: Sequence[str | None] = (source, date, "uncertain" if uncertain else None, "disputed" if disputed else None)
    return f"({', '.join(mark for mark in marks if mark)})"


def hint_marks(tongue: Tongue, date: str, outcome: Outcome | None, procedure: str | None) -> str:
    """What stands behind a lesson or a procedure: what came of it, since when, under which id its body is read."""
    said = None if outcome is None else _OUTCOMES[tongue][outcome]
    if tongue == "zh":
        named = None if procedure is None else f"流程 {procedure}"
        return f"（{'，'.join(mark for mark in (named, said, date) if mark)}）"
    named = None if procedure is None else f"procedure {procedure}"
    return f"({', '.join(mark for mark in (named, said, date) if mark)})"


def _many(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"
