"""Chinese announcements of a change and what completes them: 换车了,现在开特斯拉; 项目改名了,叫玉衡."""

import re
from typing import Final

from app.domain.extraction.clauses import Clause
from app.domain.extraction.frames.chinese import filled, frame_of
from app.domain.extraction.frames.chinese_verbs import FRAMES
from app.domain.extraction.frames.frame import Frame
from app.domain.extraction.frames.nouns import HEADS, plain_noun
from app.domain.extraction.frames.values import cleaned
from app.domain.extraction.slots import key_of_name

_WHEN: Final = (
    r"(?:我们?|咱们?|家里?|公司|我家|最近|刚刚?|上周|上个?月|昨天|今天|前几天|这周|去年|今年|终于|又|"
    r"已经|也|都|给|把|现在|决定|打算|其实)*"
)
_END: Final = r"(?:了|啦|过了|掉了|的)*"
_ANNOUNCED: Final = (
    re.compile(
        rf"{_WHEN}(?:换|改|转|更换|调换|重换|新换|换掉|变更|新买|买|入手|升级|搬)"
        rf"了?(?:一?[个台辆部家份间条只套位])?(?:新的?)?(?P<noun>[^,了]{{1,6}}?){_END}"
    ),
    re.compile(
        rf"{_WHEN}(?P<noun>[^,换改]{{1,10}}?)(?:又|也|都|已经|刚刚?|临时|最近)*(?:换人|换|改|变|变更|变动|调整|"
        rf"更新|升级|重构|重写|改期|改签|改时间|换新|换掉|延期|推迟|提前|涨价?|降|搬|"
        rf"卖|丢|坏|续签|续约|到期){_END}"
    ),
)
_GONE: Final = re.compile(r"(?:卖|丢|送|扔)[^,]{0,2}$")
"""What is gone is no slot that changed: it names what did."""

_NAMED: Final = (
    re.compile(
        rf"{_WHEN}(?:给)?(?P<noun>[^,]{{1,8}}?)(?:又|也|已经|刚刚?)*(?:改|换|起|取)"
        rf"了?(?:一?个)?新?(?:的)?(?:名字?|新名){_END}"
    ),
)
_FIXED: Final = (
    (re.compile(rf"{_WHEN}(?:搬家|搬走|搬|搬离.{{1,5}}|不在.{{1,5}}住|不住.{{1,5}}|离开.{{1,5}}){_END}"), "家"),
    (
        re.compile(
            rf"{_WHEN}(?:换工作|跳槽|换公司|换单位|离职|辞职|换东家|从.{{1,8}}(?:离职|辞职|出来|走)|"
            rf"不在.{{1,8}}(?:上班|工作|干|做)?){_END}"
        ),
        "公司",
    ),
    (re.compile(rf"{_WHEN}(?:升职|转行|转岗|换岗|升|晋升|换岗位|改行|换职业){_END}"), "职位"),
    (re.compile(rf"{_WHEN}(?:换号码?|换手机号码?|换电话号?|换了号){_END}"), "号码"),
    (re.compile(rf"{_WHEN}转专业{_END}"), "专业"),
    (re.compile(r".{0,10}(?:房东).{0,4}(?:涨价|涨租|加价)了?"), "房租"),
    (re.compile(r".{0,10}(?:给|批|同意|申请|通知).{0,4}(?:延期|宽限)了?"), "截止日期"),
)
_IT: Final = re.compile(
    r"(?:它|他|她|新的|新|名字|现在|目前|如今|以后|时间|日期|号码|尾号|这次|就|已经|都|改|换|也|才|暂时|价格|"
    r"新名字?|新号码?|地址|的)*"
    r"(?P<how>改到|改成|改为|换成|换到|变成|挪到|推到|推迟到|提前到|延到|定在|安排在|叫做?|名叫|用的是|用的|用|"
    r"开的是|开|是|在|姓|为|到|去|做的是|做|学的是|学|玩|吃|喝|在看|在读|在追|看|读|追|考|拉|弹|打|听|住在|住|戴|教|订的是|订|穿|骑|支持|练|养|"
    r"找的是|找|买的是|买了|换了|换|选了|选的是|成了|尾号是|尾号)了?(?:一?[个台辆部款家])?(?P<value>[^,]+)"
)
_BARE: Final = re.compile(r"(?:现在|目前|以后)?(?P<value>[\w.+@-]{1,20})")
_LONGEST_BARE: Final = 16
"""Characters of a clause that is nothing but a value."""

_GIVEN_UP: Final = re.compile(
    rf"{_WHEN}(?:把)?(?P<before>[^,]{{2,10}}?)(?:已经)?(?:卖|扔|退|停|戒|弃|放弃|不学|不用|不玩|不吃|不喝|不练|"
    rf"不开|不做|不考|不拉|不弹|不打|看完|读完|追完|卸载|取消|退订)(?:掉)?了|"
    rf"{_WHEN}(?:不再?|没再)(?:学|用|玩|吃|喝|练|开|做|去|在|住|看|教|订|穿|戴|养|骑|支持|跑|点|拉|弹|打|考|听|坐)"
    rf"(?P<was>[^,]{{1,10}}?)(?:住|上班|工作)?了|"
    rf"{_WHEN}(?:卖|扔|退|停|戒|放弃|卸载|取消|退订)掉?了(?P<sold>[^,]{{2,10}})"
)


def announced(clause: Clause) -> str | None:
    """The noun of which a clause says that it has changed, but not into what; "NOUN的名字" where it got a name."""
    plain = clause.plain
    for pattern, noun in _FIXED:
        if pattern.fullmatch(plain) is not None:
            return noun
    for pattern in _NAMED:
        match = pattern.fullmatch(plain)
        if match is not None:
            return f"{plain_noun(match['noun'])}的名字"
    for pattern in _ANNOUNCED:
        match = pattern.fullmatch(plain)
        if (
            match is not None
            and (noun := plain_noun(match["noun"]))
            and (noun in HEADS or not _GONE.search(plain))
            and not re.match("[到成为吃学玩用做喝练看]|.*[我你他她它]", noun)
        ):
            return noun
    return None


def announced_at_once(clause: Clause) -> Frame | None:
    """A change that one clause announces and tells: 新地址:建设路22号."""
    match = re.fullmatch(
        r"(?:我们?的?)?新(?P<noun>[^,:是]{1,6})(?:是|:|,|换成|改成|叫) ?(?P<value>[^,]+)", clause.plain
    )
    if match is None or plain_noun(match["noun"]) not in HEADS:
        return None
    return filled(clause.plain, clause.text, match.span("value"), noun=match["noun"], change="replaces")


def given_up(clause: Clause) -> str | None:
    """What a clause says is over: what follows may take its place."""
    match = _GIVEN_UP.fullmatch(clause.plain)
    if match is None:
        return None
    name = next(name for name in ("before", "was", "sold") if match[name])
    return clause.text[slice(*match.span(name))]


def in_place_of(clause: Clause, before: str) -> Frame | None:
    """What a clause says is there instead of what was given up."""
    own = frame_of(clause)
    if own is not None:
        return Frame(own.key, own.value, own.category, "replaces", own.before or before)
    match = _IT.fullmatch(clause.plain)
    if match is None:
        return None
    value = cleaned(match["value"], clause.text[slice(*match.span("value"))], chinese=True)
    if value is None:
        return None
    key = key_of_name(value[0], of_a_project=clause.plain.startswith("我们")) or ""
    return Frame(key, value[1], "preference", "replaces", before)


def completed(clause: Clause, topic: str) -> Frame | None:
    """What a clause after an announcement says it has changed into."""
    plain, text = clause.plain, clause.text
    named = topic.endswith("的名字")
    noun = topic.removesuffix("的名字")
    own = frame_of(clause)
    generic = own is None or not own.key
    match = _IT.fullmatch(plain)
    if match is not None and (generic or not _verb_key(clause)):
        frame = filled(
            plain,
            text,
            match.span("value"),
            noun=noun,
            named=named or match["how"] in {"叫", "叫做", "名叫"},
            change="replaces",
        )
        if frame is not None:
            return frame
    if own is not None and own.key:
        return Frame(own.key, own.value, own.category, "replaces", own.before, own.firm)
    bare = _BARE.fullmatch(plain)
    if bare is None or len(plain) > _LONGEST_BARE:
        return None
    return filled(plain, text, bare.span("value"), noun=noun, named=named, change="replaces")


def _verb_key(clause: Clause) -> bool:
    """Whether a verb of the clause itself says which slot it fills."""
    return any(verb.pattern.fullmatch(clause.plain) is not None for verb in FRAMES)
