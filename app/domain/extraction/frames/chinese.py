"""Chinese sentences of the form 我的N是V, N改到V, V是我最喜欢的N, N用的是V."""

import re
from typing import Final

from app.domain.extraction.candidates import Change
from app.domain.extraction.clauses import Clause
from app.domain.extraction.frames.chinese_verbs import FRAMES
from app.domain.extraction.frames.frame import Frame
from app.domain.extraction.frames.nouns import HEADS, is_animal, is_kin, plain_noun, slot_of, written_in
from app.domain.extraction.frames.values import TIME, Sort, as_written, cleaned, sort_of
from app.domain.extraction.frames.verb_frame import VerbFrame, first_frame
from app.domain.extraction.slots import favourite_key, key_of_name
from app.domain.memory import Category

_NOW: Final = (
    r"(?:现在|目前|如今|已经|最近|今年|从.{1,4}(?:开始|起)|以后|暂时|一般|通常|平时|基本|还|都|就|也|又|刚刚?|才)*"
)
_OPENING: Final = r"(?:更正|更新|通知|注意|补充|修正|变更|更正一下|更新一下|说一下|跟你说一声|提醒一下)?(?:[:,， ])*"
_OWN: Final = r"(?P<own>我们?家?的?|咱们?家?的?|我们的|俺的?)?"
_NOUN: Final = r"(?P<noun>[^,是叫]{1,14}?)"
_COPULA: Final = re.compile(
    rf"{_OPENING}{_NOW}{_OWN}{_NOW}{_NOUN}{_NOW}(?P<how>是在|就是|是|叫做|名叫|叫|姓|定在|安排在|约在|放在|设在|"
    rf"排在|在|为|"
    rf"用的是|装的是|跑的是|选的是|用的|部署在|托管在|跑在|放到|存在|用|定为|每月|每周|每年|一个月|大概|要)"
    rf"(?P<adv>{_NOW})(?P<value>[^,]+)"
)
_TIME: Final = (
    r"(?=(?:上|下|这|本|每)*个?(?:周|星期|礼拜|月)[一二三四五六日天末底初]?|"
    r"[\d一二三四五六七八九十]+[月号日点:]|[明后]天|[月年]底|早上|上午|下午|晚上|中午)"
)
_BARE_NUMBER: Final = re.compile(
    rf"{_NOW}{_OWN}{_NOW}{_NOUN}{_NOW}(?P<value>[\d一二三四五六七八九十百]+(?:\.\d+)?(?:万|千|元|块|公斤|斤|平米?|"
    rf"度|k|%|个人|人|号)?[^,]{{0,4}})"
)
_SUBMIT: Final = re.compile(
    rf"{_NOW}(?P<own>我们?的?)?{_NOUN}{_NOW}(?:要在|得在|必须在|在|要|得)?(?P<value>{_TIME}[^,]*?(?:[日号]|"
    rf"周[一二三四五六日天]|月底|月初|年底|点)(?:半)?)(?:之前|以前|前)?"
    r"(?:就)?(?:要|得|必须)?(?P<how>截止|提交|交|到期|上线|发布|交付|交稿|答辩|开始|开会|出发|起飞|开|考|发车|"
    r"举行)(?:了)?"
)
_CHANGED: Final = re.compile(
    rf"{_OPENING}{_NOW}(?:我们?|咱们?)?{_NOW}(?P<took>把|将|给)?{_OWN}{_NOW}{_NOUN}{_NOW}(?:从(?P<before>[^,]+?)"
    rf")?(?:由)?"
    r"(?:又|要|被|可能|全部|都|也|临时|再)*(?P<verb>追加|放宽|缩短|压缩|扩大|扩|改约|重装|调高|调低|提高|续签|"
    r"改期|改签|改名|改|换|挪|搬|迁移?|推迟|延期|延后|延长|延|提前|调整|调|转|升级|升|涨价?|降|砍|加|减|缩|"
    r"增加|提高|变更|变|更新|顺延|切换|切|移|重构|重写|定|跳|推|提)(?:到|成|为|至|去|回|叫|进|用)"
    r"(?:了)?(?P<value>[^,]+)"
)
_WRITTEN: Final = re.compile(
    rf"{_NOW}{_OWN}{_NOUN}{_NOW}(?:是用|是|用|改用|换|拿){_NOW}(?P<value>[^,]{{1,14}}?)(?:来)?(?:重写|改写|写|"
    rf"开发|实现|搭建|搭)(?:的|了|成)*"
)
_RENAMED: Final = re.compile(
    rf"{_NOW}{_OWN}{_NOUN}{_NOW}(?:(?:改名|更名|改)叫做?|(?:改名|更名)(?:为|成))了?(?P<value>[^,]+)"
)
_REVERSED: Final = re.compile(
    rf"{_NOW}(?P<value>[^,我]{{1,16}}?){_NOW}(?:是|成了|变成了?){_NOW}(?P<own>我们?家?的?|咱们?的?)"
    rf"(?P<noun>[^,]{{1,12}})"
)
_SWITCHED: Final = re.compile(
    r"(?:我们?|咱们?)?(?:现在|最近|已经|又|也|都|刚刚?|把.{1,10}?|从(?P<before>[^,]+?))*(?:改用|换成|换到|换用|"
    r"改成|切到|切换到|转到|换了|改(?P<verb>[学玩吃喝练看做读弹追])|"
    r"迁到|迁移到|转用|转向|转学)了?(?:一?[个台辆部款]|用)?(?P<value>[^,]+?)(?:写代码|上班|编程|开发)?(?:了|啦)*"
)
_CHANGE_WORDS: Final = re.compile(
    r"现在|如今|目前|新|改|换|搬|转|调|升|降|涨|推迟|提前|延|挪|不再|变|更正|更新|以后|从今|这阵子|眼下|今后|"
    r"上个?月|刚|已经"
)
_EVENT: Final = re.compile(
    r".*(?:会|课|会议|例会|周会|晨会|班|航班|火车|高铁|考试|面试|聚会|聚餐|婚礼|比赛|评审|答辩|预约|体检|复诊|"
    r"看牙|训练|培训|讲座|论文|报告|标书|版本|上线|发布|截止|作业|方案|合同|签约|手术|演出|飞机|派对|团建|项目|"
    r"稿子|时间|日期)$"
)
_THING: Final = re.compile(
    r".*(?:ci|api|后端|前端|后台|服务|服务器|数据库|接口|端口|预算|房租|项目|版本|仓库|缓存|队列|网站|系统|框架|"
    r"供应商|工位|会议室|教室|办公室|密码|编号|套餐|负责人|"
    r"薪|工资|薪水|收入|身高|血型|鞋码|尺码|工号|学号|柜|费|价|租|额|时长|频率|人数|"
    r"[a-z]{2,12})$"
)
_BAD_VALUE: Final = re.compile(
    r"(?:很|太|非常|特别|真|有点|挺|比较|不(?!加|放|吃|喝|要)|没|这样|那样|什么|怎么|因为|为了|最|超(?!市|级)|"
    r"好(?!利来)|对的?$|错|假|真的|我的$|你|一样|问题|可以|能|会|想|要(?!求)|正|"
    r"一[种门类个款套](?!月)|指|的$|家$|这|那|谁|哪|多少|几)"
)
_BAD_NOUN: Final = re.compile(
    r"(?:现在?|目前|如今|已经|最近|今年|去年|明年|以后|暂时|一般|通常|平时)+$|\d|[一二三四五六七八九十]+月|会$|"
    r".*(?:说|想|觉得).+|.*(?:我|你|他|她|它|们|这|那|谁|什么|不|没|想|能|要|可以|觉得|认为|如果|因为|所以|但|就|才|只|最好|还|都|很|"
    r"说|问|告诉|请|让|给|从|把|被|里|边|上次|时候|地方|写|说|讲|画|买|太.{1,2}|原因|今天|明天|昨天)$|"
    r"^改[到成为]?$|^(?:从|换|想|如果|因为|所以|但是|其实|今天|明天|昨天|这|那|你|他|她|它|谁|请|别|不|没|让|帮|给|原来|改成|改到|改为|"
    r"换成|换到|可能|应该|一个|有|把|对|比如|例如|虽然)"
)
_LONGEST_NAME: Final = 6
"""Characters of a person's name."""

_LONGEST_VALUE: Final = 20
"""Characters behind 是 and the like; what is longer is a sentence."""


def frame_of(clause: Clause) -> Frame | None:
    """What a clause says fills which slot; None where its form does not tell."""
    plain, text = clause.plain, clause.text
    for found in (_by_verb, _written, _renamed, _changed, _submit, _copula, _bare_number, _reversed, _switched):
        frame = found(plain, text)
        if frame is not None:
            return frame
    return None


def cue_of(plain: str) -> Change | None:
    """Whether the words of a clause say that something is new."""
    return "replaces" if _CHANGE_WORDS.search(plain) is not None else None


def category_of(key: str) -> Category:
    """What a memory of a slot is about."""
    if key.startswith("project."):
        return "project"
    if key.startswith(("preference.", "user.favourite")):
        return "preference"
    return "event" if key.endswith((".time", ".deadline")) else "identity"


def filled(
    plain: str,
    text: str,
    span: tuple[int, int],
    *,
    noun: str,
    named: bool = False,
    change: Change | None = None,
    before: str | None = None,
    firm: bool = True,
) -> Frame | None:
    """The frame of a noun with the value at a place."""
    value = cleaned(plain[slice(*span)], text[slice(*span)], chinese=True)
    if value is None:
        return None
    sort = sort_of(*value)
    key = slot_of(noun, sort, named=named)
    if key is None:
        return None
    key = written_in(key, value[0])
    return Frame(key, value[1], category_of(key), change or cue_of(plain), before, firm)


def _by_verb(plain: str, text: str) -> Frame | None:
    return first_frame(FRAMES, plain, lambda verb, match: _verb_frame(verb, match, plain, text))


def _verb_frame(verb: VerbFrame, match: "re.Match[str]", plain: str, text: str) -> Frame | None:
    value = cleaned(plain[slice(*match.span("value"))], text[slice(*match.span("value"))], chinese=True)
    noun = match.groupdict().get("noun")
    if value is None or (_BAD_VALUE.match(value[0]) and verb.key != "user.{noun}"):
        return None
    key = _key_of(verb.key, noun or "", value[0])
    if key is None:
        return None
    change = verb.change or cue_of(plain)
    if key.startswith("habit.") and re.search("改|换|转", plain) is None:
        change = None if change is None else "adds"
    return Frame(key, value[1], verb.category, change, as_written(text, match, "before"), verb.firm)


def _key_of(template: str, noun: str, plain: str) -> str | None:
    if template == "{name}":
        return key_of_name(plain, of_a_project=False)
    if template == "favourite.{slot}":
        return favourite_key({"吃": "食物", "喝": "饮料"}.get(noun, noun))
    if template == "{slot}.owner":
        head = plain_noun(noun)
        if _BAD_NOUN.match(head) or len(plain) > _LONGEST_NAME or re.search(r"[\d的了]", plain):
            return None
        return "project.owner" if head in {"项目", "整个项目"} else f"project.{head}.owner"
    if template == "{event}":
        return slot_of(noun, "time")
    if template.startswith("{kin}"):
        return f"user.{plain_noun(noun)}{template.removeprefix('{kin}')}"
    return template.replace("{noun}", noun)


def _written(plain: str, text: str) -> Frame | None:
    match = _WRITTEN.fullmatch(plain)
    noun = "" if match is None else plain_noun(match["noun"])
    if match is None or _is_no_noun(match["noun"]) or not (match["own"] or _THING.match(noun)):
        return None
    return filled(plain, text, match.span("value"), noun=noun, firm=_THING.match(noun) is not None)


def _renamed(plain: str, text: str) -> Frame | None:
    match = _RENAMED.fullmatch(plain)
    if match is None or _BAD_NOUN.match(match["noun"]):
        return None
    noun = plain_noun(match["noun"])
    known = noun in HEADS or is_animal(noun)
    if not known:
        value = cleaned(match["value"], text[slice(*match.span("value"))], chinese=True)
        before = text[slice(*match.span("noun"))]
        return None if value is None else Frame("", value[1], "other", "replaces", before)
    return filled(plain, text, match.span("value"), noun=noun, named=True, change="replaces")


def _changed(plain: str, text: str) -> Frame | None:
    match = _CHANGED.fullmatch(plain)
    if match is None or _is_no_noun(match["noun"]):
        return None
    before, noun = as_written(text, match, "before"), plain_noun(match["noun"])
    if match["took"] and not _names_a_slot(noun):
        value = cleaned(match["value"], text[slice(*match.span("value"))], chinese=True)
        key = key_of_name(match["value"], of_a_project=plain.startswith(("我们", "咱们"))) or ""
        return (
            None
            if value is None
            else Frame(key, value[1], "project", "replaces", text[slice(*match.span("noun"))].strip())
        )
    return filled(plain, text, match.span("value"), noun=noun, change="replaces", before=before)


def _names_a_slot(noun: str) -> bool:
    """Whether a noun says what is changed, and not what gives way."""
    latin = re.fullmatch(r"[a-z][\w.+# -]*", noun) is not None and noun not in {"ci", "api"}
    known = noun in HEADS or _THING.match(noun) is not None or _EVENT.match(noun) is not None
    return not latin and (known or "的" in noun or is_animal(noun))


def _is_no_noun(noun: str) -> bool:
    return (
        TIME.match(noun) is not None
        or _BAD_NOUN.match(noun) is not None
        or re.fullmatch(r"[我们咱家的]+", noun) is not None
    )


_BEGINS: Final = frozenset({"开", "考", "开始", "开会", "起飞", "出发", "发车", "举行"})


def _submit(plain: str, text: str) -> Frame | None:
    match = _SUBMIT.fullmatch(plain)
    if match is None or _is_no_noun(match["noun"]):
        return None
    if match["how"] in {"截止", "提交", "交", "到期", "交付", "交稿"}:
        value = cleaned(match["value"], text[slice(*match.span("value"))], chinese=True)
        key = slot_of(f"{plain_noun(match['noun'])}截止日期", "time")
        return None if value is None or key is None else Frame(key, value[1], "project", cue_of(plain))
    noun = match["noun"] if match["how"] in _BEGINS else f"{plain_noun(match['noun'])}{match['how']}"
    return filled(plain, text, match.span("value"), noun=noun)


def _copula(plain: str, text: str) -> Frame | None:
    match = _COPULA.fullmatch(plain)
    if match is None or _is_no_noun(match["noun"]):
        return None
    how, noun, own = match["how"], plain_noun(match["noun"]), match["own"] is not None
    value = cleaned(match["value"], text[slice(*match.span("value"))], chinese=True)
    if value is None or _BAD_VALUE.match(value[0]) or len(value[0]) > _LONGEST_VALUE:
        return None
    named, sort = how in {"叫", "名叫", "叫做"}, sort_of(*value)
    if not _fits(noun, how, sort, own=own, named=named):
        return None
    firm = (
        own
        or (named and is_animal(noun))
        or (noun in HEADS and (sort in {"time", "number"} or cue_of(plain) is not None or named))
    )
    return filled(plain, text, match.span("value"), noun=noun, named=named, firm=firm)


def _fits(noun: str, how: str, sort: Sort, *, own: bool, named: bool) -> bool:
    """Whether a value behind this verb says what something is, not how it is."""
    known = noun in HEADS or re.match("最(?:喜欢|爱|常)", noun) is not None
    if is_kin(noun) and not named:
        return False
    if how in {"在", "是在", "放在", "设在"} and sort != "time":
        return own and (known or _THING.match(noun) is not None) and noun not in {"手机", "电脑", "车", "笔记本"}
    if how in {"用", "用的", "要", "大概", "为", "每月", "每周", "每年", "一个月", "存在", "放到"}:
        return sort in {"number", "time"} or (how.startswith("用") and _THING.match(noun) is not None)
    if sort == "time":
        return own or known or _EVENT.match(noun) is not None
    return own or known or named or _THING.match(noun) is not None or "的" in noun


def _bare_number(plain: str, text: str) -> Frame | None:
    match = _BARE_NUMBER.fullmatch(plain)
    if match is None or _is_no_noun(match["noun"]) or is_kin(plain_noun(match["noun"])):
        return None
    noun = plain_noun(match["noun"])
    if noun.isascii() or (noun not in HEADS and not _THING.match(noun) and not _EVENT.match(noun)):
        return None
    return filled(plain, text, match.span("value"), noun=noun)


def _reversed(plain: str, text: str) -> Frame | None:
    match = _REVERSED.fullmatch(plain)
    if match is None:
        return None
    noun = plain_noun(match["noun"])
    known = noun in HEADS or re.match("最(?:喜欢|爱|常)", noun) is not None
    if not known or _BAD_NOUN.match(match["value"]):
        return None
    return filled(plain, text, match.span("value"), noun=noun)


def _switched(plain: str, text: str) -> Frame | None:
    match = _SWITCHED.fullmatch(plain)
    if match is None:
        return None
    value = cleaned(match["value"], text[slice(*match.span("value"))], chinese=True)
    if value is None or sort_of(*value) == "time" or _BAD_VALUE.match(value[0]):
        return None
    key = key_of_name(value[0], of_a_project=plain.startswith(("我们", "咱们"))) or ""
    if match["verb"] in {"玩", "练", "弹", "追", "看", "读"}:
        key = f"habit.{match['verb']}"
    before = match["before"]
    return Frame(key, value[1], "preference", "replaces", before, firm=bool(key or before))
