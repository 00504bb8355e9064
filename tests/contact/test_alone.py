"""What searches leave out beside a known contact point holds none: against all samples, one by one."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from bellcrank.contact import Plane, Sampled, Sphere
from bellcrank.contact.search import SampledPair
from bellcrank.contact.shapes import Capsule, Shape
from contact.test_descent import bumpy, ways
from contact.test_several import dumbbell

Array = NDArray[np.float64]


@cache
def hills(number: int = 6000) -> Sampled:
    """A closed body with hills and dents all around."""
    return bumpy(number, 0.08, 0.3)


def height(shape: Shape, x: Array) -> Array:
    """Above a plane, a ball, or a capsule along z, in closed form."""
    if isinstance(shape, Plane):
        return x[:, 2]
    if isinstance(shape, Capsule):
        z = np.clip(x[:, 2], -float(shape.half_length), float(shape.half_length))
        return np.linalg.norm(x - np.stack([0.0 * z, 0.0 * z, z], axis=1), axis=1) - float(shape.radius)
    assert isinstance(shape, Sphere)
    return np.linalg.norm(x, axis=1) - float(shape.radius)


def lowest(surface: Sampled, heights: Array, below: float) -> Array:
    """The samples lower than all ten around them by more than rounding."""
    _, near = cKDTree(surface.points).query(surface.points, 11)
    least = heights[near[:, 1:]].min(axis=1)
    return surface.points[(heights < below) & (heights < least - 1e-9)]


@pytest.mark.parametrize("shape", [Plane(), Sphere(6.0), Capsule(4.0, 5.0)], ids=["plane", "ball", "capsule"])
def test_no_low_place_is_left_out_beside_a_known_point(shape: Shape) -> None:
    """From one known point all others in the band are found, whichever is known."""
    surface = hills()
    pair = SampledPair(surface, shape)
    band = pair.meeting.band
    met = 0
    for turn in Rotation.random(40, random_state=3):
        R = turn.as_matrix()
        # Let down until the lowest sample just touches.
        drop = 4.0 if isinstance(shape, Plane) else 12.0
        up = R[:, 2]
        for _ in range(60):
            low = float(height(shape, (surface.points + drop * up) @ R).min())
            drop -= 0.9 * low
        # Between samples the surface may be lower.
        c = -(drop + surface.bulge) * up
        heights = height(shape, (surface.points - c) @ R)
        expected = lowest(surface, heights, 0.7 * band)
        first, _ = pair.contacts(R, c, 12)
        for known in first:
            if known.sample < 0:
                continue
            found, _ = pair.contacts(R, c, 12, [known])
            places = np.array([f.x for f in found if f.sample >= 0])
            if len(places) == 12:
                continue
            far = np.linalg.norm(expected[:, None] - places[None], axis=2).min(axis=1)
            assert far.max() < 4.0 * surface.spacing
            met += len(expected) > 1
    assert met > 10


def test_other_bulb_is_found() -> None:
    """Tilted by less than the clearance, a dumbbell known on one bulb has the other one as well."""
    surface = dumbbell(6000)
    pair = SampledPair(surface, Plane())
    tilt = 0.02
    R = np.array([[np.cos(tilt), 0.0, np.sin(tilt)], [0.0, 1.0, 0.0], [-np.sin(tilt), 0.0, np.cos(tilt)]])
    c = float((surface.points @ R[:, 2]).min()) * R[:, 2]
    one = pair.contacts(R, c, 1)[0][0]
    found, _ = pair.contacts(R, c, 2, [one])
    across = sorted(float(f.x[0]) for f in found)
    assert across[0] < -0.05
    assert across[1] > 0.05


def test_a_search_near_contact_costs_the_logarithm() -> None:
    """Nodes looked at, of convex bodies that turn while they touch, from points that are known."""
    looked = []
    for number in (4000, 16000, 64000):
        u = ways(number)
        surface = Sampled(u * (1.0, 0.8, 1.3), u / (1.0, 0.8, 1.3))
        pair = SampledPair(surface, Plane())
        R = Rotation.from_euler("xyz", (0.3, 0.5, 0.7)).as_matrix()
        c = float((surface.points @ R[:, 2]).min() + 1e-5) * R[:, 2]
        known, _ = pair.contacts(R, c, 1)
        pair.contacts(R, c, 1, list(known))
        looked.append(pair.meeting.looked)
    assert looked[2] - looked[1] < 150
    assert looked[1] - looked[0] < 150


@pytest.mark.parametrize("shape", [Plane(), Sphere(6.0), Capsule(4.0, 5.0)], ids=["plane", "ball", "capsule"])
def test_clearance_ends_where_the_next_place_touches(shape: Shape) -> None:
    """From one point to the height of the lowest other place, in closed form, and far beyond the band where none is."""
    wide = 0
    for surface in (hills(), dumbbell(6000), bumpy(6000, 0.02, 0.3)):
        pair = SampledPair(surface, shape)
        for turn in Rotation.random(30, random_state=5):
            R = turn.as_matrix()
            up = R[:, 2]
            drop = 4.0 if isinstance(shape, Plane) else 12.0
            for _ in range(60):
                drop -= 0.9 * float(height(shape, (surface.points + drop * up) @ R).min())
            c = -(drop + 1e-6) * up
            heights = height(shape, (surface.points - c) @ R)
            found, clearance = pair.contacts(R, c, 1)
            found, clearance = pair.contacts(R, c, 1, list(found))
            other = lowest(surface, heights, np.inf)
            far = np.linalg.norm(other - found[0].x, axis=1) > 4.0 * surface.spacing
            least = height(shape, (other[far] - c) @ R).min(initial=np.inf)
            assert clearance <= max(least, 0.05 * surface.spacing) + 1e-9
            wide += clearance > 2.0 * pair.meeting.band
    assert wide > 3


def test_clearance_above_a_sampled_ball() -> None:
    """One bulb of a dumbbell touches a ball of samples: no farther than to where the other one does, in closed form;
    and another ball may roll as far as is asked for.
    """
    u = ways(6000)
    ground = Sampled(2.0 * u, u)
    surface = dumbbell(6000)
    pair = SampledPair(surface, ground)
    for tilt in (0.0, 0.01, 0.05, 0.2):
        R = Rotation.from_rotvec((0.3, tilt, 0.1)).as_matrix()
        low = float(height(Sphere(2.0), (surface.points + 2.5 * R[:, 2]) @ R).min())
        c = -(2.5 - low + 1e-5) * R[:, 2]
        found, _ = pair.contacts(R, c, 1)
        found, clearance = pair.contacts(R, c, 1, list(found))
        away = np.abs(surface.points[:, 0] - found[0].x[0]) > 0.1
        assert clearance <= height(Sphere(2.0), (surface.points[away] - c) @ R).min() + 1e-9
    ball = Sampled(u, u)
    pair = SampledPair(ball, ground)
    found, _ = pair.contacts(np.eye(3), np.array([0.0, 0.0, 2.99]), 1)
    _, clearance = pair.contacts(np.eye(3), np.array([0.0, 0.0, 2.99]), 1, list(found))
    assert clearance > 0.4
