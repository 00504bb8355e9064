"""A mechanism whose drivers stand still."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from bellcrank.mechanism.constraints import constraints_of
from bellcrank.program.functions import rebuild
from bellcrank.program.graph import Graph, ParameterGraph
from bellcrank.program.program import Program
from bellcrank.program.trace import Expr, Scalar

if TYPE_CHECKING:
    from bellcrank.mechanism import Mechanism


def frozen(mechanism: Mechanism, t: float) -> Mechanism:
    """The mechanism with every driver held at its value at time `t`."""
    if not mechanism.system.drivers:
        return mechanism
    system = copy.copy(mechanism.system)
    system.drivers = {
        name: replace(driver, function=_held(driver.function, t, system.parameters.graph))
        for name, driver in system.drivers.items()
    }
    constraints = constraints_of(system, mechanism.tree, mechanism.linkage)
    return replace(mechanism, system=system, mechanics=replace(mechanism.mechanics, constraints=constraints))


def _held(function: Callable[..., Scalar], t: float, parameters: ParameterGraph) -> Callable[..., Scalar]:
    clock = Graph().input("t.")
    value = clock.graph.bring(function(clock))
    if not isinstance(value, Expr):
        return lambda _: value
    known: dict[int, Scalar] = {}
    inputs = [e for e in clock.graph.nodes if e.op == "input"]
    for e in inputs:
        known[e.id] = t if e is clock else parameters.input(e.args[0])
    for node in Program.of(inputs, [value]).operations:
        known[node.id] = rebuild(node.op, [known[a.id] if isinstance(a, Expr) else a for a in node.args])
    held = known[value.id]
    return lambda _: held
