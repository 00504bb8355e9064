"""Closest points of a sampled surface and a smooth shape far away: against all samples, and how much is looked at."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from bellcrank.contact import Plane, Sampled, Sphere
from bellcrank.contact.frusta import frusta
from bellcrank.contact.meeting import Meeting
from bellcrank.contact.meeting_layout import FOUND
from bellcrank.contact.search import SampledPair
from bellcrank.contact.shapes import Capsule, Ellipsoid, Shape
from bellcrank.contact.shapes.revolution import Revolution
from contact.test_descent import bumpy, ways
from contact.test_meeting import OTHERS, ellipsoid, outline, through
from contact.test_places import sheet

Array = NDArray[np.float64]
PARTNERS: dict[str, Shape] = {"plane": Plane(), **OTHERS}
SURFACES = {"bumpy": bumpy(1200, 0.12, 0.3), "sheet": sheet(30)}
# The shapes of which distances have no closed form, written once more.
WRITTEN = {
    "superellipsoid": lambda y: (
        (abs(y[0] / 0.5) ** 3 + abs(y[1] / 0.4) ** 3) ** (2.5 / 3.0) + abs(y[2] / 0.6) ** 2.5 - 1.0
    ),
    "implicit": lambda y: 2.0 * y[0] ** 2 + 3.0 * y[1] ** 2 + y[2] ** 2 + 0.5 * y[0] ** 4 - 0.5,
}


@cache
def around(name: str) -> Array:
    """Points of a partner."""
    return np.zeros((1, 3)) if name == "plane" else outline(PARTNERS[name], ways(300))


def from_ellipsoid(axes: Array, p: Array) -> float:
    """The distance of a point outside, by the root t of sum (a p / (t + a^2))^2 = 1."""
    t = brentq(lambda t: float(np.sum((axes * p / (t + axes**2)) ** 2)) - 1.0, 0.0, 1e3, xtol=1e-14)
    return float(np.linalg.norm(p - axes**2 * p / (t + axes**2)))


def from_profile(shape: Revolution, p: Array) -> float:
    """The distance of a point outside a solid of revolution: by many places along its side, and by its ends."""
    out, z = float(np.hypot(p[0], p[1])), float(p[2])
    along = np.linspace(0.0, shape.length, 20_001)
    side = np.hypot(np.asarray(shape.profile(along)) - out, along - z).min()  # type: ignore[arg-type]
    caps = [np.hypot(z - a, max(0.0, out - float(shape.profile(a)))) for a in (0.0, shape.length)]
    return float(min(side, *caps))


def from_shape(name: str, p: Array, near: Array) -> float:
    """The distance of a point outside from a shape; near: A point of it to begin with."""
    shape = PARTNERS[name]
    if isinstance(shape, Plane):
        return float(p[2])
    if isinstance(shape, Sphere):
        return float(np.linalg.norm(p)) - float(shape.radius)
    if isinstance(shape, Capsule):
        rest = p - np.array([0.0, 0.0, np.clip(p[2], -shape.half_length, shape.half_length)])
        return float(np.linalg.norm(rest)) - float(shape.radius)
    if isinstance(shape, Ellipsoid):
        return from_ellipsoid(np.array([shape.a, shape.b, shape.c]), p)
    if isinstance(shape, Revolution):
        return from_profile(shape, p)
    found = minimize(
        lambda y: float((p - y) @ (p - y)), near, jac=lambda y: 2.0 * (y - p), method="SLSQP",
        constraints=[{"type": "eq", "fun": WRITTEN[name]}],
        options={"ftol": 1e-16, "maxiter": 200},
    )  # fmt: skip
    return float(np.sqrt(found.fun))


def apart(surface: Sampled, shape: Shape, points: Array, R: Array, way: Array, gap: float) -> Array:
    """Where the shape stands along a way so that about this gap is left."""
    if isinstance(shape, Plane):
        return (float((surface.points @ R[:, 2]).min()) - gap) * R[:, 2]
    far = 3.0 + gap
    for _ in range(25):
        far -= 0.9 * (float(surface.nearest_points.query(points @ R.T + far * way)[0].min()) - gap)
    return far * way


@pytest.mark.parametrize("gap", [0.4, 0.9, 13.0])
@pytest.mark.parametrize("name", list(PARTNERS))
@pytest.mark.parametrize("body", list(SURFACES))
def test_the_nearest_of_all_samples_is_found_and_no_point_of_the_surface_is_closer(
    body: str, name: str, gap: float
) -> None:
    surface, shape = SURFACES[body], PARTNERS[name]
    points = around(name)
    pair = SampledPair(surface, shape)
    assert pair.meeting is not None
    tree = cKDTree(points)
    ended = 0
    for trial in range(2):
        R = Rotation.random(random_state=31 * trial + len(name)).as_matrix()
        way = Rotation.random(random_state=7 * trial).as_matrix()[0]
        c = apart(surface, shape, points, R, way, gap)
        seen = (surface.points - c) @ R
        rough, near = tree.query(seen)
        every = np.argsort(rough)[: np.count_nonzero(rough < rough.min() + 0.06)][:40]
        if isinstance(shape, Plane | Revolution):
            every = np.arange(len(seen))
        least = min(from_shape(name, seen[i], points[near[i]]) for i in every)
        assert least > pair.meeting.band
        pair.meeting.pose(R, c)
        pair.meeting.empty(0)
        assert pair.meeting.search(1) == FOUND
        sticks_out = 1e-6 if isinstance(shape, Revolution) else 2e-9
        assert pair.meeting.clearance + surface.bulge == pytest.approx(least, abs=sticks_out)
        if pair.meeting.kept[1, 0] < 0:
            # The closest place is on a rim of the surface, or on an end of the solid of revolution.
            ended += 1
            continue
        row = pair.meeting.slots[1]
        x, y = row[4:7], row[7:10]
        z = R @ y + c
        assert abs(through(surface, x)[0](x)) < 1e-12
        assert abs(float(shape.implicit((y[0], y[1], y[2])))) < 1e-9
        np.testing.assert_allclose(z - x, row[0] * row[1:4], atol=1e-9 * (1.0 + gap))
        # It is no farther than any sample, and comes below them by no more than the surface rises between them.
        assert least - 2.0 * surface.bulge < row[0] <= least + 1e-12
    if body == "bumpy" and name != "revolution":
        assert ended == 0


def test_frusta_hold_the_profile() -> None:
    shape = Revolution(lambda z: 0.25 + 0.1 * np.cos(9.0 * z) * np.exp(-z), 2.0)
    for z0, z1, r0, r1 in frusta(shape):
        z = np.linspace(z0, z1, 333)
        r = 0.25 + 0.1 * np.cos(9.0 * z) * np.exp(-z)
        over = r0 + (r1 - r0) * (z - z0) / (z1 - z0) - r
        assert over.min() >= 0.0
        assert over.max() <= 10.0 * (z1 - z0) ** 2 + 1e-6


@cache
def body(number: int) -> Sampled:
    return ellipsoid(number, np.array([1.0, 0.8, 1.3]))


@cache
def poses(name: str, gap: float) -> list[tuple[Array, Array]]:
    """The same for all numbers of samples."""
    turns = [Rotation.random(random_state=trial).as_matrix() for trial in range(12)]
    ways = [Rotation.random(random_state=20 + trial).as_matrix()[0] for trial in range(12)]
    return [
        (R, apart(body(1024), PARTNERS[name], around(name), R, way, gap))
        for R, way in zip(turns, ways, strict=True)
    ]


def looked_at(surface: Sampled, name: str, gap: float) -> float:
    """Nodes, on the mean over a few poses."""
    meeting, seen = Meeting(surface, PARTNERS[name]), []
    for R, c in poses(name, gap):
        meeting.pose(R, c)
        meeting.empty(0)
        assert meeting.search(1) == FOUND
        seen.append(meeting.looked)
    return float(np.mean(seen))


@pytest.mark.parametrize("gap", [0.3, 1.0, 13.0])
@pytest.mark.parametrize("name", ["ellipsoid", "superellipsoid", "implicit", "revolution"])
def test_far_away_too_what_is_looked_at_grows_with_the_logarithm(name: str, gap: float) -> None:
    """Four times the samples add two levels: about as many nodes each time.

    Where a root doubles what is added, the last is 2.7 times the mean of the two before; of a fourth root, 1.7 times.
    """
    added = np.diff([looked_at(body(number), name, gap) for number in (1024, 4096, 16_384, 65_536)])
    assert added[2] < 1.5 * added[:2].mean()
