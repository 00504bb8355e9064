"""Elastic contacts of several points keep the energy: gaps are functions of the pose, and none begins or ends deep."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.contact.test_overlooked import pipe
from tests.contact.test_several import box

from bellcrank.contact import Capsule, Sampled
from bellcrank.contact.search import SampledPair
from bellcrank.integrate import SimulationError
from bellcrank.model import System
from bellcrank.result.result import Result

G = 9.81
LAIN = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])


def off(run: Result) -> float:
    """How far the energy strays, over what it was."""
    energy = np.asarray(run["energy.total"])
    return float(np.abs(energy - energy[0]).max() / abs(energy[0]))


def touches(run: Result) -> int:
    return sum("touch" in event.name for event in run.events)


@pytest.mark.parametrize(
    ("points", "duration", "least", "edges"),
    [
        (2, 0.06, 15, False),
        (4, 0.03, 15, False),
        (4, 0.03, 15, True),
    ],
)
def test_peg_tumbling_in_its_hole(points: int, duration: float, least: int, edges: bool) -> None:
    """Its ends meet the wall on both sides, and run around their rims at several times its speed.

    edges: Whether they are rims that touch as edges do, or the surface goes on there.
    """
    system = System("peg", gravity=(0.0, 0.0, 0.0))
    peg = system.body("peg", mass=1.0, inertia=(1e-3, 1e-3, 4e-4))
    system.free("flight", system.ground, peg)
    hole = system.ground.shape(pipe(0.03, 0.2, 80, 40, -1.0))
    mantle = pipe(0.028, 0.08, 60, 21)
    shape = peg.shape(mantle if edges else Sampled(mantle.points, mantle.normals, rims=()))
    system.contact("hole", hole, shape, 1.0, treatment="continuous", stiffness=1e7, points=points)
    start = {"flight": {"velocity": (1.0, 0.0, 0.0), "angular_velocity": (5.0, 1.5, 3.5)}}
    run = system.simulate(duration, tolerance=1e-8, output=300, initial=start)
    assert touches(run) >= least
    # Along rims the points of a program are found less closely.
    assert off(run) < (5e-5 if edges else 2e-6)


def test_point_along_a_line_is_the_same_from_wherever_it_is_sought() -> None:
    """On a tilted peg, whose gap to the hole is curved this way and that: the least gap along the rim of its end."""
    peg, hole = pipe(0.028, 0.08, 60, 21), pipe(0.03, 0.2, 80, 40, -1.0)
    pair = SampledPair(peg, hole)
    tilt = Rotation.from_rotvec([0.05, 0.03, 0.4]).as_matrix()
    R, c = tilt.T, -tilt.T @ np.array([1.3e-3, 4e-4, 0.0])
    found = [f for f in pair.contacts(R, c, 4)[0] if f.hold[0] == 1.0]
    assert found
    t = 2.0 * np.pi * np.arange(200_000) / 200_000
    for f in found:
        assert f.hold[1:] == pytest.approx([0.0, 0.0, np.sign(f.hold[3])], abs=1e-6)
        # All around its circle of the peg; samples tell both to a part of the fourth power of their distance.
        circle = np.stack([0.028 * np.cos(t), 0.028 * np.sin(t), np.full_like(t, f.x[2])], axis=1)
        seen = (circle - c) @ R
        assert f.gap == pytest.approx(0.03 - float(np.hypot(seen[:, 0], seen[:, 1]).max()), abs=1e-6)
        for way in (-0.3, 0.2, 0.4):
            turn = way * peg.spacing / 0.028
            spin = Rotation.from_rotvec([0.0, 0.0, turn]).as_matrix()
            again = pair.refined(R, c, spin @ f.x, f.y, f.sample, f.hold, f.partner)
            assert again.gap == pytest.approx(f.gap, abs=1e-13)
            np.testing.assert_allclose(again.x, f.x, atol=1e-9)


@pytest.mark.parametrize("points", [4, 8])
def test_box_tumbling_on_a_plane(points: int) -> None:
    """Corners are followed, not samples beside them that are farther out but too high to touch."""
    system = System("box")
    body = system.body("body", mass=1.0, inertia=(1e-3, 3.6e-3, 4.2e-3), at=(0.0, 0.0, 0.1))
    system.free("flight", system.ground, body)
    shape = body.shape(box((0.2, 0.1, 0.06), 7))
    system.contact(
        "floor", system.ground.plane(), shape, 1.0, treatment="continuous", stiffness=1e6, points=points
    )
    start = {"flight": {"angular_velocity": (3.0, 2.0, 1.0)}}
    run = system.simulate(1.0, tolerance=1e-8, output=300, initial=start)
    assert touches(run) > 20
    assert off(run) < 5e-6


def closed_cylinder(radius: float, length: float, around: int, along: int) -> Sampled:
    """About z, with sharp rims and flat ends."""
    turn = 2.0 * np.pi * np.arange(around) / around
    circle = np.stack([np.cos(turn), np.sin(turn), np.zeros(around)], axis=1)
    step, up = 2.0 * np.pi * radius / around, np.array([0.0, 0.0, 1.0])
    points, normals = [], []
    for k, z in enumerate(np.linspace(-0.5 * length, 0.5 * length, along)):
        points.append(radius * circle + z * up)
        normals.append(circle + (int(k == along - 1) - int(k == 0)) * up)
    for side in (-1.0, 1.0):
        rings = int(radius / step)
        for k in range(rings):
            r = radius * k / rings
            t = 2.0 * np.pi * np.arange(max(1, round(2.0 * np.pi * r / step)))
            t = t / len(t)
            ring = np.stack([r * np.cos(t), r * np.sin(t), np.full(len(t), 0.5 * side * length)], axis=1)
            points.append(ring)
            normals.append(np.tile(side * up, (len(t), 1)))
    return Sampled(np.vstack(points), np.vstack(normals))


@pytest.mark.parametrize(("points", "rocking"), [(4, 0.0), (8, 0.0), (8, 0.3)])
def test_cylinder_with_sharp_rims_rolls_from_corner_to_corner(points: int, rocking: float) -> None:
    """The next corner of the rim has its point before it touches."""
    system = System("roller")
    body = system.body("body", mass=1.0, inertia=(1.25e-3, 1.8e-3, 1.8e-3), at=(0.0, 0.0, 0.0498))
    system.free("flight", system.ground, body)
    shape = body.shape(closed_cylinder(0.05, 0.12, 48, 13), rotation=LAIN)
    system.contact(
        "floor", system.ground.plane(), shape, 1.0, treatment="continuous", stiffness=1e6, points=points
    )
    start = {"flight": {"velocity": (0.3, 0.0, 0.0), "angular_velocity": (rocking, 6.0, 0.2)}}
    run = system.simulate(0.3, tolerance=1e-8, output=300, initial=start)
    assert touches(run) > 10
    assert off(run) < 1e-6


def capsule_on_a_box(points: int) -> Result:
    import trimesh

    mesh = trimesh.creation.box(extents=(0.4, 0.3, 0.2))
    for _ in range(3):
        mesh = mesh.subdivide()
    system = System("rest")
    body = system.body("rod", mass=1.0, inertia=(1e-3, 5e-3, 5e-3), at=(0.0, 0.0, 0.202))
    system.free("flight", system.ground, body)
    lain = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
    top = system.ground.shape(Sampled.from_mesh(mesh.vertices, mesh.faces))
    system.contact(
        "top", top, body.shape(Capsule(0.1, 0.1), rotation=lain), 0.3, 0.3,
        treatment="continuous", stiffness=1e5, points=points,
    )  # fmt: skip
    return system.simulate(1.5, tolerance=1e-7, output=20)


def test_capsule_rests_on_both_ends_of_its_line_on_a_flat_mesh() -> None:
    """The flat side of a mesh is flat to rounding, so the height is known."""
    run = capsule_on_a_box(2)
    assert float(run["rod.position.z"][-1]) == pytest.approx(0.2 - (0.5 * G / 1e5) ** (2.0 / 3.0), abs=1e-10)
    assert sorted(float(run[f"top {k}.point.x"][-1]) for k in (1, 2)) == pytest.approx([-0.1, 0.1], abs=1e-6)


def test_one_point_is_refused_where_a_capsule_lies_on_a_flat_mesh() -> None:
    """It would jump from one end of the line to the other."""
    with pytest.raises(
        SimulationError, match=r"contact 'top': the surfaces touch at more than one point.*points=2"
    ):
        capsule_on_a_box(1)


def torus(radius: float, tube: float, around: int, across: int) -> Sampled:
    """About z."""
    turns = 2.0 * np.pi * np.arange(around) / around, 2.0 * np.pi * np.arange(across) / across
    u, v = (x.ravel() for x in np.meshgrid(*turns, indexing="ij"))
    n = np.stack([np.cos(v) * np.cos(u), np.cos(v) * np.sin(u), np.sin(v)], axis=1)
    return Sampled(radius * np.stack([np.cos(u), np.sin(u), 0.0 * u], axis=1) + tube * n, n)


def chain(restitution: float, friction: float) -> System:
    """A link that hangs in one that is fixed, 0.5 mm above where it touches."""
    system = System("chain")
    link = system.body("link", mass=1.0, inertia=(9e-3, 5e-3, 5e-3), at=(0.0, 0.0, -0.0695))
    system.free("flight", system.ground, link)
    across, along = np.eye(3)[[0, 2, 1]] * [[1.0], [-1.0], [1.0]], np.eye(3)[[2, 0, 1]]
    fixed = system.ground.shape(torus(0.1, 0.015, 60, 24), rotation=across, at=(0.0, 0.0, 0.1))
    hanging = link.shape(torus(0.1, 0.015, 60, 24), rotation=along)
    system.contact(
        "joint", fixed, hanging, restitution, friction, treatment="continuous", stiffness=1e6, points=2
    )
    return system


def test_link_of_a_chain_rests_in_the_next() -> None:
    run = chain(0.1, 0.3).simulate(0.4, tolerance=1e-7, output=20)
    assert float(run["link.position.z"][-1]) == pytest.approx(-0.07 - (G / 1e6) ** (2.0 / 3.0), abs=2e-6)


def test_link_of_a_chain_swings_in_the_next() -> None:
    start = {"flight": {"velocity": (0.25, 0.15, 0.0), "angular_velocity": (2.0, 3.0, 1.5)}}
    run = chain(1.0, 0.0).simulate(0.5, tolerance=1e-8, output=100, initial=start)
    assert touches(run) > 8
    assert off(run) < 5e-5
    # It stays in.
    assert np.abs(np.asarray(run["link.position.z"]) + 0.07).max() < 0.02
