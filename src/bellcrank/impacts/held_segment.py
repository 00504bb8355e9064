"""A stretch of a run with the same lasting contacts, their forces from the programs of the open mechanism."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.impacts import held_units as unit
from bellcrank.impacts.contacts import Contacts, modes_key
from bellcrank.impacts.held import Held
from bellcrank.impacts.modes import GONE, Modes
from bellcrank.impacts.segment import Segment
from bellcrank.mechanics.contacts import ContactPair
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanism import State
from bellcrank.program.kernel import Kernel, compile_program
from bellcrank.program.trace import Scalar
from bellcrank.run.events import Event, StateEvent, watch_program

if TYPE_CHECKING:
    from bellcrank.integrate import Problem
    from bellcrank.run.events import Controller

Array = NDArray[np.float64]


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
        for pair in self.contacts.pairs:
            name = pair.contact.name
            if name in self.modes:
                mode = self.modes[name]
                if not pair.lasting:
                    found.append((name, GONE, -1))
                found.append((name, "bear" if mode.idle else "release", -1))
                if pair.contact.friction and not (mode.sticking and mode.idle):
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
