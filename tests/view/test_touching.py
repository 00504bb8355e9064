"""Shapes of contacts as they are drawn."""

from __future__ import annotations

import numpy as np
import pytest
from trimesh import creation

import bellcrank as bc
from bellcrank import elastic, flexible
from bellcrank.contact import Mesh
from bellcrank.contact.shapes.revolution import Revolution
from bellcrank.view.scene import Scene, scene
from bellcrank.view.touching import solid


def test_a_solid_of_revolution_is_drawn_on_its_profile() -> None:
    shape = Revolution(lambda z: 0.03 + 0.02 * np.sin(3.0 * z), 0.8)
    drawn = solid(shape, lambda v: np.array(v, dtype=float), 1.0, "#123456", 1.0, np.array([0.0, 0.0, 1.0]))
    assert drawn is not None
    z, r = drawn.corners[:, 2], np.hypot(drawn.corners[:, 0], drawn.corners[:, 1])
    # Its rims are rounded a little.
    side = (z > 0.02) & (z < 0.78)
    np.testing.assert_allclose(r[side], 0.03 + 0.02 * np.sin(3.0 * z[side]), atol=1e-7)
    assert (z.min(), z.max()) == pytest.approx((0.0, 0.8), abs=1e-9)
    # Closed: every edge belongs to two faces, run through both ways.
    edges = [(f[k], f[(k + 1) % len(f)]) for f in drawn.faces for k in range(len(f))]
    assert len(set(edges)) == len(edges)
    assert {(b, a) for a, b in edges} == set(edges)


def test_walls_and_ceilings_hide_nothing_and_do_not_widen_the_view() -> None:
    def drawn(*normals: tuple[float, float, float]) -> Scene:
        system = bc.System("cell")
        ball = system.body("ball", mass=1.0, inertia=(1.0, 1.0, 1.0))
        system.free("flight", system.ground, ball)
        planes = [system.ground.plane(normal=n, at=-np.array(n)) for n in normals]
        system.contacts_between([ball.sphere(0.1), *planes])
        return scene(system.simulate(0.01, output=1, impacts="stepping", step=1e-3))

    walled = drawn((0, 0, 1), (0, 0, -1), (1, 0, 0), (-1, 0, 0))
    planes = [s for _, s in walled.solids if s.endless]
    assert [s.ground for s in planes] == [True, False, False, False]
    assert [s.opacity < 0.5 for s in planes] == [False, True, True, True]
    # No less than 0.3 of the size in any case; the ball is smaller.
    np.testing.assert_allclose(walled.extent()[1], 0.3 * walled.size)


def test_a_shape_on_a_flexible_body_goes_with_its_node() -> None:
    """A ball at the end of a beam that springs: as high above the ground as the gap says."""
    steel = elastic.Material(young=2.0e9, poisson=0.3, density=8000.0)
    body = elastic.block(
        (1.0, 0.1), steel, analysis=elastic.Analysis.PLANE_STRESS, divisions=(4, 1), name="beam"
    )
    model = elastic.flexible_model(body, {"foot": lambda x: x[:, 0] < 1e-9, "tip": (1.0, 0.0)})
    member = model.reduce(flexible.AttachmentModes({"foot": "x y", "tip": "y"}, 2))
    system = bc.System("beam with a ball", gravity=(0.0, -100.0, 0.0))
    beam = system.flexible_body("beam", member)
    system.fixed("wall", system.ground, beam.node("foot"))
    ball = beam.circle(0.2, at=member.node("tip").position)
    system.contact("floor", ball, system.ground.line(at=(0.0, -3.0, 0.0)))
    run = system.simulate(0.05, output=20)
    drawn = scene(run)
    carried = [k for k, _ in drawn.solids if k >= 1]
    assert drawn.bodies == ("beam", "")
    assert carried == [1]
    height = np.asarray(run["floor.gap"]) + 0.2 - 3.0
    assert np.ptp(height) > 0.001
    assert np.abs(drawn.positions[:, 1, 1] - height).max() < 1e-9


def test_a_mesh_is_drawn_with_its_own_triangles_and_its_body_with_no_box() -> None:
    mesh = creation.annulus(0.05, 0.1, 0.02, sections=24)
    system = bc.System("ring and striker", gravity=(0.0, 0.0, 0.0))
    ring = system.body("ring", mass=1.0, inertia=(0.01,) * 3)
    striker = system.body("striker", mass=1.0, inertia=(0.01,) * 3, at=(0.3, 0.0, 0.0))
    system.revolute("axle", system.ground, ring, at=(0.0, 0.0, 0.0), axis="z")
    system.revolute("pivot", system.ground, striker, at=(0.3, 0.0, 0.0), axis="z")
    system.contact(
        "touch", ring.shape(Mesh(mesh.vertices, mesh.faces)), striker.sphere(0.02, at=(-0.15, 0.0, 0.0)),
        treatment="continuous",
    )  # fmt: skip
    drawn = scene(system.simulate(0.01, output=2))
    large = [solid for k, solid in drawn.solids if k == 0 and np.ptp(solid.corners, axis=0).max() > 0.1]
    assert len(large) == 1
    assert len(large[0].faces) == len(mesh.faces)
    assert large[0].opacity == 1.0
    # The arm of the striker leads from its pivot to its ball.
    arms = [solid.corners for k, solid in drawn.solids if k == 1]
    low = min(float(corners[:, 0].min()) for corners in arms)
    assert low < -0.15
    bars = [c for c in arms if np.ptp(c[:, 0]) > 0.01 and np.ptp(c[:, 1]) < 0.03]
    assert min(float(c[:, 0].min()) for c in bars) < -0.14
    assert max(float(c[:, 0].max()) for c in bars) > -0.01
