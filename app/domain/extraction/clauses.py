"""A message in sentences and clauses, each with its place; fillers before a clause are left out."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from app.domain.extraction.folding import folded
from app.domain.gate.foreign import foreign, own_words

MOST_CHARACTERS: Final = 20_000
"""Only the beginning of a message is read."""

MOST_SENTENCES: Final = 200
LONGEST_SENTENCE: Final = 2_000
"""Characters from which it is no sentence."""

_HAN: Final = "\u3400-\u9fff"
_SENTENCE: Final = re.compile(
    r"(?:[^.!?;。\n…]|\.(?!\s|$)|(?<=\bmr)\.|(?<=\bdr)\.|(?<=\bprof)\.|(?<=\bms)\.|(?<=\bmrs)\.|"
    r"(?<=\be\.g)\.|(?<=\bi\.e)\.|(?<=\bst)\.|(?<=\bvs)\.)++[.!?;。…]*+"
)
_TRAILING: Final = " \t\r\n\x0b\x0c,、。.!?;…~:-—)]\"'”」"
_BULLET: Final = re.compile(r"\s*(?:[-*•·+]|\(?\d{1,2}[.)、]|[一二三四五六七八九十][、.])\s*(?=\S)")

_SUBJECT_EN: Final = (
    r"(?:i|i'm|i've|i'd|i'll|im|ive|we|we're|we've|my|our|the|he|she|it|it's|"
    r"they|there|you|your|his|her|their|that|this|please|don't|do not|always|"
    r"never|no)\b"
)
_VERB_EN: Final = (
    r"(?:work|live|have|has|love|like|hate|prefer|use|speak|play|study|own|drive|"
    r"am|want|plan|enjoy|teach|run|moved|started|switched|can't|cannot|don't|"
    r"dislike|need|got|grew|was born|lives|works|loves|likes|hates|prefers|uses|"
    r"studies|is|keep|deploy|host|write|store)\b"
)
_QUESTION_EN: Final = r"(?:what|which|who|where|when|why|how|can|could|do|does|did|is|are|should|would|will|any)\b"
_SPLIT_EN: Final = re.compile(
    rf"(?:,|\s[-—]|:)\s+(?:and\s+|but\s+|so\s+|then\s+|also\s+|plus\s+|or\s+)?"
    rf"(?=(?:now\s+|these days\s+)?{_SUBJECT_EN}|{_QUESTION_EN})|"
    rf"\s+(?:and|but|so|while|although|though)\s+(?:also\s+|then\s+)?(?!i (?:are|were|both|broke|split|got|"
    rf"separated)\b)(?={_SUBJECT_EN})|"
    rf"(?:,\s+|\s+)(?:and|but)\s+(?:also\s+|then\s+|now\s+|currently\s+|recently\s+|"
    rf"mostly\s+|usually\s+|really\s+)?(?={_VERB_EN})|\s+[-–—]{{1,2}}\s+|"
    rf",\s+(?=(?:can't stand|don't like|hate|love|prefer|mostly|mainly) )|"
    rf",\s+(?=(?:now |currently |originally |also )?(?:living|working|based|studying|from|born|married)\b)|"
    rf",?\s+(?:and|but)\s+(?=[a-z]{{3,20}} (?:doesn't|is|has|likes|hates|can't|lives|works|loves|prefers|wants)\b)"
)
_INTRODUCTION: Final = re.compile(
    r".{0,30}?\b((?:i'm|i am|my name is|my name's) [a-z][\w'-]{1,20}(?: [a-z][\w'-]{1,20})?), (?:and )?"
    r"(?=(?:a|an|the|\d{1,2})\b)"
)
_KEEP_EN: Final = re.compile(
    r"(?:,\s+)?(?:so that|because|since|as long as|otherwise)\b|"
    r",\s+(?:that's|it's|which is) (?:our|my|the) (?:\w+ )?(?:convention|rule|policy|standard|practice)\b|"
    r",\s+(?:my|our) (?:[\w-]+ )?[\w-]{2,20},\s+(?:is|was|has|works|lives|likes|"
    r"loves)\b|,\s+(?:is|was|has) (?:an?|the|my|our|in|from)\b"
)
_SPLIT_ZH: Final = re.compile(
    rf"(?<!\d),(?!\d)|(?<=[{_HAN}]),|(?<=[{_HAN}])\s+(?=[{_HAN}])|(?:但是|不过|而且)(?=我|他|她|我们)|(?<=[{_HAN}])~+"
)
_BINDS_LEFT: Final = re.compile(
    r"\s*(?:因为|由于|主要是|主要因为|原因是?|理由是?|这样|免得|否则|不然|为了|"
    r"毕竟|这是我们的(?:约定|规矩|规范|惯例|规定)|而是|是因为|以便|以免|避免|"
    r"除非|(?:就)?是.{1,12}(?:不是|而不是)|而不是|"
    r"所以(?:选|用|改|换|决定|打算))"
)
_BINDS_RIGHT: Final = re.compile(
    r"\s*(?:因为|由于|为了|考虑到|鉴于|不是|并不是|如果|要是|只要|每次|每当|当我|"
    r"除了|记住|请记住|帮我记|记一下|以后|今后|从今以后|从现在(?:起|开始)|对了.{0,4}$|"
    r"[一-鿿]{1,4}的时候)"
)
_IS: Final = re.compile(r"\s*(?:应该)?是[^,]{1,12}")
_NOT: Final = re.compile(r"\s*(?:而)?不是")
_IS_NOT: Final = re.compile(r"\s*(?:是|而是|应该是)")

_LEAD_EN: Final = re.compile(
    r"(?:(?:hi|hello|hey|ok|okay|so|well|oh|and|but|also|btw|by the way|actually|"
    r"yeah|yes|yep|yup|fyi|anyway|plus|just so you know|so you know|you know|"
    r"honestly|to be honest|tbh|"
    r"for the record|for context|for reference|for background|quick (?:note|update|"
    r"heads up)|heads up|one more thing|one thing|another thing|update|good news|"
    r"bad news|big news|news|thanks|thank you|since|because|"
    r"pls|plz|meanwhile|some context|online|seriously(?: though)?|speaking of which|note to self(?: \(and you\))?|"
    r"you (?:may|can) (?:keep|note|remember)(?: that)?|"
    r"sure|right|great|cool|nice|perfect|awesome|hmm+|um+|uh+|ah|aha|haha+|lol|"
    r"in the end|eventually|ultimately|after all|long story short|"
    r"wow|let me see|i mean|like|in fact|basically|however|though|additionally|"
    r"besides|finally|first|firstly|second|secondly|lastly|then|"
    r"as (?:i|you) (?:said|know|mentioned)|guess what|good morning|good evening|"
    r"good afternoon|exactly|absolutely|correct|oh well|oops|sorry|"
    r"i should (?:mention|say|add|note)(?: that)?|i forgot to (?:mention|say|"
    r"tell you)(?: that)?|forgot to (?:mention|say)(?: that)?|did i (?:mention|"
    r"tell you)(?: that)?|i(?:'d like| want) to (?:mention|say|add) that|"
    r"please note that|turns out(?: that)?|it turns out(?: that)?|i(?:'m| am) (?:happy|"
    r"glad|proud|excited) to (?:say|announce|report)(?: that)?|as a reminder|"
    r"reminder|by trade|by profession|personally|nowadays|these days|day to day|"
    r"lately|usually|normally|generally|typically|so um|um so)(?:[ ,.:!-]++|(?=i'))(?<!ly))++"
)
_LEAD_ZH: Final = re.compile(
    r"(?:(?:先?说(?:一)?下.{0,8}|.{0,8}(?:约定|规定|规矩|情况|注意事项)(?:如下)?|可以(?:保留|记住|记)的是)[哈啊]?[:]|"
    r"(?:另外|对了|顺便(?:说一下|提一下|说一句)|补充一[下点]|忘了(?:说|告诉你)|"
    r"更新一下|话说回来|还有一[点件]事?)[ ,、:!.。~-]*+|(?:你好|您好|嗨|哈喽|"
    r"嗯+|哦+|噢|啊|哎|唉|那个|这个嘛|对了|顺便(?:说一下|提一下|说|一提)?|另外|"
    r"还有|然后|而且|但是|但|不过|其实|话说|说起来|说实话|老实说|总之|好的?|行|"
    r"好吧|是的|对的?|没错|哈哈+|首先|其次|"
    r"忘了(?:说|告诉你)|忘记说了?|补充一下|补充一点|补充|更新一下|告诉你|跟你说(?:一下|"
    r"个事)?|说一下|先说一下|背景是?|背景信息|多说一句|再说一下|还有一点|还有一件事|"
    r"因为|所以|谢谢|感谢|早上好|晚上好|那么?|就是|就是说|是这样的?|嘿|诶|欸|"
    r"唔|额|呃)"
    r"(?:[ ,、:!.。~-]++|(?=我|咱|你)|(?<=但是|不过|而且|所以|因为|另外)(?=现在|最近|目前|今年|明年|以前|平时)|"
    r"(?<=其实|另外|然后|不过|但是|而且)(?=[\u3400-\u9fff]{1,8}?(?:改|换|调整|提高|降|推迟|提前|变成|现在是))))++"
)
_OPEN_PLACEHOLDER: Final = re.compile(r"\[redacted:[a-z_]{1,20}$")
"""What stands for a secret, without its last sign."""

_LAST_PARTICLES: Final = "啊哦呢哈嘛呀啦噢喔~"


_ENGLISH: Final = re.compile(rf"[^\w]*(?:[a-z']+,?\s+){{2}}[^{_HAN}]*[{_HAN}]{{1,8}}[^{_HAN}]*$", re.IGNORECASE)
"""Two English words and more, and one Chinese name. `language_of` takes too much of mixed Chinese for English here."""


@dataclass(frozen=True, slots=True)
class Clause:
    """The clause at [start, end) of a message.

    Args:
        start: Where it begins, after fillers.
        end: Where it ends, before punctuation.
        text: As it is written.
        plain: Folded; the same length.
        sentence: The number of its sentence in the message.
        asked: Whether it ends the sentence with a question mark.
        chinese: Whether Chinese stands in it.
        lead: The fillers before it, folded: "no, " or "actually".
    """

    start: int
    end: int
    text: str
    plain: str
    sentence: int
    asked: bool
    chinese: bool
    lead: str


def sentences_of(text: str) -> list[list[Clause]]:
    """The sentences that are the author's own in a message, each as its clauses. Total, and linear in the length."""
    text = text[:MOST_CHARACTERS]
    plain = folded(text)
    parts = foreign(plain)
    own = own_words(plain, parts) if parts else plain
    found: list[list[Clause]] = []
    for match in _SENTENCE.finditer(own):
        if match.end() - match.start() > LONGEST_SENTENCE or match.group().isspace():
            continue
        clauses = list(_clauses(text, own, match.start(), match.end(), len(found)))
        if clauses:
            found.append(clauses)
        if len(found) >= MOST_SENTENCES:
            break
    return found


def joined(text: str, clauses: list[Clause]) -> Clause:
    """Neighbouring clauses as one."""
    first, last = clauses[0], clauses[-1]
    start, end = first.start, last.end
    plain = folded(text[start:end])
    chinese = any(clause.chinese for clause in clauses)
    return Clause(start, end, text[start:end], plain, first.sentence, last.asked, chinese, first.lead)


def _clauses(text: str, own: str, start: int, end: int, number: int) -> Iterator[Clause]:
    bullet = _BULLET.match(own, start, end)
    start = bullet.end() if bullet else start
    sentence = own[start:end]
    asked = "?" in sentence[-3:]
    # "I live in 上海" is English with a Chinese name in it.
    chinese = re.search(f"[{_HAN}]", sentence) is not None and not _ENGLISH.match(sentence)
    pieces = _pieces_zh(sentence) if chinese else _pieces_en(sentence)
    for place, (first, last) in enumerate(pieces):
        clause = _trimmed(text, own, start + first, start + last, chinese=chinese)
        if clause is not None:
            final = asked and place == len(pieces) - 1
            yield Clause(*clause[:4], number, final, chinese, clause[4])


def _trimmed(text: str, own: str, start: int, end: int, *, chinese: bool) -> tuple[int, int, str, str, str] | None:
    lead = (_LEAD_ZH if chinese else _LEAD_EN).match(own, start + _blank(own, start, end), end)
    begin = lead.end() if lead else start
    begin += _blank(own, begin, end)
    plain = own[begin:end]
    stripped = plain.rstrip(_TRAILING)
    if chinese:
        stripped = stripped.rstrip(_LAST_PARTICLES)
    if not re.search(r"\w", stripped):
        return None
    if _OPEN_PLACEHOLDER.search(stripped) is not None and plain[len(stripped) : len(stripped) + 1] == "]":
        stripped += "]"
    end = begin + len(stripped)
    return begin, end, text[begin:end], stripped, lead.group() if lead else ""


def _blank(own: str, start: int, end: int) -> int:
    """How many signs at the start are not yet words."""
    match = re.compile(r"(?:[\s,、:\-—~*#(\"'“「.。!?>]|\[(?!redacted:))*+").match(own, start, end)
    return match.end() - start if match else 0


def _pieces_en(sentence: str) -> list[tuple[int, int]]:
    pieces: list[tuple[int, int]] = []
    start = 0
    introduced = _INTRODUCTION.match(sentence)
    if introduced is not None:
        pieces, start = [introduced.span(1)], introduced.end()
    for match in _SPLIT_EN.finditer(sentence, start):
        kept = _KEEP_EN.match(sentence, match.start())
        if match.start() == start or (kept and "?" not in sentence[-3:]):
            continue
        pieces.append((start, match.start()))
        start = match.end()
    return [*pieces, (start, len(sentence))]


def _pieces_zh(sentence: str) -> list[tuple[int, int]]:
    """Split at commas; a reason stays with what it explains, 不是…是… with itself."""
    pieces: list[tuple[int, int]] = []
    start = 0
    for match in [*_SPLIT_ZH.finditer(sentence), None]:
        first, last = start, match.start() if match else len(sentence)
        start = match.end() if match else start
        if pieces and _stays(sentence[pieces[-1][0] : pieces[-1][1]], sentence[first:last]):
            pieces[-1] = (pieces[-1][0], last)
        else:
            pieces.append((first, last))
    return pieces


def _stays(before: str, after: str) -> bool:
    if _BINDS_LEFT.match(after) or (_IS.fullmatch(before) and _NOT.match(after)):
        return True
    plain = before.strip(" ,、")
    return (
        bool(_BINDS_RIGHT.match(plain))
        and "," not in plain
        and (not re.match("不是|并不是", plain) or bool(_IS_NOT.match(after)))
    )
