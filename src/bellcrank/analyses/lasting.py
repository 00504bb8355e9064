"""Contacts that last in a state, and how the forces in them change with it.

Contacts that touch and press hold their normal rows, and their tangential rows where friction sticks: J v-dot + c = 0
with c the relative accelerations without contact forces. With v-dot = a + M^-1 C^T l this gives l = -(J M^-1 C^T)^-1
c, where C is J but for contacts that slip, whose friction -mu l s/|s| along the slip s acts beside the normal force
(Pfeiffer and Glocker 1996, section 5.4). Rows that stick are not integrable: small motions have more moves than
speeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from bellcrank.errors import ModelError
from bellcrank.impacts.contacts import AT_REST, Contacts
from bellcrank.impacts.solver import ContactState
from bellcrank.mechanism import State
from bellcrank.program.derive import jvp_program
from bellcrank.program.evaluate import evaluate
from bellcrank.program.program import Program

if TYPE_CHECKING:
    from bellcrank.impacts.modes import Modes
    from bellcrank.mechanism import Mechanism
    from bellcrank.result.result import Result

Array = NDArray[np.float64]

DEPENDENT = 1e-9
"""Rows of unit length in the metric of the masses that are nearer than this to the span of others follow from them."""


def contacts_of(mechanism: Mechanism, what: str) -> Contacts | None:
    """The impulsive contacts of a mechanism, None where it has none; those of colliding groups stand in the way."""
    system = mechanism.system
    if system.collisions:
        group = next(iter(system.collisions.values()))
        raise ModelError(
            f"{what} does not follow {group.who}, whose contacts are found step by step; describe the contacts that "
            "matter one by one with system.contact(...)"
        )
    return Contacts.of(mechanism) if system.contacts else None


def refuse_touch(result: Result, what: str) -> None:
    """Raise where rigid contacts touch in a motion that is given: what they bear does not follow from it alone."""
    m = result.mechanism
    contacts = contacts_of(replace(m, start=_first(result)), what)
    if contacts is None:
        return
    for t, q, u, p in zip(result.time, result.q, result.u, result.parameters, strict=True):
        gaps, _ = contacts.approach(State(float(t), q, u), p)
        for pair, gap in zip(contacts.pairs, gaps, strict=True):
            if gap <= 1e-8 * pair.length:
                raise ModelError(
                    f"{what}: contact {pair.contact.name!r} touches at t = {t:.6g} s, and how it shares the load with "
                    "what drives the motion is not determined; give it treatment='continuous', or leave it out"
                )


def _first(result: Result) -> State:
    return State(float(result.time[0]), result.q[0], result.u[0])


def lasting(mechanism: Mechanism, what: str) -> LastingContacts | None:
    """The contacts that last in the start of a mechanism, None where none does."""
    contacts = contacts_of(mechanism, what)
    if contacts is None:
        return None
    state, p = mechanism.start, np.array(mechanism.parameter_values)
    resting = contacts.resting(state, p)
    _, states, u_i, _ = contacts.at(state, p)
    for pair, s in zip(contacts.pairs, states, strict=True):
        name, approach = pair.contact.name, -float(s.rows[0] @ u_i + s.drift[0])
        if s.gap <= 1e-8 * pair.length and approach > AT_REST * pair.speed and name not in resting:
            raise ModelError(
                f"{what}: contact {name!r} strikes in this state, at {approach:.3g} m/s; take a state after the impact"
            )
    after, modes = contacts.settle(resting, state, p)
    if after is not state:
        raise ModelError(f"{what}: friction jams contact {next(iter(modes), resting[0])!r} in this state")
    return LastingContacts(mechanism, contacts, modes) if modes else None


@dataclass(eq=False)
class LastingContacts:
    """Contacts that last in the start of a mechanism, with their derivatives along changes of [t, q, u_i, p]."""

    mechanism: Mechanism
    contacts: Contacts
    modes: Modes

    @cached_property
    def x(self) -> Array:
        """[t, q, u_i, p] of the start."""
        m = self.mechanism
        u_i = m.start.u[list(m.partition.independent)]
        return np.concatenate([[m.start.t], m.start.q, u_i, m.parameter_values])

    @cached_property
    def numbers(self) -> list[int]:
        """Which of all contacts they are."""
        return [k for k, name in enumerate(self.contacts.names) if name in self.modes]

    @cached_property
    def _friction(self) -> Array:
        """Of all contacts in the start."""
        m = self.mechanism
        return self.contacts.instant(m.start, np.array(m.parameter_values))[0].friction

    def friction(self, k: int) -> float:
        """Of a contact that slips; none where it sticks or is smooth."""
        return 0.0 if self.modes[self.contacts.names[k]].sticking else float(self._friction[k])

    def _along(self, program: Program, dx: Array) -> tuple[Array, Array]:
        """Values and derivatives along the columns of dx."""
        moves = np.hstack([dx, np.zeros((len(dx), 1))])
        x = np.tile(self.x[:, None], (1, moves.shape[1]))
        y = evaluate(jvp_program(program), np.vstack([x, moves]))
        size = len(program.outputs)
        return y[:size, 0], y[size:, :-1]

    def held(self, dx: Array) -> HeldMotion:
        """Small motions with these contacts held, over the directions dx of the open mechanism."""
        m = self.mechanism
        program = self.contacts.impact_program(m.partition)
        free = self.contacts.free_accelerations(m.partition)
        y, dy = self._along(program.program, dx)
        c, dc = self._along(free.program, dx)
        start = program.unpacked(y)
        M, states = start.M, start.contacts
        steps = [program.unpacked(column) for column in dy.T]
        n, first = program.n, 1 + m.linkage.positions
        v, dv = self.x[first : first + n], dx[first : first + n]
        starts = np.concatenate([[0], np.cumsum(free.sizes)]).astype(int)
        rows: list[_Row] = []
        for k in self.numbers:
            own, along = states[k], [found.contacts[k] for found in steps]
            sticking = self.modes[self.contacts.names[k]].sticking
            for j in range(len(own.rows) if sticking else 1):
                rates = np.array([s.rows[j] @ v + s.drift[j] for s in along])
                gaps = np.array([s.kept for s in along]) if j == 0 else None
                force, force_by = own.rows[j], np.array([s.rows[j] for s in along])
                pull, pull_by = own.directions[j], np.array([s.directions[j] for s in along])
                if j == 0 and self.friction(k):
                    rub = self._rubbed(k, own, along, [found.friction[k] for found in steps], v, dv)
                    force, force_by = force + rub[0], force_by + rub[1]
                    pull, pull_by = pull + rub[2], pull_by + rub[3]
                at = starts[k] + j
                by = np.array([s.rows[j] for s in along])
                rows.append(
                    _Row(k, own.rows[j], by, rates, gaps, force, force_by, pull, pull_by, c[at], dc[at])
                )
        return HeldMotion(self, rows, M, np.array([found.M for found in steps]), n)

    def _rubbed(
        self,
        k: int,
        own: ContactState,
        along: Sequence[ContactState],
        more: Sequence[float],
        v: Array,
        dv: Array,
    ) -> tuple[Array, Array, Array, Array]:
        """What friction of slip adds to a normal force of one: over the speeds and in the world, with derivatives.

        more: Derivatives of the coefficient.
        """
        mu, name = self.friction(k), self.contacts.names[k]
        T, D = own.rows[1:], own.directions[1:]
        slip = T @ v + own.drift[1:]
        size = float(np.linalg.norm(slip))
        if size == 0.0:
            raise ModelError(
                f"contact {name!r} begins to slip in this state; take one in which it sticks or slips"
            )
        d = slip / size
        rows, pulls = [], []
        for column, s in enumerate(along):
            change = s.rows[1:] @ v + s.drift[1:] + T @ dv[:, column]
            turned = (change - d * (d @ change)) / size
            rows.append(-mu * (turned @ T + d @ s.rows[1:]) - more[column] * (d @ T))
            pulls.append(-mu * (turned @ D + d @ s.directions[1:]) - more[column] * (d @ D))
        return -mu * (d @ T), np.array(rows), -mu * (d @ D), np.array(pulls)


@dataclass(frozen=True, eq=False)
class _Row:
    """A row that a lasting contact holds, and the force of its multiplier; what ends in `by` has a row a column.

    rates, gaps: How its speed and its gap change along the columns. pull: The force on b in world axes. c: Its
    acceleration without contact forces.
    """

    contact: int
    row: Array
    by: Array
    rates: Array
    gaps: Array | None
    force: Array
    force_by: Array
    pull: Array
    pull_by: Array
    c: float
    dc: Array


class HeldMotion:
    """Small motions while contacts last, over the directions of the open mechanism.

    push: Accelerations of the independent speeds that contact forces cause; push_by: their derivatives, (n, columns).
    forces, forces_by: Of all contacts, on b in world axes, (3 contacts,) and (3 contacts, columns).
    """

    def __init__(self, lasting: LastingContacts, rows: list[_Row], M: Array, dM: Array, n: int) -> None:
        self.n = n
        metric = 1.0 / np.sqrt(np.diag(M))
        kept = _independent(np.array([r.row for r in rows]) * metric)
        slipping = [r.contact for r in rows if lasting.friction(r.contact)]
        if len(kept) < len(rows) and slipping:
            name = lasting.contacts.names[slipping[0]]
            raise ModelError(
                f"contact {name!r} slips with friction while contacts share their load in a way that is not "
                "determined; leave out those that are one too many"
            )
        self.rows = rows = [rows[i] for i in kept]
        self.metric = metric
        J, C = np.array([r.row for r in rows]), np.array([r.force for r in rows])
        inverse = np.linalg.solve(M, C.T)
        W = J @ inverse
        force = -np.linalg.solve(W, np.array([r.c for r in rows]))
        self.push = inverse @ force
        columns = len(dM)
        self.push_by = np.zeros((n, columns))
        size = 3 * len(lasting.contacts.names)
        self.forces, self.forces_by = np.zeros(size), np.zeros((size, columns))
        for k in range(columns):
            dC = np.array([r.force_by[k] for r in rows])
            moved = np.linalg.solve(M, dC.T - dM[k] @ inverse)
            dW = np.array([r.by[k] for r in rows]) @ inverse + J @ moved
            change = -np.linalg.solve(W, dW @ force + np.array([r.dc[k] for r in rows]))
            self.push_by[:, k] = moved @ force + inverse @ change
            for r, f, df in zip(rows, force, change, strict=True):
                self.forces_by[3 * r.contact : 3 * r.contact + 3, k] += df * r.pull + f * r.pull_by[k]
        for r, f in zip(rows, force, strict=True):
            self.forces[3 * r.contact : 3 * r.contact + 3] += f * r.pull

    def basis(self, sizes: Array) -> tuple[Array, list[int], list[int]]:
        """Directions of the open mechanism by those with contacts held, and which moves and speeds are free.

        The directions are moves, speeds, first-order states and inputs, in this order, on both sides; there are more
        moves than speeds where equations are of velocities alone. sizes: Of the moves, to compare them by.
        """
        n, k, columns = self.n, len(sizes), self.push_by.shape[1]
        normals = [r for r in self.rows if r.gaps is not None]
        N = np.array([r.gaps for r in normals]).reshape(len(normals), columns)
        # Sticking contacts pass for a normal row of their own where it follows from others; its gap then does too.
        N = N[_independent(N[:, :k] * sizes)]
        J, rates = np.array([r.row for r in self.rows]), np.array([r.rates for r in self.rows])
        free_x, T_x = _solved(N[:, :k], np.delete(N, np.s_[: k + n], axis=1), sizes)
        T = np.zeros((columns, columns))
        others = list(range(k + n, columns))
        T[np.ix_(range(k), [*free_x, *others])] = T_x
        T[others, others] = 1.0
        # Speeds follow the rows as the positions change: J dv = -(dJ v + d drift).
        asked = rates[:, :k] @ T[:k] + rates[:, k + n :] @ T[k + n :]
        used = [*free_x, *others]
        free_v, T_v = _solved(J, asked[:, used], self.metric)
        speeds = [k + i for i in free_v]
        T[np.ix_(range(k, k + n), [*speeds, *used])] = T_v
        return T[:, [*free_x, *speeds, *others]], free_x, free_v


def _solved(A: Array, b: Array, metric: Array) -> tuple[list[int], Array]:
    """Free unknowns y of A x + b z = 0, and x by [y, z]; the dependent ones are pivots in the metric."""
    m, n = A.shape
    _, _, order = qr(A * metric, pivoting=True, mode="economic")
    dependent, free = list(order[:m]), sorted(order[m:])
    x = np.zeros((n, len(free) + b.shape[1]))
    x[free, range(len(free))] = 1.0
    if m:
        x[dependent] = -np.linalg.solve(A[:, dependent], np.hstack([A[:, free], b]))
    return [int(i) for i in free], x


def _independent(rows: Array) -> list[int]:
    """Numbers of rows that do not follow from others."""
    if not len(rows):
        return []
    sizes = np.linalg.norm(rows, axis=1)
    scaled = rows / np.where(sizes > 0.0, sizes, 1.0)[:, None]
    _, R, order = qr(scaled.T, pivoting=True, mode="economic")
    rank = int((np.abs(np.diag(R)) > DEPENDENT).sum())
    return sorted(int(i) for i in order[:rank])


__all__ = ["HeldMotion", "LastingContacts", "contacts_of", "lasting"]
