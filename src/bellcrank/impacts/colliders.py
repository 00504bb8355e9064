"""Shapes that may collide, the frames that carry them, and how pairs of them do."""

from __future__ import annotations

import math
from typing import NamedTuple

from bellcrank.impacts.meeting import POSE, TWIST
from bellcrank.program.loops import Ints, Ints2, Reals, Reals2, compiled, reals


class Frames(NamedTuple):
    """Frames that carry shapes.

    first: Where the pose of each frame begins among the outputs of its program; the drift of its twist and the entries
    of its rows follow. begin, twists: Component, speed and column within its node of each entry, those of a frame from
    `begin` on. node: The speeds that move it, -1 for the ground. moved: How fast it turns and its origin moves, and
    what forces add to both in the step [rad/s, m/s]. twist: How it turns and its origin moves [rad/s, m/s].
    """

    first: Ints
    begin: Ints
    twists: Ints2
    node: Ints
    moved: Reals2
    twist: Reals2


class Collider(NamedTuple):
    """A shape in a frame: its kind, the ball and the box around it, and its size.

    flat: The axis along which the normal of an endless plane points, or -1. half: Of the box about the origin of the
    frame [m]. length: Of the body [m]; without bound of the ground. first, sizes: Of the numbers
    that its kernel takes, where they begin and how many they are.
    """

    frame: int
    kind: int
    flat: int
    reach: float
    half_x: float
    half_y: float
    half_z: float
    length: float
    first: int
    sizes: int


class Rule(NamedTuple):
    """How two kinds collide: the kernel of their closest points, how many it gives, and its units.

    warm: Numbers with which a search begins anew, behind those of the shapes. patch: 1 where it finds the points of a
    patch, from the motion in the step too, and numbers them. couple: 1 where its normal force is a couple, that of the
    stop of an angle.
    length: What is small is small against it [m]; that of the smaller body where it is zero. speed, fall: Likewise,
    speed + fall sqrt(length) [m/s].
    """

    kernel: int
    spots: int
    warm: int
    patch: int
    couple: int
    length: float
    speed: float
    fall: float

    def unit(self, a: Collider, b: Collider) -> float:
        """The length of two colliders [m]."""
        found = self.length
        if found == 0.0:
            found = min(a.length, b.length)
        return found


@compiled
def frame_speeds(f: Frames, y: Reals, speeds: Reals2, before: int, added: int) -> None:
    """How frames turn and move, the forces of the step included, how fast, and how much of it these add."""
    twist = reals(12)
    for k in range(len(f.first)):
        for i in range(TWIST):
            twist[i] = y[f.first[k] + POSE + i]
            twist[TWIST + i] = 0.0
        for e in range(f.begin[k], f.begin[k + 1]):
            value = y[f.first[k] + POSE + TWIST + e - f.begin[k]]
            more = speeds[added, f.twists[e, 1]]
            twist[f.twists[e, 0]] += value * (speeds[before, f.twists[e, 1]] + more)
            twist[TWIST + f.twists[e, 0]] += value * more
        for i in range(TWIST):
            f.twist[k, i] = twist[i]
        for i in range(4):
            a, b, c = twist[3 * i], twist[3 * i + 1], twist[3 * i + 2]
            f.moved[k, i] = math.sqrt(a * a + b * b + c * c)


@compiled
def offset(y: Reals, i: int, j: int) -> tuple[float, float, float]:
    """From one pose to another [m]."""
    return y[j + 9] - y[i + 9], y[j + 10] - y[i + 10], y[j + 11] - y[i + 11]


@compiled
def above(y: Reals, pose: int, axis: int, x: float, z: float, w: float) -> float:
    """A world vector along an axis of a pose."""
    along: float = y[pose + axis] * x + y[pose + 3 + axis] * z + y[pose + 6 + axis] * w
    return along


@compiled
def across(y: Reals, pose: int, half: Collider, other: int, axis: int) -> float:
    """How far the box in a pose reaches along an axis of another [m]."""
    a, b, c = y[other + axis], y[other + 3 + axis], y[other + 6 + axis]
    return (
        half.half_x * abs(above(y, pose, 0, a, b, c))
        + half.half_y * abs(above(y, pose, 1, a, b, c))
        + half.half_z * abs(above(y, pose, 2, a, b, c))
    )


@compiled
def apart(f: Frames, y: Reals, a: Collider, b: Collider, near: float) -> bool:
    """Whether two shapes are further apart than `near` [m], by the balls and boxes around them."""
    i, j = f.first[a.frame], f.first[b.frame]
    x, z, w = offset(y, i, j)
    if a.flat >= 0:
        return above(y, i, a.flat, x, z, w) > across(y, j, b, i, a.flat) + near
    if b.flat >= 0:
        return -above(y, j, b.flat, x, z, w) > across(y, i, a, j, b.flat) + near
    reach = a.reach + b.reach + near
    if x * x + z * z + w * w > reach * reach:
        return True
    if abs(above(y, i, 0, x, z, w)) > a.half_x + across(y, j, b, i, 0) + near:
        return True
    if abs(above(y, i, 1, x, z, w)) > a.half_y + across(y, j, b, i, 1) + near:
        return True
    if abs(above(y, i, 2, x, z, w)) > a.half_z + across(y, j, b, i, 2) + near:
        return True
    if abs(above(y, j, 0, x, z, w)) > b.half_x + across(y, i, a, j, 0) + near:
        return True
    if abs(above(y, j, 1, x, z, w)) > b.half_y + across(y, i, a, j, 1) + near:
        return True
    return abs(above(y, j, 2, x, z, w)) > b.half_z + across(y, i, a, j, 2) + near


@compiled
def surface_speed(f: Frames, y: Reals, a: Collider, b: Collider) -> float:
    """An upper bound of the speed at which two shapes near each other [m/s]."""
    total: float = f.moved[a.frame, 1] + f.moved[b.frame, 1]
    # The contact lies on the smaller one; an endless shape reaches as far as its partner is away.
    x, z, w = offset(y, f.first[a.frame], f.first[b.frame])
    away = math.sqrt(x * x + z * z + w * w)
    if f.moved[a.frame, 0] > 0.0:
        total += f.moved[a.frame, 0] * min(a.reach, away + b.reach)
    if f.moved[b.frame, 0] > 0.0:
        total += f.moved[b.frame, 0] * min(b.reach, away + a.reach)
    return total


__all__ = ["Collider", "Frames", "Rule", "apart", "frame_speeds", "surface_speed"]
