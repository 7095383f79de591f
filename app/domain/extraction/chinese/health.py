"""身体: what the user's body bears and does not."""

from typing import Final

from app.domain.extraction.patterns import Rule

_PART: Final = (
    r"(?:左|右|双|两|老)?(?:膝盖|膝|腰|肩膀|肩|手腕|脚踝|脚|颈椎|背|"
    r"眼睛|胃|心脏|血压|血糖|血脂|肠胃|皮肤|嗓子|牙|耳朵|肝|肺|髋)"
)

RULES: Final = (
    Rule(
        rf"<我的>?(?:最近|现在|一直|从小)*(?P<value>{_PART}(?:有(?:旧伤|伤|毛病|问题|炎症|结石|点问题)|"
        rf"做过[^,]{{1,10}}|受过伤|"
        r"不(?:太)?好|偏?高|偏?低|过敏|动过手术|骨折过)[^,]{0,12})",
        "constraint",
        "user.health",
        importance=8,
    ),
    Rule(
        r"<我>(?:是|有)(?:点|轻度|重度|中度|先天性?)*(?P<value>(?:红绿|蓝黄|全)?(?:色盲|色弱)[^,]{0,10})",
        "constraint",
        "user.health",
        importance=8,
    ),
    Rule(
        r"<我>?(?:每天|每晚|每早|每周)(?:早上|晚上|中午|睡前|饭后|饭前)*(?:都|得|要|需要)*(?:吃|服|服用|打)"
        r"(?P<value>[^,]{2,20}?(?:定|坦|汀|林|平|片|素|药|胶囊|针|毫克|微克|mg|洛尔|沙坦|胰岛素)[^,]{0,12})",
        "constraint",
        "user.health",
        importance=8,
    ),
    Rule(
        r"(?P<value>(?:微辣|辣的?|凉的?|冰的?|甜的?|生的?|油腻的?|酒|海鲜|奶|咖啡)[^,我]{0,4}?)(?:我)?(?:都|也|"
        r"现在)*(?:不行了|吃不了|"
        r"喝不了|不能吃|不能喝|碰不得)$",
        "constraint",
        "user.health",
        importance=8,
    ),
)
