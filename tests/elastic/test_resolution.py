"""Contact patches that the mesh does not resolve are told, with the size that would; resolved ones are not."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from bellcrank import elastic

STEEL = elastic.Material(young=2.1e11, poisson=0.3, density=7850.0)
R, FORCE = 0.05, 2e4
HERTZ = (0.75 * FORCE * R * (1 - 0.3**2) / 2.1e11) ** (1 / 3)
DRIVEN = elastic.Support(lambda x: x[:, -1] > R - 1e-9, "y", -1.0)


def solid_ball(z: float, speed: float, name: str = "ball") -> elastic.ElasticBody:
    return elastic.sphere(
        R, STEEL, analysis=elastic.Analysis.SOLID, element=elastic.Element.HEXAHEDRON8, divisions=3, grading=1.0,
        centre=(0.0, 0.0, z), velocity=(0.0, 0.0, speed), name=name,
    )  # fmt: skip


def test_two_coarse_balls_are_told_that_they_touch_late() -> None:
    """They overlap by a millimetre where Hertz's approach is some micrometres, and no force is felt."""
    low, high = solid_ball(0.0, 0.0, "low"), solid_ball(2.0 * R + 1e-6, -10.0, "high")
    contact = elastic.Contact(high, low)
    with pytest.warns(elastic.PatchNote, match=r"patch of 'high' is not resolved.*Nodes .* apart or nearer"):
        run = elastic.simulate([low, high], contact, 1e-4, 4e-6, frames=5)
    assert any("not resolved" in note for note in run.notes)


def pressed(divisions: int, grading: float) -> tuple[list[str], float]:
    """Notes, and the largest pressure against Hertz's, of the half disc that turns into a ball."""
    ball = elastic.sphere(R, STEEL, divisions=divisions, grading=grading, centre=(0.0, R))
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        run = elastic.press(ball, elastic.RigidPlane(), DRIVEN, force=FORCE)
    peak = np.nanmax(run.pressures) / (1.5 * FORCE / (np.pi * HERTZ**2))
    return [str(one.message) for one in found if one.category is elastic.PatchNote], float(peak)


def test_the_size_that_is_advised_resolves_the_patch() -> None:
    coarse, off = pressed(8, 1.0)
    assert len(coarse) == 1
    half_width, advised = (float(re.search(p, coarse[0])[1]) for p in (r"about (\S+) m", r"Nodes (\S+) m"))
    assert half_width == pytest.approx(HERTZ, rel=0.1)
    assert advised == pytest.approx(0.5 * HERTZ, rel=0.1)
    fine, near = pressed(16, 20.0)
    assert fine == []
    assert abs(near - 1.0) < 0.15 < abs(off - 1.0)


def test_flat_faces_and_edges_have_no_patch_to_resolve() -> None:
    block = elastic.block((1.0, 1.0), STEEL, divisions=(2, 2), lowest=(-0.5, 0.0))
    held = replace(block, supports=(elastic.Support(lambda x: np.abs(x[:, 0] + 0.5) < 1e-9, "x"),))
    top = elastic.Support(lambda x: x[:, 1] > 1.0 - 1e-9, "y", -1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        elastic.press(held, elastic.RigidPlane(), top, approach=1e-5)


def solid(element: elastic.Element, refinement: int) -> elastic.ElasticBody:
    """A ball that stands on the origin, held in its middle."""

    def at(*place: float) -> Callable[[np.ndarray], np.ndarray]:
        return lambda x: np.linalg.norm(x - place, axis=1) < 1e-9 * R

    return elastic.sphere(
        R, STEEL, analysis=elastic.Analysis.SOLID, element=element, divisions=2, refinement=refinement,
        contact_zone=0.06 * R, centre=(0.0, 0.0, R),
        supports=(elastic.Support(at(0.0, 0.0, R), "x y"), elastic.Support(at(R, 0.0, R), "y")),
    )  # fmt: skip


def test_refinement_halves_solid_elements_around_the_lowest_point() -> None:
    nearest = []
    for refinement in range(6):
        distances = np.sort(np.linalg.norm(solid(elastic.Element.TETRAHEDRON4, refinement).nodes, axis=1))
        assert distances[0] == pytest.approx(0.0, abs=1e-12)
        nearest.append(distances[1])
    assert nearest / (nearest[0] * 0.5 ** np.arange(6)) == pytest.approx(1.0, rel=0.2)


def test_a_solid_ball_is_pressed_as_the_body_of_revolution() -> None:
    force = 4.0 / 3.0 * 2.1e11 / (1.0 - 0.3**2) * (0.05 * R) ** 3 / R
    turned = elastic.sphere(
        R,
        STEEL,
        element=elastic.Element.TRIANGLE6,
        refinement=5,
        contact_zone=0.1 * R,
        divisions=8,
        centre=(0.0, R),
    )
    middle = elastic.Support(lambda x: np.abs(x[:, 1] - R) < 1e-9 * R, "y", -1.0)
    exact = elastic.press(turned, elastic.RigidPlane(), middle, force=force).approach
    level = elastic.Support(lambda x: np.abs(x[:, 2] - R) < 1e-9 * R, "z", -1.0)
    errors = []
    for refinement in (2, 3, 5):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", elastic.PatchNote)
            found = elastic.press(
                solid(elastic.Element.TETRAHEDRON10, refinement),
                elastic.RigidPlane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)),
                level,
                force=force,
            )
        errors.append(abs(found.approach / exact - 1.0))
    assert errors[0] > 0.2
    assert errors[1] < 0.03
    assert errors[2] < 0.006
