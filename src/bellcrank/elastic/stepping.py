"""One step of dynamic contact: displacements, then velocities and accelerations that fit on the contact surface.

Source: Lee (1995), section 3.3, with slips in its equations corrected. The displacement comes from the forces
of (10), the velocity of the whole body from those of (14), its acceleration from those of (15). Differs in:
generalised- alpha beside Newmark; damping; obstacles that move or are curved (linearised about the end of the step
until that stays); the rate at which the normal of a curved obstacle turns is left out of (13).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from bellcrank.elastic.active_set import ContactFailure
from bellcrank.elastic.assembled import Assembled
from bellcrank.elastic.compliance import Compliance
from bellcrank.elastic.interface import Interface, Rows
from bellcrank.elastic.lattices import Array, Index
from bellcrank.elastic.operators import condensed
from bellcrank.elastic.operators import operator as contact_operator
from bellcrank.elastic.problem import ContactProblem, ContactSolution, ContactSolver, Flags
from bellcrank.elastic.schemes import Scheme


@dataclass(frozen=True)
class Compatibility:
    """Which conditions hold on the contact surface beside that of displacements."""

    velocity: bool = True
    acceleration: bool = True


@dataclass(frozen=True, eq=False)
class Moment:
    """State at one time.

    u, v, a: displacement, velocity, acceleration of the unknowns. force: of each contact point, normal first [N],
    shape (points, d). frames: normals and tangents of the points. active, stick: branches taken. nodal: contact
    forces on all unknowns [N]. slip: slip increments of the step [m]. travel: of what is met in the step [m].
    updates: solver iterations for displacement, velocity and acceleration.
    """

    t: float
    u: Array
    v: Array
    a: Array
    force: Array
    frames: Array
    active: Flags
    stick: Flags
    nodal: Array
    slip: Array
    travel: Array
    updates: tuple[int, int, int] = (0, 0, 0)


class Stepper:
    """Steps of one size; the matrix is factorised here, once."""

    def __init__(
        self, system: Assembled, interfaces: Sequence[Interface], scheme: Scheme, step: float,
        solver: ContactSolver, compatibility: Compatibility,
    ) -> None:  # fmt: skip
        self.system, self.interfaces, self.scheme, self.step = system, tuple(interfaces), scheme, step
        self.solver, self.compatibility = solver, compatibility
        al, de, am, af = scheme.alpha, scheme.delta, scheme.inertia_shift, scheme.force_shift
        matrix = (1.0 - am) / (al * step**2) * system.mass + (1.0 - af) * system.stiffness
        if system.damping is not None:
            matrix = matrix + (1.0 - af) * de / (al * step) * system.damping
        self._factor = system.factor(sp.csr_array(matrix))
        self.compliance = Compliance(self._factor, system.dimension, 1.0 - af)
        self.friction = np.concatenate([np.full(i.count, i.friction) for i in self.interfaces])
        self.first = np.concatenate([[0], np.cumsum([i.count for i in self.interfaces])])
        self.size = float(np.ptp(system.nodes, axis=0).max())
        self.flat = all(i.flat for i in self.interfaces)
        self.velocity_factor = de / (al * step)
        self.acceleration_factor = 1.0 / (al * step**2)
        nothing = (b"none", ()), (sp.csr_array((0, system.unknowns)), np.zeros((0, 0)))
        self._known: tuple[tuple[bytes, tuple[int, ...]], tuple[sp.csr_array, Array]] = nothing

    def gap(self, u: Array, t: float) -> Array:
        """Gaps of all points [m]."""
        shaped = u.reshape(-1, self.system.dimension)
        return np.concatenate([interface.gap(shaped, t) for interface in self.interfaces])

    def start(self) -> Moment:
        """The beginning: undeformed, with the acceleration that loads and damping give."""
        system = self.system
        n, m, d = system.unknowns, int(self.first[-1]), system.dimension
        v = system.start_velocity.copy()
        right = system.load.copy()
        if system.damping is not None:
            right -= system.damping @ v
        a = np.zeros(n)
        if np.any(right[system.free] != 0.0):
            a = system.accelerated(right)
        none = np.zeros(m, dtype=bool)
        zeros = np.zeros((m, d))
        return Moment(
            0.0, np.zeros(n), v, a, zeros, np.zeros((m, d, d)), none, none, np.zeros(n), zeros, zeros
        )

    def advance(self, now: Moment) -> Moment:
        """From t to t + dt."""
        t, d = now.t + self.step, self.system.dimension
        w = self._without_contact(now)
        for interface in self.interfaces:
            interface.renew(w.reshape(-1, d))
        free = _Free(w, self.velocity(now, w), self.acceleration(now, w))
        margin = min(2.0 * np.abs(w - now.u).max(), 1e-2 * self.size)
        candidates = (self.gap(w, t) < margin) | now.active
        about, total = w, 0
        for _ in range(60):
            points = np.flatnonzero(candidates)
            rows = self._rows(points, about, t)
            meeting = _Meeting(points, rows, *self._operators(points, rows))
            found = self._displacements(now, free, meeting)
            velocity, updates_v = self._velocities(free, meeting, found)
            acceleration, updates_a = self._accelerations(now, free, meeting, found)
            u, v, a = self._displaced(free, meeting, (found.force, velocity, acceleration))
            total += found.updates
            gap = self.gap(u, t)
            missed = ~candidates & (gap < -1e-10 * self.size)
            off = gap[points][found.active]
            settled = self.flat or off.size == 0 or np.abs(off).max() < 1e-12 * self.size
            if settled and not missed.any():
                return self._moment(now, t, meeting, found, (u, v, a), (total, updates_v, updates_a))
            candidates |= missed
            about = u
        raise ContactFailure(
            f"the contact at t = {t:.6g} s does not settle in 60 linearisations; take a step below {self.step:.3g} s"
        )

    def _without_contact(self, now: Moment) -> Array:
        """w of (5): the displacement if nothing were touched."""
        system, s, h = self.system, self.scheme, self.step
        al, de, am, af = s.alpha, s.delta, s.inertia_shift, s.force_shift
        u, v, a = now.u, now.v, now.a
        history = (1.0 - am) * (u / (al * h**2) + v / (al * h) + (0.5 / al - 1.0) * a) - am * a
        right = system.mass @ history + system.load
        if system.damping is not None:
            older = (1.0 - af) * (
                de / (al * h) * u + (de / al - 1.0) * v + h * (0.5 * de / al - 1.0) * a
            ) - af * v
            right += system.damping @ older
        if af:
            right += af * (now.nodal - system.stiffness @ u)
        return self._factor.solve(right)

    def acceleration(self, now: Moment, u: Array) -> Array:
        """(3)."""
        al, h = self.scheme.alpha, self.step
        return np.asarray((u - now.u) / (al * h**2) - now.v / (al * h) - (0.5 / al - 1.0) * now.a)

    def velocity(self, now: Moment, u: Array) -> Array:
        """(4)."""
        de, h = self.scheme.delta, self.step
        return np.asarray(now.v + h * (1.0 - de) * now.a + h * de * self.acceleration(now, u))

    def _displacements(self, now: Moment, free: _Free, meeting: _Meeting) -> ContactSolution:
        """Displacement compatibility, (7), over the points that can touch in this step."""
        rows, points, d = meeting.rows, meeting.points, self.system.dimension
        s = (meeting.operator @ free.u).reshape(-1, d)
        s[:, 0] -= rows.gap
        s[:, 1:] -= _in_frame(rows.frames, _points(rows, now.u, d) + rows.travel)[:, 1:]
        guess = np.where(now.active[points, None], now.force[points], 0.0)
        return self.solver.solve(ContactProblem(meeting.compliance, s, self.friction[points], guess))

    def _velocities(self, free: _Free, meeting: _Meeting, found: ContactSolution) -> tuple[Array, int]:
        """Forces of velocity compatibility, (12) and (14)."""
        p = found.force
        if not self.compatibility.velocity or not found.active.any():
            return p, 0
        on = _components(found.active, found.stick, p.shape[1])
        reached = meeting.operator @ free.v + self.velocity_factor * (meeting.compliance @ p.ravel())
        error = reached - _in_frame(meeting.rows.frames, meeting.rows.speed).ravel()
        return self._corrected(meeting, p, on, error, self.velocity_factor)

    def _accelerations(
        self, now: Moment, free: _Free, meeting: _Meeting, found: ContactSolution
    ) -> tuple[Array, int]:
        """Forces of acceleration compatibility, (13) and (15): nodes newly in contact start from no force."""
        p = found.force
        if not self.compatibility.acceleration or not found.active.any():
            return p, 0
        new = found.active & ~now.active[meeting.points]
        p = np.where(new[:, None], 0.0, p)
        on = _components(found.active & ~new, found.stick & now.stick[meeting.points], p.shape[1])
        reached = meeting.operator @ free.a + self.acceleration_factor * (meeting.compliance @ p.ravel())
        error = reached - _in_frame(meeting.rows.frames, meeting.rows.rate).ravel()
        return self._corrected(meeting, p, on, error, self.acceleration_factor)

    def _corrected(
        self, meeting: _Meeting, p: Array, on: Flags, error: Array, factor: float
    ) -> tuple[Array, int]:
        change, count = self.solver.correct(meeting.compliance[np.ix_(on, on)], error[on], factor)
        found = p.ravel().copy()
        found[on] += change
        return found.reshape(p.shape), count

    def _displaced(
        self, free: _Free, meeting: _Meeting, forces: tuple[Array, ...]
    ) -> tuple[Array, Array, Array]:
        """The whole body: displacement from the first forces, velocity and acceleration from the others."""
        d = self.system.dimension
        loads = np.stack([meeting.operator.T @ force.ravel() for force in forces])
        nodes = np.flatnonzero(loads.any(axis=0).reshape(-1, d).any(axis=1))
        if nodes.size == 0:
            return free.u, free.v, free.a
        added = self.compliance.displace(
            nodes, loads.reshape(len(forces), -1, d)[:, nodes].reshape(len(forces), -1)
        )
        return (
            free.u + added[0], free.v + self.velocity_factor * added[1],
            free.a + self.acceleration_factor * added[2],
        )  # fmt: skip

    def _operators(self, points: Index, rows: Rows) -> tuple[sp.csr_array, Array]:
        """The operator to the points and C; kept while the same points meet the same flat obstacles."""
        key = points.tobytes(), tuple(interface.version for interface in self.interfaces)
        if not self.flat or key != self._known[0]:
            operator = contact_operator(rows)
            self._known = key, (operator, condensed(operator, rows, self.compliance))
        return self._known[1]

    def _rows(self, points: Index, u: Array, t: float) -> Rows:
        shaped = u.reshape(-1, self.system.dimension)
        parts = []
        for k, interface in enumerate(self.interfaces):
            own = points[(points >= self.first[k]) & (points < self.first[k + 1])] - self.first[k]
            parts.append(interface.rows(own, shaped, t, self.step))
        if len(parts) == 1:
            return parts[0]
        weights = sp.csr_array(sp.vstack([p.weights for p in parts], format="csr"))
        names = ("frames", "gap", "travel", "speed", "rate")
        return Rows(weights, *(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def _moment(
        self, now: Moment, t: float, meeting: _Meeting, found: ContactSolution,
        state: tuple[Array, Array, Array], updates: tuple[int, int, int],
    ) -> Moment:  # fmt: skip
        u, v, a = state
        m, d = int(self.first[-1]), self.system.dimension
        p, frames, slip, travel = np.zeros((m, d)), np.zeros((m, d, d)), np.zeros((m, d)), np.zeros((m, d))
        active, stick = np.zeros(m, dtype=bool), np.zeros(m, dtype=bool)
        at, rows = meeting.points, meeting.rows
        p[at], frames[at], travel[at] = found.force, rows.frames, rows.travel
        active[at], stick[at] = found.active, found.stick
        slip[at] = _points(rows, u - now.u, d) - rows.travel
        nodal = meeting.operator.T @ found.force.ravel()
        return Moment(t, u, v, a, p, frames, active, stick, nodal, slip, travel, updates)


@dataclass(frozen=True, eq=False)
class _Free:
    """The end of a step if nothing were touched: w of (5), and (3), (4) of it."""

    u: Array
    v: Array
    a: Array


@dataclass(frozen=True, eq=False)
class _Meeting:
    """What the three conditions of a step share."""

    points: Index
    rows: Rows
    operator: sp.csr_array
    compliance: Array


def _points(rows: Rows, u: Array, d: int) -> Array:
    return np.asarray(rows.weights @ u.reshape(-1, d))


def _in_frame(frames: Array, x: Array) -> Array:
    return np.asarray(np.einsum("mij,mj->mi", frames, x))


def _components(normal: Flags, tangent: Flags, d: int) -> Flags:
    return np.asarray(np.column_stack([normal, *[tangent] * (d - 1)]).ravel())
