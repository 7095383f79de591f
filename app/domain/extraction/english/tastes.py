"""Preferences, likes and dislikes, hobbies, tools."""

from typing import Final

from app.domain.extraction.patterns import Rule

_EDITOR = (
    r"(?:neovim|nvim|vim|emacs|vs ?code|vscode|visual studio code|sublime(?: text)?|"
    r"intellij(?: idea)?|pycharm|webstorm|goland|clion|rider|zed|helix|cursor|"
    r"nano|xcode|eclipse|jetbrains|android studio|doom emacs|spacemacs|kate)"
)
_OS = (
    r"(?:linux|ubuntu|debian|fedora|arch(?: linux)?|nixos|macos|mac os|windows(?: ?1[01])?|"
    r"mint|opensuse|freebsd|pop!_os|manjaro|wsl2?)"
)
_SHELL = r"(?:zsh|bash|fish|powershell|nushell|tcsh|ksh)"
_LANGUAGE = (
    r"(?:python|javascript|typescript|java|kotlin|swift|rust|golang|go|c\+\+|"
    r"c#|ruby|php|scala|haskell|elixir|clojure|r|julia|perl|lua|dart|ocaml|erlang|"
    r"zig|f#|fortran|cobol)"
)
_DRINK = (
    r"(?:coffee|tea|espresso|latte|cappuccino|beer|wine|juice|water|soda|cola|"
    r"matcha|milk|whisky|whiskey|gin|cocktails?|decaf|oat milk|americano|kombucha|"
    r"chai|mate)"
)
_LIKE = (
    r"(?:like|love|enjoy|adore|prefer|am fond of|am into|am (?:a )?(?:big|huge) fan of|"
    r"really like|am obsessed with|am addicted to|'m into|dig)"
)
_STATE = (
    r"(?!it\b|this\b|that\b|you\b|your\b|how\b|the (?:idea|way|sound|plan|suggestion)\b|"
    r"what\b|these\b|those\b|them\b|him\b|her\b|when you|to (?:know|ask|see if|"
    r"thank|hear|say|add|order|get|have a|try|learn more|buy|book|check|make a)\b)"
)

RULES: Final = (
    Rule(
        r"(?P<value>(?!it\b|this\b|that\b|you\b|he\b|she\b|they\b|what\b|nothing\b|"
        r"something\b)[\w -]{2,40}?) (?:tastes? like (?:soap|dirt|nothing|cardboard|"
        r"medicine)|makes? me (?:sick|sleepy|nauseous|sneeze|anxious|jittery)|gives? me (?:headaches|"
        r"migraines|heartburn|hives|a rash|the creeps)|upsets? my stomach|triggers? my|"
        r"kills? my|and i don't get along|(?:doesn't|don't) agree with me)\b.{0,40}",
        "preference",
        "preference.dislike",
    ),
    Rule(r"(?P<value>[\w -]{2,40}?) (?:only )?for me,?(?: please)?$", "preference"),
    Rule(
        r"<am> (?P<value>(?:off|free|busy|unavailable|available|out|away|on call|"
        r"at the \w+|in the office|remote)\b.{0,20}\b(?:mondays|tuesdays|wednesdays|"
        r"thursdays|fridays|saturdays|sundays|weekends|weekdays|every \w+|mornings|"
        r"afternoons|evenings)\b.{0,40})",
        "identity",
    ),
    Rule(
        r"<my> (?:all[- ]time )?(?:favou?rite|preferred|go-to|usual) (?P<what>[\w -]{2,30}?)(?:'s|"
        r" is| are|:) (?P<value>(?!not\b|what)[^,]{1,60}(?:, [^,]{1,30})*)",
        "preference",
        "favourite.{what}",
    ),
    Rule(
        r"(?P<value>[\w .+#'-]{2,50}?) (?:is|are) (?:definitely |still |by far |probably )?my (?:all[- ]time )?"
        r"(?:favou?rite|preferred|go-to) (?P<what>[\w -]{2,30})$",
        "preference",
        "favourite.{what}",
    ),
    Rule(
        rf"<i> (?:use|edit|code|program|write code|do all my coding|work|prefer|develop|"
        rf"swear by|live) (?:in |with |everything in |my code (?:in|with) )?(?P<value>{_EDITOR})\b(?! (?:plugin|"
        rf"extension|error|crash)).{{0,60}}|<my> (?:main |default )?(?:editor|ide)(?: of choice)?(?:'s|"
        rf" is) (?P<editor>.{{2,40}})",
        "preference",
        "preference.editor",
    ),
    Rule(
        rf"<i> (?:use|run|work on|am on|develop on|prefer|daily[- ]drive|dual boot) (?P<value>{_OS})\b(?! (?:server|"
        rf"container|image|vm)).{{0,60}}|<am> (?:on|using|running) (?P<running>{_OS})\b.{{0,40}}|"
        rf"<my> (?:os|operating system)(?:'s| is) (?P<os>.{{2,40}})|<my> (?:laptop|"
        rf"computer|machine|desktop|pc|workstation) (?:runs|is running) (?P<machine>{_OS})\b.{{0,40}}",
        "preference",
        "preference.os",
    ),
    Rule(
        rf"<i> (?:use|run|prefer|am on) (?:the )?(?P<value>{_SHELL})\b.{{0,60}}|<my> (?:default |"
        rf"login )?shell(?:'s| is) (?P<shell>.{{2,30}})",
        "preference",
        "preference.shell",
    ),
    Rule(
        rf"<i>(?: mostly| mainly)? (?:code|program|write|work|develop|know|prefer|"
        rf"use|love|like)(?: code| mostly| mainly| primarily| everything| most things)* (?:in |"
        rf"with )?(?P<value>{_LANGUAGE}(?:(?:,| and|, and|/) {_LANGUAGE})*)\b(?! (?:script|"
        rf"code|error|problem|server|version \d|to the|there|with)).{{0,60}}|<am> (?:learning|"
        rf"writing|using|studying) (?P<learning>{_LANGUAGE})\b.{{0,50}}|<my> (?:main |"
        rf"primary |first )(?:programming )?language is (?P<main>.{{1,40}})",
        "preference",
        "preference.programming_language",
    ),
    Rule(
        r"<i>(?:'d)?(?: would)? (?:prefer|rather have|would rather|rather|favou?r) (?P<value>.{1,80}?"
        r") (?:over|to|instead of|rather than|than) (?P<before>(?!be\b|have\b|do\b|"
        r"use\b).{1,80})",
        "preference",
    ),
    Rule(rf"<i>(?:'d)?(?: would)? prefer (?P<value>{_STATE}.{{2,120}})", "preference", "preference.like"),
    Rule(
        rf"<i> (?:(?:only |always |mostly |usually )*(?:drink|take my|have my)|{_LIKE}(?: drinking)?) "
        rf"(?P<value>(?:[\w-]+ ){{0,3}}{_DRINK}\b.{{0,50}})",
        "preference",
        "preference.drink",
    ),
    Rule(
        r"<i> (?:don't|do not|never|won't|refuse to) (?:eat|drink|smoke|consume) (?P<value>[^,]{2,60})"
        r"|<i> avoid (?:eating |drinking )?(?P<food>[^,]{2,60})",
        "preference",
        "preference.dislike",
        importance=7,
    ),
    Rule(
        rf"(?:<i> (?:hate|dislike|detest|can't stand|cannot stand|loathe|despise|don't like|"
        rf"do not like|don't enjoy|do not enjoy|don't care for|am not into|am not a fan of|"
        rf"am scared of|am afraid of|can't bear|avoid)|(?:i'm|i am) (?:not (?:a (?:big |"
        rf"huge )?fan of|into|fond of)|(?:afraid|scared|terrified) of)) (?P<value>{_STATE}.{{2,100}})",
        "preference",
        "preference.dislike",
    ),
    Rule(
        rf"<i> {_LIKE} (?P<value>{_STATE}(?:to )?(?:playing|reading|cooking|baking|"
        rf"hiking|running|swimming|cycling|climbing|painting|drawing|gardening|fishing|"
        rf"travel\w*|dancing|singing|knitting|skiing|surfing|photography|yoga|bouldering|"
        rf"camping|woodworking|pottery|chess|birdwatching|sailing|kayaking|writing|"
        rf"watching|collecting|play|read|cook|bake|hike|run|swim|climb|paint|draw|"
        rf"jogging|snowboarding|diving|gaming)\b.{{0,80}})",
        "preference",
        "user.hobby",
    ),
    Rule(
        r"(?:<my> (?:hobby|hobbies|main hobby|favou?rite hobby)(?: is| are| include)|"
        r"in my (?:free|spare) time,? i|on weekends,? i|<i> (?:spend my (?:free|spare) time|"
        r"took up|started learning|have taken up|picked up|got into|go|play|practi[cs]e|"
        r"do|collect|volunteer|coach|train|sing|bake|knit|paint)) (?P<value>(?!it\b|"
        r"this|that|not\b|you|to (?:the|bed|sleep|a\b)|ahead|back|there|for it|with (?:that|"
        r"it|option)|the (?:dishes|same|first)|something|i\b|with you|on\b|home|some (?:research|"
        r"work))(?:[^,]{2,80}))",
        "preference",
        "user.hobby",
    ),
    Rule(
        rf"<i> {_LIKE} (?P<value>{_STATE}.{{2,100}})|<am> (?:a (?:big |huge |massive |"
        rf"die-hard )?(?:fan of|\w+ fan)|into|obsessed with|crazy about|passionate about|"
        rf"interested in|fond of) (?P<liked>{_STATE}.{{2,80}})?",
        "preference",
        "preference.like",
    ),
    Rule(
        r"<i> (?:am |been |have been )?learning (?:how )?(?:to )?(?P<value>[^,]{2,60})|"
        r"<am> (?:learning|taking|practi[cs]ing|teaching myself) (?:how )?(?:to )?(?P<learning>(?!a (?:break|"
        r"nap|walk|shower)|notes|it\b|care)[^,]{2,60})",
        "goal",
        "user.goal",
    ),
    Rule(
        r"<i> (?:use|rely on|work with|manage .{1,20} with|track .{1,30} (?:in|with)|"
        r"keep .{1,30} in|store .{1,30} in|take notes in|run|pay for|subscribe to|"
        r"self-host|listen to|watch|read|follow) (?P<value>(?!it\b|this\b|that\b|"
        r"into|out|you\b|to\b|the (?:same|following|command|script|code|docs?|error|"
        r"article|news|first|second)|(?:some|a few|an? (?:error|issue|problem|test|"
        r"script|query|bunch|lot))\b)[^,]{2,100})",
        "tool_config",
    ),
    Rule(
        r"<i> (?:bike|cycle|walk|commute|drive|take the (?:bus|train|subway|metro|"
        r"tram)) (?P<value>(?:to (?:work|school|the office|campus)|about|from|\d).{0,60})",
        "preference",
    ),
    Rule(
        r"<i> (?:don't|do not|never|won't|rarely|can't) (?P<value>(?:take|do|work|"
        r"answer|read|watch|wear|fly|drive|cook|own|smoke|drink|eat|check|attend|"
        r"use|travel|sleep|run|play|go|have|speak|keep|schedule|accept|celebrate)\b (?!it\b|"
        r"this\b|that\b|you\b|any (?:idea|clue|questions?)|a clue|time\b|to\b|away|"
        r"anything)[^,]{2,80})",
        "preference",
    ),
    Rule(
        r"<i> (?:wake up|get up|go to bed|sleep|exercise|work out|run|jog|swim|meditate|"
        r"cook|shop|commute|go to the gym|train|fast|have (?:therapy|class|lessons?|"
        r"practice|yoga|standups?|band practice|rehearsal|choir)|pick up .{1,30}|"
        r"call .{1,20}|visit .{1,20}|eat|take the \w+)\b.{0,60}\b(?:every|each|daily|"
        r"weekly|on (?:mon|tues|wednes|thurs|fri|satur|sun)days?|mondays|tuesdays|"
        r"wednesdays|thursdays|fridays|saturdays|sundays|weekends?|at \d|around \d|"
        r"before \d|times a|in the mornings?|in the evenings?|after work|to work)\b.{0,40}",
        "preference",
    ),
)
