"""Lasting contacts whose forces come from the open mechanism: no program of their own, whichever of them last.

A contact zone of an elastic body has many nodes, and the set of those that touch changes at every one of them. Each set
as a mechanism of its own would be compiled to be used for microseconds. Bodies that roll in space are held alike: no
speed in their own axes is fit to be the dependent one for longer than a quarter of a turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.impacts import held_units as unit
from bellcrank.impacts.modes import FreeAccelerations, Modes
from bellcrank.impacts.solver import ImpactProgram
from bellcrank.mechanics.contacts import ContactPair
from bellcrank.program.kernel import Kernel
from bellcrank.simulate.compiled import Unit

if TYPE_CHECKING:
    from bellcrank.machines import Machine

Array = NDArray[np.float64]

RATES, EVENTS, HOLD = Unit(unit.rates), Unit(unit.events), Unit(unit.hold)


class Held:
    """Some contacts that last in one partition of a mechanism: rates, events and corrections by address.

    slack: Force of each that is none [N]. headings: Where among the parameters those of contacts begin. watch: The
    events of the open mechanism; `first` of them is the first that watches a gap, and those of all pairs follow.
    """

    def __init__(
        self,
        machine: Machine,
        impact: ImpactProgram,
        free: FreeAccelerations,
        projected: bool,
        pairs: Sequence[ContactPair],
        modes: Modes,
        slack: Mapping[str, float],
        headings: Mapping[str, int],
        watch: Kernel | None,
        first: int,
    ) -> None:
        linkage = machine.mechanism.linkage
        self.pairs = [pair for pair in pairs if pair.contact.name in modes]
        self.machine, self.impact, self.free, self.watch = machine, impact, free, watch
        self.projection = machine.projection if projected else None
        self.q, self.n, self.width = linkage.positions, impact.n, 2 if pairs[0].planar else 3
        p = machine.rates.n_in - 1 - self.q - self.n
        lasting = len(self.pairs)
        most = lasting * self.width
        addresses = [0] * unit.ADDRESSES
        addresses[unit.RATES], addresses[unit.IMPACT] = machine.rates.address, impact.kernel.address
        addresses[unit.FREE] = free.kernel.address
        addresses[unit.PROJECT] = 0 if self.projection is None else self.projection.address
        addresses[unit.WATCH] = 0 if watch is None else watch.address
        sizes = [0] * unit.HEAD
        sizes[unit.POSITIONS], sizes[unit.MOVING] = self.q, self.q - len(linkage.states)
        sizes[unit.SPEEDS], sizes[unit.PARAMETERS] = self.n, p
        sizes[unit.CONTACTS], sizes[unit.LASTING], sizes[unit.WIDTH] = len(pairs), lasting, self.width
        sizes[unit.WATCHED] = 0 if watch is None else watch.n_out
        numbers: list[float] = []
        self.numbers = [k for k, pair in enumerate(pairs) if pair.contact.name in modes]
        for k, pair in zip(self.numbers, self.pairs, strict=True):
            mode = modes[pair.contact.name]
            sizes += [k, int(mode.sticking), first + unit.GAP_EVENTS * k, headings.get(pair.contact.name, -1)]
            numbers += [pair.contact.friction, mode.slip, slack[pair.contact.name], pair.speed, 0.0]
        state = 1 + self.q + self.n + p
        behind = max(len(pairs) * self.width + self.q + self.n, state + 2 * (self.q + self.n))
        self._arrays: tuple[Any, ...] = (
            np.array(addresses, dtype=np.int64),
            np.array(sizes, dtype=np.int64),
            np.array(numbers),
            np.zeros(0),
            np.zeros(0),
            np.zeros(impact.kernel.n_out),
            np.zeros((most, self.n)),
            np.zeros((most, self.n)),
            np.zeros(4 * most),
            np.zeros(most, dtype=np.int64),
            np.zeros(most * most + behind),
        )
        self.rates, self.events, self.hold = (self._bound(u) for u in (RATES, EVENTS, HOLD))

    def _bound(self, made: Unit) -> Bound:
        return Bound(made, self._arrays)

    def bear(self, x: Array) -> Array:
        """Rates of the state at [t, q, u_i, p]; forces and what they came from stay to be read."""
        return self.rates(np.ascontiguousarray(x, dtype=float), np.zeros(self.q + self.n))

    def at(self, x: Array) -> list[tuple[Array, Array]]:
        """For every lasting contact its forces on b (normal, tangents) and its slip velocity."""
        self.bear(x)
        forces, speeds = self._arrays[8][: 2 * len(self.pairs) * self.width].reshape(2, -1, self.width)
        return [(f.copy(), s[1:].copy()) for f, s in zip(forces, speeds, strict=True)]

    def in_world(self, x: Array) -> dict[str, Array]:
        """For every lasting contact its force on b in world axes, one row for every row of x."""
        found = {pair.contact.name: np.zeros((len(x), 3)) for pair in self.pairs}
        n, width = self.n, self.width
        size = unit.BEFORE_ROWS + width * (n + unit.BEHIND_ROW)
        for row, state in enumerate(x):
            for k, pair, (forces, _) in zip(self.numbers, self.pairs, self.at(state), strict=True):
                first = n * n + k * size + unit.BEFORE_ROWS
                block = self._arrays[5][first : first + width * (n + unit.BEHIND_ROW)].reshape(width, -1)
                found[pair.contact.name][row] = forces @ block[:, n + 1 :]
        return found


class Bound:
    """A unit with the arrays it works on, as machine code ``void f(const double *x, double *y)`` at `address`."""

    def __init__(self, made: Unit, arrays: tuple[Any, ...]) -> None:
        from bellcrank.program.kernel import _lock, _machine, _start

        pointers = [f"ptr inttoptr (i64 {a.__array_interface__['data'][0]} to ptr)" for a in arrays]
        pointers[3], pointers[4] = "ptr %x", "ptr %y"
        text = (
            "define void @kernel(ptr %x, ptr %y) nounwind {\n"
            f"  %done = call i64 inttoptr (i64 {made.address} to ptr)({', '.join(pointers)})\n"
            "  ret void\n}\n"
        )
        with _lock:
            binding = _start()
            module = binding.parse_assembly(text)
            self._engine = binding.create_mcjit_compiler(module, _machine(0))
            self._engine.finalize_object()
            self.address = int(self._engine.get_function_address("kernel"))
        # The code knows where the arrays lie; they live as long as it does.
        self._unit, self._arrays = made, arrays

    def __call__(self, x: Array, y: Array) -> Array:
        arrays = list(self._arrays)
        arrays[3], arrays[4] = x, y
        self._unit(*arrays)
        return y
