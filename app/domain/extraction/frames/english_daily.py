"""What English verbs say of where one lives and works, and of one's days: I live in, I report to, I get up at."""

from typing import Final

from app.domain.extraction.frames.verb_frame import DOES, DRINK, HOUR, IS, TRANSPORT, VALUE, verb_frame

DAILY: Final = (
    verb_frame(rf"{DOES} (?:live|reside) (?:in|near|outside) {VALUE}", "user.city", "identity", name=True),
    verb_frame(
        rf"{IS} (?:living|residing|based|located|settled(?: down)?|settling) (?:in|near|outside|out of|here in) "
        rf"{VALUE}",
        "user.city",
        "identity",
        name=True,
    ),
    verb_frame(
        r"(?:i've|i have|we've|we have) (?:lived|been living|been based|been) in (?P<value>.+?) (?:for|since)\b.*",
        "user.city",
        "identity",
        name=True,
    ),
    verb_frame(
        rf"{IS} (?:dating|seeing|going out with|married to|engaged to|together with|in a relationship with) {VALUE}",
        "user.partner",
        "relation",
        name=True,
    ),
    verb_frame(
        rf"(?:{DOES}|{IS}) (?:moved|relocated|moving|relocating)(?: house| home| back| over| out| away)*"
        rf"(?: from (?P<before>[\w' -]+?))? to (?!the\b|a\b|my\b|our\b)(?P<value>(?!.*\b(?:team|plan|department|"
        rf"as my)\b).+)",
        "user.city",
        "identity",
        "replaces",
        name=True,
    ),
    verb_frame(
        rf"{IS} (?:back )?in (?P<value>[\w' -]+?) now\b.*\b(?:moved|relocated)\b.*",
        "user.city",
        "identity",
        "replaces",
        name=True,
    ),
    verb_frame(
        rf"(?:{DOES} (?:work|intern)|{IS} (?:working|employed|interning)) (?:at|for|with|by|over at) {VALUE}",
        "user.employer",
        "identity",
        name=True,
    ),
    verb_frame(
        rf"(?:{DOES} )?(?:got |was |been )*(?:joined|hired (?:by|at)|started(?: working| work| a (?:new )?job)? "
        rf"(?:at|with)|"
        rf"taken a job (?:at|with)|took a job (?:at|with)|(?:got|found|landed) a (?:new )?(?:job|position|role) "
        rf"(?:at|with)|"
        rf"signed (?:on )?with) (?P<value>(?!the |a |an |my )[^,]+)",
        "user.employer",
        "identity",
        "replaces",
        name=True,
    ),
    verb_frame(
        rf"(?:{DOES} )?(?:left|resigned from|quit) (?P<before>[^,]+?)(?:,| and| for|,? to join)(?: i| now|'ve|'m| "
        rf"have| am)*(?: just)? ?(?:joined|"
        rf"started (?:at|with)|working (?:at|for)|work (?:at|for)|signed (?:on )?with|at|"
        rf"with)? ?(?P<value>(?!.* (?:is|was|are)\b)[^,]+)",
        "user.employer",
        "identity",
        "replaces",
        name=True,
    ),
    verb_frame(
        rf"{IS} (?:at|with) (?P<value>(?!the |a |my |home|work|school)[^,]+?) (?:now|since)\b.*",
        "user.employer",
        "identity",
        "replaces",
        name=True,
    ),
    verb_frame(
        rf"{DOES} (?:got |was |been |am )*promoted(?: to| and am now| and i'm now)(?: be(?:ing)?)? {VALUE}",
        "user.job",
        "identity",
        "replaces",
    ),
    verb_frame(
        r"(?:so |and )?you can (?:now |also )?(?:reach|call|text|phone|ring) me (?:at|on|under) "
        r"(?P<value>\+?\d[\d ()-]{3,20})\b.*",
        "user.phone",
        "identity",
    ),
    verb_frame(
        r"(?:so |and )?you can (?:now |also )?(?:reach|mail|email|contact) me (?:at|on|under) (?P<value>\S+@\S+)\b.*",
        "user.email",
        "identity",
    ),
    verb_frame(
        r"(?:please |from now on,? |now |can you |could you |i want you to |i'd like you to )*(?:switch to |start "
        r"|go back to )?"
        r"(?:reply|answer|respond|write|speak|talk)(?:ing)?(?: to me| back)? (?:only )?in (?P<value>english|"
        r"chinese|mandarin|german|"
        r"french|spanish|japanese|italian|portuguese|korean|russian|dutch|polish|swedish|simplified chinese|"
        r"traditional chinese)"
        r"\b.*",
        "user.language",
        "preference",
    ),
    verb_frame(rf"{DOES} report(?:ing)? to {VALUE}", "user.manager", "identity", name=True),
    verb_frame(rf"{IS} reporting to {VALUE}", "user.manager", "identity", name=True),
    verb_frame(rf"{DOES} (?:drive|own and drive) (?:a |an |my )?{VALUE}", "user.car", "identity", name=True),
    verb_frame(rf"{IS} driving (?:a |an )?{VALUE}", "user.car", "identity", name=True),
    verb_frame(
        rf"(?:{DOES} (?:work out|lift|train|exercise)|{IS} (?:working out|training)) at {VALUE}",
        "user.gym",
        "preference",
        name=True,
    ),
    verb_frame(
        rf"(?:{DOES} (?:wake up|get up|wake|rise|set my alarm)|{IS} (?:waking up|getting up|up)) (?:every (?:day|"
        rf"morning) )?"
        rf"(?:at|around|by|for) (?:around |about )?{HOUR}",
        "user.wake_up_time",
        "preference",
    ),
    verb_frame(
        rf"(?:{DOES} (?:go to bed|go to sleep|sleep|turn in)|{IS} (?:going to bed|asleep|sleeping)) (?:at|around|"
        rf"by|before)"
        rf" {HOUR}",
        "user.bedtime",
        "preference",
    ),
    verb_frame(rf"(?:{DOES} bank|{IS} banking) (?:with|at) {VALUE}", "user.bank", "identity", name=True),
    verb_frame(rf"{DOES} {TRANSPORT} to (?:work|the office|school|campus|uni)\b.*", "user.commute", "preference"),
    verb_frame(rf"{DOES} commute by (?P<value>[a-z]+).*", "user.commute", "preference"),
    verb_frame(
        rf"{IS} (?P<value>cycling|biking|walking|driving|taking the \w+) to (?:work|the office|school)\b.*",
        "user.commute",
        "preference",
    ),
    verb_frame(
        rf"{DOES} (?:take|drink|like|have|prefer|enjoy|want|order|get) (?:my )?(?:morning )?{DRINK} "
        rf"(?P<value>(?!every|in the|at |after|before|for |and |too|more|over|better|most|on |a lot|all |shops?|beans)"
        rf"(?:with|without|as|black|white|iced|decaf|plain|straight|hot|cold|sweet|unsweetened|strong|weak|rare|medium|"
        rf"well|half|extra|from)\b.*)",
        "user.{noun}",
        "preference",
    ),
    verb_frame(
        rf"{DOES} (?:take|put|add|have|use|like|want) (?P<value>(?:no|one|two|three|four|half an?|a|an|some|\d|oat|"
        rf"soy|almond|"
        rf"whole|skim|honey|milk|sugar|cream|lemon)\b[\w -]*?) (?:in|with|on) my {DRINK}\b.*",
        "user.{noun}",
        "preference",
    ),
    verb_frame(rf"{DOES} weigh {VALUE}", "user.weight", "identity"),
    verb_frame(
        rf"{IS} (?:down|up) to (?P<value>\d[\d.]* ?(?:kg|kilos?|lbs?|pounds|stone))\b.*",
        "user.weight",
        "identity",
        "replaces",
    ),
    verb_frame(
        rf"(?:{IS} (?:in training|training|preparing|prepping|practi[sc]ing|gearing up)|{DOES} (?:train|prepare)|"
        rf"{DOES} signed up) for "
        rf"(?:the |a |an |my )?(?P<value>(?=.*\b(?:run|race|marathon|half|triathlon|ironman|5k|10k|\d+ ?k|\d+ ?km|mile|"
        rf"ultra|swim|sprint|duathlon|trail|ride|fondo)\b).+)",
        "user.training_goal",
        "goal",
    ),
)
