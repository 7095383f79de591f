"""What is noted down rather than said: a fact without its I, without a verb, or after a colon."""

from typing import Final

from app.domain.extraction.english.others import KIN
from app.domain.extraction.patterns import Rule

_THING: Final = (
    r"(?:car|bike|phone|laptop|camera|rent|parking|wifi(?: pass(?:word)?)?|gate code|door code|landlord|gym|commute|"
    r"salary|"
    r"mortgage|insurance|printer|locker|passport|visa|licen[cs]e|internet|keyboard|monitor|router|pin|tax id|iban|"
    r"membership|subscription|bedtime|curfew|check-?in|check-?out)"
)
_ILLNESS: Final = (
    r"(?:asthma|diabetes|migraines?|hay fever|eczema|insomnia|anxiety|adhd|epilepsy|arthritis|psoriasis|anaemia|anemia|"
    r"high blood pressure|low blood pressure|sleep apnea|ibs|gout|vertigo|tinnitus|dyslexia)"
)
_BAD: Final = (
    r"(?:broken|down|slow|late|dead|acting|not working|cold|great|nice|"
    r"good|bad|gone|fine|here|so\b|too\b|very\b|again|up\b)"
)
_PETS: Final = (
    r"(?:cats?|dogs?|parrots?|rabbits?|hamsters?|horses?|puppy|puppies|"
    r"kittens?|tortoises?|snakes?|guinea pigs?|hens|chickens)"
)

RULES: Final = (
    Rule(
        r"(?P<value>[\w'-]+(?: [\w'-]+){0,3}) over (?P<before>[\w'-]+(?: [\w'-]+){0,3})(?: any ?day| always|"
        r" every time| please|"
        r" for me)$",
        "preference",
    ),
    Rule(
        r"(?P<value>(?!not\b|as\b|it\b|that\b|this\b|almost|i\b|we\b|you\b|he\b|she\b|"
        r"they\b)[\w'-]+(?: [\w'-]+){0,3}),? "
        r"(?:always|mostly|if possible|whenever possible|where possible|preferred|for me|all the way)$",
        "preference",
    ),
    Rule(
        r"<am> (?:a |an |really |very )*(?:big |huge |massive |lifelong )?(?:fan of|into|big on|keen on|"
        r"obsessed with|more of an?|"
        r"addicted to) (?P<value>(?!it\b|this\b|that\b|trouble).{2,60})",
        "preference",
        "preference.like",
    ),
    Rule(
        r"(?:i'm |i am )?(?:really |just )?not (?:into|a (?:big )?fan of|much of an?|big on|"
        r"keen on) (?P<value>(?!it\b|this\b|that\b).{2,60})"
        r"|<i> (?:can't|cannot|don't|won't) (?:do|handle|stomach|touch) (?P<thing>(?!it\b|this\b|that\b|anything|"
        r"much|longer|more|better|the (?:file|code)|"
        r"error|exception)[\w' -]{2,40})$",
        "preference",
        "preference.dislike",
    ),
    Rule(r"(?:i'd|i would) rather (?P<value>(?!not\b).{2,60}) than (?P<before>.{2,60})", "preference"),
    Rule(
        rf"(?:{KIN}|(?:the |my )?(?:twins|kids|baby|toddler|eldest|youngest))(?:'s| is| are|"
        rf" turns?) (?P<value>(?:out|away|off|on "
        r"(?:leave|holiday|vacation|sick leave|call)|in (?!a (?:meeting|mood)|trouble)|from|at|\d{1,2}|allergic|"
        r"vegan|vegetarian|a|the|"
        r"diabetic|celiac|coeliac|blind|deaf|retired|pregnant|left-handed)\b.{0,80})",
        "relation",
        personal=False,
    ),
    Rule(
        r"(?P<who>(?!it|that|this|he|she|there|here|what|who|where|who|i|everything|today|price|total|answer|"
        r"result)[a-z][\w'-]{1,20})"
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
        r"(?:mum|mom|dad|mother|father|parent|grandma|grandpa) of (?P<value>(?:one|two|three|four|five|\d|"
        r"twins)\b.{0,60})",
        "relation",
        "user.child",
    ),
    Rule(
        r"(?P<value>(?:bad|weak|dodgy|sore|injured|old) (?:left |right |lower )?(?:back|knees?|shoulder|hip|ankle|"
        r"wrist|neck|eyes|heart|"
        rf"stomach|ears?)|{_ILLNESS})(?: since.*| so.*|,.*| for .*| from .*)?$|<i> (?:have|get|"
        rf"suffer from) (?P<illness>{_ILLNESS}\b.{{0,40}})",
        "constraint",
        "user.health",
        importance=8,
    ),
    Rule(
        r"(?P<value>(?!it|that|this)[a-z][a-z-]{3,20}(?: \d+ ?(?:mg|mcg|ml|g))?) (?:once|twice|three times|"
        r"\d times) (?:a|per) (?:day|week)\b"
        r".{0,30}",
        "constraint",
        "user.health",
    ),
    Rule(
        r"(?:(?:the |my |our |one |big )*(?:lessons?(?: learn(?:ed|t))?|takeaway|moral(?: of the story)?|gotcha|"
        r"note for next time)"
        r"(?: for (?:me|us|next time))?(?: is| was|:|,)? ?(?:that )?|next time (?:i'll |we'll |we should |i should |"
        r"let's )?|"
        r"<i> learn(?:ed|t)(?: the hard way)?(?: that|:) )(?P<value>(?!i see\b).{5,160})",
        "lesson",
        personal=False,
    ),
    Rule(
        r"(?:the |a )?(?:trick|fix|solution|workaround|root cause|culprit|key)(?: (?:was|is|turned out to be)|"
        r":) (?P<value>.{4,160})|"
        r"what (?:finally |really )?(?:fixed|solved|helped|worked|did it)(?: it)?(?: was| is|:) (?P<cure>.{4,160})",
        "lesson",
        personal=False,
    ),
    Rule(
        r"(?:(?:our|my|the|new|current) )*(?P<what>stack|tech stack|hosting|framework|font|theme|units?|currency|"
        r"size|target|diet|"
        r"allergies|hobbies|laptop|car|phone|editor|shell|browser|database|db|goal|budget|"
        r"deadline)(?: ?[:=]) (?P<value>.{2,80})",
        "other",
    ),
    Rule(
        r"(?:tabs|spaces|line (?:length|width)|indent(?:ation)?|column limit|tab width)(?: of|:| is| at|"
        r",)? ?(?P<value>(?:width )?(?:\d|two|"
        r"four|tabs|spaces).{0,20})$",
        "preference",
        "preference.style",
    ),
    Rule(
        r"(?P<value>(?:commits?(?: messages)?|docs|comments|names|tests|answers|code|docstrings|variables|notes|"
        r"subtitles|menus?) in "
        r"(?:english|chinese|german|french|spanish|japanese|dutch|italian|lower ?case|camel ?case|"
        r"snake ?case))(?:,? please)?$",
        "constraint",
    ),
    Rule(
        rf"(?:my |our |the )?{_THING}(?:'s| is| are|:) (?P<value>(?!{_BAD})[^?]{{1,80}})",
        "other",
        personal=False,
    ),
    Rule(
        r"(?P<value>(?:nothing|no (?!idea|problem|need|worries|way|one|more|longer|doubt|rush|luck|chance|errors?|"
        r"output|change)[\w-]+(?: [\w-]+)?) "
        r"(?:after|before|on|between|during|past|until|at|over|above|under|in) .{2,60})",
        "constraint",
        personal=False,
    ),
    Rule(
        r"(?P<value>(?!it\b|that\b|this\b)[\w' -]{3,50}?) (?:is|are) (?:a must|mandatory|non-negotiable|a no-go|"
        r"off[- ]limits|essential|"
        r"out of the question|a deal-?breaker)\b",
        "constraint",
        personal=False,
    ),
    Rule(
        r"(?:the |our )(?:dog|cat|kids?|baby|toddler|puppy|twins|kitten|parrot)(?:'s| is| are| has| have| can't|"
        r" needs?| loves?| hates?|"
        r" likes?) (?P<value>(?!asleep|sick|here|back|hungry|tired|barking|crying|up\b|awake|so\b|out\b).{3,80})",
        "relation",
        personal=False,
    ),
    Rule(
        r"<i> (?:sleep|eat|feel|focus|learn|work|think|concentrate|digest) (?P<value>(?:badly|better|best|poorly|"
        r"worse|well) .{3,80})|"
        r"<i> (?:bike|cycle|walk|drive|take the (?:bus|train|tram|metro)) (?P<travel>(?:everywhere|to (?:work|school|"
        r"uni)|daily|every).{0,60})",
        "preference",
    ),
    Rule(
        r"<i> (?:want|need) (?P<value>an? (?:[\w-]+ ){0,3}(?:place|flat|house|apartment|room|job|car|school|dentist|"
        r"therapist|nanny|lawyer|"
        r"tenant|flatmate|co-?founder)\b.{0,60})",
        "goal",
        "user.goal",
    ),
    Rule(
        r"(?:our |the |my )?(?P<what>[\w-]+ |)(?:hours|opening times) (?:are|is) (?P<value>.{3,60})",
        "other",
        personal=False,
    ),
    Rule(
        r"(?:please )?(?:explain|answer|respond|reply|teach)(?: things| it| me)? (?:with|using|in|like|"
        r"through) (?P<value>(?:examples|"
        r"analogies|bullets?|plain|simple|tables|diagrams|short|real).{0,80})|"
        r"(?:please )?use (?:the )?(?P<units>metric|imperial|celsius|"
        r"fahrenheit|24-hour)\b.{0,30}|(?:please )?no (?P<style>(?:small talk|filler|fluff|jargon|preamble|"
        r"disclaimers?|apologies|"
        r"buzzwords|sugar-?coating)\b.{0,60})",
        "preference",
        "preference.style",
        importance=8,
    ),
)
