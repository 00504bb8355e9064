"""Newton-Euler in absolute coordinates with multipliers: the plain second route, for tests only.

Every joint, tree or cut, is a set of equations between the frames it joins; every body has six
accelerations; one dense system gives them all together with the multipliers. Nothing here is shared
with the package's own mechanics: the equations are written at position level on jets (f, f', f'' along
the motion, see :mod:`reference.jets`), which yields Jacobian and quadratic velocity terms exactly.

For the frames of a joint, with C = R_A^T R_B and d = R_A^T (r_B - r_A), the equations are entries of d and C.
Redundant rows are taken out by a singular value decomposition; the multipliers are those of least norm.

States are dictionaries by body name: `poses[name] = (position of the origin, rotation body to world)`,
`velocities[name] = (velocity of the origin, angular velocity)`, all in world axes [m, rad, s].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from reference.engine import Array, ByBody, Engine, Singular, number, numbers, row_space, skew
from reference.forces import add_forces


@dataclass(frozen=True)
class Solution:
    """What :func:`solve` finds."""

    accelerations: dict[str, tuple[Array, Array]]
    """By body: acceleration of the origin and angular acceleration, world axes [m/s^2, rad/s^2]."""
    multipliers: Array
    """One a constraint row, least norm, so that M a + J^T multipliers = f."""
    jacobian: Array
    rank: int


def accelerations(
    system: Any, parameters: Mapping[str, float] | None, t: float, poses: ByBody, velocities: ByBody
) -> dict[str, tuple[Array, Array]]:
    """Accelerations of the body origins and angular accelerations [m/s^2, rad/s^2], world axes.

    The poses and velocities must satisfy the constraints. `parameters` by name; None takes the values
    of the system.
    """
    return solve(system, parameters, t, poses, velocities).accelerations


def solve(
    system: Any, parameters: Mapping[str, float] | None, t: float, poses: ByBody, velocities: ByBody
) -> Solution:
    """Accelerations and multipliers of the state."""
    engine = Engine(system, parameters, t, poses, velocities)
    J, gamma = engine.constraint_rows()
    M, f = mass_and_force(engine)
    U, s, V = row_space(J)
    rest = gamma - U @ (U.T @ gamma)
    if np.linalg.norm(rest) > 1e-7 * (1.0 + np.linalg.norm(gamma)):
        raise Singular("the velocities do not satisfy redundant constraints: rows contradict each other")
    # Equations and unknowns are scaled so that light and heavy bodies weigh alike in the pivoting.
    rank, n = V.shape
    scale = np.sqrt(max(float(np.trace(M)), 1e-30) / n)
    kkt = np.block([[M / scale**2, V.T], [V, np.zeros((rank, rank))]])
    rhs = np.concatenate([f / scale**2, -(U.T @ gamma) / s])
    singular_values = np.linalg.svd(kkt, compute_uv=False)
    if singular_values[-1] < 1e-14 * singular_values[0]:
        raise Singular("the masses and constraints do not determine the accelerations")
    x = np.linalg.solve(kkt, rhs)
    x += np.linalg.solve(kkt, rhs - kkt @ x)
    return Solution(engine.by_body(x[:n]), U @ (x[n:] * scale**2 / s), J, rank)


def residuals(
    system: Any, parameters: Mapping[str, float] | None, t: float, poses: ByBody, velocities: ByBody
) -> dict[str, tuple[Array, Array]]:
    """Position and velocity residual of every joint, driver and coupling, by its name."""
    engine = Engine(system, parameters, t, poses, velocities)
    return {name: (rows.f[0], rows.f1[0]) for name, rows, _ in engine.constraints()}


def mass_and_force(engine: Engine) -> tuple[Array, Array]:
    """M and f about the origins, in world axes: M a = f without constraints."""
    n = 6 * len(engine.bodies)
    M, f = np.zeros((n, n)), np.zeros(n)
    gravity = numbers(engine.system.gravity, engine.values)
    for body in engine.bodies:
        i = engine.index[body.name]
        _, R = engine.poses[body.name]
        _, w = engine.velocities[body.name]
        m = number(body.mass, engine.values)
        c = R @ numbers(body.center_of_mass, engine.values)
        inertia = R @ numbers(body.inertia, engine.values) @ R.T
        S = skew(c)
        M[i : i + 3, i : i + 3] = m * np.eye(3)
        M[i : i + 3, i + 3 : i + 6] = -m * S
        M[i + 3 : i + 6, i : i + 3] = m * S
        M[i + 3 : i + 6, i + 3 : i + 6] = inertia - m * S @ S
        pull = m * gravity - m * np.cross(w, np.cross(w, c))
        f[i : i + 3] = pull
        f[i + 3 : i + 6] = np.cross(c, pull) - np.cross(w, inertia @ w)
    add_forces(engine, f)
    return M, f
