"""Meshes and fields by steps: as the primitives they stand for, by closed forms, and where they are hollow or open."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from bellcrank import files
from bellcrank.contact import Cone, Cylinder, HeightField, Mesh, Plane, Shape, Torus, Tube
from bellcrank.errors import ModelError
from bellcrank.impacts.meeting import POSE, SPOT
from bellcrank.impacts.patches import INPUTS, MOVED, POINTS, WITHIN, Patch
from bellcrank.model import Body, System
from bellcrank.result.result import Result
from impacts.models import G

Array = NDArray[np.float64]
HALF = (0.1, 0.08, 0.06)


def box_mesh(half: tuple[float, float, float] = HALF) -> Mesh:
    corners = [(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)]
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    return Mesh(np.array(corners) * half, np.array(faces))


def ball_mesh(radius: float, subdivisions: int) -> Mesh:
    import trimesh

    made = trimesh.creation.icosphere(subdivisions=subdivisions, radius=radius)
    return Mesh(np.asarray(made.vertices), np.asarray(made.faces))


def free(system: System, name: str, shape: Shape, at: tuple[float, float, float], turn: float = 0.0) -> Body:
    """A free body of 1000 kg/m^3 with a shape around its centre of mass, turned about y [rad]."""
    inertia = 1000.0 * shape.inertia
    rotation = Rotation.from_rotvec([0.0, turn, 0.0]).as_matrix()
    body = system.body(
        name, mass=1000.0 * shape.volume, inertia=tuple(np.diag(inertia)), at=at, rotation=rotation
    )
    system.free(f"{name} flight", system.ground, body)
    body.collides(body.shape(shape, at=tuple(-shape.centre)))
    return body


def on_floor(shape: Shape, height: float, turn: float = 0.0, **law: float) -> System:
    system = System("drop", gravity=(0.0, 0.0, -G))
    system.ground.collides(system.ground.plane())
    free(system, "part", shape, (0.0, 0.0, height), turn)
    system.contacts_between(**law)
    return system


def run(system: System, duration: float, **more: object) -> Result:
    return system.simulate(duration, impacts="stepping", step=1e-3, **({"output": 20} | more))


def check(result: Result) -> None:
    """Solved, not inside each other, energy not up."""
    energy = np.asarray(result["energy.total"])
    assert result.run.unsolved == 0
    assert result.run.penetration < 1e-6
    assert np.diff(energy).max() < 1e-4 * np.ptp(energy)


def test_points_of_a_patch_stand_for_all_others() -> None:
    """For small motions at random the first point to touch is kept, or one that touches nearly as soon."""
    mesh, floor, rng = ball_mesh(0.1, 3), Plane(), np.random.default_rng(0)
    patch, within = Patch(floor, mesh), 2e-3
    for _ in range(20):
        R = Rotation.random(random_state=int(rng.integers(1000))).as_matrix()
        lowest = (mesh.vertices @ R.T)[:, 2].min()
        x = np.zeros(INPUTS)
        x[:9], x[POSE : POSE + 9], x[POSE + 11] = np.eye(3).ravel(), R.ravel(), -lowest
        x[MOVED + 6 : MOVED + 9], x[WITHIN] = 0.01 * rng.normal(size=3), within
        found = patch.kernel(x)[: SPOT * POINTS].reshape(-1, SPOT)
        kept = found[found[:, 0] < 1.0]
        places = mesh.vertices @ R.T + (0.0, 0.0, -lowest)
        assert kept[:, 0].min() == pytest.approx(0.0, abs=1e-12)
        assert kept[:, 1:4] == pytest.approx(np.tile([0.0, 0.0, 1.0], (len(kept), 1)), abs=1e-12)
        for turn in (*(0.01 * rng.normal(size=(10, 3))), x[MOVED + 6 : MOVED + 9]):
            first = (places + np.cross(turn, places))[:, 2].min()
            of_kept = (kept[:, 7:] + np.cross(turn, kept[:, 7:]))[:, 2].min()
            assert of_kept <= first + 0.05 * within
        assert of_kept == pytest.approx(first, abs=1e-12)


@pytest.mark.parametrize(("turn", "close"), [(0.0, 2e-5), (0.3, 2e-3)])
def test_a_meshed_box_moves_as_a_box_does(turn: float, close: float) -> None:
    """Thrown and sliding; it strikes and rests on its corners. Struck on an edge, which has points between its corners,
    the blow may be shared in other ways."""
    motion = {"part flight": {"velocity": (1.0, 0.5, 0.0), "angular_velocity": (0.5, 0.0, 2.0)}}
    mesh = on_floor(box_mesh(), 0.2, turn, restitution=0.3, friction=0.5)
    plain = System("box", gravity=(0.0, 0.0, -G))
    plain.ground.collides(plain.ground.plane())
    x, y, z = (h * h for h in HALF)
    mass = 8000.0 * math.prod(HALF)
    inertia = tuple(mass / 3.0 * s for s in (y + z, x + z, x + y))
    rotation = Rotation.from_rotvec([0.0, turn, 0.0]).as_matrix()
    body = plain.body("part", mass=mass, inertia=inertia, at=(0.0, 0.0, 0.2), rotation=rotation)
    plain.free("part flight", plain.ground, body)
    body.collides(body.box(*HALF))
    plain.contacts_between(restitution=0.3, friction=0.5)
    a, b = (run(each, 0.6, initial=motion) for each in (mesh, plain))
    assert np.asarray(a["part.position"]) == pytest.approx(np.asarray(b["part.position"]), abs=close)
    if turn == 0.0:
        assert len(a.impacts) == len(b.impacts)
    check(a)


def test_a_meshed_ball_slides_until_it_rolls() -> None:
    """At 5/7 of its speed, after 2 v / (7 mu g); the finer the mesh, the less it loses from facet to facet."""
    missed = []
    for subdivisions in (2, 4):
        system = on_floor(ball_mesh(0.1, subdivisions), 0.1, restitution=0.0, friction=0.3)
        result = run(system, 0.12, initial={"part flight": {"velocity": (1.0, 0.0, 0.0)}})
        check(result)
        speed, spin = result["part.velocity.x"][-1], result["part.angular_velocity.y"][-1]
        assert spin * 0.1 == pytest.approx(speed, rel=0.05)
        missed.append(abs(speed - 5.0 / 7.0))
    assert missed[1] < 0.02
    assert missed[1] < 0.5 * missed[0]


def test_rings_lie_on_each_other() -> None:
    """Hollow bodies: a ring falls around a peg, and another one onto it; their weights add up."""
    system = System("rings", gravity=(0.0, 0.0, -G))
    system.ground.collides(
        system.ground.plane(), system.ground.shape(Cylinder(0.04, 0.1), at=(0.0, 0.0, 0.1))
    )
    for k in range(2):
        free(system, f"ring {k}", Torus(0.08, 0.02), (0.005 * k, 0.0, 0.05 + 0.07 * k), 0.1)
    system.contacts_between(restitution=0.2, friction=0.3)
    result = run(system, 0.8)
    check(result)
    weight = 1000.0 * Torus(0.08, 0.02).volume * G
    assert np.asarray(result["ring 1.contact_force"])[-1, 2] == pytest.approx(weight, rel=1e-3)
    assert result["ring 0.position.z"][-1] == pytest.approx(0.02, abs=1e-4)
    assert result["ring 1.position.z"][-1] == pytest.approx(0.06, abs=2e-3)


def test_a_ball_rests_in_an_open_bowl() -> None:
    """An open sheet: half of a sphere, in which a box comes to rest on its corners."""
    bowl = ball_mesh(0.3, 3)
    lower = bowl.vertices[bowl.faces][:, :, 2].mean(axis=1) < 0.0
    sheet = Mesh(bowl.vertices, bowl.faces[lower], thickness=0.02)
    system = System("bowl", gravity=(0.0, 0.0, -G))
    system.ground.collides(system.ground.shape(sheet, at=(0.0, 0.0, 0.3)))
    half = (0.05, 0.05, 0.05)
    free(system, "part", box_mesh(half), (0.1, 0.03, 0.2))
    system.contacts_between(restitution=0.1, friction=0.1)
    result = run(system, 1.5)
    check(result)
    # Its lower corners lie on the inner side: the middle is that far above the lowest point of a sphere of 0.29 m.
    expected = 0.3 - math.sqrt(0.29**2 - 2.0 * 0.05**2) + 0.05
    assert result["part.position.z"][-1] == pytest.approx(expected, abs=5e-3)
    assert np.linalg.norm(np.asarray(result["part.velocity"])[-1]) < 0.05


FIELDS: dict[str, tuple[Shape, float]] = {
    "cone": (Cone(0.1, 0.15), 0.12),
    "tube": (Tube(0.1, 0.05, 0.1), 0.12),
    "cylinder": (Cylinder(0.1, 0.1), 0.12),
}


@pytest.mark.parametrize("name", list(FIELDS))
def test_every_field_stands_on_a_box_and_on_a_terrain(name: str) -> None:
    shape, height = FIELDS[name]
    for below in ("box", "terrain"):
        system = System("stand", gravity=(0.0, 0.0, -G))
        ground = system.ground
        level = HeightField(np.zeros((9, 9)), 0.1)
        shapes = {
            "box": ground.box(0.3, 0.3, 0.1, at=(0.0, 0.0, -0.1)),
            "terrain": ground.shape(level, at=(-0.4, -0.4, 0.0)),
        }
        ground.collides(shapes[below])
        body = free(system, "part", shape, (0.0, 0.0, height))
        system.contacts_between(restitution=0.0, friction=0.5)
        result = run(system, 0.3)
        check(result)
        weight = body.mass * G
        assert np.asarray(result["part.contact_force"])[-1] == pytest.approx(
            [0.0, 0.0, weight], rel=1e-4, abs=1e-3
        )
        assert np.abs(np.asarray(result["part.angular_velocity"])[-1]).max() < 1e-3


def test_a_contact_of_a_mesh_is_a_group_of_two(tmp_path: Path) -> None:
    """Also between bodies that a joint joins; in files it stands among the contacts."""
    system = System("door", gravity=(0.0, -G, 0.0))
    door = system.body("door", mass=1.0, inertia=(0.01, 0.01, 0.01), at=(0.2, 0.0, 0.0))
    system.revolute("hinge", system.ground, door, at=(0.0, 0.0, 0.0), axis="z")
    mesh = box_mesh((0.2, 0.02, 0.05))
    wall = system.ground.box(0.05, 0.1, 0.05, at=(0.0, -0.4, 0.0))
    system.contact("stop", wall, door.shape(mesh), restitution=0.2, friction=0.3)
    files.save(system, tmp_path / "door.yaml")
    results = [run(each, 0.8) for each in (system, files.load(tmp_path / "door.yaml"))]
    assert results[0].impacts[0].contacts[0].contact == "stop: ground door"
    # It hangs against the wall, which its corner touches.
    assert results[0]["hinge.angle"][-1] == pytest.approx(results[1]["hinge.angle"][-1], abs=1e-9)
    assert abs(results[0]["hinge.angle_rate"][-1]) < 1e-3
    with pytest.raises(ModelError, match=r"contact 'stop' is solved by steps"):
        system.simulate(0.1)
