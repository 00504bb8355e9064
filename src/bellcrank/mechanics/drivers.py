"""Drivers as constraint equations (Ahn and Lee 1994, equation 12)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from bellcrank.math.tuples import UNIT, ZERO, dot, sub
from bellcrank.mechanics.constraints import Constraint, Equation, Marker, Pair
from bellcrank.mechanics.functions import time_rates
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.links import GROUND, Linkage
from bellcrank.model.joints.joint import AXES, SHIFTS
from bellcrank.program.functions import cos, sin
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.model.joints import Joint


def coordinate_driver(
    linkage: Linkage, name: str, link: int, function: Callable[[Scalar], Scalar]
) -> Constraint:
    """q = f(t) (12)."""

    def equations(kin: Kinematics, t: Scalar) -> list[Equation]:
        x, v, _ = time_rates(function, t, kin)
        return [Equation(kin.q[linkage.links[link].q] - x, {link: (1.0,)}, GROUND, v)]

    def gammas(kin: Kinematics, t: Scalar) -> list[Scalar]:
        return [time_rates(function, t, kin)[2]]

    links = frozenset({link})
    return Constraint(name, f"driver {name!r}", 1, GROUND, links, ("coordinate",), equations, gammas)


def point_driver(
    linkage: Linkage, name: str, point: Marker, axis: int, function: Callable[[Scalar], Scalar]
) -> Constraint:
    """A world component of a point follows f(t) (12)."""
    ground = Marker(GROUND, UNIT, ZERO)
    return _shift_driver(linkage, name, ground, point, axis, function, f"world {AXES[axis]}")


def measured_driver(
    linkage: Linkage,
    name: str,
    joint: Joint,
    sides: tuple[Marker, Marker],
    coordinate: str,
    function: Callable[[Scalar], Scalar],
) -> Constraint:
    """A coordinate measured between two frames follows f(t): of cut joints, and places of free ones.

    Angles are closed through sine and cosine, so that they may turn more than once.
    """
    a, b = sides
    if coordinate in SHIFTS:
        return _shift_driver(linkage, name, a, b, SHIFTS[coordinate], function, coordinate)
    base = linkage.common(a.link, b.link)

    def equations(kin: Kinematics, t: Scalar) -> list[Equation]:
        pair = Pair(kin, a, b, base)
        x, v, _ = time_rates(function, t, kin)
        z, c, s = joint.turn(pair.A, pair.B, coordinate)
        row = pair.row(lambda w, _: -dot(w, z), lambda w, _: dot(w, z))
        return [Equation(s * cos(x) - c * sin(x), row, base, v, (z, ZERO))]

    def gammas(kin: Kinematics, t: Scalar) -> list[Scalar]:
        turning = turn_bias(Pair(kin, a, b, base), joint.turns_with_b(coordinate))
        return [time_rates(function, t, kin)[2] - turning]

    links = linkage.owning((*linkage.path(a.link, base), *linkage.path(b.link, base)))
    return Constraint(name, f"driver {name!r}", 1, base, links, (coordinate,), equations, gammas, (a, b))


def turn_bias(pair: Pair, with_b: bool) -> Scalar:
    """The second rate of an angle between two frames at constant speeds; its axis is fixed in b or in a."""
    side = pair.B if with_b else pair.A
    kin, a, b, base = pair.kin, pair.a, pair.b, pair.base
    w = sub(kin.motion(b.link, base).w, kin.motion(a.link, base).w)
    bias = sub(kin.bias(b.link, base).w, kin.bias(a.link, base).w)
    return dot(side.axis_rate(2), w) + dot(side.axis(2), bias)


def _shift_driver(
    linkage: Linkage,
    name: str,
    a: Marker,
    b: Marker,
    axis: int,
    function: Callable[[Scalar], Scalar],
    label: str,
) -> Constraint:
    base = linkage.common(a.link, b.link)

    def equations(kin: Kinematics, t: Scalar) -> list[Equation]:
        x, v, _ = time_rates(function, t, kin)
        e = Pair(kin, a, b, base).dot2(axis)
        return [Equation(e.residual - x, e.row, base, v, e.on_b)]

    def gammas(kin: Kinematics, t: Scalar) -> list[Scalar]:
        return [time_rates(function, t, kin)[2] + Pair(kin, a, b, base).dot2_gamma(axis)]

    links = linkage.owning((*linkage.path(a.link, base), *linkage.path(b.link, base)))
    return Constraint(name, f"driver {name!r}", 1, base, links, (label,), equations, gammas, (a, b))
