"""Meshes on meshes: edges, corners and flat sides as they are, by closed forms and by what other codes say."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import bellcrank as bc
from bellcrank.contact import Box, ContactNote, Cylinder, Sampled, Shape, Solid
from bellcrank.contact.side_by_side import places
from bellcrank.files import dumps, loads

G = 9.81
Mesh = tuple[np.ndarray, np.ndarray]
STIFF = {"treatment": "continuous", "stiffness": 1e6, "exponent": 1.0}
PRESSING = {**STIFF, "restitution": 0.2}
ELASTIC = {**STIFF, "law": "hertz"}


def extruded(outline: list[tuple[float, float]], half: float, triangles: list[tuple[int, int, int]]) -> Mesh:
    """A prism over a polygon, with the triangles of its ends."""
    flat, ends = np.array(outline, dtype=float), np.array(triangles)
    n = len(flat)
    points = np.vstack([np.column_stack([flat, np.full(n, z)]) for z in (-half, half)])
    k, m = np.arange(n), (np.arange(n) + 1) % n
    sides = [np.stack((k, m, k + n), axis=1), np.stack((m, m + n, k + n), axis=1)]
    return points, np.vstack([*sides, ends[:, ::-1], ends + n])


def prism(sides: int, radius: float, half: float) -> Mesh:
    turn = 2 * np.pi * np.arange(sides) / sides
    outline = [(float(radius * np.cos(a)), float(radius * np.sin(a))) for a in turn]
    return extruded(outline, half, [(0, k, k + 1) for k in range(1, sides - 1)])


def block(a: float, b: float, c: float) -> Mesh:
    return extruded([(-a, -b), (a, -b), (a, b), (-a, b)], c, [(0, 1, 2), (0, 2, 3)])


ANGLE: Mesh = extruded(
    [(0, 0), (0.2, 0), (0.2, 0.1), (0.1, 0.1), (0.1, 0.2), (0, 0.2)],
    0.05,
    [(0, 1, 3), (1, 2, 3), (0, 3, 5), (3, 4, 5)],
)
SLOTTED: Mesh = extruded(
    [(0, 0), (0.3, 0), (0.3, 0.2), (0.2, 0.2), (0.2, 0.1), (0.1, 0.1), (0.1, 0.2), (0, 0.2)],
    0.05,
    [(0, 5, 7), (5, 6, 7), (0, 1, 5), (1, 4, 5), (1, 2, 4), (2, 3, 4)],
)

CROSS: Mesh = extruded(
    [(0.1, 0), (0.2, 0), (0.2, 0.1), (0.3, 0.1), (0.3, 0.2), (0.2, 0.2), (0.2, 0.3), (0.1, 0.3), (0.1, 0.2), (0, 0.2),
     (0, 0.1), (0.1, 0.1)],
    0.05,
    [(11, 0, 1), (11, 1, 2), (2, 3, 4), (2, 4, 5), (5, 6, 7), (5, 7, 8), (8, 9, 10), (8, 10, 11), (2, 5, 8),
     (2, 8, 11)],
)  # fmt: skip


def sampled(mesh: Mesh) -> Sampled:
    return Sampled.from_mesh(*mesh)


def on(below: Shape, above: Shape, at, turn=None, centre=(0, 0, 0), **contact) -> bc.System:
    """A body of one kilogram above what is fixed; nothing may be said of rounded edges."""
    system = bc.System("pair", gravity=(0, 0, -G))
    body = system.body("body", mass=1.0, inertia=(0.004, 0.004, 0.006), at=at, center_of_mass=centre)
    system.free("flight", system.ground, body)
    rotation = np.eye(3) if turn is None else Rotation.from_rotvec(turn).as_matrix()
    with warnings.catch_warnings():
        warnings.simplefilter("error", ContactNote)
        system.contact("c", system.ground.shape(below), body.shape(above, rotation=rotation), **contact)
    return system


def there(a: Shape, b: Shape, c, turn=(0, 0, 0)) -> list[tuple[np.ndarray, np.ndarray, float, float]]:
    """Normal, point, gap and weight of all places that are there."""
    R = Rotation.from_rotvec(turn).as_matrix()
    return [
        (np.array(p.normal, dtype=float), np.array(p.point_b, dtype=float), float(p.gap), float(p.weight))
        for p in places(a, b, R.tolist(), tuple(float(x) for x in c))
        if float(p.room) > 0.0
    ]


def test_meshes_are_taken_as_what_they_are() -> None:
    turn = Rotation.from_rotvec((0.3, -0.2, 0.9)).as_matrix()
    points, faces = block(0.1, 0.07, 0.03)
    found = Sampled.from_mesh(points @ turn.T + (0.5, -0.2, 0.1), faces).standing
    assert found is not None
    assert isinstance(found.shape, Box)
    assert sorted(found.shape.half_lengths) == pytest.approx([0.03, 0.07, 0.1], abs=1e-12)
    assert found.origin == pytest.approx([0.5, -0.2, 0.1], abs=1e-12)
    points, faces = prism(48, 0.04, 0.05)
    found = Sampled.from_mesh(points @ turn.T + (0.5, -0.2, 0.1), faces).standing
    assert found is not None
    assert isinstance(found.shape, Cylinder)
    assert (found.shape.radius, found.shape.half_length) == pytest.approx((0.04, 0.05), abs=1e-9)
    assert abs(found.rotation[:, 2] @ turn[:, 2]) == pytest.approx(1.0, abs=1e-9)
    trimesh = pytest.importorskip("trimesh")
    ball, ring = trimesh.creation.icosphere(3, 0.1), trimesh.creation.annulus(0.03, 0.06, 0.02, sections=48)
    for mesh in (ball, ring):
        assert Sampled.from_mesh(mesh.vertices, mesh.faces).standing is None


@pytest.mark.parametrize(("turn", "beside"), [(0.0, 0.0), (np.pi / 6, 0.0), (np.pi / 6, 0.02)])
@pytest.mark.parametrize("above", ["block", "nut"])
def test_what_lies_flat_rests_on_four_springs(above: str, turn: float, beside: float) -> None:
    """Weights of a polygon are four right angles together."""
    shape = sampled(block(0.05, 0.05, 0.02) if above == "block" else prism(6, 0.05, 0.02))
    system = on(
        sampled(block(0.1, 0.1, 0.05)), shape, (beside, 0, 0.0702), (0, 0, turn), friction=0.3, **PRESSING
    )
    result = system.simulate(0.6)
    assert 0.07 - result["body.position.z"][-1] == pytest.approx(G / 4e6, rel=1e-4)
    assert result["body.position.x"][-1] == pytest.approx(beside, abs=1e-6)


def test_an_overhanging_block_leans_by_its_springs() -> None:
    """Four springs at the corners of the overlap: F = k (d + a x), sum F = m g, sum F x = m g x_c."""
    system = on(sampled(block(0.1, 0.1, 0.05)), sampled(block(0.1, 0.1, 0.02)), (0.06, 0, 0.0702), **PRESSING)
    result = system.simulate(1.0)
    x = np.array([-0.04, 0.1, -0.04, 0.1])
    d, a = np.linalg.solve([[4.0, x.sum()], [x.sum(), (x * x).sum()]], np.array([G, 0.06 * G]) / 1e6)
    assert 0.07 - result["body.position.z"][-1] == pytest.approx(d + 0.06 * a, rel=2e-3)


def test_meshes_move_as_the_boxes_they_are() -> None:
    fall = {"flight": {"angular_velocity": (2.0, 1.0, 0.5), "velocity": (0.1, 0.0, 0.0)}}
    runs = []
    for below, above in (
        (Box(0.2, 0.2, 0.05), Box(0.05, 0.04, 0.03)),
        (sampled(block(0.2, 0.2, 0.05)), sampled(block(0.05, 0.04, 0.03))),
    ):
        system = on(below, above, (0.0, 0.0, 0.11), (0.2, 0.1, 0.4), friction=0.2, **PRESSING)
        runs.append(system.simulate(0.25, tolerance=1e-9, initial=fall))
    for name in ("x", "y", "z"):
        one, two = (np.asarray(run[f"body.position.{name}"]) for run in runs)
        assert one == pytest.approx(two, abs=1e-7)


def test_a_can_stands_on_a_can() -> None:
    can = sampled(prism(64, 0.03, 0.05))
    result = on(can, can, (0, 0, 0.1001), friction=0.3, **PRESSING).simulate(0.6)
    assert 0.1 - result["body.position.z"][-1] == pytest.approx(G / 4e6, rel=1e-3)


@pytest.mark.parametrize("other", [Cylinder(0.05, 0.02), Box(0.05, 0.04, 0.03)])
def test_cans_meet_as_the_cylinders_they_are(other: Shape) -> None:
    """Upright, beside each other, lying, and anyhow; where rims stand level, as many points of them are taken."""
    can, cylinder = sampled(prism(64, 0.03, 0.05)), Cylinder(0.03, 0.05)
    for k, turn in enumerate([(0, 0, 0.3), (0.02, 0, 0), (np.pi / 2, 0, 0), (0.4, 0.9, -0.3)]):
        for c in ((0.0, 0.0, 0.0799), (0.01, 0.02, 0.0795), (0.07, 0.01, 0.01)):
            one, two = (there(shape, other, c, turn) for shape in (can, cylinder))
            deepest = [min((row[2] for row in rows), default=1.0) for rows in (one, two)]
            assert deepest[0] == pytest.approx(deepest[1], abs=1e-9)
            if k:
                energy = [sum(row[3] * min(row[2], 0.0) ** 2 for row in rows) for rows in (one, two)]
                assert energy[0] == pytest.approx(energy[1], rel=1e-6)


@pytest.mark.parametrize("angle", [np.pi / 2, np.pi / 3])
def test_an_edge_falls_on_an_edge(angle: float) -> None:
    """Touches when the fall says, presses with one spring, bounces back without loss: g h = k d^2 / (2 m) - g d."""
    roof = prism(3, 0.1, 0.2)
    # Its first corner upwards, lying along x: edge up, at 0.1.
    up = Rotation.from_euler("y", -90, degrees=True)
    points = up.apply(roof[0])
    lower = Sampled.from_mesh(points, roof[1])
    cross = Rotation.from_euler("z", angle) * Rotation.from_euler("x", 180, degrees=True)
    upper = Sampled.from_mesh(cross.apply(points), roof[1])
    system = bc.System("roofs", gravity=(0, 0, -G))
    body = system.body("body", mass=1.0, inertia=(0.004, 0.004, 0.006), at=(0, 0, 0.25))
    system.prismatic("fall", system.ground, body, axis="z")
    system.contact("c", system.ground.shape(lower), body.shape(upper), **ELASTIC)
    result = system.simulate(0.25, tolerance=1e-10, output=5e-5)
    touched = next(event.time for event in result.events if event.name.endswith("touch"))
    assert touched == pytest.approx(np.sqrt(2 * 0.05 / G), abs=1e-8)
    energy = np.asarray(result["energy.total"])
    assert np.ptp(energy) < 1e-6 * G * 0.05
    deepest = max(float(np.max(result[f"{name}.penetration"])) for name in system.forces)
    expected = (G + np.sqrt(G * G + 2e6 * G * 0.05)) / 1e6
    assert deepest == pytest.approx(expected, rel=1e-3)


def test_a_corner_falls_on_a_side() -> None:
    """One spring: g h = k d^2 / (2 m) - g d."""
    turn = Rotation.align_vectors([[0, 0, -1]], [[1, 1, 1]])[0]
    points, faces = block(0.05, 0.05, 0.05)
    reach = 0.05 * np.sqrt(3.0)
    system = bc.System("corner", gravity=(0, 0, -G))
    body = system.body("body", mass=1.0, inertia=(0.004, 0.004, 0.006), at=(0, 0, 0.05 + reach + 0.05))
    system.prismatic("fall", system.ground, body, axis="z")
    upper = body.shape(Sampled.from_mesh(turn.apply(points), faces))
    system.contact("c", system.ground.shape(sampled(prism(6, 0.2, 0.05))), upper, **ELASTIC)
    result = system.simulate(0.25, tolerance=1e-10, output=5e-5)
    energy = np.asarray(result["energy.total"])
    assert np.ptp(energy) < 1e-6 * G * 0.05
    deepest = max(float(np.max(result[f"{name}.penetration"])) for name in system.forces)
    assert deepest == pytest.approx((G + np.sqrt(G * G + 2e6 * G * 0.05)) / 1e6, rel=1e-3)


@pytest.mark.parametrize(
    ("one", "two", "seed"),
    [
        ("block", "block", 1),
        ("nut", "block", 2),
        ("roof", "roof", 3),
        ("angle", "block", 3),
        ("angle", "block", 4),
    ],
)
def test_tumbling_bodies_keep_their_energy(one: str, two: str, seed: int) -> None:
    solid = Solid.from_mesh(*ANGLE, density=1000.0)
    meshes = {
        "block": block(0.1, 0.08, 0.06),
        "nut": prism(6, 0.08, 0.05),
        "roof": prism(3, 0.1, 0.07),
        "angle": (ANGLE[0] - solid.center_of_mass, ANGLE[1]),
    }
    rng, turns = np.random.default_rng(seed), Rotation.random(2, random_state=seed)
    system, shapes, start = bc.System("two", gravity=(0, 0, 0)), [], {}
    for k, (name, kind) in enumerate((("p", one), ("q", two))):
        mesh = meshes[kind]
        body = system.body(name, **Solid.from_mesh(*mesh, density=1000.0).body, at=(0, 0, 0.4 * k))
        system.free(f"f{name}", system.ground, body)
        shapes.append(body.shape(sampled(mesh)))
        x, y, z, w = turns[k].as_quat()
        offset = rng.uniform(-0.03, 0.03, 2)
        start[f"f{name}"] = {
            "position": (k * offset[0], k * offset[1], 0.3 * k),
            "quaternion": (w, x, y, z),
            "velocity": (0.0, 0.0, -2.0 * k),
            "angular_velocity": rng.normal(size=3) * 4,
        }
    system.contact("c", *shapes, treatment="continuous", stiffness=1e7, exponent=1.0, law="hertz")
    result = system.simulate(0.2, tolerance=1e-9, initial=start)
    assert max(float(np.max(result[f"{f}.penetration"])) for f in system.forces) > 1e-4
    energy = np.asarray(result["energy.total"])
    assert np.ptp(energy) < 1e-6 * energy[0]


def test_an_angle_rests_on_its_five_corners() -> None:
    """F = k (d + a x + b y) at the corners that stick out, with forces and moments of the weight."""
    solid = Solid.from_mesh(*ANGLE, density=1000.0)
    mesh = ANGLE[0] - solid.center_of_mass, ANGLE[1]
    system = on(sampled(block(0.4, 0.4, 0.05)), sampled(mesh), (0, 0, 0.1002), friction=0.3, **PRESSING)
    result = system.simulate(0.8)
    flat = np.unique(mesh[0][:, :2].round(12), axis=0)
    flat = flat[np.linalg.norm(flat - (np.array([0.1, 0.1]) - solid.center_of_mass[:2]), axis=1) > 1e-6]
    rows = np.column_stack([np.ones(5), flat])
    d, _, _ = np.linalg.solve(rows.T @ rows, np.array([G, 0.0, 0.0]) / 1e6)
    assert 0.1 - result["body.position.z"][-1] == pytest.approx(d, rel=1e-3)


def test_a_hollow_edge_touches_nothing() -> None:
    """A cube in the corner of an angle touches both sides of it, with corners that reach behind the hollow edge."""
    angle, cube = sampled(ANGLE), sampled(block(0.03, 0.03, 0.03))
    found = [row for row in there(angle, cube, (0.13 - 1e-4, 0.13 - 2e-4, 0.0)) if row[2] < 0.0]
    for normal, depth in (((1, 0, 0), 1e-4), ((0, 1, 0), 2e-4)):
        own = [row for row in found if row[0] @ normal > 0.999]
        assert len(own) == 4
        assert [row[2] for row in own] == pytest.approx([-depth] * 4, abs=1e-12)
    assert len(found) == 8
    # On its edge it stands in the corner, and touches with crossings or corners of the sides alone.
    reach = 0.03 * np.sqrt(2.0)
    edge = there(angle, cube, (0.1 + reach + 1e-3, 0.1 + reach + 1e-3, 0.0), (0, 0, np.pi / 4))
    assert all(row[2] > 0.0 for row in edge)


@pytest.mark.parametrize(("mesh", "boxes"), [
    (ANGLE, [((0, 0), (0.2, 0.1)), ((0, 0), (0.1, 0.2))]),
    (SLOTTED, [((0, 0), (0.3, 0.1)), ((0, 0), (0.1, 0.2)), ((0.2, 0), (0.3, 0.2))]),
    (CROSS, [((0.1, 0), (0.2, 0.3)), ((0, 0.1), (0.3, 0.2))]),
])  # fmt: skip
def test_overlap_of_hollow_bodies_is_that_of_their_triangles(mesh: Mesh, boxes) -> None:
    """coal finds by the triangles whether they meet; the depth is that in the hull of differences of each box."""
    coal = pytest.importorskip("coal")
    from scipy.spatial import ConvexHull

    body, other = sampled(mesh), block(0.03, 0.04, 0.05)
    assert body.standing is not None
    assert len(body.standing.shape.parts) == len(boxes)
    cube = sampled(other)
    solids = [
        np.array([(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (-0.05, 0.05)])
        for low, high in boxes
    ]
    triangles = []
    for points, faces in (mesh, other):
        model = coal.BVHModelOBBRSS()
        model.beginModel(len(faces), len(points))
        vertices, sides = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
        for p in points:
            vertices.append(np.asarray(p, dtype=float))
        for face in faces:
            sides.append(coal.Triangle(*(int(i) for i in face)))
        model.addSubModel(vertices, sides)
        model.endModel()
        triangles.append(model)
    rng, met = np.random.default_rng(1), 0
    for k in range(150):
        turn = Rotation.random(random_state=k)
        R = turn.as_matrix()
        way = rng.normal(size=3)
        start = np.array([0.12, 0.1, 0.0]) + rng.uniform(-0.1, 0.1, 3)
        hulls = [ConvexHull((s[:, None] - (other[0] @ R.T)[None]).reshape(-1, 3)).equations for s in solids]
        ends = []
        for rows in hulls:
            slope, room = rows[:, :3] @ way, -(rows[:, :3] @ start + rows[:, 3])
            low = max(r / s for r, s in zip(room, slope, strict=True) if s < 0.0)
            high = min(r / s for r, s in zip(room, slope, strict=True) if s > 0.0)
            ends += [high] if low < high else []
        if not ends:
            continue
        c = start + (max(ends) + rng.choice([-1.0, 1.0]) * rng.uniform(1e-4, 2e-3)) * way
        depth = max(-float((rows[:, :3] @ c + rows[:, 3]).max()) for rows in hulls)
        request, answer = coal.CollisionRequest(), coal.CollisionResult()
        hit = coal.collide(
            triangles[0], coal.Transform3s(), triangles[1], coal.Transform3s(R, c), request, answer
        )
        assert bool(hit) == (depth > 0.0)
        gaps = [row[2] for row in there(body, cube, c, turn.as_rotvec())]
        if depth > 0.0:
            met += 1
            assert min(gaps) == pytest.approx(-depth, abs=1e-9)
        else:
            assert not gaps or min(gaps) > 0.0
    assert met > 30


def test_blocks_of_meshes_strike_and_come_to_rest_and_others_are_told() -> None:
    plate = sampled(block(0.3, 0.3, 0.05))
    system = on(plate, sampled(block(0.05, 0.04, 0.02)), (0, 0, 0.0701), restitution=0.2, friction=0.4)
    assert len(system.contacts) == 12
    result = system.simulate(0.2)
    assert result["body.position.z"][-1] == pytest.approx(0.07, abs=1e-6)
    with pytest.raises(ContactNote, match="rounded"):
        on(plate, sampled(prism(6, 0.05, 0.02)), (0, 0, 0.1), points=8)


def test_files_carry_meshes_and_their_places() -> None:
    for above in (prism(6, 0.05, 0.02), ANGLE, prism(48, 0.04, 0.05)):
        system = on(sampled(block(0.1, 0.1, 0.05)), sampled(above), (0, 0, 0.2), **PRESSING)
        again = loads(dumps(system))
        assert list(again.forces) == list(system.forces)
        z = [float(s.simulate(0.2)["body.position.z"][-1]) for s in (system, again)]
        assert z[0] == pytest.approx(z[1], abs=1e-12)


def test_what_is_no_such_body_is_told() -> None:
    trimesh = pytest.importorskip("trimesh")
    ring = trimesh.creation.annulus(0.03, 0.06, 0.02, sections=48)
    system = bc.System("pair", gravity=(0, 0, -G))
    body = system.body("body", mass=1.0, inertia=(0.004, 0.004, 0.006), at=(0, 0, 0.2))
    system.free("flight", system.ground, body)
    sides = (
        system.ground.shape(sampled(block(0.1, 0.1, 0.05))),
        body.shape(Sampled.from_mesh(ring.vertices, ring.faces)),
    )
    with pytest.warns(ContactNote, match="are rounded where it meets another mesh") as told:
        system.contact("c", *sides, points=8, **PRESSING)
    assert sorted(str(w.message).split("body ")[1].split()[0] for w in told) == ["'body'", "'ground'"]
