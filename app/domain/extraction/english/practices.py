"""How things are done at work and at home, said in plain words."""

from typing import Final

from app.domain.extraction.patterns import Rule

_SUBJECT: Final = (
    r"(?:(?:all|our|the|every|each) )?(?:(?:[\w/-]+ ){0,2}?(?:commits?|messages?|branch(?:es)?|tests?|docs?|"
    r"documentation|logs?|ids?|"
    r"endpoints?|apis?|services?|releases?|builds?|deploys?|deployments?|migrations?|timestamps?|dates?|"
    r"errors? responses?|"
    r"errors|prices?|amounts?|invoices?|files?|images?|backups?|secrets?|configs?|settings?|queues?|jobs?|tasks?|"
    r"tickets?|"
    r"metrics|alerts?|data|frontend|backend|staging|prod(?:uction)?|infra|ci|repo|code|styles?|reviews?|pages?|queries|"
    r"dotfiles|notes|photos|books|contracts?|payments?|lessons?|classes|labs?|shipments?|orders?|samples?))"
)

RULES: Final = (
    Rule(
        r"(?:one|a|our|my|the|house|new|golden|another)? ?(?:rule|policy|convention)(?: of (?:mine|ours|"
        r"thumb))?(?: is|:|,)"
        r"(?: that)? (?P<value>.{5,160})",
        "constraint",
        personal=False,
    ),
    Rule(
        r"(?:during .{2,40}?,? |until .{2,30}?,? |after .{2,30}?,? )?(?:nobody|no one|no-one) (?P<value>(?!knows|"
        r"cares|likes|expects|wants|understands|"
        r"told|said|is\b|was\b|has\b|ever)\w+s\b.{3,120})",
        "constraint",
        personal=False,
    ),
    Rule(
        r"<i> (?:said|agreed|established|noted)(?: that)? (?P<value>(?:the|all|our|we|every|each|no) .{5,160})",
        "decision",
    ),
    Rule(
        rf"{_SUBJECT} (?:always |all |now |only |currently |still )*(?:follows?|uses?|lives?|goes?|go|runs?|sits?|"
        rf"is kept|are kept|"
        r"is stored|are stored|is managed|are managed|is hosted|are hosted|is written|are written|is done|are done|"
        r"is handled|"
        r"are handled|is capped|are capped|is limited|are limited|is built|are built|is deployed|are deployed|"
        r"come from|"
        r"comes from|is run|are run|happens?|use|ships?|targets?|is tracked|are tracked) (?P<value>(?!wrong|down\b|"
        r"slow|crazy|"
        r"away|up\b|off\b).{2,120})",
        "project",
        personal=False,
    ),
    Rule(
        r"(?:[\w-]+ ){1,3}?(?:is|are) (?:capped|limited|restricted|set|fixed|locked|pinned) (?:at|"
        r"to) (?P<value>.{1,80})",
        "constraint",
        personal=False,
    ),
    Rule(
        r"<am> looking (?:for|in|at buying|to (?:buy|rent|hire|move)) (?P<value>(?!a (?:way|bug|function|library|"
        r"tool|method|"
        r"solution|word|name|list|quick|good|simple|command|regex|query)|the (?:bug|word|name|error|right)|ideas|"
        r"help|tips|"
        r"advice|something|it\b|that\b|this\b).{3,120})",
        "goal",
        "user.goal",
    ),
    Rule(
        r"(?:.{0,40}? )?i(?:'d| would) like (?P<value>(?:to (?!know|ask|see|hear|get|have|understand|say|thank|sort|"
        r"make|"
        r"write|find|build a|create|use|add|change|try|do|test|check|talk|order|book|think)\w.{4,120}|an? (?!coffee|"
        r"summary|list|"
        r"refund|quick|few|copy|table|recipe|script|function|version)\w.{4,120}))",
        "goal",
        "user.goal",
    ),
)
