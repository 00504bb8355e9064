"""One step of dynamic contact: displacements, then velocities and accelerations that fit on the contact surface.

Source: Lee (1995), section 3.3, with the corrections of the project's notes. The displacement comes from the forces
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
from bellcrank.elastic.problem import ContactProblem, ContactSolver, Flags
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
        self._solve = system.solver(sp.csr_array(matrix))
        share = 1.0 - af
        self.compliance = Compliance(lambda b: share * self._solve(b), system.unknowns, system.dimension)
        self.friction = np.concatenate([np.full(i.count, i.friction) for i in self.interfaces])
        self.first = np.concatenate([[0], np.cumsum([i.count for i in self.interfaces])])
        self.size = float(np.ptp(system.nodes, axis=0).max())
        self.flat = all(i.flat for i in self.interfaces)
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
            a = system.solver(system.mass)(right)
        none = np.zeros(m, dtype=bool)
        zeros = np.zeros((m, d))
        return Moment(
            0.0, np.zeros(n), v, a, zeros, np.zeros((m, d, d)), none, none, np.zeros(n), zeros, zeros
        )

    def advance(self, now: Moment) -> Moment:
        """From t to t + dt."""
        t = now.t + self.step
        w = self._without_contact(now)
        for interface in self.interfaces:
            interface.renew(w.reshape(-1, self.system.dimension))
        meeting, force, flags, u10, updates = self._displacements(now, w, t)
        v, updates_v = self._velocities(now, meeting, force, flags, u10)
        a, updates_a = self._accelerations(now, meeting, force, flags, u10)
        return self._moment(now, t, meeting, force, flags, (u10, v, a), (updates, updates_v, updates_a))

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
        return self._solve(right)

    def acceleration(self, now: Moment, u: Array) -> Array:
        """(3)."""
        al, h = self.scheme.alpha, self.step
        return np.asarray((u - now.u) / (al * h**2) - now.v / (al * h) - (0.5 / al - 1.0) * now.a)

    def velocity(self, now: Moment, u: Array) -> Array:
        """(4)."""
        de, h = self.scheme.delta, self.step
        return np.asarray(now.v + h * (1.0 - de) * now.a + h * de * self.acceleration(now, u))

    def _displacements(
        self, now: Moment, w: Array, t: float
    ) -> tuple[_Meeting, Array, tuple[Flags, Flags], Array, int]:
        """Displacement compatibility, (7), over the points that can touch in this step."""
        d = self.system.dimension
        gap = self.gap(w, t)
        margin = 2.0 * np.abs(w - now.u).max()
        candidates = (gap < min(margin, 1e-2 * self.size)) | now.active
        about, total = w, 0
        for _ in range(60):
            points = np.flatnonzero(candidates)
            rows = self._rows(points, about, t)
            operator, c = self._operators(points, rows)
            free = (operator @ w).reshape(-1, d)
            free[:, 0] -= rows.gap
            free[:, 1:] -= _in_frame(rows.frames, _points(rows, now.u, d) + rows.travel)[:, 1:]
            guess = np.where(now.active[points, None], now.force[points], 0.0)
            found = self.solver.solve(ContactProblem(c, free, self.friction[points], guess))
            total += found.updates
            u = w + self._displaced(operator, found.force)
            gap = self.gap(u, t)
            missed = ~candidates & (gap < -1e-10 * self.size)
            off = gap[points][found.active]
            settled = self.flat or off.size == 0 or np.abs(off).max() < 1e-12 * self.size
            if not missed.any() and settled:
                meeting = _Meeting(points, rows, operator, c)
                return meeting, found.force, (found.active, found.stick), u, total
            candidates |= missed
            about = u
        raise ContactFailure(
            f"the contact at t = {t:.6g} s does not settle in 60 linearisations; take a step below {self.step:.3g} s"
        )

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

    def _displaced(self, operator: sp.csr_array, force: Array) -> Array:
        if not force.any():
            return np.zeros(self.system.unknowns)
        load = operator.T @ force.ravel()
        d = self.system.dimension
        nodes = np.flatnonzero(np.any(load.reshape(-1, d) != 0.0, axis=1))
        return np.asarray(self.compliance.displace(nodes, load.reshape(-1, d)[nodes].reshape(1, -1))[0])

    def _velocities(
        self, now: Moment, meeting: _Meeting, force: Array, flags: tuple[Flags, Flags], u: Array
    ) -> tuple[Array, int]:
        """Velocity compatibility, (12) and (14)."""
        v = self.velocity(now, u)
        if not self.compatibility.velocity or not flags[0].any():
            return v, 0
        factor = self.scheme.delta / (self.scheme.alpha * self.step)
        on = _components(flags[0], flags[1], force.shape[1])
        error = (meeting.operator @ v) - _in_frame(meeting.rows.frames, meeting.rows.speed).ravel()
        change, count = self.solver.correct(meeting.compliance[np.ix_(on, on)], error[on], factor)
        added = np.zeros(len(on))
        added[on] = change
        return v + factor * self._displaced(meeting.operator, added.reshape(force.shape)), count

    def _accelerations(
        self, now: Moment, meeting: _Meeting, force: Array, flags: tuple[Flags, Flags], u: Array
    ) -> tuple[Array, int]:
        """Acceleration compatibility, (13) and (15): nodes newly in contact start from no force."""
        a = self.acceleration(now, u)
        if not self.compatibility.acceleration or not flags[0].any():
            return a, 0
        factor = 1.0 / (self.scheme.alpha * self.step**2)
        new = flags[0] & ~now.active[meeting.points]
        added = np.where(new[:, None], -force, 0.0)
        if new.any():
            a = a + factor * self._displaced(meeting.operator, added)
        on = _components(flags[0] & ~new, flags[1] & now.stick[meeting.points], force.shape[1])
        error = (meeting.operator @ a) - _in_frame(meeting.rows.frames, meeting.rows.rate).ravel()
        change, count = self.solver.correct(meeting.compliance[np.ix_(on, on)], error[on], factor)
        correction = np.zeros(len(on))
        correction[on] = change
        return a + factor * self._displaced(meeting.operator, correction.reshape(force.shape)), count

    def _moment(
        self, now: Moment, t: float, meeting: _Meeting, force: Array, flags: tuple[Flags, Flags],
        state: tuple[Array, Array, Array], updates: tuple[int, int, int],
    ) -> Moment:  # fmt: skip
        u, v, a = state
        m, d = int(self.first[-1]), self.system.dimension
        p, frames, slip, travel = np.zeros((m, d)), np.zeros((m, d, d)), np.zeros((m, d)), np.zeros((m, d))
        active, stick = np.zeros(m, dtype=bool), np.zeros(m, dtype=bool)
        at = meeting.points
        p[at], frames[at], travel[at] = force, meeting.rows.frames, meeting.rows.travel
        active[at], stick[at] = flags
        slip[at] = _points(meeting.rows, u - now.u, d) - meeting.rows.travel
        nodal = meeting.operator.T @ force.ravel()
        return Moment(t, u, v, a, p, frames, active, stick, nodal, slip, travel, updates)


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
