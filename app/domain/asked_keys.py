"""Questions that mean a fact without its name: "where do I work?" asks for `user.employer`, 我住在哪里 for a city."""

import re
import unicodedata
from typing import Final

_WHOSE: Final = r"(?:i|we|you|he|she|they|the user|\w+)"

_ENGLISH: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    (
        rf"where(?:abouts)?\b.*\b{_WHOSE} (?:\w+ )?(?:live|lives|living|reside|resides|based|staying)\b",
        ("user.city", "user.country"),
    ),
    (r"(?:which|what) (?:city|town|place)\b.*\b(?:live|lives|living|reside|based|home|move|moved)\b", ("user.city",)),
    (r"where\b.*\b(?:home|moved?|relocated?)\b", ("user.city",)),
    (rf"where\b.*\b{_WHOSE} (?:\w+ )?(?:work|works|working|employed)\b", ("user.employer",)),
    (
        r"(?:who|whom|which company|what company|which firm)\b.*\b(?:work|works|working|employed|employs)\b",
        ("user.employer",),
    ),
    (r"what\b.*\b(?:for a living|profession|job title)\b|what (?:do|does) \w+ work as\b", ("user.job",)),
    (r"(?:when|what day|which day|what date)\b.*\b(?:born|birthday)\b", ("user.birthday",)),
    (r"how old\b", ("user.age", "user.birthday")),
    (r"where\b.*\b(?:from|grow up|grew up|born)\b", ("user.hometown",)),
    (r"what\b.*\b(?:my|user's|your) name\b|what (?:am|is|are) \w+ called\b|who am i\b", ("user.name", "user.nickname")),
    (r"where\b.*\b(?:study|studies|studying|studied|go to (?:school|college|university))\b", ("user.school",)),
    (r"what\b.*\b(?:study|studies|studying|studied|major in)\b", ("user.major",)),
    (r"what\b.*\b(?:drive|drives|driving)\b", ("user.car",)),
    (r"(?:when|what time)\b.*\b(?:get up|gets up|wake|wakes)\b", ("user.wake_up_time",)),
    (r"(?:when|what time)\b.*\b(?:go to bed|goes to bed|sleep|sleeps)\b", ("user.bedtime",)),
    (r"how\b.*\b(?:get to work|commute|commutes|go to work)\b", ("user.commute",)),
    (r"(?:who|whom)\b.*\b(?:report to|reports to|boss|manager)\b", ("user.manager",)),
    (r"what\b.*\ballergic\b", ("user.allergy",)),
    (r"(?:when|what day|which day)\b.*\b(?:due|deadline)\b", ("project.deadline",)),
)

_CHINESE: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    (r"住在?(?:哪|什么地方|什么城市|何处)|哪(?:个|座)?城市|家在哪|搬到?(?:哪|什么地方)", ("user.city", "user.country")),
    (
        r"(?:哪|什么)(?:家|个|间)?(?:公司|单位|企业)|在?哪(?:里|儿|家|个)?(?:上班|工作|任职)|给谁(?:打工|工作)",
        ("user.employer",),
    ),
    (r"(?:做|干|从事)(?:什么|啥)(?:工作|的|职业|行业)?|什么职业|什么工作", ("user.job",)),
    (r"(?:哪天|什么时候|几月几[号日]|哪年)(?:过)?(?:出生|生日|生的)|生日(?:是)?(?:哪|什么|几)", ("user.birthday",)),
    (r"(?:多大|几岁|多少岁)", ("user.age", "user.birthday")),
    (r"(?:哪里|哪儿|什么地方)人|(?:老家|家乡)(?:是|在)", ("user.hometown",)),
    (r"叫(?:什么|啥)(?:名字)?|(?:怎么|如何)称呼|我是谁", ("user.name", "user.nickname")),
    (r"(?:哪所|什么|哪个)(?:学校|大学)|在?哪(?:里|儿)?(?:上学|读书|念书|上大学)", ("user.school",)),
    (r"(?:学|读)(?:的)?(?:是)?(?:什么|啥|哪个)专业|什么专业", ("user.major",)),
    (r"开(?:的)?(?:是)?(?:什么|啥|哪)(?:车|牌子的车|款车)", ("user.car",)),
    (r"(?:几点|什么时候)(?:起床|起来)", ("user.wake_up_time",)),
    (r"(?:几点|什么时候)(?:睡觉|睡|上床)", ("user.bedtime",)),
    (r"(?:怎么|如何)(?:上班|通勤|去公司)", ("user.commute",)),
    (r"(?:谁是|向谁)(?:.{0,4})(?:汇报|领导|老板|上司|经理)", ("user.manager",)),
    (r"对(?:什么|啥|哪些)(?:.{0,4})过敏|过敏(?:什么|啥)", ("user.allergy",)),
    (
        r"(?:什么时候|哪天|几号)(?:截止|到期|交付|上线|要交)|截止(?:日期|时间)?(?:是)?(?:哪|什么|几)",
        ("project.deadline",),
    ),
)

_RULES: Final = tuple((re.compile(pattern), keys) for pattern, keys in (*_ENGLISH, *_CHINESE))

LONGEST: Final = 400
"""Characters of a question that are looked at: what is longer is no plain question."""


def asked_keys(question: str) -> list[str]:
    """The keys that a question asks for by its form, likeliest first; both languages."""
    text = unicodedata.normalize("NFKC", question).casefold()
    if len(text) > LONGEST:
        return []
    plain = re.sub(r"\s+", " ", text).strip()
    joined = re.sub(r"(?<=[^\x00-\x7f]) (?=[^\x00-\x7f])", "", plain)
    return list(dict.fromkeys(key for rule, keys in _RULES if rule.search(joined) for key in keys))
