"""Roads: heights and friction as functions of place and time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from bellcrank.program.derive import directional
from bellcrank.program.graph import Graph
from bellcrank.program.trace import Expr, Scalar

if TYPE_CHECKING:
    from bellcrank.mechanics.forces import Acting

ARGUMENTS = ("x", "y", "t")


def place_function(
    act: Acting, law: Callable[..., Scalar] | None, x: Scalar, y: Scalar
) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """A function of place and time, and its exact derivatives by x, y and t."""
    if law is None:
        return 0.0, 0.0, 0.0, 0.0
    small = Graph()
    inputs = [small.input(f"{name}.") for name in ARGUMENTS]
    value = law(*inputs)
    if not isinstance(value, Expr):
        return value, 0.0, 0.0, 0.0
    value = small.bring(value)
    outputs = [value, *(directional([value], {one.id: 1.0})[0] for one in inputs)]
    found = act.substituted(outputs, dict(zip((one.id for one in inputs), (x, y, act.t), strict=True)))
    return found[0], found[1], found[2], found[3]
