"""Whether something that stands where a secret would is one: not a placeholder, not a word about secrets, not code."""

import re
from typing import Final

MIN_RANDOM: Final = 16
MIN_PASSWORD: Final = 4
_MASKED: Final = re.compile(r"[*xX.•●_\-#]{3,256}+$|[*•●]{2}|\.\.\.|…")
_REFERENCE: Final = re.compile(
    r"\$[{(]?[A-Za-z_]|\{\{?|<[^>]{0,64}+>?|%[({]?[A-Za-z_]{3,64}+[)}%]|@[A-Za-z_]{1,64}+@?$"
)
_CODE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,64}+(?:[(\[]|(?:\.[A-Za-z_]{2,64}+){1,8}+(?:[(\[,;:)]|$))")
_NAME_OF_ONE: Final = re.compile(r"[a-z0-9_]{0,40}?_(?:password|passwd|passphrase|pass|pwd)", re.IGNORECASE)
_STAND_IN: Final = re.compile(r"your|example|placeholder|insert|redacted|dummy|here$", re.IGNORECASE)
_TECHNICAL: Final = re.compile(
    r"(?:sha|md|aes|rsa|utf|base|argon|scrypt|bcrypt|pbkdf|hmac|ed|tls|oauth|latin|varchar|char|int|v)[-_]?[0-9]{0,5}+"
    r"(?:id|-[a-z]{2,4}+)?+(?:\([0-9]{1,5}+\))?",
    re.IGNORECASE,
)
_NUMBERING: Final = re.compile(
    r"v?[0-9]{1,4}+(?:\.[0-9]{1,5}+){1,4}+|[0-9]{4}-[0-9]{1,2}+(?:-[0-9]{1,2}+)?+(?:T[0-9:.Z+-]{1,30}+)?+|[0-9]{1,2}+[-~][0-9]{1,3}+"
)
_UUID: Final = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_SUFFIX: Final = re.compile(r"(?:ed|ing|able|ible|ive|ful|less|ly)$")
_SYMBOL: Final = re.compile(r"[!@#$%^&*+=~_?/\\|]")

_ABOUT: Final = frozenset(
    """
    a about absent again all also always an and any anything are as at bad be because been before being below best
    blank both but by can cannot case-sensitive clear complex compromised confidential correct default defaults
    different down dynamic easy empty enough env environment equal exactly expired fail false field file filled fine
    for from given good gone great hard hash hashes he hidden his how if important in incorrect input int intact
    integer invalid irrelevant it its just kept key known lame later like local long lost mandatory masked missing
    more must my needed never new nil no none not nothing now null number object of off ok okay old on one only open
    optional or our out pass passcode passphrase passwd password plain plaintext please poor private prompt public
    pwd random read-only required reset right safe same secret secrets secure see self set she short shown simple so
    some something soon static still stored str strict string strong sure temporary text that the their them then
    there they this tier to today token too true type typed undefined unique unknown unset unsafe up used user valid
    value varchar very visible void wait was weak what when where which who why will with write-only wrong yes yet
    you your encrypted
    """.split()  # noqa: SIM905 - words
)
"""What stands after "password is" and is none: words about passwords, and the small words of a sentence."""

_ABOUT_ZH: Final = re.compile(
    "[必请請不至未已需无無为為由可见見同输輸忘错錯略是的在和与或有什怎哪多长長字数數大小保加默初随隨没沒还還被要会會能只就也都很]"
)


def placeholder_like(value: str) -> bool:
    """Whether a value stands for one: masked, a reference to a variable, a stand-in, or code that yields it."""
    return (
        not any(character.isalnum() for character in value)
        or _MASKED.match(value) is not None
        or _REFERENCE.match(value) is not None
        or _CODE.match(value) is not None
        or (len(set(value.lower())) == 1 and not value[0].isdigit())
    )


def random_like(value: str, *, least: int = MIN_RANDOM) -> bool:
    """Whether a value is a run of letters and digits as programs make them, not a word, a date or a version."""
    if len(value) < least or placeholder_like(value) or _STAND_IN.search(value) is not None:
        return False
    digits = sum("0" <= character <= "9" for character in value)
    letters = sum(character.isalpha() for character in value)
    return digits > 0 and letters > 0 and _NUMBERING.fullmatch(value) is None


def is_uuid(value: str) -> bool:
    """Whether it is a UUID, which is a name more often than a secret."""
    return _UUID.fullmatch(value) is not None


def strong(value: str) -> bool:
    """Whether nobody would write this but as a password: letters and digits together, or symbols within letters."""
    if len(value) < MIN_PASSWORD or placeholder_like(value) or technical(value):
        return False
    has_digit = any("0" <= character <= "9" for character in value)
    has_letter = any(character.isalpha() for character in value)
    return has_letter and (has_digit or _SYMBOL.search(value[1:-1]) is not None or value[-1] in "!@#$%^&*")


def technical(value: str) -> bool:
    """Whether it names a hash, a type, a version, a date or a range."""
    return _TECHNICAL.fullmatch(value) is not None or _NUMBERING.fullmatch(value) is not None


def assigned_password(value: str) -> bool:
    """Whether what stands after `password=` is one: anything but stand-ins, references, types and words about it."""
    bare = value.lower().strip("'\"")
    if placeholder_like(value) or technical(value) or _STAND_IN.match(value) is not None:
        return False
    if _NAME_OF_ONE.fullmatch(value) is not None:
        return False
    if bare.rstrip(".,;:!?") in _ABOUT or (value.isdigit() and len(value) < MIN_PASSWORD):
        return False
    return len(value) >= MIN_PASSWORD - 1


def told_password(value: str, *, ends_clause: bool) -> bool:
    """Whether what a sentence calls a password is one: `hunter2` is, `required` is not, `sunshine` ends the clause."""
    if strong(value) or (value.isdigit() and len(value) >= MIN_PASSWORD):
        return True
    if placeholder_like(value) or technical(value) or not value.isalpha() or len(value) < MIN_PASSWORD:
        return False
    if value.lower() in _ABOUT or _SUFFIX.search(value.lower()) is not None:
        return False
    inner = any("A" <= character <= "Z" for character in value[1:]) and not value.isupper()
    return inner or ends_clause


def told_in_han(value: str) -> bool:
    """Whether Chinese words are a watchword and not a remark about one."""
    return _ABOUT_ZH.match(value) is None
