"""Messages to the page: the shapes once, then frames and the ground around the car as little-endian floats."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.apps.drive.bodywork import bodywork
from bellcrank.apps.drive.drive import STEP, Drive
from bellcrank.apps.drive.laps import LINE
from bellcrank.apps.drive.terrain import Features, Terrain
from bellcrank.verify.full_car import full_car_data, full_car_system
from bellcrank.view.pages import floats
from bellcrank.view.scene import rgb, scene
from bellcrank.view.shapes import Solid

Array = NDArray[np.float64]

FRAME, GROUND = 0.0, 1.0
"""The first number of a message."""
SNAP = 4.0
"""The ground is sent anew when the car has gone this far [m]."""


def shapes(drive: Drive) -> dict[str, Any]:
    """Triangles of every body with colours, in body axes, springs between bodies; names, step."""
    result = full_car_system().equilibrium().result
    drawn = scene(result)
    solids = [
        (body, s) for body, s in drawn.solids if body >= 0 and drawn.bodies[body] not in ("chassis", "")
    ]
    centre = np.array(full_car_data()["bodies"][0]["com"])
    solids += [(0, s) for s in bodywork(centre)]
    springs = [
        {"a": s.a, "pa": s.at_a.tolist(), "b": s.b, "pb": s.at_b.tolist()}
        for s in drawn.links
        if s.length > 0.0
    ]
    parts = [{"body": body, "vertices": floats(triangles(s)), "opacity": s.opacity} for body, s in solids]
    return {
        "bodies": drive.bodies,
        "parts": parts,
        "springs": springs,
        "step": STEP,
        "offsets": floats(OFFSETS),
        "straight": isinstance(drive.terrain.road, Features),
        "course": None if drive.terrain.course is None else floats(lane(drive.terrain)),
    }


LONGEST = 20_000
"""Most pieces of a lane, one a metre on shorter ones: 35 MB in the page."""
LANE, EDGE = 3.0, 0.15
"""Half of the width of the lane of a course, and the width of the lines at its sides [m]."""


def lane(terrain: Terrain) -> Array:
    """Triangles of a closed lane along the course on the ground, with lines at its sides and across its start."""
    course = terrain.course
    assert course is not None
    steps = np.roll(course, -1, axis=0) - course
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(steps, axis=1))])
    s = np.linspace(0.0, along[-1], min(max(round(along[-1]), 8), LONGEST) + 1)
    closed = np.vstack([course, course[:1]])
    middle = np.column_stack([np.interp(s, along, closed[:, k]) for k in range(2)])
    ahead = np.roll(middle[:-1], -1, axis=0) - np.roll(middle[:-1], 1, axis=0)
    ahead /= np.maximum(np.linalg.norm(ahead, axis=1), 1e-12)[:, None]
    left = np.column_stack([-ahead[:, 1], ahead[:, 0]])
    left = np.vstack([left, left[:1]])
    strips = [(-LANE, LANE, GREY), (LANE, LANE + EDGE, WHITE), (-LANE - EDGE, -LANE, WHITE)]
    found = [_strip(terrain, middle, left, a, b, colour) for a, b, colour in strips]
    k = np.searchsorted(s, LINE)
    line = middle[k] + np.array([[-0.25], [0.25]]) * ahead[k]
    found.append(_strip(terrain, line, left[[k, k]], -LANE, LANE, WHITE))
    return np.vstack(found)


GREY, WHITE = (0.70, 0.71, 0.74), (0.97, 0.97, 0.97)


def _strip(
    terrain: Terrain, middle: Array, left: Array, right: float, to: float, colour: tuple[float, float, float]
) -> Array:
    """Quadrilaterals along a line from one distance on its left [m] to another, in cells across, (3 m, 9)."""
    across = np.linspace(right, to, max(round(to - right), 1) + 1)
    places = middle[:, None] + across[None, :, None] * left[:, None]
    heights = terrain.at(places[..., 0], places[..., 1])[0]
    points = np.concatenate([places, heights[..., None]], axis=2)
    a, b, c, d = points[:-1, :-1], points[1:, :-1], points[1:, 1:], points[:-1, 1:]
    corners = np.stack([a, b, c, a, c, d], axis=2).reshape(-1, 3, 3)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals *= np.sign(normals[:, 2:]) / np.maximum(np.linalg.norm(normals, axis=1), 1e-12)[:, None]
    flat = corners.reshape(-1, 3)
    return np.column_stack([flat, np.repeat(normals, 3, axis=0), np.broadcast_to(colour, flat.shape)])


def triangles(solid: Solid) -> Array:
    """Triangles: position, outward normal and colour a vertex, (3 m, 9)."""
    vertices, normals, faces = solid.surface
    colour = np.broadcast_to(np.array(rgb(solid.colour)) / 255.0, vertices.shape)
    return np.asarray(np.column_stack([vertices, normals, colour])[faces.ravel()])


def _offsets() -> Array:
    """Grid lines around the car [m]: close together near it, wide apart far away."""
    near = np.arange(0.0, 16.0, 0.32)
    far = [float(near[-1])]
    while far[-1] < 150.0:
        far.append(far[-1] + max(0.32, 0.14 * (far[-1] - 13.0)))
    positive = np.concatenate([near, far[1:]])
    return np.concatenate([-positive[:0:-1], positive])


OFFSETS = _offsets()


def ground(terrain: Terrain, x: float, y: float) -> bytes:
    """Heights on the grid around a place, then how far they stand above the hills."""
    X, Y = np.meshgrid(x + OFFSETS, y + OFFSETS, indexing="ij")
    heights, bumps = terrain.at(X, Y)
    return np.concatenate([[GROUND, x, y], heights.ravel(), bumps.ravel()]).astype("<f4").tobytes()


def frame(found: dict[str, Any]) -> bytes:
    """A frame as 17 numbers and the poses."""
    timing = found["timing"]
    head = [
        *(FRAME, found["time"], found["speed"], *found["controls"]),
        *(timing[k] for k in ("median", "p99", "worst", "share_of_real_time", "late", "now")),
        float(bool(found["put_back"])),
        *found["laps"],
    ]
    return np.concatenate([head, found["poses"]]).astype("<f4").tobytes()
