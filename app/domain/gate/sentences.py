"""Whether a sentence, or a whole message, can hold anything that is worth keeping."""

import re
from typing import Final

from app.domain.gate import phrases_en, phrases_zh
from app.domain.gate.refusals import Refusal
from app.domain.smalltalk import worth_retrieving

LONGEST: Final = 600
"""Characters of the longest sentence that is read: what is longer is a paste."""

_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_FORGET: Final = re.compile(
    r"(?:\b(?:please|can you|could you|just|you can|no|oh|actually|hey)[ ,]+)*(?:forget (?!to |"
    r"about it\b|it\b)|(?:delete|erase|remove|wipe|drop) (?:that|the|my|everything|"
    r"what|all|any)\b"
    r".{0,60}\b(?:memor(?:y|ies)|said|told|know|remember|stored|saved|about me)\b|"
    r"(?:do not|don't|stop) (?:remember|save|store|record|memori[sz]e|keep)(?:ing)? (?:this|"
    r"that|it|any|what|my))|"
    r"(?<!我)(?<!别)(?<!不要)(?<!不能)(?<!我都)(?:请|麻烦|帮我|你|就)?(?:把.{1,40}(?:忘了|"
    r"忘掉|忘记|删了|删掉|删除|清除)|忘掉|忘了(?:吧|我|我们|那|刚才|之前|关于|"
    r"这)(?!说|提|告诉)|忘记(?:我|刚才|之前|关于|那|这)|别(?:再)?记(?:了|住|录|"
    r"这)|不(?:要|用|必)(?:再)?记(?:住|录|下|了|这)?(?=$|[,。!了我这那]))|"
    r"(?:这个|这句|这条|这事|这件事).{0,6}(?:别|不要|不用)(?:记|保存|存)"
)
_REMEMBER: Final = re.compile(
    r"\b(?:remember|keep in mind|note|don't forget|do not forget|make a note|"
    r"for (?:future|your) reference|save this|write (?:this|that|it) down|bear in mind)\b|"
    r"记住|记一下|记下|记得|记着|牢记|别忘|备忘|记个|帮我记"
)


def asks_to_forget(plain: str) -> bool:
    """Whether a folded sentence asks to forget something, or not to keep it."""
    return _FORGET.match(plain) is not None or (bool(_HAN.search(plain)) and _FORGET.search(plain) is not None)


def is_question(plain: str) -> bool:
    """Whether a folded sentence or clause asks something."""
    stripped = plain.rstrip(" \t\"'）)”」~")
    if stripped.endswith("?"):
        return True
    if _HAN.search(plain):
        return phrases_zh.QUESTION.search(stripped) is not None
    return phrases_en.QUESTION.match(plain) is not None


def refusal_of(plain: str) -> Refusal | None:
    """Why a folded sentence holds nothing to be kept; None if it may.

    Args:
        plain: A sentence or clause as `app.domain.extraction.folding.folded` gives it, without fillers before it.
    """
    if not re.search(r"\w", plain):
        return "empty"
    if len(plain) > LONGEST:
        return "too_long"
    if not worth_retrieving(plain):
        return "greeting"
    if asks_to_forget(plain):
        return "forget"
    phrases = phrases_zh if _HAN.search(plain) else phrases_en
    if phrases.ROLE_PLAY.search(plain):
        return "role_play"
    if is_question(plain):
        return "question"
    return _passing(plain)


def _passing(plain: str) -> Refusal | None:
    if _HAN.search(plain):
        if phrases_zh.HYPOTHETICAL.search(plain):
            return "hypothetical"
        if phrases_zh.STATE.search(plain):
            return "state"
        return "task" if phrases_zh.TASK.search(plain) else None
    if phrases_en.HYPOTHETICAL.match(plain) or phrases_en.INSIDE_HYPOTHETICAL.search(plain):
        return "hypothetical"
    if phrases_en.STATE.match(plain):
        return "state"
    return "task" if phrases_en.TASK.match(plain) else None


def is_joke(plain: str) -> bool:
    """Whether a folded text takes back what was said as a joke."""
    return bool(phrases_en.JOKE.search(plain) or phrases_zh.JOKE.search(plain))


def is_fiction(plain: str) -> bool:
    """Whether a folded text asks for, or speaks of, a text that is made up."""
    return bool(phrases_en.ROLE_PLAY.search(plain) or phrases_zh.ROLE_PLAY.search(plain))


def starts_role_play(plain: str) -> bool:
    """Whether a folded text begins a game of roles, in which nothing is true."""
    return bool(phrases_en.STARTS_ROLE_PLAY.search(plain) or phrases_zh.STARTS_ROLE_PLAY.search(plain))


def ends_role_play(plain: str) -> bool:
    """Whether a folded text ends a game of roles."""
    return bool(phrases_en.ENDS_ROLE_PLAY.search(plain) or phrases_zh.ENDS_ROLE_PLAY.search(plain))


def asks_to_remember(plain: str) -> bool:
    """Whether words of a request to remember stand in a folded text."""
    return _REMEMBER.search(plain) is not None
