"""Parameters that drivers follow as inputs: with their rates, so that bodies that they move have speeds.

A driver differentiates its function twice. In the place of an input comes a cubic polynomial of time, which
``signals.c`` leads: in model exchange through value, rate and acceleration as they are set, in a step of co-simulation
from where it is, without a jump of its speed, to where these lead at the end of the step.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from bellcrank.errors import ModelError
from bellcrank.mechanism import Mechanism
from bellcrank.mechanism.constraints import constraints_of
from bellcrank.model.drivers import Driver
from bellcrank.model.parameters import Parameter, names_in
from bellcrank.program.functions import rebuilt
from bellcrank.program.graph import Graph
from bellcrank.program.trace import Expr, Scalar


@dataclass(frozen=True)
class Signal:
    """An input of drivers; the names of the parameters that it has."""

    value: str

    @property
    def given(self) -> tuple[str, str, str]:
        """What the other program sets: itself, rate and acceleration."""
        return self.value, f"{self.value} rate", f"{self.value} acceleration"

    @property
    def led(self) -> tuple[str, str, str, str, str]:
        """The polynomial: when it begins [s], and its derivatives there, from the value on."""
        return (f"{self.value} since", *(f"{self.value} led {k}" for k in range(4)))  # type: ignore[return-value]


def signals_of(mechanism: Mechanism, inputs: Sequence[str]) -> list[Signal]:
    """The inputs that drivers follow."""
    clock = Graph().input("t.")
    used = {name for driver in mechanism.system.drivers.values() for name in names_in(driver.function(clock))}
    return [Signal(name) for name in inputs if name in used]


def moving(mechanism: Mechanism, signals: Sequence[Signal]) -> Mechanism:
    """The mechanism with these inputs of its drivers in motion, its start as it was."""
    if not signals:
        return mechanism
    system = copy.copy(mechanism.system)
    table = system.parameters = mechanism.system.parameters.copied()
    polynomials: dict[str, Callable[[Scalar], Scalar]] = {}
    for signal in signals:
        unit, start = table[signal.value].unit, mechanism.start.t
        added = [
            Parameter(name, 0.0, f"{unit}/{per}" if unit else "")
            for name, per in zip(signal.given[1:], ("s", "s^2"), strict=True)
        ]
        first = (start, table[signal.value].value, 0.0, 0.0, 0.0)
        added += [Parameter(name, x, internal=True) for name, x in zip(signal.led, first, strict=True)]
        for parameter in added:
            if parameter.name in table:
                raise ModelError(
                    f"the input {signal.value!r} moves a driver, so its rates are inputs as well, and there is a "
                    f"parameter named {parameter.name!r} already; rename it"
                )
        _, _, since, *derivatives = map(table.add, added)
        polynomials[signal.value] = partial(_polynomial, since, derivatives)
    system.drivers = {
        name: replace(driver, function=_followed(driver, polynomials))
        for name, driver in system.drivers.items()
    }
    known = dict(zip(mechanism.mechanics.parameters, mechanism.parameter_values, strict=True))
    mechanics = replace(
        mechanism.mechanics,
        constraints=constraints_of(system, mechanism.tree, mechanism.linkage),
        parameters=tuple(table),
    )
    values = tuple(known.get(name, parameter.value) for name, parameter in table.items())
    return replace(mechanism, system=system, mechanics=mechanics, parameter_values=values)


def _polynomial(since: Scalar, derivatives: Sequence[Scalar], t: Scalar) -> Scalar:
    """Taylor's, by Horner."""
    total: Scalar = 0.0
    for k in reversed(range(len(derivatives))):
        total = derivatives[k] + total * (t - since) * (1.0 / (k + 1))
    return total


def _followed(
    driver: Driver, polynomials: dict[str, Callable[[Scalar], Scalar]]
) -> Callable[[Scalar], Scalar]:
    """The function of a driver with inputs in motion."""

    def function(t: Scalar) -> Scalar:
        value = driver.function(t)
        if not isinstance(value, Expr):
            return value
        graph = t.graph if isinstance(t, Expr) else value.graph
        value = graph.bring(value)

        def leaf(name: str) -> Scalar:
            return graph.bring(polynomials[name](t)) if name in polynomials else graph.input(name)

        return rebuilt(value, leaf, {}) if isinstance(value, Expr) else value

    return function
