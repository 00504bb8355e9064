"""Messages to the page: the shapes once, then frames and the ground around the car as little-endian floats."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.apps.drive.bodywork import bodywork
from bellcrank.apps.drive.drive import STEP, Drive
from bellcrank.apps.drive.terrain import Terrain
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
    }


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
    heights, bumps = terrain.at(X, Y)[0], terrain.unevenness(X, Y)
    return np.concatenate([[GROUND, x, y], heights.ravel(), bumps.ravel()]).astype("<f4").tobytes()


def frame(found: dict[str, Any]) -> bytes:
    """A frame as 13 numbers and the poses."""
    timing = found["timing"]
    head = [
        *(FRAME, found["time"], found["speed"], *found["controls"]),
        *(timing[k] for k in ("median", "p99", "worst", "share_of_real_time", "late", "now")),
        float(bool(found["put_back"])),
    ]
    return np.concatenate([head, found["poses"]]).astype("<f4").tobytes()
