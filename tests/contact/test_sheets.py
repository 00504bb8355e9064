"""Meshes with creases against round shapes: sides are flat up to the edge, edges and corners touch as such."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation
from trimesh import creation as make
from trimesh.triangles import closest_point

from bellcrank import System
from bellcrank.contact import Box, Capsule, Cylinder, Ellipsoid, Plane, Sampled, Shape, Solid, Sphere
from bellcrank.contact.search import SampledPair
from bellcrank.contact.sheets import Sheets
from bellcrank.errors import ModelError
from bellcrank.files import dumps, loads

Array = NDArray[np.float64]
G = 9.81
EYE = np.eye(3)
BOX = (0.2, 0.16, 0.1)


def angle_iron() -> tuple[Array, NDArray[np.int64]]:
    """An L of 0.2 by 0.2, its legs 0.08 wide, 0.15 high: it has a hollow crease."""
    p = np.array([(0, 0), (0.2, 0), (0.2, 0.08), (0.08, 0.08), (0.08, 0.2), (0, 0.2)])
    ends = [(0, 1, 2), (0, 2, 3), (0, 3, 5), (3, 4, 5)]
    faces = [(a, c, b) for a, b, c in ends] + [(a + 6, b + 6, c + 6) for a, b, c in ends]
    for k in range(6):
        m = (k + 1) % 6
        faces += [(k, m, m + 6), (k, m + 6, k + 6)]
    return np.concatenate([np.column_stack([p, np.full(6, z)]) for z in (0.0, 0.15)]), np.array(faces)


def from_boxes(c: Array, boxes: list[tuple[tuple[float, ...], tuple[float, ...]]]) -> float:
    """How far a point outside of boxes is from the nearest one."""
    return min(float(np.linalg.norm(c - np.clip(c, low, high))) for low, high in boxes)


LEGS = [((0.0, 0.0, 0.0), (0.2, 0.08, 0.15)), ((0.0, 0.0, 0.0), (0.08, 0.2, 0.15))]
CUBOID = [((-0.1, -0.08, -0.05), (0.1, 0.08, 0.05))]


@pytest.mark.parametrize("name", ["box", "angle iron"])
def test_ball_is_as_far_from_sides_edges_and_corners_as_the_closed_form_says(name: str) -> None:
    box = make.box(BOX)
    mesh = (box.vertices, box.faces) if name == "box" else angle_iron()
    solid = CUBOID if name == "box" else LEGS
    ball, random = Sphere(0.02), np.random.default_rng(1)
    pair = SampledPair(Sheets.against(Sampled.from_mesh(*mesh), ball), ball)
    low, high = np.min(mesh[0], axis=0) - 0.03, np.max(mesh[0], axis=0) + 0.03
    looked = 0
    while looked < 250:
        c = random.uniform(low, high)
        far = from_boxes(c, solid)
        if not 0.012 < far < 0.04:
            continue
        looked += 1
        found = pair.contacts(EYE, c, 3)[0]
        assert min(f.gap for f in found) == pytest.approx(far - 0.02, abs=1e-12)


def test_a_side_that_was_not_followed_does_not_begin_with_a_force() -> None:
    """In the hollow of an angle iron a ball touches one leg, then is within the other all at once."""
    ball = Sphere(0.02)
    pair = SampledPair(Sheets.against(Sampled.from_mesh(*angle_iron()), ball), ball)
    on_one = pair.contacts(EYE, np.array([0.18, 0.1, 0.07]), 2)[0]
    assert on_one[0].gap == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(ModelError, match="overlap already"):
        pair.contacts(EYE, np.array([0.0995, 0.18, 0.07]), 2, list(on_one))
    near = pair.contacts(EYE, np.array([0.1005, 0.18, 0.07]), 2, list(on_one))[0]
    assert min(f.gap for f in near) == pytest.approx(5e-4, abs=1e-12)


def tetrahedron() -> trimesh.Trimesh:
    corners = 0.1 * np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    return trimesh.Trimesh(corners, [[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]])


@pytest.mark.parametrize(
    "mesh",
    [
        make.cylinder(0.1, 0.1, sections=6),
        make.cylinder(0.1, 0.06, sections=3),
        tetrahedron(),
        make.box((0.2, 0.2, 0.005)),
    ],
    ids=["hexagon", "triangle", "tetrahedron", "plate"],
)
def test_ball_is_as_far_from_a_polyhedron_as_from_its_triangles(mesh: trimesh.Trimesh) -> None:
    """The distance to the nearest triangle, by trimesh, is that to the body outside of it."""
    ball, random = Sphere(0.02), np.random.default_rng(5)
    pair = SampledPair(Sheets.against(Sampled.from_mesh(mesh.vertices, mesh.faces), ball), ball)
    corners, n = mesh.triangles, mesh.face_normals
    looked = 0
    while looked < 120:
        c = random.uniform(mesh.bounds[0] - 0.02, mesh.bounds[1] + 0.02)
        off = c - closest_point(corners, np.repeat(c[None], len(corners), axis=0))
        far = float(np.linalg.norm(off, axis=1).min())
        outside = bool(np.any(np.einsum("ij,ij->i", n, c - corners[:, 0]) > 0.0))
        if not (outside and 0.012 < far < 0.024):
            continue
        looked += 1
        assert min(f.gap for f in pair.contacts(EYE, c, 3)[0]) == pytest.approx(far - 0.02, abs=1e-12)


def test_ball_in_a_hollow_corner_touches_both_sides() -> None:
    ball = Sphere(0.02)
    pair = SampledPair(Sheets.against(Sampled.from_mesh(*angle_iron()), ball), ball)
    for height in (0.07, 0.145):
        found = pair.contacts(EYE, np.array([0.0999, 0.0998, height]), 3)[0]
        gaps = sorted((f.gap, tuple(np.abs(np.round(f.normal, 9)))) for f in found if np.isfinite(f.gap))
        assert [n for _, n in gaps] == [(0.0, 1.0, 0.0), (1.0, 0.0, 0.0)]
        assert [g for g, _ in gaps] == pytest.approx([-2e-4, -1e-4], abs=1e-12)


def test_rim_of_a_can_is_a_circle_of_fourth_order() -> None:
    """The error falls with the distance of samples, at least as its third power."""
    ball, errors = Sphere(0.02), []
    for spacing in (0.02, 0.01):
        mesh = make.cylinder(0.1, 0.1, sections=96)
        surface = Sampled.from_mesh(mesh.vertices, mesh.faces, spacing=spacing)
        pair = SampledPair(Sheets.against(surface, ball), ball)
        random, worst = np.random.default_rng(2), 0.0
        for _ in range(60):
            turn, out, up = random.uniform(0.0, 6.28), random.uniform(0.1, 0.12), random.uniform(0.05, 0.07)
            far = float(np.hypot(out - 0.1, up - 0.05))
            if far < 0.005:
                continue
            c = np.array([out * np.cos(turn), out * np.sin(turn), up])
            worst = max(worst, abs(pair.contacts(EYE, c, 1)[0][0].gap - (far - 0.02)))
        errors.append(worst)
    assert errors[1] < errors[0] / 8.0
    assert errors[1] < 2e-6


@pytest.mark.parametrize("other", [Ellipsoid(0.05, 0.03, 0.02), Capsule(0.015, 0.03)])
def test_other_round_shapes_are_as_far_as_a_minimization_says(other: Shape) -> None:
    """SciPy's closest points of two convex bodies: the box, and an ellipsoid or the axis of a capsule."""
    box, random = make.box(BOX), np.random.default_rng(4)
    pair = SampledPair(Sheets.against(Sampled.from_mesh(box.vertices, box.faces), other), other)
    half = 0.5 * np.array(BOX)
    # The other shape is A u with |u| < 1, grown by a radius.
    ellipsoid = isinstance(other, Ellipsoid)
    axes, radius = (np.array([0.05, 0.03, 0.02]), 0.0) if ellipsoid else (np.array([0.0, 0.0, 0.03]), 0.015)
    ball = {
        "type": "ineq",
        "fun": lambda v: 1.0 - v[:3] @ v[:3],
        "jac": lambda v: np.concatenate([-2.0 * v[:3], np.zeros(3)]),
    }
    bounds = [(-1.0, 1.0)] * 3 + [(-h, h) for h in half]
    for _ in range(25):
        R, way = Rotation.random(random_state=random).as_matrix(), random.normal(size=3)
        A, c = R * axes, (half + 0.055) * way / np.abs(way).max()

        def square(v: Array, A: Array = A, c: Array = c) -> tuple[float, Array]:
            off = A @ v[:3] + c - v[3:]
            return 5e3 * float(off @ off), 1e4 * np.concatenate([A.T @ off, -off])

        start = np.concatenate([np.zeros(3), np.clip(c, -half, half)])
        found = minimize(
            square,
            start,
            jac=True,
            bounds=bounds,
            constraints=[ball],
            method="SLSQP",
            options={"ftol": 1e-16},
        )
        least = float(np.sqrt(found.fun / 5e3)) - radius
        assert least > 1e-3
        assert min(f.gap for f in pair.contacts(R, c, 4)[0]) == pytest.approx(least, abs=2e-6)


def rolled(
    shape: Shape, at: tuple[float, float, float], velocity: tuple[float, float, float], **contact: object
) -> Array:
    system = System("edge", gravity=(0.0, 0.0, -G))
    ball = system.body("ball", mass=1.0, inertia=(0.4 * 0.03**2,) * 3, at=at)
    system.free("flight", system.ground, ball)
    system.contact(
        "edge",
        system.ground.shape(shape),
        ball.sphere(0.03),
        treatment="continuous",
        stiffness=1e6,
        **contact,
    )  # type: ignore[arg-type]
    run = system.simulate(0.3, initial={"flight": {"velocity": velocity}}, output=31, tolerance=1e-9)
    return np.stack([np.asarray(run[f"ball.position.{c}"]) for c in "xyz"], axis=1)


@pytest.mark.parametrize(
    ("at", "velocity", "contact"),
    [
        ((0.09, 0.013, 0.1299), (0.05, 0.02, 0.0), {"law": "hertz"}),
        ((0.08, 0.08, 0.14), (0.3, 0.25, 0.0), {"restitution": 0.5, "friction": 0.3}),
        ((0.17, 0.02, 0.2), (-0.5, 0.1, -0.8), {"restitution": 0.8, "friction": 0.3}),
    ],
)
def test_ball_rolls_over_edges_and_corners_as_over_those_of_a_box(
    at: tuple[float, float, float], velocity: tuple[float, float, float], contact: dict[str, object]
) -> None:
    """That of a box has a closed form."""
    mesh = make.box((0.2, 0.2, 0.2))
    own = rolled(Sampled.from_mesh(mesh.vertices, mesh.faces), at, velocity, **contact)
    assert own == pytest.approx(rolled(Box(0.1, 0.1, 0.1), at, velocity, **contact), abs=1e-6)


def test_ball_rolls_over_the_rim_of_a_can() -> None:
    mesh = make.cylinder(0.1, 0.2, sections=64)
    given = {"restitution": 0.5, "friction": 0.3}
    own = rolled(
        Sampled.from_mesh(mesh.vertices, mesh.faces), (0.08, 0.013, 0.1299), (0.2, 0.05, 0.0), **given
    )
    assert own == pytest.approx(
        rolled(Cylinder(0.1, 0.1), (0.08, 0.013, 0.1299), (0.2, 0.05, 0.0), **given), abs=2e-6
    )


@pytest.mark.parametrize("turn", [(0.78, 0.02, 0.0), (0.6, 0.6, 0.1)])
def test_box_of_a_mesh_falls_on_a_ball_with_an_edge(turn: tuple[float, float, float]) -> None:
    mesh, R = make.box(BOX), Rotation.from_rotvec(turn).as_matrix()
    solid = Solid.from_mesh(mesh.vertices, mesh.faces, density=1.0 / mesh.volume)
    ends = []
    for shape in (Sampled.from_mesh(mesh.vertices, mesh.faces), Box(0.1, 0.08, 0.05)):
        system = System("fall", gravity=(0.0, 0.0, -G))
        body = system.body("body", mass=1.0, inertia=R @ solid.inertia @ R.T, at=(0.02, 0.01, 0.22))
        system.free("flight", system.ground, body)
        system.contact(
            "ball", system.ground.sphere(0.05), body.shape(shape, (0, 0, 0), R), treatment="continuous",
            stiffness=1e5, friction=0.2, restitution=0.6,
        )  # fmt: skip
        run = system.simulate(0.3, output=16, tolerance=1e-8)
        ends.append(np.stack([np.asarray(run[f"body.position.{c}"]) for c in "xyz"]))
    assert ends[0] == pytest.approx(ends[1], abs=1e-6)


def test_rod_lies_on_a_side_and_does_not_roll() -> None:
    """With its ends, whose load has no side: beside the edges of a mesh nothing bulges."""
    mesh = make.box((0.2, 0.2, 0.2))
    system = System("rod", gravity=(0.0, 0.0, -G))
    body = system.body("body", mass=1.0, inertia=(1e-4, 1e-3, 1e-3), at=(0.0, 0.09, 0.125))
    system.free("flight", system.ground, body)
    across = [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]
    system.contact(
        "table", system.ground.shape(Sampled.from_mesh(mesh.vertices, mesh.faces)),
        body.shape(Capsule(0.02, 0.05), (0, 0, 0), across), treatment="continuous", stiffness=1e6, friction=0.3,
        restitution=0.3, points=2,
    )  # fmt: skip
    run = system.simulate(0.4, output=5)
    assert float(run["body.position.y"][-1]) == pytest.approx(0.09, abs=1e-9)
    assert float(run["body.position.z"][-1]) == pytest.approx(0.12 - (0.5 * G / 1e6) ** (2.0 / 3.0), abs=1e-7)


def test_what_sticks_through_a_side_from_inside_is_told() -> None:
    """A ball with its middle below the top of a box: nothing of it touched from outside."""
    box = make.box(BOX)
    ball = Sphere(0.02)
    pair = SampledPair(Sheets.against(Sampled.from_mesh(box.vertices, box.faces), ball), ball)
    top = 0.5 * BOX[2]
    for depth in (0.005, 0.01, 0.015):
        with pytest.raises(ModelError, match="from inside"):
            pair.contacts(EYE, np.array([0.011, 0.017, top - depth]), 1)
    # Wherever it is outside, no other side takes it for such a one.
    random = np.random.default_rng(3)
    for c in random.uniform(-1.0, 1.0, (300, 3)) * (0.5 * np.array(BOX) + 0.03):
        if from_boxes(c, CUBOID) > 1e-3:
            pair.contacts(EYE, c, 3)


def test_what_is_not_cut() -> None:
    box, ball = make.box(BOX), Sphere(0.02)
    whole = Sampled.from_mesh(box.vertices, box.faces)
    assert isinstance(Sheets.against(whole, ball), Sheets)
    # A plane has its outline, other surfaces round creases; open meshes and smooth ones have none.
    assert Sheets.against(whole, Plane()) is whole
    assert Sheets.against(whole, whole) is whole
    lid = trimesh.Trimesh(box.vertices, box.faces[2:])
    # A sheet of a millimetre would ask for too many samples.
    for mesh in (lid, make.icosphere(3, 0.1), make.box((0.2, 0.2, 0.001))):
        surface = Sampled.from_mesh(mesh.vertices, mesh.faces)
        assert Sheets.against(surface, ball) is surface


def test_model_files_carry_what_is_cut() -> None:
    mesh = make.cylinder(0.1, 0.2, sections=32)
    system = System("files", gravity=(0.0, 0.0, -G))
    body = system.body("ball", mass=1.0, inertia=(1e-4,) * 3, at=(0.09, 0.0, 0.14))
    system.free("flight", system.ground, body)
    system.contact(
        "can", system.ground.shape(Sampled.from_mesh(mesh.vertices, mesh.faces)), body.sphere(0.03),
        treatment="continuous", stiffness=1e6, restitution=0.5,
    )  # fmt: skip
    text = dumps(system)
    again = loads(text)
    assert dumps(again) == text
    start = {"flight": {"velocity": (0.2, 0.0, 0.0)}}
    ends = [float(s.simulate(0.15, initial=start, output=2)["ball.position.z"][-1]) for s in (system, again)]
    assert ends[0] == ends[1]
