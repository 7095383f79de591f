"""Decisions and their reasons, deadlines, goals."""

from typing import Final

from app.domain.extraction.patterns import Rule

RULES: Final = (
    # decisions
    Rule(
        r"(?:<i>|<am>|after .{2,60}?,? (?:i|we)|the team|our team|my team|it was)(?: have|"
        r" has|'ve| just| all| finally)* (?:decided|agreed|chosen|chose|settled|opted|"
        r"picked|concluded|resolved|going with|went with|go with|committed to|ended up|"
        r"ruled out|voted|rejected|selected|approved|ditched|dropped|adopting|adopted|"
        r"standardi[sz]ed)\b(?! (?:a (?:cat|dog|puppy|kitten)|up\b))(?: (?:on|to|"
        r"for|that|against|with|not to|in favor of|in favour of))?(?P<value>.{2,200})",
        "decision",
    ),
    Rule(
        r"(?:the |our |my |final )*(?:decision|verdict|conclusion|choice|plan|strategy|"
        r"approach)(?:'s| is| was|:)(?: to| that)? (?!not (?:made|final))(?P<value>.{3,160})",
        "decision",
    ),
    Rule(
        r"(?:let's|let us|we'll|we will|we're going to|we are going to) (?:go with|"
        r"use|stick (?:with|to)|keep|switch to|adopt|standardi[sz]e on|target|support|"
        r"drop|skip|build|write|deploy|ship|host|not |store|move to|launch|release|"
        r"start|postpone|not use) (?P<value>(?!that\b|it\b|this\b).{2,160})",
        "decision",
    ),
    Rule(
        r"<i> (?:chose|picked|selected|went with|am going with) (?P<value>(?!it\b|"
        r"this\b|that\b).{2,160})",
        "decision",
    ),
    Rule(
        r"(?:the |our |my )?(?:project |final |hard |submission |release |launch |"
        r"paper |thesis |application |report |tax )*(?:deadline|due date|cutoff|submission date|"
        r"launch date|release date|go-live(?: date)?|code freeze)(?: (?:for|of) [^,]{2,40}?)?(?:'s|"
        r" is| falls| will be| has been set| was set)(?: on| for| set for| at| to)? (?P<value>.{2,60})",
        "project",
        "project.deadline",
        personal=False,
    ),
    Rule(
        r"(?:the|our|my) [\w -]{2,40}? (?:is|are) due (?:on |by |in )?(?P<value>.{2,40})|"
        r"(?:we|i) (?:need to|must|have to|should|plan to|want to|will) (?:ship|launch|"
        r"release|deliver|submit|finish|go live|be done|hand in|complete)\b(?P<ship>.{0,60}\b(?:by|"
        r"before|on|until|in|next|at)\b.{2,40})",
        "project",
        "project.deadline",
        personal=False,
    ),
    Rule(
        r"(?P<what>(?!it\b|this\b|that\b)[\w' -]{3,40}?) (?:has|have|needs?|must) (?:to )?be .{2,60}?"
        r" (?P<value>(?:by|before|on|until|no later than) .{2,40})",
        "goal",
        needs_time=True,
    ),
    # goals
    Rule(
        r"<my> (?:main |big |long[- ]term |short[- ]term |ultimate |next |current |"
        r"personal |new year'?s? |top |biggest |overall |q[1-4] )*(?:goal|aim|target|"
        r"objective|dream|resolution|priority|ambition)s?(?: (?:for|this|of) [^,]{2,20}?)?(?:'s|"
        r" is| are)(?: to)? (?P<value>.{2,120})",
        "goal",
        "user.goal",
    ),
    Rule(
        r"(?:<i>|<am>) (?:(?:want|plan|hope|aim|intend|am trying|am planning|am hoping|"
        r"am aiming|am working|trying|planning|hoping|aiming|would like) to|saving (?:up )?for|"
        r"training for|preparing for|studying for|working towards?|planning|aiming for|"
        r"(?:am )?saving (?:money )?for) (?P<value>(?!know|ask|see|understand|go to bed|"
        r"sleep|eat|get going|say|check|find out|make sure|be (?:honest|clear|able)|"
        r"talk|go\b(?! to \w)|leave|run\b(?! (?:a|the|my))|take a (?:break|nap|look)|"
        r"show|tell|share|figure|confirm|thank|add|fix (?:it|this|that)|do (?:it|"
        r"this|that)|test (?:it|this)|try (?:it|this|that)|wait|look|hear|use (?:it|"
        r"this|that)|pick|grab|head|think|come up|have (?:a|some)|help|create (?:a|"
        r"an)|write a (?:function|script|query)|parse|print|sort|convert|implement)\b(?:.{3,140}))",
        "goal",
        "user.goal",
    ),
)
