"""One clause that tells of two slots: "a nurse at Royal Free" is what one does and where, 在协和当护士 too."""

import re
from dataclasses import replace
from typing import Final

from app.domain.extraction.candidates import Candidate
from app.domain.extraction.folding import folded

_KEYS: Final = frozenset({"user.job", "user.employer"})
_AS_EN: Final = re.compile(
    r"(?P<head>(?:(?:now|currently|these days),? )?(?:i'm|i am|i work as|i've been|i was hired as|i'm working as|"
    r"i started as|i got (?:a |my )?(?:new )?job as|i work)(?: now| currently| still| also| working)* "
    r"(?P<job>(?:an? |the )?(?!based|living|working|employed|at\b|in\b|for\b)[a-z][\w /-]{2,40}?)) (?:at|for|with|"
    r"over at) "
    r"(?P<employer>(?!a\b|an\b|my\b|our\b|the moment|home|heart|least|night|work\b|school\b|university\b|"
    r"\d)[^,.;]{2,40}?)"
    r"(?P<rest>(?: (?:now|in|on|since|for|these|from|as of|and|but|this|last)\b.*|,.*|\.)?)$"
)
_AT_EN: Final = re.compile(
    r"(?P<head>(?:(?:now|currently|these days),? )?(?:i work|i'm working|i am working|i started(?: working)?|i'm|i am)"
    r"(?: now| currently)* (?:at|for|with) (?P<employer>[^,.;]{2,40}?)) as (?P<job>(?:an? |the )[\w /-]{2,40}?)"
    r"(?P<rest>(?: (?:now|in|on|since|these|from|and|but|this|last)\b.*|,.*|\.)?)$"
)
_ZH: Final = re.compile(
    r"(?P<me>(?:现在|目前)?我?(?:现在|目前|刚)?)在(?P<employer>(?!家|这|那|线|外地)[^,，在]{2,12}?)(?:公司)?"
    r"(?P<does>当|担任|做|任)(?:一?[名个位])?(?P<job>(?!的|了|什|饭|菜|客|过|义工|志愿)[^,，的了]{2,8}?)(?:了|的|,.*|，.*)*$"
)
_GENERIC: Final = re.compile(
    r"(?:(?:a|the|my) )?(?:small|local|big|tiny|new|startup|company|hospital|school|bank|university|restaurant|cafe|"
    r"shop)\b|"
    r"(?:一家|一个|某)?(?:小|大)?(?:公司|医院|学校|餐馆|餐厅|馆子|店)$"
)


def both_slots(candidate: Candidate) -> list[Candidate]:
    """A statement of a job at a named employer as one of the job and one of the employer; else as it is.

    The employer's says it all, the job's only what one does, so that each can be told anew by itself.
    """
    if candidate.key not in _KEYS or candidate.explicit or candidate.change == "ends":
        return [candidate]
    plain = folded(candidate.text)
    match = _AS_EN.match(plain) or _AT_EN.match(plain) or _ZH.match(plain)
    if match is None or _GENERIC.match(match["employer"]):
        return [candidate]
    text = candidate.text
    job, employer = text[slice(*match.span("job"))], text[slice(*match.span("employer"))]
    if employer.isascii() and not re.search(r"[A-Z0-9]", employer):
        return [candidate]
    if match.re is _ZH:
        part = f"{text[slice(*match.span('me'))]}{text[match.start('does') : match.end('job')]}"
        pair = [
            replace(candidate, text=part, key="user.job", value=job),
            replace(candidate, key="user.employer", value=employer),
        ]
    else:
        head = text[slice(*match.span("head"))]
        jobs = match.re is _AS_EN
        pair = [
            replace(candidate, text=head if jobs else text, key="user.job", value=job),
            replace(candidate, text=text if jobs else head, key="user.employer", value=employer),
        ]
    return [replace(one, before=None) if one.key != candidate.key else one for one in pair]
