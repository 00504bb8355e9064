"""How the static equilibrium of a mechanism changes with its parameters.

At rest the accelerations of the independent coordinates vanish, a(q(z, p), p) = 0, where q closes the loops. With
N = dq/dz and c = dq/dp at held z the implicit function theorem gives dz/dp = -(a_q N)^+ (a_p + a_q c). Directions
without stiffness are left alone, as in the search for the equilibrium.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.analyses.outputs import full_with_derivatives
from bellcrank.analyses.start_tangent import start_tangents
from bellcrank.errors import ModelError

if TYPE_CHECKING:
    from bellcrank.mechanism import Mechanism

Array = NDArray[np.float64]

NEUTRAL = 1e-7
"""Singular values of the stiffness below this share of the largest count as none."""


def equilibrium_tangents(mechanism: Mechanism, columns: list[int]) -> tuple[Array, Array]:
    """dq/dp and du/dp (zero) of a mechanism whose start is its equilibrium, one column a parameter."""
    m = mechanism
    if m.system.drivers:
        name = next(iter(m.system.drivers))
        raise ModelError(f"driver {name!r} moves where the equilibrium rests; start from a state instead")
    q, n = m.start.q, m.linkage.speeds
    independent = list(m.partition.independent)
    traced = m.traced()
    closing, _ = start_tangents(m, columns, held=True)
    x = np.concatenate([[m.start.t], q, np.zeros(len(independent)), m.parameter_values])
    kernel = full_with_derivatives(m, traced)
    accelerations = [n + i for i in independent]
    size = len(traced.full.outputs)

    def changes(dq: Array, dp: Array) -> Array:
        """d(accelerations), one row a direction."""
        still = np.zeros((len(dq), len(independent)))
        dx = np.hstack([np.zeros((len(dq), 1)), dq, still, dp])
        answer = kernel.many(np.hstack([np.tile(x, (len(dq), 1)), dx]))
        return answer[:, size:][:, accelerations]

    N = _motions(m)
    nothing = np.zeros((len(independent), len(m.parameter_values)))
    unit = np.zeros((len(columns), len(m.parameter_values)))
    unit[range(len(columns)), columns] = 1.0
    stiffness = changes(N.T, nothing).T
    driven = changes(closing.T, unit).T
    dz = -np.linalg.pinv(stiffness, rcond=NEUTRAL) @ driven
    return N @ dz + closing, np.zeros((n, len(columns)))


def _motions(m: Mechanism) -> Array:
    """dq/dz: position rates at unit independent speeds, without those that time itself causes."""
    from bellcrank.mechanism.machines import Machines

    rates = Machines(m).for_partition(m.partition).rates
    free, nq = len(m.partition.independent), m.linkage.positions
    v = np.vstack([np.eye(free), np.zeros((1, free))])
    head = np.tile(np.concatenate([[m.start.t], m.start.q]), (free + 1, 1))
    out = rates.many(np.hstack([head, v, np.tile(m.parameter_values, (free + 1, 1))]))[:, :nq]
    return np.asarray((out[:-1] - out[-1]).T)


__all__ = ["equilibrium_tangents"]
