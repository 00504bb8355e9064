"""Energy of elastic throws, by fields of depth: box, cylinder, cone, torus and mesh on a plane and on each other.

A body of 0.5 kg falls tumbling on a plane; or two meet off centre without gravity. Nothing is damped and nothing rubs,
so that the sum of kinetic, potential and elastic energy stays. Each row is the largest change over the first value.

Source: conservation of energy, since force and moment are the exact slope of the energy of the overlap.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from bellcrank.contact.shapes import Box, Cone, Cylinder, Shape, Torus
from bellcrank.model import System
from bellcrank.result.result import Result
from bellcrank.verify.cases import Quantity, Within
from bellcrank.verify.restitution_of_shapes import meshed_cube

MASS = 0.5
TOLERANCE = 1e-8
ALLOWED = 1e-6


def shapes() -> dict[str, Shape]:
    """Some 0.1 m in size."""
    return {
        "box": Box(0.1, 0.07, 0.05),
        "cylinder": Cylinder(0.06, 0.08),
        "cone": Cone(0.08, 0.08),
        "torus": Torus(0.08, 0.03),
        "mesh": meshed_cube(),
    }


def turned(seed: int) -> NDArray[np.float64]:
    """A rotation at random, the same in every run."""
    return np.asarray(Rotation.random(random_state=seed).as_matrix())


def on_plane(shape: Shape, seed: int) -> Result:
    """A tumbling fall of 0.15 m or so."""
    system = System("fall", gravity=(0.0, 0.0, -9.81))
    body = system.body(
        "body", mass=MASS, inertia=(1e-3, 1.5e-3, 2e-3), at=(0.0, 0.0, 0.3), rotation=turned(seed)
    )
    system.free("flight", system.ground, body)
    system.contact(
        "floor", system.ground.plane(), body.shape(shape), 1.0, treatment="continuous", method="field"
    )
    start = {"flight": {"angular_velocity": (3.0, -2.0, 4.0)}}
    return system.simulate(0.5, initial=start, tolerance=TOLERANCE)


def on_each_other(a: Shape, b: Shape, seed: int) -> Result:
    """Two bodies that meet at 2 m/s, 0.02 m off centre."""
    system = System("meeting", gravity=(0.0, 0.0, 0.0))
    placed = []
    for name, shape, x, y, turn in (("left", a, -0.2, 0.02, seed), ("right", b, 0.2, 0.0, seed + 1)):
        body = system.body(
            name, mass=MASS, inertia=(1e-3, 1.5e-3, 2e-3), at=(x, y, 0.0), rotation=turned(turn)
        )
        system.free(f"{name} flight", system.ground, body)
        placed.append(body.shape(shape))
    left, right = placed
    system.contact("hit", left, right, 1.0, treatment="continuous", method="field")
    start = {"left flight": {"velocity": (2.0, 0.0, 0.0), "angular_velocity": (2.0, 1.0, -3.0)}}
    return system.simulate(0.25, initial=start, tolerance=TOLERANCE)


def change(run: Result, contact: str) -> float:
    """Largest change of energy over its first value; a throw that misses is no number."""
    energy = np.asarray(run["energy.total"])
    touched = float(np.max(run[f"{contact}.penetration"])) > 0.0
    return float(np.abs(energy - energy[0]).max() / energy[0]) if touched else float("nan")


def quantities() -> list[Quantity]:
    """Every shape on a plane, then each on the next."""
    made = shapes()
    rows = []
    for k, (name, shape) in enumerate(made.items()):
        rows.append((f"{name}_on_plane", change(on_plane(shape, k), "floor")))
    names = list(made)
    for k, (a, b) in enumerate(zip(names, names[1:] + names[:1], strict=True)):
        rows.append((f"{a}_on_{b}", change(on_each_other(made[a], made[b], k), "hit")))
    return [Quantity(name, value, ALLOWED, 0.0, "relative", Within.AT_MOST) for name, value in rows]
