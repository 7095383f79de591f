"""Whom a statement is about, if that is not its speaker."""

import re
from typing import Final

from app.core.text.normal import normalise

_PEOPLE_EN: Final = (
    r"wife|husband|partner|girlfriend|boyfriend|fianc[eé]e?|mother|father|mom|mum|dad|parents|sister|brother|son|"
    r"daughter|kids?|"
    r"child|children|friend|colleague|coworker|cousin|aunt|uncle|neighbou?r|roommate|flatmate|boss|manager|grandma|"
    r"grandpa|"
    r"grandmother|grandfather|nephew|niece|in-laws|twins?"
)
_PEOPLE_ZH: Final = (
    r"老婆|老公|媳妇|对象|女朋友|男朋友|妻子|丈夫|爸妈|父母|爸爸?|妈妈?|姐姐?|妹妹?|哥哥?|弟弟?|儿子|女儿|孩子|娃|闺女|同事|朋友|同学|"
    r"室友|邻居|表[哥弟姐妹]|爷爷|奶奶|外公|外婆|舅舅|姑姑|叔叔|阿姨|岳父|岳母|公公|婆婆|领导|老板"
)
_SUBJECT: Final = re.compile(
    rf"^(?:(?:now|these days|so|and|but|actually|well),? )*(?:my|our) (?:[a-z]+ )?(?P<en>{_PEOPLE_EN})\b(?!'s)|"
    rf"^(?:现在|最近|对了)*(?:我们?|咱们?|俺)?(?:家的?|的)?(?:大|小|二|老)?(?P<zh>{_PEOPLE_ZH})(?!的)"
)


def subject_of(text: str) -> str | None:
    """The relative, friend or the like whom a sentence begins with; None where it begins with nobody of that kind."""
    match = _SUBJECT.match(normalise(text))
    return None if match is None else match["en"] or match["zh"]
