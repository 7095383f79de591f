"""One spelling of what the grammar of dates reads, letter for letter, so that positions stay those of the text."""

from typing import Final

_TRADITIONAL: Final = str.maketrans(
    "週個後過來號禮這點兩間從節幾當現歲時內劃備計約圍邊裏裡應該準請預將會麼還開後續終臺閉幹剛纔樣類級輪齡報記說聲證發認為爲際結線網馬樓單課",
    "周个后过来号礼这点两间从节几当现岁时内划备计约围边里里应该准请预将会么还开后续终台闭干刚才样类级轮龄报记说声证发认为为际结线网马楼单课",
)
_FULL_WIDTH: Final = {point: point - 0xFEE0 for point in range(0xFF01, 0xFF5F)}
_LOWER: Final = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
_FULL_WIDTH_CAPITALS: Final = {point: point - 0xFEE0 + 32 for point in range(0xFF21, 0xFF3B)}
_SIGNS: Final = str.maketrans("\u2019\u00a0\u3000\u2013\u2014\u301c\uff5e", "'  \u002d\u002d~~")
_TABLE: Final = {**_TRADITIONAL, **_FULL_WIDTH, **_LOWER, **_FULL_WIDTH_CAPITALS, **_SIGNS}


def fold(text: str) -> str:
    """The text with simplified characters, half-width signs and small letters, each in its place.

    Folds only what names of times are written with; `app.core.text.normal` is the whole of it, and changes lengths.
    """
    return text.lower() if text.isascii() else text.translate(_TABLE)
