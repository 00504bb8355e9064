"""Named quantities and their exact derivatives along changes of state and parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.program.derive import jvp_program
from bellcrank.program.evaluate import evaluate
from bellcrank.program.kernel import Kernel, compile_program
from bellcrank.program.made import Table
from bellcrank.program.program import Program
from bellcrank.quantities.multipliers import multiplier_terms
from bellcrank.quantities.quantities import Quantities
from bellcrank.quantities.snapshot import Snapshot

if TYPE_CHECKING:
    from bellcrank.analyses.lasting import HeldMotion
    from bellcrank.formulations.loops import Partition
    from bellcrank.formulations.registry import Formulation
    from bellcrank.mechanism import Mechanism
    from bellcrank.mechanism.traced import Traced

Array = NDArray[np.float64]


MEASURED: Table[tuple[str, ...], Measured] = Table("measured")
DERIVATIVES: Table[tuple[Partition, Formulation], Kernel] = Table("derivatives")


def measured(mechanism: Mechanism, names: Sequence[str]) -> Measured:
    """The quantities `names`, traced and compiled once a mechanism."""
    return mechanism.compiled.once(MEASURED, tuple(names), lambda: Measured(mechanism, names))


def full_with_derivatives(mechanism: Mechanism, traced: Traced) -> Kernel:
    """[x, dx] to all speeds, rates and residuals, and how they change; compiled once a partition."""
    key = traced.partition, traced.formulation
    return mechanism.compiled.once(DERIVATIVES, key, lambda: compile_program(jvp_program(traced.full)))


class Measured:
    """Quantities by name, accelerations and reactions included, as functions of [t, q, u_i, p].

    labels: one a number; a vector asked for whole gives ``name.x``, ``name.y``, ``name.z``.
    """

    def __init__(self, mechanism: Mechanism, names: Sequence[str]) -> None:
        self.mechanism = mechanism
        self.snapshot = Snapshot(mechanism.system, mechanism.tree, mechanism.mechanics)
        quantities = Quantities(self.snapshot)
        found = [quantities.find(name) for name in names]
        self.needs_multipliers = any(q.needs_multipliers for q, _ in found)
        self.labels: tuple[str, ...] = ()
        self.units: tuple[str, ...] = ()
        outputs = []
        for (quantity, components), name in zip(found, names, strict=True):
            values = list(quantity.trace())
            if components is not None:
                values = [values[i] for i in components]
                labels = [name]
            else:
                labels = [f"{name}.{c}" for c in quantity.components] or [name]
            outputs += values
            self.labels += tuple(labels)
            self.units += (quantity.unit,) * len(labels)
        self._outputs = compile_program(jvp_program(Program.of(self.snapshot.inputs, outputs, "outputs")))

    def __call__(
        self, traced: Traced, x: Array, dx: Array, held: HeldMotion | None = None
    ) -> tuple[Array, Array]:
        """Values and derivatives, shape (outputs, columns).

        x: a state [t, q, u_i, p] a column, in the partition of `traced`. dx: how it changes. held: contacts that last,
        where all columns are in one state.
        """
        linkage = self.mechanism.linkage
        n, nq = linkage.speeds, linkage.positions
        p = len(self.mechanism.parameter_values)
        answer = full_with_derivatives(self.mechanism, traced).many(np.vstack([x, dx]).T).T
        size = len(traced.full.outputs)
        nothing = np.zeros((len(self.snapshot.mu), x.shape[1]))
        touch = np.zeros((2, len(self.snapshot.contact_inputs), x.shape[1]))
        if held is not None:
            # The last column of dx is no change.
            answer[n : 2 * n], answer[size + n : size + 2 * n] = self._pushed(traced, x, dx, answer, held)
            touch[0, : len(held.forces)] = held.forces[:, None]
            touch[1, : len(held.forces), :-1] = held.forces_by
        states, moves = (
            np.vstack([z[: 1 + nq], full[: 2 * n], nothing, z[len(z) - p :], forces])
            for z, full, forces in ((x, answer[:size], touch[0]), (dx, answer[size:], touch[1]))
        )
        if self.needs_multipliers:
            here = slice(1 + nq + 2 * n, 1 + nq + 2 * n + len(nothing))
            states[here], moves[here] = self._multipliers(states, moves)
        values = self._outputs.many(np.vstack([states, moves]).T).T
        return values[: len(self.labels)], values[len(self.labels) :]

    def _pushed(
        self, traced: Traced, x: Array, dx: Array, answer: Array, held: HeldMotion
    ) -> tuple[Array, Array]:
        """Rates of all speeds with the forces of contacts, and their derivatives: du + H push."""
        n, size = self.mechanism.linkage.speeds, len(traced.full.outputs)
        independent = list(traced.partition.independent)
        place = {i: k for k, i in enumerate(independent)}
        B = traced.equations.loops.B
        entries = [(c, place[i], entry) for c, row in B.items() for i, entry in row.items()]
        program = Program.of(traced.equations.inputs, [e for _, _, e in entries], "dependent speeds")
        by = evaluate(jvp_program(program), np.vstack([x, dx]))
        push, push_by = held.push, np.hstack([held.push_by, np.zeros((len(held.push), 1))])
        du, du_by = answer[n : 2 * n].copy(), answer[size + n : size + 2 * n].copy()
        du[independent] += push[:, None]
        du_by[independent] += push_by
        for row, (c, i, _) in enumerate(entries):
            du[c] += by[row] * push[i]
            du_by[c] += by[row] * push_by[i] + by[len(entries) + row] * push[i]
        return du, du_by

    def _multipliers(self, states: Array, moves: Array) -> tuple[Array, Array]:
        """J^T mu = f - Q, and J^T d(mu) = d(f - Q) - d(J)^T mu."""
        s, kept = self.snapshot, list(self.mechanism.kept)
        mu, rate = np.zeros((2, len(s.mu), states.shape[1]))
        if not kept:
            return mu, rate
        needed, rows = multiplier_terms(s, self.mechanism.kept)
        entries = [(i, j) for i, row in enumerate(rows) for j in row]
        program = Program.of(s.inputs, [*needed, *(rows[i][j] for i, j in entries)], "multipliers")
        values = evaluate(jvp_program(program), np.vstack([states, moves]))
        n, size = len(needed), len(program.outputs)
        J = np.zeros((2, states.shape[1], len(kept), n))
        for k, (i, j) in enumerate(entries):
            J[0, :, i, j], J[1, :, i, j] = values[n + k], values[size + n + k]
        for c in range(states.shape[1]):
            solve = np.linalg.pinv(J[0, c].T)
            mu[kept, c] = solve @ values[:n, c]
            rate[kept, c] = solve @ (values[size : size + n, c] - J[1, c].T @ mu[kept, c])
        return mu, rate
