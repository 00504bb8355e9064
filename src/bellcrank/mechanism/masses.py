"""Whether the masses determine the motion: massless members are legal, but not everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import SingularMechanism
from bellcrank.math.tuples import ZERO
from bellcrank.mechanics.constraints import twist_columns
from bellcrank.mechanics.dynamics import armature_squares
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.links import GROUND
from bellcrank.mechanics.numbers import Known
from bellcrank.mechanics.start import numbers

if TYPE_CHECKING:
    from bellcrank.mechanism.mechanism import Mechanism

Array = NDArray[np.float64]

EFFORTLESS = 1e-9
"""A motion is without inertia where its kinetic energy is less than this, squared, of its parts' own."""


def check_masses(mechanism: Mechanism) -> None:
    """Raise where a motion that the loops allow in the start state moves nothing that has inertia.

    The kinetic energy is |W u|^2 / 2 with W from the masses; W must have full rank on the null space of the
    constraints. That needs no look where every body has mass and inertia.
    """
    values = dict(zip(mechanism.mechanics.parameters, mechanism.parameter_values, strict=True))
    light = [name for name in mechanism.system.bodies if not _is_heavy(mechanism, name, values)]
    if not light or not mechanism.degrees_of_freedom:
        return
    W = _energy_rows(mechanism, values)
    size = np.linalg.norm(W, axis=0)
    largest = size.max(initial=0.0)
    size = np.where(size > EFFORTLESS * largest, size, largest if largest > 0.0 else 1.0)
    J = mechanism.loop_state().rows(mechanism.start.q, mechanism.start.t).J[list(mechanism.kept)] / size
    # In a singular configuration more moves than the freedoms; which of it is real is not judged here.
    free = np.linalg.svd(J)[2][len(J) :] if len(J) else np.eye(len(size))
    effort = W / size @ free.T if len(J) else W / size
    if len(W) >= len(free) and np.linalg.svd(effort, compute_uv=False)[-1] > EFFORTLESS:
        return
    u = np.abs(free.T @ np.linalg.svd(effort)[2][-1])
    moving = [i for i in np.argsort(-u)[:4] if u[i] > 0.1 * u.max()]
    names = ", ".join(repr(mechanism.speed_names[i]) for i in moving)
    where = " or ".join(repr(name) for name in light[:6])
    raise SingularMechanism(
        f"{mechanism.system.name!r}: no mass or inertia opposes a motion in {names}, so its acceleration is "
        f"not determined; give {where} a mass or an inertia that this motion moves, or take the freedom away "
        "with a driver or a fixed joint"
    )


def _is_heavy(mechanism: Mechanism, name: str, values: dict[str, float]) -> bool:
    body = mechanism.system.bodies[name]
    moments = np.linalg.eigvalsh(numbers(body.inertia, values))
    on_ground = mechanism.linkage.placements[name].link == GROUND
    return on_ground or bool(numbers((body.mass,), values)[0] > 0.0 and moments[0] > 1e-12 * moments[-1])


def _energy_rows(mechanism: Mechanism, values: dict[str, float]) -> Array:
    """W: square roots of masses and moments times the velocities that each speed gives them."""
    linkage, n = mechanism.linkage, mechanism.coordinates
    kin = Kinematics(linkage, mechanism.start.q.tolist(), Known(values))
    twists: list[Array] = []
    for link in linkage.links:
        V = twists[link.parent].copy() if link.parent != GROUND else np.zeros((6, n))
        own = np.array([[*w, *v] for w, v in twist_columns(kin, link.index, GROUND, ZERO)], dtype=float).T
        if link.kind.rows_in_base:
            own = own @ np.array(kin.pose(link.index).R, dtype=float)
        if link.kind.modal:
            shape = np.array([[*w, *v] for w, v in kin.nodes[link.index].columns()], dtype=float)
            V[:, link.eta_u : link.eta_u + link.modes] += own @ shape.reshape(-1, 6).T
        else:
            V[:, link.u : link.u + link.kind.speeds] = own
        twists.append(V)
    rows: list[Array] = [np.zeros((0, n))]
    for link in linkage.links:
        if link.shape is not None:
            # Modes have a mass of their own: whatever moves them meets inertia.
            rows.append(np.sqrt(float(link.shape.mass) or 1.0) * np.eye(n)[list(link.own_speeds)])
        for square in armature_squares(kin, link):
            row = np.zeros((1, n))
            row[0, list(link.own_speeds)] = numbers(square.row, values)
            rows.append(np.sqrt(numbers((square.weight,), values)[0]) * row)
    for name, body in mechanism.system.bodies.items():
        seat = linkage.placements[name]
        if seat.link == GROUND:
            continue
        pose, V = kin.pose(seat.link), twists[seat.link]
        R, axes = np.array(pose.R, dtype=float), numbers(seat.r, values)
        c = numbers(pose.p, values) + R @ (
            numbers(seat.p, values) + axes @ numbers(body.center_of_mass, values)
        )
        mass = float(numbers((body.mass,), values)[0])
        if mass > 0.0:
            rows.append(np.sqrt(mass) * (V[3:] + np.cross(V[:3], c, axis=0)))
        moments, principal = np.linalg.eigh(numbers(body.inertia, values))
        turning = (R @ axes @ principal).T @ V[:3]
        rows.append(np.sqrt(np.maximum(moments, 0.0))[:, None] * turning)
    W = np.concatenate(rows)
    return np.asarray(W[np.any(W != 0.0, axis=1)])
