"""A state in parts, what differs between two, the tree of a thread, and what it keeps."""

import json
import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.checkpoint import Node, Retention, ancestors, lineage
from app.domain.difference import differences, same
from app.domain.packing import pack, unpack
from app.domain.snapshot import join, split

scalars = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(max_size=20)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
states = st.dictionaries(st.text(max_size=20), values, max_size=6)


def written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def enlarged(state: dict[str, Any], seed: int) -> dict[str, Any]:
    """The state with containers around it that are large enough to be cut."""
    many = [[number, f"项目 {number * seed}" * 8] for number in range(120)]
    deep = {f"k{n}": {"text": "x" * n, "rest": many[n]} for n in range(90)}
    return {"state": state, "many": [*many, state], "deep": deep, "long": "长" * 9000}


@given(states)
def test_a_small_state_is_its_document(state: dict[str, Any]) -> None:
    snapshot = split(state)
    assert written(join(snapshot.document, snapshot.parts)) == written(state)


@settings(max_examples=20, deadline=None)
@given(states, st.integers(1, 10_000))
def test_a_large_state_is_joined_exactly_as_it_was_and_in_its_order(state: dict[str, Any], seed: int) -> None:
    large = enlarged(state, seed)
    snapshot = split(large)
    assert snapshot.parts
    assert written(join(snapshot.document, snapshot.parts)) == written(large)


# Always the same examples: where runs end is a matter of chance, and of some ten thousand states one has few ends.
@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.integers(0, 199), st.integers(0, 10_000))
def test_a_change_in_one_place_makes_few_new_parts(place: int, seed: int) -> None:
    choose = random.Random(seed)
    rows = [{"n": number, "text": f"{choose.random()} " * 20} for number in range(200)]
    before = split({"rows": rows}).parts
    changed = split({"rows": [*rows[:place], {"n": place, "text": "new " * 80}, *rows[place + 1 :]]}).parts
    inserted = split({"rows": [*rows[:place], {"n": -1, "text": "new"}, *rows[place:]]}).parts
    whole = sum(map(len, before.values()))
    for after in (changed, inserted):
        assert sum(len(part) for name, part in after.items() if name not in before) < whole / 4


def applied(value: Any, path: str, op: str, new: Any) -> Any:
    """One operation of a JSON Patch, on a copy."""
    if not path:
        return new
    *way, last = [part.replace("~1", "/").replace("~0", "~") for part in path[1:].split("/")]
    whole = json.loads(json.dumps(value))
    target = whole
    for part in way:
        target = target[int(part)] if isinstance(target, list) else target[part]
    if isinstance(target, list):
        if op == "remove":
            del target[int(last)]
        elif op == "add":
            target.insert(int(last), new)
        else:
            target[int(last)] = new
    elif op == "remove":
        del target[last]
    else:
        target[last] = new
    return whole


@settings(max_examples=60, deadline=None)
@given(values, values)
def test_differences_applied_to_the_one_give_the_other(before: Any, after: Any) -> None:
    made = before
    for difference in differences(before, after):
        made = applied(made, difference.path, difference.op, difference.after)
    assert same(made, after)


@given(values)
def test_a_value_does_not_differ_from_itself(value: Any) -> None:
    assert list(differences(value, json.loads(json.dumps(value)))) == []


def test_true_is_not_one() -> None:
    (difference,) = differences({"a": [1]}, {"a": [True]})
    assert (difference.op, difference.path, difference.before, difference.after) == ("replace", "/a/0", 1, True)


@given(st.binary(max_size=2000))
def test_packed_bytes_come_back(data: bytes) -> None:
    assert unpack(*pack(data)) == data


def test_only_what_shrinks_is_compressed() -> None:
    assert pack(b"a" * 2000)[0] == "zlib"
    assert pack(b"a" * 100) == (None, b"a" * 100)
    noise = random.Random(1).randbytes(2000)
    assert pack(noise) == (None, noise)


def tree_of(choices: list[tuple[int, bool]]) -> list[Node]:
    """A thread in which each checkpoint comes from an older one, from none (-1), or from one that is gone."""
    nodes = []
    for number, (choice, labelled) in enumerate(choices):
        parent = str(choice) if 0 <= choice < number else None if choice == -1 else "gone"
        nodes.append(Node(str(number), parent, number + 1, "kept" if labelled else None))
    return nodes


trees = st.lists(st.tuples(st.integers(-2, 11), st.booleans()), max_size=12).map(tree_of)


@given(trees)
def test_every_checkpoint_of_a_tree_is_a_root_or_somebodys_child(nodes: list[Node]) -> None:
    tree = lineage(nodes)
    children = [child for of_one in tree.children.values() for child in of_one]
    assert sorted([*children, *tree.roots]) == sorted(node.id for node in nodes)
    assert sorted(tree.heads) == sorted(node.id for node in nodes if not tree.children[node.id])
    for node in nodes:
        path = ancestors(nodes, node.id)
        assert path[-1] == node.id
        assert path[0] in tree.roots
        assert len(path) == tree.depths[node.id] + 1


@given(trees, st.integers(0, 15), st.booleans())
def test_retention_keeps_the_newest_and_what_has_a_label(nodes: list[Node], last: int, labelled: bool) -> None:
    gone = set(Retention(last, labelled).surplus(nodes))
    newest = {node.id for node in nodes[len(nodes) - min(last, len(nodes)) :]}
    for node in nodes:
        kept = node.id in newest or (labelled and node.label is not None)
        assert (node.id in gone) is not kept


def test_without_a_number_everything_is_kept() -> None:
    assert Retention().surplus([Node(str(n), None, n) for n in range(5)]) == []
    assert (Retention().slack, Retention(5).slack, Retention(100).slack) == (0, 0, 10)
