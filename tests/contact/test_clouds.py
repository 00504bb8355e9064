"""Points with normals as strangers send them: what can be no surface is refused with the reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import bellcrank as bc
from bellcrank.contact import Sampled
from bellcrank.errors import ModelError

Array = NDArray[np.float64]


def ways(number: int = 1500) -> Array:
    k = np.arange(number) + 0.5
    z, turn = 1.0 - 2.0 * k / number, np.pi * (1.0 + np.sqrt(5.0)) * k
    around = np.sqrt(1.0 - z * z)
    return np.stack([around * np.cos(turn), around * np.sin(turn), z], axis=1)


U = ways()


def turned(which: Any) -> Array:
    normals = U.copy()
    normals[which] *= -1.0
    return normals


@pytest.mark.parametrize(
    "which", [7, slice(0, None, 2), U[:, 2] < 0.0, U[:, 0] > 0.9], ids=["one", "every other", "half", "a cap"]
)
def test_normals_that_contradict_their_neighbours_are_refused(which: Any) -> None:
    with pytest.raises(ModelError, match="normals that point the other way"):
        Sampled(0.1 * U, turned(which))


def test_normals_along_the_surface_are_refused() -> None:
    random = np.random.default_rng(1)
    for normals in (np.cross(U, [0.3, 0.2, 0.9]), random.normal(size=U.shape)):
        with pytest.raises(ModelError, match="not square to the surface"):
            Sampled(0.1 * U, normals)
    with pytest.raises(ModelError, match="along lines"):
        Sampled(np.outer(np.linspace(0.0, 1.0, 50), [1.0, 0.0, 0.0]), np.tile([0.0, 0.0, 1.0], (50, 1)))


def shell(thick: float) -> tuple[Array, Array]:
    """A ball with a wall so thick, outside and inside: the nearest samples face opposite ways."""
    return np.vstack([0.1 * U, (0.1 - thick) * U]), np.vstack([U, -U])


def box(number: int, size: tuple[float, float, float]) -> tuple[Array, Array]:
    """Samples within the sides of a box, in rows, with the normals of the sides."""
    t = (np.arange(number) + 0.5) / number - 0.5
    a, b = (x.ravel() for x in np.meshgrid(t, t, indexing="ij"))
    points, normals = list[Array](), list[Array]()
    for axis in range(3):
        for side in (-1.0, 1.0):
            p = np.full((len(a), 3), 0.5 * side)
            p[:, (axis + 1) % 3], p[:, (axis + 2) % 3] = a, b
            points.append(p * size)
            normals.append(np.tile(side * np.eye(3)[axis], (len(a), 1)))
    return np.vstack(points), np.vstack(normals)


def test_thin_walls_edges_corners_and_rough_surfaces_are_not() -> None:
    for thick in (1e-4, 1e-3, 1e-2):
        Sampled(*shell(thick))
    for size in ((1.0, 1.0, 1.0), (1.0, 0.8, 0.6)):
        for number in (2, 3, 6):
            Sampled(*box(number, size))
    random = np.random.default_rng(2)
    Sampled(0.1 * U * (1.0 + 0.01 * random.normal(size=(len(U), 1))), U)
    Sampled(0.1 * ways(12), ways(12))


def test_normals_of_any_length_are_directions() -> None:
    plain = Sampled(0.1 * U, U)
    for length in (1e-300, 1e-200, 1e200, 1e300):
        assert Sampled(0.1 * U, length * U).normals == pytest.approx(plain.normals, abs=1e-15)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"points": "abc"}, "points of a sampled surface must be numbers"),
        ({"points": [[1.0, 2.0], [3.0]]}, "points of a sampled surface must be numbers"),
        ({"normals": U + 0j}, "normals of a sampled surface must be numbers"),
        ({"normals": U > 0.0}, "normals of a sampled surface must be numbers"),
        ({"points": 0.1 * U + [1e9, 0.0, 0.0]}, "coordinates up to 1e"),
        ({"points": np.where(np.arange(len(U))[:, None] == 3, np.inf, U)}, "sample 3 has a point"),
        ({"normals": np.where(np.arange(len(U))[:, None] == 3, 0.0, U)}, "sample 3 has the normal zero"),
        ({"notes": 5}, "tuple of texts"),
    ],
)
def test_what_is_no_cloud_is_refused(given: dict[str, Any], reason: str) -> None:
    with pytest.raises(ModelError, match=reason):
        Sampled(**{"points": 0.1 * U, "normals": U, **given})


def ring(turn: Array, across: Array) -> Array:
    """A torus of radii 0.1 and 0.03."""
    out = 0.1 + 0.03 * np.cos(across)
    return np.stack([out * np.cos(turn), out * np.sin(turn), 0.03 * np.sin(across)], axis=-1)


def test_grids_that_tell_no_surface_or_side_are_refused() -> None:
    t = np.linspace(-0.1, 0.1, 9)
    x, y = np.meshgrid(t, t, indexing="ij")
    plate = np.stack([x, y, 0.0 * x], axis=2)
    assert (Sampled.from_grid(plate, inside=(0.0, 0.0, 1.0)).normals[:, 2] == -1.0).all()
    missing = plate.copy()
    missing[2, 5, 1] = np.nan
    polar, turn = np.meshgrid(np.linspace(0.0, np.pi, 9), 2.0 * np.pi * np.arange(12) / 12, indexing="ij")
    poles = np.stack([np.sin(polar) * np.cos(turn), np.sin(polar) * np.sin(turn), np.cos(polar)], axis=2)
    torus = ring(*np.meshgrid(np.arange(40) * np.pi / 20, np.arange(16) * np.pi / 8, indexing="ij"))
    wrong: list[tuple[Any, dict[str, Any], str]] = [
        (missing, {}, "no point in row 2, column 5"),
        ("abc", {}, "points of a grid must be numbers"),
        (np.ones((9, 9, 3)), {}, "no normal in row 0, column 0"),
        (poles, {}, "no normal in row 0"),
        (plate, {"inside": "x"}, "inside= of a grid must be numbers"),
        (plate, {"inside": (0.0, 1.0)}, "inside= of a grid is a point"),
        (plate, {"inside": (np.nan, 0.0, 1.0)}, "inside= of a grid is a point"),
        (plate, {"inside": (0.01, 0.02, 0.0)}, "in the plane of the grid"),
        (torus, {"inside": (0.0, 0.0, 0.0)}, "no point that the whole grid faces away from"),
        (plate, {"around": "yes", "surface": "bezier"}, "True or False"),
    ]
    for grid, given, reason in wrong:
        with pytest.raises(ModelError, match=reason):
            Sampled.from_grid(grid, **given)


def test_a_ball_rests_in_a_hollow() -> None:
    """By the force at its lowest point, F = K d^(3/2)."""
    hollow = Sampled(0.1 * U, -U)
    assert any("a hollow" in note for note in hollow.notes)
    system = bc.System("hollow", gravity=(0.0, 0.0, -9.81))
    body = system.body("ball", mass=1.0, inertia=(0.001,) * 3, at=(0.0, 0.0, -0.0498))
    system.prismatic("slide", system.ground, body, axis="z")
    system.contact(
        "wall",
        system.ground.shape(hollow),
        body.sphere(0.05),
        treatment="continuous",
        restitution=0.2,
        stiffness=1e7,
    )
    rest = float(system.simulate(0.2, output=2)["ball.position.z"][-1])
    assert rest == pytest.approx(-0.05 - (9.81 / 1e7) ** (2.0 / 3.0), abs=2e-6)
