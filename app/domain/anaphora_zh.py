"""Chinese questions that cannot be understood alone."""

import re
from typing import Final

from app.core.text.content import content_terms
from app.core.text.normal import unify

EMPTY: Final = frozenset(
    """
    东西 事情 问题 情况 意思 知道 觉得 认为 需要 应该 可能 告诉 请问 麻烦 看看 说说 讲讲 解释 继续 具体 详细 例子
    例如 比如
    怎么办 办法 方法 原因 时间 地方 地点 几点 几天 多久 多长 多大 多远 多少 哪天 哪个 什么样 咋样 咋办 为何 何时
    第一 第二 第三 其他 其它 别的 另外 最后 之后 之前 以后 以前 后来 刚才 现在 今天 明天 昨天 结果 真的 确定 进行 发生
    可以 能够 会不会 是不是 有没有 能不能 要不要 可不可以 行不行 好不好 还有 接下来 下一步 开始 结束 推荐 建议
    介绍 帮忙 记得
    """.split()  # noqa: SIM905 - a list of words is read as words
)
"""Words that say nothing of what a question is about."""

_PERIOD = (
    "(?:一|两|几|些)?个?(?:周|星期|礼拜|月|年|季度|学期|周末|夏天|冬天|春天|秋天|夏|冬|春|秋|暑假|寒假|"
    "早上|晚上|上午|下午|天|阵子|段时间|辈子|世纪)"
)
_MEASURE = (
    "个|些|里|儿|边|种|样|次|位|家|本|部|件|条|只|项|款|段|份|道|座|间|门|台|辆|套|张|首|场|篇|封|天|时候|时|期间|届|"
    "两|几|三|四|五|所|班|批|层|句|点|方面|方案|项目|公司|产品|功能|服务|系统|问题|书|人|事|地方|药|菜|店|课|会"
)
# A noun phrase with a clause before it explains itself: 我昨天买的那本书.
_THING = re.compile(
    rf"(?<!的)这(?!{_PERIOD}|么|个(?:周|星期|礼拜|月|年))(?:{_MEASURE})"
    rf"|(?<!的)那(?:{_MEASURE})"
    r"|(?<!其)它们?"
    r"|(?:[和与跟比从到在去把用对给是]|^)[这那](?=[是会能要有在的]|和|跟|比|怎|为|什|多|谁|吗|呢|$)"
    r"|前者|后者|另外?[一那两]?[个家种位本场次件项套款份部间]|[上前]面(?:说|提|讲|那|的)|刚[才刚](?:说|提|讲|那|的)|之前(?:说|提)的|上述"
    r"|(?<![尤极莫与])其(?!实|他|它|余|次|中|间|妙)"
    r"|该(?=项目|公司|产品|方案|功能|服务|系统|模型|软件|接口|城市|餐厅|版本|文件|报告)"
    r"|同样的|一样的|第[一二三四五][个家种本项步](?=$|[呢吗]|是|叫|怎|多|在|什)"
)
_PERSON = re.compile(r"(?<![其吉维])[他她](?!人|乡|国)们?")
_BREAK = re.compile(r"[，,；]|的时候|之后|以后|以前|之前|[时后前](?=[他她它])")

_LEAD = r"^(?:那么|那|然后|所以|还有|还|再|而且|但是|但|可是|到底|究竟|请问|具体|我们?)*"
_HOW = (
    "怎么样?|如何|怎样|咋|为什么|为何|为啥|什么时候|何时|啥时候|几点|哪天|几号|(?:在|去|从|到)?(?:哪里|哪儿|哪)|谁|和谁|跟谁|"
    "多久|多少|几个|几次|几天|多长时间"
)
_BARE = re.compile(
    rf"{_LEAD}(?:要|该|应该|可以|能|会|需要)?(?:{_HOW})(?:才能|可以|能|要|应该|该|会|去|来|在)*(?P<rest>.*)$"
)
_PARTICLES = re.compile(r"[的了呢吗啊呀吧过好完]+$")
_QUESTION_WORD = re.compile(r"怎|如何|什么|为何|谁|哪|几|多少|多久|多大|多远|吗|是否|.不.")
_ASKED_AFTER = re.compile(r"呢$|^那[^么]{0,8}[呢呀]?$")
_YES_NO = re.compile(
    rf"{_LEAD}(?:会|能|可以|要|需要|还|有|好|贵|远|难|安全|方便|免费|便宜|快|慢|不).*(?:吗|么|没有?)$|^(.)不\1.?$"
)
_WITHOUT_SUBJECT = re.compile(
    rf"{_LEAD}(?:支持|兼容|包括|包含|适合|提供|接受|收)\S{{1,5}}[吗么]$|{_LEAD}(?:有|做了?|发生了?|改了?)(?:什么|哪些|啥)\S{{1,3}}$"
)
_PUNCTUATION = re.compile(r"[\s?？!！。.,，~～…]+$")

SHORT: Final = 8
"""Characters of a question whose subject may have been left out."""

LONGEST_VERB: Final = 3
"""Characters of what is asked how, when or where to be done, if it is a verb alone."""


def depends(query: str) -> bool:
    """Whether the question points to something before it, or has nothing that it is about."""
    plain = _PUNCTUATION.sub("", unify(query))
    if not re.search(r"\w", plain):
        return False
    content = [term for term in content_terms(plain) if term.text not in EMPTY]
    named = any(term.kind == "name" for term in content)
    return (
        _points_to_a_thing(plain)
        or _points_to_a_person(plain)
        or _is_elliptical(plain, [term.text for term in content], named=named)
    )


def _points_to_a_thing(plain: str) -> bool:
    return any(not _is_resolved(plain, match) for match in _THING.finditer(plain))


def _points_to_a_person(plain: str) -> bool:
    person = _PERSON.search(plain)
    return person is not None and not _is_resolved(plain, person)


def _is_resolved(plain: str, match: "re.Match[str]") -> bool:
    """Whether the question itself has named what the pronoun stands for."""
    if match.group()[0] not in "他她它":
        return False
    before = [term for term in content_terms(plain[: match.start()]) if term.text not in EMPTY]
    if any(term.kind == "name" for term in before):
        return True
    owns = re.match("的.", plain[match.end() :]) is not None
    return any(term.kind == "noun" for term in before) and (owns or bool(_BREAK.search(plain[: match.end()])))


def _is_elliptical(plain: str, content: list[str], *, named: bool) -> bool:
    mine = "我" in plain
    if not content and not mine:
        return True
    if _ASKED_AFTER.search(plain) and not _QUESTION_WORD.search(plain) and len(content) <= 2:  # noqa: PLR2004 - a phrase
        return True
    if not mine and _WITHOUT_SUBJECT.search(plain):
        return True
    if named:
        return False
    bare = _BARE.search(plain)
    if bare is not None and _is_one_word(_PARTICLES.sub("", bare["rest"])):
        return True
    return not mine and len(plain) <= SHORT and _YES_NO.search(plain) is not None and len(content) <= 1


def _is_one_word(rest: str) -> bool:
    """`怎么部署`: a verb, and nothing that it is done to."""
    return len(rest) <= LONGEST_VERB and "我" not in rest and len(content_terms(rest)) <= 1
