"""Roads: heights and friction as functions of place and time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from bellcrank.program.derive import directional
from bellcrank.program.graph import Graph
from bellcrank.program.subprogram import Subprogram
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


def place_subprograms(law: Callable[..., Scalar]) -> tuple[Subprogram, Subprogram]:
    """A function of place and time for many places: its value by (x, y, t), and its rate by these and a velocity.

    Both take the same parameters of the model after their own inputs.
    """

    def value(inputs: Sequence[Expr]) -> list[Scalar]:
        return [law(*inputs[:3])]

    def rate(inputs: Sequence[Expr]) -> list[Scalar]:
        found = law(*inputs[:3])
        if not isinstance(found, Expr):
            return [0.0]
        place = inputs[:3]
        velocity: Sequence[Scalar] = (*inputs[3:], 1.0)
        found = inputs[0].graph.bring(found)
        return directional([found], {one.id: v for one, v in zip(place, velocity, strict=True)})

    return Subprogram.traced("road", 3, value), Subprogram.traced("moving road", 5, rate)
