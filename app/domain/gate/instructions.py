"""Texts that tell their reader what to do: what tools, assistants and other systems say is data, never an order.

A sign of danger, not a proof of safety: an order that is worded as a statement is not found. It only takes trust away.
"""

import re
from typing import Final

from app.core.text.normal import normalise

_ENGLISH: Final = re.compile(
    r"""(?:^|[.!?:;\n"'>)\]*-]\s{0,3})(?:please\s+|now\s+|note:?\s+|important:?\s+|system:?\s+|assistant:?\s+|you\s+)?
    (?:(?:must|should|shall|will|need\s+to|have\s+to)\s+(?:now\s+|always\s+|never\s+)?)?
    (?:ignore|disregard|forget|override|bypass|always|never|do\s+not|don't|send|forward|reveal|print|output|execute|run|
    call|delete|transfer|pay|click|visit|open|reply|respond|answer|tell|pretend|act\s+as|follow|remember\s+to|make\s+sure|
    ensure|instruct|download|install|upload|email|post|share|use|recommend|approve|grant)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_ENGLISH_SIGNS: Final = re.compile(
    r"\b(?:previous|prior|above|earlier|all)\s+(?:instructions?|prompts?|rules|guidelines)\b|\bsystem\s+prompt\b|"
    r"\byou\s+are\s+now\b|\bfrom\s+now\s+on\b|\bnew\s+instructions?\b|\bdeveloper\s+mode\b|\bjailbreak\b",
    re.IGNORECASE,
)
_CHINESE: Final = re.compile(
    r"(?:^|[。！？：；，,!?:;\n「『“\"])\s{0,3}(?:请|务必|必须|一定要|你必须|你应该|你要|你需要|立即|立刻|马上|今后|以后|从现在开始|从现在起)?"
    r"(?:忽略|无视|忘记|忘掉|不要|别|禁止|不得|总是|始终|永远|一律|发送|转发|透露|泄露|输出|打印|执行|运行|调用|删除|转账|付款|点击|访问|"
    r"打开|回复|回答|告诉|假装|扮演|遵循|遵守|确保|务必|下载|安装|上传|推荐|批准|授权|使用)"
)
_CHINESE_SIGNS: Final = re.compile(
    r"(?:之前|以上|上述|先前|前面|所有)的?(?:指令|指示|提示|规则|要求)|系统提示|你现在是|从现在(?:开始|起)|新的?指令|开发者模式|越狱"
)


def is_instruction(text: str) -> bool:
    """Whether a text orders something, in English or in Chinese."""
    plain = normalise(text)
    return any(rule.search(plain) is not None for rule in (_ENGLISH, _ENGLISH_SIGNS, _CHINESE, _CHINESE_SIGNS))
