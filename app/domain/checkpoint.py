"""Checkpoints of a thread: which come from which, and which are kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Node:
    """A checkpoint as its thread has it: positions ascend in the order of creation."""

    id: str
    parent_id: str | None
    position: int
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Retention:
    """What a thread keeps.

    Args:
        keep_last: The newest so many; None keeps all.
        keep_labelled: Those with a label too, however old.
    """

    keep_last: int | None = None
    keep_labelled: bool = True

    def surplus(self, nodes: Sequence[Node]) -> list[str]:
        """The ids of those that go, oldest first."""
        if self.keep_last is None:
            return []
        newest = sorted(nodes, key=lambda node: node.position, reverse=True)
        gone = [node for node in newest[self.keep_last :] if not (self.keep_labelled and node.label is not None)]
        return [node.id for node in reversed(gone)]

    @property
    def slack(self) -> int:
        """How many may be there too many before they are looked for: looking costs as much as there are."""
        return 0 if self.keep_last is None else self.keep_last // 10


@dataclass(frozen=True, slots=True)
class Lineage:
    """The tree of a thread.

    Args:
        depths: How many ancestors each checkpoint has that are still there, by id.
        children: The ids that come directly from each, oldest first.
        roots: Those whose parent is not there: they have none, or it was deleted.
        heads: Those that nothing comes from.
    """

    depths: Mapping[str, int]
    children: Mapping[str, Sequence[str]]
    roots: Sequence[str]
    heads: Sequence[str]


def lineage(nodes: Sequence[Node]) -> Lineage:
    """The tree of some checkpoints, each list in the order of creation."""
    ordered = sorted(nodes, key=lambda node: node.position)
    depths: dict[str, int] = {}
    children: dict[str, list[str]] = {node.id: [] for node in ordered}
    roots: list[str] = []
    for node in ordered:  # a parent is older than its children
        if node.parent_id in depths and node.parent_id is not None:
            depths[node.id] = depths[node.parent_id] + 1
            children[node.parent_id].append(node.id)
        else:
            depths[node.id] = 0
            roots.append(node.id)
    return Lineage(depths, children, roots, [node.id for node in ordered if not children[node.id]])


def ancestors(nodes: Sequence[Node], checkpoint_id: str) -> list[str]:
    """A checkpoint and what it comes from, oldest first, as far back as there are rows."""
    parents = {node.id: node.parent_id for node in nodes}
    path: list[str] = []
    current: str | None = checkpoint_id
    while current is not None and current in parents:
        path.append(current)
        current = parents[current]
    return path[::-1]
