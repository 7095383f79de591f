"""A stretch of many people's lives: what is true and used, what changes, what must hold, and much that is noise."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

Pair = tuple[str, str]

CITIES: Final = ("Lisbon", "Bergen", "Riga", "Porto", "Graz", "杭州", "成都", "西安", "大理", "苏州")
NAMES: Final = {
    "en": ("Nora", "Milo", "Greta", "Ivo", "Selma", "Otto", "Petra", "Lars", "Edda", "Bruno"),
    "zh": ("王芳", "李雷", "陈静", "赵敏", "周杰", "吴磊", "郑爽", "孙丽", "钱枫", "何炅"),
}
TRUE: Final[dict[str, tuple[Pair, ...]]] = {
    "en": (
        ("The sister's name is {name} and she restores violins.", "What does the sister restore?"),
        ("The spare key hangs behind the barometer in the hall.", "Where does the spare key hang?"),
        ("{name} services the boiler in the cellar.", "Who services the boiler?"),
        ("The garden gate code is written in the orange notebook.", "Where is the garden gate code written?"),
        ("The dentist is Dr. {name} in Mill Street.", "Who is the dentist?"),
        ("The bread recipe uses rye, caraway and buttermilk.", "What is in the bread recipe?"),
        ("The tax papers are kept in the blue trunk upstairs.", "Where are the tax papers kept?"),
        ("{name} looks after the cat during holidays.", "Who looks after the cat during holidays?"),
    ),
    "zh": (
        ("姐姐叫{name}，她修复小提琴。", "姐姐修复什么？"),
        ("备用钥匙挂在走廊的气压计后面。", "备用钥匙挂在哪里？"),
        ("地下室的锅炉由{name}保养。", "锅炉由谁保养？"),
        ("花园大门的密码写在橙色笔记本里。", "花园大门的密码写在哪里？"),
        ("牙医是磨坊街的{name}医生。", "牙医是谁？"),
        ("面包配方用黑麦、葛缕子和酪乳。", "面包配方里有什么？"),
        ("税务文件放在楼上的蓝色箱子里。", "税务文件放在哪里？"),
        ("放假的时候{name}照顾猫。", "放假的时候谁照顾猫？"),
    ),
}
CONSTRAINTS: Final[dict[str, tuple[Pair, ...]]] = {
    "en": (("Never book a flight before nine in the morning.", "Book me a flight to Rome, please."),),
    "zh": (("绝对不要订早上九点以前的航班。", "请帮我订一张去罗马的机票。"),),
}
PREFERENCES: Final[dict[str, tuple[Pair, ...]]] = {
    "en": (("The user prefers a window seat on trains.", "Reserve a seat on the train to Basel for me."),),
    "zh": (("用户坐火车喜欢靠窗的座位。", "帮我预订去巴塞尔的火车座位。"),),
}
_NOISE: Final = {
    "en": (
        "Lunch on day {n} was {dish} at the canteen.",
        "On day {n} the bus was {k} minutes late.",
        "It was {k} degrees at noon on day {n}.",
        "{name} told a joke about {dish} on day {n}.",
        "The printer ran out of toner on day {n} after {k} pages.",
    ),
    "zh": (
        "第{n}天在食堂吃了{dish}。",
        "第{n}天公交车晚了{k}分钟。",
        "第{n}天中午气温{k}度。",
        "第{n}天{name}讲了一个关于{dish}的笑话。",
        "第{n}天打印机打了{k}页就没有墨粉了。",
    ),
}
_DISHES: Final = {
    "en": ("lentil soup", "noodles", "stew", "pancakes", "salad", "pie"),
    "zh": ("扁豆汤", "面条", "炖菜", "煎饼", "沙拉", "馅饼"),
}


@dataclass(frozen=True, slots=True)
class Person:
    """One owner of memories: every other one lives in Chinese."""

    number: int

    @property
    def user_id(self) -> str:
        return f"person-{self.number}"

    @property
    def language(self) -> str:
        return ("en", "zh")[self.number % 2]

    def truths(self, count: int) -> list[Pair]:
        """What is true of them all the time, each with the question that is asked about it."""
        names = NAMES[self.language]
        return [
            (text.format(name=names[(self.number + place) % len(names)]), question)
            for place, (text, question) in enumerate(TRUE[self.language][:count])
        ]

    def value(self, change: int) -> str:
        """Where they live after so many moves."""
        return CITIES[(self.number + 3 * change) % len(CITIES)]

    def noise(self, day: int, count: int) -> Iterator[str]:
        """What happens on a day and does not matter; no two texts are the same."""
        for place in range(count):
            kind = (day + place) % len(_NOISE[self.language])
            yield _NOISE[self.language][kind].format(
                n=f"{day}.{place}",
                k=3 + (day * 7 + place * 5 + self.number) % 40,
                dish=_DISHES[self.language][(day + place) % 6],
                name=NAMES[self.language][(day * 3 + place) % 10],
            )
