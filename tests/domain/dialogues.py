"""Labelled dialogues: what was said, the question that follows, and what it must say to be found without them.

`TUNED` was looked at while the rules were written, `HELD_OUT` was not.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Dialogue:
    """A question that needs its turns."""

    turns: list[str]
    question: str
    wanted: list[str]


@dataclass(frozen=True)
class Labelled:
    """Dialogues of both languages, and questions that are whole by themselves."""

    zh: list[Dialogue] = field(default_factory=list)
    en: list[Dialogue] = field(default_factory=list)
    whole_zh: list[str] = field(default_factory=list)
    whole_en: list[str] = field(default_factory=list)


TUNED = Labelled(
    zh=[
        Dialogue(
            ["我们的后端用 FastAPI 写的。", "好的，部署在哪里？", "阿里云。"], "怎么部署？", ["FastAPI", "阿里云"]
        ),
        Dialogue(["我女儿小雨下周过生日。", "祝她生日快乐！"], "她几岁了？", ["小雨"]),
        Dialogue(["我在看《三体》。", "觉得怎么样？"], "它的作者是谁？", ["三体"]),
        Dialogue(["我们把 MySQL 换成了 PostgreSQL 16。"], "那个版本支持什么？", ["PostgreSQL 16"]),
        Dialogue(["下个月我要去京都旅行。", "打算玩几天？"], "那里有什么好吃的？", ["京都"]),
        Dialogue(["北京今天下雨。"], "那上海呢？", ["下雨"]),
        Dialogue(["我对青霉素过敏。", "记住了。"], "这个严重吗？", ["青霉素", "过敏"]),
        Dialogue(["我预约了协和医院的体检。"], "什么时候去？", ["协和", "体检"]),
        Dialogue(["项目代号叫“北极星”。"], "谁负责？", ["北极星"]),
        Dialogue(["我上周买了一台 MacBook Pro。", "不错的选择。"], "多少钱？", ["MacBook Pro"]),
        Dialogue(["我妈妈最近在学瑜伽。"], "她每周上几次课？", ["瑜伽", "妈妈"]),
        Dialogue(["张伟是我们的产品经理。", "他加入多久了？", "三年。"], "他负责哪些产品？", ["张伟"]),
        Dialogue(["我在用 Redis 做缓存。"], "为什么不用别的？", ["Redis", "缓存"]),
        Dialogue(["我养了一只叫咪咪的猫。"], "它吃什么？", ["咪咪"]),
        Dialogue(["服务器的错误码是 E1042。"], "这是什么意思？", ["E1042"]),
        Dialogue(["我想学吉他。", "可以从和弦开始。"], "然后呢？", ["吉他", "和弦"]),
        Dialogue(["我们用 Kubernetes 跑计费服务。"], "谁有它的权限？", ["Kubernetes", "计费"]),
        Dialogue(["我住的小区叫翠湖花园。"], "这里的物业电话是多少？", ["翠湖"]),
        Dialogue(["李娜推荐了一家川菜馆，叫蜀香园。"], "那家店在哪儿？", ["蜀香园"]),
        Dialogue(["周五的会议改到下午三点。", "好的，已经记下。"], "在哪开？", ["会议"]),
        Dialogue(["我的航班是 CA1832。"], "几点起飞？", ["CA1832"]),
        Dialogue(["昨天发布了 v2.3.1。"], "有什么变化？", ["v2.3.1"]),
        Dialogue(["我在准备雅思考试。"], "怎么准备？", ["雅思"]),
        Dialogue(["我有两个方案：自建机房或者用腾讯云。"], "第二个怎么样？", ["腾讯", "机房"]),
        Dialogue(["小王和小李都申请了这个岗位。"], "他们谁更合适？", ["岗位"]),
        Dialogue(["我奶奶住在苏州。"], "我上次什么时候去看她的？", ["奶奶", "苏州"]),
        Dialogue(["公司的报销系统叫“易报”。", "我用过几次。"], "怎么登录？", ["易报"]),
        Dialogue(["我喜欢喝龙井茶。"], "哪里买的？", ["龙井"]),
        Dialogue(["我们在考虑用 LangGraph 做编排。"], "支持中文吗？", ["LangGraph"]),
        Dialogue(["我弟弟在深圳做设计师。", "做哪方面的设计？"], "他什么时候搬过去的？", ["弟弟", "深圳"]),
        Dialogue(["数据库每天凌晨两点备份。"], "为什么？", ["数据库", "备份"]),
        Dialogue(["我订了国家大剧院的票，看《茶馆》。"], "另外一场是什么时候？", ["茶馆"]),
    ],
    en=[
        Dialogue(
            ["Our backend runs on FastAPI.", "Nice. Where is it hosted?", "On Hetzner."],
            "How do I deploy it?",
            ["FastAPI", "Hetzner"],
        ),
        Dialogue(["My sister Clara visits in June.", "How nice!"], "What can't she eat?", ["Clara"]),
        Dialogue(["I'm reading Dune.", "Do you like it?"], "Who wrote it?", ["Dune"]),
        Dialogue(["We moved from MySQL to PostgreSQL 16."], "Does that version support partitions?", ["PostgreSQL 16"]),
        Dialogue(["I'm going to Lisbon in May.", "For how long?"], "What should I eat there?", ["Lisbon"]),
        Dialogue(["The weather in Berlin is rainy."], "What about Hamburg?", ["weather"]),
        Dialogue(["I am allergic to penicillin.", "Noted."], "Is that dangerous?", ["penicillin", "allergic"]),
        Dialogue(["I booked a checkup at Charité."], "When?", ["Charité", "checkup"]),
        Dialogue(['The project is called "North Star".'], "Who leads it?", ["North Star"]),
        Dialogue(["I bought a MacBook Pro last week.", "Good choice."], "How much was it?", ["MacBook Pro"]),
        Dialogue(["My mother takes yoga classes."], "How often does she go?", ["mother", "yoga"]),
        Dialogue(
            ["Daniel is our product manager.", "Since when?", "For three years."],
            "Which products does he own?",
            ["Daniel"],
        ),
        Dialogue(["We use Redis for caching."], "Why not something else?", ["Redis"]),
        Dialogue(["I have a cat named Momo."], "What does it eat?", ["Momo"]),
        Dialogue(["The server fails with E1042."], "What does this mean?", ["E1042"]),
        Dialogue(["I want to learn the guitar.", "Start with chords."], "And then?", ["guitar", "chords"]),
        Dialogue(["Billing runs on Kubernetes."], "Who has access to it?", ["Kubernetes"]),
        Dialogue(
            ["My apartment is in Green Park Towers."],
            "What's the phone number of the caretaker there?",
            ["Green Park Towers"],
        ),
        Dialogue(["Lena recommended a ramen place called Takumi."], "Where is that place?", ["Takumi"]),
        Dialogue(["Friday's meeting moved to 3 pm.", "Got it."], "Where is it?", ["meeting"]),
        Dialogue(["My flight is LH1832."], "When does it leave?", ["LH1832"]),
        Dialogue(["We released v2.3.1 yesterday."], "What changed in it?", ["v2.3.1"]),
        Dialogue(["I'm preparing for the IELTS exam."], "How should I prepare?", ["IELTS"]),
        Dialogue(["There are two plans: our own servers or Azure."], "How about the second one?", ["Azure", "servers"]),
        Dialogue(["Tom and Priya both applied for the job."], "Which of them has more experience?", ["Tom", "Priya"]),
        Dialogue(["My grandmother lives in Porto."], "When did I last visit her?", ["grandmother", "Porto"]),
        Dialogue(["The expenses tool is called Spendly.", "I used it twice."], "How do I log in?", ["Spendly"]),
        Dialogue(["I like oolong tea."], "Where did I buy it?", ["oolong"]),
        Dialogue(["We are considering LangGraph for orchestration."], "Can it stream?", ["LangGraph"]),
        Dialogue(["My brother is a designer in Oslo.", "What kind?"], "When did he move?", ["brother", "Oslo"]),
        Dialogue(["The database is backed up at 2 am."], "Why?", ["database"]),
        Dialogue(["I have tickets for Hamlet at the Globe."], "Is there another one?", ["Hamlet"]),
        Dialogue(["Acme wants the audit report."], "By when do they need it?", ["Acme", "audit"]),
    ],
    whole_zh=[
        "我住在哪里？",
        "我叫什么名字？",
        "我女儿叫什么？",
        "汇率是多少？",
        "我对什么过敏？",
        "怎么部署 FastAPI 服务？",
        "我的护照什么时候到期？",
        "张伟负责什么项目？",
        "我这周有什么安排？",
        "我这个月的预算是多少？",
        "我昨天买的那本书叫什么？",
        "小雨生日的时候我送了她什么？",
        "我其他的过敏有哪些？",
        "我的吉他是什么牌子？",
        "公司的报销流程是什么？",
        "PostgreSQL 怎么做备份？",
        "为什么杭州夏天这么热？",
        "我喜欢喝什么茶？",
        "我妈妈和她的朋友去哪里旅行？",
        "外币汇率换算",
        "数据库备份策略",
        "我周五能部署吗？",
        "那我的护照放在哪里了？",
        "我们团队用什么数据库？",
    ],
    whole_en=[
        "Where do I live?",
        "What is my name?",
        "What is my daughter's name?",
        "What am I allergic to?",
        "How do I deploy a FastAPI service?",
        "When does my passport expire?",
        "Which project does Daniel lead?",
        "What do I have planned this week?",
        "What is my budget for this month?",
        "What was the name of the book that I bought yesterday?",
        "Did I say that I like oolong tea?",
        "Is there a bakery near my office?",
        "What did I give my sister for her birthday?",
        "Who runs the IT department?",
        "What time is it in Tokyo?",
        "Is it safe to eat peanuts with my allergy?",
        "How long does it take to get to my office?",
        "Is it raining in Berlin?",
        "database backup strategy",
        "When did I buy my laptop and how much did it cost?",
        "What did Anna say about her new job?",
        "Which tea do I like?",
        "Who is Clara?",
        "When do I work?",
    ],
)

HELD_OUT = Labelled(
    zh=[
        Dialogue(["我报名了上海马拉松。", "加油！"], "那天几点集合？", ["上海", "马拉松"]),
        Dialogue(["我姐姐刚生了宝宝。"], "她在哪家医院？", ["姐姐", "宝宝"]),
        Dialogue(["我们的日志都在 Elasticsearch 里。"], "保留多久？", ["Elasticsearch", "日志"]),
        Dialogue(["我爸爸有高血压。"], "他吃什么药？", ["爸爸", "高血压"]),
        Dialogue(["我最喜欢的餐厅是外婆家。"], "人均多少？", ["外婆家"]),
        Dialogue(["新来的同事叫陈静。", "哪个部门的？"], "我和她开过会吗？", ["陈静"]),
        Dialogue(["租房合同明年三月到期。"], "到期以后怎么办？", ["租房", "合同"]),
        Dialogue(["接口返回 503。"], "怎么解决？", ["503"]),
        Dialogue(["我在杭州的公司附近租了房。"], "离那儿最近的地铁站是哪个？", ["杭州"]),
        Dialogue(["周末去爬黄山。"], "要带什么？", ["黄山"]),
        Dialogue(["我给车买了平安的保险。"], "哪天到期？", ["平安", "保险"]),
        Dialogue(["我们用 Go 重写了网关。"], "性能呢？", ["Go", "网关"]),
        Dialogue(["小明的老师姓周。"], "教什么的？", ["老师"]),
        Dialogue(["我买了索尼的耳机。"], "这款能退吗？", ["索尼", "耳机"]),
        Dialogue(["我要给客户演示新功能，用 Grafana。"], "之前那个客户怎么说的？", ["Grafana"]),
    ],
    en=[
        Dialogue(["I signed up for the Berlin Marathon."], "When does that start?", ["Berlin Marathon"]),
        Dialogue(["My sister just had a baby."], "Which hospital is she in?", ["sister", "baby"]),
        Dialogue(["All our logs are in Elasticsearch."], "How long do we keep them?", ["Elasticsearch", "logs"]),
        Dialogue(["My father has high blood pressure."], "What does he take for it?", ["father", "blood"]),
        Dialogue(["My favourite restaurant is Nobelhart."], "Is it expensive?", ["Nobelhart"]),
        Dialogue(["The new colleague is called Mei Chen."], "Have I met her?", ["Mei Chen"]),
        Dialogue(["My lease ends next March."], "What happens after that?", ["lease"]),
        Dialogue(["The gateway answers 503."], "How can I fix this?", ["503", "gateway"]),
        Dialogue(["I rent a flat near Alexanderplatz."], "Which station is closest to it?", ["Alexanderplatz"]),
        Dialogue(["We hike the Brocken on Sunday."], "What should we bring?", ["Brocken"]),
        Dialogue(["I insured the car with Allianz."], "Until when?", ["Allianz"]),
        Dialogue(["We rewrote the gateway in Go."], "And the latency?", ["gateway"]),
        Dialogue(["Max's teacher is Mrs Weber."], "What does she teach?", ["Weber"]),
        Dialogue(["I bought Sony headphones."], "Can I return those?", ["Sony", "headphones"]),
        Dialogue(["The demo for Globex uses Grafana."], "Have they seen it before?", ["Globex", "Grafana"]),
    ],
    whole_zh=[
        "我什么时候去体检？",
        "我上次跑步跑了多远？",
        "公司年会在哪里举行？",
        "李娜的生日是几号？",
        "我们的日志保留多久？",
        "上海马拉松几点开始？",
        "我家的 Wi-Fi 密码是什么？",
        "我爸爸吃什么药？",
        "Redis 的超时怎么设置？",
        "今年这个季度的目标是什么？",
    ],
    whole_en=[
        "When is my next dentist appointment?",
        "How far did I run last Sunday?",
        "Where is the company party?",
        "What medication does my father take?",
        "How long do we keep our logs?",
        "What is the Wi-Fi password at home?",
        "Do I like spicy food?",
        "Which database does our team use?",
        "What are my goals for this quarter?",
        "Did Max pass his driving test?",
    ],
)
