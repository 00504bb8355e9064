"""Named quantities from many states at once, as machine code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bellcrank.batch.lanes import LANES
from bellcrank.mechanism import Mechanism
from bellcrank.program.evaluate import evaluate
from bellcrank.program.kernel import Kernel, compile_program
from bellcrank.program.made import Table
from bellcrank.program.program import Program
from bellcrank.program.trace import Scalar
from bellcrank.quantities.multipliers import Multipliers
from bellcrank.quantities.quantities import Quantities
from bellcrank.quantities.snapshot import Snapshot
from bellcrank.result.result import Result

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Readout:
    """The chosen quantities: their names, units, shapes and places in the output of `kernel`."""

    mechanism: Mechanism
    snapshot: Snapshot
    names: tuple[str, ...]
    units: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    multipliers: Multipliers | None
    program: Program
    kernel: Kernel

    def rows(self, t: Array, q: Array, u: Array, du: Array, p: Array, contacts: Array | None = None) -> Array:
        """One row of numbers for every state given; contacts: their forces, as a result holds them."""
        return self.kernel.many(self._inputs(t, q, u, du, p, contacts))

    def of(self, result: Result) -> Array:
        """One row of numbers for every output of a single run, with the rounding of its own quantities."""
        states = result.time, result.q, result.u, result.du, result.parameters
        return evaluate(self.program, self._inputs(*states, result.contact_forces).T).T

    def _inputs(self, t: Array, q: Array, u: Array, du: Array, p: Array, contacts: Array | None) -> Array:
        mu = np.zeros((len(t), len(self.snapshot.mu)))
        if contacts is None:
            contacts = np.zeros((len(t), len(self.snapshot.contact_inputs)))
        x = np.hstack([t[:, None], q, u, du, mu, p, contacts])
        if self.multipliers is not None:
            first = 1 + q.shape[1] + 2 * u.shape[1]
            x[:, first : first + mu.shape[1]] = self.multipliers.at(x.T).T
        return x

    @property
    def width(self) -> int:
        """Numbers a state."""
        return sum(int(np.prod(shape)) for shape in self.shapes)

    def split(self, values: Array) -> dict[str, Array]:
        """By name; the last axis of `values` is cut."""
        found, first = {}, 0
        for name, shape in zip(self.names, self.shapes, strict=True):
            size = int(np.prod(shape))
            found[name] = values[..., first : first + size].reshape(*values.shape[:-1], *shape)
            first += size
        return found


READOUTS: Table[tuple[str, ...], Readout] = Table("readouts")


def readout(mechanism: Mechanism, names: Sequence[str]) -> Readout:
    """Trace and compile the quantities `names`, once a mechanism."""
    return mechanism.compiled.once(READOUTS, tuple(names), lambda: _traced(mechanism, names))


def _traced(mechanism: Mechanism, names: Sequence[str]) -> Readout:
    m = mechanism
    snapshot = Snapshot(m.system, m.tree, m.mechanics)
    quantities = Quantities(snapshot)
    outputs: list[Scalar] = []
    units, shapes, needs = [], [], False
    for name in names:
        quantity, components = quantities.find(name)
        traced = list(quantity.trace())
        picked = traced if components is None else [traced[i] for i in components]
        outputs += picked
        units.append(quantity.unit)
        needs = needs or quantity.needs_multipliers
        shapes.append(quantity.shape(components, len(picked)))
    program = Program.of(snapshot.inputs, outputs, "quantities")
    kernel = compile_program(program, LANES)
    multipliers = Multipliers(snapshot, m.kept) if needs else None
    return Readout(m, snapshot, tuple(names), tuple(units), tuple(shapes), multipliers, program, kernel)


__all__ = ["Readout", "readout"]
