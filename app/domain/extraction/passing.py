"""Sentences that tell of one moment, of the text at hand or from hearsay: true, perhaps, and not worth keeping.

What is kept without a slot has to last: a habit, a trait, a plan with its day, a decision, a rule, a possession or
somebody close. A day that is over is kept only for what it changed: moved, married, signed, broke, decided.
"""

import re
from typing import Final

from app.domain.extraction.clauses import Clause

_LIFE_EN: Final = re.compile(
    r"\b(?:married|engaged|wedding|divorc\w+|born|birth|pregnant|moved|moving|sign(?:ed|ing)|bought a (?:house|flat|"
    r"car|"
    r"place|home|boat|van)|sold|hired|fired|laid off|joined|promot\w+|resign\w+|retired|graduat\w+|diagnos\w+|surgery|"
    r"operation|broke (?:my|his|her)|sprained|injur\w+|adopt\w+|launch\w*|releas\w+|decided|agreed|accepted|approved|"
    r"(?:got|getting) (?:the|a|an|my|our) (?:job|offer|keys?|dog|cat|puppy|kitten|new|place|flat|visa|degree|license|"
    r"promotion|divorce)|"
    r"died|passed away|passed (?:my|the|his|her)|switch\w*|chang\w+|renam\w+|replac\w+|upgrad\w+|migrat\w+|cancel\w*|"
    r"postpon\w+|pushed|"
    r"start(?:s|ed|ing)? (?:at|a|my|as|working|learning|the)|stopped|quit|gave up|dropped|first day|last day|until|"
    r"till|"
    r"keys|handed in|turned|from today|as of today|since|arriv\w+|flew in|leav(?:e|ing) (?:for|on)|go live|"
    r"allergic|prescribed|put me on|rule|deadline|due|submi\w+|vacation|on leave|appointment|flight|interview|exam)\b"
)
_DAY_EN: Final = (
    r"(?:yesterday|last night|this morning|this afternoon|this evening|earlier today|earlier|today|tonight|just now|"
    r"(?:a|an|one|two|three|ten|few|couple of|\d+) (?:minutes?|mins?|hours?|moments?) ago|"
    r"in (?:a|an|ten|five|\d+) (?:minutes?|mins?|hours?|bit|moment|second)s?|by \d{1,2}(?::\d\d)? ?[ap]m)"
)
_DAY_ONLY_EN: Final = re.compile(rf"\b{_DAY_EN}\b|'s talk\b")
_PAST_DAY_EN: Final = re.compile(
    r"(?:on|over|last|the other) (?:mon|tues|wednes|thurs|fri|satur|sun|week|weekend|the weekend|day)\w*"
)
_PAST_VERB_EN: Final = re.compile(
    r"^(?:(?:i|we|he|she|they|my [\w ]{2,16}?|our [\w ]{2,16}?|the [\w ]{2,16}?)(?:'ve| have| had|'d| just| also|"
    r" finally| "
    r"already|"
    r" never)* )?(?:was|were|had|took|went|saw|ate|met|got|came|did|made|forgot|left|lost|won|watched|spoke|talked|"
    r"told|"
    r"slept|missed|called|bought|ran|cooked|finished|visited|played|chatted|said|asked|tried|mentioned|broke down|"
    r"showed|cleaned|fixed|tested|sent|found|drank|spent|drove|walked|stayed|ordered|hung|fell)\b"
)
_REFERS_EN: Final = re.compile(
    r"\b(?:this|that|these|the (?:first|second|third|last|other|above|next|previous|following|new|current|same)) "
    r"(?:\w+ )?(?:example|text|answer|draft|error|bug|function|code|script|recipe|article|sentence|paragraph|image|"
    r"picture|option|approach|message|pdf|file|page|button|question|problem|issue|step|chapter|exercise|line|log|"
    r"output|results?|query|email|version|letter|essay|poem|story|snippet|word|list|tip|idea|suggestion)\b|"
    r"\bthe word [\"'“]|\b(?:options?|choices|questions|things|files|ideas|problems|issues) here$|"
    r"\b\d+ (?:minutes?|mins?|seconds|hours?) (?:left|before|until|late|early|to go)\b|\b(?:left in|out of) stock\b|"
    r"^i (?:updated|changed|edited|fixed|added|removed|deleted|renamed|copied|pasted|ran|tested|reran|opened|closed|"
    r"restarted|refactored|rewrote|tweaked) (?:the|it|that|this|line|file|both|all|everything)\b"
)
_TOLD_EN: Final = re.compile(
    r"i (?:gave|told|sent|asked|showed|said|mentioned|wrote)(?: to)? (?:you|that|it|before|earlier|about)\b|"
    r"i (?:do )?have (?:a|one|another|some)(?: \w+)? questions?\b|i never (?:won|did|was|had|went|worked|lived|owned|"
    r"studied|used)\b|"
    r"(?:we|i) (?:spoke|talked|chatted) (?:about|before|earlier|last|yesterday)\b|"
    r"i (?:was|am|'m) (?:wrong|right|mistaken)\b|i (?:didn't|did not|never|don't) (?:ask|mean|say|tell|want that|know|"
    r"understand|"
    r"remember|get (?!along)|see|recall|care|mind|think)\b|"
    r"(?:i'm|i am) (?:not (?:good|sure|certain|convinced|the)|copying|quoting|pasting|asking|talking|referring|"
    r"in a (?:\w+ )?mood|having trouble|running (?:late|out|a bit|behind|low)|glad|proud of (?:myself|it))\b"
)
_MOOD_EN: Final = re.compile(
    r"\bin an? (?:\w+ )?mood\b|\bmakes me (?:laugh|smile|happy|sad|cry|angry|nervous|so)\b|"
    r"^(?:i |we )?(?:just |already )?finished (?:the|my|our|it|lunch|dinner|breakfast|eating|reading|watching|at)\b|"
    r"^i got an (?:email|message|call|mail)\b|"
    r"^my (?:whole )?(?:life|day|week|brain|head|mood) (?:is|are|was|were)\b|"
    r"\b(?:is|are|was|were) (?:so |too |really |very |just |absolutely |kind of )*(?:brutal|insane|asleep|awful|"
    r"terrible|"
    r"amazing|great|awesome|annoying|boring|exhausting|a mess|a lie|a nightmare|a joke|a pain|hilarious|delicious|"
    r"ridiculous|wild|crazy|lovely|fantastic|wonderful)\b(?!.*\b(?:my favou?rite|always|never|because)\b)"
)
_OPINION_EN: Final = re.compile(
    r"(?:in my (?:humble )?opinion|imo|imho|if you ask me|to me|for my taste)\b|"
    r"i(?:'ve| have)?(?: just| also| once| still| personally| honestly| really)* (?:(?:think|feel|guess|reckon|suppose|"
    r"believe|doubt|bet|find|wonder)\b|(?:read|heard|saw|noticed)(?: somewhere| once| online| yesterday)* (?:that|"
    r"about|"
    r"how|in the|on the|of|an? (?:\w+ )?(?:article|study|post|thread|documentary|movie|film|report|show|video|ad))\b)"
)
_HEARSAY_EN: Final = re.compile(
    r"(?:someone|somebody|everyone|everybody|people|they|(?:most|many|some|a lot of) people|the (?:news|article|docs?|"
    r"readme|internet|guy|lady|radio)|"
    r"(?:my|our|the|a|one of (?:my|our)) [\w' -]{2,30}?)(?: just| also| always| keeps?| keep)* (?:says?|said|saying|"
    r"thinks?|thought|believes?|claims?|claimed|swears|reckons|told me|tells me|mentioned|heard|suggested)(?: that)? "
    r"(?!(?:no|not|don't|to|my|i|i'm|i've|we|three|two|six|\d|never|only|half)\b)"
)
_INABILITY_EN: Final = re.compile(
    r"(?:i|we)(?: still| just| really| also)* (?:can't|cannot|can not|couldn't|can barely)(?: seem to|"
    r" even)? (?:find|open|"
    r"see|get|access|log|install|figure|remember|believe|wait|tell|understand|make|reproduce|connect|load|run|compile|"
    r"download|upload|reach|decide|stop|think|say|complain|do longer)\b|can't do longer"
)
_ORDERED_EN: Final = re.compile(
    r"(?:i|we)(?:'d like| would like|'d love| want| need|'m looking for| am looking for| could use| have to write|'m "
    r"writing| am writing)(?: to (?:have|get|see|write|make|convert|find|know|build))?(?: an?| the| some| your| a few| "
    r"\d+)?(?: [\w-]+){0,3}? "
    r"(?:summary|translation|list|regex|email|poem|story|script|function|query|table|template|example|explanation|"
    r"overview|draft|title|synonym|word|rhyme|caption|bullets?|way|ideas?|tips|advice|recommendations?|help|answer|"
    r"hint|"
    r"letter|essay|paragraph|sentence|speech|slogan|eggs|onions?|formula|snippet|diagram|chart|quote|joke|riddle|"
    r"outline|invite|toast|caption|bio)\b(?! every)|"
    r"(?:i|we)(?: still)? (?:have to|need to|must|should|gotta) (?:go|run|leave|stop|submit this|finish (?:this|it))\b|"
    r"i hate (?:mondays|this|it|that)$|(?:please )?(?:don't|do not) (?:change|touch|rename|remove|delete|"
    r"edit) (?:the|any) "
    r"(?:function|variable|file|name|column|title|text|code|format)|"
    r".*\b(?:have|eat|watch|order|cook|play|drink|grab)\b.*\btonight\b|"
    r"(?:whip up|next:|random q|whats|what's)\b"
)
_PLAIN_STATE_EN: Final = re.compile(
    r"my (?:\w+ )?(?:phone|battery|laptop|train|bus|flight|wifi|internet|code|build|page|tests?|coffee|food|soup|cab|"
    r"uber|parcel|package) (?:is|are|was|'s)(?: at| still| already| now| only)* (?:\d+ ?%|\d+ minutes|late|delayed|"
    r"empty|"
    r"cold|loading|stuck|failing|missing|here|gone)|"
    r"(?:my|the|our) \w+ (?:is|are|was|were) (?:finally )?(?:asleep|sleeping|crying|barking|awake)\b|"
    r"(?:the|my|our) (?:\w+ )?(?:build|test|tests|server|query|request|script|job|run|import|export|download|upload|"
    r"install\w*|loop|call) (?:took|takes|returned|failed|finished|ran|crashed|hung|passed)\b|"
    r"(?:i|we)(?:'m| am|'re| are) (?:making|cooking|baking|debugging|writing|reading (?:the|this|that|your|an?|"
    r"through|up|about|my|it|something)|watching|listening|sitting|eating|"
    r"waiting|"
    r"fixing|copying|testing|drinking|walking|trying|installing|downloading) (?!.*\b(?:book|novel|thesis|dissertation|"
    r"memoir|blog|every|each|phd|musical|newsletter|paper on|series on|album|screenplay)\b)|"
    r"(?:i|we) (?:work|am working|'m working)(?:ing)? on (?:this|that|it)\b|(?:i|we) do (?:the|it|that|this) [\w-]+ "
    r"(?:myself|alone)$"
)
_FRAGMENT_EN: Final = re.compile(
    r"(?:the (?:one|ones|last|first|other) (?:from|with|about|on|in)|(?:as for|about|regarding|except|besides|"
    r"same|something|anything|maybe|like|number|option|second|third) (?!.*\b(?:is|are|was|has|have|be|works?|go|goes|"
    r"on "
    r"\w+days?|in the|at \d)\b)|only (?:\d+ )?\w+(?: left\b.*)?$|just (?:an?|one|some|\d+) \w+$)"
)
_EN: Final = (
    _REFERS_EN.search,
    _TOLD_EN.match,
    _OPINION_EN.match,
    _HEARSAY_EN.match,
    _INABILITY_EN.match,
    _ORDERED_EN.match,
    _PLAIN_STATE_EN.match,
    _FRAGMENT_EN.match,
    _MOOD_EN.search,
)

_LIFE_ZH: Final = re.compile(
    r"结婚|领证|订婚|婚礼|离婚|怀孕|生了|出生|搬|签了|签约|买了(?:房|车|套|辆)|买房|买车|卖了|入职|离职|辞|裸辞|跳槽|"
    r"升|毕业|"
    r"确诊|手术|骨折|扭|受伤|领养|收养|上线|发布|决定|定了|说好|换|改|通知|延期|推迟|取消|到期|截止|迁|去世|没了|"
    r"走了|拿到|"
    r"通过|考过|开始|戒|停|退休|第一天|最后一天|为止|从今|起|到[\d一二三四五六七八九十下周月底]|过敏|确认|批|录取|"
    r"offer|转行|"
    r"规定|不许|不能|别|不算|作废|到(?!家|公司|点|了)[\u4e00-\u9fff]{2,4}了|请记|航班|面试|考试|预约|约了|飞|出差|"
    r"复诊|体检|开业|提交|交稿|新|坏|装了|搭|当|"
    r"做了(?!.{0,6}饭)|成了"
)
_DAY_ZH: Final = re.compile(
    r"昨[天晚夜日]|今[天早晚晨]|今儿|刚才|刚刚|前[天晚]|这会儿|这两个小时|待会|一会儿?|凌晨.{0,3}(?:写|做|弄|改|干)完"
)
_ONE_DAY_ZH: Final = re.compile(
    r"(?:上?(?:周|星期|礼拜)[一二三四五六日天末]).{0,20}(?:了|过)|(?:周|星期|礼拜)[一二三四五六日天末].{0,12}(?:吵|"
    r"聊|玩|逛|看了|吃了|"
    r"去了|落在|忘)"
)
_OTHERS_ZH: Final = re.compile(
    r"(?!.*(?:医生|大夫|律师|法务|体检|物理治疗师?|hr|人事|学校|老师|房东|物业|保险|签证).{0,3}(?:说|让|要求|建议))"
    r"(?:(?:我|我们|咱)?(?:的|家)?[^,我]{1,8}?(?:(?<![小会想能要话])说(?=..)|认为|觉得|"
    r"提到(?![\d一二三四五六七八九十百千])|吐槽|念叨|抱怨|唠叨)(?!好|的|明|话|普|"
    r"粤|英|中|闽|法|德|日|"
    r"上海|四川|书|不|要|是)|"
    r"(?:公司|单位|网上|群里)?有人说|听说|据说|大家都?[说觉]|网上|新闻|说(?:周|星期|下|明|后|好像)|"
    r"(?:我)?(?:收到|看到|读到|刷到|听到)(?:了)?(?!.{0,6}offer))"
)
_INABILITY_ZH: Final = re.compile(
    r"我?(?:还是|又|怎么|实在|现在)*(?:找不到|打不开|登不上|连不上|进不去|想不起来?|看不懂|记不清|弄不明白|装不上|"
    r"下不了|搞不清|"
    r"找不着|受不了了)"
)
_TOLD_ZH: Final = re.compile(
    r"我(?:刚才|之前|上次|周.|昨天|已经)*(?:跟|和|给|告诉|问)(?:过)?你|我们?.{0,6}(?:聊|谈|说|讨论)过(?:这|那|了)|"
    r".{0,8}(?:我)?(?:搞|弄|记|说|写|看|给)错了?(?:号码|时间|地址)?$|我(?:从来)?没(?:有)?(?:说|问|要|让)|"
    r"我(?:不懂|不明白|没懂|不记得|不知道|不清楚|没明白|懂了|明白|知道了)|我(?:能|可以)(?:吃|喝|睡)(?:下|掉|上)|我花了"
)
_ORDERED_ZH: Final = re.compile(
    r"(?:我|我们|咱们?)?(?:还)?(?:想要|要|需要|想找|想写|在写|得写|想做|想看)(?:一?[个份篇首段条张句]|几[个条句]|"
    r"\d+[个条句份])?"
    r".{0,16}?(?:正则|总结|摘要|列表|邮件|文案|诗|脚本|函数|表格|模板|例子|翻译|标题|建议|思路|代码|公式|提纲|大纲|"
    r"鸡蛋|"
    r"发言稿|祝福语|请假条|检讨|同义词|食谱|菜谱|图|解释|答案)$|"
    r"我(?:还)?(?:得|要).{0,8}(?:前|之前)(?:交|弄完|写完|搞定|做完)$|我?们?.{0,4}今晚(?:吃|看|喝|点|煮|玩)|"
    r"(?:请)?(?:不要|别)(?:改|动|删)"
    r"(?:函数|变量|标题|代码|格式|文件)|先.{1,6}再.{1,6}$|我?更?喜欢.{1,6}(?:那|这)[版个]$|每次都这样|"
    r"我?想?把.{1,16}(?:换成|转成|换算成|转换成|改写成)(?:欧元|美元|人民币|日元|英文|中文|pdf|json|csv|csv格式|"
    r".{0,6}格式)|"
    r"我有(?:一?个|几个|点)(?:关于|问题|疑问|想法)|(?:下一句|下一个|日志是|报错是|代码是|内容是|问题是|情况是)|(?:我|"
    r"我这)边?有.{1,3}个(?:方案|"
    r"选项|问题|想法|选择)"
)
_MOOD_ZH: Final = re.compile(
    r"心情|好期待|太期待|不敢相信|乱成|烦死|笑死|气死|吵了|唠叨|一团糟|莫名其妙|好开心|真开心|真好玩|"
    r"(?:真是|真|好|太|超|特别|非常)(?:个)?(?:好地方|棒|美|漂亮|无语|离谱|搞笑|可惜|刺激)|想吃(?!素)|(?:终于|还在|"
    r"又)(?:睡|哭|醒|闹)|"
    r"^讨厌(?:周|星期)|都\d+月|又改|堵在|晚点|(?:手机|电脑|电池|电量).{0,4}(?:剩|没电|\d+%)|没赶上|忘(?:在)?家|落在|"
    r"先.{0,6}再第|快多了|慢多了|好多了"
)
_REFERS_ZH: Final = re.compile(
    r"(?:这|那|上面|下面|刚才|第.{1,3})(?:个|段|篇|条|版|句|张|份|行|步|道|封|首|些)?(?:例子|文本|回答|答案|报错|"
    r"错误|函数|代码|"
    r"脚本|菜谱|菜|文章|句子|段落|图|图片|方案|消息|文件|页面|按钮|问题|步骤|章|练习|日志|输出|结果|邮件|版本|pdf|表|"
    r"标题|"
    r"故事|诗|函数|循环|选项|建议)|第[\d一二三四五六七八九十]+[段行版章步页句题](?!.{0,4}(?:负责|是我))|^(?:这|"
    r"那)个?(?:也|就|真|太|很|不|可|才|还)|那个$|"
    r"(?<!假)(?<!预算)(?<!额度)(?:只|还)(?:剩|有)[\d一二三四五六七八九十两]+(?:个|分钟|天|小时)|还有.{1,4}天就|"
    r"花了.{1,6}(?:小时|分钟)|"
    r"(?:试|跑|改|测)了.{0,4}(?:遍|次|测试)|^(?:开|构建|编译|部署|下载|跑)(?:完会|花了|用了)|的事$|(?:有|花了|用了|"
    r"要)(?:两|三|几|\d+)个?(?:参数|"
    r"鸡蛋|变量|分钟)"
)
_PLAIN_STATE_ZH: Final = re.compile(
    r"(?:我|我们|咱)?(?:现在|还|正|正在|刚)*(?:在(?:去|回|来).{1,8}(?:路上|车上)|在(?:查|改|写|看|调|跑|修|弄|排|"
    r"等)(?!.{0,4}(?:《|小说|书$|论文|博客|博士))|"
    r"刚从.{1,8}(?:回来|出来)|有点想|感冒|想吃)|"
    r"(?:买了点|去了趟|吃了顿|逛了|路过)|我?(?:五|六|七|八|九|十|\d+)点前?得"
)
_ZH: Final = (
    _OTHERS_ZH.match,
    _INABILITY_ZH.match,
    _TOLD_ZH.match,
    _ORDERED_ZH.match,
    _MOOD_ZH.search,
    _REFERS_ZH.search,
    _PLAIN_STATE_ZH.match,
)


def is_of_one_day(clause: Clause) -> bool:
    """Whether a clause tells of a day that is over, or of today, and of no lasting change."""
    plain = clause.plain
    if clause.chinese:
        day = _DAY_ZH.search(plain) is not None or _ONE_DAY_ZH.match(plain) is not None
        return day and _LIFE_ZH.search(plain) is None
    day = _DAY_ONLY_EN.search(plain) is not None or (
        _PAST_DAY_EN.search(plain) is not None and _PAST_VERB_EN.match(plain) is not None
    )
    return day and _LIFE_EN.search(plain) is None


def is_passing(clause: Clause) -> bool:
    """Whether a clause tells of one moment, of the text at hand, or from hearsay."""
    return any(test(clause.plain) for test in (_ZH if clause.chinese else _EN))
