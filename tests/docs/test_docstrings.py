"""The docstrings of the front door name every argument; those of what is measured carry units."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import bellcrank as bc
from bellcrank.base.provided import provided
from bellcrank.run.simulation import simulate

UNSAID = {"self", "name", "options"}
"""Every object has a name; options are those of the function that the docstring points to."""
SAME = re.compile(r"[Aa]s for")
CLASSES = (bc.System, bc.Body, bc.Event, bc.Controller, bc.Result, bc.State, bc.Study)
FUNCTIONS = (
    bc.analyse,
    bc.simulate_many,
    bc.resume,
    bc.load_result,
    bc.linear_table,
    bc.smooth_table,
    simulate,
)
MEASURED = {
    *(
        "mass",
        "inertia",
        "at",
        "radius",
        "stiffness",
        "damping",
        "duration",
        "step",
        "max_step",
        "free_length",
    ),
    *("half_length", "period", "offset", "angle", "pitch", "t", "q", "u"),
}
UNIT = re.compile(r"\[[^\]]+\]|seconds")


def front_door() -> Iterator[tuple[str, Callable[..., Any]]]:
    for function in FUNCTIONS:
        yield function.__name__, function
    for owner in CLASSES:
        if owner not in (bc.Body, bc.Result):
            yield owner.__name__, owner
        for name, member in inspect.getmembers(owner, inspect.isfunction):
            if not name.startswith("_"):
                yield f"{owner.__name__}.{name}", member


DOOR = dict(front_door())
BY_FUNCTION = {
    "System.simulate": "simulate",
    "System.simulate_many": "simulate many",
    "System.equilibrium": "equilibrium",
    "System.linearize": "linearize",
    "System.kinematics": "kinematics",
    "System.inverse_dynamics": "inverse dynamics",
    "System.sensitivity": "sensitivity",
    "System.mechanism": "analyse",
}
"""Methods that are services, with their names."""


@pytest.mark.parametrize("name", DOOR)
def test_every_argument_is_told(name: str) -> None:
    doc = inspect.getdoc(DOOR[name])
    assert doc, f"{name} has no docstring"
    # A method that is a function of another folder leaves its arguments to that one.
    if name in BY_FUNCTION:
        doc += inspect.getdoc(provided(BY_FUNCTION[name])) or ""
    wanted = set(inspect.signature(DOOR[name]).parameters) - UNSAID
    untold = [word for word in sorted(wanted) if not re.search(rf"\b{word}\b", doc)]
    assert not untold, f"{name} does not say what {', '.join(untold)} are"
    if wanted & MEASURED and not SAME.search(doc):
        assert UNIT.search(doc), f"{name} tells no unit"
