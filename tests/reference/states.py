"""States for the reference: consistent poses and velocities, and how they read in joint coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from reference.engine import (
    SCALAR_COORDINATES,
    Array,
    ByBody,
    Engine,
    Singular,
    moving_bodies,
    numbers,
    parameter_values,
    row_space,
    turn,
    vee,
)
from reference.jets import Jet


def coordinates(
    system: Any,
    parameters: Mapping[str, float] | None,
    t: float,
    poses: ByBody,
    velocities: ByBody,
    body_accelerations: Mapping[str, tuple[Array, Array]] | None = None,
) -> dict[tuple[str, str], tuple[float, float, float]]:
    """Value, rate and second derivative of every scalar joint coordinate, by (joint, coordinate).

    Quaternions are not among them: see :func:`relative_motion`. The second derivative is that of
    constant velocities where no accelerations are given. Angles lie in (-pi, pi].
    """
    engine = Engine(system, parameters, t, poses, velocities, body_accelerations)
    found = {}
    for joint in engine.joints:
        relative = engine.relative(joint.a, joint.b)
        for name in SCALAR_COORDINATES[engine.kind(joint)]:
            c = engine.coordinate(joint, name, relative)
            found[joint.name, name] = (float(c.f[0]), float(c.f1[0]), float(c.f2[0]))
    return found


@dataclass(frozen=True)
class RelativeMotion:
    """Frame B seen from frame A of a joint, all in A's axes."""

    position: Array
    rotation: Array
    velocity: Array
    angular_velocity: Array
    acceleration: Array
    angular_acceleration: Array


def relative_motion(
    system: Any,
    parameters: Mapping[str, float] | None,
    poses: ByBody,
    velocities: ByBody,
    joint: Any,
    body_accelerations: Mapping[str, tuple[Array, Array]] | None = None,
) -> RelativeMotion:
    """The motion of B's frame relative to A's: derivatives as seen in A."""
    engine = Engine(system, parameters, 0.0, poses, velocities, body_accelerations)
    d, C = engine.relative(joint.a, joint.b)
    omega_matrix = Jet(C.f1, C.f2) @ Jet(C.f, C.f1).transposed
    return RelativeMotion(
        d.f[0], C.f[0], d.f1[0], vee(omega_matrix.f[0]), d.f2[0], vee(omega_matrix.f1[0])
    )  # fmt: skip


def start_poses(system: Any, parameters: Mapping[str, float] | None = None) -> dict[str, tuple[Array, Array]]:
    """The poses in which the bodies were described."""
    values = parameter_values(system, parameters)
    return {
        body.name: (numbers(body.position, values), numbers(body.rotation, values))
        for body in moving_bodies(system)
    }


def random_velocities(
    system: Any, parameters: Mapping[str, float] | None, t: float, poses: ByBody, rng: np.random.Generator
) -> dict[str, tuple[Array, Array]]:
    """Random velocities that satisfy the constraints at these poses."""
    names = [body.name for body in moving_bodies(system)]
    wish = {name: (rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3)) for name in names}
    return project_velocities(system, parameters, t, poses, wish)


def project_velocities(
    system: Any, parameters: Mapping[str, float] | None, t: float, poses: ByBody, velocities: ByBody
) -> dict[str, tuple[Array, Array]]:
    """The nearest velocities that satisfy the constraints."""
    engine = Engine(system, parameters, t, poses, velocities)
    J, _ = engine.constraint_rows()
    U, s, V = row_space(J)
    drift = np.concatenate([rows.f1[0] for _, rows, _ in engine.constraints()] or [np.zeros(0)])
    change = -V.T @ ((U.T @ drift) / s)
    return {
        name: (velocities[name][0] + dv, velocities[name][1] + dw)
        for name, (dv, dw) in engine.by_body(change).items()
    }


def assemble(
    system: Any,
    parameters: Mapping[str, float] | None,
    t: float,
    poses: ByBody,
    tolerance: float = 1e-13,
    steps: int = 50,
    rank: int | None = None,
) -> dict[str, tuple[Array, Array]]:
    """Poses near the given ones that satisfy the constraints (Gauss-Newton with smallest moves).

    rank: Rank of the Jacobian on the constraints. Overconstrained linkages need it: off the constraints
    their redundant rows are independent, but barely, and would throw the poses far away.
    """
    current = {name: (np.array(r, float), np.array(R, float)) for name, (r, R) in poses.items()}
    rest = {name: (np.zeros(3), np.zeros(3)) for name in current}
    miss = 0.0
    for _ in range(steps):
        engine = Engine(system, parameters, t, current, rest)
        rows = [rows.f[0] for _, rows, _ in engine.constraints()]
        error = np.concatenate(rows or [np.zeros(0)])
        miss = float(np.max(np.abs(error), initial=0.0))
        if miss < tolerance:
            return current
        U, s, V = row_space(engine.constraint_rows()[0], rank)
        move = engine.by_body(-V.T @ ((U.T @ error) / s))
        current = {name: (r + move[name][0], turn(move[name][1]) @ R) for name, (r, R) in current.items()}
    raise Singular(f"the constraints could not be met: largest residual {miss:.2e}")


def random_state(
    system: Any,
    parameters: Mapping[str, float] | None,
    t: float,
    rng: np.random.Generator,
    spread: float = 0.1,
    steps: int = 4,
) -> tuple[dict[str, tuple[Array, Array]], dict[str, tuple[Array, Array]]]:
    """Consistent random poses, about `spread` [m, rad] from the start, and velocities."""
    poses = assemble(system, parameters, t, start_poses(system, parameters))
    rest = {name: (np.zeros(3), np.zeros(3)) for name in poses}
    rank = row_space(Engine(system, parameters, t, poses, rest).constraint_rows()[0])[1].size
    wander: ByBody = {name: (rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3)) for name in poses}
    for _ in range(steps):
        wander = project_velocities(system, parameters, t, poses, wander)
        share = spread / steps
        moved = {
            name: (r + share * wander[name][0], turn(share * wander[name][1]) @ R)
            for name, (r, R) in poses.items()
        }
        poses = assemble(system, parameters, t, moved, rank=rank)
    return poses, random_velocities(system, parameters, t, poses, rng)
