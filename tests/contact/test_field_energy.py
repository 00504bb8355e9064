"""The energy of an overlap: its integrals against exact arithmetic, its slopes against its values."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from bellcrank.contact.field_energy import mean_fourth, mean_square
from bellcrank.contact.field_surface import TRIANGLES, surface_of
from bellcrank.math.vectors import Vector
from bellcrank.program.loops import Reals, entry


@entry
def _square(x: Reals, out: Reals) -> int:
    out[0], out[1], out[2], out[3], out[4] = mean_square(x[0], x[1], x[2])
    return 0


@entry
def _fourth(x: Reals, out: Reals) -> int:
    out[0], out[1], out[2], out[3], out[4] = mean_fourth(x[0], x[1], x[2])
    return 0


def _homogeneous(n, values):
    """The complete homogeneous symmetric polynomial of degree n."""
    if len(values) == 1:
        return values[0] ** n
    return sum(values[0] ** k * _homogeneous(n - k, values[1:]) for k in range(n + 1))


def _clipped(depths):
    """The wet polygon of a triangle: barycentric coordinates of its corners, exactly."""
    corners = [(Fraction(int(i == 0)), Fraction(int(i == 1)), Fraction(int(i == 2))) for i in range(3)]
    found = []
    for i in range(3):
        j = (i + 1) % 3
        if depths[i] >= 0:
            found.append(corners[i])
        if (depths[i] > 0) != (depths[j] > 0) and depths[i] * depths[j] < 0:
            t = depths[i] / (depths[i] - depths[j])
            found.append(tuple(a + t * (b - a) for a, b in zip(corners[i], corners[j], strict=True)))
    return found


def _mean(n, depths):
    """The mean of max(0, d)^n over the triangle, and the part that is wet, by fans of the wet polygon."""
    polygon = _clipped(depths)
    total = wet = Fraction(0)
    for k in range(1, len(polygon) - 1):
        one, two, three = polygon[0], polygon[k], polygon[k + 1]
        area = abs(
            (two[0] - one[0]) * (three[1] - one[1]) - (two[1] - one[1]) * (three[0] - one[0])
        )  # over that of the whole triangle
        values = [sum(x * d for x, d in zip(p, depths, strict=True)) for p in (one, two, three)]
        total += area * _homogeneous(n, values) * Fraction(2, (n + 1) * (n + 2))
        wet += area
    return total, wet


@pytest.mark.parametrize(("n", "run", "factor"), [(2, _square, Fraction(1, 2)), (4, _fourth, Fraction(1))])
def test_integrals_and_slopes_are_exact(n, run, factor):
    random = np.random.default_rng(n)
    cases = [random.normal(size=3) for _ in range(40)]
    cases += [np.array(c, float) for c in product((-1.0, 1e-9, 2.0), repeat=3)]
    for depths in cases:
        out = np.zeros(5)
        run(depths, out)
        exact = [Fraction(d) for d in depths.tolist()]
        mean, wet = _mean(n, exact)
        assert out[0] == pytest.approx(float(factor * mean), rel=1e-14, abs=1e-300)
        assert out[4] == pytest.approx(float(wet), rel=1e-13, abs=1e-300)
        step = Fraction(1, 10**16)
        for k in range(3):
            up, down = list(exact), list(exact)
            up[k] += step
            down[k] -= step
            slope = factor * (_mean(n, up)[0] - _mean(n, down)[0]) / (2 * step)
            assert out[1 + k] == pytest.approx(float(slope), rel=1e-12, abs=1e-40)


def test_clusters_hold_every_triangle_once_within_their_boxes():
    random = np.random.default_rng(5)
    vertices = random.normal(size=(60, 3))
    faces = random.integers(0, 60, size=(200, 3))
    surface = surface_of(vertices, faces)
    areas, leaves = 0.0, 0
    for k in range(len(surface.nodes)):
        node = surface.nodes[k]
        assert node.skip > k
        if node.vertices == 0:
            continue
        leaves += 1
        assert node.triangles <= TRIANGLES
        for j in range(node.vertices):
            point = surface.vertices[node.first_vertex + j]
            assert (point - node.centre).length <= node.radius * (1 + 1e-12)
            along = Vector(*random.normal(size=3))
            assert (point - node.centre).dot(along) <= surface.rise(k, along)
        areas += sum(surface.triangles[node.first_triangle + j].area for j in range(node.triangles))
    corners = vertices[faces]
    crosses = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert areas == pytest.approx(0.5 * np.linalg.norm(crosses, axis=1).sum())
    # A node that is left out leads past all that is in it.
    inner = [surface.nodes[k] for k in range(len(surface.nodes)) if surface.nodes[k].vertices == 0]
    assert len(inner) == leaves - 1
