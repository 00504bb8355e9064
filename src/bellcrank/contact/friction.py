"""Friction of a continuous contact: Coulomb's law made smooth around zero slip with Stribeck's peak, and bristles."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from bellcrank.base.keys import NUMBER, Keys, may, must
from bellcrank.contact.given import is_finite
from bellcrank.errors import ModelError
from bellcrank.math.tuples import Vec, dot, scale
from bellcrank.program.functions import sqrt, where
from bellcrank.program.trace import Expr, Scalar, compare, function

TINY = 1e-30
"""Square of a slip [m^2/s^2] that keeps the root of it smooth."""
COEFFICIENTS = (
    must("kinetic", NUMBER, "Coefficient while slipping."),
    may("static", NUMBER, "Coefficient at rest."),
    may("stribeck_speed", NUMBER, "Speed over which friction falls from static to kinetic [m/s]."),
)
"""Keys of both laws."""


@dataclass(frozen=True)
class Coulomb:
    """Friction mu(s) N against the slip v, with s^2 = v^2 + slip_speed^2 and

        mu(s) = kinetic + (static - kinetic) exp(-(s / stribeck_speed)^2).

    kinetic, static: Coefficients; static is the kinetic one where missing. stribeck_speed: Over which friction falls
    from static to kinetic [m/s]. slip_speed: Below it friction is viscous [m/s]: a body held on a slope creeps at
    about this speed. Each may be an expression of a system's parameters.
    """

    kind: ClassVar[str] = "coulomb"
    keys: ClassVar[Keys] = Keys(
        "Coulomb's law made smooth around zero slip, with Stribeck's peak.",
        *COEFFICIENTS,
        may("slip_speed", NUMBER, "Speed below which friction is viscous [m/s]."),
    )

    kinetic: Scalar
    static: Scalar | None = None
    stribeck_speed: Scalar = 1e-2
    slip_speed: Scalar = 1e-3

    def __post_init__(self) -> None:
        _check(self, optional=("static",), may_vanish=("kinetic", "static"))

    def force(self, slip: Vec, load: Scalar) -> Vec:
        """The force [N] on the body that slips with the velocity `slip` [m/s] under the normal force `load` [N]."""
        s2 = dot(slip, slip) + self.slip_speed * self.slip_speed
        return scale(-(_coefficient(self, s2) * load) / sqrt(s2), slip)


@dataclass(frozen=True)
class LuGre:
    """Bristles that bend and slip: friction that holds without creep.

    With the bristles' bend z [m], the slip v [m/s] and the load N [N]:

        z-dot = v - (|v| / g(v)) z,   g(v) = mu(v) / stiffness,
        F = -N (stiffness z + damping z-dot + viscous v),

    mu(v) = kinetic + (static - kinetic) exp(-(v / stribeck_speed)^2). At rest stiffness z carries the load along the
    slope, and z-dot = v = 0. Apart, the bristles straighten within `recovery`.

    kinetic, static: Coefficients; static is the kinetic one where missing. stiffness: Of the bristles over the load
    [1/m]: the body shifts by mu / stiffness before it slips. damping: Of the bristles over the load [s/m]; where
    missing, 2 sqrt(stiffness / g) with g = 9.81 m/s^2, critical for a body under its own weight. viscous: [s/m].
    stribeck_speed: [m/s]. recovery: [s].

    Sources: Canudas de Wit, Olsson, Astrom, Lischinsky (1995), equations (1) to (4).
    Differs in: a vector in the plane of contact instead of one direction; forces in proportion to the load; the damping
    falls with the slip as exp(-(v / stribeck_speed)^2), so that the model stays passive (Olsson 1996, section 3.4).
    """

    kind: ClassVar[str] = "lugre"
    keys: ClassVar[Keys] = Keys(
        "Bristles that bend and slip.",
        *COEFFICIENTS,
        may("stiffness", NUMBER, "Of the bristles over the load [1/m]."),
        may("damping", NUMBER, "Of the bristles over the load [s/m]."),
        may("viscous", NUMBER, "[s/m]."),
        may("recovery", NUMBER, "Time in which bristles straighten when the bodies part [s]."),
    )

    kinetic: Scalar
    static: Scalar | None = None
    stiffness: Scalar = 1e4
    damping: Scalar | None = None
    viscous: Scalar = 0.0
    stribeck_speed: Scalar = 1e-2
    recovery: Scalar = 1e-3

    def __post_init__(self) -> None:
        _check(self, optional=("static", "damping"), may_vanish=("damping", "viscous"))

    def rate(self, bend: Sequence[Scalar], slip: Sequence[Scalar], touching: Scalar) -> list[Scalar]:
        """z-dot [m/s]; touching: Whether the bodies touch, a condition.

        The bend and the slip have three components, or four where a patch drills: then the last ones are those at the
        mean distance of the load from the middle of the patch, along the turn.
        """
        s2 = _square(slip)
        speed = sqrt(s2 + TINY)
        held = speed * (self.stiffness / _coefficient(self, s2))
        pull = where(touching, held, 1.0 / self.recovery)
        return [where(touching, v, 0.0) - pull * z for v, z in zip(slip, bend, strict=True)]

    def force(self, bend: Sequence[Scalar], slip: Sequence[Scalar], load: Scalar) -> list[Scalar]:
        """The force [N] on the body that slips with the velocity `slip` [m/s] under the normal force `load` [N]."""
        s2 = _square(slip)
        bending = self.rate(bend, slip, compare("lt", 0.0, load))
        damping = 2.0 * sqrt(self.stiffness / 9.81) if self.damping is None else self.damping
        damped = damping * function("exp", -(s2 / (self.stribeck_speed * self.stribeck_speed)))
        return [
            -load * (self.stiffness * z + damped * w + self.viscous * v)
            for z, w, v in zip(bend, bending, slip, strict=True)
        ]


def with_numbers(friction: Coulomb | LuGre, number: Callable[[Scalar], Scalar]) -> Coulomb | LuGre:
    """A law of friction with each of its numbers replaced, such as parameters by their values."""
    given: dict[str, Any] = {
        name: None if old is None else number(old) for name, old in vars(friction).items()
    }
    return replace(friction, **given)


def _square(slip: Sequence[Scalar]) -> Scalar:
    total: Scalar = 0.0
    for v in slip:
        total = total + v * v
    return total


def _check(friction: Coulomb | LuGre, optional: Sequence[str], may_vanish: Sequence[str]) -> None:
    for name, given in vars(friction).items():
        if given is None and name in optional:
            continue
        if isinstance(given, Expr):
            continue  # of parameters, whose present values are looked at where the contact is made
        low = 0.0 if name in may_vanish else math.ulp(0.0)
        if not (is_finite(given) and low <= given):
            raise ModelError(f"friction: {name} must be a {'positive ' if low else ''}number, not {given!r}")
    if friction.static is not None and _plain(friction) and friction.static < friction.kinetic:
        raise ModelError(
            f"friction: static {friction.static:g} is less than kinetic {friction.kinetic:g}; it must not be smaller"
        )


def _plain(friction: Coulomb | LuGre) -> bool:
    """Whether its coefficients are numbers without parameters."""
    return not (isinstance(friction.static, Expr) or isinstance(friction.kinetic, Expr))


def _coefficient(friction: Coulomb | LuGre, s2: Scalar) -> Scalar:
    """mu at the square of a slip."""
    if friction.static is None or (_plain(friction) and friction.static <= friction.kinetic):
        return friction.kinetic
    fall = function("exp", -(s2 / (friction.stribeck_speed * friction.stribeck_speed)))
    return friction.kinetic + (friction.static - friction.kinetic) * fall


__all__ = ["Coulomb", "LuGre", "with_numbers"]
