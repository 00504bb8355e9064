"""Impacts through the constrained mass matrix (Park et al., 2000, equation 22).

With the dependent speeds eliminated, the jump of the independent ones is M^-1 J^T p, M being the reduced mass matrix:
all joints take their impulsive reactions without appearing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import ModelError
from bellcrank.formulations.equations import Mechanics
from bellcrank.formulations.loops import Loops, Partition
from bellcrank.impacts.impulses import Impact, ImpactError, Propagation, solve_impact
from bellcrank.mechanics.constraints import over_speeds
from bellcrank.mechanics.contacts import ContactPair
from bellcrank.mechanics.dynamics import mass_matrix, tree_columns
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.numbers import Traced
from bellcrank.program.graph import Graph
from bellcrank.program.kernel import Kernel, compile_program
from bellcrank.program.program import Program
from bellcrank.program.trace import Expr, Scalar
from bellcrank.result.impact_table import ContactRecord, ImpactRecord

Array = NDArray[np.float64]

BEFORE_ROWS = 8
"""Of a contact in the program of impacts: gap, normal, point and what a lasting contact keeps at zero, before its
rows."""
DEPENDENT = 1e-7
"""What elimination leaves of a row of contacts that the others give, over the row: the root of rounding or less."""
NOTHING = Impact(np.zeros(0), np.zeros(0), 0.0, (), (), (), 0.0)
"""An impact at which no contact approaches."""


class ImpactProgram:
    """Gaps, contact geometry, reduced mass matrix and contact rows in one partition, compiled."""

    def __init__(self, mechanics: Mechanics, partition: Partition, pairs: Sequence[ContactPair]) -> None:
        self.pairs = tuple(pairs)
        self.partition = partition
        self.n = len(partition.independent)
        self.speeds = mechanics.linkage.speeds
        graph = Graph()
        t = graph.input("t.")
        q = mechanics.linkage.position_inputs(graph)
        v = {i: graph.input(f"u.{i}") for i in partition.independent}
        parameters = [graph.input(name) for name in mechanics.parameters]
        kin = Kinematics(mechanics.linkage, q, Traced(graph))
        loops = Loops(kin, mechanics.constraints, partition, t)
        u = loops.speeds(v)
        kin.set_speeds(u)
        M = mass_matrix(kin, mechanics.inertias, loops.columns())
        outputs: list[Scalar] = []
        outputs += [M.get((max(i, j), min(i, j)), 0.0) for i in range(self.n) for j in range(self.n)]
        place = {i: k for k, i in enumerate(partition.independent)}
        # In the plane or in space: all contacts have as many rows.
        self.width = 2 if any(pair.planar for pair in self.pairs) else 3
        self.varied = [
            k
            for k, pair in enumerate(self.pairs)
            if isinstance(pair.contact.friction, Expr) or isinstance(pair.contact.restitution, Expr)
        ]
        for pair in self.pairs:
            found, equations = pair.rows(kin)
            base = kin.pose(pair.base)
            outputs.append(found.distance)
            outputs += _world(base.R, found.normal)
            outputs += [a + b for a, b in zip(base.p, _world(base.R, found.point_a), strict=True)]
            outputs.append(found.held)
            for equation, direction in zip(equations, pair.directions(found), strict=True):
                row: list[Scalar] = [0.0] * self.n
                drift: Scalar = 0.0
                for i, entry in over_speeds(kin, equation).items():
                    if i in place:
                        row[place[i]] = row[place[i]] + entry
                    else:
                        for j, x in loops.B[i].items():
                            row[place[j]] = row[place[j]] + entry * x
                        drift = drift + entry * loops.b[i]
                outputs += [*row, drift, *_world(base.R, direction)]
        outputs += [*u, _kinetic(mass_matrix(kin, mechanics.inertias, tree_columns(kin)), u)]
        outputs += [kin.number(pair.contact.friction) for pair in self.pairs]
        outputs += [kin.number(pair.contact.restitution) for pair in self.pairs]
        self.program = Program.of([t, *q, *v.values(), *parameters], outputs, "impact")
        self.kernel: Kernel = compile_program(self.program)
        self._seen: deque[tuple[bytes, Instant]] = deque(maxlen=2)

    def evaluate(self, x: Array) -> Instant:
        """What impacts ask of a state. They ask again and again for that before and that after: both are kept."""
        key = x.tobytes()
        for known, instant in self._seen:
            if known == key:
                return instant
        found = self.unpacked(self.kernel(x))
        self._check_laws(found)
        self._seen.append((key, found))
        return found

    def unpacked(self, y: Array) -> Instant:
        """The outputs of the program, or their derivatives, by name."""
        n, m = self.n, len(self.pairs)
        each = BEFORE_ROWS + self.width * (n + 4)
        last = n * n + m * each
        blocks = y[n * n : last].reshape(m, each)
        rows = blocks[:, BEFORE_ROWS:].reshape(m, self.width, n + 4)
        return Instant(
            y[: n * n].reshape(n, n),
            blocks[:, 0],
            blocks[:, 1:4],
            blocks[:, 4:7],
            blocks[:, 7],
            rows[:, :, :n],
            rows[:, :, n],
            rows[:, :, n + 1 :],
            y[last : last + self.speeds],
            y[last + self.speeds].item(),
            y[len(y) - 2 * m : len(y) - m],
            y[len(y) - m :],
        )

    def _check_laws(self, found: Instant) -> None:
        """Raise where parameters give a contact coefficients that are none."""
        for k in self.varied:
            mu, e = found.friction[k], found.restitution[k]
            who = f"contact {self.pairs[k].contact.name!r}"
            if not mu >= 0.0:
                raise ModelError(
                    f"friction of {who} is {mu:g} with the parameter values; it must not be negative"
                )
            if not 0.0 <= e <= 1.0:
                raise ModelError(
                    f"restitution of {who} is {e:g} with the parameter values; it must lie between 0 and 1"
                )


def _kinetic(M: Mapping[tuple[int, int], Scalar], u: Sequence[Scalar]) -> Scalar:
    energy: Scalar = 0.0
    for (i, j), entry in M.items():
        energy = energy + (0.5 if i == j else 1.0) * (entry * (u[i] * u[j]))
    return energy


@dataclass(eq=False)
class Instant:
    """What impacts ask of a state, of all contacts at once.

    M: Reduced mass matrix. gaps, kept: What is apart, and what a contact keeps at zero while it lasts [m]. normals,
    points, directions: In the world, directions those of the rows. rows, drifts: Velocities of contacts over the
    independent speeds, and besides them. speeds: All. kinetic: Energy [J]. friction, restitution: Coefficients.
    """

    M: Array
    gaps: Array
    normals: Array
    points: Array
    kept: Array
    rows: Array
    drifts: Array
    directions: Array
    speeds: Array
    kinetic: float
    friction: Array
    restitution: Array

    def parting(self, u_i: Array) -> Array:
        """Normal speeds of all contacts [m/s]."""
        return np.asarray(self.rows[:, 0] @ u_i + self.drifts[:, 0])

    @cached_property
    def contacts(self) -> list[ContactState]:
        """One by one."""
        columns = self.normals, self.points, self.rows, self.drifts, self.directions
        each = zip(self.gaps.tolist(), *columns, self.kept.tolist(), strict=True)
        return [ContactState(*found) for found in each]


class ContactState(NamedTuple):
    """One contact in one state: gap [m], world normal and point, rows over independent speeds, their directions.

    kept: What the contact keeps at zero while it lasts [m].
    """

    gap: float
    normal: Array
    point: Array
    rows: Array
    drift: Array
    directions: Array
    kept: float


def _world(R: Sequence[Sequence[Scalar]], v: Sequence[Scalar]) -> list[Scalar]:
    return [R[i][0] * v[0] + R[i][1] * v[1] + R[i][2] * v[2] for i in range(3)]


def evened(J: Array, p: Array, friction: Array, tangents: int) -> Array:
    """Impulses of the least norm that do the same, where they press and stay within friction: else those given.

    Contacts that are one too many, like the feet of a table, share the impulse so. Where none is, there are no
    other impulses that do.
    """
    across = J / np.sqrt(np.maximum((J * J).sum(axis=1), 1e-300))[:, None]
    try:
        if len(J) <= J.shape[1] and np.linalg.cholesky(across @ across.T).diagonal().min() > DEPENDENT:
            return p
    except np.linalg.LinAlgError:
        pass
    even = J @ np.linalg.lstsq(J, p, rcond=1e-11)[0]
    parts = even.reshape(-1, 1 + tangents)
    pressing = parts[:, 0] >= 0.0
    held = np.linalg.norm(parts[:, 1:], axis=1) <= friction * parts[:, 0] * (1.0 + 1e-12)
    same = np.max(np.abs(J.T @ (even - p)), initial=0.0) <= 1e-12 * np.max(np.abs(J.T @ p), initial=0.0)
    return np.asarray(even) if same and np.all(pressing & held) else p


def delassus(M: Array, rows: Sequence[Array]) -> Array:
    """W = J M^-1 J^T [1/kg]."""
    J = np.vstack(rows)
    return np.asarray(J @ np.linalg.solve(M, J.T))


def impact(
    program: ImpactProgram,
    t: float,
    q: Array,
    u_i: Array,
    p: Array,
    near: Sequence[int],
    propagation: Propagation = Propagation.SEQUENTIAL,
    jammed: Sequence[int] = (),
) -> tuple[ImpactRecord | None, Impact]:
    """The record of what the contacts numbered in `near` do when they strike, and its solution.

    jammed: Those of them that slide and strike without approaching.
    """
    at = program.evaluate(np.concatenate([[t], q, u_i, p]))
    parting = at.parting(u_i)[near]
    if not jammed and not (parting < 0.0).any():
        return None, NOTHING
    contacts = [program.pairs[k].contact for k in near]
    if len({c.law for c in contacts}) > 1:
        raise ImpactError("contacts that strike at the same instant have different laws; give them one law")
    friction = at.friction[near]
    tangents = program.width - 1 if friction.any() else 0
    J = at.rows[near, : 1 + tangents].reshape(-1, program.n)
    drift = at.drifts[near, : 1 + tangents].ravel()
    inverse = np.linalg.solve(at.M, J.T)
    solved = solve_impact(
        J @ inverse,
        J @ u_i + drift,
        at.restitution[near],
        friction,
        tangents=tangents,
        law=contacts[0].law,
        propagation=propagation,
        jammed=[list(near).index(k) for k in jammed],
    )
    impulses = evened(J, solved.impulses, friction, tangents)
    shares, after = impulses.reshape(-1, 1 + tangents), u_i + inverse @ impulses
    end = program.evaluate(np.concatenate([[t], q, after, p]))
    velocities = solved.velocities[:: 1 + tangents].tolist()
    pressed = np.flatnonzero(shares[:, 0] > 0.0).tolist() or range(len(near))
    records = tuple(
        ContactRecord(
            contacts[i].name,
            at.points[near[i]].copy(),
            at.normals[near[i]].copy(),
            float(shares[i, 0]),
            shares[i, 1:] @ at.directions[near[i], 1 : 1 + tangents],
            float(parting[i]),
            velocities[i],
        )
        for i in pressed
    )
    speeds, energies = (at.speeds.copy(), end.speeds.copy()), (at.kinetic, end.kinetic)
    record = ImpactRecord(t, records, q.copy(), *speeds, *energies, bool(solved.energetic), p.copy())
    return record, solved
