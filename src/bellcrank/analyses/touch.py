"""Contacts of a mechanism at rest: rigid ones in a search for equilibrium, and the forces they need in the end.

The search lets contacts give way a little, with a stiffness that carries the weight of the mechanism at a thousandth
of its size; then Newton's method on forces and gaps together closes them (Nocedal and Wright, "Numerical
Optimization", 18.1). Contacts with friction that press roll and stick on the way. In the end the forces of all
contacts that touch are found within their cones of friction (:mod:`bellcrank.impacts.lasting`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.impacts.checks import TOUCHING
from bellcrank.impacts.lasting import JammedContact, contact_forces
from bellcrank.impacts.solver import ContactState, Instant
from bellcrank.program.derive import jvp_program
from bellcrank.program.evaluate import evaluate

if TYPE_CHECKING:
    from bellcrank.analyses.statics import Statics
    from bellcrank.impacts.contacts import Contacts

Array = NDArray[np.float64]

DEEP = 1e-3
"""How far a contact gives way in the search under the weight of the mechanism, over its size."""
CLOSED = 1e-12
"""Gaps of a found equilibrium, over the size of the mechanism."""


@dataclass(eq=False)
class Touch:
    """Contacts that press in a search. scale: Size of the forces [N m]. rolls: Whether those with friction stick."""

    contacts: Contacts
    scale: float
    rolls: bool

    def _instant(self, statics: Statics, q: Array) -> Instant:
        x = np.concatenate([[statics.t], q, np.zeros(len(statics.units)), statics.p])
        return self.contacts.impact_program(statics.partition).evaluate(x)

    def _states(self, statics: Statics, q: Array) -> list[ContactState]:
        return self._instant(statics, q).contacts

    def _stiffness(self, statics: Statics) -> float:
        """[N/m]"""
        return self.scale / (DEEP * statics.length**2)

    def forces(self, statics: Statics, q: Array) -> Array:
        """Of contacts that overlap, along the freedoms [N m]."""
        k, total = self._stiffness(statics), np.zeros(len(statics.units))
        for s in self._states(statics, q):
            if s.gap < 0.0:
                total -= k * s.gap * s.rows[0] * statics.units
        return total

    def stiffness(self, statics: Statics, q: Array) -> tuple[Array, Array]:
        """Forces and their derivatives by moves [N m]."""
        k, n = self._stiffness(statics), len(statics.units)
        total, by = np.zeros(n), np.zeros((n, n))
        for s, turns in self._curved(statics, q):
            if s.gap < 0.0:
                N = s.rows[0] * statics.units
                total -= k * s.gap * N
                by -= k * (np.outer(N, N) + s.gap * turns)
        return total, by

    def _curved(self, statics: Statics, q: Array) -> list[tuple[ContactState, Array]]:
        """Contacts, and how their normal rows change with moves."""
        program = self.contacts.impact_program(statics.partition)
        n, T = len(statics.units), statics.tangents(q)
        x = np.concatenate([[statics.t], q, np.zeros(n), statics.p])
        dx = np.zeros((len(x), n))
        dx[1 : 1 + len(q)] = T
        y = evaluate(jvp_program(program.program), np.vstack([np.tile(x[:, None], (1, n)), dx]))
        size = len(program.program.outputs)
        states = program.unpacked(y[:size, 0]).contacts
        steps = [program.unpacked(column).contacts for column in y[size:].T]
        return [
            (s, statics.units[:, None] * np.array([step[k].rows[0] for step in steps]).T)
            for k, s in enumerate(states)
        ]

    def sticking(self, statics: Statics, q: Array) -> Array:
        """Tangential rows of contacts that press and rub, in sizes of the mechanism."""
        found = [np.zeros((0, len(statics.units)))]
        if self.rolls:
            found_at = self._instant(statics, q)
            for pair, s, mu in zip(self.contacts.pairs, found_at.contacts, found_at.friction, strict=True):
                if s.gap < TOUCHING * pair.length and mu:
                    found.append(s.rows[1:] * statics.units / statics.length)
        return np.vstack(found)

    def closed(self, statics: Statics, q: Array) -> Array | None:
        """The equilibrium beside one of the search, contacts that pressed just touching; None where there is none."""
        k = self._stiffness(statics)
        q = statics.rested(q)
        pressing = [i for i, s in enumerate(self._states(statics, q)) if s.gap < 0.0]
        load = np.array([-k * s.gap for i, s in enumerate(self._states(statics, q)) if i in pressing])
        L = statics.length
        for _ in range(30):
            Q, J = statics.unbound(q)
            curved = [self._curved(statics, q)[i] for i in pressing]
            N = np.array([s.rows[0] * statics.units for s, _ in curved]).reshape(len(pressing), len(Q))
            gaps = np.array([s.gap for s, _ in curved])
            P = statics.projection(q)
            left = P @ (Q + N.T @ load)
            done = np.abs(left).max(initial=0.0) <= 1e-11 * self.scale
            if done and np.abs(gaps).max(initial=0.0) <= CLOSED * L:
                return q
            J = J + sum((f * turns for f, (_, turns) in zip(load, curved, strict=True)), np.zeros_like(J))
            # Loads in units of the scale over the length, gaps in lengths, so that all entries compare.
            K = np.block([[P @ J @ P / self.scale, P @ N.T / L], [N @ P / L, np.zeros((len(gaps),) * 2)]])
            step = np.linalg.lstsq(K, -np.concatenate([left / self.scale, gaps / L]), rcond=1e-10)[0]
            new = statics.moved(q, step[: len(Q)])
            if new is None or not np.isfinite(step).all() or np.abs(step[: len(Q)]).max(initial=0.0) > 0.3:
                return None
            q, load = new, load + step[len(Q) :] * self.scale / L
        return None

    def along(self, statics: Statics, q: Array, forces: Array) -> Array:
        """Forces on b in world axes as forces along the freedoms [N m]."""
        total = np.zeros(len(statics.units))
        for s, force in zip(self._states(statics, q), forces, strict=True):
            total += (s.directions @ force) @ s.rows * statics.units
        return total

    def borne(self, statics: Statics, q: Array) -> tuple[float, Array, str]:
        """What is left of the forces with those of contacts within their cones, over the scale; the forces; the worst.

        Forces are on b in world axes, (contacts, 3).
        """
        states = self._states(statics, q)
        found = np.zeros((len(states), 3))
        Q, _ = statics.unbound(q)
        near = [k for k, s in enumerate(states) if s.gap <= TOUCHING * self.contacts.pairs[k].length]
        P = statics.held_projection(q)
        left = P @ Q
        if near:
            instant = self._instant(statics, q)
            M = instant.M
            unit = statics.units
            # Held coordinates do not give way: M with their rows weighed down.
            A = (unit[:, None] * M * unit) + (np.eye(len(Q)) - P) * 1e9 * float(
                np.trace(M * np.outer(unit, unit))
            )
            rows = np.vstack([states[k].rows for k in near]) * unit
            W, free = rows @ np.linalg.solve(A, rows.T), rows @ np.linalg.solve(A, Q)
            mu = instant.friction[near]
            try:
                solved = contact_forces(W, free, mu, tangents=self.contacts.tangents)
            except JammedContact:
                return np.inf, found, self.contacts.names[near[0]]
            force = solved.forces.reshape(len(near), -1)
            left = P @ (Q + rows.T @ solved.forces)
            for k, f in zip(near, force, strict=True):
                found[k] = f @ states[k].directions
        worst = self.contacts.names[near[0]] if near else ""
        return float(np.abs(left).max(initial=0.0)) / self.scale, found, worst


__all__ = ["Touch"]
