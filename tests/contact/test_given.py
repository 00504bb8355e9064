"""Numbers and functions that are none: every shape and contact refuses them by its own error."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.contact import (
    Box,
    Capsule,
    Circle,
    Coulomb,
    Cylinder,
    Ellipse,
    Ellipsoid,
    Implicit,
    LuGre,
    Mesh,
    Parametric,
    Revolution,
    Sampled,
    Solid,
    Sphere,
    Superellipsoid,
    kelvin_voigt_damping,
)
from bellcrank.errors import BellcrankError, ModelError

NONE = [
    -1.0,
    math.nan,
    math.inf,
    "x",
    b"1",
    True,
    1j,
    10**400,
    [],
    [1.0],
    {},
    object(),
    np.zeros(0),
    np.ones((2, 2)),
]
"""No positive numbers."""

V = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)])
F = np.array([(0, 2, 1), (0, 3, 2), (0, 1, 3), (1, 2, 3)])

MADE: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "sphere": (Sphere, (0.1,)),
    "circle": (Circle, (0.1,)),
    "capsule": (Capsule, (0.1, 0.2)),
    "cylinder": (Cylinder, (0.1, 0.2)),
    "box": (Box, (0.1, 0.2, 0.3)),
    "ellipse": (Ellipse, (0.1, 0.2)),
    "ellipsoid": (Ellipsoid, (0.1, 0.2, 0.3)),
    "superellipsoid": (Superellipsoid, (0.1, 0.2, 0.3, (4.0, 4.0))),
    "implicit surface": (Implicit, (lambda x, y, z: x * x + y * y + z * z - 0.01, 0.2)),
    "solid of revolution": (Revolution, (lambda z: 0.1 - 0.1 * z, 0.5)),
    "friction": (Coulomb, (0.3,)),
    "bristles": (LuGre, (0.3,)),
    "damping": (kelvin_voigt_damping, (1e4, 0.5, 0.7)),
    "patches": (Parametric.bezier, (np.random.default_rng(0).random((4, 4, 3)),)),
    "mesh": (lambda thickness, resolution: Mesh(V, F, thickness, resolution), (0.05, 64)),
    "solid": (lambda density, scale: Solid.from_mesh(V, F, density=density, scale=scale), (1.0, 1.0)),
    "file": (Sampled.from_file, ("absent.stl",)),
}


@pytest.mark.parametrize("name", MADE)
def test_what_is_no_number_is_refused(name: str) -> None:
    make, good = MADE[name]
    if name != "file":
        make(*good)
    for place in range(len(good)):
        for wrong in NONE:
            with pytest.raises(BellcrankError):
                make(*good[:place], wrong, *good[place + 1 :])


def test_contacts_name_themselves_where_they_are_given_what_is_no_number() -> None:
    system = bc.System("ball", gravity=(0.0, 0.0, -9.81))
    body = system.body("ball", mass=1.0, inertia=(0.004,) * 3, at=(0.0, 0.0, 0.11))
    system.free("flight", system.ground, body)
    given = {"treatment": "continuous", "restitution": 0.5, "stiffness": 1e6}
    for key in ("treatment", "restitution", "stiffness", "friction", "points", "approach_speed", "law"):
        for wrong in NONE:
            with pytest.raises(ModelError, match=r"touch|friction"):
                system.contact("touch", system.ground.plane(), body.sphere(0.1), **{**given, key: wrong})  # type: ignore[arg-type]
    for wrong in (5, None, "sphere"):
        with pytest.raises(ModelError, match=r"body 'ball' is one of bellcrank\.contact"):
            body.shape(wrong)  # type: ignore[arg-type]
    elsewhere = bc.System("other").ground.sphere(0.1)
    with pytest.raises(ModelError, match=r"'touch'.*another system"):
        system.contact("touch", elsewhere, body.sphere(0.1), **given)  # type: ignore[arg-type]
