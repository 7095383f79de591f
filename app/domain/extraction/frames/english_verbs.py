"""What English verbs say of a slot: I live in, I drive, I report to."""

import re
from typing import Final, NamedTuple

from app.domain.extraction.candidates import Change
from app.domain.extraction.frames.nouns import ANIMALS as ANIMALS_EN
from app.domain.memory import Category

_ADVERB: Final = (
    r"(?: (?:now|currently|just|also|already|always|usually|mostly|normally|generally|still|recently|finally|officially|"
    r"these days|only|mainly|typically|since|actually|basically|do|tend to|had to|ended up|have to|been))*"
)
_I: Final = rf"(?:(?:now|currently|these days|nowadays|lately|so|and|also),? )?(?:i|we)(?:'ve| have|'d| had)?{_ADVERB}"
_AM: Final = (
    rf"(?:(?:now|currently|these days|nowadays|lately|so|and|also),? )?(?:i am|i'm|im|we are|we're|i've been|i have been|"
    rf"we've been){_ADVERB}"
)
_V: Final = r"(?P<value>.+)"
_HOUR: Final = r"(?P<value>(?:\d{1,2}(?::\d\d)?|noon|midnight)(?: ?[ap]\.?m\.?)?)\b.*"
_TRANSPORT: Final = (
    r"(?P<value>(?:take|ride|catch|hop on|use) (?:the|my|a) (?:bus|train|tram|metro|subway|underground|tube|bike|ferry|"
    r"car|scooter|bicycle)|bike|cycle|walk|drive|carpool|commute by [a-z]+|go by [a-z]+|run|bus)"
)
_DRINK: Final = r"(?P<noun>coffee|tea|espresso|latte|americano|matcha|milk tea|porridge|steak|eggs)"


class VerbFrame(NamedTuple):
    """A pattern over a folded clause with the group `value`, and what it fills.

    `{noun}` in the key is the group `noun`. A `name` must be written as one; `strict` makes the value the whole rest.
    """

    pattern: "re.Pattern[str]"
    key: str
    category: Category
    change: Change | None = None
    name: bool = False
    firm: bool = True


def _frame(
    pattern: str, key: str, category: Category, change: Change | None = None, *, name: bool = False, firm: bool = True
) -> VerbFrame:
    return VerbFrame(re.compile(pattern), key, category, change, name, firm)


FRAMES: Final = (
    _frame(rf"{_I} (?:live|reside) (?:in|near|outside) {_V}", "user.city", "identity", name=True),
    _frame(
        rf"{_AM} (?:living|residing|based|located|settled(?: down)?|settling) (?:in|near|outside|out of|here in) {_V}",
        "user.city",
        "identity",
        name=True,
    ),
    _frame(
        r"(?:i've|i have|we've|we have) (?:lived|been living|been based|been) in (?P<value>.+?) (?:for|since)\b.*",
        "user.city",
        "identity",
        name=True,
    ),  # fmt: skip
    _frame(
        rf"{_AM} (?:dating|seeing|going out with|married to|engaged to|together with|in a relationship with) {_V}",
        "user.partner",
        "relation",
        name=True,
    ),  # fmt: skip
    _frame(
        rf"(?:{_I}|{_AM}) (?:moved|relocated|moving|relocating)(?: house| home| back| over| out| away)*"
        rf"(?: from (?P<before>[\w' -]+?))? to (?!the\b|a\b|my\b|our\b)(?P<value>(?!.*\b(?:team|plan|department|as my)\b).+)",
        "user.city",
        "identity",
        "replaces",
        name=True,
    ),
    _frame(
        rf"{_AM} (?:back )?in (?P<value>[\w' -]+?) now\b.*\b(?:moved|relocated)\b.*",
        "user.city",
        "identity",
        "replaces",
        name=True,
    ),  # fmt: skip
    _frame(
        rf"(?:{_I} (?:work|intern)|{_AM} (?:working|employed|interning)) (?:at|for|with|by|over at) {_V}",
        "user.employer",
        "identity",
        name=True,
    ),
    _frame(
        rf"(?:{_I} )?(?:got |was |been )*(?:joined|hired (?:by|at)|started(?: working| work| a (?:new )?job)? (?:at|with)|"
        rf"taken a job (?:at|with)|took a job (?:at|with)|(?:got|found|landed) a (?:new )?(?:job|position|role) (?:at|with)|"
        rf"signed (?:on )?with) (?P<value>(?!the |a |an |my )[^,]+)",
        "user.employer",
        "identity",
        "replaces",
        name=True,
    ),
    _frame(
        rf"(?:{_I} )?(?:left|resigned from|quit) (?P<before>[^,]+?)(?:,| and| for|,? to join)(?: i| now|'ve|'m| have| am)*(?: just)? ?(?:joined|"
        rf"started (?:at|with)|working (?:at|for)|work (?:at|for)|signed (?:on )?with|at|with)? ?(?P<value>[^,]+)",
        "user.employer",
        "identity",
        "replaces",
        name=True,
    ),
    _frame(
        rf"{_AM} (?:at|with) (?P<value>(?!the |a |my |home|work|school)[^,]+?) (?:now|since)\b.*",
        "user.employer",
        "identity",
        "replaces",
        name=True,
    ),  # fmt: skip
    _frame(
        rf"{_I} (?:got |was |been |am )*promoted(?: to| and am now| and i'm now)(?: be(?:ing)?)? {_V}",
        "user.job",
        "identity",
        "replaces",
    ),  # fmt: skip
    _frame(
        r"(?:so |and )?you can (?:now |also )?(?:reach|call|text|phone|ring) me (?:at|on|under) (?P<value>\+?\d[\d ()-]{3,20})\b.*",
        "user.phone",
        "identity",
    ),  # fmt: skip
    _frame(
        r"(?:so |and )?you can (?:now |also )?(?:reach|mail|email|contact) me (?:at|on|under) (?P<value>\S+@\S+)\b.*",
        "user.email",
        "identity",
    ),  # fmt: skip
    _frame(
        r"(?:please |from now on,? |now |can you |could you |i want you to |i'd like you to )*(?:switch to |start |go back to )?"
        r"(?:reply|answer|respond|write|speak|talk)(?:ing)?(?: to me| back)? (?:only )?in (?P<value>english|chinese|mandarin|german|"
        r"french|spanish|japanese|italian|portuguese|korean|russian|dutch|polish|swedish|simplified chinese|traditional chinese)"
        r"\b.*",
        "user.language",
        "preference",
    ),
    _frame(rf"{_I} report(?:ing)? to {_V}", "user.manager", "identity", name=True),
    _frame(rf"{_AM} reporting to {_V}", "user.manager", "identity", name=True),
    _frame(rf"{_I} (?:drive|own and drive) (?:a |an |my )?{_V}", "user.car", "identity", name=True),
    _frame(rf"{_AM} driving (?:a |an )?{_V}", "user.car", "identity", name=True),
    _frame(
        rf"(?:{_I} (?:work out|lift|train|exercise)|{_AM} (?:working out|training)) at {_V}",
        "user.gym",
        "preference",
        name=True,
    ),  # fmt: skip
    _frame(
        rf"(?:{_I} (?:wake up|get up|wake|rise|set my alarm)|{_AM} (?:waking up|getting up|up)) (?:every (?:day|morning) )?"
        rf"(?:at|around|by|for) (?:around |about )?{_HOUR}",
        "user.wake_up_time",
        "preference",
    ),
    _frame(
        rf"(?:{_I} (?:go to bed|go to sleep|sleep|turn in)|{_AM} (?:going to bed|asleep|sleeping)) (?:at|around|by|before)"
        rf" {_HOUR}",
        "user.bedtime",
        "preference",
    ),
    _frame(rf"(?:{_I} bank|{_AM} banking) (?:with|at) {_V}", "user.bank", "identity", name=True),
    _frame(rf"{_I} {_TRANSPORT} to (?:work|the office|school|campus|uni)\b.*", "user.commute", "preference"),
    _frame(rf"{_I} commute by (?P<value>[a-z]+).*", "user.commute", "preference"),
    _frame(
        rf"{_AM} (?P<value>cycling|biking|walking|driving|taking the \w+) to (?:work|the office|school)\b.*",
        "user.commute",
        "preference",
    ),  # fmt: skip
    _frame(
        rf"{_I} (?:take|drink|like|have|prefer|enjoy|want|order|get) (?:my )?(?:morning )?{_DRINK} "
        rf"(?P<value>(?!every|in the|at |after|before|for |and |too|more|over|better|most|on |a lot|all |shops?|beans)"
        rf"(?:with|without|as|black|white|iced|decaf|plain|straight|hot|cold|sweet|unsweetened|strong|weak|rare|medium|"
        rf"well|half|extra|from)\b.*)",
        "user.{noun}",
        "preference",
    ),
    _frame(
        rf"{_I} (?:take|put|add|have|use|like|want) (?P<value>(?:no|one|two|three|four|half an?|a|an|some|\d|oat|soy|almond|"
        rf"whole|skim|honey|milk|sugar|cream|lemon)\b[\w -]*?) (?:in|with|on) my {_DRINK}\b.*",
        "user.{noun}",
        "preference",
    ),
    _frame(rf"{_I} weigh {_V}", "user.weight", "identity"),
    _frame(
        rf"{_AM} (?:down|up) to (?P<value>\d[\d.]* ?(?:kg|kilos?|lbs?|pounds|stone))\b.*",
        "user.weight",
        "identity",
        "replaces",
    ),  # fmt: skip
    _frame(
        rf"(?:{_AM} (?:in training|training|preparing|prepping|practi[sc]ing|gearing up)|{_I} (?:train|prepare)|{_I} signed up) for "
        rf"(?:the |a |an |my )?(?P<value>(?=.*\b(?:run|race|marathon|half|triathlon|ironman|5k|10k|\d+ ?k|\d+ ?km|mile|"
        rf"ultra|swim|sprint|duathlon|trail|ride|fondo)\b).+)",
        "user.training_goal",
        "goal",
    ),
    _frame(rf"{_AM} (?:saving|saving up|putting money aside) for {_V}", "user.savings_goal", "goal"),
    _frame(
        rf"(?:{_AM} (?:learning|studying|taking)|{_I} (?:learn|study|took up|started learning|began learning)) "
        rf"(?P<value>(?:(?:some|basic|mandarin) )?(?:english|french|german|spanish|italian|portuguese|japanese|chinese|"
        rf"mandarin|korean|"
        rf"russian|arabic|dutch|swedish|norwegian|danish|finnish|polish|czech|greek|turkish|hindi|hebrew|thai|vietnamese|"
        rf"cantonese|latin|welsh|irish|indonesian|ukrainian|persian|swahili))\b.*",
        "habit.learning_language",
        "goal",
    ),
    _frame(
        rf"(?:{_I} (?:go to|attend|study at|goes to|transferred to|enrolled at|switched to|moved to)|{_AM} (?:at|studying at|enrolled at)) "
        r"(?P<value>[\w .'&-]+ (?:high(?: school)?|school|university|college|academy|elementary|uni|institute))\b.*",
        "user.school",
        "identity",
        name=True,
    ),
    _frame(rf"(?:{_I} (?:major|majored)|{_AM} majoring) in {_V}", "user.major", "identity"),
    _frame(
        rf"{_AM} studying (?P<value>(?!for\b|the\b|how\b|this\b|that\b|it\b|at\b|abroad)[a-z][\w &-]{{2,40}})",
        "user.major",
        "identity",
    ),  # fmt: skip
    _frame(rf"{_I} play(?:ed)? for (?:the )?{_V}", "user.sports_team", "identity", name=True),
    _frame(
        rf"(?:{_AM}|{_I} (?:moved|got moved|got transferred|transferred|was moved|was transferred|switched|got reassigned|"
        rf"work|joined|was reassigned)) ?(?:on|to|in|onto|over to)? (?:the )?(?P<value>[\w&/ -]+? (?:team|squad|department))"
        rf"\b.*",
        "user.team",
        "identity",
    ),
    _frame(
        rf"(?:{_AM}|{_I} (?:upgraded|downgraded|switched|moved|changed|subscribed|signed up|use|have|pay for)) ?"
        rf"(?:on|to|for)? (?:the |a )?(?P<value>[\w+ -]+? (?:plan|tier|subscription|package))\b.*",
        "user.plan",
        "identity",
    ),
    _frame(
        rf"{_I} (?:browse|surf)(?: the web)? (?:with|in|on|using) {_V}", "preference.browser", "preference", name=True
    ),
    _frame(
        rf"(?:{_I} (?:use|chose|picked|adopted|went with|go with|prefer|like|moved to|switched to|like using|read|play|have)|"
        rf"{_AM} (?:using|on)) (?P<value>(?!.* of )[^,]+?) (?:as|for) (?:my|our|the) (?P<noun>(?!job\b|work\b|next|this)[\w -]+)",
        "{slot}",
        "preference",
    ),
    _frame(
        rf"{_I} (?:use|chose|prefer|like|pick|favou?r) (?P<value>[^,]+?) as an? (?P<noun>[\w -]+)",
        "favourite.{slot}",
        "preference",
    ),  # fmt: skip
    _frame(
        r"(?:please |you can |just |from now on,? |so )*(?:call me|i go by|everyone calls me|everybody calls me|people call me|"
        r"they call me|friends call me|my friends call me|refer to me as) (?P<value>(?!later|back|when|tomorrow|tonight|at |"
        r"if |on )[^,]+)",
        "user.nickname",
        "identity",
    ),
    _frame(
        rf"(?:{_I}(?: just)? turn(?:ed|ing)|{_AM} turning|{_AM}) (?P<value>\d{{1,3}})(?: years? old| yo)?"
        rf"(?: (?:now|today|yesterday|last|this|in|on|already)\b.*)?$",
        "user.age",
        "identity",
    ),
    _frame(
        rf"{_I} (?:take|am on|use) (?P<value>\d[\d.]* ?(?:mg|mcg|µg|g|ml|units?|iu|pills?|tablets?|drops?|puffs?))"
        rf"(?: of)? (?P<noun>[a-z][\w -]{{2,30}}?)(?: (?:a|per|every|each|in|at|now|twice|once|daily|before|after)\b.*)?$",
        "user.{noun}.dose",
        "identity",
    ),
    _frame(
        r"(?:my|the) (?:doctor|gp|physician|specialist|psychiatrist|cardiologist) (?:upped|raised|increased|lowered|reduced|"
        r"cut|changed|bumped|switched|adjusted)(?: me up)? (?:my |the )?(?P<noun>[a-z][\w -]{2,30}?)(?: dose| dosage)? "
        r"(?:up |down )?to (?P<value>\d.*)",
        "user.{noun}.dose",
        "identity",
        "replaces",
    ),
    _frame(
        r"(?P<value>[\w .'-]+?)(?:'s| is) (?:now )?(?:in charge of|responsible for|leading|running|heading up|the owner of|the "
        r"lead (?:for|of|on)) (?:the |our )?(?P<noun>[\w -]+)",
        "{slot}.owner",
        "relation",
        name=True,
    ),
    _frame(
        r"(?P<value>[\w .'-]+?) (?:now )?(?:takes care of|looks after|leads|owns|heads) (?:the |our )(?P<noun>[\w -]+)",
        "{slot}.owner",
        "relation",
        name=True,
    ),
    _frame(
        rf"we (?:now )?(?:deploy|ship|host|publish)(?: everything| it| our stuff)? (?:to|on|at) {_V}",
        "project.hosting",
        "project",
        name=True,
    ),  # fmt: skip
    _frame(
        rf"we(?:'ve| have)? (?:moved|switched|migrated)(?: our)? (?:hosting|deployments?) to {_V}",
        "project.hosting",
        "project",
        "replaces",
        name=True,
    ),  # fmt: skip
    _frame(
        r"(?:we(?:'re| are)|i'm|i am|everything is|the project is) (?:now |still )*on (?P<noun>[a-z][a-z.+#]+(?: js)?) "
        r"(?P<value>v?\d[\d.]*\w*)\b.*",
        "project.{noun}.version",
        "tool_config",
    ),
    _frame(
        rf"(?:{_I}|{_AM}) (?:upgraded|updated|moved|bumped|migrated|switched)(?: everything| it| up)?(?: from (?P<before>[^,]+?"
        rf"))? to (?P<noun>[a-z][a-z.+#]+) (?P<value>v?\d[\d.]*\w*)(?: (?:last|this|now|yesterday|today)\b.*)?$",
        "project.{noun}.version",
        "tool_config",
        "replaces",
    ),
    _frame(
        r"(?:i|we)(?: have to| need to| must| should|'ve got to| gotta| will|'ll|'re going to|'m supposed to|'re supposed to| "
        r"are supposed to) (?:submit|hand in|turn in|file|deliver|finish|send in|send off|complete|ship) (?:the |my |our )"
        r"(?P<noun>[\w -]+?) (?:by|on|before|no later than) (?P<value>.+)",
        "{due}",
        "project",
    ),
    _frame(
        r"(?:we|i)(?:'re| are|'m| am|'ll| will)(?: be)? (?:releasing|launching|shipping|release|launch|ship|going live with) "
        r"(?:the |our )?(?P<noun>[\w .-]+?) (?:on|in|by) (?P<value>.+)",
        "{release}",
        "project",
    ),
    _frame(
        rf"(?:{_I} (?:have|own|adopted|got|keep)|{_I} also have) (?:a|an|one|my) (?:[a-z]+ )?(?P<noun>{ANIMALS_EN})(?:,)? (?:named|"
        rf"called|whose name is) (?P<value>.+)",
        "user.{noun}.name",
        "relation",
        name=True,
    ),
    _frame(
        r"(?:i|we)(?:'ve| have)?(?: got| have| set| agreed on)? (?:a |an )(?P<head>budget|deadline|limit|target|quota|goal) of (?P<value>[^,]+?)"
        r" (?:for|on) (?:the |our |my )?(?P<noun>[\w -]+)",
        "{head}",
        "project",
    ),
    _frame(
        r"(?:the |our )?(?P<noun>[\w -]+?) (?:is|are) (?:now )?(?:owned|run|led|managed|handled|maintained|taken care of) by (?P<value>.+)",
        "{slot}.owner",
        "relation",
        name=True,
    ),
    _frame(
        rf"{_AM} in the office (?:on |every )?(?P<value>(?:mon|tues|wednes|thurs|fri)day.*)",
        "user.office_days",
        "preference",
    ),  # fmt: skip
    _frame(
        rf"{_AM} (?P<value>single|married|divorced|engaged|widowed|separated|in a relationship|not single)\b.*",
        "user.marital_status",
        "identity",
    ),
    _frame(rf"{_I} (?:got|get) (?P<value>married|divorced|engaged)\b.*", "user.marital_status", "identity", "replaces"),
    _frame(
        rf"{_I} (?:eat|follow|am|went|do|turned)(?: on)? (?:a |an )?(?:strict |strictly )?(?P<value>keto|vegan|vegetarian|"
        rf"pescatarian|paleo|mediterranean|low[- ]carb|plant[- ]based|carnivore|gluten[- ]free|halal|kosher|whole30|"
        rf"flexitarian)\b.*",
        "user.diet",
        "preference",
    ),
    _frame(
        rf"(?:{_AM}|{_I} (?:switched|changed|moved|went|converted)) ?(?:on |to )?(?:a |an )?(?P<value>(?:keto|vegan|vegetarian|"
        rf"pescatarian|paleo|mediterranean|low[- ]carb|plant[- ]based|carnivore|gluten[- ]free|halal|kosher|flexitarian)"
        rf"(?: diet)?)\b.*",
        "user.diet",
        "preference",
    ),
)
