"""Lasting contacts whose forces come from the open mechanism: no program of their own, whichever of them last.

A contact zone of an elastic body has many nodes, and the set of those that touch changes at every one of them. Each set
as a mechanism of its own would be compiled to be used for microseconds. Bodies that roll in space are held alike: no
speed in their own axes is fit to be the dependent one for longer than a quarter of a turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.impacts import held_units as unit
from bellcrank.impacts.coulomb_units import room, solve_problem
from bellcrank.impacts.modes import FreeAccelerations, Modes
from bellcrank.impacts.solver import BEFORE_ROWS, ImpactProgram
from bellcrank.mechanics.contacts import ContactPair
from bellcrank.program.kernel import Kernel
from bellcrank.program.loops import BoundKernel

if TYPE_CHECKING:
    from bellcrank.mechanism.machines import Machine

Array = NDArray[np.float64]


class Held:
    """So many contacts that last in one partition of a mechanism: rates, events and corrections by address.

    `fit` finds which they are, for one segment after another. headings: Where among the parameters those of contacts
    begin. watch: The events of the open mechanism; `first` of them is the first that watches a gap, those of all pairs
    follow, and then the rooms of places that may end.
    """

    def __init__(
        self,
        machine: Machine,
        impact: ImpactProgram,
        free: FreeAccelerations,
        projected: bool,
        pairs: Sequence[ContactPair],
        lasting: int,
        headings: Mapping[str, int],
        watch: Kernel | None,
        first: int,
    ) -> None:
        linkage = machine.mechanism.linkage
        self.all_pairs, self.headings, self.first = tuple(pairs), headings, first
        self.pairs: list[ContactPair] = []
        self.numbers: list[int] = []
        self.machine, self.impact, self.free, self.watch = machine, impact, free, watch
        self.projection = machine.projection if projected else None
        self.q, self.n, self.width = linkage.positions, impact.n, 2 if pairs[0].planar else 3
        p = machine.rates.n_in - 1 - self.q - self.n
        most = lasting * self.width
        addresses = [0] * unit.ADDRESSES
        addresses[unit.RATES], addresses[unit.IMPACT] = machine.rates.address, impact.kernel.address
        addresses[unit.FREE] = free.kernel.address
        addresses[unit.PROJECT] = 0 if self.projection is None else self.projection.address
        addresses[unit.CONES] = solve_problem.address
        addresses[unit.WATCH] = 0 if watch is None else watch.address
        sizes = [0] * unit.SIZES
        sizes[unit.POSITIONS], sizes[unit.MOVING] = self.q, self.q - len(linkage.states)
        sizes[unit.SPEEDS], sizes[unit.PARAMETERS] = self.n, p
        sizes[unit.CONTACTS], sizes[unit.LASTING], sizes[unit.WIDTH] = len(pairs), lasting, self.width
        sizes[unit.WATCHED] = 0 if watch is None else watch.n_out
        sizes[unit.ROOMS] = first + unit.GAP_EVENTS * len(pairs)
        state = 1 + self.q + self.n + p
        behind = max(len(pairs) * self.width + self.q + self.n, state + 2 * (self.q + self.n))
        forces = np.zeros((2, lasting, self.width))
        self.arrays = unit.Held(
            np.array(addresses, dtype=np.int64),
            np.array(sizes, dtype=np.int64),
            np.zeros((lasting, unit.IDENTITY), dtype=np.int64),
            np.zeros((lasting, unit.PROPERTIES)),
            np.zeros(impact.kernel.n_out),
            np.zeros((most, self.n)),
            np.zeros((most, self.n)),
            forces[0],
            forces[1],
            np.zeros((2, most)),
            np.zeros((5, self.n)),
            np.zeros((self.n, self.n)),
            np.zeros(most, dtype=np.int64),
            np.zeros(most * most + behind),
            room(lasting),
            np.zeros((most, self.n)),
        )
        self.rates, self.events, self.hold = (
            BoundKernel(made, self.arrays) for made in (unit.rates, unit.events, unit.hold)
        )

    def fit(self, modes: Modes, slack: Mapping[str, float], compliance: Mapping[str, float]) -> None:
        """Be these contacts. slack: Force of each that is none [N]. compliance: Of those that share [1/kg]."""
        self.numbers = [k for k, pair in enumerate(self.all_pairs) if pair.contact.name in modes]
        self.pairs = [self.all_pairs[k] for k in self.numbers]
        places = [k for k, pair in enumerate(self.all_pairs) if not pair.lasting]
        rooms = {k: int(self.arrays.sizes[unit.ROOMS]) + number for number, k in enumerate(places)}
        self.arrays.properties[:] = 0.0
        for i, (k, pair) in enumerate(zip(self.numbers, self.pairs, strict=True)):
            name = pair.contact.name
            mode, gaps = modes[name], self.first + unit.GAP_EVENTS * k
            heading = self.headings.get(name, -1)
            self.arrays.contacts[i] = k, mode.sticking, gaps, heading, mode.idle, rooms.get(k, -1)
            numbers = self.arrays.properties[i]
            numbers[unit.FRICTION], numbers[unit.SLIP] = pair.contact.friction, mode.slip
            numbers[unit.SLACK], numbers[unit.SPEED] = slack[name], pair.speed
            numbers[unit.COMPLIANCE] = compliance.get(name, 0.0)

    def begin(self, x: Array) -> None:
        """Take the present slip of contacts that are said to stick as none: it must grow before they slip."""
        self.bear(x)
        numbers = self.arrays.properties
        numbers[:, unit.CREEP] = np.maximum(-numbers[:, unit.HOLDS], 0.0)

    def bear(self, x: Array) -> Array:
        """Rates of the state at [t, q, u_i, p]; forces and what they came from stay to be read."""
        return self.rates(np.ascontiguousarray(x, dtype=float), np.zeros(self.q + self.n))

    def at(self, x: Array) -> list[tuple[Array, Array]]:
        """For every lasting contact its forces on b (normal, tangents) and its slip velocity."""
        self.bear(x)
        return [(f.copy(), s[1:].copy()) for f, s in zip(self.arrays.forces, self.arrays.slip, strict=True)]

    def in_world(self, x: Array) -> dict[str, Array]:
        """For every lasting contact its force on b in world axes, one row for every row of x."""
        found = {pair.contact.name: np.zeros((len(x), 3)) for pair in self.pairs}
        n, width = self.n, self.width
        size = BEFORE_ROWS + width * (n + unit.BEHIND_ROW)
        for row, state in enumerate(x):
            for k, pair, (forces, _) in zip(self.numbers, self.pairs, self.at(state), strict=True):
                first = n * n + k * size + BEFORE_ROWS
                block = self.arrays.impact[first : first + width * (n + unit.BEHIND_ROW)].reshape(width, -1)
                found[pair.contact.name][row] = forces @ block[:, n + 1 :]
        return found
