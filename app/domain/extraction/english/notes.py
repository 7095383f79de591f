"""What is noted down rather than said: a fact without its I, without a verb, or after a colon."""

from typing import Final

from app.domain.extraction.english.others import KIN
from app.domain.extraction.patterns import Rule

_THING: Final = (
    r"(?:car|bike|phone|laptop|camera|rent|parking|wifi(?: pass(?:word)?)?|gate code|door code|landlord|gym|commute|salary|"
    r"mortgage|insurance|printer|locker|passport|visa|licen[cs]e|internet|keyboard|monitor|router|pin|tax id|iban|"
    r"membership|subscription|bedtime|curfew|check-?in|check-?out)"
)
_ILLNESS: Final = (
    r"(?:asthma|diabetes|migraines?|hay fever|eczema|insomnia|anxiety|adhd|epilepsy|arthritis|psoriasis|anaemia|anemia|"
    r"high blood pressure|low blood pressure|sleep apnea|ibs|gout|vertigo|tinnitus|dyslexia)"
)
_BAD: Final = r"(?:broken|down|slow|late|dead|acting|not working|cold|great|nice|good|bad|gone|fine|here|so\b|too\b|very\b|again|up\b)"
_PETS: Final = r"(?:cats?|dogs?|parrots?|rabbits?|hamsters?|horses?|puppy|puppies|kittens?|tortoises?|snakes?|guinea pigs?|hens|chickens)"

RULES: Final = (
    Rule(
        r"(?P<value>[\w'-]+(?: [\w'-]+){0,3}) over (?P<before>[\w'-]+(?: [\w'-]+){0,3})(?: any ?day| always| every time| please|"
        r" for me)$",
        "preference",
    ),
    Rule(
        r"(?P<value>(?!not\b|as\b|it\b|that\b|this\b|almost|i\b|we\b|you\b|he\b|she\b|they\b)[\w'-]+(?: [\w'-]+){0,3}),? "
        r"(?:always|mostly|if possible|whenever possible|where possible|preferred|for me|all the way)$",
        "preference",
    ),
    Rule(
        r"<am> (?:a |an |really |very )*(?:big |huge |massive |lifelong )?(?:fan of|into|big on|keen on|obsessed with|more of an?|"
        r"addicted to) (?P<value>(?!it\b|this\b|that\b|trouble).{2,60})",
        "preference",
        "preference.like",
    ),
    Rule(
        r"(?:i'm |i am )?(?:really |just )?not (?:into|a (?:big )?fan of|much of an?|big on|keen on) (?P<value>(?!it\b|this\b|that\b).{2,60})"
        r"|<i> (?:can't|cannot|don't|won't) (?:do|handle|stomach|touch) (?P<thing>(?!it\b|this\b|that\b|anything|much|longer|more|better|the (?:file|code)|"
        r"error|exception)[\w' -]{2,40})$",
        "preference",
        "preference.dislike",
    ),
    Rule(r"(?:i'd|i would) rather (?P<value>(?!not\b).{2,60}) than (?P<before>.{2,60})", "preference"),
    Rule(
        rf"(?:{KIN}|(?:the |my )?(?:twins|kids|baby|toddler|eldest|youngest))(?:'s| is| are| turns?) (?P<value>(?:out|away|off|on "
        r"(?:leave|holiday|vacation|sick leave|call)|in (?!a (?:meeting|mood)|trouble)|from|at|\d{1,2}|allergic|vegan|vegetarian|a|the|"
        r"diabetic|celiac|coeliac|blind|deaf|retired|pregnant|left-handed)\b.{0,80})",
        "relation",
        personal=False,
    ),
    Rule(
        r"(?P<who>(?!it|that|this|he|she|there|here|what|who|where|who|i|everything|today|price|total|answer|result)[a-z][\w'-]{1,20})"
        r"(?:'s| is| turns) (?P<value>\d{1,2}(?: years old| months old)?(?=$|,| and| in| on| next| this)\b.{0,60})",
        "relation",
        personal=False,
    ),
    Rule(r"(?P<who>[a-z][\w'-]{1,20}) ?= ?(?P<value>(?:our|my|the) [a-z].{2,60})", "relation", personal=False),
    Rule(
        rf"(?:a|an|one|two|three|four|five|\d) (?P<value>(?:[\w-]+ ){{0,2}}?{_PETS}(?:,| called| named|:| -).{{2,60}})",
        "relation",
        "user.pet",
    ),
    Rule(
        r"(?:mum|mom|dad|mother|father|parent|grandma|grandpa) of (?P<value>(?:one|two|three|four|five|\d|twins)\b.{0,60})",
        "relation",
        "user.child",
    ),
    Rule(
        r"(?P<value>(?:bad|weak|dodgy|sore|injured|old) (?:left |right |lower )?(?:back|knees?|shoulder|hip|ankle|wrist|neck|eyes|heart|"
        rf"stomach|ears?)|{_ILLNESS})(?: since.*| so.*|,.*| for .*| from .*)?$|<i> (?:have|get|suffer from) (?P<illness>{_ILLNESS}\b.{{0,40}})",
        "constraint",
        "user.health",
        importance=8,
    ),
    Rule(
        r"(?P<value>(?!it|that|this)[a-z][a-z-]{3,20}(?: \d+ ?(?:mg|mcg|ml|g))?) (?:once|twice|three times|\d times) (?:a|per) (?:day|week)\b"
        r".{0,30}",
        "constraint",
        "user.health",
    ),
    Rule(
        r"(?:(?:the |my |our |one |big )*(?:lessons?(?: learn(?:ed|t))?|takeaway|moral(?: of the story)?|gotcha|note for next time)"
        r"(?: for (?:me|us|next time))?(?: is| was|:|,)? ?(?:that )?|next time (?:i'll |we'll |we should |i should |let's )?|"
        r"<i> learn(?:ed|t)(?: the hard way)?(?: that|:) )(?P<value>(?!i see\b).{5,160})",
        "lesson",
        personal=False,
    ),
    Rule(
        r"(?:the |a )?(?:trick|fix|solution|workaround|root cause|culprit|key)(?: (?:was|is|turned out to be)|:) (?P<value>.{4,160})|"
        r"what (?:finally |really )?(?:fixed|solved|helped|worked|did it)(?: it)?(?: was| is|:) (?P<cure>.{4,160})",
        "lesson",
        personal=False,
    ),
    Rule(
        r"(?:(?:our|my|the|new|current) )*(?P<what>stack|tech stack|hosting|framework|font|theme|units?|currency|size|target|diet|"
        r"allergies|hobbies|laptop|car|phone|editor|shell|browser|database|db|goal|budget|deadline)(?: ?[:=]) (?P<value>.{2,80})",
        "other",
    ),
    Rule(
        r"(?:tabs|spaces|line (?:length|width)|indent(?:ation)?|column limit|tab width)(?: of|:| is| at|,)? ?(?P<value>(?:width )?(?:\d|two|"
        r"four|tabs|spaces).{0,20})$",
        "preference",
        "preference.style",
    ),
    Rule(
        r"(?P<value>(?:commits?(?: messages)?|docs|comments|names|tests|answers|code|docstrings|variables|notes|subtitles|menus?) in "
        r"(?:english|chinese|german|french|spanish|japanese|dutch|italian|lower ?case|camel ?case|snake ?case))(?:,? please)?$",
        "constraint",
    ),
    Rule(
        rf"(?:my |our |the )?{_THING}(?:'s| is| are|:) (?P<value>(?!{_BAD})[^?]{{1,80}})",
        "other",
        personal=False,
    ),
    Rule(
        r"(?P<value>(?:nothing|no (?!idea|problem|need|worries|way|one|more|longer|doubt|rush|luck|chance|errors?|output|change)[\w-]+(?: [\w-]+)?) "
        r"(?:after|before|on|between|during|past|until|at|over|above|under|in) .{2,60})",
        "constraint",
        personal=False,
    ),
    Rule(
        r"(?P<value>(?!it\b|that\b|this\b)[\w' -]{3,50}?) (?:is|are) (?:a must|mandatory|non-negotiable|a no-go|off[- ]limits|essential|"
        r"out of the question|a deal-?breaker)\b",
        "constraint",
        personal=False,
    ),
)
