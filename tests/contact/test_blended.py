"""The curvature of a surface through samples, and derivatives of contact points traced through Newton's method."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from bellcrank.contact import Plane, Sampled, Sphere
from bellcrank.contact.local import meet
from bellcrank.contact.search import SampledPair, held
from bellcrank.contact.shapes import Shape
from bellcrank.contact.source import Around, local_of
from bellcrank.math.tuples import mat, vec
from bellcrank.program.derive import directional
from bellcrank.program.evaluate import evaluate
from bellcrank.program.graph import Graph
from bellcrank.program.program import Program
from contact.test_sampled import on_sphere, sampled_sphere

AXES = np.array((0.1, 0.07, 0.05))


def ellipsoid(number: int) -> Sampled:
    p = on_sphere(number)
    return Sampled(p * AXES, p / AXES)


def piece(surface: Sampled, x: np.ndarray, exact: bool = True) -> Around:
    """The surface around a point, in numbers."""
    numbers = surface.numbers(x)[0].tolist()
    return replace(held(local_of(surface, numbers), (2.0, 0.0, 0.0, 0.0)), exact=exact)


def test_curvature_is_how_the_normal_turns() -> None:
    """Against differences of normals along the surface."""
    surface, random = ellipsoid(400), np.random.default_rng(3)
    for k in random.integers(0, 400, 6):
        start = surface.points[k] + 0.3 * surface.spacing * random.normal(size=3)
        around = piece(surface, start).sharpened()
        x = vec(start.tolist())
        for _ in range(6):
            x, n = around.pulled(x)
        e1 = np.cross(n, random.normal(size=3))
        e1 /= np.linalg.norm(e1)
        e2 = np.cross(n, e1)
        h = 1e-5 * surface.spacing

        def turned(e: np.ndarray, x: object = x, around: Around = around, h: float = h) -> np.ndarray:
            ends = [np.array(around.pulled(vec((np.array(x) + s * h * e).tolist()))[1]) for s in (1.0, -1.0)]
            return (ends[0] - ends[1]) / (2.0 * h)

        k11, k12, k22 = around.bend(x, vec(e1.tolist()), vec(e2.tolist()))
        expected = [e1 @ turned(e1), e1 @ turned(e2), e2 @ turned(e2)]
        assert [k11, k12, k22] == pytest.approx(expected, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("other", [Plane(), Sphere(0.05)], ids=["plane", "sphere"])
def test_derivatives_of_contact_points_are_those_of_the_converged_ones(other: Shape) -> None:
    """The turning of normals is what holds a lasting contact; differences are taken of another search, step by step."""
    surface, random = ellipsoid(400), np.random.default_rng(1)
    pair = SampledPair(surface, other)
    for _ in range(3):
        R = Rotation.random(random_state=random).as_matrix()
        c = -0.2 * R[:, 2]
        for _ in range(3):
            gap, n, *_ = pair(R, c)
            c = c - gap * n
        x = pair(R, c)[4]
        e = np.cross(n, random.normal(size=3))
        around = piece(surface, x + 0.2 * surface.spacing * e / np.linalg.norm(e))
        spin, speed = 5.0 * random.normal(size=3), random.normal(size=3)
        graph = Graph()
        pose = [graph.input(f"pose {k}") for k in range(12)]
        rates = [graph.input(f"rate {k}") for k in range(12)]
        found = meet(around, other, mat([pose[0:3], pose[3:6], pose[6:9]]), vec(pose[9:12]))
        outputs = [v for part in found for v in part]
        moving = directional(outputs, {p.id: r for p, r in zip(pose, rates, strict=True)})
        program = Program.of([*pose, *rates], [*outputs, *moving])
        turning = np.cross(spin, R, axisb=0, axisc=0)
        y = np.array(evaluate(program, np.concatenate([R.ravel(), c, turning.ravel(), speed])))
        h = 1e-6
        ends = []
        for s in (1.0, -1.0):
            now = Rotation.from_rotvec(s * h * spin).as_matrix() @ R, c + s * h * speed
            near = pair(*now, start=(x, pair(R, c)[5]))
            ends.append(np.concatenate([near[1], near[2], near[3]]))
        expected = (ends[0] - ends[1]) / (2.0 * h)
        assert y[9:] == pytest.approx(expected, rel=2e-5, abs=2e-5 * np.abs(expected).max())


def test_contacts_that_only_press_keep_the_short_search() -> None:
    surface = sampled_sphere(200)
    assert not piece(surface, surface.points[0], exact=False).exact
    x = vec(surface.points[0].tolist())
    around = piece(surface, surface.points[0])
    frame = vec((1.0, 0.0, 0.0)), vec((0.0, 1.0, 0.0))
    assert around.bend(x, *frame) != around.sharpened().bend(x, *frame)
