"""Lasting contacts whose forces are multipliers of the open mechanism, without a program for each set of contacts.

A contact zone of an elastic body has many nodes, and the set of those that touch changes at every one of them. Each set
as a mechanism of its own would be compiled to be used for microseconds. Bodies that roll in space are held alike: no
speed in their own axes is fit to be the dependent one for longer than a quarter of a turn.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.impacts import held_units as unit
from bellcrank.impacts.contacts import Contacts, modes_key
from bellcrank.impacts.coulomb_units import room, solve_problem
from bellcrank.impacts.modes import GONE, FreeAccelerations, Modes
from bellcrank.impacts.segment import Segment
from bellcrank.impacts.solver import BEFORE_ROWS, ImpactProgram
from bellcrank.mechanics.contacts import ContactPair
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanism import State
from bellcrank.mechanism.carried_loads import lagging_loads
from bellcrank.program.kernel import Kernel, compile_program
from bellcrank.program.loops import BoundKernel
from bellcrank.program.trace import Scalar
from bellcrank.run.events import Event, StateEvent, watch_program

if TYPE_CHECKING:
    from bellcrank.integrate import Problem
    from bellcrank.mechanism.machines import Machine
    from bellcrank.run.events import Controller

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
        loads = lagging_loads(machine.mechanism)
        addresses[unit.LOADS] = machine.loads.address if loads else 0
        carried = unit.Carried(
            np.array([load.place for load in loads], dtype=np.int64),
            np.array([load.lag for load in loads]),
            np.zeros(machine.loads.n_in if loads else 0),
            np.zeros(len(loads)),
        )
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
            carried,
        )
        self.rates, self.events, self.hold = (
            BoundKernel(made, self.arrays) for made in (unit.rates, unit.events, unit.hold)
        )

    def fit(
        self, modes: Modes, friction: Array, slack: Mapping[str, float], compliance: Mapping[str, float]
    ) -> None:
        """Be these contacts.

        friction: Of all. slack: Force of each that is none [N]. compliance: Of those that share [1/kg].
        """
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
            numbers[unit.FRICTION], numbers[unit.SLIP] = friction[k], mode.slip
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


class HeldSegment(Segment):
    """As any segment, but the mechanism stays open; what holds the contacts are forces worked out at every state."""

    def __init__(
        self,
        contacts: Contacts,
        modes: Modes,
        state: State,
        p: Array,
        integrator: str,
        events: Sequence[Event],
        controllers: Sequence[Controller],
    ) -> None:
        self._held: Held | None = None
        variant = contacts.variant({}, state, p)
        super().__init__(contacts, modes, variant, integrator, events, controllers)
        self.lasting().begin(np.concatenate([[state.t], self.machine.pack(state.q, state.u), p]))

    def _watched_pairs(self) -> list[ContactPair]:
        # The events of the open mechanism, whichever contacts last; those of lasting ones are passed over.
        return list(self.contacts.pairs)

    def _ends(self) -> list[tuple[str, str, int]]:
        found = []
        start, p = self.mechanism.start, np.array(self.mechanism.parameter_values)
        friction = self.contacts.instant(start, p)[0].friction
        for pair, mu in zip(self.contacts.pairs, friction, strict=True):
            name = pair.contact.name
            if name in self.modes:
                mode = self.modes[name]
                if not pair.lasting:
                    found.append((name, GONE, -1))
                found.append((name, "bear" if mode.idle else "release", -1))
                if mu and not (mode.sticking and mode.idle):
                    found.append((name, "slip" if mode.sticking else "stick", -1))
        return found

    def _more_events(self) -> list[Event]:
        """The rooms of places that may end; they are seen only of contacts that last."""

        def room(pair: ContactPair, kin: Kinematics, t: Scalar) -> Scalar:
            left = pair.closest(kin).room
            return 1.0 if left is None else left

        return [
            StateEvent(f"{pair.contact.name}: room", direction=-1, trace=partial(room, pair))
            for pair in self.contacts.pairs
            if not pair.lasting
        ]

    def _watched_key(self) -> Hashable:
        return "rooms" if any(not pair.lasting for pair in self.contacts.pairs) else ()

    def lasting(self) -> Held:
        if self._held is None or self._held.machine is not self.machine:
            partition, contacts, watch = self.machine.partition, self.contacts, self._event_kernel()
            # Segments follow each other: those of as many contacts take over the same arrays and their code.
            key = ("held", partition, len(self.modes), watch.address)

            def make() -> Held:
                return Held(
                    self.machine,
                    contacts.impact_program(partition),
                    contacts.free_accelerations(partition),
                    self._projected,
                    contacts.pairs,
                    len(self.modes),
                    contacts.headings,
                    watch,
                    len(self.user_events),
                )

            held = contacts.once(key, make)
            start, p = self.mechanism.start, np.array(self.mechanism.parameter_values)
            held.fit(
                self.modes,
                contacts.instant(start, p)[0].friction,
                contacts.slack(self.modes, start, p),
                contacts.compliance(self.modes, start, p),
            )
            held.machine = self.machine
            self._held = held
        return self._held

    def _shares(self, ended: Sequence[tuple[str, str]]) -> bool:
        shares = bool(self.lasting().arrays.properties[:, unit.COMPLIANCE].any())
        return shares and any(what != "stick" for _, what in ended)

    @property
    def _projected(self) -> bool:
        m = self.mechanism
        return bool(m.kept) or m.linkage.has_quaternions

    def _event_kernel(self) -> Kernel:
        plain = self.events[: len(self.events) - len(self.ends)]
        key = ("events", (modes_key({}), None), self.machine.partition, self.user_events, self._watched_key())
        return self.contacts.once(
            key, lambda: compile_program(watch_program(self.mechanism, self.machine.partition, plain))
        )

    def problem(self, q: Array, u: Array, t: float, p: Array) -> Problem:
        """As of the open mechanism, with held contacts."""
        held = self.lasting()
        return replace(
            super().problem(q, u, t, p),
            rhs=held.rates.address,
            project=held.hold.address,
            events=held.events.address,
            tangent=0,
            make_tangent=None,
            keep=(held,),
        )

    def rates(self, x: Array) -> Array:
        return self.lasting().bear(x)

    def _full(self, x: Array) -> Array:
        return self._with_forces(x, np.asarray(self.machine.full(x)))

    def _with_forces(self, x: Array, free: Array) -> Array:
        """All speeds and their rates; the dependent ones follow the independent ones as speeds do."""
        speeds, n = self.mechanism.linkage.speeds, self.mechanism.linkage.positions
        independent = list(self.machine.partition.independent)
        found = free[: 2 * speeds].copy()
        gained = self.rates(x)[n:] - found[speeds:][independent]
        own = slice(1 + n, 1 + n + len(independent))
        moved, still = x.copy(), x.copy()
        moved[own], still[own] = gained, 0.0
        found[speeds:] += self.machine.full(moved)[:speeds] - self.machine.full(still)[:speeds]
        return found

    def rows(self, times: Array, y: Array, partition: NDArray[np.int64]) -> tuple[Array, Array, Array, Array]:
        """Positions, speeds, their rates and parameters at outputs."""
        q, u, du, parameters = super().rows(times, y, partition)
        last = self.machine
        for number, machine in enumerate(self.used):
            self.machine = machine
            for k in np.flatnonzero(partition == number):
                x = np.concatenate([times[k : k + 1], y[k], parameters[k]])
                du[k] = self._with_forces(x, np.concatenate([u[k], du[k]]))[u.shape[1] :]
        self.machine = last
        return q, u, du, parameters
