"""What English verbs say of a slot: I train for, I go by, we deploy to."""

from typing import Final

from app.domain.extraction.frames.english_daily import DAILY
from app.domain.extraction.frames.english_kin import KIN
from app.domain.extraction.frames.english_life import LIFE, MOVED
from app.domain.extraction.frames.nouns import ANIMALS as ANIMALS_EN
from app.domain.extraction.frames.verb_frame import DOES, IS, VALUE, verb_frame

FRAMES: Final = (
    *DAILY,
    *LIFE,
    *KIN,
    verb_frame(rf"{IS} (?:saving|saving up|putting money aside) for {VALUE}", "user.savings_goal", "goal"),
    verb_frame(
        rf"(?:{IS} (?:learning|studying|taking)|{DOES} (?:learn|study|took up|started learning|began learning)) "
        rf"(?P<value>(?:(?:some|basic|mandarin) )?(?:english|french|german|spanish|italian|portuguese|japanese|chinese|"
        rf"mandarin|korean|"
        rf"russian|arabic|dutch|swedish|norwegian|danish|finnish|polish|czech|greek|turkish|hindi|hebrew|thai|"
        rf"vietnamese|"
        rf"cantonese|latin|welsh|irish|indonesian|ukrainian|persian|swahili))\b.*",
        "habit.learning_language",
        "goal",
    ),
    verb_frame(
        rf"(?:{DOES} (?:go to|attend|study at|goes to|transferred to|enrolled at|switched to|moved to)|{IS} (?:at|"
        rf"studying at|enrolled at)) "
        r"(?P<value>[\w .'&-]+ (?:high(?: school)?|school|university|college|academy|elementary|uni|institute))\b.*",
        "user.school",
        "identity",
        name=True,
    ),
    verb_frame(rf"(?:{DOES} (?:major|majored)|{IS} majoring) in {VALUE}", "user.major", "identity"),
    verb_frame(
        rf"{IS} studying (?P<value>(?!for\b|the\b|how\b|this\b|that\b|it\b|at\b|abroad)[a-z][\w &-]{{2,40}})",
        "user.major",
        "identity",
    ),
    verb_frame(rf"{DOES} play(?:ed)? for (?:the )?{VALUE}", "user.sports_team", "identity", name=True),
    verb_frame(
        rf"(?:{IS}|{DOES} (?:moved|got moved|got transferred|transferred|was moved|was transferred|switched|got "
        rf"reassigned|"
        rf"work|joined|was reassigned)) ?(?:on|to|in|onto|over to)? (?:the )?(?P<value>[\w&/ -]+? (?:team|squad|"
        rf"department))"
        rf"\b.*",
        "user.team",
        "identity",
    ),
    verb_frame(
        rf"(?:{IS}|{DOES} (?:upgraded|downgraded|switched|moved|changed|subscribed|signed up|use|have|pay for)) ?"
        rf"(?:on|to|for)? (?:the |a )?(?P<value>[\w+ -]+? (?:plan|tier|subscription|package))\b.*",
        "user.plan",
        "identity",
    ),
    verb_frame(
        rf"{DOES} (?:browse|surf)(?: the web)? (?:with|in|on|using) {VALUE}",
        "preference.browser",
        "preference",
        name=True,
    ),
    verb_frame(
        rf"(?:{DOES} (?:use|chose|picked|adopted|went with|go with|prefer|like|moved to|switched to|like using|read|"
        rf"play|have)|"
        rf"{IS} (?:using|on)) (?P<value>(?!.* of )[^,]+?) (?:as|for) (?:my|our|the) (?P<noun>(?!job\b|work\b|"
        rf"next|this)[\w -]+)",
        "{slot}",
        "preference",
    ),
    verb_frame(
        rf"{DOES} (?:use|chose|prefer|like|pick|favou?r) (?P<value>[^,]+?) as an? (?P<noun>[\w -]+)",
        "favourite.{slot}",
        "preference",
    ),
    verb_frame(
        r"(?:please |you can |just |from now on,? |so )*(?:call me|i go by|everyone calls me|everybody calls me|"
        r"people call me|"
        r"they call me|friends call me|my friends call me|refer to me as) (?P<value>(?!later|back|when|tomorrow|"
        r"tonight|at |"
        r"if |on )[^,]+)",
        "user.nickname",
        "identity",
    ),
    verb_frame(
        rf"(?:{DOES}(?: just)? turn(?:ed|ing)|{IS} turning|{IS}) (?P<value>\d{{1,3}})(?: years? old| yo)?"
        rf"(?: (?:now|today|yesterday|last|this|in|on|already)\b.*)?$",
        "user.age",
        "identity",
    ),
    verb_frame(
        rf"{DOES} (?:take|am on|use) (?P<value>\d[\d.]* ?(?:mg|mcg|µg|g|ml|units?|iu|pills?|tablets?|drops?|puffs?))"
        rf"(?: of)? (?P<noun>[a-z][\w -]{{2,30}}?)(?: (?:a|per|every|each|in|at|now|twice|once|daily|before|after)"
        rf"\b.*)?$",
        "user.{noun}.dose",
        "identity",
    ),
    verb_frame(
        r"(?:my|the) (?:doctor|gp|physician|specialist|psychiatrist|cardiologist) (?:upped|raised|increased|"
        r"lowered|reduced|"
        r"cut|changed|bumped|switched|adjusted)(?: me up)? (?:my |the )?(?P<noun>[a-z][\w -]{2,30}?)(?: dose| dosage)? "
        r"(?:up |down )?to (?P<value>\d.*)",
        "user.{noun}.dose",
        "identity",
        "replaces",
    ),
    verb_frame(
        r"(?P<value>[\w .'-]+?)(?:'s| is) (?:now )?(?:in charge of|responsible for|leading|running|heading up|the "
        r"owner of|the "
        r"lead (?:for|of|on)) (?:the |our )?(?P<noun>[\w -]+)",
        "{slot}.owner",
        "relation",
        name=True,
    ),
    verb_frame(
        r"(?P<value>[\w .'-]+?) (?:now )?(?:takes care of|looks after|leads|owns|heads) (?:the |our )(?P<noun>[\w -]+)",
        "{slot}.owner",
        "relation",
        name=True,
    ),
    verb_frame(
        rf"we (?:now )?(?:deploy|ship|host|publish)(?: everything| it| our stuff)? (?:to|on|at) {VALUE}",
        "project.hosting",
        "project",
        name=True,
    ),
    verb_frame(
        rf"we(?:'ve| have)? (?:moved|switched|migrated)(?: our)? (?:hosting|deployments?) to {VALUE}",
        "project.hosting",
        "project",
        "replaces",
        name=True,
    ),
    verb_frame(
        r"(?:we(?:'re| are)|i'm|i am|everything is|the project is|we|i) (?:now |still )*(?:on|using|use|run|running) "
        r"(?P<noun>(?!port\b|room\b|about\b|only\b|over\b|under\b)[a-z][a-z.+#]+(?: js)?) "
        r"(?P<value>v?\d[\d.]*\w*)\b.*",
        "project.{noun}.version",
        "tool_config",
    ),
    verb_frame(
        rf"(?:{DOES}|{IS}) (?:upgraded|updated|moved|bumped|migrated|switched)(?: everything| it| up)?(?: from "
        rf"(?P<before>[^,]+?"
        rf"))? to (?P<noun>[a-z][a-z.+#]+) (?P<value>v?\d[\d.]*\w*)(?: (?:last|this|now|yesterday|today)\b.*)?$",
        "project.{noun}.version",
        "tool_config",
        "replaces",
    ),
    verb_frame(
        r"(?:i|we)(?: have to| need to| must| should|'ve got to| gotta| will|'ll|'re going to|'m supposed to|'re "
        r"supposed to| "
        r"are supposed to) (?:submit|hand in|turn in|file|deliver|finish|send in|send off|complete|ship) (?:the |"
        r"my |our )"
        r"(?P<noun>[\w -]+?) (?:by|on|before|no later than) (?P<value>.+)",
        "{due}",
        "project",
    ),
    verb_frame(
        r"(?:we|i)(?:'re| are|'m| am|'ll| will)(?: be)? (?:releasing|launching|shipping|release|launch|ship|going "
        r"live with) "
        r"(?:the |our )?(?P<noun>[\w .-]+?) (?:on|in|by) (?P<value>.+)",
        "{release}",
        "project",
    ),
    verb_frame(
        rf"(?:{DOES} (?:have|own|adopted|got|keep)|{DOES} also have) (?:a|an|one|my) (?:[a-z]+ "
        rf")?(?P<noun>{ANIMALS_EN})(?:,)? (?:named|"
        rf"called|whose name is) (?P<value>.+)",
        "user.{noun}.name",
        "relation",
        name=True,
    ),
    verb_frame(
        r"(?:i|we)(?:'ve| have)?(?: got| have| set| agreed on)? (?:a |an )(?P<head>budget|deadline|limit|target|"
        r"quota|goal) of (?P<value>[^,]+?)"
        r" (?:for|on) (?:the |our |my )?(?P<noun>[\w -]+)",
        "{head}",
        "project",
    ),
    verb_frame(
        r"(?:the |our )?(?P<noun>[\w -]+?) (?:is|are) (?:now )?(?:owned|run|led|managed|handled|maintained|taken "
        r"care of) by (?P<value>.+)",
        "{slot}.owner",
        "relation",
        name=True,
    ),
    verb_frame(
        rf"{IS} in the office (?:on |every )?(?P<value>(?:mon|tues|wednes|thurs|fri)day.*)",
        "user.office_days",
        "preference",
    ),
    verb_frame(
        rf"{IS} (?P<value>single|married|divorced|engaged|widowed|separated|in a relationship|not single)\b.*",
        "user.marital_status",
        "identity",
    ),
    verb_frame(
        rf"{DOES} (?:got|get) (?P<value>married|divorced|engaged)\b.*", "user.marital_status", "identity", "replaces"
    ),
    verb_frame(
        rf"{DOES} (?:eat|follow|am|went|do|turned)(?: on)? (?:a |an )?(?:strict |strictly )?(?P<value>keto|vegan|"
        rf"vegetarian|"
        rf"pescatarian|paleo|mediterranean|low[- ]carb|plant[- ]based|carnivore|gluten[- ]free|halal|kosher|whole30|"
        rf"flexitarian)\b.*",
        "user.diet",
        "preference",
    ),
    verb_frame(
        rf"(?:{IS}|{DOES} (?:switched|changed|moved|went|converted)) ?(?:on |to )?(?:a |an )?(?P<value>(?:keto|"
        rf"vegan|vegetarian|"
        rf"pescatarian|paleo|mediterranean|low[- ]carb|plant[- ]based|carnivore|gluten[- ]free|halal|kosher|"
        rf"flexitarian)"
        rf"(?: diet)?)\b.*",
        "user.diet",
        "preference",
    ),
    *MOVED,
)
