"""Parts of Chinese verb frames: who does it, when, and how it ends."""

import re
from typing import Final

from app.domain.extraction.frames.verb_frame import VerbFrame
from app.domain.memory import Category

ADVERB: Final = (
    r"(?:现在|目前|如今|眼下|最近|一直|平时|平常|一般|通常|每天|每晚|早上|晚上|早晨|都|已经|就|刚刚?|又|还|也|是|主要|上个?月|上周|"
    r"去年|今年|前几天|这周|昨天|终于|正式|决定|打算|基本|家里?|这边|个人|从.{1,4}开始|以后|开始|今天|每次|暂时|改|转|常年|长期|正|[\d一二三四五六七八九十]{1,2}月份?|[\d]{1,2}号)*"
)
ME: Final = rf"{ADVERB}(?:我们?|咱们?|俺)?{ADVERB}"
SELF: Final = rf"{ADVERB}(?:我|俺){ADVERB}"
V: Final = r"(?P<value>[^,]+?)"
END: Final = r"(?:了|啦|的)*"


def frame(
    pattern: str, key: str, category: Category, *, replaces: bool = False, name: bool = False, firm: bool = True
) -> VerbFrame:
    """A frame of a pattern as it is written."""
    return VerbFrame(re.compile(pattern), key, category, "replaces" if replaces else None, name, firm)
