"""Who the user is, where they live, what they do and have."""

from typing import Final

from app.domain.extraction.patterns import Rule

_JOB = (
    r"(?:engineer|developer|programmer|designer|teacher|nurse|doctor|lawyer|student|"
    r"manager|analyst|scientist|researcher|writer|consultant|architect|accountant|"
    r"professor|chef|"
    r"artist|musician|photographer|freelancer|entrepreneur|founder|ceo|cto|director|"
    r"lead|administrator|admin|sysadmin|intern|technician|electrician|plumber|"
    r"pilot|driver|dentist|"
    r"pharmacist|therapist|psychologist|physicist|chemist|biologist|mathematician|"
    r"economist|journalist|editor|translator|librarian|salesman|saleswoman|salesperson|"
    r"marketer|recruiter|"
    r"officer|banker|trader|barista|baker|carpenter|mechanic|farmer|vet|veterinarian|"
    r"surgeon|paramedic|firefighter|soldier|tester|sre|devops|pm|owner|undergrad|"
    r"undergraduate|graduate|phd|postdoc|"
    r"coach|trainer|instructor|tutor|lecturer|principal|specialist|coordinator|"
    r"representative|agent|contractor|planner|producer|actor|actress|dancer|singer|"
    r"illustrator|animator|bookkeeper|paralegal|attorney|"
    r"geologist|historian|linguist|statistician|operator|maintainer|freelance \w+|"
    r"hygienist|midwife|secretary|assistant|clerk|cashier|waiter|waitress|beekeeper|"
    r"gardener|florist|tailor|jeweler|architect)s?"
)
_TRAIT = (
    r"(?:vegan|vegetarian|pescatarian|gluten[- ]free|lactose[- ]intolerant|lactose intolerant|"
    r"celiac|coeliac|keto|halal|kosher)"
)
_CONDITION = (
    r"(?:diabetic|asthmatic|colou?r[- ]?blind|left[- ]handed|right[- ]handed|"
    r"deaf|hard of hearing|dyslexic|epileptic|bilingual|introverted|an introvert|"
    r"an extrovert|extroverted|a morning person|a night owl|an early riser|an early bird|"
    r"married|single|divorced|engaged|pregnant|retired|unemployed|self[- ]employed|"
    r"widowed|autistic|near-?sighted|short-?sighted|blind|trilingual|a (?:light|"
    r"heavy) sleeper|a non-?smoker|a smoker|a (?:first|second)-\w+|teetotal|sober|"
    r"jewish|muslim|christian|hindu|buddhist|catholic)"
)

RULES: Final = (
    Rule(
        r"(?:<my> (?:full |real |first |legal )?name(?:'s| is)|(?:i'm|i am|this is) called|"
        r"<i> am called) (?P<value>(?!not|on|in|spelled)[^,]{1,40})",
        "identity",
        "user.name",
        annotate=False,
    ),
    Rule(
        r"<my> (?:nickname|handle|username|github (?:handle|username|account)|display name) (?:is|"
        r":) (?P<value>[^,]{1,40})",
        "identity",
        "user.nickname",
    ),
    Rule(
        r"(?:<am>|<i> (?:just )?turned|<i> (?:just )?turn) (?P<value>\d{1,3})(?: years? old|"
        r" yo| yrs? old)?(?: (?:now|today|last|this|in|next|on|tomorrow)\b.*)?$",
        "identity",
        "user.age",
    ),
    Rule(r"<my> age is (?P<value>\d{1,3})", "identity", "user.age"),
    Rule(
        r"(?:<my> (?:birthday|bday|birthdate|date of birth|dob)(?:'s| is| falls)?(?: on)?|"
        r"<i> was born on|<am> born on|<i> was born (?=\d{4}-)|<i> celebrate my birthday on) (?P<value>(?!coming|"
        r"soon|next week|tomorrow|a\b)[^,]{2,40}(?:, \d{4})?)",
        "identity",
        "user.birthday",
        annotate=False,
    ),
    Rule(
        r"<i> was born (?:and (?:raised|grew up) )?in (?P<value>(?:19|20)\d\d)$",
        "identity",
        "user.birthday",
        annotate=False,
    ),
    Rule(
        r"(?:<i> (?:was born(?: and (?:raised|grew up))?|grew up|come|was raised) (?:in|"
        r"from)|<am> (?:originally )?from|<am> (?:born|born and raised) in|<my> (?:hometown|"
        r"home town)(?:'s| is)) (?P<value>(?!the future|work|home|scratch)[^,]{2,60})",
        "identity",
        "user.hometown",
    ),
    Rule(
        r"<i> (?:live|reside)(?: with .{1,40}?)? (?:in|near|at|outside|just outside) (?P<value>(?!a van\b)"
        r"[^,]{2,60})",
        "identity",
        "user.city",
    ),
    Rule(
        r"(?:now|currently|these days) (?:i'm|i am|we're|we are) (?:living |based )?in (?P<value>[^,]{2,40})",
        "identity",
        "user.city",
        change="replaces",
    ),
    Rule(r"<i> used to (?P<before>(?!think|be able|get)\w.{2,80})", "identity"),
    Rule(
        r"(?:i'm|i am|we're|we are)(?: now| currently| back)? in (?P<value>[a-z][\w'-]+(?: [a-z][\w'-]+)?"
        r")$",
        "identity",
        "user.city",
        proper=True,
    ),
    Rule(
        r"(?:<am> (?:based|living|located|settled|staying) (?:in|out of|near)|<my> (?:home city|"
        r"city|home) is(?: in)?) (?P<value>[^,]{2,60})",
        "identity",
        "user.city",
    ),
    Rule(
        r"<my> (?:home |postal |mailing |shipping |office |work )?address(?:'s| is) (?P<value>.{4,100})",
        "identity",
        "user.address",
    ),
    Rule(
        r"<my> (?:work |personal |private |business )?e-?mail(?: address)?(?:'s| is) (?P<value>\S{3,80})",
        "identity",
        "user.email",
    ),
    Rule(
        r"<my> (?:time ?zone)(?:'s| is) (?P<value>[^,]{2,40})|<am> (?:in|on) (?:the )?"
        r"(?P<zone>[a-z]{2,20}(?:/[a-z_]{2,20})?"
        r" time(?: ?zone)?|(?:utc|gmt)[+-]?\d{0,2}|(?:cet|cest|est|edt|pst|pdt|ist|"
        r"jst|bst)\b)",
        "identity",
        "user.timezone",
    ),
    Rule(
        r"<i> (?:speak|am fluent in|am native in) (?P<value>[^,]{2,60}(?:, [^,]{2,30})*)|"
        r"<am> (?:fluent in|a native) (?P<tongue>[^,]{2,40})|<my> (?:native language|"
        r"mother tongue|first language) is (?P<native>[^,]{2,40})",
        "identity",
        "user.spoken_language",
    ),
    Rule(
        r"<i> (?:work|worked|am working|freelance|do freelance work)(?: as)? (?P<value>(?:a|"
        r"an|the)\b [^,]{0,50})(?: (?:at|for|with|in)\b .*)?$|<i> work as (?P<job>[^,]{2,50})",
        "identity",
        "user.job",
    ),
    Rule(
        r"<i> (?:work|intern|am working|am employed) (?:at|for|with) (?P<value>(?!home|"
        r"night|the moment|least|my own|ways|it|this)[^,]{2,50})|<am> (?:working|"
        r"employed|interning) (?:at|for|with) (?P<firm>(?!home|night|the moment)[^,]{2,50})|"
        r"<my> (?:employer|company)(?:'s| is)(?: called)? (?P<called>[^,]{2,40})",
        "identity",
        "user.employer",
    ),
    Rule(
        r"<i> (?:work|am working) (?:in|on|hybrid|fully|mostly|four|three|five|remotely|"
        r"from|nights|part[- ]time|full[- ]time|night|the|mondays|tuesdays|\d)\b.{1,80}",
        "identity",
    ),
    Rule(
        rf"<am> (?P<value>(?:a|an|the|your|one of the)\b (?:[\w/+#.&-]+ ){{0,4}}{_JOB}\b[^,]{{0,60}})",
        "identity",
        "user.job",
    ),
    Rule(
        r"<my> (?:job|role|job title|title|occupation|profession|position)(?:'s| is) (?P<value>.{2,60})"
        r"|<i> (?:teach|study|studied|major in|majored in|am studying|am majoring in|"
        r"have a (?:phd|degree|master's|masters|bachelor's) in) (?P<field>(?!it\b|"
        r"this|that|for\b)[^,]{2,60})|<am> (?:studying|majoring in|doing a (?:phd|"
        r"degree|master's|masters) in) (?P<doing>[^,]{2,60})",
        "identity",
        "user.job",
    ),
    Rule(
        r"<i> (?:run|own|founded|co-?founded|manage|lead|started|head) (?P<value>(?:a|"
        r"an|my own|the|our|two|three)\b (?:[\w/+#.&-]+ ){0,4}(?:company|business|"
        r"startup|start-up|shop|store|team|bakery|restaurant|cafe|studio|agency|firm|"
        r"farm|practice|lab|blog|newsletter|podcast|channel|clinic|department|group|"
        r"school|meetup|club)\b[^,]{0,60})",
        "identity",
    ),
    Rule(rf"<am> (?P<value>{_TRAIT})\b", "preference", "user.diet", importance=8),
    Rule(
        rf"<i> (?:follow|eat|keep|am on|went|have gone|turned|became|become) (?:a |"
        rf"an )?(?P<value>(?:strict )?(?:{_TRAIT}|low[- ]carb|mediterranean|paleo|"
        rf"low[- ]sodium|plant[- ]based)\b[^,]{{0,30}})|<am> on (?:a|an) (?P<diet>[\w -]{{2,30}} diet)"
        rf"\b",
        "preference",
        "user.diet",
        importance=8,
    ),
    Rule(
        r"(?:<am>|<i> (?:am|have always been|was)|i'm) (?:severely |deathly |mildly |"
        r"highly |also |a bit )*(?:allergic|intolerant|sensitive) to (?P<value>.{2,80})|"
        r"<i> have (?:a|an) (?:severe |bad |mild |serious )?(?P<allergen>[\w -]{2,30}) allergy\b|"
        r"<i> (?:have|get) (?P<sort>[\w -]{2,30}) allergies\b|<i> (?:can't|cannot) (?:eat|"
        r"have|tolerate|drink) (?P<food>[^,]{2,60})|<my> allerg(?:y|ies) (?:is|are|"
        r"include) (?P<list>.{2,60})",
        "constraint",
        "user.allergy",
        importance=9,
    ),
    Rule(rf"<am> {_CONDITION}\b", "identity"),
    Rule(
        r"(?:i'm|i am) (?:(?:really|definitely|just) )?not (?:a|an|much of a|really a|"
        r"good with|good at|comfortable with|allowed|religious|technical|native)\b (?P<value>.{2,80})",
        "identity",
    ),
    Rule(
        r"(?:i'm|i am|this is|it's) (?P<value>[a-z][\w'-]{1,20}(?: [a-z][\w'-]{1,20})?)(?:,? (?:here|"
        r"speaking|by the way|btw))?$",
        "identity",
        "user.name",
        proper=True,
    ),
    Rule(
        r"<am> (?P<value>(?:half[- ])?(?:american|british|english|german|french|spanish|"
        r"italian|chinese|japanese|korean|indian|canadian|australian|dutch|polish|"
        r"portuguese|brazilian|mexican|swedish|norwegian|danish|finnish|russian|ukrainian|"
        r"irish|scottish|welsh|greek|turkish|swiss|austrian|belgian|vietnamese|thai|"
        r"taiwanese|nigerian|kenyan|egyptian|iranian|israeli|argentinian|chilean|"
        r"colombian|filipino|indonesian|malaysian|singaporean|czech|hungarian|romanian)\b.{0,30})",
        "identity",
        "user.nationality",
    ),
)
