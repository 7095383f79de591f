"""Projects, conventions, tools, methods."""

from typing import Final

from app.domain.extraction.patterns import Rule

_THING = (
    r"(?:(?:\w+ )?command|staging|production|prod|dev|test|api|backend|back-end|"
    r"frontend|front-end|database|db|server|servers|service|services|app|application|"
    r"website|site|repo|repository|codebase|code|project|cluster|pipeline|ci|"
    r"cd|ci/cd|build|builds|"
    r"release|releases|deployment|deploys?|deployments|endpoint|gateway|proxy|"
    r"cache|queue|broker|bucket|domain|port|branch|main branch|default branch|"
    r"monorepo|schema|migration|migrations|tests?|test suite|coverage|linter|"
    r"formatter|style guide|config|configuration|"
    r"environment|env|vpn|dashboard|monitoring|logs|logging|alerts|backups?|backup|"
    r"cron ?job|job|worker|scheduler|docs|documentation|wiki|design|mockups|budget|"
    r"sprint|sprints|stack|tech stack|infra|infrastructure|office|team|company|"
    r"product|client|customer|contract|license|"
    r"codename|code name|deadline|launch|milestone|mvp|beta|version|hosting|payment provider|"
    r"payments?|auth|authentication|sso|login|search|orm|framework|library|compiler|"
    r"model|dataset|gpu|server room|registry|image|container|package|namespace|"
    r"ticket|tickets|board|roadmap|retro|on-?call|sla|rate limit|timeout|mobile app|"
    r"ios app|android app|web app|password policy|naming convention|convention|"
    r"commit messages?|commits|pull requests|prs|changelog|feature flags?|"
    r"data|data warehouse|warehouse|etl|billing|invoices?|invoicing|standard|"
    r"standards|firmware|board|sensor|admin panel|staging environment|chart|terraform|"
    r"kubernetes|redis|postgres|mysql|kafka|nginx|docker|jenkins|grafana|sentry|"
    r"slack channel|channel|mailing list|shared drive|drive|folder|room|meeting room|"
    r"wifi|printer|lab|store|shop|warehouse|rent|lease|thesis|paper|book|course|"
    r"class|curriculum)"
)
_DOES = (
    r"(?:is|are|runs?|lives?|uses?|has|have|requires?|needs?|listens?|sits?|supports?|"
    r"must|should|will be|will|stays?|goes|points? to|depends? on|comes? from|"
    r"costs?|consists? of|belongs? to|serves?|writes?|reads?|stores?|connects?|"
    r"talks? to|handles?|expires?|starts?|ends?|takes?|targets?|follows?|includes?|"
    r"contains?|ships?|deploys?|exposes?|returns?|relies on|gets?|can(?:not|'t)?|"
    r"doesn't|don't|limits?|allows?|was|were|starts|moved to)"
)
_STATE = (
    r"(?!(?:compil\w+|work|load|build|pass|start|respond|make sense|down|slow|"
    r"broken|failing|red|green|fine|ok|okay|working|not working|crashing|stuck|"
    r"up|back|done|great|good|bad|ready|late|hanging|acting|giving|so|very|too|"
    r"being|really|a mess|weird|flaky|currently (?:down|broken)|throwing|still|"
    r"just|again|taking|getting|loading|always (?:failing|slow)|an? (?:type|kind|"
    r"way|tool|set|structured|collection|process|concept|mess|pain|nightmare|"
    r"joke|disaster))\b)"
)

RULES: Final = (
    Rule(
        r"(?:the|our) [\w -]{2,30}? (?:team|squad|group|department|guild)(?:'s)? (?P<value>(?!is (?:great|"
        r"here|busy)|are (?:great|busy)|lunch|meeting)\w.{3,140})",
        "project",
        personal=False,
    ),
    Rule(
        r"(?:the|our|my|this) (?:[\w/-]+ ){1,4}?(?:only |always |never |automatically |"
        r"just )*(?:supports?|rotates?|bans?|forbids?|requires?|expects?|allows?|"
        r"accepts?|rejects?|enforces?|closes?|opens?|costs?|expires?|includes?|comes with|"
        r"weighs?|fits|charges?|limits?|covers?|belongs to|renews?|caps?|prohibits?|"
        r"says? (?:that )?(?:no|all|every)) (?P<value>(?!an error|this error|it\b|"
        r"me\b).{1,120})",
        "project",
        personal=False,
    ),
    Rule(
        r"(?:all |our |every )?(?:[\w-]+ ){0,2}?(?:names?|files?|variables?|functions?|"
        r"classes|tables?|columns?|branches|endpoints?|routes?|ids?|timestamps?|dates|"
        r"prices|times|passwords|tokens|images|assets|errors|commits|secrets) (?:are|"
        r"use|must|should|go|start|end|follow|have|expire|live|get) (?:always |only |"
        r"all |in |never )*(?P<value>(?!wrong|broken|missing|fine|great|hard|weird|"
        r"not\b|so\b|too\b|very|gone|being).{2,100})",
        "project",
        personal=False,
    ),
    # projects
    Rule(
        r"(?:the |our |my )?(?:project|product|app|side project|startup|codename|"
        r"project's code ?name|project name|code ?name|repo)(?:'s name)?(?: is| are)?(?: called|"
        r" named|:| codenamed| code-named) (?P<value>[^,]{2,40})|(?:the |our )(?:project|"
        r"product)'?s? (?:code ?)?name is (?P<name>[^,]{2,40})",
        "project",
        "project.name",
        personal=False,
    ),
    Rule(
        r"(?:the|our|my) (?:main |primary |production |prod |project |staging |test |"
        r"dev )*(?:database|db)(?: server)? (?:is|runs on|lives (?:on|at|in)|uses) (?P<value>(?!down|"
        r"slow|a structured|a collection|broken|corrupt)[^,]{2,60})",
        "project",
        "project.database",
        personal=False,
    ),
    Rule(
        r"(?:the|our|my) (?:repo|repository|code|codebase|source code|source) (?:is|"
        r"lives|is hosted|is stored|sits)(?: (?:on|at|in))? (?P<value>(?!a mess|broken|"
        r"failing|not|slow|here|below)[^,]{2,80})",
        "project",
        "project.repository",
        personal=False,
    ),
    Rule(
        r"(?:the|our|my) (?:backend|back-end|project|app|service|codebase|frontend|"
        r"front-end|api|server|code|product|mobile app|website|site|stack) (?:is )?(?:written|"
        r"built|implemented|coded|developed|is) in (?P<value>[^,]{1,60})",
        "project",
        "project.language",
        personal=False,
    ),
    Rule(
        rf"(?:the|our|my|all|all our|all of our|every) (?:[\w./'-]+ ){{0,4}}?{_THING}(?: (?:for|"
        rf"of|in|on) (?:the |our |my )?[\w -]{{2,30}}?)? (?:now |also |always |currently |"
        rf"only |never |usually |still |all )*{_DOES} {_STATE}(?P<value>.{{1,160}})",
        "project",
        personal=False,
    ),
    Rule(
        r"(?:we|our team|our company|the team|my team|our project|this project|the project|"
        r"my company|our app|our product)(?:'re| are)?(?: also| always| only| currently|"
        r" never| all| mostly| now| usually| typically| still| don't| do not)* (?:use|"
        r"uses|using|run|runs|running|host|hosts|deploy|deploys|store|stores|write|"
        r"writes|ship|ships|release|releases|review|follow|follows|require|requires|"
        r"name|keep|keeps|build|builds|building|develop|developing|tag|test|merge|"
        r"squash|rebase|prefix|version|log|monitor|track|tracks|pin|format|lint|commit|"
        r"push|maintain|support|supports|target|serve|rely|depend|cache|encrypt|back up|"
        r"backup|rotate|sprint|meet|work|works|sell|sells|make|makes|operate|measure|"
        r"document|sign|pay|rent|hire|have (?:a|an|two|three|four|five|\d+|no|our)|"
        r"has (?:a|an|two|three|four|five|\d+|no|our)|need|needs|put|start|migrating|"
        r"migrate|plan|do|provision|manage|integrate|accept|cap|limit|treat|call|"
        r"expose|avoid|split|send|publish|handle|offer)\b (?!it\b|this\b|that\b|you\b|"
        r"your\b|to know\b|help\b|into (?:an?|the) (?:issue|error|problem)|a (?:problem|"
        r"question|bug|few questions))(?P<value>.{2,160})",
        "project",
        personal=False,
    ),
    Rule(
        rf"(?:[\w-]+ ){{0,2}}?{_THING}(?:'s| is| are| runs?| lives?| goes?| go| live|"
        rf" uses?| use| sits?| listens?| requires?| happens?| happen)(?: all| always|"
        rf" only| mostly)* (?!a\b|an\b|the (?:best|process|practice|art)|about|important|"
        rf"useful|hard|easy|great|when){_STATE}(?P<value>.{{2,160}})",
        "project",
        personal=False,
    ),
    Rule(
        r"(?:the|our) (?:app|project|product|site|backend|frontend|service|codebase|"
        r"api)(?:'s| is) (?P<value>(?:a|an)\b.{3,120})",
        "project",
        personal=False,
    ),
    Rule(
        r"we(?:'re| are)(?: still| currently| now| all| stuck)* (?:on|using|running|"
        r"hosted (?:on|in|at)|deployed (?:on|in|to)|building on|based on|at version|"
        r"pinned to|paying|a team of|a (?:startup|company|small)|migrating|in the middle of|"
        r"licensed|moving|switching|replacing|rewriting|porting|dropping|phasing out|"
        r"deprecating) (?P<value>(?!it\b|track|the same page|our way|time|vacation|"
        r"board).{2,120})",
        "project",
        personal=False,
    ),
    Rule(
        r"(?:everything|all (?:\w+ ){1,3}|(?:new |all |our |the )?(?!i\b|he\b|she\b|"
        r"it\b|that\b|this\b|what\b|who\b|they\b|you\b|time\b|life\b|so\b|something\b)(?:[\w/-]+ ){1,4}?"
        r")(?:lives?|runs?|goes?|go|live|run) (?:all )?(?:in|on|at|through|behind|"
        r"via|under|over) (?P<value>(?!my (?:nerves|mind)|and on|time|for|a while|"
        r"well|to|circles|forever).{2,100})",
        "project",
        personal=False,
    ),
    Rule(
        r"(?:this|the) (?:project|repo|service|codebase|team|company|module) (?:also )?(?:uses|"
        r"runs|requires|targets|follows|supports|needs|has|depends on|is) (?P<value>(?!broken|"
        r"failing|slow|great).{2,160})",
        "project",
        personal=False,
    ),
    # tool configuration
    Rule(
        r"(?:<my> |the )(?:vim|neovim|vscode|git|tmux|zsh|terminal|editor|ide|docker|"
        r"ssh|keyboard|browser|linter|eslint|prettier|black|ruff|indent\w*|tab width|"
        r"tab size|line length|max line length|font|theme|color scheme|colour scheme|"
        r"keymap|leader key|proxy|default model|model|api base|log level|node version|"
        r"python version|java version)(?: \w+)? (?:is|are|=|:|uses?|has|set to|is set to)(?: set to)?"
        r" (?P<value>.{1,80})",
        "tool_config",
    ),
    Rule(
        r"<i>(?:'ve| have)? (?:set|configured|installed|enabled|disabled|mapped|bound|"
        r"aliased|turned (?:on|off)|pinned|set up|keep|indent)\b (?!it\b|this\b|that\b|"
        r"it to|a (?:timer|reminder))(?P<value>.{2,120})",
        "tool_config",
    ),
    # methods
    Rule(
        r"(?:to|in order to) (?:deploy|release|build|run|test|start|restart|reset|"
        r"set up|publish|roll ?back|regenerate|install|connect|access|debug|update|"
        r"rotate|add|log in|ship|back ?up|restore|migrate|onboard|seed|stop|clear|"
        r"flash|export|sync)\b.{0,80}?(?:,|:| you| we| just| first| run| use| need) (?P<value>.{3,200})",
        "project",
        kind="procedural",
        personal=False,
    ),
    Rule(
        r"(?:the (?:way|steps?|procedure|process|workflow|trick|fix|workaround|command|"
        r"recipe)|how we|how to) (?:to |for |we )?.{2,80}? (?:is|are|was)(?: to)?:? (?P<value>.{3,200})"
        r"|(?:before|after) (?:each|every|any|deploying|releasing|merging|committing|"
        r"pushing) .{2,60}?, (?P<step>(?:we|you|always|run|make|check|update)\b.{3,160})",
        "lesson",
        kind="procedural",
        personal=False,
    ),
    Rule(
        r"(?:<i> (?:learned|learnt|found out|discovered|realized|realised|figured out)|"
        r"lesson learned:?|turns out|it turned out)(?: the hard way)?(?: that)? (?!how\b|"
        r"what\b)(?P<value>.{6,200})|the (?:bug|issue|problem|outage|error|root cause|"
        r"crash|failure|leak|fix) (?:was|turned out|came from|is|happened)(?: to be|"
        r" because of| caused by| because| due to)? (?P<cause>(?!not|still|back|weird|"
        r"gone|fixed|annoying).{4,160})",
        "lesson",
        personal=False,
    ),
)
