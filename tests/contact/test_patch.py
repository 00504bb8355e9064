"""Contact patches as triangles with pressure: their area and load are those of the contact."""

import numpy as np
import pytest
from numpy.typing import NDArray

import bellcrank as bc
from bellcrank.contact.patch import Patch, coarser
from bellcrank.view.animation import page
from bellcrank.view.scene import scene
from bellcrank.view.svg import mechanism


def areas(patch: Patch) -> NDArray[np.float64]:
    sides = patch.corners[:, 1:] - patch.corners[:, :1]
    return np.asarray(0.5 * np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1))


def pressed(law: str, **numbers: float) -> bc.Result:
    """A ball that is laid down on a tilted floor and rolls off."""
    system = bc.System("rolling", gravity=(0, 0, -9.81))
    ball = system.body("ball", mass=2.0, inertia=(0.008,) * 3, at=(0, 0, 0.11))
    system.free("flight", system.ground, ball)
    system.contact(
        "floor",
        system.ground.plane(normal=(0.1, 0, 1)),
        ball.sphere(0.1),
        0.2,
        friction=0.4,
        law=law,
        treatment="continuous",
        **numbers,
    )
    return system.simulate(0.3, output=30)


@pytest.fixture(scope="module")
def layered() -> bc.Result:
    return pressed("foundation", stiffness=2e7)


def test_the_pressure_of_a_layer_adds_up_to_the_load(layered: bc.Result) -> None:
    found = layered.patch("floor", 0.3)
    assert areas(found).sum() == pytest.approx(layered["floor.area"][-1], rel=1e-9)
    # Damping is a part of the load, and no part of the pressure; at rest across the floor there is none.
    assert found.pressure.mean(axis=1) @ areas(found) == pytest.approx(
        layered["floor.normal_force"][-1], rel=1e-3
    )
    assert found.pressure.max() == pytest.approx(layered["floor.peak_pressure"][-1], rel=1e-9)
    assert not len(layered.patch("floor", 0.0).corners)


def test_the_patch_lies_where_the_bodies_meet() -> None:
    result = pressed("half-space", young=1e6)
    found = result.patch("floor", 0.3)
    normal = np.array([0.1, 0, 1]) / np.hypot(0.1, 1.0)
    assert np.allclose(found.corners.reshape(-1, 3).mean(axis=0), result["floor.point"][-1], atol=2e-3)
    assert (found.corners @ normal).max() < 1e-12 * 0.1
    assert areas(found).sum() == pytest.approx(result["floor.area"][-1], rel=1e-9)
    coarse = coarser(found, 40)
    assert len(coarse.corners) <= 40
    assert areas(coarse).sum() == pytest.approx(areas(found).sum(), rel=0.35)


def test_pages_and_pictures_show_it(layered: bc.Result) -> None:
    drawn = scene(layered)
    assert drawn.pressure == pytest.approx(layered["floor.peak_pressure"].max(), rel=0.1)
    assert drawn.patches[0].first[-1] == len(drawn.patches[0].corners)
    assert "contact pressure: 0 to" in page(layered)
    assert mechanism(drawn, len(drawn.time) - 1).count("rgb(") == len(
        drawn.patches[0].of(len(drawn.time) - 1)[0]
    )


def test_a_contact_without_a_patch_is_named(layered: bc.Result) -> None:
    with pytest.raises(bc.ModelError, match="no contact by fields named 'flor'"):
        layered.patch("flor", 0.1)
