"""Parts of a message that are not its author's own statements: code, logs, quotations, what was recalled."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from app.domain.gate.refusals import Refusal

LONGEST_OWN_QUOTE: Final = 30
"""Characters in quotation marks up to which they may be a name, and not somebody's words."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """The part [start, end) of a text, and what it is."""

    start: int
    end: int
    reason: Refusal


_CODE_FENCE: Final = re.compile(r"(?:```|~~~)(?:(?!```|~~~)[\s\S])*+(?:```|~~~|\Z)")
_LOG_LINE: Final = re.compile(
    r"(?:\[?\d{4}-\d\d-\d\d[t ,]\d\d:\d\d:\d\d|\[?\d\d:\d\d:\d\d[\].,]|\w{3} +\d{1,2} \d\d:\d\d:\d\d "
    r"|\[?(?:info|warn|warning|error|debug|trace|fatal|critical)\]?[ :\t]{1,3}\S"
    r"|traceback \(most|file \"[^\"\n]{1,200}\", line \d|"
    r"at [\w$.<>]{1,200}\([\w.$]{1,100}:\d|caused by: |exception in thread"
    r"|http/\d|total \d+ |[d-][rwx-]{9}"
    r"|\[?\d{1,2}:\d\d(?::\d\d)?\]? ?[^\s:]{1,20} ?: ?\S"
    r"|[\w.]{1,80}(?:error|exception): |npm err!|\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3} - )"
)
_CODE_LINE: Final = re.compile(
    r"(?:(?:def|class|function|func|fn|public|private|static|const|let|var|"
    r"import|from|return|package|#include|struct) "
    r"[^.!?\n]{0,200}[({;=:]\s*\S{0,40}$|(?:from [\w.]{1,80} )?import [\w.{ ]{1,80}$|"
    r"[}\])]+[;,]?$|</?[a-z][^>\n]{0,200}>|"
    r"\$ \S|>>> |(?:select|insert|update|delete|create|alter) [^.!?\n]{1,300};\s*$|@@ |diff --git |[+-]{3} [ab]/|"
    r"[\w.\[\]'\"]{1,60} ?[+:-]?= ?[^=\n]{1,200};\s*$|"
    r"select \S[^\n]{0,200} from \w|\w{1,30} = [^\n]{1,80}, \w{1,30} = |"
    r"(?:for|while|elif|else|try|except|with|async def) ?[^.!?\n]{0,120}:\s*$|"
    r"[\w.\[\]]{1,60} ?= ?(?:await )?[\w.]{1,60}\([^\n]{0,200}\)|"
    r"\"[\w-]{1,60}\": ?[^\n]{1,200},?$)"
)
_INDENT: Final = ("    ", "\t")
_CALL: Final = re.compile(r"[\w.]{1,60}\([^\n]{0,200}\)[;:]?$")
_QUOTED_LINE: Final = re.compile(
    r"(?:>|\|) ?|(?:subject|主题|标题) ?: ?\S|(?:dear (?:mr|ms|mrs|sir|madam|dr|team|all|customer)|尊敬的)"
)
_MAIL_HEADER: Final = re.compile(r"(?:from|to|cc|subject|date|sent|发件人|收件人|主题|日期|发送时间|抄送)\s?: ?\S")
_FORWARDED: Final = re.compile(
    r"-{2,}\s?(?:forwarded|original) message|begin forwarded message|-{2,}\s?(?:转发|原始)(?:的)?邮件|"
    r"on [^\n]{4,80} wrote:\s*$|(?:他|她|对方|客户|老板|同事)?(?:原话|原文|来信)(?:是|如下)?:|"
    r"[^\n]{2,30}(?:写道|来信说):?\s*$"
)
_PASTED: Final = re.compile(
    r"(?:\b(?:translate|rewrite|rephrase|paraphrase|proofread|polish|summari[sz]e|"
    r"shorten|edit|correct|improve|fix|check|review|"
    r"classify|reply to|respond to|answer|analy[sz]e|explain)\b[^\n:.]{0,60}|"
    r"\b(?:here(?:'s| is| are)|this is|below is|following is) (?:the|an?|my|his|her|their|what)\b[^\n:.]{0,24}"
    r"\b(?:e-?mail|message|letter|text|article|passage|paragraph|post|review|"
    r"quote|lyrics|poem|transcript|he wrote|she wrote)"
    r"[^\n:.]{0,30}|"
    r"\b(?:\w{2,20} (?:wrote|says|said|texted|emailed|replied|posted)|(?:email|"
    r"message|letter|text) (?:from|by) [^\n:.]{1,40})"
    r"[^\n:.]{0,20}|"
    r"\b\w{2,20}'s (?:text|message|e-?mail|note|reply|comment|post)|"
    r"\b(?:from|per|according to) the (?:docs?|documentation|readme|article|spec|manual|paper|wiki|book|website|"
    r"faq)\b[^\n:.]{0,10}|"
    r"\bhere(?:'s| is) what \w+ (?:sent|said|wrote|posted)|"
    r"(?:^|\n)[^\n:。,]{1,6}(?:发的|发来的|写的|转的|转来的)|"
    r"(?:文档|说明书?|书|网|文章|公告|手册|官网|报道)(?:里|上|中)?(?:写|说|讲)(?:的|道)?(?:是)?|原文(?:是|如下)?|"
    r"(?:翻译|润色|改写|改一下|总结|概括|缩写|校对|修改|分析|检查|看看|解释|回复)[^\n:。]{0,12}|"
    r"(?:下面|以下)(?:这[段个封篇])?是[^\n:。]{0,40}|(?:这是|下面是|以下是)[^\n:。]{0,16}(?:邮件|消息|短信|来信|信|"
    r"文章|段落|"
    r"评论|原文|聊天记录|歌词|诗)[^\n:。]{0,10}|"
    r"(?:[他她]|客户|老板|同事|朋友|经理|对方)(?:给我)?(?:说|写道|发来|发的|回复|留言|问)[^\n:。]{0,8})"
    r":(?!//)(?!\d)"
)
_RECALLED: Final = re.compile(
    r"<(?P<tag>memor(?:y|ies)|recalled?|context|system[-_]reminder|user_?(?:profile|memories))\b[^>\n]{0,100}>"
    r"(?:(?!</(?P=tag)>)[\s\S])*+(?:</(?P=tag)>|\Z)|"
    r"(?:^|\n)[#*\[ \t]{0,8}(?:relevant memories|recalled (?:memories|facts|context)|"
    r"memories (?:about|of) (?:the )?user|"
    r"(?:context|facts|information|notes) from (?:previous|past|earlier) (?:conversations?|sessions?|chats?)|"
    r"what (?:i|we) (?:know|remember) about (?:you|the user)|user (?:profile|"
    r"memories|facts)|retrieved (?:memories|context)|"
    r"(?:以下是?)?(?:相关(?:的)?记忆|召回的?(?:记忆|内容)|历史记忆|用户(?:画像|"
    r"记忆|档案)|关于用户的(?:记忆|信息)|记忆片段|检索到的记忆))"
    r"[^\n:]{0,30}[:\]*]*[^\n]*(?:\n(?![ \t]*\n)[^\n]*)*+"
)
_CITED: Final = re.compile(
    rf"[\"“「『]([^\"“”「」『』\n]{{{LONGEST_OWN_QUOTE},2000}})[\"”」』]|"
    r"[\"“「『](?=[^\"“”「」『』\n]{0,60}(?:\bi\b|\bi'm\b|\bmy\b|\bwe\b|我))([^\"“”「」『』\n]{5,400})[\"”」』]|"
    r"(?:(?:said|says|wrote|writes|told me|replied|asked|goes|texted|answered|"
    r"line|quote|lyrics?)[,:]? ?|(?:说|道|写|问|回|答|发|台词|歌词)(?:的是|是)?[,:]? ?)"
    r"[\"“「『']([^\"“”「」『』\n]{1,400})[\"”」』']"
)
_ABOUT_A_TEXT: Final = re.compile(
    r"(?:please |can you |could you |pls |now )*(?:make (?:it|this)|sort (?:it|this|by)|summari[sz]e|translate|"
    r"proofread|rewrite|"
    r"shorten|polish|format|clean (?:it|this) up|reply to|tl;?dr|what does (?:this|it)|(?:is|are) (?:this|these|"
    r"it) )[^\n]{0,60}$|"
    r"(?:请|帮我|帮忙|麻烦|把)*(?:总结|翻译|润色|改(?!了|成)|排序|格式化|按.{1,8}排序|校对|缩写|精简|回复)[^\n]{0,20}$"
)
_BLANK_LINE: Final = re.compile(r"\n[ \t]*\n")


def foreign(plain: str) -> list[Foreign]:
    """The parts of a folded text that are not its author's own statements, in no order; they may overlap."""
    found = [Foreign(match.start(), match.end(), "code") for match in _CODE_FENCE.finditer(plain)]
    found += [Foreign(match.start(), match.end(), "recalled") for match in _RECALLED.finditer(plain)]
    found += [Foreign(match.start(), match.end(), "quoted") for match in _CITED.finditer(plain)]
    pasted = _PASTED.search(plain)
    if pasted is not None and plain[pasted.end() :].strip():
        found.append(Foreign(pasted.start(), _end_of_paste(plain, pasted.end()), "quoted"))
    return [*found, *_blocks(plain), *_lines(plain)]


def own_words(plain: str, parts: list[Foreign]) -> str:
    """The folded text with blanks in the place of the parts: places stay, sentences end there."""
    letters = list(plain)
    for part in parts:
        blank = ("\n" if letters[place] == "\n" else " " for place in range(part.start, part.end))
        letters[part.start : part.end] = blank
        if part.reason != "quoted" or part.end - part.start > LONGEST_OWN_QUOTE:
            letters[part.start : part.start + 1] = "\n"
    return "".join(letters)


def _blocks(plain: str) -> Iterator[Foreign]:
    """The other paragraphs of a message whose first or last one says what is to be done with them."""
    ends = [match.span() for match in _BLANK_LINE.finditer(plain)]
    if not ends:
        return
    (first, after_first), (last, after_last) = ends[0], ends[-1]
    if _ABOUT_A_TEXT.match(plain[after_last:].strip()):
        yield Foreign(0, last, "quoted")
    elif _ABOUT_A_TEXT.match(plain[:first].strip()):
        yield Foreign(after_first, len(plain), "quoted")


def _end_of_paste(plain: str, start: int) -> int:
    """A pasted text goes to the first blank line after its beginning, if more than that line follows, or to the end."""
    begin = start + len(plain[start:]) - len(plain[start:].lstrip())
    blank = _BLANK_LINE.search(plain, begin)
    return blank.start() if blank else len(plain)


def _lines(plain: str) -> Iterator[Foreign]:
    start = 0
    headers = 0
    for line in plain.split("\n"):
        end = start + len(line)
        bare = line.strip()
        headers = headers + 1 if _MAIL_HEADER.match(bare) else 0
        if headers > 1 or _FORWARDED.match(bare):
            yield Foreign(start, len(plain), "quoted")
            return
        if _QUOTED_LINE.match(bare):
            yield Foreign(start, end, "quoted")
        elif _LOG_LINE.match(bare):
            yield Foreign(start, end, "log")
        elif _CODE_LINE.match(bare) or (line.startswith(_INDENT) and _CALL.match(bare)):
            yield Foreign(start, end, "code")
        start = end + 1
