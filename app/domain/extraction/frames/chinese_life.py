"""What Chinese verbs say of how one lives: with whom, in which year of school, what one studies; and what gave way."""

import re
from typing import Final

from app.domain.extraction.frames.chinese_parts import ADVERB, END, ME, SELF, V, frame
from app.domain.extraction.frames.verb_frame import VerbFrame

_MAJORS: Final = (
    "物理|化学|数学|生物|历史|哲学|法律|法学|医学|临床|经济学?|金融|会计|计算机|软件工程|软件|土木|机械|电子|新闻|中文|心理学?|建筑|"
    "设计|美术|艺术|统计|通信|自动化|材料|护理|药学|教育|社会学|政治学|国际贸易|市场营销|管理|人工智能|环境|地理|农学|音乐|英语系"
)
_YEARS: Final = "大[一二三四五]|研[一二三]|博[一二三四五]|高[一二三]|初[一二三]"
_KIN: Final = r"(?P<noun>(?:我|我们|咱)?家?的?(?:大|小|二)?(?:儿子|女儿|孩子|娃|闺女|弟弟|妹妹|弟|妹))"
_CLOSE: Final = (
    r"(?P<noun>(?:我|我们|咱)?家?的?(?:大|小|二)?(?:儿子|女儿|闺女|弟弟|妹妹|哥哥|姐姐|弟|妹|哥|姐|老婆|老公|媳妇|"
    r"爸妈|父母|爸爸?|妈妈?|"
    r"女朋友|男朋友|对象|爷爷|奶奶|外公|外婆))"
)
_PLACES: Final = (
    "北京|上海|广州|深圳|杭州|南京|苏州|成都|重庆|武汉|西安|天津|长沙|郑州|青岛|大连|厦门|宁波|无锡|合肥|福州|济南|昆明|沈阳|哈尔滨|长春|"
    "南昌|贵阳|南宁|太原|石家庄|兰州|海口|三亚|东莞|佛山|珠海|温州|香港|澳门|台北|新疆|西藏|云南|四川|广东|浙江|江苏|山东|河南|湖南|湖北|"
    "日本|美国|英国|法国|德国|加拿大|澳洲|新加坡|韩国|东京|纽约|伦敦|巴黎|柏林|悉尼|墨尔本|多伦多|首尔|大阪"
)

LIFE: Final = (
    frame(
        rf"(?:这轮|本周|这周|现在|下周)?(?:是)?值班(?:的人|的|人)(?:是|换成|改成|换了|改为)(?P<value>[^,是的]{{2,4}}?"
        rf"){END}",
        "project.on_call",
        "relation",
    ),
    VerbFrame(
        re.compile(
            r"(?:我|我们)?(?:已经|刚|最近)*(?:和|跟|与)(?P<value>[^,我]{1,6}?)(?:已经|刚|最近|就)*(?:分手|离婚|掰|"
            r"分开)了?"
        ),
        "user.partner",
        "relation",
        "ends",
    ),
    frame(rf"{SELF}(?P<value>退休){END}", "user.job", "identity", replaces=True),
    frame(rf"{SELF}(?P<value>不?(?:抽烟|吸烟)|又?(?:开始)?抽烟){END}", "user.smoking", "preference", replaces=True),
    frame(
        rf"{SELF}(?P<value>(?:从)?不喝酒|滴酒不沾|(?:又)?开始喝酒){END}",
        "user.drinking",
        "preference",
        replaces=True,
    ),
    frame(
        rf"{ME}(?:用|买|换|入手|拿)(?:的是|了|成了?|的)?(?:一?[部台个])?(?:新)?(?P<value>[^,的了]{{1,8}}?)手机{END}",
        "user.phone_model",
        "identity",
    ),
    frame(
        rf"(?:我们?的?|项目的?)?(?:代码|代码库|仓库){ADVERB}(?:迁移?|搬|移|换|放|托管)(?:到|成|在|"
        rf"至)了?(?P<value>[^,]{{2,14}}?)(?:上|里)?{END}",
        "project.repository",
        "project",
    ),
    frame(
        rf"{_CLOSE}{ADVERB}(?:住在|住|定居在?|搬到|搬去|搬回|调到|调去|回)了?(?P<value>[^,住在了]{{2,8}}?)(?:住|工作|"
        rf"那边)?{END}",
        "{kin}.city",
        "relation",
        firm=True,
    ),
    frame(rf"{_CLOSE}{ADVERB}在(?P<value>{_PLACES}){END}", "{kin}.city", "relation"),
    frame(rf"{_CLOSE}{ADVERB}(?P<value>退休){END}", "{kin}.job", "relation", replaces=True),
    frame(
        r"(?:[^,]{0,8}(?:我|我的|新|新的|,))?(?:邮箱|email).{0,12}?(?P<value>[\w.+-]+@[\w.-]+\.[a-z]+).*",
        "user.email",
        "identity",
    ),
    frame(
        rf"{SELF}(?:是|在)?(?:读|念|上|在读|升(?:上|到)?)?(?:了)?(?P<value>{_YEARS})(?:的?学生)?{END}",
        "user.grade",
        "identity",
    ),
    frame(
        rf"{_KIN}(?:今年|现在|已经|都|马上|下半年|九月|该|要|在)*(?:读|念|上|升)?(?:了)?(?P<value>[一二三四五六]年级|"
        rf"{_YEARS}|小班|中班|大班)"
        rf"{END}",
        "{kin}.grade",
        "relation",
    ),
    frame(
        rf"{SELF}(?:大学|本科|研究生)?(?:是)?(?:学|读|念|主修)(?:的)?(?:是)?(?P<value>{_MAJORS})(?:专业|的)?{END}",
        "user.major",
        "identity",
    ),
    frame(
        rf"{SELF}在(?P<school>[^,]{{2,8}})(?:学|读|念)(?:的)?(?:是)?(?P<value>{_MAJORS})(?:专业)?{END}",
        "user.major",
        "identity",
    ),
    frame(
        rf"{SELF}在(?P<value>(?!家|公园|小区|楼下|户外|学校|操场|公司)[^,]{{2,10}}?)(?:健身|撸铁|锻炼|练器械){END}",
        "user.gym",
        "preference",
    ),
    frame(
        rf"{ME}(?:用|存在|办|开)(?:的是)?(?P<value>[^,的]{{0,6}}银行|[招工建农中交]行)(?:卡|的卡)?{END}",
        "user.bank",
        "identity",
    ),
    frame(
        rf"{SELF}(?:跟|和|与)(?P<value>(?:爸妈|父母|室友|朋友|同事|女朋友|男朋友|老婆|老公|家人|奶奶|爷爷|对象|"
        rf"孩子)[^,]{{0,6}}?)"
        rf"(?:一起|合租|同住)+住?{END}",
        "user.household",
        "identity",
    ),
    frame(rf"{SELF}(?:搬出来)?(?P<value>自己住|一个人住|独居|单独住){END}", "user.household", "identity"),
    frame(
        rf"{ME}(?:在)?(?:攒|存)钱(?:准备|打算|想|要)?(?P<value>(?:买|去|付|换|装修|结婚|读|开)[^,]{{0,8}}?){END}",
        "user.savings_goal",
        "goal",
    ),
    frame(
        rf"{SELF}(?:又|重新|恢复|开始|现在)+(?P<value>吃肉|吃荤|什么都吃|吃鱼){END}",
        "user.diet",
        "preference",
        replaces=True,
    ),
    frame(
        rf"{SELF}(?:有|交|找|谈)(?:了)?(?:个)?(?P<value>女朋友|男朋友|对象)(?:了|啦)",
        "user.marital_status",
        "identity",
        replaces=True,
    ),
    frame(
        rf"{ME}(?:要|准备|打算|领证)*(?P<value>结婚|离婚|订婚|领证|分手)(?:了|啦)",
        "user.marital_status",
        "identity",
        replaces=True,
    ),
    frame(
        rf"{SELF}(?P<value>每?周[一二三四五六日天](?:早上|上午|下午|晚上)?(?:[\d一二三四五六七八九十]+点半?)?)(?:都|"
        rf"要)?(?:去)?(?:上|有|练|做|打)"
        rf"(?P<noun>[^,了的]{{1,6}}?(?:课|训练|瑜伽|班)){END}",
        "{event}",
        "preference",
    ),
    frame(
        rf"{SELF}(?:是|当|做)(?:一?[名个位])?(?P<value>[^,是我你他]{{0,6}}(?:服务员|快递员|外卖员|收银员|营业员|"
        rf"飞行员|驾驶员|售货员|"
        r"管理员|保洁员|业务员|推销员|采购员|消防员|客服|空乘|空姐|保安|护工|月嫂|木工|电工|焊工|瓦工|农民|渔民|作家|"
        r"画家|演员|歌手|"
        rf"警察|法官|军人|牙医|兽医|全职妈妈|全职太太|自由职业者?|研究生|博士生|大学生)){END}",
        "user.job",
        "identity",
    ),
    frame(
        rf"{ME}(?:现在|以后)?(?:在)?(?:用|使)的?(?:手机|电脑|编辑器|浏览器)?(?:是|为){V}{END}",
        "{name}",
        "preference",
        firm=False,
    ),
    frame(
        rf"{ME}(?:从(?P<before>[^,]+?))?(?:(?:换|改用|改)(?:了|成|到|至|为)*|(?:升级|迁移?|转|切)(?:了|成|到|至|"
        rf"为)+)(?:一?[台部个款])?{V}{END}",
        "{name}",
        "preference",
        replaces=True,
    ),
    frame(rf"{SELF}的?(?:大名|本名|真名|全名|英文名|中文名)(?:是|叫){V}{END}", "user.name", "identity"),
    frame(rf"{SELF}(?:对)?(?P<value>乳糖|麸质|果糖|酒精)不耐受?{END}", "user.allergy", "constraint"),
    frame(
        rf"(?:我|我们)?.{{0,4}}(?:周|个月|天|年)前(?:刚)?搬(?:到|来)了?{V}{END}", "user.city", "identity", replaces=True
    ),
    frame(
        rf"{ME}(?:的)?(?:数据|数据库)(?:都|全)?(?:放|存|存储|迁移?|搬|换)(?:在|到|成)了?(?P<value>[a-z][\w. ]*?)(?:里"
        rf"|上|中)?{END}",
        "project.database",
        "project",
    ),
)
