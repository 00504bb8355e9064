"""Generalised forces of a mechanism that does not move along its freedoms, and their exact stiffness."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.analyses.tangent import dependent_step, freedom_map, is_turning, position_map
from bellcrank.formulations.equations import Equations
from bellcrank.math.tuples import add, times
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.numbers import Known
from bellcrank.model.parameters import value
from bellcrank.program.derive import jvp_program
from bellcrank.program.evaluate import evaluate
from bellcrank.program.graph import Graph
from bellcrank.program.program import Program
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.formulations.loops import Partition
    from bellcrank.mechanism import Mechanism

Array = NDArray[np.float64]

CLOSED = 1e-13
"""Loops are closed this well, in the model's units, before forces are compared."""

WORN = 20.0
"""Moves of dependent coordinates, for unit moves of the independent ones, that call for another partition."""


class Statics:
    """Forces B^T (Q - f) at zero independent speeds and rates, over small moves of the freedoms.

    Moves z are angles [rad] or lengths in units of `length` [m], the size of the mechanism, so that all
    forces have the unit of a moment and can be compared.
    """

    def __init__(self, mechanism: Mechanism, t: float) -> None:
        self.mechanism, self.t = mechanism, t
        self.p = np.array(mechanism.parameter_values)
        self.loops = mechanism.loop_state()
        self.length, self.weight = _size(mechanism)
        self.partition = mechanism.partition
        self._trace()
        self.turn_to(mechanism.start.q)

    def turn_to(self, q: Array) -> None:
        """Choose the independent speeds anew for a configuration."""
        from bellcrank.mechanism import State

        state = State(self.t, q, np.zeros(self.mechanism.linkage.speeds))
        partition = self.mechanism.choose_partition(state)
        if partition == self.partition:
            return
        self.partition = partition
        self._trace()

    def _trace(self) -> None:
        independent = list(self.partition.independent)
        turning = is_turning(self.mechanism.linkage)[independent]
        self.units = np.where(turning, 1.0, self.length)
        self.program = static_forces(self.mechanism, self.partition)
        self._tangent = jvp_program(self.program)

    def forces(self, q: Array) -> Array:
        """The force along each freedom [N m]."""
        return self.units * evaluate(self.program, np.concatenate([[self.t], q, self.p]))

    def stiffness(self, q: Array) -> tuple[Array, Array]:
        """Forces and their derivatives by moves [N m]."""
        H = freedom_map(self.partition, self.loops.rows(q, self.t))
        T = position_map(self.mechanism.linkage, q) @ (H * self.units)
        n, columns = len(self.units), T.shape[1]
        if not n:
            return np.zeros(0), np.zeros((0, 0))
        x = np.tile(np.concatenate([[self.t], q, self.p])[:, None], (1, columns))
        dx = np.zeros_like(x)
        dx[1 : 1 + len(q)] = T
        values = evaluate(self._tangent, np.vstack([x, dx]))
        return self.units * values[:n, 0], self.units[:, None] * values[n:]

    def moved(self, q: Array, z: Array) -> Array | None:
        """The configuration after a move, loops closed; None where they do not close."""
        H = freedom_map(self.partition, self.loops.rows(q, self.t))
        q = self.loops.moved(q, H @ (self.units * z))
        best = np.inf
        for _ in range(20):
            rows = self.loops.rows(q, self.t)
            miss = float(np.abs(rows.residual[list(self.mechanism.kept)]).max(initial=0.0))
            if not np.isfinite(miss) or miss > 1e3 * self.length:
                return None
            if miss <= CLOSED or (miss < 1e-11 * self.loops.coarseness and miss > 0.5 * best):
                return q
            best = miss
            step = dependent_step(self.partition, rows, rows.residual)
            if np.abs(step).max() > 1.0:
                return None
            q = self.loops.moved(q, step)
        return None

    def conditioned(self, q: Array) -> bool:
        """Whether the dependent speeds still follow well from the independent ones."""
        H = freedom_map(self.partition, self.loops.rows(q, self.t)) * self.units
        H[~is_turning(self.mechanism.linkage)] /= self.length
        return bool(np.abs(H).max(initial=0.0) < WORN)


def static_forces(mechanism: Mechanism, partition: Partition) -> Program:
    """[t, q, p] to the generalised force of each independent speed, with those speeds and their rates zero.

    Drivers set the dependent speeds and rates (Kang and Yoon, equations 35 and 36, with q-dot_i = 0).
    """
    graph, mechanics = Graph(), mechanism.mechanics
    t = graph.input("t.")
    q = tuple(mechanics.linkage.position_inputs(graph))
    still: dict[int, Scalar] = dict.fromkeys(partition.independent, 0.0)
    equations = Equations(mechanics, partition, graph, t, q, still, lambda values: [0.0] * len(values))
    forces = equations.forces(equations.bias)
    reduced = [forces[i] for i in partition.independent]
    for c, row in equations.loops.B.items():
        reduced = [Q + row.get(i, 0.0) * forces[c] for Q, i in zip(reduced, still, strict=True)]
    return Program.of(equations.inputs, reduced, "static forces")


def _size(mechanism: Mechanism) -> tuple[float, float]:
    """Half the extent of the mechanism in its start [m], and its weight [N]."""
    named = mechanism.loop_state().parameters
    kin = Kinematics(mechanism.linkage, mechanism.start.q.tolist(), Known(named))
    places, mass = [], 0.0
    for link in mechanism.linkage.links:
        pose, m = kin.pose(link.index), value(link.inertia.m, named)
        places.append(pose.p)
        if m > 0.0:
            h = kin.vector(link.inertia.h)
            places.append(add(pose.p, times(pose.R, (h[0] / m, h[1] / m, h[2] / m))))
            mass += m
    # A mechanism that is welded to the ground as a whole has no links.
    points = np.array(places or [(0.0, 0.0, 0.0)], dtype=float)
    extent = float(np.linalg.norm(np.ptp(points, axis=0))) / 2.0
    gravity = float(np.linalg.norm(np.array(kin.vector(mechanism.linkage.gravity), dtype=float)))
    return (extent if extent > 1e-9 else 1.0), mass * gravity
