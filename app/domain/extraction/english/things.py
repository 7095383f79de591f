"""What the user has: animals, children, things; and what their body is like."""

from typing import Final

from app.domain.extraction.patterns import Rule

_NUMBER = r"(?:\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_PET = (
    r"(?:dog|cat|puppy|kitten|parrot|hamster|rabbit|bunny|goldfish|fish|turtle|"
    r"tortoise|horse|pony|guinea pigs?|lizard|snake|bird|budgie|canary|ferret|"
    r"gecko|corgi|beagle|labrador|poodle|husky|retriever|terrier|tabby|chinchilla|"
    r"cockatiel|pug|dachshund|collie|shepherd|spaniel|greyhound)(?:s|ies)?"
)

RULES: Final = (
    Rule(
        r"<my> (?:phone|mobile|cell|new phone)(?: model)? is (?:a|an|the) (?P<value>[^,]{2,40})|"
        r"<i> (?:bought|got|have|use|own) (?:a|an|the|my) (?:new )?(?P<phone>(?:iphone|"
        r"pixel|galaxy|oneplus|xiaomi|huawei|fairphone)\b[^,]{0,30})",
        "other",
        "user.phone_model",
    ),
    Rule(
        r"<i> (?:have|had|suffer from|was diagnosed with|am diagnosed with|got diagnosed with) (?P<value>(?:type \d |"
        r"chronic |mild |severe |high |bad )?(?:diabetes|asthma|adhd|epilepsy|migraines?|"
        r"arthritis|celiac disease|insomnia|dyslexia|anemia|hypertension|blood pressure|"
        r"cholesterol|tinnitus|depression|anxiety|autism|gout|sleep apnea|knees?|"
        r"a bad (?:knee|back|shoulder))\b.{0,40})",
        "identity",
        "user.health",
        importance=8,
    ),
    Rule(
        rf"<i>(?: \w+)? (?:have|own|adopted|got|rescued|keep|bought|am adopting|have adopted|"
        rf"'ve got|also have) (?P<value>(?:a|an|two|three|four|five|six|\d+|another|"
        rf"my|some)(?: [\w-]+){{0,4}}? {_PET}\b.{{0,80}})|(?:i've got|we've got) (?P<pets>(?:a|"
        rf"an|two|three|\d+)(?: [\w-]+){{0,4}}? {_PET}\b.{{0,80}})",
        "relation",
        "user.pet",
    ),
    Rule(
        rf"<my> (?:[\w-]+ ){{0,3}}{_PET}(?:'s name)?(?: (?:is|are)(?: (?:called|named))?|"
        rf",|'s)? (?P<value>(?!here|sick|barking|sleeping|hungry|outside|being|so|"
        rf"very|just|at the|driving)[^,]{{2,60}})",
        "relation",
        "user.pet",
    ),
    Rule(
        r"<i> (?:drive|ride|own|bought|have|lease) (?P<value>(?:a|an|my)\b (?:[\w.-]+ ){0,4}(?:car|"
        r"suv|truck|van|bike|bicycle|motorcycle|motorbike|scooter|tesla|toyota|honda|"
        r"bmw|volkswagen|vw|subaru|mazda|ford|volvo|house|apartment|flat|condo|boat|"
        r"piano|guitar|violin|telescope|3d printer|nas|drone|camera|macbook|thinkpad|"
        r"laptop|desktop|ipad|kindle|raspberry pi|e-bike|cello|ukulele|kayak|cabin|"
        r"keyboard|monitor|printer)s?\b[^,]{0,50})",
        "other",
        "user.possession",
    ),
    Rule(
        r"<my> (?P<what>car|bike|laptop|computer|workstation|desktop|camera|keyboard|"
        r"guitar|house|apartment|flat|machine|monitor|tablet|watch|work laptop|work machine|"
        r"gpu|phone|truck)(?:'s| is| has| runs) (?P<value>(?:a|an|on|in|the|running|"
        r"called|named|from|windows|linux|macos|ubuntu|\d)\b.{1,80})",
        "other",
        "user.{what}",
    ),
    Rule(
        r"(?:(?:my|our|the|your) )?(?P<what>(?:order|booking|reservation|confirmation|invoice|tracking|ticket|case|"
        r"customer|membership|member|loyalty|flight|train|reference|room|seat) (?:number|no\.?|code|reference|id))"
        r"(?: for [\w' -]{2,30}?)?(?: is| was|'s|:)(?: actually| now| really)? "
        r"#?(?P<value>(?=[a-z-]*\d)(?:[a-z0-9]+[-/])*[a-z0-9]{2,16})(?=$|[,;]| for\b)",
        "other",
        "user.{what}",
        personal=False,
    ),
    Rule(
        r"<i> (?:wear|weigh|take|need) (?P<value>(?!a (?:break|nap|look|shower|walk|"
        r"bus|minute)|to\b|some|your|help|more|it|care)(?:(?:a )?size|glasses|contacts|"
        r"contact lenses|hearing|\d+|insulin|medication|pills|\w+ mg|a hearing)\b.{0,60})|"
        r"<my> (?:shoe size|height|weight|blood type|t-?shirt size|ring size|shirt size) is (?P<size>.{1,40})"
        r"|<am> (?P<tall>\d[\w' .\"]{0,12}(?:tall|cm|kg|m|ft|pounds|lbs))",
        "identity",
    ),
    Rule(
        rf"<i> (?:have|got) (?P<value>(?:{_NUMBER}|a|an|no|twin)\b (?:[\w-]+ ){{0,3}}(?:kids?|"
        rf"child|children|sons?|daughters?|bab(?:y|ies)|twins|boys?|girls?|toddlers?|"
        rf"grandchildren|grandsons?|granddaughters?))\b.{{0,80}}|<am> (?:a|the) (?P<parent>(?:\w+ )?(?:mother|"
        rf"father|mom|dad|mum|parent)s? (?:of|to) .{{2,60}})",
        "relation",
        "user.child",
    ),
    Rule(
        rf"<i> have (?P<value>(?:{_NUMBER}|a|an|no|twin)\b (?:[\w-]+ ){{0,3}}(?:brothers?|"
        rf"sisters?|siblings?|cousins?|roommates?|housemates?|flatmates?))\b.{{0,80}}",
        "relation",
    ),
    Rule(
        r"<my> team(?:'s| is)(?: called| named)? (?P<value>[^,]{2,60})|<am> (?:on|"
        r"in|part of) (?P<team>(?:the )?[\w -]{2,30} team)\b|<i> (?:joined|am joining|"
        r"lead|manage) (?P<group>the [\w -]{2,30} team)\b",
        "identity",
        "user.team",
    ),
)
