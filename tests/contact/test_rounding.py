"""Where edges of a mesh are rounded the user is told, with a number that holds."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.contact import ContactNote, Sampled, Sphere, Superellipsoid
from bellcrank.contact.search import SampledPair


def _box(a: float, b: float, c: float) -> tuple[np.ndarray, np.ndarray]:
    corners = np.array([(x, y, z) for x in (-a, a) for y in (-b, b) for z in (-c, c)])
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return corners, np.array([t for p, q, r, s in sides for t in ((p, q, r), (p, r, s))])


def _system(shape: Sampled, other: str, **given: object) -> bc.System:
    system = bc.System("pair", gravity=(0, 0, -9.81))
    body = system.body("part", mass=1.0, inertia=(0.01, 0.01, 0.01), at=(0, 0, 0.5))
    system.free("flight", system.ground, body)
    ground = system.ground
    below = {
        "superellipsoid": lambda: ground.shape(Superellipsoid(0.3, 0.3, 0.3, (3.0, 3.0))),
        "sphere": lambda: ground.sphere(0.3),
        "plane": lambda: ground.plane(),
    }[other]()
    system.contact("under", below, body.shape(shape), **given)
    return system


PRESSING = {"treatment": "continuous", "stiffness": 1e6, "restitution": 0.5}


def test_the_user_is_told_where_edges_are_rounded_and_by_how_much() -> None:
    box = Sampled.from_mesh(*_box(0.1, 0.1, 0.05), spacing=0.02)
    with pytest.warns(ContactNote, match=r"contact 'under'.*body 'part'.*Superellipsoid.*spacing=") as told:
        system = _system(box, "superellipsoid", points=4, **PRESSING)
    assert len(told) == 1
    assert f"{box.rounding:.3g} m" in str(told[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, second = system.mechanism(), system.mechanism()
    assert str(told[0].message) in str(first)
    assert str(first) == str(second)


def test_nothing_is_said_where_edges_are_as_they_are() -> None:
    box = Sampled.from_mesh(*_box(0.1, 0.1, 0.05), spacing=0.02)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for other in ("sphere", "plane"):
            assert "notes" not in str(_system(box, other, points=4, **PRESSING).mechanism())
    with pytest.warns(ContactNote, match="Sphere"):
        _system(box, "sphere", points=1)


def test_rounding_is_what_a_ball_sees_of_the_surface_through_all_samples() -> None:
    """No place beside an edge is off by more than the number told, and some are by most of it."""
    box = Sampled.from_mesh(*_box(0.1, 0.1, 0.05), spacing=0.02)
    whole = Sampled(box.points, box.normals, rims=())
    pair = SampledPair(whole, Sphere(1e-4))
    off = []
    for away in np.linspace(0.0005, 0.02, 14):
        for along in np.linspace(-0.05, 0.05, 7):
            gap = pair(np.eye(3), np.array([0.1 - away, along, 0.05 + 0.004]))[0]
            off.append(abs(gap - (0.004 - 1e-4)))
    assert max(off) <= 1.02 * box.rounding
    assert max(off) >= 0.5 * box.rounding


def test_rounding_falls_with_the_distance_of_samples_and_is_none_without_creases() -> None:
    coarse, fine = (Sampled.from_mesh(*_box(0.1, 0.1, 0.05), spacing=h).rounding for h in (0.02, 0.01))
    assert 0.4 < fine / coarse < 0.6
    trimesh = pytest.importorskip("trimesh")
    ball = trimesh.creation.icosphere(4, 0.1)
    assert Sampled.from_mesh(ball.vertices, ball.faces).rounding == 0.0
