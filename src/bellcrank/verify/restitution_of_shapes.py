"""Restitution delivered against restitution asked for, by fields of depth: a cube on a face, an edge and a corner.

A cube of 0.2 m and 0.5 kg meets a plane at 1 m/s without gravity, its centre over the middle of the patch; so does the
cube as a triangle mesh, and a sphere as one. Damping multiplies the load of every vertex, so that the speed of parting
follows from energy and momentum alone, whatever the law of the load is.

Source: a (1 + e) = ln((1 + a) / (1 - a e)) chooses the damping; the reference is the restitution asked for.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from scipy.spatial.transform import Rotation

from bellcrank.contact.mesh import Mesh
from bellcrank.contact.shapes import Box, Shape, Sphere
from bellcrank.model import System
from bellcrank.verify.cases import Quantity

ASKED = (0.3, 0.8)
HALF = 0.1
SPEED = 1.0
TURNS = {"face": (0.0, 0.0), "edge": (0.0, math.pi / 4), "corner": (math.pi / 4, math.atan(0.5**0.5))}
TOLERANCE = 1e-5


@cache
def meshed_cube() -> Mesh:
    """Twelve triangles."""
    corners = HALF * np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    squares = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [half for a, b, c, d in squares for half in ((a, b, c), (a, c, d))]
    return Mesh(corners, np.array(faces))


@cache
def meshed_sphere(radius: float, spacing: float) -> Mesh:
    """A geodesic sphere with edges of the length `spacing` [m]."""
    triangles = Sphere(radius).triangles(spacing)
    assert triangles is not None
    return Mesh(triangles.vertices, triangles.faces)


def delivered(shape: Shape, restitution: float, turn: tuple[float, float] = (0.0, 0.0)) -> float:
    """Speed of parting over that of the approach."""
    system = System("central impact", gravity=(0.0, 0.0, 0.0))
    rotation = Rotation.from_euler("xy", turn).as_matrix()
    body = system.body("body", mass=0.5, inertia=(1e-3,) * 3, at=(0.0, 0.0, 0.2), rotation=rotation)
    system.free("flight", system.ground, body)
    system.contact(
        "floor", system.ground.plane(), body.shape(shape), restitution, treatment="continuous", method="field"
    )
    found = system.simulate(
        0.3, initial={"flight": {"velocity": (0.0, 0.0, -SPEED)}}, tolerance=1e-9, output=4
    )
    return float(found["body.velocity.z"][-1]) / SPEED


def quantities() -> list[Quantity]:
    """One row for each shape, how it lies, and each restitution."""
    cube = Box(HALF, HALF, HALF)
    thrown: list[tuple[str, Shape, tuple[float, float]]] = [
        *((on, cube, turn) for on, turn in TURNS.items()),
        ("meshed_cube_corner", meshed_cube(), TURNS["corner"]),
        ("meshed_sphere", meshed_sphere(HALF, 0.02), TURNS["face"]),
    ]
    return [
        Quantity(f"{name}_{e:g}", delivered(shape, e, turn), e, TOLERANCE)
        for name, shape, turn in thrown
        for e in ASKED
    ]
