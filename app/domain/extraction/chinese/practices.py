"""约定和习惯: how things are done at work and at home, said in plain words."""

from typing import Final

from app.domain.extraction.patterns import Rule

_NUMBER: Final = r"[\d一二两三四五六七八九十百几]{1,4}"

RULES: Final = (
    Rule(
        r"(?:我们?|当初|最后|之前|后来|,)*没(?:有)?(?:选择?|采用|考虑用?)(?P<value>(?!好|中|过|上)[^。]{2,80})",
        "decision",
    ),
    Rule(
        r"(?P<what>[^,我你他她]{2,20}?)(?:都|全部|统一|一律)*(?:按照?|遵循|参照|依照)(?P<value>[^,]{2,30}?)(?:来|走|"
        r"写|做|结算|算|"
        r"计|规范|执行|命名|提交|发)*$",
        "project",
        personal=False,
    ),
    Rule(
        r"(?P<what>[^,我你他她]{2,20}?)(?:锁(?:定|死)?(?:在|到|了)?|固定(?:在|为|到)|控制在|限制在|"
        r"卡在)(?P<value>[^,]{1,24})",
        "constraint",
        personal=False,
    ),
    Rule(
        r"(?P<value>[^,我你他她]{1,24}?(?:永远|绝对|千万|谁都|任何人都)(?:不要|别|不准|不许|不能|不得|不)[^。]{1,60})",
        "constraint",
        personal=False,
    ),
    Rule(
        r"<我>(?P<what>[^,]{1,12}?)(?:就|时|的时候|的话)(?:请|要|你?马上|立刻|直接|立即|帮我|给我|提醒我|"
        r"告诉我)+(?P<value>[^。]{1,40})",
        "preference",
        "preference.style",
    ),
    Rule(
        rf"(?:<我的>?(?:组|团队|公司|部门|班|小组|店|家|宿舍|单位|班级)|班)(?:里|上)?(?:现在|目前)?(?:一共|总共|"
        rf"共)?(?:有|就)?(?P<value>{_NUMBER}"
        r"(?:多)?(?:个|口|名|位)?(?:人|学生|同学|同事|员工|老师)[^,]{0,20})",
        "identity",
        personal=False,
    ),
    Rule(
        r"(?P<what>[^,我你他她]{2,12}?)(?:归|交给)(?P<value>(?!我|你|他|她|类|零|位|还|来)(?:[一-鿿]{2,4}|"
        r"[a-z]{2,20}))(?:负责|管|做|来)*$",
        "relation",
        personal=False,
    ),
    Rule(
        r"(?P<what>[^,我你他她]{2,16}?)(?:在|将|会|就|要|,)*(?:[^,]{2,12}?)(?:到期|过期|失效|截止)(?:了)?$",
        "event",
        kind="episodic",
        needs_time=True,
        personal=False,
    ),
    Rule(
        r"<我>(?:[^,]{0,8}?)(?:把)(?P<value>[^。]{2,60}?(?:完|好|掉|签|交|提交|搬|改|修|卖|退|装)[^,]{0,4}了)",
        "event",
        kind="episodic",
        needs_time=True,
    ),
    Rule(
        r"<我>(?:拉|弹|吹|敲|打|学)(?P<value>[^,我]{0,4}?(?:琴|吉他|二胡|琵琶|古筝|笛|箫|鼓|号|贝斯|"
        r"尤克里里)[^,]{0,12})",
        "preference",
        "user.hobby",
    ),
    Rule(
        r"<我>?(?:大学|高中|中学|小时候|以前|曾经|之前)*(?:时|里)?学过(?P<value>[^,]{1,20})|<我>(?P<level>(?:普通话|"
        r"英语|日语|法语|德语|韩语|雅思|"
        r"托福|gre)[^,说讲]{1,10})|<我>(?P<licence>有[^,]{1,8}(?:证|驾照|执照|资格证))$",
        "identity",
        "user.skill",
    ),
    Rule(
        r"<我的>?(?:网名|微信名|昵称|花名|笔名|艺名)(?:是|叫|:)*[\"“「](?P<value>[^\"”」]{1,20})",
        "identity",
        "user.nickname",
    ),
    Rule(r"<我>今年(?:已经|刚|快|满)*(?P<value>\d{1,2})$", "identity", "user.age"),
    Rule(
        r"<我的>?(?:今年|这次|本季度|这趟)*的?目标(?P<value>(?!是|用户|检测|函数|文件|平台)[^,]{0,8}?\d[^,]{0,20})",
        "goal",
        "user.goal",
    ),
)
