"""Questions about the user's affairs, and what answers them by its content."""

import re
from typing import Final

from app.domain.extraction.clauses import Clause
from app.domain.extraction.plain import is_request

_HAN: Final = "\u3400-\u9fff"

_ABOUT_YOU: Final = re.compile(
    r"^(?:and|what about|how about)\b|呢$|\b(?:how (?:long|many|much|often|far|old|big)|who|where|when|which|what|"
    r"any|is it|is there|are there|"
    r"is|are|do|does|did|have|has|would you (?:consider|prefer|rather|say)|will)\b|"
    r"[吗呢么]|什么|几|多|谁|哪|怎"
)
_OFFER: Final = re.compile(
    r"\b(?:shall i|should i|would you like|do you want|want (?:me|a|to|some)|can i|may i|need (?:me|any|a few)|"
    r"how can i|what can i|what would you like|what do you (?:want|need)|like (?:me|some|a)|could i|"
    r"how are you|how (?:is|are|was|were)\b.{0,30}\b(?:treating|going|your day|things|it)|anything else|error|sure|"
    r"slides?|letters|words|audience|recipient|title|file|wrote|restart|help|should|tone|style|"
    r"format|which one|happens? next|story|scene|guess|riddle|ready|continue|sound (?:good|ok)|does that|next step|"
    r"what kind|which (?:version|option)|how formal)\b|"
    r"报错|确定吗|几页|几个字|写给|答案|效果|重启|应该|语气|风格|多长|哪一[个种]|接下来|故事|猜|继续|准备好|可以吗|"
    r"行吗|好吗|对吗|怎么样|"
    r"要我|需要我|要不要|需要.{0,8}吗|想要我|帮您|帮你|想做点|要找|要练|想聊|还有(?:什么|别的|其他)"
)


def asks_of_the_user(question: Clause) -> bool:
    """Whether a question is about the user's affairs, and no offer to do something."""
    return _OFFER.search(question.plain) is None and _ABOUT_YOU.search(question.plain) is not None


_NO_CONTENT: Final = re.compile(
    r"(?:yes|no|yep|nope|nah|ok|sure|please|not sure|i don't know|no idea|maybe|both|either|neither|none|nothing|"
    r"skip|why|later|it depends|depends|all of them|the (?:first|second|latter|former)|"
    r"可以|不用|不要|不知道|不清楚|不确定|随便|都行|没有|没|有|要|好|对|是|嗯|保密|再说|算了|换|加|改)(?:的|了|吧|啊)*$"
)
_COUNTS: Final = frozenset(
    ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "once", "twice", "daily", "weekly")
)
LONGEST_ANSWER: Final = 80


def is_answer(clause: Clause) -> bool:
    """Whether a clause that no rule knows answers a question by its content."""
    plain = clause.plain
    if len(plain) > LONGEST_ANSWER or _NO_CONTENT.match(plain):
        return False
    if " " not in plain and not re.search(rf"\d|[{_HAN}]{{3}}", plain) and not clause.text[:1].isupper():
        return plain in _COUNTS
    if clause.chinese:
        return not re.search(
            r"^没.{1,2}$|还没|可能|也许|看情况|不一定|你|您|哈哈|谢|不知道|不清楚|不告诉|随便|试|帮", plain
        )
    return not re.search(
        r"\b(?:you|your|maybe|might|probably|lol|thanks?|not sure|don't know|no idea|rather not|prefer not|skip|"
        r"never mind|why|help|"
        r"depends|guess|can't say|nothing|none|later)\b",
        plain,
    ) and not is_request(plain)
