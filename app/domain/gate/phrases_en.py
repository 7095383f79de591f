"""English sentences that say nothing to be kept. Patterns read folded text from the start of a clause."""

import re
from typing import Final

QUESTION: Final = re.compile(
    r"[^\n]{3,120}, (?:right|correct|isn't it|aren't they|no|yeah|yes)$|"
    r"(?:what|which|who|whom|whose|where|when(?! i| we| you|ever)|why|how)(?:'s|"
    r"'re|'d|'ll)?\b(?!ever)(?! i (?:like|prefer|want) (?:it|things)\b)|"
    r"(?:is|are|am|was|were|do|does|did|has|have(?= i| we| you| they)|had(?= i|"
    r" we| you)|can|could|would|will|should|shall|may|might) "
    r"(?:i|you|we|he|she|it|they|there|this|that|the|my|your|our|his|her|a|an|any|anyone|someone|these|those)\b|"
    r"(?:isn't|aren't|don't (?:i|you|we|they)|doesn't|didn't (?:i|you|we)|can't (?:i|"
    r"you|we)|couldn't (?:i|you)|won't you|wouldn't)\b|"
    r"(?:any (?:ideas?|tips|advice|suggestions?|recommendations?|chance|thoughts?)|"
    r"thoughts\b|wondering (?:if|whether|what|how))|"
    r"i(?:'m| am|'ve been| was)? (?:wonder|wondering|curious)\b|do you\b|got any\b"
)
HYPOTHETICAL: Final = re.compile(
    r"(?:if|suppose|supposing|imagine|assume|assuming|let's (?:say|assume|pretend|"
    r"imagine)|say i|what if|in case|unless|hypothetically|"
    r"even if|were i|had i|should i)\b(?!.{0,200}\b(?:always|never|use|answer|reply|ask me)\b)|"
    r"(?:i|we)(?:'d| would| could| might| may)\b(?! (?:like you|like to be called|"
    r"like (?:to (?!know|ask|see|hear|get|have|understand|say|thank|live)|an? (?!coffee))|prefer|rather you|appreciate it if you|like (?:all|your)))|"
    r"(?:i|we) (?:wish|guess|suppose)\b|(?:maybe|perhaps|possibly|probably)\b|"
    r"i(?:'m| am) (?:thinking (?:of|about)|considering|not sure|unsure)\b|"
    r"(?:i|we) (?:don't know|dunno|think i|think we|(?:was|were) thinking)\b|"
    r"in theory\b|for example\b|for instance\b|e\.g\.|in (?:a|my) dream\b|i dreamt\b|i dreamed\b"
)
INSIDE_HYPOTHETICAL: Final = re.compile(
    r"\bif (?:i|we) (?:were|was|had|could|lived|worked|owned|won|ever)\b|\b(?:i|"
    r"we)(?:'d| would) (?:be|have|probably|never have|live|move|love to)\b|"
    r"\bhypothetical(?:ly)?\b"
)
STATE: Final = re.compile(
    r"(?:(?:i|we)(?:'m| am|'re| are|m)|(?:i|we) (?:feel|felt|got|get|look|woke up)|"
    r"feeling)(?: (?:so|very|really|a bit|a little|kind of|kinda|just|pretty|"
    r"quite|too|super|still|also|now|already|totally|completely|currently|right now|"
    r"rather|absolutely|all|getting|feeling))*+ "
    r"(?:tired|exhausted|sleepy|hungry|thirsty|starving|bored|busy|sick|ill|cold|"
    r"hot|warm|sad|happy|glad|angry|mad|upset|stressed|anxious|nervous|"
    r"excited|confused|lost|stuck|done|back|here|home|late|ready|free|fine|ok|"
    r"okay|good|great|well|better|worse|awake|frustrated|annoyed|sorry|"
    r"drunk|hungover|running late|in a (?:hurry|rush|meeting|call)|on (?:the|"
    r"a|my) (?:train|bus|phone|way|call|break|plane|subway|sofa|couch)|"
    r"at (?:the (?:office|airport|gym|store|station|supermarket|bar|doctor)|my desk|"
    r"lunch|home|work)|outside|off to|about to|heading|"
    r"having (?:lunch|dinner|breakfast|coffee|a (?:bad|good|rough|great) (?:day|"
    r"time))|eating|cooking|waiting|listening|watching|sitting|"
    r"looking (?:at|forward|into)|trying to|getting|afraid|surprised|impressed|"
    r"grateful|thankful|kidding|joking|not feeling|under the weather|"
    r"wiped|swamped|overwhelmed|drained|dead|freezing|melting|debugging|going to (?:bed|"
    r"sleep|lunch)|out of)\b(?! (?:with|in) (?:python|java|go|rust|sql)\b)|"
    r"(?:i|we) (?:need|want) (?:a|some) (?:coffee|nap|break|drink|minute|moment|"
    r"help|sleep|rest)\b|i(?:'ve| have)? (?:got )?a (?:headache|cold|fever|question|"
    r"quick question|problem|doubt|hangover|bad day|minute|sec)\b|"
    r"i (?:didn't|barely|hardly|couldn't) (?:sleep|slept)|my (?:head|back|stomach|"
    r"feet|throat|tooth|eyes?|legs?) (?:hurts?|aches?|is killing|are killing)|"
    r"(?:i'll |will )?(?:be back|brb|talk to you|see you|catch you|back in \d)\b|(?:i )?(?:just )?woke up|"
    r"i (?:like|prefer|pick|choose|take|want) (?:the )?(?:first|second|third|last|other|option|door|number) ?(?:one|option|\d|version)?$|"
    r"let's (?:go with|do|take|use) (?:the )?(?:first|second|third|last|other|option|number) ?(?:one|option|\d|version)?$|"
    r"today,? i(?:'m| am) (?:on|doing|debugging|working on|looking|fixing|chasing)\b|"
    r"i(?:'ve| have)? never (?:said|told|mentioned|claimed)\b|"
    r"it(?:'s| is) (?:raining|snowing|cold|hot|sunny|late|early|windy|\w+ (?:here|outside))|"
    r"my (?:\w+ )?(?:internet|wifi|laptop|computer|phone|battery|screen|connection|"
    r"coffee|lunch|build|code|test|script|app)s? (?:is|are|was|keeps?|just|won't|"
    r"isn't|has|died|broke|froze|crashed)\b.{0,40}"
    r"(?:slow|broken|down|dead|dying|cold|crash|fail|freez|froze|lag|died|stuck|"
    r"again|not working|out\b|turn|crashed|broke)\w*"
)
JOKE: Final = re.compile(
    r"\b(?:just kidding|jk|kidding(?:!|$|,)|i'm joking|just joking|that was a joke|not really,? lol|sarcasm|/s$)\b"
)
ROLE_PLAY: Final = re.compile(
    r"\b(?:role-?\s?play(?:ing)?|pretend(?:ing)? (?:that )?(?:you|i|we|to be)|"
    r"let's (?:play|pretend)\b|you are (?:now )?(?:a|an|the) (?:pirate|wizard|"
    r"king|queen|"
    r"knight|dragon|vampire|detective|elf|alien|robot)|play(?:ing)? the (?:role|"
    r"part) of|(?:i'll|i will) (?:be|play) (?:the|a|an)\b|in character|"
    r"(?:write|tell)(?: me)? (?:a|an|the|some) (?:\w+ ){0,3}(?:story|poem|tale|"
    r"scene|novel|song|joke|dialogue|limerick|fanfic)|"
    r"(?:need|want|like|about) (?:a|an) (?:\w+ ){0,2}(?:story|poem|tale|limerick|fanfic|dialogue)\b|"
    r"(?:in|for) (?:my|the|this|our) (?:story|novel|book|game|campaign|fanfic|"
    r"screenplay|script|d&d)\b|my character\b|the (?:protagonist|hero|narrator)\b|"
    r"my (?:protagonist|character|hero|heroine|villain|narrator)\b|chapter \d|"
    r"once upon a time|dungeon master|act as\b|act like (?:a|an)\b)"
)
STARTS_ROLE_PLAY: Final = re.compile(
    r"\b(?:(?:let's|let us|wanna|want to|can we|shall we|start|do) (?:a |some |"
    r"do |do a |do some |play |start )*role-?\s?play|pretend (?:that )?(?:i|i'm|"
    r"we|we're|you)\b|let's pretend|"
    r"(?:i'll|i will) (?:be|play) (?:the|a|an)\b|you (?:be|play) the\b|stay in character|"
    r"play (?:a )?(?:text adventure|dungeons|d&d)|you are (?:now )?(?:a|an|the) "
    r"(?:pirate|wizard|king|queen|knight|dragon|vampire|detective|elf|alien))"
)
ENDS_ROLE_PLAY: Final = re.compile(
    r"\b(?:(?:stop|end|exit|leave|quit|enough|done with|finish)(?: (?:of|with|"
    r"the|this|that))* (?:role-?\s?play\w*|game|story|acting|character)|out of character|"
    r"ooc\b|"
    r"back to (?:reality|real life|normal|business|work)|in real life|for real(?: now)?|seriously now|scene over)\b"
)
TASK: Final = re.compile(
    r"(?:please |can you |could you |pls |now |just |help me )*(?:write(?! (?:code |"
    r"commit |all |your |unit |doc)?(?:comments?|messages?|docs|tests|docstrings|"
    r"code) (?:in|as|with|without|like|for every))|draft|"
    r"generate|create|make me|translate|summari[sz]e|rewrite|fix|debug|explain|"
    r"show me|give me|list|"
    r"find|search|look up|calculate|solve|next (?:one|question|problem)|convert|compute|tell me|recommend|suggest|"
    r"compare|run|open|send|check|read|analy[sz]e|help me|help|try|add|add a|"
    r"remove|refactor|"
    r"implement|draw|design|plan|book|order|schedule|set (?:a|an) (?:timer|alarm|"
    r"reminder)|remind me|play|sort|format|count)\b(?!.{0,200}\b(?:always|never|"
    r"from now on|every time)\b)"
)
