"""An honest guess at how many tokens a text costs, where the model's tokenizer is not at hand."""

import math
import re
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
