"""Dated events, appointments, schedules; and what is said of one's own things in general, which is read last."""

from typing import Final

from app.domain.extraction.patterns import Rule

_MEETING = (
    r"(?:meeting|stand-?up|daily|demo|review|retro(?:spective)?|planning|launch|"
    r"release|wedding|flight|exam|test|interview|appointment|conference|party|"
    r"trip|concert|class|lesson|course|workshop|presentation|surgery|check-?up|"
    r"dinner|lunch|anniversary|graduation|vacation|holiday|marathon|race|game|"
    r"match|webinar|call|1:1|one-on-one|sync|audit|kickoff|kick-off|offsite|move|"
    r"train|visit|session|talk|defen[sc]e|hearing|reservation|booking|ceremony|"
    r"recital|tournament|festival|closing|delivery|inspection|office hours|all-?hands|"
    r"board meeting|sprint|freeze|training|rehearsal|practice|viewing|show|maintenance window|"
    r"shift|fundraiser|picnic|bbq|reunion|funeral|baptism|vaccination|haircut)"
)

RULES: Final = (
    Rule(
        r"(?!i\b|it\b|that\b|this\b|today|tomorrow)(?:[\w&'-]+ ){1,4}(?:is|are|happens?|"
        r"comes?|runs?) (?:on |every |each )?(?P<value>(?:mondays|tuesdays|wednesdays|"
        r"thursdays|fridays|saturdays|sundays|weekdays|weekends|(?:every|each) \w+)\b.{0,40})",
        "event",
        kind="episodic",
        personal=False,
    ),
    Rule(
        r"<i> (?:injured|broke|sprained|tore|dislocated|fractured|got divorced|got separated|"
        r"signed up for|registered for|enrolled in) (?P<value>.{2,80})|<i> got (?P<status>divorced|"
        r"separated|fired)\b.{0,60}",
        "event",
        kind="episodic",
    ),
    Rule(
        rf"(?:the|our|my|a) (?:[\w&'-]+ ){{0,4}}?{_MEETING}s?(?: (?:with|for|of|at|"
        rf"in|to) [^,]{{2,40}}?)?(?:'s| is| are| was| will be| starts| takes place|"
        rf" happens| got| has been| runs| ends| leaves| departs| begins)(?: scheduled|"
        rf" set| moved| booked| planned)?(?: for| to| from)? (?P<value>(?:on |at |"
        rf"in |every |next |this |tomorrow|today|tonight|last |from |each |the |monday|"
        rf"tuesday|wednesday|thursday|friday|saturday|sunday|weekly|daily|biweekly|"
        rf"january|february|march|april|may|june|july|august|september|october|november|"
        rf"december|\d|yesterday).{{0,100}})",
        "event",
        kind="episodic",
        personal=False,
    ),
    Rule(
        rf"<i>(?:'ve| have)?(?: got| booked| scheduled| have| had| am having| set up|"
        rf" attend| will have| signed up for| registered for| reserved| bought)* (?:a|"
        rf"an|the|my|our|two|another|tickets for)\b (?:[\w&'-]+ ){{0,4}}?(?:{_MEETING}|"
        rf"table|hotel|room|ticket|tickets)s?\b.{{0,120}}",
        "event",
        kind="episodic",
        needs_time=True,
    ),
    Rule(
        r"(?:(?:i'm|i am|we're|we are|i'll be|we'll be|i will be|we will be|i was|"
        r"we were)(?: also| probably)? (?:flying|going|traveling|travelling|meeting|"
        r"visiting|moving|starting|seeing|presenting|leaving|coming|hosting|attending|"
        r"speaking|running|taking|giving|launching|releasing|getting|having|celebrating|"
        r"returning|away|off|out|on (?:vacation|holiday|leave|call|a trip|parental leave|"
        r"paternity leave|maternity leave|sabbatical)|in|at|moving|working|staying|"
        r"driving|joining|defending|picking|throwing|hiking|back|interviewing|closing|"
        r"travelling|renovating|switching|signing|doing|writing|using|covering|fasting|"
        r"living|cat-?sitting|house-?sitting|dog-?sitting|training|studying)|(?:i'll|"
        r"i will|we'll|we will|i'm going to|i am going to|we're going to|we are going to|"
        r"i plan to|we plan to|i need to|i have to|i must|i've got to|i gotta) (?!be right|"
        r"check|think|let|try|see|get back|look|ask|do that|do it)\w+)\b.{1,140}",
        "event",
        kind="episodic",
        needs_time=True,
    ),
    Rule(
        r"<i> (?:got|became|was|were|had|am) (?:promoted|hired|accepted|fired|laid off|"
        r"selected|elected|admitted|diagnosed|robbed|injured|nominated|awarded|vaccinated|"
        r"baptized|robbed|certified|a (?:raise|promotion|new job|baby|degree|grant|"
        r"scholarship|tattoo|car accident|surgery))\b.{0,100}|<i> (?:graduated|retired|"
        r"enrolled|dropped out|passed|failed|won|published|finished|completed|launched|"
        r"released|shipped|founded|gave birth|broke my|sprained|had (?:surgery|a baby|"
        r"an operation|a car accident)|proposed|ran (?:a|my|the)|bought a (?:house|"
        r"home|flat|car|new)|sold|adopted|signed|submitted|defended|started (?:a|"
        r"my|learning|taking|playing))\b.{2,120}",
        "event",
        kind="episodic",
    ),
    Rule(
        r"(?:last|this|yesterday|on|in|two|three|a|earlier|back in|next|tomorrow|"
        r"today|tonight|starting|from|until|during|by|over|at|for)\b.{2,40}?,? (?:i|"
        r"we|my|our|i'm|we're|i'll|we'll|i've)\b.{3,140}",
        "event",
        kind="episodic",
        needs_time=True,
    ),
    Rule(
        r"(?:tomorrow|yesterday|today|tonight|next \w+|last \w+|this \w+),? (?:i|"
        r"we|my|our|i'm|we're|i'll|we'll|i've)\b.{3,140}",
        "event",
        kind="episodic",
        needs_time=True,
    ),
    Rule(
        r"<i> (?:went|visited|met|saw|had|bought|took|flew|drove|attended|started|"
        r"finished|moved|ran|gave|talked|spoke|called|tried|read|watched|celebrated|"
        r"spent|lost|found|made|built|broke|fixed|signed|hosted|traveled|travelled|"
        r"stayed|cooked|played|hiked|climbed|interviewed|presented|received|got|did|"
        r"wrote|deployed|released|planted|installed|set up|left|joined|quit|began|"
        r"learned|adopted|sold|painted|baked|swam|booked|picked|upgraded|volunteered|"
        r"donated|returned|came back|arrived)\b.{2,140}",
        "event",
        kind="episodic",
        needs_time=True,
    ),
)

LAST: Final = (
    Rule(
        r"<i> (?!was\b|were\b|had\b|got\b|am\b|have to)(?P<value>\w+(?: [\w'-]+){0,8}? (?:(?:once|"
        r"twice|three times|four times|\d+ times|a few times) (?:a|per|every) (?:day|"
        r"week|month|year)|for (?:\w+ )?(?:\w+ )?(?:years|months|decades)|since (?:19|"
        r"20)\d\d|every (?:day|morning|evening|night|week|month|year|weekend|other \w+|"
        r"\w+day))\b.{0,50})",
        "identity",
    ),
    Rule(
        r"<my> (?P<what>(?!question|guess|point|mistake|bad|problem|issue|idea|thought|"
        r"concern|worry|head|code|pleasure|god|opinion|understanding|apologies|turn|"
        r"way|day|mood|fault|brain|eyes|heart|current (?:state|mood)|computer|internet|"
        r"screen|last (?:message|question)|previous|error|script|function|test|build|"
        r"query|life|throat|back|battery|feeling|impression|assumption|suggestion|"
        r"advice|name)[\w -]{2,40}?)(?:'s| is| are| has| have| was| starts?| ends?|"
        r" expires?| costs?| includes?| runs?) (?P<value>(?!not (?:working|here)|"
        r"so\b|very\b|too\b|killing|broken|gone|down|slow|dead|being|almost|just|"
        r"driving|a mess|here|full|crashing|failing|dying|acting|terrible|awful|great|"
        r"good|fine|ready|amazing).{2,100})",
        "other",
    ),
    Rule(
        r"<i> been (?P<value>(?:a|an|the|in|with|using|doing|living|working|playing|"
        r"married|vegan|vegetarian|sober)\b (?!bit|while|few|lot)[^,]{2,80})",
        "identity",
    ),
    Rule(
        r"<am> (?P<value>(?:a|an|the|one of|part of|member of|the only)\b (?!bit|"
        r"little|lot|mess|wreck|second|minute|sec|few|moment|idiot|fool|genius)\w.{2,80})",
        "identity",
    ),
    Rule(
        r"<am> (?:working|building|writing|developing|creating|designing|maintaining|"
        r"leading|migrating|renovating|organi[sz]ing|growing|restoring|composing) (?:on |"
        r"towards )?(?P<value>(?!it\b|this\b|that\b|an? (?:email|error|reply)|hard|"
        r"late|from home|fine).{3,120})",
        "project",
    ),
    Rule(
        r"<i> (?:manage|maintain|lead|own|built|wrote|designed|created|oversee|coordinate|"
        r"mentor|supervise|contribute to|report to|specialize in|specialise in|commute|"
        r"rent|share|attend|belong to|went to|studied at|graduated from|served in|"
        r"grow|raise|sponsor|co-own|sell|invest in|moderate|translate|edit|host|organi[sz]e|"
        r"do) (?P<value>(?!it\b|this\b|that\b|not\b|so\b|the same|a (?:function|script|"
        r"query|test))\w.{2,120})",
        "identity",
    ),
    Rule(
        r"<i> (?:only|always|never|usually|rarely|mostly) (?!lived|been|told|mentioned|"
        r"worked|owned|had|heard|seen|met|tried|used|mind|know|said|say|think|thought|"
        r"get|understand|knew|wonder|meant)(?P<value>\w.{3,100})",
        "preference",
    ),
)
