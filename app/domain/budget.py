"""What texts cost in a prompt: an honest guess where the model's tokenizer is not at hand, and a budget to keep."""

import math
import re
from collections.abc import Sequence
from typing import Final

CHARACTERS_PER_LATIN_TOKEN: Final = 4
TOKENS_PER_SYMBOL: Final = 2

# Kana, hangul and full-width punctuation cost what a Chinese character costs.
_IDEOGRAPH = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\ufe30-\uffef]")
_SYMBOL = re.compile("[\U00010000-\U0010ffff]")


def estimate_tokens(text: str) -> int:
    """Tokens of a Chinese, English or mixed text, rounded up: a budget cut by it is rarely overrun.

    A Chinese character or mark counts 1, an ASCII character 1/4, a letter of another alphabet 1/2, an emoji or rare
    character 2: about what the tokenizers of present models give, on the upper side for Chinese.
    """
    ideographs = len(_IDEOGRAPH.findall(text))
    symbols = len(_SYMBOL.findall(text))
    latin = len(text.encode("ascii", "ignore"))
    others = len(text) - ideographs - symbols - latin
    fractions = (latin + 2 * others) / CHARACTERS_PER_LATIN_TOKEN
    return math.ceil(ideographs + symbols * TOKENS_PER_SYMBOL + fractions)


def within_budget(costs: Sequence[int], firsts: Sequence[bool], budget: int | None) -> list[bool]:
    """Which texts fit, taken in their order: what does not fit is passed over, and shorter ones behind it may.

    Args:
        costs: Tokens of each text, best first.
        firsts: Texts that are taken before the others, however long: constraints never lose to length. Only a budget
            that does not even hold them all leaves some out, the last ones.
        budget: Tokens of all together; None takes everything.
    """
    if budget is None:
        return [True] * len(costs)
    kept, left = [False] * len(costs), budget
    for first in (True, False):
        for row, cost in enumerate(costs):
            if firsts[row] is first and cost <= left:
                kept[row], left = True, left - cost
    return kept
