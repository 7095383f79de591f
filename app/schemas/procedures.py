"""Procedures in requests and answers: how something is done, written by people, loaded when a task needs it."""

from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from app.domain.procedure import Outcome, ProcedureStatus
from app.schemas.fields import Id, MessageText, Redactions, RequestModel, ResponseModel, ShortText
from app.schemas.lessons import Lesson

MAX_FILES = 100
MAX_LISTED = 15_000
"""Characters of all steps, and of all examples: they stand in the front matter; what is longer belongs in the body."""


def _one_line(text: str) -> str:
    if "\n" in text or "\r" in text:
        raise ValueError("a title is one line")
    if not text.strip():
        raise ValueError("must not be blank")
    return text.strip()


def _relative(path: str) -> str:
    parts = path.split("/")
    if not path.endswith(".md") or any(part in {"", ".", ".."} for part in parts) or "\\" in path:
        raise ValueError("a relative path to a .md file is needed, such as web-scraping/SKILL.md")
    return path


def _short_list(items: list[Any]) -> list[Any]:
    texts = [item if isinstance(item, str) else item.input + item.output for item in items]
    if sum(map(len, texts)) > MAX_LISTED:
        raise ValueError(f"more than {MAX_LISTED} characters together: longer ones belong in the body")
    return items


Title = Annotated[
    ShortText,
    StringConstraints(min_length=1, max_length=200),
    AfterValidator(_one_line),
    Field(examples=["Scrape a page"]),
]
WhenToUse = Annotated[
    MessageText,
    StringConstraints(min_length=1, max_length=2000, strip_whitespace=True),
    Field(description="The tasks that it is for: by this it is found"),
]
Tags = Annotated[list[Annotated[Id, StringConstraints(max_length=100)]], Field(max_length=50)]
Steps = Annotated[
    list[ShortText],
    Field(max_length=200, description="The steps by themselves, where programs need them"),
    AfterValidator(_short_list),
]
FilePath = Annotated[Id, AfterValidator(_relative)]


class Example(RequestModel):
    """A few-shot example."""

    input: MessageText
    output: MessageText


Examples = Annotated[list[Example], Field(max_length=50), AfterValidator(_short_list)]


class ProcedureContent(RequestModel):
    """What a procedure says."""

    title: Title
    when_to_use: WhenToUse
    body: MessageText = Field("", description="Markdown")
    steps: Steps = Field(default_factory=list)
    examples: Examples = Field(default_factory=list)
    tags: Tags = Field(default_factory=list)
    status: ProcedureStatus = Field("published", description="A draft is found by nobody until a person publishes it")


class ProcedureScope(RequestModel):
    """Whose procedures: a user's, an agent's, an app's, or with `shared` everybody's."""

    user_id: Id | None = None
    agent_id: Id | None = None
    app_id: Id | None = None
    shared: bool = Field(default=False, description="Owned by the whole tenant; needs the scope shared:write")

    @model_validator(mode="after")
    def _one_owner(self) -> Self:
        if self.shared and (self.user_id or self.agent_id or self.app_id):
            raise ValueError("what is shared belongs to no user, agent or app")
        return self


class ProcedureCreate(ProcedureContent, ProcedureScope):
    """A new procedure."""

    model_config = RequestModel.model_config | {
        "json_schema_extra": {
            "examples": [
                {
                    "title": "Scrape a page",
                    "when_to_use": "Prices or texts are to be read from web pages.",
                    "body": "1. Set a browser's User-Agent.\n2. Wait a second between requests.\n",
                    "tags": ["web"],
                    "agent_id": "researcher",
                }
            ]
        }
    }


class ProcedureChange(RequestModel):
    """What may be changed; absent fields stay as they are."""

    title: Title | None = None
    when_to_use: WhenToUse | None = None
    body: MessageText | None = None
    steps: Steps | None = None
    examples: Examples | None = None
    tags: Tags | None = None
    status: ProcedureStatus | None = None
    version: int | None = Field(None, ge=1, description="Compare-and-set, like If-Match")

    model_config = RequestModel.model_config | {"json_schema_extra": {"examples": [{"status": "published"}]}}

    @model_validator(mode="after")
    def _changes_something(self) -> "ProcedureChange":
        named = self.model_fields_set - {"version"}
        if not named:
            raise ValueError("name at least one field to change")
        for name in sorted(named):
            if getattr(self, name) is None:
                raise ValueError(f"{name} cannot be null")
        return self


class ProcedureCard(ResponseModel):
    """A procedure as lists have it: enough to know whether to load it."""

    id: str
    title: str
    when_to_use: str
    tags: list[str]
    status: ProcedureStatus
    user_id: str | None
    agent_id: str | None
    app_id: str | None
    shared: bool
    success_count: int
    failure_count: int
    success_rate: float = Field(description="Expected by Laplace's rule: 0.5 where it was never tried")
    path: str = Field(description="The name of its file in an export")
    version: int
    created_at: datetime
    updated_at: datetime


class Procedure(ProcedureCard):
    """A whole procedure."""

    body: str
    steps: list[str]
    examples: list[dict[str, str]]
    lesson_id: str | None = Field(description="The lesson from whose repeated success it was drafted")
    redacted: Redactions = Field(default_factory=list)


class ProcedureVersion(ResponseModel):
    """What a procedure said."""

    version: int
    title: str
    when_to_use: str
    body: str
    steps: list[str]
    examples: list[dict[str, Any]]
    tags: list[str]
    status: ProcedureStatus
    actor: str
    created_at: datetime


class OutcomeReport(RequestModel):
    """How it went when this was followed."""

    outcome: Outcome
    note: ShortText | None = Field(None, description="Kept in the history")

    model_config = RequestModel.model_config | {"json_schema_extra": {"examples": [{"outcome": "success"}]}}


class MatchRequest(RequestModel):
    """A task that is about to be done, and by whom. Levels above (app, agent, tenant) are always looked at."""

    task: MessageText = Field(min_length=1)
    user_id: Id | None = None
    agent_id: Id | None = None
    app_id: Id | None = None
    limit: int = Field(5, ge=1, le=20, description="Procedures, and as many lessons")

    model_config = RequestModel.model_config | {
        "json_schema_extra": {"examples": [{"task": "Get the prices from a shop's website", "agent_id": "researcher"}]}
    }


class MatchedProcedure(ProcedureCard):
    """A procedure that fits a task."""

    relevance: float


class MatchedLesson(Lesson):
    """A lesson that fits a task."""

    relevance: float


class Matches(ResponseModel):
    """What helps with a task."""

    lessons: list[MatchedLesson] = Field(description="What failed before comes first, then by success")
    procedures: list[MatchedProcedure] = Field(description="The body is read by id")
    degraded: list[str] = Field(description="What was missing: embedding")


class ProcedureFile(RequestModel):
    """A Markdown file with front matter: name or title, description or when_to_use, tags, steps, examples, status."""

    path: FilePath = Field(description="Its name in the folder", examples=["web-scraping/SKILL.md"])
    content: MessageText


class ProcedureImport(ProcedureScope):
    """A folder of Markdown files; a path that is there already becomes a new version."""

    files: list[ProcedureFile] = Field(min_length=1, max_length=MAX_FILES)

    model_config = RequestModel.model_config | {
        "json_schema_extra": {
            "examples": [
                {
                    "agent_id": "researcher",
                    "files": [
                        {
                            "path": "web-scraping/SKILL.md",
                            "content": "---\nname: web-scraping\ndescription: Read web pages.\n---\n# Steps\n",
                        }
                    ],
                }
            ]
        }
    }

    @model_validator(mode="after")
    def _once_each(self) -> "ProcedureImport":
        if len({one.path for one in self.files}) < len(self.files):
            raise ValueError("each path may stand once")
        return self


class ImportedProcedure(ResponseModel):
    """What became of a file."""

    path: str
    id: str
    version: int
    result: str = Field(description="created, updated, or unchanged")
    redacted: Redactions = Field(default_factory=list)


class ImportedProcedures(ResponseModel):
    """What became of the files, in their order."""

    results: list[ImportedProcedure]
    degraded: list[str] = Field(default_factory=list)


class ExportedFile(ResponseModel):
    """A file of an export."""

    path: str
    content: str
