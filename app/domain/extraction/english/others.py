"""Other people: what is said of them is theirs, never the user's."""

from typing import Final

from app.domain.extraction.patterns import Rule

KIN: Final = (
    r"(?:(?:older |younger |elder |little |big |twin |ex-?|best |new |old |close |"
    r"good |step-?|half-?|late |oldest |youngest |eldest |former |current |direct |"
    r"other |co-?|grand|great |only |line )*(?:sister|brother|mother|mom|mum|"
    r"dad|father|parents|wife|husband|partner|girlfriend|boyfriend|fianc[eé]e?|"
    r"spouse|son|daughter|kid|kids|children|child|baby|friend|friends|buddy|colleague|"
    r"colleagues|coworker|co-worker|boss|manager|supervisor|cousin|aunt|uncle|"
    r"grandma|grandpa|grandmother|grandfather|neighbou?r|neighbou?rs|roommate|"
    r"flatmate|housemate|teammate|teammates|teacher|mentor|landlord|landlady|"
    r"doctor|dentist|therapist|client|customer|assistant|nephew|niece|in-laws|"
    r"mother-in-law|father-in-law|brother-in-law|sister-in-law|sibling|twins?|"
    r"grandson|granddaughter|coach|advisor|professor|trainer|lawyer|accountant|"
    r"ex|intern|team ?lead|tech lead|lead|director|pm|product manager|cto|ceo|"
    r"godson|goddaughter|tutor|godmother|stepson|stepdaughter))"
)
_NAME = r"(?:,? (?P<name>[a-z][\w'-]{1,20}(?: [a-z][\w'-]{1,20})??),?)?"
_STABLE = (
    r"(?:is (?!here|there|coming|calling|not (?:here|home|feeling)|asleep|sleeping|"
    r"mad|angry|upset|sick|asking|waiting|busy|late|on (?:the|her|his) (?:phone|"
    r"way)|at the door|being|so |very |too |just|home\b|driving me|annoying|cooking|"
    r"making|telling|tired)|are (?!here|coming|calling|being|so |very |asleep|"
    r"asking|waiting)|was (?:born|diagnosed|promoted|hired|an?\b|the\b|in\b|from)|"
    r"lives?|works?|worked|has (?!to\b|been asking|not\b|just called)|have (?!to\b)|"
    r"had (?:a|an|twins|surgery)|likes?|loves?|hates?|dislikes|enjoys?|prefers?|"
    r"(?:doesn't|does not|don't|can't|cannot|never|won't) (?!know|think|get|seem|"
    r"want to talk|answer|understand|care|believe)|can (?:only|speak|play|read|"
    r"swim)|studies|studied|study|plays?|speaks?|teaches|taught|turns?|turned|"
    r"moved|moves|(?:just )?started|starts?|starting|got (?:married|engaged|promoted|"
    r"divorced|a|an|into|accepted|laid|the|his|her)|graduated|graduates|joined|"
    r"owns?|runs?|"
    r"drives|uses|attends?|goes to|wants?|collects|drinks|eats|passed away|died|"
    r"retired|bought|adopted|manages|leads|handles|grew up|comes from|leaves|"
    r"left|arrives|visits?|is visiting|will|gave birth|broke|takes|needs|owns|"
    r"practi[cs]es|sings|writes|cooks|volunteers|coaches|reports|reviews|approves|"
    r"maintains|designed|built|allergic|suffers|became|recently|used to|named|"
    r"called|sits|knows (?:how|python|java|rust|go)|supports|follows|trains|swims|"
    r"bakes|paints)"
)
_NAMED = (
    r"(?P<who>(?!(?:i|we|you|it|he|she|they|this|that|there|the|my|our|your|what|"
    r"which|who|how|when|where|here|now|so|and|but|or|if|a|an|in|on|at|to|for|"
    r"of|with|yes|no|not|one|all|some|any|every|each|no one|nobody|everyone|everybody|"
    r"someone|today|tomorrow|yesterday|everything|nothing|something|anything|"
    r"people|please|then|monday|friday|also)\b)[a-z][\w'-]{1,20}(?: (?!(?:is|"
    r"are|was|has|and|in|on|the|my|our)\b)[a-z][\w'-]{1,20})?)"
)

_FAMILY = (
    r"(?:(?:grandma|grandpa|granny|mom|mum|dad|mother|father|mommy|auntie|uncle \w+|"
    r"aunt \w+|the (?:kids|wife|husband|twins|baby|in-laws)|our (?:kids|son|daughter|"
    r"baby|dog|cat)))"
)

RULES: Final = (
    Rule(
        rf"(?:(?:both|all|one|two|three|some|most|each)(?: of)? )<my> {KIN} (?P<value>.{{3,120}})",
        "relation",
        personal=False,
    ),
    Rule(
        rf"<my> {KIN}(?: [a-z]+)? and (?:i|my \w+) (?P<value>(?!were just|just had a|"
        rf"had a fight|are (?:here|back|tired|hungry|watching)).{{4,120}})",
        "relation",
    ),
    Rule(r"<i> (?:named|called) (?P<value>(?:the|our|my|him|her|it|them) .{2,60})", "relation"),
    Rule(
        r"<my> (?P<rel>wife|husband|partner|girlfriend|boyfriend|fianc[eé]e?|spouse)(?:'s name)?(?: is|"
        r" is called| is named|,|'s called)? (?P<value>(?!is|was|has|lives|works|"
        r"likes|loves|and|who|just|does|doesn't|can|can't|hates|wants|will|got|went|"
        r"said|told|thinks|says|called|keeps|needs|started|had|a\b|an\b|the\b|in\b|"
        r"at\b|allergic|from\b|also|really|turned|plays|speaks|studies|prefers|drives|"
        r"moved|teaches|bought|runs|never|used)[a-z][\w'-]{1,20}(?: [a-z][\w'-]{1,20})?)(?=$|"
        r",| (?:is|was|has|lives|works|and|likes|loves|who|just|hates|plays|got|started|"
        r"prefers|speaks|teaches|moved|doesn't|can't)\b).{0,120}",
        "relation",
        "user.partner",
    ),
    Rule(
        r"<my> (?P<rel>(?:oldest |youngest |eldest |older |younger |little |\d+[- ]year[- ]old )*(?:son|"
        r"daughter|kid|child|baby|boy|girl)s?)(?:'s name| names?)?(?: is| are| is called|"
        r" is named| are called| are named|,|'s called)? (?P<value>(?!is|was|has|"
        r"lives|works|likes|loves|who|just|does|doesn't|can|hates|wants|will|got|"
        r"went|said|keeps|needs|started|had|a\b|an\b|the\b|in\b|at\b|allergic|from\b|"
        r"also|really|turned|turns|plays|speaks|studies|goes|starts|sick|prefers)"
        r"[a-z][\w'-]{1,20}(?: and [a-z][\w'-]{1,20})?"
        r")(?=$|,| (?:is|was|has|lives|works|and|likes|loves|who|just|starts|started|"
        r"plays|turned|goes|loves|hates|doesn't|can't)\b).{0,120}",
        "relation",
        "user.child",
    ),
    Rule(
        r"<i> (?:got|am getting|are getting|was) (?P<value>(?:married|engaged|divorced)\b.{0,80})|"
        r"<i> married (?P<whom>.{2,60})|<am> (?P<status>(?:married|engaged) to .{2,60})",
        "relation",
        "user.partner",
        kind="episodic",
    ),
    Rule(
        rf"<my> {KIN}(?:'s (?:name|birthday|favou?rite [\w ]{{2,20}}|job|email|phone|"
        rf"number|address|wedding|dog|cat|husband|wife|kids?|son|daughter|anniversary|"
        rf"graduation|surgery|flight|team|office|house))(?: is| are)(?: on)? (?P<value>.{{2,100}})",
        "relation",
        annotate=False,
    ),
    Rule(
        rf"<my> {KIN}{_NAME}(?: and (?:my )?[\w' -]{{2,30}})? (?:also |just |recently |"
        rf"still |now |really |always |usually |only |never |absolutely |currently |"
        rf"actually |both )*{_STABLE}\b(?P<value>.{{1,160}})",
        "relation",
        personal=False,
    ),
    Rule(
        rf"{_FAMILY} (?:also |just |recently |still |now |really |always |usually |"
        rf"only |never )*{_STABLE}\b(?P<value>.{{1,160}})",
        "relation",
        personal=False,
    ),
    Rule(
        rf"{_NAMED}(?:'s| is| was| are) (?:now )?(?P<value>(?:my|our|the) (?:[\w/-]+ ){{0,3}}?(?:{KIN}|"
        rf"engineer|designer|developer|owner|lead|analyst|dba|admin|contact|architect|"
        rf"reviewer|maintainer|accountant|recruiter|founder|head|scrum master|tester|"
        rf"person)\b.{{0,80}})",
        "relation",
        personal=False,
    ),
    Rule(
        r"(?:the|our|my) (?P<what>(?:[\w-]+ ){0,3}(?:lead|owner|manager|designer|"
        r"cto|ceo|dba|contact|reviewer|maintainer|architect|boss|pm|product owner|"
        r"on-?call|on call engineer|account manager|point of contact|recruiter|admin|"
        r"person in charge)(?: (?:of|for) [\w -]{2,30}?)?) (?:is|will be|are) (?P<value>(?!not|"
        r"on|a\b|an\b|the\b|very|so|at)[a-z][^,]{1,60})",
        "relation",
        personal=False,
    ),
    Rule(
        rf"{_NAMED},? (?:from|in|on|who|our|my) .{{2,40}}? (?:is|handles|owns|manages|"
        rf"leads|maintains|works|prefers|reviews|runs|lives|likes|takes|approves)\b.{{2,100}}",
        "relation",
        personal=False,
    ),
    Rule(
        rf"{_NAMED} (?:now |also |always |usually |still )*(?:takes (?:care|over|the)|handles|owns|manages|"
        rf"leads|maintains|reviews|works (?:on|at|for|in|from|as|with|remotely)|is (?:responsible|"
        rf"in charge|on call|on vacation|on leave|on parental leave|out of office|"
        rf"allergic|vegan|vegetarian|from|based|taking over|leaving|joining|moving|"
        rf"getting married|the one|my|our|in the|head|a vegetarian)|lives in|likes|"
        rf"prefers|hates|loves|approves|signs off|reports to|speaks|joined|takes care|"
        rf"takes over|took over|replaced|replaces|covers|left the|is the (?:new|one|"
        rf"lead|person|only one|product)|moved to|got promoted|"
        rf"has (?:a|an|two|three|the)|turned|doesn't (?:eat|drink|like|work|speak|"
        rf"drive)|can't (?:eat|drink|stand|have|do)|is (?:afraid|scared|vegan|diabetic|coeliac|"
        rf"celiac|lactose)|plays|studies|teaches)\b.{{1,120}}",
        "relation",
        personal=False,
    ),
)
