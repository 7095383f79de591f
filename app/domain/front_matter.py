"""A procedure as a Markdown file: YAML front matter between two lines of ---, then the body (the form of SKILL.md)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

_FILE: Final = re.compile(
    r"\A\ufeff?---[ \t]*\r?\n(?P<head>.*?)^---[ \t]*(?:\r?\n|\Z)(?P<body>.*)\Z", re.DOTALL | re.MULTILINE
)
_UNFIT: Final = re.compile(r"[^\w.-]+")
LONGEST_SLUG: Final = 60
LONGEST_HEAD: Final = 50_000
"""Characters of front matter that are read: the reader is a slow one."""


class FrontMatterFault(ValueError):  # noqa: N818 - a state of the file, told to its author
    """Why a file cannot be read, in words for its author."""


@dataclass(frozen=True, slots=True)
class Document:
    """A file's fields, every scalar as it is written, and its body."""

    fields: Mapping[str, Any] = field(default_factory=dict)
    body: str = ""


class _Plain(yaml.BaseLoader):  # type: ignore[misc]  # the library has no types
    """Scalars stay texts (a version 1.10 is no number), and an alias, which may stand for far more, is refused."""

    def compose_node(self, parent: Any, index: Any) -> Any:  # noqa: ANN401 - the library's own types
        if self.check_event(yaml.events.AliasEvent):
            raise FrontMatterFault("aliases (*name) are not read")
        return super().compose_node(parent, index)


def read(text: str) -> Document:
    """The front matter and the body of a file.

    Raises:
        FrontMatterFault: There is none, or it is not a mapping in YAML.
    """
    found = _FILE.match(text)
    if found is None:
        raise FrontMatterFault("the file must begin with front matter between two lines of ---")
    if len(found["head"]) > LONGEST_HEAD:
        raise FrontMatterFault(f"the front matter has more than {LONGEST_HEAD} characters")
    try:
        fields = yaml.load(found["head"], Loader=_Plain)  # noqa: S506 - it makes nothing but texts, lists, mappings
    except (yaml.YAMLError, RecursionError) as error:
        raise FrontMatterFault(f"the front matter is not YAML ({type(error).__name__})") from error
    if fields is None or fields == "":
        fields = {}
    if not isinstance(fields, dict) or not all(isinstance(name, str) for name in fields):
        raise FrontMatterFault("the front matter must be a mapping of names to values")
    return Document(fields, found["body"])


def written(document: Document) -> str:
    """The file of a document; reading it gives the document again."""
    head = yaml.safe_dump(
        dict(document.fields), allow_unicode=True, sort_keys=False, default_flow_style=False, width=10_000
    )
    return f"---\n{head}---\n{document.body}"


def slug(title: str) -> str:
    """A title as a name of a folder, in any script."""
    return _UNFIT.sub("-", title.lower())[:LONGEST_SLUG].strip("-.") or "procedure"
