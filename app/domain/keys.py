"""Canonical keys: what `user.city`, `home.location` and 居住地 have in common."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from app.core.text.scripts import HAN
from app.core.text.stopwords import ENGLISH


@dataclass(frozen=True, slots=True)
class KeyEntry:
    """A canonical key.

    Args:
        key: Its one spelling.
        aliases: Other spellings, in both languages.
        multi_valued: Whether several values are true at once: tea and coffee never supersede each other.
        description: What it holds, for people.
    """

    key: str
    aliases: tuple[str, ...]
    multi_valued: bool
    description: str


def _one(key: str, description: str, *aliases: str) -> KeyEntry:
    return KeyEntry(key, aliases, multi_valued=False, description=description)


def _many(key: str, description: str, *aliases: str) -> KeyEntry:
    return KeyEntry(key, aliases, multi_valued=True, description=description)


BUILT_IN: Final[tuple[KeyEntry, ...]] = (
    _one("user.name", "What the user is called", "name", "my.name", "full.name", "姓名", "名字", "用户名字"),
    _one("user.nickname", "What the user wants to be called", "nickname", "昵称", "外号", "称呼"),
    _one(
        "user.city",
        "Where the user lives",
        *("city", "home.city", "home.location", "location", "residence"),
        *("居住地", "城市", "所在城市", "住处"),
    ),
    _one("user.country", "The country the user lives in", "country", "home.country", "国家", "所在国家"),
    _one("user.address", "The user's address", "address", "home.address", "地址", "家庭住址", "住址"),
    _one("user.hometown", "Where the user comes from", "hometown", "birthplace", "家乡", "老家", "出生地"),
    _one("user.employer", "Whom the user works for", "employer", "company", "workplace", "公司", "单位", "工作单位"),
    _one("user.job", "What the user does for a living", "job", "occupation", "profession", "job.title", "role", "职业"),
    _one("user.birthday", "When the user was born", "birthday", "date.of.birth", "生日", "出生日期"),
    _one("user.age", "How old the user is", "age", "年龄", "岁数"),
    _one("user.email", "The user's mail address", "email", "mail", "邮箱", "电子邮件"),
    _one("user.phone", "The user's telephone number", "phone", "phone.number", "mobile", "电话", "手机", "手机号"),
    _one("user.nationality", "The nation the user belongs to", "nationality", "citizenship", "国籍"),
    _one("user.timezone", "The zone the user lives in", "timezone", "time.zone", "时区"),
    _one("user.language", "The language to answer in", "language", "preferred.language", "语言", "回复语言"),
    _one("user.partner", "Whom the user lives with", "partner", "spouse", "wife", "husband", "配偶", "伴侣"),
    _many("user.child", "The user's children", "child", "children", "kids", "孩子", "子女"),
    _many("user.pet", "The user's animals", "pet", "pets", "dog", "cat", "宠物"),
    _many("user.hobby", "What the user likes to do", "hobby", "hobbies", "interest", "interests", "爱好", "兴趣"),
    _many("user.allergy", "What the user cannot stand", "allergy", "allergies", "过敏", "过敏原"),
    _many(
        "user.health",
        "Conditions and traits of the user's body and mind",
        "health",
        "health.condition",
        "健康状况",
        "病史",
    ),
    _many(
        "user.spoken_language", "Languages the user speaks", "spoken.language", "languages.spoken", "会说的语言", "母语"
    ),
    _many("user.possession", "Things the user owns", "possession", "possessions", "拥有的东西", "物品"),
    _many("user.goal", "What the user wants to reach", "goal", "goals", "objective", "目标", "计划目标"),
    _one("user.diet", "How the user eats", "diet", "dietary.preference", "饮食习惯", "饮食"),
    _one("user.school", "Where the user studies or studied", "school", "university", "学校", "大学"),
    _one("user.major", "What the user studies or studied", "major", "field.of.study", "专业"),
    _one("user.manager", "Whom the user reports to", "manager", "boss", "supervisor", "领导", "老板", "上司"),
    _one("user.car", "What the user drives", "car", "vehicle", "车", "汽车", "座驾"),
    _one("user.laptop", "The user's laptop", "laptop", "notebook", "笔记本电脑"),
    _one("user.gym", "Where the user trains", "gym", "健身房"),
    _one("user.commute", "How the user gets to work", "commute", "way.to.work", "通勤", "通勤方式"),
    _one("user.training_goal", "Which race the user trains for", "training.goal", "race.goal", "训练目标"),
    _one("user.weight", "How much the user weighs", "weight", "体重"),
    _one("user.wake_up_time", "When the user gets up", "wake.up.time", "起床时间"),
    _one("user.bedtime", "When the user goes to bed", "bedtime", "睡觉时间"),
    _one("user.rent", "What the user pays for living there", "rent", "房租", "租金"),
    _one("user.bank", "Where the user banks", "bank", "银行"),
    _one("user.plan", "Which plan the user subscribes to", "subscription", "subscription.plan", "套餐"),
    _one("user.marital_status", "Whether the user lives with somebody", "marital.status", "婚姻状况", "感情状况"),
    _one("user.team", "The team the user works in", "team", "my.team", "团队", "小组", "部门"),
    _one("user.phone_model", "The user's telephone", "phone.model", "手机型号"),
    _many("user.skill", "What the user can do", "skill", "skills", "技能"),
    _many("preference.food", "What the user likes to eat", "favourite.food", "favorite.food", "喜欢的食物", "饮食偏好"),
    _many("preference.drink", "What the user likes to drink", "favourite.drink", "favorite.drink", "喜欢的饮料"),
    _many("preference.like", "What the user likes", "likes", "like", "喜欢", "喜好"),
    _many("preference.dislike", "What the user does not like", "dislikes", "dislike", "不喜欢", "讨厌"),
    _one("preference.browser", "The browser the user works in", "browser", "浏览器"),
    _one("preference.package_manager", "The package manager the user works with", "package.manager", "包管理器"),
    _one("preference.editor", "The editor the user works in", "editor", "favourite.editor", "编辑器"),
    _one("preference.os", "The operating system the user works on", "os", "operating.system", "操作系统"),
    _one("preference.shell", "The shell the user works in", "shell"),
    _one(
        "preference.database", "The database the user prefers", "favourite.database", "favorite.database", "数据库偏好"
    ),
    _many("preference.programming_language", "Languages the user programs in", "programming.language", "编程语言"),
    _one("preference.style", "How answers should be", "answer.style", "tone", "回答风格", "语气"),
    _one("project.name", "The project's name", "项目名", "项目名称"),
    _one("project.deadline", "When the project is due", "deadline", "due.date", "截止日期", "期限"),
    _one(
        "project.database",
        "Where the project keeps its data",
        "database",
        "database.address",
        "db",
        "数据库",
        "数据库地址",
    ),
    _one("project.repository", "Where the project's code is", "repository", "repo", "代码仓库", "仓库"),
    _one("project.language", "What the project is written in", "项目语言", "开发语言"),
    _one("project.owner", "Who answers for the project", "project.lead", "负责人", "项目负责人"),
)


def spelled(key: str) -> str:
    """A key's plain spelling: NFKC, lower case, words joined by dots."""
    plain = unicodedata.normalize("NFKC", key).strip().casefold()
    return ".".join(part for part in plain.replace("_", ".").replace("-", ".").replace(" ", ".").split(".") if part)


def _index() -> dict[str, KeyEntry]:
    return {spelled(name): entry for entry in BUILT_IN for name in (entry.key, *entry.aliases)}


_INDEX: Final = _index()


def built_in(key: str) -> KeyEntry | None:
    """The canonical key that this one is a spelling of."""
    return _INDEX.get(spelled(key))


HABIT: Final = "habit."
"""Begins the key of what people do several of at a time: a new one takes the place of another only where it says so."""


def holds_one(key: str) -> bool:
    """Whether a key that the extractor gives holds one value, whatever a sentence says of a change."""
    known = built_in(key)
    return not known.multi_valued if known is not None else not needs_cue(key)


def needs_cue(key: str) -> bool:
    """Whether another value is one more unless it says that it is new: names of animals and children, and habits."""
    return key.startswith(HABIT) or (built_in(key) is None and key.startswith("user.") and key.endswith(".name"))


_WORD: Final = re.compile(r"[^\W_]+(?:[._-][^\W_]+)*")
_HAN_RUN: Final = re.compile(f"[{HAN}]+")
MOST_WORDS: Final = 3
"""Words of the longest key that is looked for in a question."""

MOST_CHARACTERS: Final = 6
MOST_NAMED: Final = 200


def named_keys(question: str) -> list[str]:
    """Keys that a question may mean, canonical ones first: its phrases of up to three words, or six Chinese characters.

    `Which editor do I use?` names `preference.editor`; a tenant's own keys are found by their spelling or their end
    (`favourite colour` is the end of `user.favourite.colour`).
    """
    text = unicodedata.normalize("NFKC", question[:2000]).casefold()
    words = _WORD.findall(text)
    phrases = [
        ".".join(words[start : start + length])
        for length in range(1, MOST_WORDS + 1)
        for start in range(len(words) - length + 1)
        if length > 1 or words[start] not in ENGLISH
    ]
    for run in _HAN_RUN.findall(text):
        phrases += [
            run[start : start + length]
            for length in range(2, MOST_CHARACTERS + 1)
            for start in range(len(run) - length + 1)
        ]
    spellings = dict.fromkeys(spelled(phrase) for phrase in phrases)
    canonical = dict.fromkeys(entry.key for spelling in spellings if (entry := _INDEX.get(spelling)) is not None)
    return list({**canonical, **spellings})[:MOST_NAMED]
