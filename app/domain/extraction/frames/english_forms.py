"""The forms of English sentences that tell a slot: patterns over folded clauses."""

import re
from typing import Final

NOUN: Final = r"(?:[a-z1][\w'&/.:-]*)(?: [\w'&/.:-]+){0,5}?"
ADVERB: Final = (
    r"(?:(?:now|currently|still|also|just|actually|already|usually|always|officially|finally|these days|at the moment|"
    r"nowadays|since then|normally|generally|mostly|technically|only) )*"
)
OPENING: Final = (
    r"(?:(?:correction|update|quick update|news|new info|scratch that|change of plans?|fyi|heads up|note|reminder|"
    r"sorry|"
    r"small update|btw|now|these days|nowadays|lately|currently|as of \w+|from now on|so|and|also|actually)[,:-]* )*"
)
IS: Final = r"(?:is|are|'re|will be|is going to be)"
COPULA: Final = re.compile(
    rf"{OPENING}(?:(?P<own>my|our|the) )?(?P<noun>{NOUN})(?: {IS}|'s(?! [\w -]+ (?:is|are|goes|has|was|got|moved)\b)) "
    rf"{ADVERB}(?P<how>called |named |known as |due(?: on| by| in)? |scheduled for |set for |planned for |on |at |"
    rf"in |by |"
    rf"from |based in |based on |located (?:in|at) |hosted (?:on|in|at|with|by) |deployed (?:on|to|in|at) |"
    rf"(?:written|built|made|coded|developed) (?:in|with|on) |running on |served from )?{ADVERB}(?P<value>.+)"
)
HAS_VERB: Final = re.compile(
    rf"{OPENING}(?:(?P<own>my|our|the) )?(?P<noun>{NOUN}) {ADVERB}(?P<how>ends in |ends with |leaves |departs |starts |"
    rf"begins |takes place |happens |has to be (?:in|done|submitted|handed in|finished|ready) (?:by |on )?|"
    rf"needs to be (?:in|done|submitted|handed in|finished|ready) (?:by |on )?|must be (?:in|done|submitted) "
    rf"(?:by |on )?|"
    rf"closes |runs on |runs |uses |listens on |goes to |costs |goes by |attends |lives on |lives in |relies on |"
    rf"points to )"
    rf"(?P<prep>on |at |in |from |by )?{ADVERB}(?P<value>.+)"
)
REVERSED: Final = re.compile(
    rf"{OPENING}(?P<value>(?!it\b|this\b|that\b|he\b|she\b|there\b|here\b|what\b|who\b|i\b|we\b|they\b|you\b)"
    rf"[\w .+#'&-]+?)"
    rf"(?: is| are|'s) {ADVERB}(?:(?P<own>my|our|the|where i call) )?(?P<noun>{NOUN})"
    rf"(?P<now>,? (?:now|these days|nowadays|at the moment|hands down|currently|by far|instead))?"
)
CHANGED: Final = (
    r"(?:moved|pushed|shifted|changed|switched|migrated|rescheduled|postponed|delayed|extended|cut|raised|lowered|"
    r"increased|"
    r"reduced|dropped|went|gone|rose|risen|fell|grew|slipped|jumped|bumped|upgraded|downgraded|renamed|"
    r"transferred|brought|"
    r"updated|converted|set|doubled|adjusted|relocated|swapped|ported|rebooked|upped|slashed|revised)"
)
FROM_TO: Final = (
    r"(?: back| forward| up| down| out| over| again| around| ahead)?(?: from (?P<before>[^,]+?))?"
    r" (?:over to|to|until|till|into|onto) (?P<value>.+)"
)
BECAME: Final = re.compile(
    rf"{OPENING}(?:(?P<own>my|our|the) )?(?P<noun>(?!i\b|we\b|you\b|they\b|he\b|she\b|it\b|this\b|that\b|there\b|"
    rf"everything\b|everyone\b|people\b){NOUN})"
    rf"(?: (?:has|have|'s|had)(?: been| now| just)*| was| were| got| is being| is| gets| will be| is now)?(?: "
    rf"\w+ly| just| now)?"
    rf" {CHANGED}{FROM_TO}"
)
DID: Final = re.compile(
    rf"{OPENING}(?:i|we|they|(?:my|our|the) [\w-]+|someone)(?:'ve| have|'d| had|'re| are)?"
    rf"(?: just| finally| recently| had to| have to| decided to| also| now| already| ended up)*"
    rf" (?:(?!went|gone|rose|risen|fell|grew|slipped|jumped){CHANGED}|move|push|shift|change|switch|raise|lower|"
    rf"cut|reschedule|postpone|rename|increase|extend)"
    rf"(?: back| up| down| forward)?(?: over)? (?:(?P<own>my|our|the) )?(?P<noun>{NOUN}){FROM_TO}"
)
REWROTE: Final = re.compile(
    r"(?:i|we)(?:'ve| have|'re)?(?: just| finally| recently)* (?:rewriting|rewrote|are rewriting|rebuilt|"
    r"rewritten|reimplemented|redid|remade) "
    r"(?P<own>my|our|the) (?P<noun>[\w -]+?) (?:from (?P<before>[^,]+?) )?(?:in|with|on|to|using) (?P<value>.+)"
)
INSTEAD: Final = re.compile(
    r"(?:(?:i|we|(?:my|our) [\w-]+)(?:'ve| have)?(?: just| finally| recently| had to)* )?"
    r"(?!(?:dropped|sold|gave up|quit|cancelled|canceled|stopped|left|closed)\b[^,]* to )(?:replaced|swapped(?: "
    r"out)?|traded(?: in)?|exchanged|ditched|"
    r"dropped|sold|dumped|gave up(?: on)?|quit|cancelled|canceled|stopped(?: using| with)?|left|closed) "
    r"(?:my |our |the )?(?P<before>[^,]+?)(?: account| membership| subscription)?,? (?:with|for|and|in favou?r of|to)"
    r"(?: now| i| i'm| i am| we| we're| have| am|'ve)*"
    r"(?: (?:bought|got|took up|joined|started(?: using| with| at)?|picked up|switched to|went with|use|using|learning|"
    r"moved to|plays?|does|uses|drives|goes to|opened one at|signed up (?:at|with)|am using|go(?:t)? with|adopted|"
    r"chose))? (?P<value>.+)"
)
USED_TO: Final = re.compile(
    rf"{OPENING}(?P<own>my|our|the) (?P<noun>{NOUN}) (?:used to be|was)(?: called| named| on| at| in)? "
    rf"(?P<before>[^,]+?),? "
    r"(?:but |and )?(?:it's now|it is now|now it's|now it is|now|it's)(?: called| on| at| in)? (?P<value>.+)"
)
RENAMED: Final = re.compile(
    rf"{OPENING}(?P<before>[a-z][\w'-]+) (?:has|got) a new (?:name|title|owner):? (?P<value>.+)|"
    rf"{OPENING}(?:we |i |they )?(?:renamed |rename )?(?P<was>[a-z][\w'-]+) (?:is now called|is called|was "
    rf"renamed(?: to)?|goes by|"
    r"to|is now known as|has been renamed(?: to)?) (?P<now>[^,]+)"
)
CHANGE_WORDS: Final = re.compile(
    r"\b(?:now|these days|nowadays|from now on|new|instead|any ?more|switched|changed|moved|currently|as of|no "
    r"longer|lately|"
    r"correction|update)\b"
)
EVENT: Final = re.compile(
    r"(?:.* )?(?:stand-?up|class|lesson|meeting|sync|call|practice|rehearsal|training|shift|party|exam|test|"
    r"appointment|"
    r"flight|train|game|match|retro|retrospective|demo|review|launch|release|interview|session|checkup|check-up|dinner|"
    r"lunch|wedding|concert|course|workshop|conference|1:1|one-on-one|kickoff|deadline|delivery|pickup|choir|therapy|"
    r"presentation|thesis|report|proposal|paper|application|assignment|essay|submission|go-live)$"
)
THING: Final = re.compile(
    r"(?:.* )?(?:ci|api|backend|frontend|app|budget|rent|website|service|server|staging|prod|production|repo|"
    r"database|db|"
    r"alarm|dashboard|port|version|supplier|salary)$"
)
BAD_VALUE: Final = re.compile(
    r"(?:not|so|too|very|really|pretty|quite|a bit|kind of|broken|down|slow|great|good|bad|nice|fine|ok|okay|"
    r"going|being|"
    r"trying|getting|what|why|how|that|because|to|like|about|making|doing|here|there|done|ready|late|early|full|empty|"
    r"still|gone|dead|awful|amazing|weird|wrong|right|unclear|ridiculous|hard|easy|over|up|out|off|on|asking|"
    r"calling|coming|"
    r"failing|working|running|sleeping|sick|tired|busy|crazy|cute|an? (?:mess|pain|joke|disaster|nightmare|"
    r"problem|bit|lot|"
    r"good|great|bad|nice|pleasure|question|must))\b(?! \d)"
)
RECURRING: Final = re.compile(
    r"(?:every |each |the first |alternate )|(?:mon|tues|wednes|thurs|fri|satur|sun)day(?:s| (?:morning|evening|"
    r"afternoon|night)s)\b"
)

TIMES_OF: Final = frozenset(
    {"leaves ", "departs ", "starts ", "begins ", "takes place ", "happens ", "runs ", "closes "}
)


PREPOSITIONS: Final = frozenset(
    [
        "from",
        "to",
        "of",
        "in",
        "on",
        "at",
        "by",
        "for",
        "with",
        "over",
        "up",
        "down",
        "out",
        "off",
        "about",
        "into",
        "back",
        "through",
        "not",
    ]
)
PRONOUNS: Final = frozenset(
    [
        "i",
        "i'm",
        "me",
        "us",
        "him",
        "them",
        "her",
        "we",
        "it",
        "it's",
        "he",
        "she",
        "they",
        "you",
        "that",
        "this",
        "there",
        "here",
        "what",
        "who",
        "where",
        "when",
        "how",
        "one",
        "everything",
        "something",
        "nothing",
        "everyone",
        "nobody",
        "all",
        "most",
        "some",
        "any",
        "these",
        "those",
        "his",
        "her",
        "their",
        "its",
        "your",
    ]
)
