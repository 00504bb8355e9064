"""The rims of two open surfaces against each other: an edge against an edge."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from bellcrank.contact import Sampled
from bellcrank.contact.edges import DIRECTION, EDGES, FOUND, GAP, OUT_A, OUT_B, closest_edges, within_cones
from bellcrank.contact.pieces import SLOPES
from bellcrank.contact.refinement import RIMS, WIDE_PAD
from contact.test_rims import disc, flat, plate

Array = NDArray[np.float64]
Curve = Callable[[float], Array]
HALF = 0.2


def closest(
    a: Sampled, b: Sampled, R: Array, c: Array, x: Array, y: Array
) -> tuple[Array, Array, Array, bool]:
    """What two edges tell, the points in each own frame, and whether they hold each other."""
    pad = np.zeros(WIDE_PAD + EDGES)
    pad[SLOPES + 4 : SLOPES + 7], pad[SLOPES + 12 : SLOPES + 15] = x, y
    scratch = [np.zeros(4096, np.int64) for _ in range(4)]
    sides = []
    for s in (a, b):
        table = s.pieces.table
        assert isinstance(table.base, np.ndarray)
        sides += [table.base, s.pieces.nodes, s.tree.leaves, s.tree.width, s.spacing]
    how = closest_edges(np.concatenate([R.ravel(), c]), *sides, pad, *scratch, RIMS, WIDE_PAD, 1.0)
    assert how == FOUND
    holds = within_cones(pad, WIDE_PAD, 0.0)
    return pad[WIDE_PAD:], pad[SLOPES + 4 : SLOPES + 7], pad[SLOPES + 12 : SLOPES + 15], holds


def turn(*ways: float) -> Array:
    return Rotation.from_rotvec(np.array(ways)).as_matrix()


def between(u: Array, v: Array, d: Array) -> float:
    """Distance of two straight lines with directions u and v, d apart."""
    n = np.cross(u, v)
    return abs(float(d @ n)) / float(np.linalg.norm(n))


@pytest.mark.parametrize("lean", [0.2, 0.9, 0.5 * np.pi, 2.6])
@pytest.mark.parametrize("gap", [0.01, 1e-9, -0.004])
def test_straight_edges_are_as_far_apart_as_two_lines(lean: float, gap: float) -> None:
    """One plate lies flat, the other stands upright beside its edge, turned about the way from one to the other."""
    a = b = plate(9, HALF)
    R = turn(lean, 0.0, 0.0)
    c = np.array([2.0 * HALF + gap, 0.03, 0.02])
    told, x, y, holds = closest(a, b, R, c, np.array([HALF, 0.05, 0.0]), np.array([-HALF, 0.05, 0.0]))
    assert holds
    assert told[GAP] == pytest.approx(gap, abs=1e-14)
    assert told[DIRECTION : DIRECTION + 3] == pytest.approx([1.0, 0.0, 0.0], abs=1e-12)
    u, v = np.array([0.0, 1.0, 0.0]), R @ np.array([0.0, 1.0, 0.0])
    assert abs(told[GAP]) == pytest.approx(between(u, v, c - R @ [HALF, 0, 0] - [HALF, 0, 0]), abs=1e-14)
    assert R @ y + c - x == pytest.approx([gap, 0.0, 0.0], abs=1e-12)
    assert x[2] == pytest.approx(0.0, abs=1e-14)
    assert y[0] == pytest.approx(-HALF, abs=1e-14)


def test_direction_leads_out_of_both_sheets_or_the_edges_do_not_hold() -> None:
    """An edge in front of a sheet's edge, or behind that sheet's, is none that both could lean on."""
    a = b = plate(9, HALF)
    x, y = np.array([HALF, 0.03, 0.0]), np.array([-HALF, 0.05, 0.0])
    for pitch in np.linspace(0.05, 6.2, 23):
        # The second sheet turns about its own edge, which stays across the first one's, 1 mm beyond it.
        R = turn(0.5 * np.pi, 0.0, 0.0) @ turn(0.0, pitch, 0.0)
        c = np.array([HALF + 1e-3, 0.03, 0.0]) - R @ y
        told, _, _, holds = closest(a, b, R, c, x, y)
        # Its own way out is -x of its frame.
        way_out = R @ np.array([-1.0, 0.0, 0.0])
        n = told[DIRECTION : DIRECTION + 3]
        assert told[OUT_A : OUT_B + 1] == pytest.approx([n[0], -float(n @ way_out)], abs=1e-12)
        assert holds == (way_out[0] < 0.0)


def circle(turned: Array, middle: Array) -> Curve:
    return lambda t: turned @ np.array([np.cos(t), np.sin(t), 0.0]) + middle


def line(turned: Array, middle: Array) -> Curve:
    return lambda t: turned @ np.array([1.0, t, 0.0]) + middle


def least(one: Curve, other: Curve, start: tuple[float, float]) -> tuple[float, Array, Array]:
    """Closest points of two curves, by SciPy."""

    def square(t: Array) -> float:
        return float(np.sum((one(t[0]) - other(t[1])) ** 2))

    rough = minimize(square, np.array(start), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-20})
    found = minimize(square, rough.x, method="BFGS", options={"gtol": 1e-14})
    p, q = one(found.x[0]), other(found.x[1])
    return float(np.linalg.norm(q - p)), p, q


@pytest.mark.parametrize("straight", [False, True])
def test_round_edges_are_as_far_apart_as_circles(straight: bool) -> None:
    """Discs whose rims are told by 480 samples; SciPy minimises over both parameters."""
    ring = flat(disc(80, 76))
    other = plate(21, 1.0) if straight else ring
    random = np.random.default_rng(3)
    for _ in range(8):
        R = Rotation.random(random_state=random).as_matrix()
        one, two = random.uniform(0.0, 2.0 * np.pi), random.uniform(-0.5, 0.5)
        rim_b = line(R, np.zeros(3)) if straight else circle(R, np.zeros(3))
        # Beside each other, where the common perpendicular is known, and a little along both edges besides.
        u, v = np.array([-np.sin(one), np.cos(one), 0.0]), (rim_b(two + 1e-6) - rim_b(two - 1e-6)) / 2e-6
        n = np.cross(u, v)
        n /= np.linalg.norm(n)
        near = circle(np.eye(3), np.zeros(3))(one)
        c = near + random.uniform(0.002, 0.05) * n + 0.01 * (u - v) - rim_b(two)
        far, p, q = least(
            circle(np.eye(3), np.zeros(3)), line(R, c) if straight else circle(R, c), (one, two)
        )
        told, x, y, _ = closest(ring, other, R, c, near, R.T @ rim_b(two))
        assert abs(told[GAP]) == pytest.approx(far, abs=1e-9)
        assert x == pytest.approx(p, abs=1e-6)
        assert R @ y + c == pytest.approx(q, abs=1e-6)
