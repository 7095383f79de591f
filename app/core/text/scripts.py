"""Character classes of the scripts that the text modules tell apart, as bodies of regular expression sets."""

from typing import Final

HAN: Final = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Chinese characters with the iteration mark and 〇."""

KANA: Final = "\u3040-\u309f\u30a0-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
HANGUL: Final = "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"

UNSPACED: Final = f"{KANA}{HANGUL}\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Scripts other than Chinese whose words no space divides reliably: Japanese, Korean, Thai, Lao, Burmese, Khmer."""
