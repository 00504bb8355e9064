"""Generalised forces of a mechanism that does not move along its freedoms, and their exact stiffness."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bellcrank.analyses.tangent import dependent_step, freedom_map, is_turning, position_map
from bellcrank.formulations.equations import Equations
from bellcrank.formulations.loops import Partition
from bellcrank.math.tuples import add, times
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.numbers import Known
from bellcrank.model.parameters import value
from bellcrank.program.derive import jvp_program
from bellcrank.program.evaluate import evaluate
from bellcrank.program.graph import Graph
from bellcrank.program.kernel import Kernel, compile_program
from bellcrank.program.made import Table
from bellcrank.program.program import Program
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.analyses.holding import Hold
    from bellcrank.analyses.touch import Touch
    from bellcrank.mechanism import Mechanism

Array = NDArray[np.float64]

CLOSED = 1e-13
"""Loops are closed this well, in the model's units, before forces are compared."""

WORN = 20.0
"""Moves of dependent coordinates, for unit moves of the independent ones, that call for another partition."""


INTERPRETED = 20
"""Evaluations of a program in NumPy that take as long as compiling it does, whatever its length."""

Evaluation: TypeAlias = Callable[[Array], Array]
"""Outputs of a program at inputs, or at columns of inputs."""


class Evaluated:
    """A program that is compiled where one search evaluates it more often than :data:`INTERPRETED` times."""

    def __init__(self, program: Program) -> None:
        self.program = program

    @cached_property
    def kernel(self) -> Kernel:
        """Its machine code."""
        return compile_program(self.program)

    def search(self, interpreted: int) -> Evaluation:
        """The evaluation of one search, which counts its own: its bits do not ask what was evaluated before.

        interpreted: How many times it is evaluated in NumPy first.
        """
        count = 0

        def outputs(x: Array) -> Array:
            nonlocal count
            count += 1
            if count <= interpreted:
                return evaluate(self.program, x)
            return self.kernel(x) if x.ndim == 1 else self.kernel.many(x.T).T

        return outputs


STATICS: Table[Partition, tuple[Program, Evaluated, Evaluated]] = Table("static forces")
SWEPT: Table[str, bool] = Table("sweeps of equilibria")


def swept(mechanism: Mechanism) -> None:
    """Compile the static forces of a mechanism of which many equilibria are sought: one pays for half a second of
    compilation where there are some dozens of them."""
    mechanism.compiled.table(SWEPT)["swept"] = True


def _with_tangent(program: Program) -> tuple[Program, Evaluated, Evaluated]:
    return program, Evaluated(program), Evaluated(jvp_program(program))


class Statics:
    """Forces B^T (Q - f) at zero independent speeds and rates, over small moves of the freedoms.

    Moves z are angles [rad] or lengths in units of `length` [m], the size of the mechanism, so that all
    forces have the unit of a moment and can be compared. hold: Coordinates that do not move; forces along them do not
    count. touch: Contacts that press, see :class:`Touch`; first-order states with rates of their own rest at every
    configuration.
    """

    def __init__(
        self, mechanism: Mechanism, t: float, hold: Sequence[Hold] = (), touch: Touch | None = None
    ) -> None:
        self.mechanism, self.t = mechanism, t
        self.hold, self.touch = tuple(hold), touch
        self.p = np.array(mechanism.parameter_values)
        self.loops = mechanism.loop_state()
        self.length, self.weight = _size(mechanism)
        self.partition = mechanism.partition
        self.targets = [h.value(mechanism.start.q) for h in self.hold]
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
        made = self.mechanism.compiled
        self.program, forces, tangent = made.once(
            STATICS,
            self.partition,
            lambda: _with_tangent(static_forces(self.mechanism, self.partition)),
        )
        interpreted = 0 if "swept" in made.table(SWEPT) else INTERPRETED
        self._forces, self._tangent = forces.search(interpreted), tangent.search(interpreted)
        states = RestingStates(self.mechanism, self.partition, self.t)
        self.states = states if states.places else None

    @property
    def plain(self) -> bool:
        """Whether its forces are those of the program alone."""
        return self.touch is None and not self.hold and self.states is None

    def rested(self, q: Array) -> Array:
        """The configuration with first-order states at rest."""
        return q if self.states is None else self.states.settled(q)

    def forces(self, q: Array) -> Array:
        """The force along each freedom [N m]."""
        q = self.rested(q)
        Q = self.units * self._forces(np.concatenate([[self.t], q, self.p]))
        if self.touch is not None:
            Q = Q + self.touch.forces(self, q)
        return Q if self.plain else self.projection(q) @ Q

    def stiffness(self, q: Array) -> tuple[Array, Array]:
        """Forces and their derivatives by moves [N m]."""
        q = self.rested(q)
        Q, J = self.unbound(q)
        if self.touch is not None:
            pressed, by = self.touch.stiffness(self, q)
            Q, J = Q + pressed, J + by
        if self.plain:
            return Q, J
        P = self.projection(q)
        return P @ Q, P @ J @ P

    def unbound(self, q: Array) -> tuple[Array, Array]:
        """Forces and their derivatives but for contacts and holds; first-order states follow the moves."""
        T = self.tangents(q)
        if not len(self.units):
            return np.zeros(0), np.zeros((0, 0))
        return self.along(q, T if self.states is None else T + self.states.follow(q, T))

    def along(self, q: Array, dq: Array) -> tuple[Array, Array]:
        """Forces of the program [N m], and their derivatives along the columns of dq."""
        n = len(self.units)
        x = np.tile(np.concatenate([[self.t], q, self.p])[:, None], (1, dq.shape[1]))
        dx = np.zeros_like(x)
        dx[1 : 1 + len(q)] = dq
        values = self._tangent(np.vstack([x, dx]))
        return self.units * values[:n, 0], self.units[:, None] * values[n:]

    def tangents(self, q: Array) -> Array:
        """Changes of positions by moves."""
        H = freedom_map(self.partition, self.loops.rows(q, self.t))
        return position_map(self.mechanism.linkage, q) @ (H * self.units)

    def held_rows(self, q: Array) -> Array:
        """How held coordinates change with moves, in sizes of the mechanism."""
        if not self.hold:
            return np.zeros((0, len(self.units)))
        H = freedom_map(self.partition, self.loops.rows(q, self.t)) * self.units
        sizes = [1.0 if h.unit == "N m" else self.length for h in self.hold]
        return np.asarray(np.array([h.row(q) @ H for h in self.hold]) / np.array(sizes)[:, None])

    def held_projection(self, q: Array) -> Array:
        """The projection onto moves that leave held coordinates where they are."""
        return self._across(self.held_rows(q))

    def projection(self, q: Array) -> Array:
        """The projection onto moves that leave held coordinates, and contacts that stick, where they are."""
        rows = self.held_rows(q)
        return self._across(rows if self.touch is None else np.vstack([rows, self.touch.sticking(self, q)]))

    def _across(self, rows: Array) -> Array:
        n = len(self.units)
        if not len(rows):
            return np.eye(n)
        _, s, Vt = np.linalg.svd(rows)
        taken = Vt[: int((s > 1e-9 * s.max(initial=0.0)).sum())]
        return np.asarray(np.eye(n) - taken.T @ taken)

    def moved(self, q: Array, z: Array) -> Array | None:
        """The configuration after a move, loops closed; None where they do not close."""
        if not self.plain:
            z = self.projection(q) @ z
        new = self._closed(q, z)
        for _ in range(4):
            if new is None or not self.hold:
                break
            sizes = [1.0 if h.unit == "N m" else self.length for h in self.hold]
            here = zip(self.hold, self.targets, sizes, strict=True)
            miss = np.array(
                [0.0 if (x := h.value(new)) is None or aim is None else (x - aim) / L for h, aim, L in here]
            )
            if np.abs(miss).max() <= CLOSED:
                break
            new = self._closed(new, -np.linalg.pinv(self.held_rows(new), rcond=1e-9) @ miss)
        return new

    def _closed(self, q: Array, z: Array) -> Array | None:
        H = freedom_map(self.partition, self.loops.rows(q, self.t))
        q = self.loops.moved(q, H @ (self.units * z))
        best = np.inf
        for _ in range(20):
            rows = self.loops.rows(q, self.t)
            miss = float(np.abs(rows.residual[list(self.mechanism.kept)]).max(initial=0.0))
            if not np.isfinite(miss) or miss > 1e3 * self.length:
                return None
            if miss <= CLOSED or (miss < 1e-11 * self.loops.coarseness and miss > 0.5 * best):
                return self.rested(q)
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


class RestingStates:
    """First-order states with rates of their own, at rest: r(q, s) = 0 with the freedoms at rest.

    Deflections of tyres and bristles stay as they are. places: Among the positions.
    """

    def __init__(self, mechanism: Mechanism, partition: Partition, t: float) -> None:
        self.mechanism, self.t = mechanism, t
        linkage, system = mechanism.linkage, mechanism.system
        first = linkage.positions - len(linkage.states)
        self.places = [
            first + k for k, name in enumerate(linkage.states) if system.states[name].trace is None
        ]
        self.free = len(partition.independent)
        if self.places:
            rates = mechanism.traced(partition=partition).rates
            self._tangent = jvp_program(
                Program.of(rates.inputs, [rates.outputs[i] for i in self.places], "rates of states")
            )

    def rates(self, q: Array, dq: Array) -> tuple[Array, Array]:
        """The rates, and their derivatives along the columns of dq."""
        columns = dq.shape[1]
        rest = np.concatenate([np.zeros(self.free), self.mechanism.parameter_values])
        x = np.concatenate([[self.t], q, rest])
        dx = np.zeros((len(x), columns))
        dx[1 : 1 + len(q)] = dq
        values = evaluate(self._tangent, np.vstack([np.tile(x[:, None], (1, columns)), dx]))
        return values[: len(self.places), 0], values[len(self.places) :]

    def _own(self, q: Array) -> tuple[Array, Array]:
        unit = np.zeros((len(q), len(self.places)))
        unit[self.places, range(len(self.places))] = 1.0
        return self.rates(q, unit)

    def settled(self, q: Array) -> Array:
        """The configuration with these states at rest, as far as they can be by themselves."""
        q = q.copy()
        for _ in range(30):
            r, S = self._own(q)
            step = np.linalg.lstsq(S, -r, rcond=1e-12)[0]
            q[self.places] += step
            if np.abs(step).max() <= 1e-14 * max(1.0, float(np.abs(q[self.places]).max())):
                break
        return q

    def left(self, q: Array) -> tuple[float, str]:
        """The largest rate left, over the sizes of its terms, and whose it is."""
        r, S = self._own(q)
        sizes = np.abs(S) @ np.abs(q[self.places]) + 1.0
        k = int(np.argmax(np.abs(r) / sizes))
        return float(np.abs(r[k]) / sizes[k]), self.mechanism.linkage.states[
            self.places[k] - self.mechanism.linkage.positions + len(self.mechanism.linkage.states)
        ]

    def follow(self, q: Array, T: Array) -> Array:
        """How positions change with the states that follow moves T."""
        _, S = self._own(q)
        _, by = self.rates(q, T)
        change = np.zeros_like(T)
        change[self.places] = np.linalg.lstsq(S, -by, rcond=1e-12)[0]
        return change


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
