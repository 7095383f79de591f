"""The words of the tools, in Chinese and English: definitions, results, and errors that a model can act on."""

from collections.abc import Mapping
from typing import Any, Final

from app.domain.tooling import Language, Tool, ToolName
from app.schemas.tools import (
    ArchivalMemoryInsert,
    ArchivalMemorySearch,
    Arguments,
    ConversationSearch,
    CoreMemoryAppend,
    CoreMemoryReplace,
)

ARGUMENTS: Final[Mapping[ToolName, type[Arguments]]] = {
    "core_memory_append": CoreMemoryAppend,
    "core_memory_replace": CoreMemoryReplace,
    "archival_memory_insert": ArchivalMemoryInsert,
    "archival_memory_search": ArchivalMemorySearch,
    "conversation_search": ConversationSearch,
}

_PURPOSE: Final[Mapping[ToolName, dict[Language, str]]] = {
    "core_memory_append": {
        "en": "Add a line to a block of your core memory, which you always see. "
        "Use it for what matters in every conversation; details belong in archival memory.",
        "zh": "在核心记忆块末尾添加一行，核心记忆你始终看得到。用于每次对话都重要的内容；细节请放入归档记忆。",
    },
    "core_memory_replace": {
        "en": "Change a part of a block of your core memory. "
        "The old text must stand in the block exactly once, letter by letter; an empty new text removes it.",
        "zh": "修改核心记忆块中的一部分。旧文本必须在块中逐字出现且只出现一次；新文本为空则删除。",
    },
    "archival_memory_insert": {
        "en": "Keep a fact or an event in archival memory, to be found by search later. "
        "Write one self-contained sentence, in the language of the conversation, with names instead of pronouns.",
        "zh": "把一个事实或事件存入归档记忆，以后可以搜索到。写一句能独立理解的话，使用对话的语言，用名字代替代词。",
    },
    "archival_memory_search": {
        "en": "Search archival memory by meaning and words. "
        "Results are numbered, with their dates; what is marked as unconfirmed was never said by the user.",
        "zh": "按含义和词语搜索归档记忆。结果带编号和日期；标注“未确认”的内容不是用户亲口说的。",
    },
    "conversation_search": {
        "en": "Search what was said in past conversations, by words, meaning, time and speaker. "
        "Without a query the newest messages come first.",
        "zh": "按词语、含义、时间和说话人搜索过去的对话。不给查询时，最新的消息在前。",
    },
}

_PARAMETERS: Final[Mapping[str, dict[Language, str]]] = {
    "label": {"en": "The block's label, such as human or persona", "zh": "块的标签，例如 human 或 persona"},
    "content": {"en": "The text to keep", "zh": "要保存的文本"},
    "old_content": {"en": "The text as it stands in the block", "zh": "块中现有的文本"},
    "new_content": {"en": "What comes in its place", "zh": "替换成的文本"},
    "category": {"en": "What it is about", "zh": "内容的类别"},
    "importance": {"en": "From 1 (a trifle) to 10 (vital)", "zh": "从 1（琐事）到 10（至关重要）"},
    "query": {"en": "What to look for", "zh": "要查找的内容"},
    "page": {"en": "0 for the best results, 1 for the next ones", "zh": "0 为最佳结果，1 为下一页"},
    "limit": {"en": "Results of one page", "zh": "每页的结果数"},
    "mode": {"en": "By words, by meaning, or both", "zh": "按词语、按含义，或两者兼用"},
    "role": {"en": "Only said by this speaker", "zh": "只看该说话人的消息"},
    "start_date": {"en": "From this day on, such as 2026-05-01", "zh": "从这一天起，例如 2026-05-01"},
    "end_date": {"en": "Up to this day, included", "zh": "到这一天为止（含）"},
}

SAYINGS: Final[Mapping[str, dict[Language, str]]] = {
    "block": {
        "en": "Done. Block {label} (version {version}, {characters} of {limit} characters) now reads:\n{text}",
        "zh": "完成。块 {label}（版本 {version}，{characters}/{limit} 字符）现在的内容：\n{text}",
    },
    "kept": {"en": "Kept as memory {id}: {text}", "zh": "已保存为记忆 {id}：{text}"},
    "known": {"en": "This was known already, as memory {id}: {text}", "zh": "这条已经存在，记忆 {id}：{text}"},
    "found": {"en": "Results {first}-{last}{more}:\n{text}", "zh": "第 {first}-{last} 条结果{more}：\n{text}"},
    "more": {"en": " (page {page} has more)", "zh": "（第 {page} 页还有更多）"},
    "recalled": {
        "en": "This is what memory has given you: it is kept already. Write only what is new, in your own words.",
        "zh": "这是记忆提供给你的内容，已经保存过了。请只写新的内容，用你自己的话。",
    },
    "nothing": {
        "en": "Nothing was found. Try other words, or fewer conditions.",
        "zh": "没有找到。请换一种说法，或减少条件。",
    },
    "no_more": {
        "en": "There is no page {page}: the results ended before it. Ask for page 0.",
        "zh": "没有第 {page} 页：结果在此之前已结束。请查第 0 页。",
    },
    "unconfirmed": {"en": " (unconfirmed)", "zh": "（未确认）"},
    "disputed": {"en": " (disputed)", "zh": "（有争议）"},
    "unknown_tool": {
        "en": "Error: there is no tool {name}. The tools are: {names}.",
        "zh": "错误：没有工具 {name}。可用的工具：{names}。",
    },
    "not_an_object": {
        "en": "Error: the arguments are not a JSON object. Call {name} again with these arguments: {names}.",
        "zh": "错误：参数不是 JSON 对象。请用以下参数重新调用 {name}：{names}。",
    },
    "bad_arguments": {
        "en": "Error: {faults}. Arguments of {name}: {names}. Correct this and call it again.",
        "zh": "错误：{faults}。{name} 的参数：{names}。请更正后重新调用。",
    },
    "no_block": {
        "en": "Error: there is no block {label}. Blocks that you have: {names}. Use one of these labels.",
        "zh": "错误：没有块 {label}。现有的块：{names}。请使用其中一个标签。",
    },
    "no_blocks": {
        "en": "Error: there is no block {label}, and no other: keep it with archival_memory_insert instead.",
        "zh": "错误：没有块 {label}，也没有其他块：请改用 archival_memory_insert 保存。",
    },
    "block_full": {
        "en": "Error: this does not fit: the block may have {limit} characters and has {characters}. Shorten it with "
        "core_memory_replace first, or use archival_memory_insert.",
        "zh": "错误：放不下：该块上限 {limit} 字符，已有 {characters}。请先用 core_memory_replace 缩短，"
        "或改用 archival_memory_insert。",
    },
    "read_only": {
        "en": "Error: block {label} is read-only. Use another block, or archival_memory_insert.",
        "zh": "错误：块 {label} 是只读的。请使用其他块，或 archival_memory_insert。",
    },
    "old_text_not_unique": {
        "en": "Error: old_content stands {times} times in block {label}; it must stand there exactly once. Copy a "
        "longer or an exact part of this text:\n{text}",
        "zh": "错误：old_content 在块 {label} 中出现 {times} 次，必须恰好出现一次。"
        "请从下面的文本中逐字复制更长或准确的一段：\n{text}",
    },
    "bad_date": {
        "en": "Error: {name} is not a date. Write it as 2026-05-01.",
        "zh": "错误：{name} 不是日期。请写成 2026-05-01。",
    },
    "dates_reversed": {
        "en": "Error: end_date is before start_date. Exchange them.",
        "zh": "错误：end_date 早于 start_date。请对调。",
    },
    "refused": {"en": "Error: {detail}", "zh": "错误：{detail}"},
}


def say(saying: str, language: Language, /, **places: object) -> str:
    """One of the sayings with something in its places."""
    return SAYINGS[saying][language].format(**places)


def tool(name: ToolName, language: Language) -> Tool:
    """A tool's definition, its schema made of what its arguments are checked against."""
    schema = ARGUMENTS[name].model_json_schema()
    properties = {
        parameter: _plain(given) | {"description": _PARAMETERS[parameter][language]}
        for parameter, given in schema["properties"].items()
    }
    return Tool(name, _PURPOSE[name][language], properties, schema.get("required", []))


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """What a model needs of a property's schema; null is what leaving it out means."""
    chosen = next((one for one in schema.get("anyOf", []) if one.get("type") != "null"), schema)
    names = ("type", "enum", "minimum", "maximum")
    told = {name: chosen[name] for name in names if name in chosen}
    if "exclusiveMaximum" in chosen:
        told["maximum"] = chosen["exclusiveMaximum"] - 1
    if schema.get("default") is not None:
        told["default"] = schema["default"]
    return told
