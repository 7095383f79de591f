"""Words and values that mean the same in what is said of users, and words that mean the opposite."""

from typing import Final

from app.core.text.stemming import stem

# The first of each line stands for all. English words are stems' sources: they are stemmed before they are looked up.
_WORDS: Final = """
like love enjoy adore prefer favour favor fond
answer reply response respond
short brief concise terse succinct
detailed thorough elaborate lengthy
live reside residence dwell based home
name called
work employed job
buy purchase bought
allergic allergy
go went gone goes going
eat ate eaten
drink drank drunk
have has got own owns owned
speak spoke spoken
write wrote written
run ran
begin start began begun
big large
small little
car automobile
phone telephone cellphone mobile
film movie
holiday vacation
photo picture photograph
flat apartment
db database
deploy release ship rollout
meeting appointment
vegetarian veggie
morning mornings
evening evenings
deadline due
born birthday
fear afraid scared
smoke smoking smoker
use using uses used utilise utilize
every each
每天 天天 每日
早上 早晨 清晨 上午
晚上 夜里 夜间 夜晚
住 居住 住在 定居
喜欢 喜爱 爱 偏爱 偏好 钟爱 热爱 爱好 更喜欢 中意
回答 回复 答复 应答 回应
简短 简洁 简明 简练 短
详细 详尽 具体
吃素 素食 素食者 素食主义者 素食主义
工作 上班 任职 就职 供职 单位
叫 名叫 叫做 名字 名为 叫作
购买 买 买了
发版 发布 上线 部署
截止日期 期限 截止 截止期 截止时间
手机 电话
使用 用 采用
开会 会议 会
中文 汉语 普通话 国语
英文 英语
从事 做
每周 每星期 每个星期
有 养
害怕 怕 恐惧
懂 会
烟 抽烟 吸烟 戒烟
酒 喝酒 戒酒
"""

_VALUES: Final = """
new york|new york city|nyc|ny|纽约|纽约市
los angeles|la|洛杉矶
san francisco|sf|san fran|旧金山|三藩市
washington|washington dc|dc
london|伦敦
paris|巴黎
berlin|柏林
tokyo|东京
singapore|新加坡
united states|usa|us|u s a|united states of america|america|美国
united kingdom|uk|great britain|britain|英国
germany|deutschland|德国
china|prc|people s republic of china|中国
beijing|peking|北京|帝都
shanghai|上海|魔都
guangzhou|canton|广州|羊城
shenzhen|深圳|鹏城
hangzhou|杭州
hong kong|hk|香港
postgresql|postgres|pg|psql
mongodb|mongo
kubernetes|k8s
javascript|js
typescript|ts
python|py
golang|go
c sharp|c#
neovim|nvim
visual studio code|vscode|vs code
intellij|intellij idea|idea
macos|mac os|os x|osx|mac
windows|win|microsoft windows
google chrome|chrome
microsoft edge|edge
powershell|pwsh
english|英语|英文
chinese|中文|汉语|mandarin|普通话
german|deutsch|德语|德文
japanese|日语|日文
french|法语|法文
google|谷歌
microsoft|微软|msft
apple|苹果
amazon|aws|亚马逊
facebook|meta|脸书
alibaba|阿里巴巴|阿里
tencent|腾讯|鹅厂
bytedance|字节跳动|字节
baidu|百度
北京大学|北大|peking university
清华大学|清华|tsinghua university|tsinghua
复旦大学|复旦|fudan university
浙江大学|浙大
上海交通大学|上海交大|交大
南京大学|南大
武汉大学|武大
中山大学|中大
中国人民大学|人民大学|人大
中国科学技术大学|中科大|科大
哈尔滨工业大学|哈工大
北京师范大学|北师大
华东师范大学|华师大
massachusetts institute of technology|mit|麻省理工|麻省理工学院
vegetarian|veggie|素食|吃素|素食者|素食主义
vegan|纯素|全素
male|man|男|男性|男的
female|woman|女|女性|女的
yes|true|是
no|false|否
short|brief|concise|terse|succinct|简短|简洁|简明
detailed|thorough|详细|详尽
utc|gmt
"""

_OPPOSITES: Final = """
short detailed
short long
early late
light dark
hot cold
warm cold
morning evening
before after
formal informal
formal casual
简短 详细
早 晚
早上 晚上
深色 浅色
深色 亮色
热 冷
热 冰
正式 随意
之前 之后
"""


def _pairs() -> dict[str, str]:
    return {other: line.split()[0] for line in _WORDS.splitlines() for other in line.split()[1:]}


WORDS: Final = _pairs()
"""Each word to the one that stands for it and its like."""

VALUES: Final = {name: line.split("|")[0] for line in _VALUES.splitlines() for name in line.split("|")}
"""Each spelling of a value, in small letters, simplified and without punctuation, to the one that stands for it."""

OPPOSITES: Final = frozenset(
    frozenset(stem(WORDS.get(word, word)) for word in line.split()) for line in _OPPOSITES.splitlines() if line
)
"""Pairs of words that exclude each other, as `Meaning.words` has them."""

FUNCTIONAL: Final = frozenset({"live", "name", "born", "deadlin", "住", "叫", "出生", "截止日期"})
"""Words (as stems) of which everybody has one value: where one lives, what one is called."""

GENERIC: Final = frozenset(
    """
    like want use have go work get make take need do be say keep try play love time thing day week month year new
    喜欢 想 用 使用 有 养 去 工作 要 做 说 是 会 能 到 时间 东西 每天 每周 每月 每年 新
    """.split()  # noqa: SIM905 - words
)
"""Words that say of any two statements too little to tell that they are about one thing."""

OF_ENDINGS: Final = frozenset(
    """
    stop quit given up cancel lift end give gave drop away pass die die finish rule polici habit abolish revok withdrawn
    scrap expir final complet altogeth sold left resign decid
    off fell fall through happen ahead 泡汤 黄 退 去不成 办不成 不成
    取消 规定 规矩 停止 停用 戒 戒掉 放弃 结束 作废 废除 解除 撤销 失效 习惯 再 再也 卖 掉 彻底 完全 已经
    """.split()  # noqa: SIM905 - words
)
"""Words (as stems) with which something is said to be over, beside what is over."""

OCCASIONS: Final = tuple(
    frozenset(line.split())
    for line in """
    fli flight trip travel journey holiday vacat train visit go 飞 飞去 航班 行程 那趟 趟 旅行 旅游 机票 车票 出差 去
    dinner lunch breakfast brunch meal eat 吃 饭 吃饭 饭局 聚餐 晚饭 午饭 晚餐 午餐 饭 请客
    meet appoint call talk session see 见 见面 会面 会 开会 会议 约 预约 约会 碰头
    parti birthday celebr 派对 聚会 生日会 庆祝
    """.strip().splitlines()
)
"""Words (as stems) for one sort of what is planned for a day: who cancels a trip to Rome does not fly there."""

OF_TIMES: Final = frozenset(
    """
    next week month tomorrow morn even night afternoon weekend noon
    下个月 这个月 本月 下周 这周 本周 周末 明天 后天 号 日 点 早上 上午 中午 下午 晚上 明晚 今晚
    """.split()  # noqa: SIM905 - words
)
"""Words (as stems) that say when, beside dates."""

OF_USE: Final = frozenset(
    {"use", "work", "have", "take", "go", "live", "run", "be", "使用", "用", "有", "工作", "住", "去"}
)
"""Verbs (as stems) that a change from one thing to another ends, whichever of them was said."""

LIGHT: Final = frozenset("get take need make go date time done 要 需要 去 有 进行 家 家里 做 懂 监听".split())  # noqa: SIM905 - words
"""Words (as stems) that one may leave out of a sentence, and it still says the same."""
