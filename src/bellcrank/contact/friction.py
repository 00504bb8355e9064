"""Friction of a continuous contact: Coulomb's law made smooth around zero slip, with Stribeck's peak."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bellcrank.errors import ModelError
from bellcrank.mechanics.vectors import Vec, dot, scale
from bellcrank.program.trace import Scalar, function, sqrt


@dataclass(frozen=True)
class Coulomb:
    """Friction mu(s) N against the slip v, with s^2 = v^2 + slip_speed^2 and

        mu(s) = kinetic + (static - kinetic) exp(-(s / stribeck_speed)^2).

    kinetic, static: Coefficients; static is the kinetic one where missing. stribeck_speed: Over which friction falls
    from static to kinetic [m/s]. slip_speed: Below it friction is viscous [m/s]: a body held on a slope creeps at
    about this speed.
    """

    kinetic: float
    static: float | None = None
    stribeck_speed: float = 1e-2
    slip_speed: float = 1e-3

    def __post_init__(self) -> None:
        for name in ("kinetic", "static", "stribeck_speed", "slip_speed"):
            given = getattr(self, name)
            if given is None and name == "static":
                continue
            low = 0.0 if name in ("kinetic", "static") else math.ulp(0.0)
            if isinstance(given, bool) or not isinstance(given, int | float) or not low <= given < math.inf:
                raise ModelError(
                    f"friction: {name} must be a {'positive ' if low else ''}number, not {given!r}"
                )
        if self.static is not None and self.static < self.kinetic:
            raise ModelError(
                f"friction: static {self.static:g} is less than kinetic {self.kinetic:g}; it must not be smaller"
            )

    def force(self, slip: Vec, load: Scalar) -> Vec:
        """The force [N] on the body that slips with the velocity `slip` [m/s] under the normal force `load` [N]."""
        s2 = dot(slip, slip) + self.slip_speed * self.slip_speed
        mu: Scalar = self.kinetic
        if self.static is not None and self.static > self.kinetic:
            fall = function("exp", -(s2 / (self.stribeck_speed * self.stribeck_speed)))
            mu = self.kinetic + (self.static - self.kinetic) * fall
        return scale(-(mu * load) / sqrt(s2), slip)


__all__ = ["Coulomb"]
