"""Which key a name belongs to, where the sentence does not say: switched to Neovim, 改用 fish."""

import re
from typing import Final

from app.domain.keys import built_in

_KNOWN: Final = {
    "preference.editor": r"neovim|nvim|vim|emacs|vs ?code|visual studio code|sublime|intellij|idea|pycharm|"
    r"webstorm|goland|zed|helix|cursor|xcode|eclipse|nano",
    "preference.os": r"linux|ubuntu|debian|fedora|arch|nixos|mac ?os|windows|centos|manjaro|mint|opensuse|freebsd",
    "preference.shell": r"zsh|bash|fish|powershell|nushell",
    "preference.browser": r"chrome|firefox|safari|edge|brave|arc|vivaldi|opera",
    "preference.database": r"postgres(?:ql)?|mysql|mariadb|sqlite|mongodb|oracle|cockroachdb|tidb|clickhouse|"
    r"duckdb|sql server|dynamodb",
    "preference.programming_language": r"python|javascript|typescript|java|kotlin|swift|rust|golang|go|c\+\+|c#|"
    r"ruby|php|scala|haskell|elixir|julia|lua|dart",
    "preference.package_manager": r"npm|pnpm|yarn|bun|pip|uv|poetry|pipenv|conda|cargo|maven|gradle|homebrew",
    "preference.style": r"tabs|spaces|metric|imperial|celsius|fahrenheit|dark mode|light mode",
    "user.phone_model": r"iphone|pixel|galaxy|oneplus|xiaomi|huawei|华为|小米|安卓|android",
    "user.diet": r"vegan|vegetarian|pescatarian|keto|素食|生酮",
    "user.language": r"english|chinese|mandarin|中文|英文|英语",
    "preference.drink": r"coffee|tea|decaf|espresso|matcha|oat milk|咖啡|绿茶|红茶|茶|奶茶|豆浆|燕麦奶",
}
_PATTERNS: Final = tuple(
    (key, re.compile(rf"(?:the |an? |my )?(?:{names})(?![a-z+#])")) for key, names in _KNOWN.items()
)
_OF_PROJECTS: Final = {"preference.database": "project.database"}
WHAT: Final = {
    "颜色": "colour",
    "color": "colour",
    "colours": "colour",
    "电影": "movie",
    "film": "movie",
    "书": "book",
    "歌手": "singer",
    "运动": "sport",
    "城市": "city",
    "水果": "fruit",
    "季节": "season",
    "食物": "food",
    "菜": "food",
    "吃的": "food",
    "dish": "food",
    "饮料": "drink",
    "喝的": "drink",
    "beverage": "drink",
    "编辑器": "editor",
    "编程语言": "programming_language",
    "programming language": "programming_language",
    "language": "programming_language",
    "数据库": "database",
    "动物": "animal",
    "音乐": "music",
    "游戏": "game",
    "歌": "song",
    "餐厅": "restaurant",
    "作家": "author",
    "shell": "shell",
    "球队": "team",
    "车": "car",
    "电脑": "computer",
    "笔记本": "laptop",
    "相机": "camera",
    "房子": "house",
    "身高": "height",
    "血型": "blood_type",
    "鞋码": "shoe_size",
    "星座": "zodiac",
    "mbti": "mbti",
}


def key_of_name(plain: str, *, of_a_project: bool) -> str | None:
    """The key that a folded name of a tool, a drink or the like belongs to."""
    for key, pattern in _PATTERNS:
        if pattern.match(plain):
            return _OF_PROJECTS.get(key, key) if of_a_project else key
    return None


def favourite_key(what: str) -> str | None:
    """The key of the one thing of a sort that is liked best: where several are liked, that one has a key of its own."""
    key = named_key("favourite.{what}", what)
    known = built_in(key) if key is not None else None
    if key is None or known is None or not known.multi_valued:
        return key
    return f"user.favourite.{key.partition('.')[2]}"


def named_key(template: str, what: str | None) -> str | None:
    """The key of a rule: canonical where the registry knows it, its name filled in where it has one."""
    if "{what}" not in template:
        known = built_in(template)
        return known.key if known else template
    if not what:
        return None
    word = what.strip()
    slot = WHAT.get(word, word).replace(" ", "_").replace("-", "_")
    if template.startswith("favourite"):
        known = built_in(f"favourite.{slot}") or built_in(f"preference.{slot}")
        return known.key if known else f"user.favourite.{slot}"
    return template.replace("{what}", slot)
