"""One word for what is said in several ways: days and times of day, relatives, things with two common names.

Only words that mean the same wherever they stand are listed: 先生 may be a husband or any man, and "sat" no day.
"""

from typing import Final

# The first of each line stands for all.
_CHINESE: Final = """
周一 星期一 礼拜一
周二 星期二 礼拜二
周三 星期三 礼拜三
周四 星期四 礼拜四
周五 星期五 礼拜五
周六 星期六 礼拜六
周日 周天 星期日 星期天 礼拜日 礼拜天
早上 早晨 清晨 清早
晚上 夜晚 夜里 夜间
下午 午后
妻子 老婆 太太 媳妇
丈夫 老公
父亲 爸爸 爸 老爸 爹
母亲 妈妈 妈 老妈
岳父 老丈人 丈人
岳母 丈母娘
爷爷 祖父
奶奶 祖母
外公 姥爷 外祖父
外婆 姥姥 外祖母
女儿 闺女
孩子 小孩 娃 小孩子
哥哥 哥
姐姐 姐
弟弟 弟
妹妹 妹
医生 大夫
邮箱 电邮 电子邮箱 电子邮件
自行车 单车 脚踏车
西红柿 番茄
土豆 马铃薯
地址 住址
"""
_ENGLISH: Final = """
mother mom mum mommy mummy mama mam
father dad daddy papa
grandmother grandma granny nana
grandfather grandpa granddad grandad
child kid
children kids
tuesday tue tues
thursday thu thur thurs
friday fri
january jan
february feb
august aug
september sep sept
october oct
november nov
december dec
doctor dr
bicycle bike
television tv telly
refrigerator fridge
veterinarian vet
airplane aeroplane
email e-mail
"""

_STANDS_FOR: Final = {
    other: line.split()[0] for line in (_CHINESE + _ENGLISH).splitlines() for other in line.split()[1:]
}


def one_word(word: str) -> str:
    """The word that stands for this one, in lower case, and for those that mean the same."""
    return _STANDS_FOR.get(word, word)
