"""A tyre with friction on uneven ground, traced into the machine code of the car.

The normal force is the unilateral spring and damper of the paper's car, along the normal of the ground instead of the
vertical. The slip force is linear in small slips with the stiffnesses that the paper's viscous law has at 10 m/s,
and saturates at Coulomb's limit (combined slip by one ellipse):

    n = (-h_x, -h_y, 1)/|.|,   d = R - (c_z - h) n_z,   N = max(0, k d - c v.n) for d > 0, else 0
    r = -(R - d) n,   w = v + omega x r,   e_x = a x n/|a x n|,   e_y = n x e_x
    V = sqrt((v.e_x)^2 + V_0^2),   s_x = C_x (w.e_x)/V,   s_y = C_y (w.e_y)/V
    F = N n - N (s_x e_x + s_y e_y)/sqrt(1 + (s_x^2 + s_y^2)/mu^2),   M = r x F

with the wheel centre c, its velocity v, the spin axis a and the slip velocity w of the contact point. V_0 keeps
the law finite at rest: below it the tyre resists slip like a damper, so a car on a slope creeps instead of sticking.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bellcrank.apps.drive.terrain import Terrain
from bellcrank.math.tuples import Vec, add, cross, dot, scale
from bellcrank.program.functions import maximum, sqrt, where
from bellcrank.program.trace import Scalar


@dataclass(frozen=True)
class Tyre:
    """radius: [m]. stiffness: [N/m]. damping: [N s/m]. longitudinal, lateral: Slip force per load and slip, C_x and
    C_y. friction: Coulomb's mu. slow: V_0 [m/s]."""

    radius: float
    stiffness: float
    damping: float
    longitudinal: float
    lateral: float
    friction: float = 1.0
    slow: float = 3.0

    def forces(self, ground: Terrain, centre: Vec, v: Vec, omega: Vec, axis: Vec) -> tuple[Vec, Vec, Scalar]:
        """Force on the wheel [N], its moment about the centre [N m], both in world axes, and the load N [N]."""
        h, h_x, h_y = ground.at(centre[0], centre[1])
        flat = 1.0 / sqrt(1.0 + h_x * h_x + h_y * h_y)
        n: Vec = (-h_x * flat, -h_y * flat, flat)
        d = self.radius - (centre[2] - h) * n[2]
        load = where(d > 0.0, maximum(0.0, self.stiffness * d - self.damping * dot(v, n)), 0.0)
        r = scale(d - self.radius, n)
        slip = add(v, cross(omega, r))
        along = cross(axis, n)
        e_x = scale(1.0 / sqrt(dot(along, along)), along)
        e_y = cross(n, e_x)
        forward = dot(v, e_x)
        share = 1.0 / sqrt(forward * forward + self.slow * self.slow)
        s_x, s_y = self.longitudinal * share * dot(slip, e_x), self.lateral * share * dot(slip, e_y)
        held = load / sqrt(1.0 + (s_x * s_x + s_y * s_y) / (self.friction * self.friction))
        F = add(scale(load, n), add(scale(-held * s_x, e_x), scale(-held * s_y, e_y)))
        return F, cross(r, F), load


def spin_axis(rotation: Any) -> Vec:
    """The wheel's own y axis in world axes."""
    return rotation[0][1], rotation[1][1], rotation[2][1]
