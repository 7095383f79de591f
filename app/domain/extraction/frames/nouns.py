"""Head nouns: which slot a noun phrase names. What no table has gets a key made of its own words."""

import re
from collections.abc import Mapping
from typing import Final

from app.domain.extraction.frames.values import Sort
from app.domain.extraction.slots import WHAT, favourite_key, key_of_name
from app.domain.keys import built_in

_TABLE: Final = {
    "user.city": "city|home city|home|house|住处|居住地|城市|住的地方|家|新家|所在地|常住地|定居地",
    "user.employer": "employer|company|workplace|job at|公司|单位|上班的地方|工作的地方|上班地点|东家|工作单位|雇主",
    "user.job": "job|role|position|title|job title|occupation|profession|career|职业|职位|岗位|工作|职务|头衔|行|行业",
    "user.manager": "manager|boss|supervisor|line manager|team lead|领导|老板|上司|主管|直属领导|经理|顶头上司",
    "user.phone": (
        "number|phone number|cell|cell number|mobile|mobile number|telephone|telephone number|contact number|电话|"
        "电话号码|手机号|手机号码|号码|号|联系电话|手机尾号|电话尾号|号码尾号|尾号|手机号尾号|联系方式"
    ),
    "user.phone_model": "phone|smartphone|cellphone|手机|手机型号",
    "user.email": "email|e-mail|mail|email address|mail address|邮箱|邮箱地址|电子邮箱|邮件地址|邮件",
    "user.address": (
        "address|home address|mailing address|shipping address|delivery address|postal address|地址|收货地址|家庭住址|"
        "住址|寄件地址|快递地址|通讯地址"
    ),
    "user.diet": "diet|饮食|饮食习惯|饮食方式",
    "user.nickname": "nickname|handle|昵称|外号|网名|称呼",
    "user.age": "age|年龄|岁数",
    "user.birthday": "birthday|date of birth|生日|出生日期",
    "user.timezone": "timezone|time zone|时区",
    "user.nationality": "nationality|citizenship|国籍",
    "user.school": "school|university|college|学校|大学",
    "user.major": "major|degree|course of study|field of study|专业",
    "user.team": "team|department|squad|组|小组|部门|团队",
    "user.gym": "gym|fitness club|fitness studio|健身房",
    "user.car": "car|vehicle|ride|车|座驾|汽车|私家车",
    "user.laptop": "laptop|notebook|笔记本|笔记本电脑|电脑本",
    "user.commute": "commute|way to work|通勤|通勤方式|上班方式",
    "user.training_goal": "training goal|race goal|running distance|race distance|target race|训练目标|备战目标|"
    "比赛目标",
    "user.weight": "weight|体重",
    "user.wake_up_time": "wake-up time|wakeup time|alarm|起床时间|闹钟",
    "user.bedtime": "bedtime|bed time|睡觉时间|就寝时间",
    "user.rent": "rent|monthly rent|房租|月租|租金",
    "user.bank": "bank|bank account|account|checking account|银行|工资卡|开户行",
    "user.plan": "plan|subscription|subscription plan|pricing plan|tier|套餐|版本套餐|订阅",
    "user.partner": "partner|wife|husband|spouse|girlfriend|boyfriend|fiance|fiancee|老婆|老公|对象|女朋友|男朋友|"
    "媳妇|妻子|丈夫",
    "user.coffee": "coffee|coffee order|usual coffee|咖啡",
    "user.marital_status": "marital status|relationship status|婚姻状况|感情状况",
    "preference.editor": "editor|ide|code editor|text editor|编辑器|代码编辑器",
    "preference.browser": "browser|web browser|浏览器",
    "preference.os": "os|operating system|操作系统|系统",
    "preference.shell": "shell|terminal shell",
    "project.name": "project|project name|项目|项目名|项目名称",
    "project.deadline": (
        "deadline|project deadline|due date|project due date|submission deadline|截止日期|截止时间|期限|项目截止日期|"
        "项目截止时间|项目期限|交付日期|交付时间|死线|ddl|项目的截止日期"
    ),
    "project.database": "database|db|project database|数据库|项目数据库",
    "project.owner": "project lead|project owner|project manager|lead of the project|项目负责人|负责人|项目经理",
    "project.repository": "repo|repository|代码仓库|仓库",
    "project.language": "project language|开发语言|项目语言",
}
HEADS: Final = {noun: key for key, nouns in _TABLE.items() for noun in nouns.split("|")}

_ANY: Final[frozenset[Sort]] = frozenset({"time", "number", "name", "phrase"})
_SORTS: Final[Mapping[str, frozenset[Sort]]] = {
    "plan": frozenset({"name"}),
    "home": frozenset({"name"}),
    "house": frozenset({"name"}),
    "家": frozenset({"name"}),
    "user.plan": frozenset({"name"}),
    "user.city": frozenset({"name", "phrase"}),
    "user.job": frozenset({"name", "phrase"}),
    "user.team": frozenset({"name", "phrase"}),
    "user.partner": frozenset({"name"}),
    "user.manager": frozenset({"name"}),
}
"""Sorts of values that a noun, or else its key, can have."""

_CARRIED: Final = frozenset({"user.car", "user.laptop", "user.phone_model"})
"""Things of which it is a passing state where they are."""

_TIMES: Final = frozenset({"project.deadline", "user.birthday", "user.wake_up_time", "user.bedtime", "user.timezone"})

ANIMALS: Final = (
    "dog|puppy|cat|kitten|parrot|hamster|rabbit|bunny|horse|pony|turtle|tortoise|goldfish|guinea pig|bird|budgie|pup|"
    "猫|狗|小狗|小猫|猫咪|狗狗|鹦鹉|仓鼠|兔子|乌龟|金毛|柯基|橘猫|布偶|马|鱼"
)
KIN: Final = (
    "son|daughter|kid|child|baby|brother|sister|friend|cousin|colleague|coworker|neighbour|neighbor|uncle|aunt|"
    "nephew|niece|mother|father|mom|mum|dad|parents|grandma|grandpa|grandmother|grandfather|teammate|"
    "儿子|女儿|孩子|娃|宝宝|哥哥|弟弟|姐姐|妹妹|哥|弟|姐|妹|朋友|同事|同学|邻居|表哥|表弟|表姐|表妹|爸|妈|爸爸|妈妈|"
    "爷爷|奶奶|外公|外婆|叔叔|阿姨|舅舅|姑姑|爸妈|父母|闺蜜|侄子|侄女"
)
_ANIMAL: Final = re.compile(rf"(?:{ANIMALS})$")
_KIN: Final = re.compile(rf"(?:{KIN})$")

_DROPPED_EN: Final = re.compile(
    r"(?:(?:new|current|main|usual|default|primary|own|actual|present|latest|final|next|updated|regular|official|"
    r"upcoming|whole|daily|planned|original|official|my|our|the|all[- ]time|personal)\s+)+(?=\S)"
)
_FAVOURITE_EN: Final = re.compile(
    r"(?:(?:new|current|absolute|all[- ]time) )*(?:favou?rite|fave?|preferred|go-to|best-loved) (?P<what>.+)"
)
_WEAK_EN: Final = re.compile(
    r"(?:.* )?(?:thing|things|idea|problem|question|issue|code|point|guess|error|bug|answer|reason|opinion|way|head|"
    r"back|life|day|week|weekend|weather|mistake|bad|fault|turn|pleasure|understanding|function|variable|file|image|"
    r"text|one|ones|result|results|output|story|joke|truth|fact|difference|best|rest|same|other|first|last|second|"
    r"sentence|paragraph|title|word|example|line|step|case|part|bit|lot|kind|sort|stuff|it|that|this|what|who|time|"
    r"mind|side|wish|hope|dream|feeling|mood|sun|sky|world|internet|word|news|trick|catch|deal|capital|hero|killer|"
    r"character|villain|chapter|scene|movie|film|article|book|song|video|show|test|script|snippet|loop|query|list|"
    r"array|string|table|column|row|index)$"
)
_WEAK_ZH: Final = re.compile(
    r".*(?:问题|东西|事|事情|意思|结果|答案|原因|方法|办法|想法|建议|代码|报错|错误|天气|心情|函数|变量|文件|图片|"
    r"文本|句子|"
    r"段落|标题|单词|例子|步|部分|种|样子|时候|有人|的人|主角|男主|女主|故事|小说|电影|文章|这|那|它|他|她|首都|"
    r"默认值|区别|重点|关键|好处|"
    r"坏处|优点|缺点|目的|话|前提|题)$"
)
_DROPPED_ZH: Final = re.compile(
    r"^(?:(?:用|戴|穿|开|住|去|背|吃|喝|看|玩|听|买|养|学|坐|抽|选|上|办|常去|常用|在用|在看)的(?=.)|现在|目前|"
    r"最近|今年|当前|新|平时|平常|一般|常|主要|用|去|那个|这个|的|家里|自己|了|还|也)+"
)
_SUFFIX_TIME: Final = re.compile(r"(?:\s(?:time|date|day|slot|schedule)|时间|日期|日程|的时间)$")
_SUFFIX_DEADLINE: Final = re.compile(
    r"(?:\s(?:deadline|due date|submission(?: date)?|submission deadline)|的?截止(?:日期|时间|日)?|的?交付(?:日期|"
    r"时间)|的?期限|的?ddl)$"
)
_SUFFIX_NAME: Final = re.compile(r"(?:(?:'s)?\s(?:name|nickname)|(?:的)?(?:名字|名称|姓名|小名|名))$")
_OF: Final = re.compile(r"(?P<head>[\w' -]+?) (?:for|of) (?:the |my |our )?(?P<of>[\w' -]+)$")
_PROJECT: Final = re.compile(
    r"(?:.* )?(?:port|database|db|backend|back-end|frontend|front-end|server|api|ci|budget|release|repo|deploy|"
    r"deployment|"
    r"version|sprint|service|app|application|website|site|staging|prod|production|cluster|pipeline|supplier|vendor|"
    r"launch|demo|milestone|branch|framework|stack|cache|queue|client|dashboard)$|"
    r".*(?:端口|后端|前端|服务器?|接口|预算|版本|仓库|部署|环境|框架|供应商|上线|发布|里程碑|客户端|缓存|队列|"
    r"网站|应用|平台)$"
)
_SINGULAR: Final = re.compile(r"(?<=[a-z]{2})(?<!s)(?<!u)(?<!i)s$")
_NOW_EN: Final = re.compile(r"(?<=\w) (?:these days|nowadays|at the moment|right now|currently|now)$")
MOST_WORDS: Final = 5
MOST_HAN: Final = 12
LONGEST_NOUN: Final = 3
"""Words of an English noun that stands for a thing of its own, where no table has it."""


def singular(phrase: str) -> str:
    """The phrase with its last word in the singular."""
    if phrase.endswith("ies"):
        return phrase[:-3] + "y"
    return _SINGULAR.sub("", phrase)


def is_animal(phrase: str) -> bool:
    """Whether the phrase ends with the word for an animal that people keep."""
    return _ANIMAL.search(phrase) is not None


def is_kin(phrase: str) -> bool:
    """Whether it ends with a person of whom one may have several: what is said of them is seldom a slot's value."""
    first = phrase.split(maxsplit=1)[0] if phrase else ""
    return _KIN.search(phrase) is not None or (first.isascii() and _KIN.fullmatch(first) is not None)


def plain_noun(phrase: str) -> str:
    """A folded noun phrase without possessors, and without words that do not tell which one is meant."""
    phrase = phrase.strip(" '\"“”「」《》,")
    if re.search("[\u3400-\u9fff]", phrase):
        phrase = re.sub(r"^(?:我们?|咱们?|俺|本人)(?:家的?|的|这边的?)?", "", phrase)
        phrase = _DROPPED_ZH.sub("", phrase) or phrase
        return re.sub(r"(?<=.)(?:现在|目前|最近|已经)$|\s", "", phrase)
    phrase = re.sub(r"^(?:my|our|the|a|an|your|this)\s+", "", phrase)
    return _DROPPED_EN.sub("", phrase).strip()


def written_in(key: str, value: str) -> str:
    """The key of what a part of a project is written in, where its value is a programming language."""
    language = key_of_name(value, of_a_project=False) == "preference.programming_language"
    return f"{key}_language" if language and key.startswith("project.") and "." not in key[8:] else key


def slot_of(phrase: str, sort: Sort, *, place: bool = False, named: bool = False) -> str | None:
    """The key of a noun phrase with a value of a sort; None where what it names is no slot.

    Args:
        phrase: Folded, with or without "my", "the", 我的.
        sort: Of the value.
        place: Whether the value is where something is.
        named: Whether the value is what something is called.
    """
    phrase = _NOW_EN.sub("", phrase.strip())
    favourite = _FAVOURITE_EN.match(re.sub(r"^(?:my|our)\s+", "", phrase))
    if favourite is not None:
        return favourite_key(singular(favourite["what"]))
    noun = plain_noun(phrase)
    favourite_zh = re.match(r"最(?:喜欢|爱|中意|常)(?P<verb>吃|喝|看|听|玩|用|读)?的(?P<what>.+)", noun)
    if favourite_zh is not None:
        return favourite_key(plain_noun(favourite_zh["what"]))
    noun = _of(noun)
    named = named or _SUFFIX_NAME.search(noun) is not None
    noun = _SUFFIX_NAME.sub("", noun)
    if not noun:
        return "user.name" if named else None
    if is_animal(noun):
        return f"user.{_joined(noun)}.name" if named or sort == "name" else None
    table = _of_table(noun, sort, place=place, named=named)
    if table is not None:
        return table or None
    if is_kin(noun):
        return None
    return _derived(noun, sort, named=named)


def _of(noun: str) -> str:
    """The budget for the wedding is the wedding budget."""
    of = _OF.match(noun)
    return f"{of['of']} {of['head']}" if of is not None else noun


def _of_table(noun: str, sort: Sort, *, place: bool, named: bool) -> str | None:
    """The table's key; "" where the noun is known but the value does not fit; None where the noun is not known."""
    key = HEADS.get(noun) or HEADS.get(singular(noun))
    if key is None:
        return None
    if key == "user.address":
        return key
    number = sort == "number"
    if key == "user.phone_model" and number:
        return "user.phone"
    if key == "project.name" and not named:
        return "project.deadline" if sort == "time" else ""
    if sort not in _SORTS.get(noun, _SORTS.get(key, _ANY)) or (place and key in _CARRIED):
        return ""
    return key if sort != "time" or key in _TIMES else f"user.{_joined(noun)}.time"


def _derived(noun: str, sort: Sort, *, named: bool) -> str | None:
    due = _SUFFIX_DEADLINE.search(noun) is not None
    noun = _SUFFIX_DEADLINE.sub("", noun)
    noun = _SUFFIX_TIME.sub("", noun) if sort == "time" else noun
    noun = WHAT.get(noun, noun)
    known = built_in(noun)
    if known is not None:
        return None if known.multi_valued else known.key
    han = re.search("[\u3400-\u9fff]", noun) is not None
    weak = (_WEAK_ZH if han else _WEAK_EN).match(noun) is not None
    too_long = len(noun) > MOST_HAN if han else len(noun.split()) > MOST_WORDS
    if not noun or weak or too_long or (not han and noun.endswith("s") and singular(noun) != noun and sort != "time"):
        return None
    owner = "project" if _PROJECT.match(noun) else "user"
    attribute = ".deadline" if due else ".time" if sort == "time" else ".name" if named else ""
    return f"{owner}.{_joined(noun)}{attribute}"


def _joined(noun: str) -> str:
    # 旅行的预算 is 旅行预算.
    words = re.sub(r"(?<=\w)'s?\b", " ", singular(noun).replace("的", "")).split()
    return "_".join(words)
