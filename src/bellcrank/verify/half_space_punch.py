"""Loads of a sphere, a blunt cone and a flat round punch on a half-space, by fields of depth.

Each shape is pressed into a plane, and its load is divided by that of the theory of elasticity. The energy of the
half-space law, c E* sqrt(int d^4 dS), is exact for a sphere; a blunt cone carries 2.6 % more than Sneddon's, a flat
punch 16 % less than Boussinesq's. The cone's sides rise by 0.1 rad, since its wet surface is that of its side, 1 / cos
of that angle more than its projection. The rim of the punch is all but sharp: one rounded by default, a fiftieth of the
diameter, takes another 6 % off.

Source: Johnson, Contact Mechanics (1985), (4.23) Hertz: 4/3 E* sqrt(R) d^1.5; section 3.4, Boussinesq: 2 E* a d;
Sneddon, Int. J. Eng. Sci. 3 (1965) 47-57: (2 / pi) E* d^2 / tan(alpha). Ratios of the law in closed form: cone
3 c sqrt(pi / 15) pi / 2 = 1.0262, punch c sqrt(pi) = 0.8433 with c = (8 / 15) / sqrt(2 pi / 5).
"""

from __future__ import annotations

import math
from typing import cast

import numpy as np

from bellcrank.contact.field_energy import MEMORY, Coefficients, Pose, Pressed, Twist, half_space, pair
from bellcrank.contact.field_surface import NOTHING, surface_of
from bellcrank.contact.shapes import Cone, Cylinder, Plane, Shape, Sphere
from bellcrank.math.vectors import ZERO, Matrix, Vector
from bellcrank.program.graph import Graph
from bellcrank.program.kernel import compile_program
from bellcrank.program.program import Program
from bellcrank.verify.cases import Quantity

MODULUS = 1e7
RADIUS = 0.1
SIDE_ANGLE = 0.1
CONE_RATIO, FLAT_RATIO = 1.0262, 0.8433
TOLERANCE = 1e-2


def load(shape: Shape, spacing: float, lowest: float, depth: float) -> float:
    """Of a shape whose lowest point, the distance `lowest` below its origin, is pressed into a plane [N].

    The shape stands on its head, so that the tip of a cone points downwards. spacing: Edges of its triangles [m].
    """
    triangles = shape.triangles(spacing)
    assert triangles is not None
    surface = surface_of(triangles.vertices, triangles.faces)
    made = pair(half_space, Plane().field, NOTHING, shape.field, surface)
    graph = Graph()
    height, *memory = (graph.input(name) for name in ("height", *(f"deepest {n}" for n in range(MEMORY))))
    turned = Matrix(Vector(1.0, 0.0, 0.0), Vector(0.0, -1.0, 0.0), Vector(0.0, 0.0, -1.0))
    law = Coefficients(
        stiffness=MODULUS, damping=0.0, approach_speed=1.0, kinetic=0.0, static=0.0, stribeck_speed=1.0, slip_speed=1.0,
        nearness=0.0,
    )  # fmt: skip
    pose, still = Pose(Vector(0.0, 0.0, cast("float", height)), turned), Twist(ZERO, ZERO)
    found: Pressed = made(pose, still, law, memory=memory)
    kernel = compile_program(Program.of([height, *memory], [found.force.z]))
    return float(kernel(np.array([lowest - depth, *[-1.0] * MEMORY]))[0])


def quantities() -> list[Quantity]:
    """Loads over those of the theory of elasticity."""
    depth = 4e-3
    hertz = 4.0 / 3.0 * MODULUS * math.sqrt(RADIUS) * depth**1.5
    half_length = 0.5 * RADIUS * math.tan(SIDE_ANGLE)
    sneddon = 2.0 / math.pi * MODULUS * depth**2 / math.tan(SIDE_ANGLE)
    # Deep beside the radius of the rim, so that the patch is the whole end, and shallow beside that of the punch.
    shallow, rounding = 1e-3, 1e-4
    boussinesq = 2.0 * MODULUS * RADIUS * shallow
    sphere = load(Sphere(RADIUS), 3e-3, RADIUS, depth)
    cone = load(Cone(RADIUS, half_length, rounding=0.0), 4e-3, half_length, depth)
    flat = load(Cylinder(RADIUS, 0.2 * RADIUS, rounding), 8e-3, 0.2 * RADIUS, shallow)
    return [
        Quantity("sphere_ratio", sphere / hertz, 1.0, TOLERANCE),
        Quantity("cone_ratio", cone / sneddon, CONE_RATIO, TOLERANCE),
        Quantity("flat_ratio", flat / boussinesq, FLAT_RATIO, TOLERANCE),
    ]
