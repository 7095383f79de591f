"""placeholder"""
from dataclasses import dataclass
from datetime import datetime
from typing import Any
@dataclass(frozen=True, slots=True)
class AskedTime:
    since: datetime | None
    until: datetime | None
    matched: str
def asked_time(text: str, now: datetime, zone: Any) -> AskedTime | None:
    return None
def asks_for_latest(text: str) -> bool:
    return False
def time_match(period: AskedTime, occurred_at: datetime) -> float:
    return 0.0
