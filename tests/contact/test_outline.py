"""Meshes on a plane: the corners and round rims that they touch it with, and how such bodies move on these."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation
from trimesh import creation as make

from bellcrank import System
from bellcrank.contact import Box, Coulomb, Sampled, Solid
from bellcrank.errors import ModelError
from bellcrank.files import dumps, loads

Array = NDArray[np.float64]
G = 9.81


def outline_of(mesh: trimesh.Trimesh) -> tuple[Array, Array] | None:
    found = Sampled.from_mesh(mesh.vertices, mesh.faces).outline
    return None if found is None else (found.corners, found.rings)


def prism(sides: int) -> trimesh.Trimesh:
    return make.cylinder(0.1, 0.2, sections=sides)


def drilled() -> trimesh.Trimesh:
    """A square plate with a round hole, which its outline does not have."""
    turn = 2.0 * np.pi * np.arange(32) / 32
    hole = 0.05 * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    square = 0.1 * np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
    p = np.concatenate([hole, square])
    faces = [(k, 32 + k // 8, (k + 1) % 32) for k in range(32)]
    faces += [(8 * (k + 1) % 32, 32 + k, 32 + (k + 1) % 4) for k in range(4)]
    top, number = np.array(faces), len(p)
    walls = [(k, (k + 1) % 32) for k in range(32)] + [(32 + (k + 1) % 4, 32 + k) for k in range(4)]
    side = [t for a, b in walls for t in ((a, b, a + number), (b, b + number, a + number))]
    points = np.concatenate([np.column_stack([p, np.full(number, z)]) for z in (0.02, -0.02)])
    return trimesh.Trimesh(points, np.concatenate([top, top[:, ::-1] + number, side]))


def can(sections: int, rows: int, turn: float) -> trimesh.Trimesh:
    """A cylinder with rows of vertices on its wall, each turned against the one before."""
    angle = 2.0 * np.pi * np.arange(sections) / sections + turn * np.arange(rows)[:, None]
    z = np.repeat(np.linspace(-0.1, 0.1, rows)[:, None], sections, axis=1)
    wall = np.stack([0.1 * np.cos(angle), 0.1 * np.sin(angle), z], axis=2).reshape(-1, 3)
    place = np.arange(rows * sections).reshape(rows, sections)
    (a, c), (b, d) = ((k[:-1], k[1:]) for k in (place, np.roll(place, -1, axis=1)))
    faces = [np.stack(f, axis=2).reshape(-1, 3) for f in ((a, b, c), (b, d, c))]
    for k, way in ((0, -1), (-1, 1)):
        tip = np.full(sections, len(wall) + (way > 0))
        faces.append(np.stack([place[k], np.roll(place[k], -1), tip], axis=1)[:, ::way])
    return trimesh.Trimesh(np.concatenate([wall, [[0.0, 0.0, -0.1], [0.0, 0.0, 0.1]]]), np.concatenate(faces))


@pytest.mark.parametrize(
    ("mesh", "corners", "rings"),
    [
        (make.box((0.2, 0.1, 0.3)), 8, 0),
        (make.box((0.2, 0.1, 0.3)).subdivide().subdivide(), 8, 0),
        (prism(6), 12, 0),
        (prism(32), 0, 2),
        (prism(500), 0, 2),
        (make.annulus(0.05, 0.1, 0.05), 0, 2),
        (make.cone(0.1, 0.2), 1, 1),
        (make.cone(0.1, 0.07, sections=64), 1, 1),
        (drilled(), 8, 0),
        (can(64, 8, 0.03), 0, 2),
        (can(3000, 3, 0.0), 0, 2),
        (trimesh.Trimesh(can(32, 2, 0.0).vertices, can(32, 2, 0.0).faces[-32:]), 0, 1),
    ],
)
def test_outlines_of_parts_of_cad(mesh: trimesh.Trimesh, corners: int, rings: int) -> None:
    found = outline_of(mesh)
    assert found is not None
    assert (len(found[0]), len(found[1])) == (corners, rings)
    # No vertex lies deeper, whichever way is down, than what the outline tells in closed form.
    for down in Rotation.random(200, random_state=1).as_matrix()[:, 2]:
        deepest = [float((found[0] @ down).max())] if corners else []
        for c, axis, radius in ((r[:3], r[3:6], r[6]) for r in found[1]):
            deepest.append(float(c @ down + radius * np.linalg.norm(np.cross(axis, down))))
        vertices = float((mesh.vertices @ down).max())
        # Between its vertices a circle reaches farther than they do.
        sagitta = 0.0 if not rings else 0.1 * (1.0 - np.cos(np.pi / 32))
        assert vertices - 1e-12 <= max(deepest) <= vertices + sagitta + 1e-12


def test_rings_are_circles_however_a_mesh_lies_and_is_rounded() -> None:
    turn, at = Rotation.from_rotvec([0.3, -0.8, 0.5]).as_matrix(), np.array([0.4, -0.2, 0.7])
    mesh = make.cylinder(0.1, 0.2, sections=48)
    points = (mesh.vertices @ turn.T + at).astype(np.float32)
    found = outline_of(trimesh.Trimesh(points, mesh.faces))
    assert found is not None
    assert len(found[0]) == 0
    assert len(found[1]) == 2
    for ring, side in zip(found[1][np.argsort(found[1][:, :3] @ turn[:, 2])], (-0.1, 0.1), strict=True):
        assert ring[:3] == pytest.approx(at + side * turn[:, 2], abs=1e-7)
        assert np.abs(ring[3:6] @ turn[:, 2]) == pytest.approx(1.0, abs=1e-12)
        assert ring[6] == pytest.approx(0.1, abs=1e-7)


@pytest.mark.parametrize(
    "mesh",
    [
        make.icosphere(3, 0.1),
        make.torus(0.1, 0.03),
        make.capsule(0.2, 0.05),
        trimesh.Trimesh(make.cylinder(0.1, 0.2, sections=48).vertices * [1.0, 0.7, 1.0], prism(48).faces),
        trimesh.util.concatenate([make.box((0.2, 0.2, 0.02)), make.icosphere(3, 0.11)]),
    ],
)
def test_what_else_may_touch_has_no_outline(mesh: trimesh.Trimesh) -> None:
    """Round sides, rims that are no circles, and anything that sticks out between corners."""
    assert outline_of(mesh) is None


def on_floor(mesh: trimesh.Trimesh, turn: Rotation, **contact: object) -> tuple[System, Array]:
    """A body of 1 kg with its lowest vertex on the floor; the system, and the place of its centre."""
    surface = Sampled.from_mesh(mesh.vertices, mesh.faces)
    solid = Solid.from_mesh(mesh.vertices, mesh.faces, density=1.0 / mesh.volume)
    centre = np.asarray(solid.center_of_mass)
    tensor = turn.as_matrix() @ np.asarray(solid.inertia) @ turn.as_matrix().T
    at = np.array([0.0, 0.0, -float(turn.apply(mesh.vertices - centre)[:, 2].min())])
    system = System("floor", gravity=(0.0, 0.0, -G))
    body = system.body("body", mass=1.0, inertia=tensor, at=tuple(at))
    system.free("flight", system.ground, body)
    shift = tuple(turn.apply(-centre))
    given = {"stiffness": 1e6, "restitution": 0.3, "friction": 0.3, **contact}
    system.contact(
        "floor",
        system.ground.plane(),
        body.shape(surface, shift, turn.as_matrix()),
        treatment="continuous",
        **given,
    )  # type: ignore[arg-type]
    return system, at


@pytest.mark.parametrize("tilt", [0.02, 0.4, 1.2])
@pytest.mark.parametrize("around", [0.0, 0.7])
def test_tilted_coin_is_as_deep_as_the_closed_form_says(tilt: float, around: float) -> None:
    """The lowest place of a rim is R sin(tilt) + h cos(tilt) below the centre."""
    radius, half, sunk = 0.1, 0.01, 1e-4
    turn = Rotation.from_rotvec([tilt * np.cos(around), tilt * np.sin(around), 0.0])
    system, at = on_floor(make.cylinder(radius, 2.0 * half, sections=36), turn)
    below = radius * np.sin(tilt) + half * np.cos(tilt)
    start = {"flight": {"position": (0.0, 0.0, below - sunk)}}
    run = system.simulate(1e-6, initial=start, output=2)
    depths = [float(run[f"{name}.penetration"][0]) for name in system.forces]
    assert len(depths) == 8
    assert max(depths) == pytest.approx(sunk, abs=1e-15)
    assert np.count_nonzero(depths) == 1
    assert at[2] <= below + 1e-15


@pytest.mark.parametrize("points", [2, 3, 4, 6])
@pytest.mark.parametrize(
    "mesh", [make.cylinder(0.1, 0.2, sections=32), make.annulus(0.05, 0.1, 0.05), make.cone(0.1, 0.2)]
)
def test_round_rims_that_land_tilted_come_to_rest(mesh: trimesh.Trimesh, points: int) -> None:
    """Each place around the rim carries its share: K d^1.5 = m g / points."""
    system, at = on_floor(mesh, Rotation.from_rotvec([0.06, 0.08, 0.0]), points=points)
    start = {"flight": {"position": (0.0, 0.0, at[2] + 0.02)}}
    run = system.simulate(2.0, initial=start, output=20)
    upright = float((mesh.center_mass - mesh.bounds[0])[2])
    assert float(run["body.position.z"][-1]) == pytest.approx(
        upright - (G / points / 1e6) ** (2.0 / 3.0), abs=1e-8
    )
    assert max(abs(float(run[f"body.angular_velocity.{c}"][-1])) for c in "xy") < 1e-5


@pytest.mark.parametrize("friction", [0.0, 0.4])
@pytest.mark.parametrize("tilt", [0.1, 0.5])
def test_disc_whose_centre_rests_precesses_as_the_closed_form_says(tilt: float, friction: float) -> None:
    """Euler's disc with a thickness. In steady motion the torque of the weight turns the angular momentum,

    W^2 sin t (I1 cos t - I3 (cos t - p / R)) = m g p,   p = R cos t - h sin t,

    where the place of the rim that touches is at rest; no friction is needed, and none may change it but for the
    overlap, as it acts between both surfaces. Without thickness that is W^2 = m g R / (I1 sin t).
    """
    radius, half, stiffness = 0.1, 0.005, 1e6
    turn = Rotation.from_rotvec([0.0, tilt, 0.0])
    law = Coulomb(friction, slip_speed=1e-4) if friction else 0.0
    system, _ = on_floor(
        make.cylinder(radius, 2.0 * half, sections=64), turn, law="kelvin-voigt", damping=0.0,
        stiffness=stiffness, restitution=1.0, friction=law,
    )  # fmt: skip
    # The mesh is a prism, and so is its inertia.
    solid = Solid.from_mesh(*_triangles(radius, half), density=1.0)
    i1, i3 = (float(solid.inertia[k, k] / solid.mass) for k in (0, 2))
    s, c = np.sin(tilt), np.cos(tilt)
    p = radius * c - half * s
    rate = np.sqrt(G * p / (s * (i1 * c - i3 * (c - p / radius))))
    spin = -rate * p / radius
    start = {
        "position": (0.0, 0.0, radius * s + half * c - G / stiffness),
        "angular_velocity": tuple(np.array([0.0, 0.0, rate]) + turn.apply([0.0, 0.0, spin])),
    }
    turns = 3.0
    run = system.simulate(turns * 2.0 * np.pi / rate, initial={"flight": start}, output=201, tolerance=1e-10)
    axis = np.stack([np.asarray(run[f"body.rotation.{a}{b}"]) for a in "xyz" for b in "xyz"], axis=1)
    axis = axis.reshape(-1, 3, 3) @ turn.as_matrix()[:, 2]
    way = np.unwrap(np.arctan2(axis[:, 1], axis[:, 0]))
    off = G / stiffness / radius if friction else 1e-6
    assert way[-1] == pytest.approx(turns * 2.0 * np.pi, rel=off)
    assert np.arccos(axis[:, 2]) == pytest.approx(tilt, rel=off)
    assert np.abs(np.asarray(run["body.position.x"])).max() < radius * off


def _triangles(radius: float, half: float) -> tuple[Array, NDArray[np.int64]]:
    mesh = make.cylinder(radius, 2.0 * half, sections=64)
    return np.asarray(mesh.vertices), np.asarray(mesh.faces)


@pytest.mark.parametrize(
    "mesh", [make.cylinder(0.08, 0.2, sections=40), make.box((0.2, 0.16, 0.1)), make.cone(0.1, 0.15)]
)
def test_elastic_tumbling_of_meshes_keeps_energy(mesh: trimesh.Trimesh) -> None:
    system, at = on_floor(
        mesh, Rotation.from_rotvec([0.4, 0.3, 0.2]), restitution=1.0, friction=0.0, law="hertz"
    )
    start = {"flight": {"position": (0.0, 0.0, at[2] + 0.15)}}
    run = system.simulate(1.5, initial=start, tolerance=1e-9, output=1501)
    pressed = sum(np.asarray(run[f"{name}.penetration"]) for name in system.forces)
    flying = pressed == 0.0
    assert np.count_nonzero(np.diff(flying.astype(int))) >= 4
    energy = np.asarray(run["energy.total"])[flying]
    assert np.ptp(energy) < 1e-6 * energy[0]


def test_box_of_a_mesh_rocks_on_its_edge_at_the_rate_of_the_closed_form() -> None:
    """About its lower edge, held by friction, a box on two corners is a pendulum turned over: t'' = (m g d / I) sin t,

    t being the lean from balance and d the distance of the centre from the edge.
    """
    half, lean = (0.05, 0.1, 0.1), 0.02
    mesh = make.box([2.0 * x for x in half])
    balance = np.arctan2(half[0], half[2])
    turn = Rotation.from_rotvec([0.0, balance + lean, 0.0])
    system, at = on_floor(mesh, turn, law="kelvin-voigt", damping=300.0, stiffness=1e8, restitution=1.0,
                          friction=Coulomb(0.9, slip_speed=1e-5))  # fmt: skip
    d = float(np.hypot(half[0], half[2]))
    inertia = d * d / 3.0 + d * d
    start = {"flight": {"position": (0.0, 0.0, at[2] - G / 2e8)}}
    duration = 0.25
    run = system.simulate(duration, initial=start, output=51)
    from scipy.integrate import solve_ivp

    fall = solve_ivp(
        lambda _, y: [y[1], G * d / inertia * np.sin(y[0])], (0.0, duration), [lean, 0.0], rtol=1e-10
    )
    assert float(run["body.angular_velocity.y"][-1]) == pytest.approx(float(fall.y[1, -1]), rel=2e-3)


def test_points_are_counted_around_each_rim() -> None:
    can, cube = make.cylinder(0.1, 0.2, sections=32), make.box((0.2, 0.2, 0.2))
    upright = Rotation.identity()
    assert len(on_floor(can, upright)[0].forces) == 8
    assert len(on_floor(can, upright, points=3)[0].forces) == 6
    assert len(on_floor(cube, upright, points=4)[0].forces) == 8
    # One point is the lowest of the samples.
    assert list(on_floor(can, upright, points=1)[0].forces) == ["floor"]
    with pytest.raises(ModelError, match=r"must be a whole number from 1 to 12, not 2\.5"):
        on_floor(can, upright, points=2.5)
    with pytest.raises(ModelError, match="must be a whole number from 1 to 12, not 13"):
        on_floor(can, upright, points=13)


@pytest.mark.parametrize("points", [None, 1, 3])
def test_model_files_carry_the_outline(points: int | None) -> None:
    given = {} if points is None else {"points": points}
    system, _ = on_floor(make.cone(0.1, 0.2), Rotation.identity(), **given)
    text = dumps(system)
    again = loads(text)
    assert list(again.forces) == list(system.forces)
    assert dumps(again) == text


def test_box_of_a_mesh_strikes_and_comes_to_rest_on_its_corners() -> None:
    """In the impulsive treatment, the same as the box that has a formula."""
    mesh, turn = make.box((0.2, 0.16, 0.1)), Rotation.from_rotvec([0.1, 0.03, 0.0])
    solid = Solid.from_mesh(mesh.vertices, mesh.faces, density=1.0 / mesh.volume)
    ends = []
    for shape in (Sampled.from_mesh(mesh.vertices, mesh.faces), Box(0.1, 0.08, 0.05)):
        system = System("drop", gravity=(0.0, 0.0, -G))
        body = system.body("body", **solid.body, at=(0.0, 0.0, 0.08))
        system.free("flight", system.ground, body)
        system.contact("floor", system.ground.plane(), body.shape(shape, (0, 0, 0), turn.as_matrix()), 0.3)
        assert len(system.contacts) == 8
        ends.append(system.simulate(0.12, output=13)["body.position.z"])
    assert np.asarray(ends[0]) == pytest.approx(np.asarray(ends[1]), abs=1e-9)
    can = Sampled.from_mesh(prism(32).vertices, prism(32).faces)
    assert len(system.contacts) == 8
    system.contact("can", system.ground.plane(), body.shape(can), 0.3, points=4)
    assert len(system.contacts) == 12


@pytest.mark.parametrize("mesh", [make.cylinder(0.1, 0.2, sections=64), make.box((0.2, 0.16, 0.1))])
def test_tilted_mesh_bounces_by_the_impulse_of_the_closed_form(mesh: trimesh.Trimesh) -> None:
    """Without friction, all energy kept: J = -2 v / (1 / m + (r x n) . I^-1 (r x n)), at the lowest place r."""
    turn, speed = Rotation.from_rotvec([0.3, 0.1, 0.0]), 1.0
    system, at = on_floor(mesh, turn, restitution=1.0, friction=0.0, law="hertz", stiffness=1e13)
    surface = system.forces["floor 1"].contact.b.shape.whole
    assert isinstance(surface, Sampled)
    found = surface.outline
    assert found is not None
    if len(found.rings):
        axis, c = turn.apply(found.rings[:, 3:6]), turn.apply(found.rings[:, :3])
        down = axis * axis[:, 2:3] - [0.0, 0.0, 1.0]
        low = c + found.rings[:, 6:7] * down / np.linalg.norm(down, axis=1)[:, None]
    else:
        low = turn.apply(found.corners)
    r = low[np.argmin(low[:, 2])]
    solid = Solid.from_mesh(mesh.vertices, mesh.faces, density=1.0 / mesh.volume)
    tensor = turn.as_matrix() @ solid.inertia @ turn.as_matrix().T
    arm = np.cross(r, [0.0, 0.0, 1.0])
    impulse = 2.0 * speed / (1.0 + arm @ np.linalg.solve(tensor, arm))
    start = {"flight": {"position": (0.0, 0.0, -r[2] + 1e-6), "velocity": (0.0, 0.0, -speed)}}
    duration = 5e-5
    run = system.simulate(duration, initial=start, output=2, tolerance=1e-9)
    assert float(run["body.velocity.z"][-1]) == pytest.approx(impulse - speed - G * duration, abs=1e-3)
    turned = [float(run[f"body.angular_velocity.{c}"][-1]) for c in "xyz"]
    # It goes on turning meanwhile, by some w^2 t.
    assert turned == pytest.approx(list(impulse * np.linalg.solve(tensor, arm)), abs=100.0 * duration)
    assert at[2] > 0.0
