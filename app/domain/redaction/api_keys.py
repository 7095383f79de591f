"""API keys that tell by their own form whose they are.

Each vendor's key is found by its prefix, then its body is read once: possessive, never given back.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from app.domain.redaction.folding import Folded
from app.domain.redaction.kinds import Secret
from app.domain.redaction.values import random_like

_WORD: Final = "[A-Za-z0-9]"
_URL: Final = "[A-Za-z0-9_-]"
_DOTTED: Final = "[A-Za-z0-9_.-]"
_SLASHED: Final = "[A-Za-z0-9_./-]"
_HEX: Final = "[0-9a-f]"
_BASE32: Final = "[A-Z2-7]"
_BASE64: Final = "[A-Za-z0-9+/=]"

_VENDORS: Final[dict[tuple[str, int], str]] = {
    (
        _URL,
        20,
    ): "sk-ant- sk-proj- sk-svcacct- sk-admin- sk-or-v1- sk-lf- sk-None- glpat- gldt- glrt- glcbt- glptt- glft- "
    "glsoat- glimt- glagent- gloas- xoxb- xoxp- xoxa- xoxe- xoxr- xoxs- xoxo- xapp- GOCSPX- mnk_ tvly- nvapi- pcsk_ "
    "figd_ dckr_pat_ PMAK- NRAK- "
    "lsv2_pt_ lsv2_sk_ pscale_tkn_ pscale_pw_ sbp_ sntryu_ sntrys_ glc_ tgp_v1_ jina_ sq0csp- "
    "sq0atp- django-insecure- rubygems_ tskey- ops_ey cfut_",
    (_WORD, 20): "sk- gsk_ xai- pplx- r8_ hf_ api_org_ AKLT lin_api_ ntn_ secret_ csk- fw_ EAACEdEose0cBA HRKU-",
    (_WORD, 16): "sk_live_ sk_test_ rk_live_ rk_test_ whsec_ LTAI",
    (_WORD, 30): "ghp_ gho_ ghu_ ghs_ ghr_ npm_ AKID",
    ("[A-Za-z0-9_]", 30): "github_pat_ glsa_",
    (_URL, 30): "AIza pypi-AgE",
    (_DOTTED, 20): "ya29. SG. hvs. hvb. hvr. dp.pt. dp.st. sl.B",
    (_SLASHED, 20): "bce-v3/ALTAK- ATATT3x ATCTT3x",
    (_HEX, 32): "dapi shpat_ shpca_ shppa_ shpss_ dop_v1_ doo_v1_ dor_v1_ key- SK",
    (_HEX, 40): "sk_",
    (_BASE32, 16): "AKIA ASIA ABIA ACCA A3T",
    ("[0-9A-Z]", 50): "AGE-SECRET-KEY-1",
    (_BASE64, 40): "AccountKey= SharedAccessKey= SharedAccessSignature=",
    ("[A-Za-z0-9%+/]", 30): "&sig= ?sig=",
    ("[A-Za-z0-9/]", 30): "hooks.slack.com/services/",
    ("[A-Za-z0-9_/-]", 60): "/api/webhooks/",
}
_BODY_ONLY: Final = frozenset({"AccountKey=", "SharedAccessKey=", "SharedAccessSignature=", "&sig=", "?sig="})
_PATHS: Final = frozenset({"hooks.slack.com/services/", "/api/webhooks/"})
_NUMBERED: Final = "/api/webhooks/"
"""After it comes the webhook's number, which is none of its secrets."""

_PRIVATE: Final = frozenset({"AGE-SECRET-KEY-1"})
_SURE: Final = frozenset({"AKIA", "ASIA", "ABIA", "ACCA", "A3T", "AGE-SECRET-KEY-1"})
"""Keys of capitals and few digits: their length and their prefix are enough."""

_EMBEDDED: Final = "LTAI AKID AKLT AKIA ASIA ABIA ACCA A3T SK dapi".split()  # noqa: SIM905 - a list of words


@dataclass(frozen=True, slots=True)
class _Vendor:
    prefix: str
    body: "re.Pattern[str]"


BODIES: Final = {body: re.compile(f"{body[0]}{{{body[1]},}}+") for body in _VENDORS}
_ALL: Final = tuple(_Vendor(prefix, BODIES[body]) for body, prefixes in _VENDORS.items() for prefix in prefixes.split())
KEY_RUN: Final = re.compile(r"[A-Za-z0-9+/_%.=-]{16}")
"""Every key has such a run: few texts do, and only they are looked through prefix by prefix."""

_LONG_RUN: Final = re.compile(r"[A-Za-z0-9+/=_.:-]{32}")
UNPREFIXED: Final = {
    "telegram": re.compile(r"(?<![0-9])[0-9]{8,10}+:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])"),
    "zhipu": re.compile(r"(?<![0-9a-fA-F.])[0-9a-f]{32}\.[A-Za-z0-9]{16}(?![A-Za-z0-9])"),
    "mailchimp": re.compile(r"(?<![0-9a-fA-F])[0-9a-f]{32}-us[0-9]{1,2}+(?![0-9a-z])"),
    "discord": re.compile(
        r"(?<![A-Za-z0-9_.-])[MNO][A-Za-z0-9_-]{22,25}+\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}+(?![A-Za-z0-9_.-])"
    ),
    "azure": re.compile(r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}+(?![A-Za-z0-9_~.-])"),
    "airtable": re.compile(r"(?<![A-Za-z0-9])pat[A-Za-z0-9]{14}\.[0-9a-f]{64}(?![0-9a-f])"),
    "terraform": re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,80}+"),
    "firebase": re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9_-]{8,24}+:APA91b[A-Za-z0-9_-]{100,200}+"),
}
AWS_SECRET: Final = re.compile(r"(?<![A-Za-z0-9+/=_.-])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=_-])")
_AWS_WORDS: Final = ("aws", "akia", "asia", "secret access", "secret_access", "secretaccess")
_AWS_NEAR: Final = 160


def find_api_keys(folded: Folded) -> Iterator[Secret]:
    """Keys of vendors, with their prefixes; of webhooks and storage accounts what comes after the address."""
    text = folded.text
    if KEY_RUN.search(text) is None:
        return
    for vendor in _ALL:
        if vendor.prefix in text:
            yield from _of_vendor(text, vendor)
    if _LONG_RUN.search(text) is None:
        return
    for pattern in UNPREFIXED.values():
        for found in pattern.finditer(text):
            yield Secret(found.start(), found.end(), "api_key")
    if any(word in folded.lower for word in _AWS_WORDS):
        yield from _aws_secrets(folded)


def _of_vendor(text: str, vendor: _Vendor) -> Iterator[Secret]:
    prefix, at = vendor.prefix, text.find(vendor.prefix)
    while at >= 0:
        begin = at + len(prefix)
        body = vendor.body.match(text, begin)
        end = begin if body is None else begin + len(body[0].rstrip(".="))
        if body is not None and body[0].endswith("="):
            end = body.end()
        if body is not None and _stands_alone(text, at, prefix) and _is_key(prefix, body[0]):
            start = at
            if prefix in _BODY_ONLY | _PATHS:
                start = begin + (body[0].find("/") + 1 if prefix == _NUMBERED else 0)
            yield Secret(start, end, "private_key" if prefix in _PRIVATE else "api_key")
        at = text.find(prefix, max(end, at + 1))


def _stands_alone(text: str, at: int, prefix: str) -> bool:
    if prefix in _BODY_ONLY | _PATHS or at == 0:
        return True
    before = text[at - 1]
    if not before.isascii():
        return True
    return not before.isalnum() and not (before == "_" and prefix in _EMBEDDED)


def _is_key(prefix: str, body: str) -> bool:
    if prefix in _SURE:
        return True
    if prefix in {"key-", "SK"}:
        return len(body) == 32  # noqa: PLR2004 - Mailgun's and Twilio's length
    if prefix in _PATHS:
        body = body.partition("/")[2]
    return random_like(body)


def _aws_secrets(folded: Folded) -> Iterator[Secret]:
    for found in AWS_SECRET.finditer(folded.text):
        near = folded.lower[max(0, found.start() - _AWS_NEAR) : found.end() + _AWS_NEAR]
        mixed = any("A" <= one <= "Z" for one in found[0]) and any("a" <= one <= "z" for one in found[0])
        if mixed and random_like(found[0]) and any(word in near for word in _AWS_WORDS):
            yield Secret(found.start(), found.end(), "api_key")
