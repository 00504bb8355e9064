"""Small moves of a mechanism: between speeds, positions and the independent ones among them.

Positions q hold quaternions and loops, so their small changes are not free. A small move has one number x for each
independent speed: delta q = G(q) H x, with q-dot = G u and u = H u_i + b of the loops (Ahn and Lee, 1994, equation 26).
All matrices here are numbers in one state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.math.rotations import from_quaternion, quaternion_rate
from bellcrank.mechanics.links import Linkage, LinkKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bellcrank.formulations.loops import Partition
    from bellcrank.formulations.partition import NumericRows
    from bellcrank.mechanism import Mechanism

Array = NDArray[np.float64]


def position_map(linkage: Linkage, q: Array) -> Array:
    """G: position rates by speeds."""
    G = np.zeros((linkage.positions, linkage.speeds))
    plain_q, plain_u = np.ones(linkage.positions, dtype=bool), np.ones(linkage.speeds, dtype=bool)
    for link in linkage.links:
        if link.kind is LinkKind.BALL:
            G[link.q : link.q + 4, link.u : link.u + 3] = _turning(q[link.q : link.q + 4])
        elif link.kind is LinkKind.FREE:
            quaternion = q[link.q + 3 : link.q + 7]
            G[link.q + 3 : link.q + 7, link.u : link.u + 3] = _turning(quaternion)
            G[link.q : link.q + 3, link.u + 3 : link.u + 6] = from_quaternion(quaternion.tolist())
        else:
            continue
        plain_q[link.q : link.q + link.kind.positions] = False
        plain_u[link.u : link.u + link.kind.speeds] = False
    plain_q[linkage.positions - len(linkage.states) :] = False
    # All others are coordinates whose rate is a speed; both are numbered in the same order.
    G[np.flatnonzero(plain_q), np.flatnonzero(plain_u)] = 1.0
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
        first = link.quaternion
        if first is None:
            continue
        rate[link.u : link.u + 3, first : first + 4] = 4.0 * _turning(q_dot[first : first + 4]).T
        if link.kind is LinkKind.FREE:
            R = np.array(from_quaternion(q[first : first + 4].tolist()), dtype=float)
            turn = np.cross(np.eye(3), u[link.u : link.u + 3])
            rate[link.u + 3 : link.u + 6, link.q : link.q + 3] = turn @ R.T
    return rate


def _turning(quaternion: Array) -> Array:
    columns = [quaternion_rate(quaternion.tolist(), (a, b, c)) for a, b, c in np.eye(3).tolist()]
    return np.array(columns, dtype=float).T


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
        if link.kind in (LinkKind.REVOLUTE, LinkKind.SCREW):
            turning[link.u] = True
        elif link.kind.has_quaternion:
            turning[link.u : link.u + 3] = True
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
