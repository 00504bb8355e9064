"""Shapes that contacts are made of, as solids to draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.shapes import Box, Capsule, Cylinder, HalfPlane, Plane, Shape, Sphere
from bellcrank.contact.shapes.base import FieldShape, with_values
from bellcrank.contact.shapes.revolution import Revolution
from bellcrank.contact.triangles import Triangles
from bellcrank.errors import BellcrankError
from bellcrank.view.shapes import Solid, ball, box, cylinder, hull, plate, tiles, turned

Array = NDArray[np.float64]
Vector = Callable[[Sequence[Any]], Array]

PLANE_COLOUR = "#c9d1da"
WALL = 0.25
"""Opacity of planes that are no floor: what is behind them is seen."""
NORMALS = 240
"""Directions in which the outline of a shape is looked up."""


def solid(shape: Shape, vector: Vector, size: float, colour: str, opacity: float, up: Array) -> Solid | None:
    """A shape in its own frame, or None where it has no outline to draw.

    vector: Puts parameter values into three numbers of the model. size: Of the mechanism [m], for shapes without an
    end. up: The upward direction in the shape's frame.
    """
    if isinstance(shape, HalfPlane):
        x = np.linspace(-size, size, 25)
        corners = np.array([(s, 0.0, z) for s in x for z in (-0.1 * size, 0.1 * size)])
        return replace(tiles(corners, len(x), 2), colour=PLANE_COLOUR, ground=abs(up[1]) > 0.5)
    if isinstance(shape, Plane):
        lines = np.linspace(-1.2 * size, 1.2 * size, 13)
        corners = np.array([(x, y, 0.0) for x in lines for y in lines])
        floor = float(up[2]) > 0.5
        return replace(tiles(corners, 13, 13), ground=floor, opacity=1.0 if floor else WALL)
    simple = _simple(shape, vector, colour)
    if simple is not None:
        return replace(simple, opacity=opacity)
    if isinstance(shape, FieldShape | Revolution):
        drawn = with_values(shape, lambda size: float(vector((size,))[0])).drawn()
        return None if drawn is None else _shell(drawn, colour, opacity)
    points = _outline(shape, vector)
    if points is None or len(points) < 3:
        return None
    if shape.planar:
        return plate(points, np.array([0.0, 0.0, 1.0]), 0.02 * size, colour)
    return hull(points, colour, opacity)


def _simple(shape: Shape, vector: Vector, colour: str) -> Solid | None:
    """A shape that turns or has flat sides, as exactly as it is drawn; None for others."""
    o, z = np.zeros(3), np.array([0.0, 0.0, 1.0])
    if isinstance(shape, Sphere):
        return ball(o, float(vector((shape.radius,))[0]), colour, 25)
    if isinstance(shape, Box):
        return box(o, np.eye(3), 2.0 * vector((shape.half_x, shape.half_y, shape.half_z)), colour)
    if isinstance(shape, Cylinder):
        radius, half = vector((shape.radius, shape.half_length))
        return cylinder(o, z, float(radius), 2.0 * float(half), colour, 36)
    if isinstance(shape, Capsule):
        radius, half = vector((shape.radius, shape.half_length))
        angle = np.linspace(0.0, np.pi / 2, 7)
        cap = np.column_stack([radius * np.cos(angle), half + radius * np.sin(angle)])
        cap[-1, 0] = 0.0
        return turned(np.vstack([cap[::-1] * (1, -1), cap]), o, z, colour, 32)
    return None


def _shell(surface: Triangles, colour: str, opacity: float) -> Solid | None:
    """A surface as it is, dents and holes included."""
    if not len(surface.faces):
        return None
    corners, numbered = np.unique(np.round(surface.vertices, 12), axis=0, return_inverse=True)
    faces = numbered.reshape(-1)[surface.faces]
    whole = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    return Solid(corners, faces[whole], colour, opacity)


def _outline(shape: Shape, vector: Vector) -> Array | None:
    """Points of the surface."""
    try:
        if not shape.closed_support:
            return np.array([vector(p) for p in shape.samples()])
        found = [vector(shape.support(n).point) for n in _normals(shape.planar)]
        # Where a whole side has one normal, its ends are touched by normals a little to either side.
        return np.array(found)
    except BellcrankError:
        return None


def _normals(planar: bool) -> list[tuple[float, float, float]]:
    if planar:
        angles = 2 * np.pi * np.arange(48) / 48
        return [(float(np.cos(a)), float(np.sin(a)), 0.0) for a in angles]
    k = np.arange(NORMALS) + 0.5
    z, turn = 1 - 2 * k / NORMALS, np.pi * (1 + np.sqrt(5)) * k
    r = np.sqrt(1 - z * z)
    return list(zip((r * np.cos(turn)).tolist(), (r * np.sin(turn)).tolist(), z.tolist(), strict=True))
