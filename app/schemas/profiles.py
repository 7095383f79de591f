"""Profiles in answers."""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from app.domain.memory import Category, Source
from app.domain.profile import ProfilePart
from app.schemas.fields import ResponseModel
from app.schemas.memories import MemorySource


class ProfileFact(ResponseModel):
    """A fact that the user stated, or that somebody confirmed."""

    memory_id: str
    text: str
    category: Category
    key: str | None
    value: Any
    source: Source
    confirmed: bool = Field(description="Whether somebody vouched for it")
    confidence: float
    disputed: bool = Field(description="Whether another fact says otherwise and nobody has decided yet")
    since: datetime = Field(description="From when it holds")
    evolution: str | None = Field(description="What was so before, where a dream has noted it")
    sources: list[MemorySource]


class ProfileSection(ResponseModel):
    """Facts about one thing."""

    name: ProfilePart
    title: str = Field(description="In the user's language")
    facts: list[ProfileFact]


class Insight(ResponseModel):
    """What reflection concluded: no fact, and no evidence for one."""

    memory_id: str
    text: str
    method: Literal["counted", "llm"] = Field(description="counted: a pattern in numbers; llm: a model's conclusion")
    confidence: float
    based_on: list[str] = Field(description="The memories that it was concluded from")
    created_at: datetime
    sources: list[MemorySource]


class Profile(ResponseModel):
    """Who a user is, by what the user said."""

    user_id: str
    language: Literal["zh", "en"] = Field(description="Of the headings: that of most memories")
    sections: list[ProfileSection] = Field(description="Those that have something to say")
    insights: list[Insight]
    text: str = Field(description="The same as Markdown, insights under a heading of their own")
    truncated: bool = Field(description="Whether there are more facts than the profile shows")
