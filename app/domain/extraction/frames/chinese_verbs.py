"""What Chinese verbs say of a slot: 住在, 在…上班, 开, 用…写代码."""

import re
from typing import Final

from app.domain.extraction.frames.nouns import ANIMALS as ANIMALS_ZH
from app.domain.extraction.frames.verb_frame import VerbFrame
from app.domain.memory import Category

_ADVERB: Final = (
    r"(?:现在|目前|如今|眼下|最近|一直|平时|平常|一般|通常|每天|每晚|早上|晚上|早晨|都|已经|就|刚刚?|又|还|也|是|主要|上个?月|上周|"
    r"去年|今年|前几天|这周|昨天|终于|正式|决定|打算|基本|家里?|这边|个人|从.{1,4}开始|以后|开始|今天|每次|暂时|改|转|常年|长期|正|[\d一二三四五六七八九十]{1,2}月份?|[\d]{1,2}号)*"
)
_ME: Final = rf"{_ADVERB}(?:我们?|咱们?|俺)?{_ADVERB}"
_I: Final = rf"{_ADVERB}(?:我|俺){_ADVERB}"
_V: Final = r"(?P<value>[^,]+?)"
_END: Final = r"(?:了|啦|的)*"


def _frame(
    pattern: str, key: str, category: Category, *, replaces: bool = False, name: bool = False, firm: bool = True
) -> VerbFrame:
    return VerbFrame(re.compile(pattern), key, category, "replaces" if replaces else None, name, firm)


FRAMES: Final = (
    _frame(
        rf"(?P<noun>(?:我|我们|咱)?家?的?(?:大|小|二)?(?:儿子|女儿|孩子|娃|闺女|弟弟|妹妹|哥哥|姐姐|老婆|老公)){_ADVERB}"
        r"开的?(?:是|着)?(?:一?[辆台])?(?P<value>(?!会|始|了|发|车|玩|店|学|公司|心)[^,]{2,12}?)(?:了|的)*",
        "{kin}.car",
        "relation",
        firm=False,
    ),
    _frame(
        rf"(?P<noun>(?:我|我们|咱)?家?的?(?:大|小|二)?(?:儿子|女儿|孩子|娃|闺女|弟弟|妹妹|哥哥|姐姐|老婆|老公)){_ADVERB}"
        rf"(?:满|过|有)*(?P<value>[\d一二三四五六七八九十]{{1,3}}岁半?){_END}",
        "{kin}.age",
        "relation",
    ),
    _frame(
        rf"{_ADVERB}(?:我|我们)?的?新?家{_ADVERB}(?:住|安|搬)?(?:在|到)了?{_V}(?:这边|那边)?{_END}",
        "user.city",
        "identity",
    ),
    _frame(
        rf"{_I}(?:从(?P<before>[^,到]+?))?(?:搬家?|迁居|搬迁|移居)(?:到|去|来|回|至|进|来到)了?{_V}(?:去|来|住|这边|那边)?{_END}",
        "user.city",
        "identity",
        replaces=True,
    ),
    _frame(
        rf"{_ME}(?:从(?P<before>[^,到]+?))?搬(?:到|去|来|回)了?(?P<value>(?!.{{0,3}}[楼层])[^,\d]{{2,10}}?)(?:住|这边|那边|去)?{_END}",
        "user.city",
        "identity",
        replaces=True,
    ),
    _frame(
        rf"{_ME}(?:定居|住|居住|现居|现住|旅居|长居|生活|常住|落户|安家)在?(?P<value>(?!校|家|宿舍|酒店|院)[^,]{{2,14}}?)(?:住|生活|定居|这边|那边)?{_END}",
        "user.city",
        "identity",
        firm=False,
    ),
    _frame(
        rf"{_I}人?在(?P<value>(?!家|用|做|学)[^,]{{2,10}}?)(?:生活|定居|居住|住)(?:着|呢)?{_END}",
        "user.city",
        "identity",
    ),
    _frame(
        rf"{_ME}(?:从(?P<before>[^,]+?))?(?:跳槽|转投|跳)(?:到|去|至|进)了?{_V}(?:工作|上班|去)?{_END}",
        "user.employer",
        "identity",
        replaces=True,
    ),
    _frame(
        rf"{_ME}(?:入职|加入|加盟|就职于|任职于|供职于|效力于)了?{_V}(?:工作|上班)?{_END}", "user.employer", "identity"
    ),
    _frame(rf"{_I}(?:现)是?(?:居|住)(?:于|在)?{_V}{_END}", "user.city", "identity"),
    _frame(rf"{_I}是(?P<value>[^,]{{1,8}}(?:组|部|部门|团队|小组|中心))的(?:人|一员)?{_END}", "user.team", "identity"),
    _frame(
        rf"{_I}(?:在|转学到|转到|考上了?|考到|就读于)(?P<value>[^,]{{2,10}}?)(?:读书|上学|念书|读研|读博|读大学|上大学|念大学){_END}",
        "user.school",
        "identity",
    ),
    _frame(
        rf"{_I}在(?P<value>(?!家|这|那|线|外地)[^,]{{2,12}}?)(?:教|当|担任|做)(?!的|了|什|饭|菜|客)[^,]{{2,8}}?{_END}",
        "user.employer",
        "identity",
    ),
    _frame(rf"{_I}转学(?:到|去|至)了?{_V}{_END}", "user.school", "identity", replaces=True),
    _frame(rf"{_I}是(?P<value>[^,]{{2,12}}?)的(?:员工|职员|雇员|人){_END}", "user.employer", "identity"),
    _frame(
        rf"{_ME}在(?P<value>(?!家|这|那|线|加|外地)[^,]{{2,14}}?)(?:上班|工作|任职|就职|打工|供职){_END}",
        "user.employer",
        "identity",
    ),
    _frame(
        rf"{_I}(?:是|当|担任|做了?)(?:一?[名个位])?(?P<value>[^,是我你]{{0,8}}(?:师|工程师|经理|总监|主管|律师|会计|医生|护士|老师|教练|销售|厨师|司机|店长|组长|主任|运营|程序员|公务员|研究员|设计师|产品经理|顾问|助理|编辑|记者|翻译)){_END}",
        "user.job",
        "identity",
        firm=False,
    ),
    _frame(
        rf"{_I}做(?:的是)?(?P<value>[^,]{{2,8}}(?:师|员|手|生|工|家|经理|运营|设计|开发|老师|销售|编辑|会计|顾问|主管|总监|教练)){_END}",
        "user.job",
        "identity",
    ),
    _frame(
        rf"{_I}(?:转|调|调动|换|转岗|调岗|划|归)(?:到|去|至|进|入)了?(?P<value>[^,]{{1,8}}(?:组|部|部门|团队|小组|中心|事业部)){_END}",
        "user.team",
        "identity",
        replaces=True,
    ),
    _frame(rf"{_I}在(?P<value>[^,在]{{1,8}}(?:组|部|部门|团队|小组|事业部)){_END}", "user.team", "identity"),
    _frame(
        rf"{_ME}(?:升|晋升|提拔|提|转|转岗|调|升职)(?:成|为|到|任|做)了?{_V}{_END}",
        "user.job",
        "identity",
        replaces=True,
        firm=False,
    ),
    _frame(
        rf"{_I}开的?(?:是|着)?(?:一?[辆台])?(?P<value>(?!会|始|了|发|车|玩|源|放|店|学|公司|个|心|户|网|源|题|口|夜|飞)[^,]{{2,12}}?)(?:上班|的车|了)*",
        "user.car",
        "identity",
    ),
    _frame(
        rf"{_I}(?P<value>坐地铁|坐公交|坐班车|坐高铁|坐轻轨|坐火车|开车|骑车|骑行|骑自行车|骑电动车|骑共享单车|骑摩托|走路|步行|打车|拼车|搭同事的车|坐.{{1,4}})"
        rf"(?:去)?(?:上班|通勤|去公司|去学校|上学){_END}",
        "user.commute",
        "preference",
    ),
    _frame(
        rf"{_I}(?:用|拿|在用|改用|换|换成)(?P<value>[^,]{{1,16}}?)(?:来)?(?:写代码|敲代码|编程|写程序|开发|编码){_END}",
        "preference.editor",
        "preference",
    ),
    _frame(
        rf"{_I}(?:写|敲)代码(?:都|一直|主要|还|就)*(?:用|改用|换成|在用)(?:的是)?{_V}{_END}",
        "preference.editor",
        "preference",
    ),
    _frame(
        rf"{_I}(?:用|上网用|在用)(?:的是)?(?P<value>[^,的]{{1,14}}?)浏览器{_END}", "preference.browser", "preference"
    ),
    _frame(
        rf"{_I}(?P<value>[^,]{{0,4}}[\d一二三四五六七八九十]{{1,3}}点(?:半|[\d一二三四五六七八九十]+分?|钟)?(?:多|左右)?)(?:就|才|准时)?"
        rf"(?:起床|起|醒){_END}",
        "user.wake_up_time",
        "preference",
    ),
    _frame(
        rf"{_I}(?:改成|改到|变成|调到)?(?P<value>[^,]{{0,4}}[\d一二三四五六七八九十]{{1,3}}点(?:半|[\d一二三四五六七八九十]+分?|钟)?(?:多|左右)?)(?:就|才)?"
        rf"(?:睡觉?|上床(?:睡觉?)?|休息){_END}",
        "user.bedtime",
        "preference",
    ),
    _frame(
        rf"{_I}(?:起床时间)?(?:改成|改到|调到|变成|推迟到|提前到)了?(?P<value>[^,]{{0,4}}点(?:半|[\d一二三四五六七八九十]+分?|钟)?)(?:起床|起){_END}",
        "user.wake_up_time",
        "preference",
        replaces=True,
    ),
    _frame(
        rf"{_I}喝(?P<noun>咖啡|奶茶|茶|豆浆|红茶|绿茶)(?:时|的时候)?(?:一般|都|要|只|会|喜欢|习惯|得|不|爱)*?(?P<value>(?:只|不)?(?:加|放|要|配|喝)[^,]{{1,8}}?){_END}",
        "user.{noun}",
        "preference",
    ),
    _frame(
        rf"{_I}(?:喝|点|买)的?(?P<noun>咖啡|奶茶|茶|豆浆|红茶|绿茶)(?:时|的时候)?(?:一般|都|要|只|会|喜欢|习惯|得|是)*(?P<value>(?:不|无|半|全|少|多|三分|五分|七分|去|热|冰|"
        rf"常温|微)[^,]{{1,6}}?){_END}",
        "user.{noun}",
        "preference",
    ),
    _frame(
        rf"{_I}体重(?:是|有|大概|降到|减到|涨到|到|变成)*了?(?P<value>\d[\d.]* ?(?:公斤|千克|斤|kg)?){_END}",
        "user.weight",
        "identity",
    ),
    _frame(
        rf"{_I}(?:瘦|胖|减|减肥|减重|涨|降)(?:到|成|回)了?(?P<value>\d[\d.]* ?(?:公斤|千克|斤|kg)?){_END}",
        "user.weight",
        "identity",
        replaces=True,
    ),
    _frame(
        rf"{_I}(?:在)?(?:备战|备赛|准备|训练|练|报名了?|要跑|在跑)(?:的是|一个|一场|跑)?(?P<value>[^,]{{0,8}}(?:马拉松|半马|全马|铁人三项|铁三|越野赛|越野跑|公里|\dk|比赛|骑行|大铁))"
        rf"(?:比赛|训练)?{_END}",
        "user.training_goal",
        "goal",
    ),
    _frame(
        rf"{_I}(?:在)?为(?P<value>[^,]{{0,8}}(?:马拉松|半马|全马|铁人三项|铁三|越野赛|越野跑|公里|比赛))(?:做|进行)?(?:训练|备战|做准备|准备){_END}",
        "user.training_goal",
        "goal",
    ),
    _frame(
        rf"{_ADVERB}我?(?:的)?(?:跑步)?目标(?:是|调到|调成|改成|改为|定为|定在|提高到|变成|换成)了?(?P<value>每[^,]*?(?:跑|骑|游)[^,]*?\d+[^,]*?){_END}",
        "user.running_goal",
        "goal",
    ),
    _frame(
        rf"{_I}(?:在|改|开始|转)?学(?:的是|习|着)?(?P<value>(?:英|法|德|日|韩|俄|西班牙|葡萄牙|意大利|阿拉伯|泰|越南|荷兰|波兰|希腊|土耳其)(?:语|文)|粤语)[^,]{{0,4}}?{_END}",
        "habit.learning_language",
        "goal",
    ),
    _frame(rf"{_I}(?:大学|本科|研究生)?(?:学|读|念)的(?:专业)?是{_V}(?:专业)?{_END}", "user.major", "identity"),
    _frame(rf"{_I}(?:大学|本科|研究生)?(?:学|读|念|主修)(?P<value>[^,]{{2,8}})专业{_END}", "user.major", "identity"),
    _frame(
        rf"{_I}(?:在)?(?P<noun>玩|练|弹|追|看|读)(?:的是|着|上了?)?(?P<value>(?!个|一下|手机|电脑|书|到|起来|过)[^,了的]{{2,10}}){_END}",
        "habit.{noun}",
        "preference",
        firm=False,
    ),
    _frame(
        rf"{_ME}(?:家里?)?(?:养|有)(?:了|着)?(?:一?[只条匹个])(?P<noun>{ANIMALS_ZH}),?(?:名字)?叫(?:做)?{_V}{_END}",
        "user.{noun}.name",
        "relation",
    ),
    _frame(rf"{_I}(?P<noun>戴|穿|背|骑|抽|住|弹|拉)的是{_V}{_END}", "user.{noun}", "preference"),
    _frame(
        rf"{_I}(?:每天|一天|每次|每晚|早晚)*(?:要|得|改)?(?:吃|服)(?P<value>[\d一二两三四五六半]+(?:片|粒|颗|毫克|mg|克|毫升|支|包|袋)){{1}}的?(?P<noun>[^,]{{2,10}}?){_END}",
        "user.{noun}.dose",
        "identity",
    ),
    _frame(
        rf"(?:医生|大夫)(?:让我|叫我|说|给我|建议我?|把)*(?:改|换|加|减)?(?:成|到|为)?(?:吃|服用?)?(?P<value>[\d一二两三四五六半]+(?:片|粒|颗|毫克|mg|克|毫升))的?(?P<noun>[^,]{{2,10}}?){_END}",
        "user.{noun}.dose",
        "identity",
        replaces=True,
    ),
    _frame(
        rf"(?:以后|现在|之后|今后|请|你|就|可以|直接|都)*(?:叫我|喊我|称呼我|管我叫)(?P<value>[^,做干来去]{{1,8}}?)(?:就行|就好|就可以|吧|好了)*{_END}",
        "user.nickname",
        "identity",
    ),
    _frame(
        rf"{_ADVERB}(?:大家|同事们?|朋友们?|别人|他们|家里人|公司的人|学生们?){_ADVERB}(?:叫|喊|管我叫)我?(?P<value>[^,做干来去]{{1,8}}?){_END}",
        "user.nickname",
        "identity",
    ),
    _frame(
        rf"{_I}(?:今年|已经|现在|都|刚|刚满|刚过完|快要?|就要?|要|过了|满|刚刚?满|过完)*(?P<value>[\d一二三四五六七八九十]{{1,3}})(?:周?岁)(?:了|生日|整|的生日)*{_END}",
        "user.age",
        "identity",
    ),
    _frame(
        rf"{_I}(?:还是|是|又|恢复|一直)?(?P<value>单身|已婚|离异|未婚|结婚|离婚|订婚|脱单|恋爱)(?:状态|中)?{_END}",
        "user.marital_status",
        "identity",
    ),
    _frame(
        rf"{_I}(?:在|改|开始|转|换成|一直|坚持)?(?:吃)(?:的是)?(?P<value>素|全素|纯素|生酮|低碳|低碳水|地中海|轻断食|清真|无麸质|蛋奶素|鱼素|轻食|减脂餐)(?:饮食|餐|食)?{_END}",
        "user.diet",
        "preference",
    ),
    _frame(
        rf"{_ME}(?:的套餐)?(?:从(?P<before>[^,]+?))?(?:升级|升|降|降级|换|改|续|转)(?:成|到|为|了)+(?P<value>[^,]{{1,8}}(?:版|套餐|会员|级|档))(?:套餐)?{_END}",
        "user.plan",
        "identity",
        replaces=True,
    ),
    _frame(
        rf"{_ME}(?:用|买|订|开|办)的?(?:是|了)?(?P<value>[^,]{{1,8}}(?:版|套餐|会员))(?:套餐)?{_END}",
        "user.plan",
        "identity",
    ),
    _frame(
        rf"(?P<noun>(?:我|我们|咱)?家?的?(?:大|小|二)?(?:儿子|女儿|孩子|娃|闺女|弟弟|妹妹|哥哥|姐姐|老婆|老公))[^,]{{0,4}}?{_ADVERB}在(?P<value>[^,]{{2,12}}?)"
        rf"(?:读书|上学|念书|上小学|上初中|上高中|上大学|读研|读|念|上){_END}",
        "{kin}.school",
        "relation",
    ),
    _frame(
        rf"(?P<noun>(?:我|我们|咱)?家?的?(?:大|小|二)?(?:儿子|女儿|孩子|娃|闺女|弟弟|妹妹|哥哥|姐姐|老婆|老公))[^,]{{0,4}}?{_ADVERB}在(?P<value>[^,]{{2,12}}?(?:小学|中学|初中|高中|幼儿园|大学|学院|学校)){_END}",
        "{kin}.school",
        "relation",
    ),
    _frame(
        rf"(?P<noun>(?:我|我们|咱)?家?的?(?:儿子|女儿|弟弟|妹妹|哥哥|姐姐|老婆|老公|爸|妈|爸爸|妈妈)){_ADVERB}在(?P<value>[^,]{{2,12}}?)(?:上班|工作){_END}",
        "{kin}.employer",
        "relation",
    ),
    _frame(
        rf"(?P<noun>[^,]{{2,10}}?){_ADVERB}(?:由|归)(?P<value>[^,]{{2,6}}?)(?:负责|管|来管|带|接手|维护|跟进|对接){_END}",
        "{slot}.owner",
        "relation",
    ),
    _frame(
        rf"(?P<noun>[^,]{{2,10}}?){_ADVERB}(?:交给|转给|换成?)(?P<value>[^,]{{2,6}}?)(?:负责|来负责|管|来管|带|接手|维护|跟进|对接){_END}",
        "{slot}.owner",
        "relation",
        replaces=True,
        firm=False,
    ),
    _frame(
        rf"(?P<value>[^,我你]{{2,4}}?){_ADVERB}(?:负责(?!人)|主管)(?P<noun>[^,]{{2,8}}?){_END}",
        "{slot}.owner",
        "relation",
        firm=False,
    ),
    _frame(
        rf"{_I}(?:约了|预约了|约的|预约的|定了|订了)(?P<value>[^,]*?(?:点半?|号|日|周[一二三四五六日天]|上午|下午|晚上|中午))(?:的|去)?(?P<noun>[^,\d的]{{2,8}}?){_END}",
        "{event}",
        "event",
    ),
    _frame(
        rf"{_ADVERB}我(?:现在)?(?:更|比较|最)?(?:喜欢|爱|偏爱|习惯)?(?:用)?{_V}(?:当|作为|做|这门|这款|这个|这种|这部|这首|这家|这本)(?:我的)?(?P<noun>数据库|编程语言|编辑器|浏览器|"
        rf"颜色|电影|歌手|餐厅|运动|水果|饮料|季节|语言|框架|手机|游戏|书|歌|城市|乐队|作家){_END}",
        "favourite.{slot}",
        "preference",
    ),
    _frame(
        rf"{_ADVERB}我?{_ADVERB}最(?:喜欢|爱|常)(?P<noun>吃|喝|玩|听|看|用)的?(?:是)?(?P<value>[^,的]{{1,12}}?){_END}",
        "favourite.{slot}",
        "preference",
        firm=False,
    ),
    _frame(
        rf"{_I}(?P<noun>(?:听|看|点|买|记|坐|吃|喝|打|跑|寄|订|拍|剪|写|洗|读|查|画)[^,用要喜习都一他你她这那到过了着我得不在上下的]{{1,3}}?)(?:时|的时候)?{_ADVERB}"
        rf"(?:用|要|喜欢|习惯|爱|选|去|在)(?:的是)?(?P<value>(?!过|来|什么|帮)[^,]{{1,10}}?){_END}",
        "user.{noun}",
        "preference",
        firm=False,
    ),
)
