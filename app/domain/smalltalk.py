"""Small talk: greetings, thanks, assents and the like, for which no memory need be looked up."""

import re
from typing import Final

from app.core.text.normal import normalise
from app.core.text.scripts import HAN

MAX_CHARACTERS: Final = 120
"""A longer text is never small talk."""

_ENGLISH: Final = """
hi|hello|hey|heya|hiya|howdy|yo|greetings|welcome|welcome back|hi there|hello there|hey there|hello again
good morning|morning|good afternoon|afternoon|good evening|evening|good day|good night|goodnight|night
nighty night|gn|gm|are you there|you there|anyone there|anybody there|is anyone there|anyone here|are you here
are you awake|how are you|how are you doing|how are you today|how are you doing today|how do you do
how is it going|how's it going|hows it going|how have you been|how are things|how's things|how's everything
how is everything|how's your day|how is your day|how's life|what's up|whats up|what's new|wassup|sup
long time no see|nice to meet you|pleased to meet you|good to see you|nice to see you|i'm fine|i am fine
i'm good|i'm ok|i'm okay|doing well|doing great|and you|thanks|thank you|thank u|thanks a lot|thanks a bunch
thanks a million|many thanks|thx|thnx|tx|ty|tysm|tks|cheers|much obliged|much appreciated|appreciated
i appreciate it|appreciate it|i appreciate that|appreciate that|thanks in advance|thanks for your help
thank you for your help|thanks for the help|thanks for helping|that helps|that helped|very helpful
that's helpful|that was helpful|so helpful|you're the best|you are the best|you rock|you're awesome
you are awesome|ok|okay|okey|okey dokey|oki|okie|okie dokie|k|kk|okay then|alright|all right|right|sure
sure thing|sounds good|sounds great|sounds like a plan|good|great|fine|cool|nice|nice one|neat|sweet|awesome
perfect|excellent|amazing|wonderful|fantastic|brilliant|lovely|super|superb|beautiful|impressive|interesting|wow
whoa|yay|woohoo|hooray|hurray|bravo|well done|good job|great job|nice job|good work|great work|nice work
that's great|that is great|that's good|that's nice|that's cool|that's awesome|that's perfect|that's amazing
that's fine|that's all|that is all|that's it|all good|it's fine|it's ok|it's okay|it's good|looks good
looks great|lgtm|that works|works for me|fair enough|makes sense|that makes sense|good point|got it|gotcha
i got it|understood|i understand|i see|oh i see|noted|duly noted|roger|roger that|copy that|will do|deal|done
i know|me too|same here|agreed|i agree|exactly|indeed|absolutely|definitely|certainly|of course|totally|true
correct|that's right|that is right|you're right|you are right|right on|lol|lmao|lmfao|rofl|haha|hehe|xd|omg
funny|that's funny|so funny|that's hilarious|hilarious|good one|bye|bye bye|byebye|goodbye|good bye|farewell
see you|see ya|see u|cya|see you later|see you soon|see you tomorrow|see you around|see you then|later
talk to you later|talk to you soon|talk later|talk soon|ttyl|catch you later|take care|until next time
till next time|have a good day|have a nice day|have a great day|have a good one|have a good night
have a nice evening|have a good evening|have a good weekend|have a nice weekend|have a great weekend
sweet dreams|sleep well|sleep tight|good luck|i'm off|gotta go|i have to go|i've got to go|brb|be right back
go on|go ahead|continue|carry on|keep going|proceed|next|more|tell me more|go for it|and then|then what
what then|what else|yes|yeah|yea|yep|yup|yess|ya|aye|yes i do|yes it is|no|nope|nah|not really|no thanks
no thank you|not now|maybe later|maybe|perhaps|not yet|i don't know|i dont know|dunno|idk|i guess|i guess so
i think so|i don't think so|not sure|never mind|nevermind|nvm|no matter|whatever|doesn't matter
it doesn't matter|don't worry|no worries|sorry|so sorry|i'm sorry|i am sorry|my bad|my apologies|apologies|oops
whoops|excuse me|pardon|pardon me|no problem|no prob|np|not a problem|you're welcome|you are welcome
youre welcome|yw|my pleasure|anytime|don't mention it|happy new year|happy birthday|merry christmas|merry xmas
happy holidays|happy easter|happy friday|happy weekend|congratulations|congrats|cheer up|oh|ah|aha|hm|hmm|mhm|uh
um|uh huh|huh|ugh|oh no|oh well|really|oh really|is that so|for real
"""
# What may stand beside a phrase and changes nothing.
_ENGLISH_FILLERS: Final = """
there|everyone|everybody|all|guys|folks|friend|my friend|mate|buddy|pal|bro|dude|man|dear|sir|again|please|pls
plz|then|so much|very much|a lot|so|very|really|just|well|and|but|too|you|to you|for now|for today|to you too
you too|indeed|as well|though
"""
_CHINESE: Final = """
你好|您好|你们好|大家好|大家|好久不见|早上好|早安|上午好|中午好|午安|下午好|晚上好|晚安|早|嗨|嘿|哈喽|哈罗|哈啰
喂|幸会|欢迎|欢迎回来|在吗|在不|在不在|在么|有人吗|有人在吗|你在吗|您在吗|你在不在|还在吗|你还在吗|你好吗
最近好吗|你最近好吗|最近怎么样|你最近怎么样|近来可好|过得怎么样|过得好吗|你怎么样|今天怎么样|吃了吗|吃了没
吃饭了吗|忙吗|我很好|我还好|挺好|还行|还好|一般般|马马虎虎|谢谢|多谢|感谢|谢啦|谢了|谢过|感恩|鸣谢|谢谢你的帮助
谢谢您的帮助|谢谢帮忙|感谢帮助|感谢你的帮助|感谢您的帮助|麻烦你了|麻烦您了|麻烦了|劳驾|有劳|辛苦|费心了|帮大忙了
很有帮助|有帮助|有用|好|好的|好滴|好哒|好嘞|好咧|好呢|好耶|好说|好吧|行|行吧|成|中|可以|可以的|没问题|没毛病
没事|没事的|妥|妥了|妥妥的|得嘞|得了|随便|都行|都可以|就这样|先这样|就这么办|就这么定了|同意|赞同|支持|有道理
说得对|说的对|有意思|嗯|嗯哼|恩|唔|哦|噢|喔|啊|哎|唉|哎呀|哇|哇塞|咦|诶|欸|额|呃|收到|明白|知道|我知道|晓得|了解
懂|懂了|我懂|清楚|看到了|原来如此|原来是这样|这样啊|这样子|是这样啊|理解|我明白|我了解|我理解|记住了|哈|呵|嘻
嘿嘿|笑死|笑死我|笑死人|太逗|逗|搞笑|好笑|好玩|有趣|绝了|再见|拜|拜拜|掰掰|再会|回见|回头见|回头聊|明天见|下次见
下周见|下次聊|改天聊|晚点聊|待会见|待会儿见|一会见|一会儿见|后会有期|保重|慢走|好梦|做个好梦|睡了|我睡了
我去睡了|先走了|我先走了|下了|我下了|先忙|你忙吧|忙去吧|继续|请继续|继续说|继续讲|接着|接着说|接着讲|往下说
说下去|讲下去|然后|然后呢|还有呢|还有吗|下一个|下一步|后来呢|所以呢|比如呢|棒|真棒|好棒|太棒|不错|真不错|挺不错
厉害|牛|牛逼|牛啊|牛批|赞|点赞|优秀|完美|漂亮|漂亮话|精彩|佩服|给力|靠谱|强|酷|帅|太好|真好|很好|好极了|太强
干得好|干得漂亮|做得好|好样的|好厉害|好强|好赞|对|对的|对对|是|是的|是啊|没错|正确|当然|当然可以|必须的|必须
的确|确实|确定|也许|可能吧|大概吧|不知道|不清楚|不确定|不|不是|没有|没|不要|不用|不用了|不必|不需要|不了|算了
没关系|不要紧|无所谓|不好意思|抱歉|对不起|不客气|不用谢|不谢|别客气|客气|应该的|小意思|打扰了|打扰一下|请问
失礼了|见谅|加油|生日快乐|新年快乐|新年好|春节快乐|过年好|中秋快乐|节日快乐|圣诞快乐|国庆快乐|元旦快乐|周末愉快
周末快乐|恭喜|恭喜发财|祝贺|祝你好运|祝好|祝你愉快|祝你开心|一路平安|一路顺风|真的|真的吗|真的假的|是吗|是么
这样吗|不会吧|天哪|天啊|我的天|666|6|66|6666|233|2333|88|886|3q|nb|yyds|ok的|ok了
"""
_CHINESE_FILLERS: Final = """
啊|呀|哦|呢|吧|啦|了|嘛|哈|呐|喔|哟|咯|滴|哒|呗|噢|嗷|哇|的|你|您|你们|大家|各位|亲|亲爱的|老师|朋友|宝|宝贝
老铁|兄弟|太|真|很|好|非常|十分|特别|万分|都|真的|又|也|那|那就|先|就|一下|请
"""
_UNIT = re.compile(f"[a-z0-9]+(?:'[a-z]+)?|[{HAN}]|[^\\W_]")
_LONG_RUN: Final = re.compile(r"(.)\1{3,}", re.DOTALL)
_LAUGHTER: Final = re.compile(
    r"(?:ha|he|hi|ho){2,}h?|a*(?:ha){2,}h?|lo{2,}l|h+m{2,}|o{2,}h+|a{2,}h*|wo{2,}w|ye{2,}s|no{2,}|so{2,}"
)
_EMOTICON: Final = re.compile(r"[:;=8x]['\-]?[dpo3]\b|\b[x:;]d\b|<3+|\b[tq]_[tq]\b|\bo_o\b|\^_?\^|orz\b")


def worth_retrieving(text: str) -> bool:
    """Whether a memory could be needed to answer a text: false for small talk and mere acknowledgements.

    A text is small talk if nothing but phrases of it stand in the text, in Chinese, English or both, whatever its
    script, width and punctuation; so are emoji alone and the empty text. In doubt the answer is true: "ok, the usual"
    and 继续昨天的方案 need what is remembered.
    """
    if len(text) > MAX_CHARACTERS:
        return True
    folded = _LONG_RUN.sub(r"\1\1\1", normalise(text).replace("\u2019", "'"))
    units = _UNIT.findall(_EMOTICON.sub(" ", folded))
    return bool(units) and not _is_made_of_phrases(units)


def _is_made_of_phrases(units: list[str]) -> bool:
    """Whether phrases and fillers, and one phrase at least, make up the units.

    Element n of `reached` says how many phrases at most make up the first n units; -1 if none do.
    """
    reached = [0] + [-1] * len(units)
    for start in range(len(units)):
        if reached[start] < 0:
            continue
        for length in range(1, min(_LONGEST, len(units) - start) + 1):
            part = tuple(units[start : start + length])
            if part in _PHRASES or (length == 1 and _LAUGHTER.fullmatch(part[0])):
                reached[start + length] = max(reached[start + length], reached[start] + 1)
            elif part in _FILLERS:
                reached[start + length] = max(reached[start + length], reached[start])
    return reached[-1] > 0


def _phrases(listed: str) -> frozenset[tuple[str, ...]]:
    return frozenset(
        tuple(_UNIT.findall(phrase)) for line in listed.split("\n") for phrase in line.split("|") if phrase
    )


_PHRASES: Final = _phrases(_ENGLISH) | _phrases(_CHINESE)
_FILLERS: Final = _phrases(_ENGLISH_FILLERS) | _phrases(_CHINESE_FILLERS)
_LONGEST: Final = max(map(len, _PHRASES))
