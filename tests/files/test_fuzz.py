"""Model files with every section, damaged in any place: read, or refused with a sentence and a place."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bellcrank.errors import BellcrankError
from bellcrank.files import dumps, loads

from .test_completeness import CONTINUOUS, described, pairs, touching, two_calls

TOKENS: tuple[Any, ...] = (
    *(
        "",
        "0",
        "-1",
        "1e400",
        "nan",
        "t",
        "pi",
        "one",
        "ground",
        "new",
        "p",
        "a.b",
        "[",
        "1 +",
        "sin(",
        "x" * 300,
    ),
    *(
        0,
        -1,
        1e308,
        5e-324,
        2**70,
        True,
        None,
        [],
        {},
        [[]],
        [1, 2, 3],
        {"kind": "sphere"},
        {"let": {}, "value": 1},
    ),
    *("position_x", "length ^ length ^ length", "if(t > 0, 1, 2)", "1 / (t - t)", "é", "kind", "\x07"),
)


@pytest.fixture(scope="module")
def trees() -> list[Any]:
    """Files that show every second argument of all methods that describe something."""
    systems = [described(m, two_calls(m, a)[1]) for m, a in pairs()[::2]]
    systems += [touching(argument, calls[1]) for argument, calls in CONTINUOUS.items()]
    return [yaml.safe_load(dumps(system)) for system in systems]


def places(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """All places of a tree."""
    found = [path]
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        found += places(value, (*path, key))
    return found


def at(tree: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def reading(text: str) -> tuple[str | None, str]:
    """What is written of what was read, or why it was refused; any other error is one of ours."""
    try:
        return dumps(loads(text)), ""
    except BellcrankError as error:
        return None, str(error).strip()


@settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_damaged_trees_are_read_or_refused(trees: list[Any], data: st.DataObject) -> None:
    tree = copy.deepcopy(data.draw(st.sampled_from(trees)))
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from([p for p in places(tree) if p] or [()]))
        if not path:
            break
        parent, key = at(tree, path[:-1]), path[-1]
        match data.draw(st.integers(0, 4)):
            case 0:
                del parent[key]
            case 1:
                other = data.draw(st.sampled_from(places(tree)))
                parent[key] = copy.deepcopy(at(tree, other))
            case 2 if isinstance(parent, dict):
                parent[str(data.draw(st.sampled_from(TOKENS)))] = parent.pop(key)
            case _:
                parent[key] = copy.deepcopy(data.draw(st.sampled_from(TOKENS)))
    text = yaml.safe_dump(tree, allow_unicode=True)
    read, said = reading(text)
    assert said if read is None else dumps(loads(read)) == read
