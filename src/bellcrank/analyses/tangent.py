"""Small moves of a mechanism: between speeds, positions and the independent ones among them.

Positions q hold quaternions and loops, so their small changes are not free. A small move has one number x for each
independent speed: delta q = G(q) H x, with q-dot = G u and u = H u_i + b of the loops (Ahn and Lee, 1994, equation 26).
All matrices here are numbers in one state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.mechanics.links import Linkage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bellcrank.formulations.loops import Partition
    from bellcrank.formulations.partition import NumericRows
    from bellcrank.mechanism import Mechanism

Array = NDArray[np.float64]


def position_map(linkage: Linkage, q: Array) -> Array:
    """G: position rates by speeds."""
    G = np.zeros((linkage.positions, linkage.speeds))
    for link in linkage.links:
        here = list(link.own_positions)
        G[np.ix_(here, list(link.own_speeds))] = link.kind.rate_matrix(q[here])
    return G


def speed_map(linkage: Linkage, q: Array) -> Array:
    """The left inverse of G: speeds by position rates; a quaternion moves at half the angular velocity."""
    inverse = position_map(linkage, q).T.copy()
    for link in linkage.links:
        if link.kind.has_quaternion:
            inverse[link.u : link.u + 3] *= 4.0
    return inverse


def speed_map_rate(linkage: Linkage, q: Array, u: Array) -> Array:
    """The rate of :func:`speed_map` in a motion; it is linear in the quaternions."""
    q_dot = position_map(linkage, q) @ u
    rate = np.zeros((linkage.speeds, linkage.positions))
    for link in linkage.links:
        here, own = list(link.own_positions), list(link.own_speeds)
        rate[np.ix_(own, here)] = link.kind.inverse_rate(q[here], q_dot[here], u[own])
    return rate


def freedom_map(partition: Partition, rows: NumericRows) -> Array:
    """H: all speeds by the independent ones, with the loops closed."""
    independent, dependent = list(partition.independent), list(partition.dependent)
    H = np.zeros((rows.J.shape[1], len(independent)))
    H[independent, range(len(independent))] = 1.0
    if dependent:
        used = [e for g in partition.groups for e, _ in g.pivots]
        J = rows.J[used]
        H[dependent] = -np.linalg.solve(J[:, dependent], J[:, independent])
    return H


def dependent_step(partition: Partition, rows: NumericRows, miss: Array) -> Array:
    """The step of all links along their speeds that removes `miss`, independent ones not moved.

    miss: one column a case, over all equations.
    """
    dependent = list(partition.dependent)
    step = np.zeros((rows.J.shape[1], *miss.shape[1:]))
    if dependent:
        used = [e for g in partition.groups for e, _ in g.pivots]
        step[dependent] = -np.linalg.solve(rows.J[np.ix_(used, dependent)], miss[used])
    return step


def is_turning(linkage: Linkage) -> NDArray[np.bool_]:
    """Which speeds are angular."""
    turning = np.zeros(linkage.speeds, dtype=bool)
    for link in linkage.links:
        turning[link.turning_speeds] = True
    return turning


def _whole(linkage: Linkage) -> set[int]:
    """The speeds of ball and free joints, which are no rates of coordinates."""
    whole = (link for link in linkage.links if link.kind.has_quaternion)
    return {link.u + k for link in whole for k in range(link.kind.speeds)}


def move_names(mechanism: Mechanism, speeds: Sequence[int]) -> tuple[str, ...]:
    """Names of the small moves that go with speeds.

    A coordinate goes by its own name; small turns of ball and free joints, and small shifts of free ones,
    are components in the axes of the moving body.
    """
    names = []
    whole = _whole(mechanism.linkage)
    for i in speeds:
        name = mechanism.speed_names[i]
        if i in whole:
            joint, _, speed = name.rpartition(".")
            what = "rotation" if speed.startswith("angular") else "translation"
            name = f"{joint}.{what}_{speed[-1]}"
        names.append(name)
    return tuple(names)


def rate_names(mechanism: Mechanism, speeds: Sequence[int]) -> tuple[str, ...]:
    """Names of speeds: ``joint.angle_rate``, ``joint.angular_velocity_x``."""
    whole, names = _whole(mechanism.linkage), mechanism.speed_names
    return tuple(names[i] if i in whole else f"{names[i]}_rate" for i in speeds)
