"""Long conversations in both languages, seeded: an early constraint, a fact that changes, details among small talk."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

Message = dict[str, Any]


@dataclass(frozen=True)
class Detail:
    """Something that is said once, and a question whose answer has these words."""

    said: str
    question: str
    answer: str


@dataclass(frozen=True)
class Conversation:
    """A session's messages, and what must be found again.

    `values` are the words of the fact that changes, the newest last.
    """

    messages: list[Message]
    constraint: str
    values: tuple[str, ...]
    fact_question: str
    details: list[Detail]
    small_talk: str


_EN: Final = (
    ("The invoice number of the roof repair is {n}.", "What is the invoice number of the roof repair?", "{n}"),
    ("My dentist is Dr. {name}.", "Who is my dentist?", "{name}"),
    ("Our cat {name} is allergic to chicken.", "What is our cat allergic to?", "chicken"),
    ("I parked the car on level {n} of the station garage.", "On which level did I park the car?", "{n}"),
    ("The wifi at the cabin is called {name}.", "How is the wifi at the cabin called?", "{name}"),
    ("My sister {name} works as a glassblower.", "What does my sister work as?", "glassblower"),
    ("The plumber comes on {day}.", "When does the plumber come?", "{day}"),
    ("We decided to paint the kitchen {colour}.", "Which colour will the kitchen have?", "{colour}"),
    ("The gym locker has the number {n}.", "Which number has my gym locker?", "{n}"),
    ("I ordered {n} bricks for the garden wall.", "How many bricks did I order?", "{n}"),
    ("My flight to Bergen is {code}.", "Which flight do I take to Bergen?", "{code}"),
    ("The landlord's name is {name}.", "What is the landlord's name?", "{name}"),
    ("Grandma's recipe needs {n} grams of cardamom.", "How much cardamom does grandma's recipe need?", "{n}"),
    ("The staging server is called {name}.", "What is the staging server called?", "{name}"),
    ("The book club meets at the {place}.", "Where does the book club meet?", "{place}"),
    ("I lent the ladder to {name}.", "To whom did I lend the ladder?", "{name}"),
    ("The violin teacher charges {n} crowns a lesson.", "What does the violin teacher charge?", "{n}"),
    ("The heating oil tank holds {n} litres.", "How much does the heating oil tank hold?", "{n}"),
    ("Our anniversary dinner is booked at {place}.", "Where is our anniversary dinner booked?", "{place}"),
    ("The passport of my son expires in {year}.", "When does my son's passport expire?", "{year}"),
)
_ZH: Final = (
    ("屋顶维修的发票号是{n}。", "屋顶维修的发票号是多少?", "{n}"),
    ("我的牙医是{name}。", "我的牙医是谁?", "{name}"),
    ("我们家的猫对鸡肉过敏。", "我们家的猫对什么过敏?", "鸡肉"),
    ("车停在车站车库的{n}层。", "车停在车库的几层?", "{n}"),
    ("小木屋的无线网叫{code}。", "小木屋的无线网叫什么?", "{code}"),
    ("我姐姐是吹玻璃的工匠。", "我姐姐做什么工作?", "玻璃"),
    ("水管工{day}上门。", "水管工什么时候上门?", "{day}"),
    ("我们决定把厨房刷成{colour}。", "厨房要刷成什么颜色?", "{colour}"),
    ("健身房储物柜是{n}号。", "健身房储物柜是几号?", "{n}"),
    ("我为花园围墙订了{n}块砖。", "花园围墙订了多少块砖?", "{n}"),
    ("去卑尔根的航班是{code}。", "去卑尔根坐哪个航班?", "{code}"),
    ("房东叫{name}。", "房东叫什么名字?", "{name}"),
    ("外婆的食谱要放{n}克豆蔻。", "外婆的食谱要放多少豆蔻?", "{n}"),
    ("预发布服务器的名字是{code}。", "预发布服务器的名字是什么?", "{code}"),
    ("读书会在{place}聚会。", "读书会在哪里聚会?", "{place}"),
    ("梯子借给了{name}。", "梯子借给了谁?", "{name}"),
    ("小提琴老师一节课收{n}克朗。", "小提琴老师一节课收多少钱?", "{n}"),
    ("燃油罐能装{n}升。", "燃油罐能装多少升?", "{n}"),
    ("结婚纪念日的晚餐订在{place}。", "结婚纪念日的晚餐订在哪里?", "{place}"),
    ("儿子的护照{year}年到期。", "儿子的护照哪年到期?", "{year}"),
)
_FILL: Final[dict[str, dict[str, Sequence[str]]]] = {
    "en": {
        "name": ["Ottoline", "Bartholdy", "Kessler", "Vandermeer", "Quillon", "Marchetti", "Osterberg", "Lindqvist"],
        "day": ["Tuesday", "Thursday", "Saturday"],
        "colour": ["turquoise", "ochre", "lavender", "maroon"],
        "place": ["the Old Mill", "Café Sperling", "the Harbour Library", "Villa Cypress"],
    },
    "zh": {
        "name": ["欧阳清", "司马朗", "慕容雪", "贺兰山", "端木晴", "上官云", "诸葛宁", "令狐远"],
        "day": ["星期二", "星期四", "星期六"],
        "colour": ["天蓝色", "赭石色", "薰衣草色", "酒红色"],
        "place": ["老磨坊", "麻雀咖啡馆", "海港图书馆", "柏树别墅"],
    },
}
_CHATTER: Final = {
    "en": [
        ("Did you see the sunset yesterday?", "I can't see, but it sounds lovely."),
        ("I'm a bit tired today.", "Take a short break, then."),
        ("Tell me a joke about owls.", "Owl be seeing you later."),
        ("How do people usually store onions?", "In a dry and dark place with some air."),
        ("Thanks, that helps.", "You are welcome."),
        ("What rhymes with winter?", "Splinter, printer and sprinter do."),
        ("It rained all morning here.", "A good day to stay inside."),
        ("Can you explain why the sky is blue?", "Short waves of light are scattered the most by the air."),
        ("I might read something tonight.", "That sounds like a calm evening."),
        ("Is it true that bees dance?", "They do, to tell each other where food is."),
    ],
    "zh": [
        ("昨天的晚霞你看到了吗?", "我看不见,不过听起来很美。"),
        ("我今天有点累。", "那就休息一会儿吧。"),
        ("讲个关于猫头鹰的笑话。", "猫头鹰说:晚点见。"),
        ("洋葱一般怎么保存?", "放在干燥、阴凉、通风的地方。"),
        ("谢谢,有帮助。", "不客气。"),
        ("什么词和冬天押韵?", "春天和夏天都押韵。"),
        ("这边下了一上午的雨。", "适合待在家里。"),
        ("天空为什么是蓝色的?", "短波的光被空气散射得最多。"),
        ("今晚也许会看点书。", "听起来是个安静的晚上。"),
        ("蜜蜂真的会跳舞吗?", "会,用来告诉同伴哪里有食物。"),
    ],
}
_CONSTRAINT: Final = {
    "en": ("Please never book anything before nine in the morning.", "never book anything before nine"),
    "zh": ("以后请绝对不要安排早上九点以前的事情。", "不要安排早上九点以前的事情"),
}
_CHANGES: Final = {
    "en": (
        "The budget for the kitchen is 4100 euros.",
        "We raised the budget for the kitchen to 5200 euros.",
        "The budget for the kitchen is now 6300 euros.",
        "Actually the kitchen budget changed to 7400 euros.",
    ),
    "zh": (
        "厨房的预算是4100欧元。",
        "厨房预算提高到5200欧元。",
        "厨房的预算现在是6300欧元。",
        "厨房预算改成7400欧元了。",
    ),
}
_VALUES: Final = ("4100", "5200", "6300", "7400")
_NOTED: Final = {"en": "All right, I have noted that.", "zh": "好的,我记下了。"}


def conversation(language: str, count: int, seed: int = 6) -> Conversation:
    """A session of `count` messages, user and assistant in turn."""
    chance = random.Random(seed)
    details = _details(language, chance)
    changes = _CHANGES[language]
    turns = count // 2
    said: dict[int, str] = {1: _CONSTRAINT[language][0]}
    last = max(turns - 30, turns // 2)
    said.update(zip((3, last // 4, last // 2, last), changes, strict=True))
    free = [place for place in range(4, last) if place not in said]
    places = sorted(chance.sample(free, len(details)))
    said.update(zip(places, [detail.said for detail in details], strict=True))
    messages: list[Message] = []
    for place in range(turns):
        pair = (said[place], _NOTED[language]) if place in said else chance.choice(_CHATTER[language])
        messages += [{"role": "user", "content": pair[0]}, {"role": "assistant", "content": pair[1]}]
    question = {"en": "How large is the budget for the kitchen?", "zh": "厨房的预算是多少?"}[language]
    hello = {"en": "Hi there!", "zh": "你好呀!"}[language]
    told = {message["content"] for message in messages}
    kept = [detail for detail in details if detail.said in told]
    return Conversation(messages, _CONSTRAINT[language][1], _VALUES, question, kept, hello)


def _details(language: str, chance: random.Random) -> list[Detail]:
    templates = list(_EN if language == "en" else _ZH)
    found = []
    for said, question, answer in templates:
        fill = _FILL[language]
        words = {name: chance.choice(list(values)) for name, values in fill.items()}
        words |= {
            "n": str(chance.randrange(100, 9_999)),
            "year": str(chance.randrange(2027, 2036)),
            "code": "".join(chance.choices("BCDFGHKLMNPRSTVWXZ", k=2)) + str(chance.randrange(100, 999)),
        }
        found.append(Detail(said.format(**words), question.format(**words), answer.format(**words)))
    return found
