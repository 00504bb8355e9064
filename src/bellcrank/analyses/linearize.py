"""Linearisation about a state, at rest or moving: x-dot = A x + B w, y = C x + D w.

With Y = [q, u_i], Y-dot = F(t, Y, p), the state of small motions is x: delta Y = T x, where T spans the
changes that keep loops closed and quaternions unit (:mod:`bellcrank.analyses.tangent`). T moves with the
state, so A = T^+ (F_Y T - T-dot), and T^+ T = 1 gives T^+ T-dot = -(T^+)-dot T; for plain coordinates that is
nothing, for the angular velocities of ball and free joints it is not. A parameter that shifts a loop shifts Y by S with
T^+ S = 0, and B = T^+ (F_Y S + F_p - S-dot), where T^+ S-dot = -(T^+)-dot S. First-order states stand in Y and in x as
they are. Where equations are of velocities alone there are more moves than speeds in x. Contacts that last in the state
hold their rows (:mod:`bellcrank.analyses.lasting`); those that are open are not met by small motions. All derivatives
are exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.analyses.lasting import lasting
from bellcrank.analyses.outputs import Measured
from bellcrank.analyses.tangent import (
    dependent_step,
    freedom_map,
    move_names,
    position_map,
    rate_names,
    speed_map,
    speed_map_rate,
)
from bellcrank.base.optional import needed
from bellcrank.errors import unknown_name
from bellcrank.mechanism import Mechanism
from bellcrank.mechanism.carried_loads import carried_loads, lagging_loads
from bellcrank.mechanism.initial import rates_alone
from bellcrank.program.derive import jvp_program
from bellcrank.program.evaluate import evaluate
from bellcrank.program.program import Program

if TYPE_CHECKING:
    from bellcrank.analyses.equilibrium import Equilibrium
    from bellcrank.analyses.lasting import HeldMotion
    from bellcrank.mechanism import State
    from bellcrank.mechanism.traced import Traced
    from bellcrank.model.system import System

Array = NDArray[np.float64]

NEUTRAL = 1e-7
"""Eigenvalues below this share of the largest count as zero: double zeros are found to half the digits."""


@dataclass(frozen=True)
class Mode:
    """One natural motion: eigenvalue [1/s], frequency |eigenvalue| / 2 pi [Hz], damping ratio, shape.

    shape: Complex amplitude of each move by name, the largest being 1.
    """

    eigenvalue: complex
    frequency: float
    damping_ratio: float
    shape: Mapping[str, complex]

    def __str__(self) -> str:
        largest = sorted(self.shape.items(), key=lambda item: -abs(item[1]))[:3]
        parts = ", ".join(f"{name} {abs(a):.2f}" for name, a in largest)
        return f"{self.frequency:.4g} Hz, damping ratio {self.damping_ratio:.3g}: {parts}"


@dataclass(frozen=True, eq=False)
class Linear:
    """Small motions about a state.

    A, B, C, D: real matrices. states: names of the moves, so many as `moves`, then of the speeds, then of first-order
    states, so many as `first_order`; where wheels and contacts roll or stick there are fewer speeds than moves.
    inputs: names of parameters. outputs: names of quantities. state: where it was taken. output_values: the outputs
    there.
    """

    A: Array
    B: Array
    C: Array
    D: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    state: State
    output_values: Array
    first_order: int = 0
    moves: int = 0

    @property
    def freedoms(self) -> int:
        """Number of degrees of freedom: of independent speeds."""
        return len(self.states) - self.first_order - self.moves

    @cached_property
    def _eigen(self) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
        if not len(self.A):
            return np.zeros(0, complex), np.zeros((0, 0), complex)
        values, vectors = np.linalg.eig(self.A)
        order = np.lexsort((values.imag, np.abs(values)))
        return values[order].astype(complex), vectors[:, order].astype(complex)

    @property
    def eigenvalues(self) -> NDArray[np.complex128]:
        """[1/s], slowest first."""
        return self._eigen[0]

    @property
    def _zero(self) -> float:
        return NEUTRAL * float(np.abs(self.eigenvalues).max(initial=0.0))

    @cached_property
    def modes(self) -> tuple[Mode, ...]:
        """The natural motions, slowest first: one a pair of conjugate eigenvalues, neutral ones left out."""
        names = self.states[: self.moves]
        found = []
        for value, vector in zip(*self._pairs(), strict=True):
            shape = vector[: self.moves]
            largest = shape[np.argmax(np.abs(shape))]
            shape = shape / largest if largest else shape
            size = abs(value)
            found.append(
                Mode(
                    complex(value),
                    size / (2.0 * np.pi),
                    float(-value.real / size),
                    {name: complex(a) for name, a in zip(names, shape, strict=True)},
                )
            )
        return tuple(found)

    def _pairs(self) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
        values, vectors = self._eigen
        keep = (np.abs(values) > self._zero) & (values.imag >= 0.0)
        return values[keep], vectors[:, keep].T

    @property
    def frequencies(self) -> Array:
        """Natural frequencies of the oscillating modes [Hz]."""
        return np.array([m.frequency for m in self.modes if abs(m.eigenvalue.imag) > self._zero])

    @property
    def damping_ratios(self) -> Array:
        """Damping ratios of the oscillating modes."""
        return np.array([m.damping_ratio for m in self.modes if abs(m.eigenvalue.imag) > self._zero])

    @cached_property
    def neutral(self) -> tuple[str, ...]:
        """Moves that cause no acceleration, each named by the coordinate that moves most."""
        from scipy.linalg import qr

        n = self.moves
        moves = self.A[:, :n]
        if not n:
            return ()
        _, s, Vt = np.linalg.svd(moves)
        free = Vt[s <= 1e-9 * max(float(s[0]), 1e-300)]
        _, _, order = qr(free, pivoting=True)
        return tuple(self.states[i] for i in sorted(order[: len(free)]))

    @property
    def stable(self) -> bool | None:
        """Whether no motion grows, neutral ones left out; None where there is nothing else to judge by."""
        values = self.eigenvalues
        if not len(values):
            return True
        if (values.real > max(self._zero, 1e-30)).any():
            return False
        return None if len(self.neutral) == self.moves else True

    def to_control(self) -> Any:
        """A ``control.StateSpace`` with these names (needs the package python-control)."""
        control = needed("control", "to_control", "control", "control")
        return control.ss(
            self.A,
            self.B,
            self.C,
            self.D,
            states=[_plain(name) for name in self.states],
            inputs=[_plain(name) for name in self.inputs],
            outputs=[_plain(name) for name in self.outputs],
        )

    def __repr__(self) -> str:
        return (
            f"<Linear: {len(self.states)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs, "
            f"{len(self.frequencies)} oscillating modes>"
        )


def _plain(name: str) -> str:
    """python-control reads dots in names as system.signal."""
    return name.replace(".", "_")


def linearize(
    system: System | Mechanism,
    state: State | Equilibrium | str | None = None,
    *,
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = (),
    initial: Mapping[str, Any] | None = None,
    parameters: Mapping[str, float] | None = None,
) -> Linear:
    """Small motions about a state: the described start, any other state, or an equilibrium.

    state: None for the described start, a state, an equilibrium, or "equilibrium" for the one that is found from the
    described start. inputs: parameters by name. outputs: quantities by name, accelerations and reactions included.
    initial: start values by joint over the state, coordinate by coordinate; with "equilibrium" its search begins at
    the positions, and the rates are those it moves with.
    """
    from bellcrank.analyses.equilibrium import Equilibrium, equilibrium
    from bellcrank.run.simulation import EQUILIBRIUM, prepared

    if state == EQUILIBRIUM:
        mechanism = system if isinstance(system, Mechanism) else system.mechanism()
        state = equilibrium(mechanism, initial=initial, parameters=parameters)
        initial, parameters = rates_alone(mechanism.system, initial or {}), None
    if isinstance(state, Equilibrium):
        # Its own mechanism has the drivers as they were when it was found, and its parameters.
        mechanism = prepared(state.result.mechanism, "auto", initial, parameters)
    else:
        mechanism = prepared(system, "auto", initial, parameters, state)
    return _Linearisation(mechanism, tuple(inputs)).linear(tuple(outputs))


class _Linearisation:
    """The derivatives in one state."""

    def __init__(self, mechanism: Mechanism, inputs: tuple[str, ...]) -> None:
        known = mechanism.mechanics.parameters
        for name in inputs:
            if name not in known:
                raise unknown_name("parameter", name, known)
        self.mechanism, self.inputs = mechanism, inputs
        self.state = mechanism.start
        self.partition = mechanism.partition
        self.lasting = lasting(mechanism, "linearize")
        self.traced: Traced = mechanism.traced()
        self.n = len(self.partition.independent)
        self.nq, self.ns = mechanism.linkage.positions, len(mechanism.linkage.states)
        independent = list(self.partition.independent)
        self.x = np.concatenate(
            [[self.state.t], self.state.q, self.state.u[independent], mechanism.parameter_values]
        )
        rows = mechanism.loop_state().rows(self.state.q, self.state.t)
        # Equations of velocities alone leave positions free: there are more small moves than independent speeds.
        positions = mechanism.position_partition(self.state)
        self.moves = positions.independent
        G = position_map(mechanism.linkage, self.state.q)
        self.T_q = G @ freedom_map(positions, rows)
        self.S_q = G @ dependent_step(positions, rows, self._misses())
        self.left = speed_map(mechanism.linkage, self.state.q)[list(self.moves)]

    def _misses(self) -> Array:
        """How the constraint residuals change with the inputs."""
        if not self.inputs:
            return np.zeros((self.mechanism.constraints, 0))
        size = 2 * self.mechanism.linkage.speeds
        return self._along(self.traced.full, self._inputs_alone())[size:]

    def _inputs_alone(self) -> Array:
        dx = np.zeros((len(self.x), len(self.inputs)))
        first = len(self.x) - len(self.mechanism.parameter_values)
        for k, name in enumerate(self.inputs):
            dx[first + self.mechanism.mechanics.parameters.index(name), k] = 1.0
        return dx

    def _along(self, program: Program, dx: Array) -> Array:
        """Derivatives of a program's outputs along the columns of dx."""
        x = np.tile(self.x[:, None], (1, dx.shape[1]))
        return evaluate(jvp_program(program), np.vstack([x, dx]))[len(program.outputs) :]

    def directions(self) -> Array:
        """Changes of [t, q, u_i, p]: one column a state of the small motion, then one an input."""
        n, nq, ns, k = self.n, self.nq, self.ns, len(self.moves)
        dx = np.zeros((len(self.x), k + n + ns))
        dx[1 : 1 + nq, :k] = self.T_q
        dx[1 + nq : 1 + nq + n, k : k + n] = np.eye(n)
        dx[1 + nq - ns : 1 + nq, k + n :] = np.eye(ns)
        by_input = self._inputs_alone()
        by_input[1 : 1 + nq] = self.S_q
        return np.hstack([dx, by_input])

    def linear(self, outputs: tuple[str, ...]) -> Linear:
        """A, B, C, D with their names."""
        n, nq, m = self.n, self.nq, self.mechanism
        dx = self.directions()
        rates = self._along(self.traced.rates, dx)
        turning = speed_map_rate(m.linkage, self.state.q, self.state.u)[list(self.moves)]
        states = rates[nq - self.ns : nq]
        reduced = np.vstack([self.left @ rates[:nq] + turning @ dx[1 : 1 + nq], rates[nq:], states])
        size = len(self.moves) + n + self.ns
        moves, speeds = list(range(len(self.moves))), list(range(n))
        held = self.lasting.held(dx) if self.lasting is not None else None
        labels, values, slopes = self._measured(outputs, dx, held)
        if held is not None:
            k = len(self.moves)
            reduced[k : k + n] += held.push_by
            self._let_loads_follow(reduced[k + n :], dx, held)
            T, moves, speeds = held.basis(self._move_sizes(held))
            chosen = [*moves, *(k + i for i in speeds), *range(k + n, size)]
            reduced, slopes, size = reduced[chosen] @ T, slopes @ T, len(chosen)
        names = move_names(m, self.moves), rate_names(m, self.partition.independent)
        return Linear(
            reduced[:, :size],
            reduced[:, size:],
            slopes[:, :size],
            slopes[:, size:],
            (*(names[0][i] for i in moves), *(names[1][i] for i in speeds), *m.linkage.states),
            self.inputs,
            labels,
            self.state,
            values,
            self.ns,
            len(moves),
        )

    def _let_loads_follow(self, states: Array, dx: Array, held: HeldMotion) -> None:
        """Rates of loads that follow reactions, which feel contacts through their forces."""
        m = self.mechanism
        loads = lagging_loads(m)
        if not loads:
            return
        program = carried_loads(m, self.partition)
        x = np.tile(np.concatenate([self.x, held.forces])[:, None], (1, dx.shape[1]))
        moved = evaluate(jvp_program(program), np.vstack([x, dx, held.forces_by]))[len(program.outputs) :]
        for k, load in enumerate(loads):
            states[load.place - self.nq + self.ns] = (moved[k] - dx[1 + load.place]) / load.lag

    def _move_sizes(self, held: HeldMotion) -> Array:
        """How far each move goes with a unit of energy, by which dependent ones are chosen."""
        if len(self.moves) == self.n:
            return held.metric
        M = self.mechanism.mass_matrix(self.state).diagonal()[list(self.moves)]
        return np.asarray(1.0 / np.sqrt(np.where(M > 0.0, M, M.max(initial=0.0) or 1.0)))

    def _measured(
        self, outputs: tuple[str, ...], dx: Array, held: HeldMotion | None
    ) -> tuple[tuple[str, ...], Array, Array]:
        """Labels, values and derivatives of the outputs."""
        if not outputs:
            return (), np.zeros(0), np.zeros((0, dx.shape[1]))
        measured = Measured(self.mechanism, outputs)
        # A last column at rest gives the values where there is nothing to move.
        moves = np.hstack([dx, np.zeros((len(dx), 1))])
        x = np.tile(self.x[:, None], (1, moves.shape[1]))
        values, slopes = measured(self.traced, x, moves, held)
        return measured.labels, values[:, 0], slopes[:, :-1]
