"""What the user's body bears and does not."""

from typing import Final

from app.domain.extraction.patterns import Rule

_PART: Final = r"(?:stomach|knee|back|skin|sleep|head|shoulder|wrist|ankle|hip|neck|eyes?|ears?|heart|elbow|throat|gut)"

RULES: Final = (
    Rule(
        rf"(?P<value>[^,]{{2,60}}?) (?:wrecks?|upsets?|irritates?|bothers?|kills?|triggers?|gives) (?:my {_PART}|"
        rf"me (?:hives|"
        r"headaches|a headache|migraines|heartburn|cramps|a rash|nightmares))\b.{0,40}",
        "constraint",
        "user.health",
        importance=8,
    ),
    Rule(
        rf"<i> have (?P<value>(?:a |an )?(?:bad|weak|sore|sensitive|torn|chronic|old|herniated|slipped|irregular) "
        rf"(?:left |right |lower |upper )?(?:{_PART}|injury|disc|heartbeat|pain)\b.{{0,60}})",
        "constraint",
        "user.health",
        importance=8,
    ),
    Rule(
        r"<am> off (?P<value>(?!to\b|work\b|today|tomorrow|the\b|on\b|for\b|from\b|now\b|until\b)[a-z]+(?: [a-z]+)?)",
        "constraint",
        "user.diet",
        importance=8,
    ),
    Rule(
        r"<am> (?:mildly |severely |slightly |a bit |also )*(?:allergic|intolerant|sensitive) to (?P<value>.{2,80})",
        "constraint",
        "user.allergy",
        importance=9,
    ),
    Rule(
        r"<i> take (?P<value>(?!it\b|that\b|this\b|care|the (?:bus|train|tram|car)|notes?|a (?:look|break|nap|walk|"
        r"bus|train)|"
        r"time|my time|part|issue|pride)[a-z][\w -]{2,40}?(?: \d+ ?(?:mcg|mg|g|ml|iu))?(?: pills?| tablets?)? "
        r"(?:daily|every|twice|once|each|at night|in the (?:morning|evening)|before|after)\b.{0,40})",
        "constraint",
        "user.health",
        importance=8,
    ),
    Rule(
        r"(?P<value>(?:lactose|gluten|histamine|fructose) intolerance|c(?:o?e)liac disease)$",
        "constraint",
        "user.allergy",
    ),
)
