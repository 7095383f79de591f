"""What English verbs say of how one lives: whom with, what one pays, studies, rides, reads; and how to be reached."""

from typing import Final

from app.domain.extraction.frames.verb_frame import DOES, IS, VALUE, verb_frame

LIFE: Final = (
    verb_frame(
        r"(?P<value>[a-z][\w'-]+) and i(?:'ve| have)?(?: just| recently| finally)* (?:broke up|broken up|split up|"
        r"split|"
        r"separated|got divorced|divorced)\b.*",
        "user.partner",
        "relation",
        "ends",
        name=True,
    ),
    verb_frame(
        r"i(?:'ve| have)?(?: just| recently| finally)* (?:broke up|broken up|split up|"
        r"split) with (?P<value>[a-z][\w'-]+)\b.*",
        "user.partner",
        "relation",
        "ends",
        name=True,
    ),
    verb_frame(rf"(?:{IS}|{DOES}) (?P<value>retired)\b(?! from).*", "user.job", "identity", "replaces"),
    verb_frame(
        r"(?:i|we)(?:'ve| have|'m| am)?(?: now| still| also| just| finally| actually)* (?P<value>smoke|vape|(?:don't|"
        r"do not) "
        r"(?:smoke|vape)|(?:started|back to) smoking|a smoker|"
        r"a non-?smoker)\b(?! (?:salmon|fish|meat|ribs|brisket)).*",
        "user.smoking",
        "preference",
        "replaces",
    ),
    verb_frame(
        r"(?:i|we)(?:'ve| have|'m| am)?(?: now| still| also| just| finally| actually)* (?P<value>(?:don't|do not|"
        r"never) drink"
        r"(?: alcohol)?|(?:quit|stopped|gave up) (?:drinking|alcohol)|(?:started|back to) drinking(?: (?:wine|beer|"
        r"alcohol))?|"
        r"a teetotall?er)(?: (?:again|at all|any ?more|now|last|this|in|since)\b.*)?",
        "user.drinking",
        "preference",
        "replaces",
    ),
    verb_frame(
        rf"{DOES} (?:have|use|got|bought|own|switched to)(?: myself)?(?: an?|"
        rf" my)?(?: new)? (?P<value>[\w+ -]+?) (?:phone|"
        rf"smartphone)",
        "user.phone_model",
        "identity",
        name=True,
    ),
    verb_frame(
        rf"{DOES} (?:got|bought|upgraded to|switched to|have|own)(?: myself)?(?: an?| my| the)?(?: new)? "
        rf"(?P<value>(?:iphone|pixel|galaxy|oneplus|xiaomi|huawei|nokia)\b[\w +-]*?)(?: (?:last|this|yesterday|now|"
        rf"today)\b.*)?",
        "user.phone_model",
        "identity",
    ),
    verb_frame(rf"{IS} staying at {VALUE}", "user.lodging", "event", name=True),
    verb_frame(
        r"i'd (?:like|prefer) (?P<value>[a-z-]+(?:,? (?:and )?[a-z-]+){0,2}?) (?:answers|replies|responses|"
        r"explanations)\b.*",
        "preference.style",
        "preference",
    ),
    verb_frame(
        r".*\b(?:my|new) (?:new |current )?(?:e-?mail|mail)\b[^@]{0,40}?(?P<value>(?<![\w.+-])[\w.+-]+@[\w.-]+\.\w+).*",
        "user.email",
        "identity",
    ),
    verb_frame(
        r".*\bmy (?:new |current )?(?:phone |cell |mobile |work )?number\b[^\d]{0,30}?(?P<value>\+?\d[\d ()-]{5,20}\d"
        r")\b.*",
        "user.phone",
        "identity",
    ),
    verb_frame(
        rf"{DOES} pay(?:ing)? (?:about |around )?(?P<value>[$€£¥]?\d[\d.,]* ?k?(?: ?(?:euros?|dollars|pounds|eur|usd|"
        rf"gbp|"
        rf"bucks))?)(?: (?:a|per|each|every) month| monthly)?(?: in| for)? (?:rent|my (?:flat|apartment|room|"
        rf"place))\b.*",
        "user.rent",
        "identity",
    ),
    verb_frame(
        rf"(?:{DOES} (?:live|stay)|{IS} living) (?:(?:together )?with (?=my|our|an?\b|two|three|four|some|her|his)|"
        r"(?=alone|by myself|on my own))(?P<value>[\w' -]+?)(?: now| again| these days)*",
        "user.household",
        "identity",
    ),
    verb_frame(rf"{DOES} (?:stay|reside|dwell) in {VALUE}", "user.city", "identity", name=True),
    verb_frame(
        rf"(?:{DOES} (?:study|am reading|majored in|switched to studying)|{IS} (?:now )?studying) (?P<value>(?!for\b|"
        rf"the\b|"
        rf"how\b|this\b|that\b|it\b|at\b|in\b|abroad|hard|every|on\b|from\b|with\b|english|french|german|spanish|"
        rf"italian|japanese|chinese|korean|portuguese|russian|arabic)[a-z][a-z &-]{{2,30}}?)(?: (?:at|in) .*)?",
        "user.major",
        "identity",
    ),
    verb_frame(
        rf"(?:{DOES} (?:started|start|went back to|gone back to|am back to|went back|began|returned to)|"
        rf"{IS} (?:back to )?)"
        rf" ?(?P<value>eating (?:meat|fish|dairy|eggs|everything|animal products))\b.*",
        "user.diet",
        "preference",
        "replaces",
    ),
    verb_frame(rf"{DOES} eat (?P<value>meat|everything) (?:again|now)\b.*", "user.diet", "preference", "replaces"),
    verb_frame(
        rf"(?:{DOES} run|{IS} (?:up to|running)|{DOES} (?:jog|swim|cycle|walk)) (?P<value>\d[\d.]* ?(?:k|km|kms|miles?|"
        rf"kilomet\w+|laps|steps))\b(?! (?:race|marathon)).*",
        "user.training_distance",
        "preference",
    ),
    verb_frame(
        r"(?P<value>[a-z][\w'-]*(?: [a-z][\w'-]*)?) (?:has |is )?(?:took over|taken over|takes over|taking over)"
        r"(?: as)? (?:the |our )?(?P<noun>[\w -]+?)(?: from (?P<before>[\w' -]+?))?(?: (?:now|last|this|in)\b.*)?",
        "{slot}.owner",
        "relation",
        "replaces",
        name=True,
    ),
    verb_frame(
        r"(?P<value>[a-z][\w'-]*(?: [a-z][\w'-]*)?)(?:'s| is) (?:now )?on[ -]call\b(?: (?:this|these|for|now|until|on|"
        r"today)\b.*?)?(?:,? ?instead of (?P<before>[\w'-]+)| instead)?",
        "project.on_call",
        "relation",
        name=True,
    ),
    verb_frame(rf"{DOES} ride (?:a |an |my )?{VALUE}", "user.bike", "identity", name=True),
    verb_frame(
        rf"{DOES} have (?P<value>(?:very )?(?:long|short|curly|straight|red|blonde?|black|brown|dark|gr[ea]y|dyed|"
        rf"shoulder-"
        rf"length|buzzed)(?:,? \w+)?) hair",
        "user.hair",
        "identity",
    ),
    verb_frame(
        r"(?:please |from now on,? |in future,? |i'd (?:like|prefer) |i (?:want|prefer|would like|would prefer) |"
        r"give me |"
        r"make |write |always |use )+(?:your |the |me )?(?P<value>(?!the\b|your\b|any\b|some\b)(?:more |very |really )?"
        r"[a-z-]+(?:,? (?:and )?[a-z-]+){0,2}?) (?:answers|replies|responses|explanations)\b.*",
        "preference.style",
        "preference",
    ),
    verb_frame(
        r"(?:please |from now on,? |i'd like you to |i want you to |always |can you )*(?:keep|"
        r"make) (?:all )?(?:your |the |my )?"
        r"(?:answers|replies|responses|explanations) (?P<value>[^,]+)",
        "preference.style",
        "preference",
    ),
    verb_frame(
        rf"{DOES} (?:have|got|found) (?P<value>a (?:new )?(?:girlfriend|boyfriend|partner)) now",
        "user.marital_status",
        "identity",
        "replaces",
    ),
    verb_frame(
        r"my (?:full |legal |real |first |english |chinese |official )name(?: is|'s) (?P<value>(?!not\b|"
        r"on\b)[a-z][\w' -]+)",
        "user.name",
        "identity",
        name=True,
    ),
    verb_frame(
        rf"(?:{DOES} (?:can't digest|can't tolerate)|{IS}) (?P<value>(?:lactose|gluten|fructose|histamine|dairy))"
        r"(?:[- ](?:intolerant|sensitive)|$)",
        "user.allergy",
        "constraint",
    ),
)


MOVED: Final = (
    verb_frame(
        rf"{DOES} (?:moved|switched|migrated|ported) (?:everything|it all|all my [\w ]+?)(?: over)?"
        rf"(?: from (?P<before>[^,]+?))? to {VALUE}",
        "{name}",
        "preference",
        "replaces",
    ),
    verb_frame(
        rf"{DOES} (?:upgraded|downgraded|switched|moved|changed|went)(?: over)?(?: from (?P<before>[^,]+?))? to "
        rf"(?:an? |my |the )?{VALUE}",
        "{name}",
        "preference",
        "replaces",
    ),
)
"""What is moved to is known by its name alone; frames that say more come first."""
