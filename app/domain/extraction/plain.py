"""Statements that no rule knows: kept where they are specific and somebody's own, with what they are about."""

import re
from dataclasses import dataclass
from typing import Final

from app.domain.extraction.clauses import Clause
from app.domain.memory import Category

_HAN: Final = "\u3400-\u9fff"
_NUMBER_ZH: Final = r"[\d一二两三四五六七八九十百千万半几]"

_EXACT: Final = re.compile(r"\d|[a-z]+[_./@][a-z0-9]|[“\"「『《]")
_NAME_EN: Final = re.compile(r"(?<=[a-z0-9,'] )(?!I\b|I'|OK\b|Ok\b|LOL\b)[A-Z][\w-]+|[A-Z]\w+ (?:and|&) [A-Z]\w+")
_NAME_FIRST_EN: Final = re.compile(
    r"(?!I\b|I'|The |A |An |My |Our |This |That |It |It's |There |No |Not |You |He |She |We |They |So |And |But )"
    r"[A-Z][a-z]\w*(?: [A-Z]\w+| (?=is\b|are\b|was\b|has\b|will\b|does\b|wants\b|for\b|instead\b))"
)
_OWN_EN: Final = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|im|my|me|mine|we|we're|we've|we'll|our|ours|us)\b")
_FAMILY_EN: Final = re.compile(
    r"\b(?:mom|mum|dad|grandma|grandpa|wife|husband|son|daughter|kids?|sister|brother|boss|team|office|client|"
    r"customer)s?\b"
)
_EXACT_ZH: Final = re.compile(
    rf"{_NUMBER_ZH}{{1,6}}(?:个|人|口|岁|年|月|天|周|号|点|分|小时|次|套|台|只|条|块|元|万|千|公里|米|斤|公斤|楼|层|"
    rf"张|倍|成|折|杯|颗|片|瓶|支|辆|室|居|本|节|门|份|顿|遍|趟|级|度|毫|克|升|页|行|版|期|位|名|家|间|项|轮|组)"
    r"|[a-z][a-z0-9]+"
)
_OWN_ZH: Final = re.compile(r"我|咱|家里|家在|公司|单位|老婆|老公|爸|妈|儿子|女儿|孩子|组里|团队|部门|客户|老板|同事")
_NOISE_EN: Final = re.compile(
    r"\b(?:error|errors|fail(?:s|ed|ing)?|crash\w*|exception|timeout|time(?:s|d) out|compil\w+|returns?|"
    r"returned|getting an?|broken|bugs?|stack ?trace|work(?:s|ed)? (?:now|fine|again|on my)|doesn't work|"
    r"lol|haha|no idea|this (?:is|was)|sounds|looks|makes sense|let me|let's see|"
    r"thank|thanks|sorry|good (?:point|idea|question)|hang out|that's (?:a lot|great|fine|it|my|what|why|how|not)|"
    r"can't believe|kidding|weather|raining|snowing|nice|awesome|cute|funny|weird|crazy|amazing|hurts?|"
    r"i (?:see(?! (?:my|a|an|the|dr)\b)|got it|know|guess|think|believe|mean|understand|hope|read|heard|saw that|"
    r"wonder)|"
    r"i (?:want|need|would like|have|'d like) to (?:sort|find|get|make|write|build a|parse|convert|print|know|ask|"
    r"see|do)|"
    r"(?:the |option |number |door |version )?(?:first|second|third|last|former|latter|other) (?:one|option|version|"
    r"draft)|"
    r"option \w\b|number \d|door \d|line \d|same (?:thing|result|error)|output|expected|permission|denied|left to|"
    r"(?:4\d\d|5\d\d) (?:on|from|error)|(?:shorter|longer|simpler)\b|(?:max |under )?\d+ (?:words|sentences|"
    r"characters|paragraphs)|"
    r"in (?:english|french|german|spanish|chinese|japanese|italian)$|agree|owe you|faster|slower|times? out|"
    r"got (?:cold|stuck|the same)|"
    r"been at (?:this|it)|(?:be|talk|see|speak) (?:back|to you|you|soon)|apparently|readme|docs? says?|dear\b|"
    r"regards|battery|"
    r"maybe|probably|perhaps|not sure|might|depends|thinking (?:of|about)|considering|whatever|minutes? left|boiling|"
    r"i'll (?:try|check|see|look|get back|let you|ask|think|do)|trying|restarted|"
    r"says?|said|thinks?|believes?|claims?|never mind|found it|we (?:lost|won)|dying|asking|calling|question|step|"
    r"you(?:'re| are| said| can| could| should| would| did| told| missed|"
    r" forgot)|your)\b|^(?:ugh|brb|wow|nah|hmm|meh|yay|omg|wait|wish)\b"
)
_NOISE_ZH: Final = re.compile(
    r"报错|失败|崩|超时|返回了|编译|卡住|跑不|不行了?$|死了|烦|哈哈|谢|辛苦|厉害|不错|有道理|听起来|看起来|"
    r"居然|竟然|原来|难怪|怪不得|真的假的|你(?!们公司)|您|这样|试试|看看|等等|等一?下|稍等|改天|回头|待会|"
    r"好(?:贵|看|吃|喝|玩|用|烦|难|多|棒|美|可爱|酷)|太.{1,4}了|就要|急$|吧$|是(?:一种|一门|指)|"
    r"第[一二三四五\d]+(?:个|版|行|种)|\d+号门|结果是|应该是|报\d|权限|缩短|\d+字|字以内|据说|同意|闹钟|提醒我|推荐|"
    r"尊敬的|"
    r"可能|也许|说不定|没准|看情况|看预算|还没定|在考虑|不一定|下一题|这道题|题目|"
    r"默认编码|的问题|第.步|结果|例子|"
    r"告诉我|做一份|打个?分|[输赢]了|星座|快了|慢了|搞定了|回来$|登机|文档|好了$|个亿|就走|弄了|跑了.{1,3}遍|还剩|"
    r"只剩.{0,6}电|度$|对比|像给|开始于|发生在|"
    r"还没(?:搞定|修|解决|弄|想好|定)|搞不定|^我?(?:想|要|需要)(?:用|把|给|让|问|知道|查|找)|^注意(?:一点|一下)?$|"
    r"没睡|睡不|在(?:排队|路上)|出生在|的首都|沸腾|(?:我|咱)?(?:觉得|感觉|认为|猜|估计|听说|看到|网上说)|^(?:把|帮|"
    r"给我|请|让|那|再|继续|先去)"
)
_TASK_EN: Final = re.compile(
    r"(?:please |pls |now |then |also |just |ok |okay |can you |could you )*(?:add|make|write|draw|plot|rename|"
    r"refactor|format|translate|summari[sz]e|rewrite|fix|explain|give|show|list|find|tell|draft|create|generate|"
    r"try|change|convert|compare|check|use|put|keep|remove|delete|replace|shorten|plan|suggest|recommend|help|"
    r"send|read|run|open|continue|go|do|set|update|move|skip|start|stop|look|think|imagine|forget|let|wait|see|"
    r"drop|split|sort|count|test|reply|answer|respond|say|call|ask|pick|choose|describe|turn|include|cut)\b"
)
_DANGLING_EN: Final = re.compile(
    r"(?:it|it's|that|that's|this|these|those|they|they're|he|he's|she|she's|which|there)\b"
)
_GENERAL_EN: Final = re.compile(
    r"(?:an? |the )?[\w' -]{2,40}? (?:is|are|was|were) (?:an? |the |one of |born |called |known |usually |"
    r"generally |considered |made of )|(?:an? )?[a-z]+ [a-z]+s at \d"
)
_HISTORY: Final = re.compile(r"(?<!\d)1[0-9]{3}(?!\d| ?(?:eur|usd|gbp|dollars|euros|pounds|a |per |incl|km|kg|k\b))")
LEAST_WORDS: Final = 4
"""Words of the shortest statement that is kept without a name or a number."""

_DEFINITE_EN: Final = re.compile(
    r"(?:[Tt]he|[Oo]ur|[Mm]y|[Tt]his|[Aa]ll|[Ee]very|[Ee]ach|[Nn]o) (?![A-Z][a-z]+ (?![A-Z]))|(?:prod|staging|repo|"
    r"office|budget|training|wifi)\b"
)
_IDENTIFIER: Final = re.compile(r"[a-z0-9]+(?:[._/@:-][a-z0-9]+)+|[a-z]{2,}\d")
_FINITE_EN: Final = re.compile(
    r"\b(?:is|are|was|were|am|will|has|have|had|can|can't|cannot|must|should|do|does|did|don't|doesn't|didn't|"
    r"won't|needs?|goes|go|takes?|gets?|got|wants?|runs?|lives?|stays?|starts?|ends?|owns?|leaves?|comes?|came|"
    r"makes?|made|costs?|keeps?|kept|sits?|uses?|works?|pays?|paid|went|told|took|gave|bought|\w{3,}ed)\b|"
    r"\w'(?:s|re|m|ve|d|ll)\b"
)
_PAST_EN: Final = re.compile(
    r"\b(?:was|were|took|went|fell|came|got|made|won|lost|said|has (?:\d|an?)|"
    r"(?<!was )(?<!were )(?<!is )(?<!are )(?<!be )(?!called|named|based|located)\w{3,}ed)\b(?! by\b| \w+ed\b)"
)
_CUES: Final[tuple[tuple[Category, re.Pattern[str]], ...]] = (
    (
        "constraint",
        re.compile(
            r"\b(?:must|never|only|up to|max(?:imum)?|at most|at least|capped|no more than|not allowed|can't|cannot|"
            r"nobody|limit(?:ed)?|rule|tops|forbidden|required|has to|have to|no)\b|"
            r"不能|只能|最多|至少|以内|不要|别|必须|不超过|不准|不许|禁止|只有|得(?=减|用|先|带|有)|限|不行"
        ),
    ),
    (
        "decision",
        re.compile(
            r"\b(?:instead of|rather than|(?:went|go|going|chose|picked|prefer\w*) .{1,30} over|decided|settled|"
            r"picked|chose|agreed|going with|went with)\b|"
            r"而不是|没选|选了|决定|定了|换成?|改用|不用"
        ),
    ),
    ("preference", re.compile(r"\b(?:prefer|like|love|hate|favou?rite|enjoy|stand)\b|喜欢|讨厌|爱|偏好|受不了|习惯")),
    (
        "relation",
        re.compile(
            r"\b(?:he|she|his|her|wife|husband|son|daughter|sister|brother|dad|mom|mum|grandma|grandpa)\b|"
            r"他|她|老婆|老公|儿子|女儿|爸|妈|姐|弟|妹|哥|爷爷|奶奶|孩子"
        ),
    ),
    (
        "goal",
        re.compile(r"\b(?:goal|okr|target|aim|hope to|plan to|want to|looking for)\b|目标|争取|希望|打算|计划|想"),
    ),
)


@dataclass(frozen=True, slots=True)
class Context:
    """What makes it likely that a turn tells something.

    Args:
        question: What the assistant has asked about the user's affairs, after the user has told something.
        seq: The turn of the question.
        denied: Whether the turn denies what the assistant said: what follows is how it really is.
        telling: Whether the user has stated something before.
        told: Whether the same turn has.
        followed_up: Whether the question follows up on what the user has told.
        fiction: Whether a text is being made up: what has no I in it is of that.
    """

    question: Clause | None = None
    seq: int = 0
    denied: bool = False
    telling: bool = False
    told: bool = False
    followed_up: bool = True
    fiction: bool = False

    @property
    def near(self) -> bool:
        """Whether the turn itself is known to tell something, or is asked to."""
        return self.told or self.denied or self.question is not None


def is_fragment(clause: Clause) -> bool:
    """Whether a clause has no finite verb, so that it completes what stands before it."""
    if clause.chinese:
        return len(clause.plain) <= 12 and not re.search(  # noqa: PLR2004 - a noun phrase
            r"[是在有要会用去来做说住叫开养吃喝买看学考过到给让把被]", clause.plain
        )
    return _FINITE_EN.search(clause.plain) is None


_HABIT_EN: Final = re.compile(
    r"(?:i|we)(?: always| usually| often| never| only| mostly| also| now| normally| generally| still| just)*"
    r"(?: (?:own|wear|keep|shop|support|play|ride|teach|visit|cook|eat|drink|grow|collect|sleep|study|train|"
    r"volunteer|prefer|speak|"
    r"carry|sing|sell|raise|paint|indent|follow|go to|have (?=[a-z]+ (?:hair|eyes|skin|teeth)\b))|(?:'re| are|'m| "
    r"am) (?:painting|"
    r"flying to|moving to|growing|raising|staying (?:at|with)|building)) "
    r"(?!to\b|it\b|this\b|that\b|you\b|no\b|any\b|some\b|along\b|with\b)[\w' -]{3,50}"
)
_HABIT_ZH: Final = re.compile(
    r"(?:我|我们|咱们?|俺)(?:现在|一般|平时|通常|主要|都|只|每天|习惯|每周|一直|常年|经常|早上|晚上)*"
    r"(?:吃(?!了|过|完)|喝(?!了|过|完)|主玩|玩(?!了|过)|养(?!了)|订的?|穿|戴|骑|教|带着?|支持|种|收藏|练|学(?!会|"
    r"校)|住|睡|是.{2,8}(?:的|者|迷|控)|点(?!了)|"
    r"在.{2,8}(?:买|剪|看|吃|上|学|练|做|修|洗|理|打|存|订)|留|用(?!了|这|那))[^,，你这那]{1,16}"
)


def is_habit(clause: Clause) -> bool:
    """Whether a clause tells in the present tense what the user has, wears or does, and is no comment."""
    plain = clause.plain
    if clause.chinese:
        return _HABIT_ZH.fullmatch(plain) is not None and _NOISE_ZH.search(plain) is None
    return _HABIT_EN.fullmatch(plain) is not None and _NOISE_EN.search(plain) is None


def is_notable(clause: Clause, *, has_time: bool, context: Context) -> bool:
    """Whether a clause is specific and somebody's own, as general knowledge and comments are not.

    Args:
        clause: That is no question, task, passing state or small talk.
        has_time: Whether it names a time.
        context: Of its turn.
    """
    if clause.chinese:
        return _is_notable_zh(clause, has_time=has_time, context=context)
    plain = clause.plain
    if _NOISE_EN.search(plain) or _TASK_EN.match(plain) or len(plain.split()) < 2:  # noqa: PLR2004
        return False
    if _DANGLING_EN.match(plain) and not context.denied:
        return False
    own = _OWN_EN.search(plain) is not None
    named = _NAME_EN.search(clause.text) is not None or _NAME_FIRST_EN.match(clause.text) is not None
    exact = has_time or _EXACT.search(plain) is not None
    if not own and _HISTORY.search(plain):
        return False
    strong = context.telling and category_of(clause, has_time=has_time) != "domain"
    if not own and not context.near and not _is_of_a_project(clause, strong=strong):
        return False
    telling = context.telling or context.near
    if not own and not exact and _GENERAL_EN.match(plain):
        return telling and (named or _FAMILY_EN.search(plain) is not None) and not re.match("[A-Z]", clause.text[:1])
    if not own and not telling and (_GENERAL_EN.match(plain) or is_fragment(clause)):
        return False
    somebodys = own or _FAMILY_EN.search(plain) is not None
    return exact or named or ((context.near or strong) and somebodys and len(plain.split()) >= LEAST_WORDS)


def _is_of_a_project(clause: Clause, *, strong: bool) -> bool:
    """Whether a statement without I or we in it is of what is ours: not what films, markets or the Romans did."""
    if _IDENTIFIER.search(clause.plain):
        return True
    ours = _FAMILY_EN.search(clause.plain) is not None or not _PAST_EN.search(clause.plain)
    return ours and (strong or _DEFINITE_EN.match(clause.text) is not None)


def _is_notable_zh(clause: Clause, *, has_time: bool, context: Context) -> bool:
    plain = clause.plain
    if _NOISE_ZH.search(plain) or len(plain) < 4:  # noqa: PLR2004 - 好的吧
        return False
    exact = has_time or _EXACT.search(plain) is not None or _EXACT_ZH.search(plain) is not None
    own = _OWN_ZH.search(plain) is not None
    strong = context.telling and category_of(clause, has_time=has_time) != "domain"
    if not own and not context.near and not _IDENTIFIER.search(plain) and not strong:
        return False
    if context.near or strong:
        return exact or (own and len(plain) > 5)  # noqa: PLR2004
    return exact and (own or has_time or context.telling)


def category_of(clause: Clause, *, has_time: bool) -> Category:
    """What a plain statement is about, by the words in it."""
    found = next((category for category, pattern in _CUES if pattern.search(clause.plain)), None)
    return found or ("event" if has_time else "domain")


def is_request(plain: str) -> bool:
    """Whether a folded English clause asks for something to be done, and is no statement."""
    return _TASK_EN.match(plain) is not None
