"""Endings, changes, standing instructions."""

from typing import Final

from app.domain.extraction.patterns import Rule

_V = r"(?P<value>.{1,120})"
_JOB = r"(?:a|an|the|head|lead|chief|senior|junior|staff|principal|vp|director|manager|cto|ceo)\b"

RULES: Final = (
    # endings
    Rule(
        r"<i> (?:no longer|don't|do not|doesn't|can't|cannot|am not|not) (?:anymore |"
        r"any more )?(?:live|stay)(?:ing)? in (?P<before>.{1,60}?)(?: any ?more)?$",
        "identity",
        "user.city",
        change="ends",
    ),
    Rule(
        r"<i> (?:no longer|don't|do not) work (?:at|for|with) (?P<before>.{1,60}?)(?: any ?more)?$",
        "identity",
        "user.employer",
        change="ends",
    ),
    Rule(
        r"(?:i am|i'm|im|we are|we're) (?:no longer|not) (?:an? )?(?:strict )?(?:vegan|vegetarian|pescatarian)"
        r"(?:(?: any ?more|,? now)?$| any ?more\b)",
        "preference",
        "user.diet",
        change="ends",
    ),
    Rule(
        r"<i> (?:no longer|don't|do not) (?:drink|eat|like|enjoy|love) (?P<before>.{1,60}?) any ?more$",
        "preference",
        "preference.like",
        change="ends",
    ),
    Rule(
        r"<i> no longer (?:drink|eat|like|enjoy|love) (?P<before>.{1,60})",
        "preference",
        "preference.like",
        change="ends",
    ),
    Rule(
        r"(?:(?:<i>|<am>) (?:totally |completely |gradually )?(?:gone off|went off|tired of|sick of|fed up with|"
        r"bored (?:of|with)|lost (?:all )?interest in|lost (?:my |our )?taste for|fell out of love with|"
        r"outgr[eo]wn?)|"
        r"<i> (?:don't|do not|can't|cannot) (?:care for|stand|see the appeal of)(?=.{1,60} any ?more$)|"
        r"(?:i am|i'm|im|we are|we're) (?:no longer|not) (?:really )?(?:into|keen on|a fan of|fond of|interested in)"
        r"(?=.{1,60} any ?more$|.{1,60}$)) "
        r"(?P<before>(?!(?:\w+ing )?(?:it|this|that|there|them|you)\b).{1,60}?)(?: any ?more)?$",
        "preference",
        "preference.like",
        change="ends",
    ),
    Rule(
        r"<i> (?:no longer|(?:don't|do not)(?=.{1,80} any ?more$)) (?:use|run|need|"
        r"have|own|support|maintain) (?P<before>.{1,60}?)(?: any ?more)?$",
        "tool_config",
        change="ends",
    ),
    Rule(
        r"(?:i|we)(?:'m| am|'re| are) (?:not (?=.{1,80} any ?more$)|no longer )(?P<before>.{1,80}?)(?: any ?more)?$",
        "other",
        change="ends",
    ),
    Rule(
        r"<i> (?:no longer|stopped|quit|gave up|have given up|given up|have stopped|"
        r"dropped|got rid of|cancelled|canceled|sold|have quit) (?!by\b)(?P<before>.{1,80})",
        "preference",
        change="ends",
    ),
    Rule(
        r"(?:the |our )(?P<before>.{1,40}?) (?:is|was|has been) (?:no longer|discontinued|"
        r"decommissioned|deprecated|cancelled|canceled|shut down|retired)\b",
        "project",
        change="ends",
    ),
    # changes
    Rule(
        r"(?:<i>|<am>)(?: just)? (?:moved|moving|relocated|relocating|move) (?:from (?P<before>.{1,40}?"
        r") )?(?:over |back |out )?to (?P<value>(?!a\b|the (?:next|new))[^,]{1,50})",
        "identity",
        "user.city",
        change="replaces",
    ),
    Rule(
        r"(?:we|our team|the team)(?:'ve| have)?(?: just| now| recently)? (?:moved|"
        r"migrated|switched|ported) (?:the |our )?(?P<what>[\w -]{0,30}?) ?from (?P<before>.{1,40}?) (?:over )?"
        r"to (?P<value>[^,]{1,60})",
        "project",
        change="replaces",
    ),
    Rule(
        r"<i> (?:left|quit) (?P<before>[^,]{1,40}?) (?:and (?:joined|now work (?:at|"
        r"for))|to join|for) (?P<value>[^,]{1,40})",
        "identity",
        "user.employer",
        change="replaces",
    ),
    Rule(
        rf"(?:<i> (?:got|was|have been|been) promoted to|<am> now) (?P<value>{_JOB}[^,]{{0,50}})",
        "identity",
        "user.job",
        change="replaces",
    ),
    Rule(
        r"<i> (?:joined|(?:have )?(?:just )?started (?:working )?(?:at|with)|started a new job at|"
        r"got a (?:new )?job (?:at|with)|now work (?:at|for)) (?P<value>(?!the gym|the [A-Za-z]+s\b|the (?:two|"
        r"three|first|tables?|"
        r"columns?|lists?|strings?)|a gym)[^,]{1,40})",
        "identity",
        "user.employer",
        change="replaces",
    ),
    Rule(
        r"<i> (?:had to |have to |need to |decided to )?(?:move[d]?|push(?:ed)?|postpone[d]?|reschedule[d]?|"
        r"shift(?:ed)?|delay(?:ed)?|bump(?:ed)?|bring|brought|chang(?:e|ed)|put) (?:back |forward )?"
        r"(?:the|our|my) (?P<what>[\w' -]{2,40}?) (?:back |forward |off )?"
        r"(?:from (?P<before>.{1,40}?) )?(?:to|until|till) "
        r"(?P<value>(?=.*(?:\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|"
        r"\d|\b(?:tomorrow|tonight|noon|midnight|next|january|february|march|april|may|june|july|august|september|"
        r"october|november|december|(?:morning|afternoon|evening|week|month|year)s?)\b))[^,]{1,60})",
        "project",
        change="replaces",
    ),
    Rule(
        r"(?:<i>|<am>)(?: just)? (?:switched|switching|migrated|changed|converted|"
        r"upgraded|gone|went|moved) (?:(?:my |our )?[\w ]{0,24}?)?(?:from (?P<before>.{1,40}?) )?(?:over |"
        r"back )?to (?P<value>(?!bed|sleep|work|the (?:gym|store|doctor|office))[^,]{1,60})",
        "preference",
        change="replaces",
    ),
    Rule(
        r"<i> replaced (?:the |our |my )?(?P<before>.{1,40}?) (?:with|by) (?P<value>[^,]{1,60})",
        "project",
        change="replaces",
    ),
    Rule(r"(?:i|we) now (?:use|prefer|like) (?P<value>.{1,60})", "preference", change="replaces"),
    Rule(
        r"(?:the|our) (?P<what>[\w -]{2,40}?) (?:has |have )?(?:been |was |were |"
        r"is |got )?(?:now )?(?:moved|changed|switched|renamed|migrated|pushed|postponed|"
        r"rescheduled|shifted|delayed|bumped|upgraded)(?: back| forward| out)?(?: from (?P<before>.{1,40}?"
        r"))? to (?P<value>[^,]{1,60})",
        "project",
        change="replaces",
        personal=False,
    ),
    Rule(
        r"(?:the|our|my) (?P<what>[\w -]{2,40}?) is now (?P<value>.{1,80})",
        "project",
        change="replaces",
        personal=False,
    ),
    Rule(
        r"<i> (?:got|have got|have|'ve got) a new (?:phone |mobile |cell )?(?:number|phone number)[,:]? ?"
        r"(?:it's |it is |which is )?(?P<value>\+?[\d(][\d ()./-]{5,24}\d)",
        "identity",
        "user.phone",
        change="replaces",
    ),
    # standing instructions
    Rule(
        r"(?:please |always |from now on,? |going forward,? |in (?:the )?future,? |"
        r"just )*+(?:answer|reply|respond|speak|talk|write)(?: to me| back| me)?(?: only|"
        r" always)? in (?P<value>english|chinese|mandarin|german|french|spanish|japanese|"
        r"italian|portuguese|korean|russian|dutch|simplified chinese|traditional chinese)\b",
        "preference",
        "user.language",
        importance=8,
    ),
    Rule(
        r"<i>(?:'d)? (?:prefer|want|would prefer|like) (?:you to )?(?:answer|reply|"
        r"repl|respon)\w*.{0,20} in (?P<value>[a-z]{4,20})$",
        "preference",
        "user.language",
        importance=8,
    ),
    Rule(
        r"(?:please )?(?:call me|you can call me|address me as|everyone calls me|"
        r"everybody calls me|people call me|my friends call me|friends call me|i go by|"
        r"i'd like to be called|i prefer to be called) (?P<value>(?!later|back|when|"
        r"tomorrow|tonight|at|in|on)[^,]{1,30})",
        "identity",
        "user.nickname",
        change="replaces",
    ),
    Rule(
        r"(?:please |and |also )*+(?:from now on|going forward|in (?:the )?future|"
        r"every time|whenever|when(?:ever)? (?:i|you|we)|each time|any time)\b.{3,200}",
        "constraint",
    ),
    Rule(
        r"(?:please |and |but |also |you (?:should|must|can) )*+(?:never|always(?! (?:have|has|had|was|were|am|is|are|"
        r"will|did|felt|loved|liked|hated|wanted|thought)\b(?! to\b))|do not ever|"
        r"don't ever|make sure (?:you|to|that)|be sure to always|under no circumstances|no matter what)\b.{3,200}",
        "constraint",
    ),
    Rule(
        r"(?:please |also )*+(?:don't|do not|stop|avoid|no need to|no) (?!worry|mind|"
        r"get me wrong|know|think|have|need|problem|idea|doubt|rush|thanks|way|longer|"
        r"one|matter|hurry|bother)(?:use|using|suggest|suggesting|recommend|call|"
        r"calling|add|adding|send|sending|include|including|touch|deploy|push|merge|"
        r"commit|mention|mentioning|give|giving|ask|asking|schedule|write|apologi[sz]\w+|"
        r"start|explain|explaining|propose|edit|delete|change|run|book|emojis?|bullet|"
        r"tables|jargon|show|remind|put|translate|force|make|assume|repeat)\b.{0,160}",
        "constraint",
    ),
    Rule(
        r"(?:please |also )*+(?:keep|make) (?:your |the |all )?(?:answers?|repl(?:y|"
        r"ies)|responses?|explanations?|it|them|things|code|commits?|comments?)(?: \w+)? (?P<value>(?:short|"
        r"brief|concise|simple|detailed|under|to|in|small|formal|casual|minimal|below)\b.{0,80})",
        "preference",
        "preference.style",
        importance=8,
    ),
    Rule(
        r"(?:please )?(?:use|stick (?:to|with)|prefer|be|give me|show)\b (?P<value>(?:metric|"
        r"imperial|celsius|fahrenheit|bullet points|plain english|simple words|short|"
        r"concise|brief|formal|informal|british|american|24|12-hour|tabs|spaces|type hints|code examples)\b.{0,80})",
        "preference",
        "preference.style",
        importance=8,
    ),
    Rule(
        r"(?:please |just |let's |always )*use (?P<value>[^,]{1,40}?),? (?:not|instead of|"
        r"rather than|over|and not) (?P<before>[^,]{1,60})",
        "constraint",
    ),
    Rule(
        r"(?:please )?(?:ping|message|text|e-?mail|contact|reach|call|dm|notify) (?:me|"
        r"us) (?:on|at|via|by|through|before|after|only|over)\b (?P<value>.{2,80})",
        "preference",
    ),
    Rule(
        r"(?P<value>(?!i\b|we\b|it\b|that\b|this\b|you\b|he\b|she\b|they\b)[^,]{3,80}?),? (?:everywhere|"
        r"no exceptions|at all times|without exception|in all cases|only please|wherever possible|ever)(?:,? please)?$",
        "constraint",
        personal=False,
    ),
    Rule(r"no (?P<value>[\w -]{2,40} in my [\w -]{2,40})", "preference", "preference.dislike"),
    Rule(
        r"i(?:'d| would| want| need)(?: really)?(?: like| prefer| love| appreciate)?(?: it if|"
        r" for)? you (?:to |could |would |not )?(?P<value>(?!help|tell|explain|write|"
        r"show|give|think|know|check|look)\w.{2,120})",
        "constraint",
    ),
    Rule(
        r"(?:please |and |also )*(?:write|put|format|name|label|sign|keep|leave|document|"
        r"prefix|wrap|indent|start|end) (?P<value>(?!an?\b|me\b|the\b|this\b|that\b|"
        r"it\b|some\b|my\b|up\b|down\b)(?:[\w/-]+ ){1,4}(?:in|as|with|without|using|under|below) .{2,60})",
        "constraint",
    ),
    Rule(
        r"(?P<value>.{5,150}?),? (?:that's|it's|which is) (?:our|my|the) (?:\w+ )?(?:convention|"
        r"rule|policy|standard|practice)",
        "constraint",
        personal=False,
    ),
    Rule(
        r"(?:nobody|no one|everyone|everybody|all (?:prs|pull requests|commits|changes|"
        r"code|branches|tests|services|endpoints|migrations)|(?:every|each) (?:pr|"
        r"pull request|commit|change|branch|release|feature|endpoint|migration|deploy\w*))\b.{0,60}\b(?:must|"
        r"should|needs?|has to|have to|requires?|may|can't|cannot|is not allowed|"
        r"are not allowed|shall|gets?|go(?:es)? (?:in|through))\b.{2,120}",
        "constraint",
        personal=False,
    ),
    Rule(
        r"(?:we|you|i) (?:must|must not|mustn't|may not|are not allowed to|aren't allowed to|"
        r"can't|cannot|can not|have to|never|should never|should always|always)(?: ever)? (?!eat\b|"
        r"drink|have\b|stand\b|bear\b|tolerate|see|find|figure|believe|wait|go|get|"
        r"say|said|told|mentioned|tell|remember|open|access|log|sleep|think|stop|help|afford to|imagine|"
        r"decide|understand|hear|read|wrong|work out|be|forg[eo]t|understood|knew|liked|saw|tried|use it|submit this|"
        r"finish this|\w+ (?:this|that|it)\b)(?P<value>.{3,160})",
        "constraint",
    ),
)
