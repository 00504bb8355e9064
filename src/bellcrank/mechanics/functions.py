"""Functions of the user inside a trace, with their derivatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.program.derive import directional
from bellcrank.program.functions import rebuild
from bellcrank.program.graph import Graph
from bellcrank.program.trace import Expr, Scalar


def time_rates(
    function: Callable[[Scalar], Scalar], t: Scalar, kin: Kinematics
) -> tuple[Scalar, Scalar, Scalar]:
    """f(t), f'(t), f''(t) of a user's function of time, exactly."""
    clock = Graph().input("t.")
    value = function(clock)
    if not isinstance(value, Expr):
        return float(value), 0.0, 0.0
    value = clock.graph.bring(value)
    rate = directional([value], {clock.id: 1.0})[0]
    second = directional([rate], {clock.id: 1.0})[0]
    values = substituted([value, rate, second], {clock.id: t}, kin)
    return values[0], values[1], values[2]


def substituted(outputs: Sequence[Scalar], inputs: Mapping[int, Scalar], kin: Kinematics) -> list[Scalar]:
    """Outputs of a small graph with some inputs replaced; the others are parameters of the model."""
    memo: dict[int, Scalar] = dict(inputs)

    def value(e: Scalar) -> Scalar:
        if not isinstance(e, Expr):
            return e
        if e.id not in memo:
            if e.op == "input":
                memo[e.id] = kin.parameter(e.args[0])
            else:
                memo[e.id] = rebuild(e.op, [value(a) if isinstance(a, Expr) else a for a in e.args])
        return memo[e.id]

    return [value(e) for e in outputs]
