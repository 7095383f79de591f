"""Things that are told apart by a number: what is true of invoice 1001 says nothing of invoice 1002."""

import re
from typing import Final

from app.core.text.normal import normalise

_THINGS: Final = "|".join(
    """
    invoice bill receipt order purchase parcel package shipment delivery contract policy claim account payment
    ticket issue bug incident case task job story request question exercise
    pull\\srequest pr mr commit build release\\scandidate
    flight train bus tram line gate platform seat desk table
    room building floor house flat apartment unit block warehouse shelf
    server node host machine replica shard disk port channel camera sensor printer
    chapter section page figure lesson episode season volume part appendix
    batch lot sprint phase stage step milestone round team group patient student candidate
    """.split()  # noqa: SIM905 - words
)
_HAN_THINGS: Final = "|".join(
    """
    发票 账单 收据 订单 包裹 快递 运单 合同 保单 账户 工单 缺陷 问题 事故 案件 任务 请求 题目 航班 列车 车次
    公交 地铁 房间 楼 服务器 节点 主机 机器 副本 分片 磁盘 端口 打印机 摄像头 传感器
    批次 迭代 阶段 步骤 小组 病人 学生 提交 构建
    """.split()  # noqa: SIM905 - words
)
_HAN_COUNTED: Final = "章|节|页|课|集|季|卷|期|单元|部分|阶段|步|组|队|题|批|轮|号|版"
_OWN: Final = "(?:用户的?|我们?的?|这个?|那个?)?"
_CODE: Final = r"[a-z]{0,4}-?\d[\w-]*"

_SUBJECT: Final = re.compile(
    rf"^\W*(?:(?:the|my|our|this|that|your|her|his|their)\s)?(?:[a-z]+\s)?(?P<thing>{_THINGS})\s"
    rf"(?:no\.?\s?|number\s)?\#?(?P<code>{_CODE})(?=\s)"
    rf"|^\W*{_OWN}(?P<han>{_HAN_THINGS})\s?(?:号|编号|no\.?)?\s?\#?(?P<han_code>{_CODE}|\d+)"
    rf"|^\W*{_OWN}第\s?(?P<count>\d+)\s?(?P<counted>{_HAN_COUNTED})"
    rf"|^\W*{_OWN}(?P<first>\d+)\s?号(?P<behind>{_HAN_THINGS}|线|机|库|桌|院|房|门|厅|会议室|车)",
    re.IGNORECASE,
)


def numbered_subject(text: str) -> tuple[str, str] | None:
    """What a sentence is about, where that is one of many that have numbers: its noun and its number; else None.

    The number must stand in the sentence's subject: a meeting "in room 5" that is then "in room 6" has moved.
    """
    found = _SUBJECT.match(normalise(text))
    if found is None:
        return None
    thing = found["thing"] or found["han"] or found["counted"] or found["behind"]
    code = found["code"] or found["han_code"] or found["count"] or found["first"]
    return thing, code


def about_others(new: str, old: str) -> bool:
    """Whether two sentences are about two things of one sort, and the new one does not speak of the old one's too."""
    mine, its = numbered_subject(new), numbered_subject(old)
    if mine is None or its is None or mine == its:
        return False
    return re.search(rf"(?<!\w){re.escape(its[1])}(?!\w)", normalise(new), re.ASCII) is None
