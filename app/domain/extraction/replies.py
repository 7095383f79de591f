"""What two turns say together: an assistant's claim and a user's yes, a question and a short answer."""

import re
from dataclasses import replace
from typing import Final

from app.domain.extraction.candidates import Candidate
from app.domain.extraction.clauses import Clause, joined, sentences_of
from app.domain.extraction.folding import folded
from app.domain.extraction.reading import read
from app.domain.extraction.turns import Turn
from app.domain.gate.sentences import refusal_of
from app.domain.keys import built_in
from app.domain.memory import Category, default_importance

_ASSENT: Final = re.compile(
    r"(?:yes|yeah|yep|yup|exactly|correct|right|that's (?:right|correct|true|"
    r"me)|that is (?:right|correct)|you're right|indeed|absolutely|precisely|"
    r"true|"
    r"i (?:do|am|did|have)|you got it|you remembered|good memory|spot on|对|没错|"
    r"是的|对的|是啊|正确|确实|的确|对啊|嗯|就是这样|完全正确|你说得对|没记错|"
    r"对对|是这样的?|[\s,.!。~、])++"
)
_BARE_ASSENT: Final = re.compile(r"嗯+[\s.,。!~]*")
_DENIAL: Final = re.compile(
    r"(?:no|nope|not|wrong|incorrect|that's (?:not|wrong)|i (?:don't|didn't|never|"
    r"am not|do not)|i'm not|不是|不对|没有|我没|我不|我可没|错了|才不|并不|并没)(?![a-z])"
)
_SAID: Final = re.compile(
    r"(?:(?:as )?you(?:'ve| have)? (?:said|mentioned|told me|noted|stated|shared|"
    r"indicated)(?: (?:earlier|before|that|previously|to me|last time))*,? |i (?:remember|"
    r"recall|see|know|understand)(?: that)? |since |so |"
    r"(?:我记得|记得|据我所知|我知道)?(?:你|您)?(?:之前|刚才|上次|曾经|提过)?(?:说过?|"
    r"提到过?|告诉过?我)(?:的)?,?(?=你|您|自己)|(?:我记得|记得|据我所知|我知道|"
    r"既然|所以),?)"
)
_TAG: Final = re.compile(
    r",? ?(?:right|correct|isn't it|aren't you|don't you|yes|no|is that (?:right|"
    r"correct)|对吧|对吗|是吧|是吗|没错吧|对不对|是不是)$"
)
_OPEN: Final = re.compile(r"(?:you|your|你|您)")
_ASKED: Final = (
    (
        re.compile(
            r"\bwhere (?:do you|are you) (?:live|living|based|located)|which city|what city|"
            r"你(?:现在)?(?:住|在)(?:在)?(?:哪|什么城市)|哪个城市"
        ),
        "user.city",
    ),
    (
        re.compile(
            r"what(?:'s| is) your (?:full |first )?name|may i (?:have|ask) your name|"
            r"怎么称呼|叫什么名字|你叫什么|贵姓"
        ),
        "user.name",
    ),
    (
        re.compile(
            r"what do you do(?: for (?:a living|work))?\b|what(?:'s| is) your (?:job|"
            r"profession|occupation|role)|做什么工作|什么职业|从事什么"
        ),
        "user.job",
    ),
    (
        re.compile(
            r"where do you work|which company|who do you work for|在哪(?:里|儿|家公司)?(?:工作|"
            r"上班)|哪家公司"
        ),
        "user.employer",
    ),
    (re.compile(r"how old are you|what(?:'s| is) your age|多大(?:了|年纪)?|几岁|年龄"), "user.age"),
    (re.compile(r"when(?:'s| is) your birthday|date of birth|生日是(?:哪|什么|几)|哪天生日"), "user.birthday"),
    (re.compile(r"where are you from|your hometown|老家(?:在|是)?哪|哪里人"), "user.hometown"),
    (re.compile(r"time ?zone|时区"), "user.timezone"),
    (
        re.compile(
            r"any (?:food )?allergies|are you allergic|allergic to|对什么过敏|过敏(?:吗|"
            r"的)|有没有过敏"
        ),
        "user.allergy",
    ),
    (
        re.compile(
            r"(?:dietary|diet) (?:restrictions?|preferences?|requirements?)|忌口|饮食(?:限制|"
            r"偏好|要求)"
        ),
        "user.diet",
    ),
    (re.compile(r"(?:which|what) (?:code )?editor|什么编辑器|哪个编辑器"), "preference.editor"),
    (re.compile(r"(?:which|what) (?:os|operating system)|什么(?:操作)?系统"), "preference.os"),
    (re.compile(r"(?:which|what) (?:programming )?language|什么(?:编程)?语言"), "preference.programming_language"),
    (re.compile(r"(?:which|what) database|什么数据库"), "project.database"),
    (
        re.compile(
            r"(?:when is|what is|what's) (?:the|your) (?:deadline|due date)|截止(?:日期|"
            r"时间)?是?(?:什么|哪|几)|什么时候(?:上线|交付|截止|交)"
        ),
        "project.deadline",
    ),
    (
        re.compile(
            r"(?:name of your|your) (?:\w+ )?(?:dog|cat|pet)|(?:dog|cat|pet)'s name|(?:what is|"
            r"what's) (?:his|her|its|their) name|(?:它|狗|猫|宠物)(?:狗|猫)?叫什么"
        ),
        "user.pet",
    ),
    (re.compile(r"your (?:wife|husband|partner)'s name|(?:老婆|老公|妻子|丈夫|女朋友|男朋友)叫什么"), "user.partner"),
    (re.compile(r"your (?:hobbies|hobby|interests)|什么爱好|兴趣爱好"), "user.hobby"),
    (
        re.compile(
            r"(?:which|what) (?:language )?should i (?:answer|reply|respond) in|用什么语言(?:回答|"
            r"回复)"
        ),
        "user.language",
    ),
)
_NO_ANSWER: Final = re.compile(
    r"\b(?:not sure|don't know|no idea|skip|why|none|nothing|rather not|prefer not|"
    r"never mind|later|can't say|depends|guess|help|please|thanks|no|yes|nope)\b|"
    r"不知道|不清楚|不确定|不告诉|没有|没|随便|保密|为什么|干嘛|不想|算了|再说"
)
MOST_ANSWER: Final = 40
CLAIMED: Final = frozenset({"constraint", "identity", "preference", "relation", "other", "tool_config"})


def claims(turn: Turn) -> tuple[list[Candidate], list[Candidate]]:
    """What an assistant's turn claims about the user: as statements, and asked for a yes ("..., right?")."""
    stated: list[Candidate] = []
    asked: list[Candidate] = []
    for clauses in sentences_of(turn.text):
        for clause in clauses:
            bare, tagged = _bare(clause)
            if bare is None or (refusal_of(bare.plain) is not None) or (clause.asked and not tagged):
                continue
            claim = read(bare, turn, voice="second", source="assistant_said")
            if claim is not None and claim.category in CLAIMED and not claim.change:
                (asked if tagged or clause.asked else stated).append(claim)
        # "You live in Oslo, right?" is cut into two clauses.
        if len(clauses) > 1 and clauses[-1].asked and _TAG.fullmatch(clauses[-1].plain) and stated:
            asked.append(stated.pop())
    return stated, asked


def _bare(clause: Clause) -> tuple[Clause | None, bool]:
    plain = clause.plain
    said = _SAID.match(plain)
    start = said.end() if said else 0
    tag = _TAG.search(plain)
    end = tag.start() if tag and tag.start() > start else len(plain)
    if not _OPEN.match(plain, start):
        return None, False
    part = replace(
        clause, start=clause.start + start, end=clause.start + end, text=clause.text[start:end], plain=plain[start:end]
    )
    return part, tag is not None and clause.asked


def assents(text: str) -> bool:
    """Whether a whole text says yes to what was claimed; thanks and an "ok" do not, nor does a bare 嗯."""
    plain = folded(text).strip()
    return (
        bool(plain)
        and _ASSENT.fullmatch(plain) is not None
        and _BARE_ASSENT.fullmatch(plain) is None
        and bool(re.search(r"\w", plain))
    )


def denies(text: str) -> bool:
    """Whether a text begins by saying no."""
    return _DENIAL.match(folded(text).lstrip(" ,.，。")) is not None


def affirmed(claim: Candidate, turn: Turn) -> Candidate:
    """A claim that the user has said yes to: theirs now, with their yes as the quote and both turns as sources."""
    quote = turn.text.strip()
    return replace(claim, source="user_stated", seqs=(*claim.seqs, turn.seq), quote=quote, occurred_at=turn.occurred_at)


def last_question(turn: Turn) -> Clause | None:
    """The last question of a turn, if the turn ends with it."""
    sentences = sentences_of(turn.text)
    return joined(turn.text, sentences[-1]) if sentences and sentences[-1][-1].asked else None


def answered(question: Turn, turn: Turn) -> Candidate | None:
    """A short answer to an assistant's question for a slot; its text holds question and answer, in their own words."""
    asked = [sentence for sentence in sentences_of(question.text) if sentence[-1].asked]
    sentences = sentences_of(turn.text)
    if not asked or not sentences or len(sentences[0]) > 1:
        return None
    answer, last = sentences[0][0], asked[-1]
    if answer.asked or len(answer.plain) > MOST_ANSWER or _NO_ANSWER.search(answer.plain) or refusal_of(answer.plain):
        return None
    whole = joined(question.text, last)
    key = next((key for pattern, key in _ASKED if pattern.search(whole.plain)), None)
    if key is None:
        return None
    category = _category(key)
    mark, space = ("？", "") if whole.chinese else ("?", " ")
    return Candidate(
        text=f"{whole.text}{mark}{space}{answer.text}",
        kind="semantic",
        category=category,
        source="user_stated",
        seqs=(question.seq, turn.seq),
        quote=answer.text,
        key=known.key if (known := built_in(key)) else key,
        value=answer.text,
        importance=default_importance(category),
        occurred_at=turn.occurred_at,
    )


def _category(key: str) -> Category:
    if key == "user.allergy":
        return "constraint"
    if key in {"user.pet", "user.partner"}:
        return "relation"
    area = key.partition(".")[0]
    return "project" if area == "project" else "preference" if area == "preference" else "identity"
