"""Parts as they are drawn: closed, of the right size, in the right place at every time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank import flexible
from bellcrank.contact import Box, Cylinder
from bellcrank.errors import ModelError
from bellcrank.files import dumps, load, loads, save
from bellcrank.view import shapes
from bellcrank.view.scene import colour_of, scene
from bellcrank.view.shapes import Solid

HERE, Z = np.zeros(3), np.array([0.0, 0.0, 1.0])
TILT = np.array([1.0, -2.0, 0.5])


def volume(solid: Solid) -> float:
    a, b, c = (solid.corners[solid.faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6.0


def is_closed(solid: Solid) -> bool:
    """Whether every edge is run through once each way."""
    f = solid.faces
    edges = np.concatenate([f[:, (0, 1)], f[:, (1, 2)], f[:, (2, 0)]]).tolist()
    forward = {tuple(e) for e in edges}
    return len(forward) == len(edges) and {(b, a) for a, b in forward} == forward


CIRCLE = 24 / (2 * np.pi) * np.sin(2 * np.pi / 24)
"""A polygon of as many sides as round parts have over its circle."""


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (shapes.box(TILT, np.eye(3), (1, 2, 3), "#000000"), 6.0),
        (shapes.cylinder(TILT, TILT, 0.5, 2.0, "#000000"), CIRCLE * np.pi * 0.5),
        (shapes.tube(TILT, TILT, 0.5, 0.3, 2.0, "#000000"), CIRCLE * np.pi * 0.16 * 2.0),
        (shapes.ball(TILT, 0.5, "#000000"), 4 / 3 * np.pi * 0.125),
        (shapes.rod(HERE, TILT, 0.1, "#000000", 0.2), np.pi / 3 * 0.07 * np.linalg.norm(TILT)),
        (shapes.plate(np.array([(0, 0, 0), (2, 0, 0), (0, 2, 0.0)]), Z, 0.1, "#000000"), 0.2),
        (shapes.ring_gear(TILT, TILT, Z, 0.5, 40, 0.1, "#000000"), np.pi * (0.5875**2 - 0.5**2) * 0.1),
        (shapes.bevel_gear(Z, Z, TILT, 0.5, 40, HERE, "#000000")[0], np.pi * 0.25 / 3 * (1 - 8 / 27) + 0.045),
        (shapes.hull(np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1.0)]), "#000000"), 1 / 6),
    ],
    ids=["box", "cylinder", "tube", "ball", "rod", "plate", "ring gear", "bevel gear", "hull"],
)
def test_solids_are_closed_and_have_their_volume(made: Solid, expected: float) -> None:
    assert is_closed(made)
    # Broken edges and the chords of the second circle of a ball take a few per cent away.
    assert volume(made) == pytest.approx(expected, rel=0.07)
    vertices, normals, triangles = made.surface
    assert np.linalg.norm(normals, axis=1) == pytest.approx(1.0)
    assert vertices[triangles] == pytest.approx(made.corners[made.faces])


def test_round_parts_have_smooth_normals_and_sharp_rims() -> None:
    ball = shapes.ball(HERE, 1.0, "#000000")
    vertices, normals, _ = ball.surface
    assert len(vertices) == len(ball.corners)
    assert np.einsum("ij,ij->i", vertices, normals).min() > 0.98
    assert len(ball.edges) == 0
    block = shapes.tube(HERE, Z, 1.0, 0.5, 1.0, "#000000")
    # Two rims at each end.
    assert len(block.edges) == 4 * shapes.SIDES


def gear_outline(solids: list[Solid]) -> np.ndarray:
    """Corners of the teeth in one plane, in polar coordinates, one turn."""
    rim = solids[0].corners
    high = np.abs(rim[:, 2] - np.median(np.abs(rim[:, 2]))) < 1e-9
    return rim[high][:, :2]


def test_teeth_of_gears_mesh_at_every_angle() -> None:
    system = bc.System("gears", gravity=(0, 0, 0))
    # Of 17, 34 and 40 teeth.
    far = 0.2 * (1 + 40 / 34)
    place = {"pinion": (0, 0, 0), "idler": (0.3, 0, 0), "wheel": (0.3 + far * np.cos(1), far * np.sin(1), 0)}
    for name, at in place.items():
        system.revolute(
            f"{name} shaft", system.ground, system.body(name, 1.0, (0.01,) * 3, at=at), at=at, axis="z"
        )
    system.gear("first", "pinion shaft", "idler shaft", ratio=-2.0)
    # The idler has the radius 0.2 m that the first pair gives it.
    system.gear("second", "idler shaft", "wheel shaft", ratio=-(far - 0.2) / 0.2)
    system.driver("pinion shaft", lambda t: t)
    drawn = scene(system.simulate(0.37, output=8))
    rims = {k: next(s for b, s in drawn.solids if b == k) for k in range(3)}
    sizes = [np.linalg.norm(rims[k].corners[:, :2], axis=1).max() for k in range(3)]
    module = 2 * 0.1 / 17
    assert sizes == pytest.approx([0.1 + module, 0.2 + module, far - 0.2 + module], rel=1e-6)
    for a, b in ((0, 1), (1, 2)):
        outline = gear_outline([rims[a]])
        angle = np.arctan2(outline[:, 1], outline[:, 0])
        order = np.argsort(angle)
        radius = np.linalg.norm(outline, axis=1)[order]
        for frame in range(len(drawn.time)):
            flat = gear_outline([rims[b]])
            other = drawn.placed(b, np.column_stack([flat, np.zeros(len(flat))]), frame)
            seen = (other - drawn.positions[frame, a]) @ drawn.rotations[frame, a]
            reach = np.interp(np.arctan2(seen[:, 1], seen[:, 0]), angle[order], radius, period=2 * np.pi)
            # Teeth with straight flanks touch a little where involutes would roll.
            assert (reach - np.linalg.norm(seen[:, :2], axis=1)).max() < 0.3 * module


def test_links_that_share_a_pin_lie_in_different_layers(crank: bc.Result) -> None:
    drawn = scene(crank, 20)
    depth = {}
    for k in (0, 1):
        own = (s for b, s in drawn.solids if b == k and s.colour == colour_of(k))
        web = max(own, key=lambda s: float(np.ptp(s.corners, axis=0).max()))
        depth[k] = (web.corners[:, 2].min(), web.corners[:, 2].max())
    assert depth[0][1] <= depth[1][0]


def sprung() -> bc.Result:
    system = bc.System("sprung", gravity=(0, 0, -9.81))
    bob = system.body("bob", mass=1.0, inertia=(0.01,) * 3, at=(0.2, 0.1, -1))
    system.free("flight", system.ground, bob)
    system.spring(
        "strut", system.ground.point(0, 0, 0), bob.point(0, 0, 0.1), stiffness=200, damping=1, free_length=1.0
    )
    return system.simulate(1.0, output=30)


def test_a_spring_reaches_from_point_to_point_at_every_time() -> None:
    run = sprung()
    drawn = scene(run)
    first = len(drawn.bodies) - len(drawn.links)
    ends = run["bob.point(0, 0, 0.1).position"].to_numpy()
    (coil,) = (k for k, link in enumerate(drawn.links, first) if link.length > 0.0)
    for frame in range(0, 31, 5):
        top = drawn.placed(coil, drawn.links[coil - first].length * Z[None], frame)[0]
        assert top == pytest.approx(ends[frame], abs=1e-12)
    wound = next(s for k, s in drawn.solids if k == coil)
    # The coil lies between its ends, about the line that joins them.
    assert wound.corners[:, 2].min() >= 0.0
    assert wound.corners[:, 2].max() <= drawn.links[coil - first].length
    parts = [s for k, s in drawn.solids if k >= first]
    assert len(parts) > 5, "seats, tube and rod of the damper are there"


def test_the_camera_holds_all_that_is_drawn() -> None:
    drawn = scene(sprung())
    for axes in (drawn.axes, (np.eye(3)[1], np.eye(3)[2], np.eye(3)[0])):
        middle, box = drawn.extent(axes)
        every = np.vstack([drawn.placed(k, s.corners, 0) for k, s in drawn.solids if not s.ground])
        assert np.all(np.abs((every - middle) @ np.array(axes).T) <= 0.5 * box + 1e-12)


def test_a_scene_between_its_frames() -> None:
    drawn = scene(sprung(), arrows=("velocity", "force"), traces=["bob.center"])
    same = drawn.resampled(drawn.time)
    assert same.positions == pytest.approx(drawn.positions)
    between = drawn.resampled(np.array([0.5 * (drawn.time[3] + drawn.time[4])]))
    assert between.positions[0, 0] == pytest.approx(drawn.positions[3:5, 0].mean(axis=0))
    assert np.linalg.norm(between.quaternions, axis=-1) == pytest.approx(1.0)
    for kind, arrows in zip(("velocity", "force"), drawn.arrows, strict=True):
        assert arrows.kind == kind
        ends = arrows.drawn(3, drawn.size)
        share = np.linalg.norm(arrows.vectors[3], axis=-1) / arrows.largest
        assert np.linalg.norm(ends[:, 1] - ends[:, 0], axis=-1) == pytest.approx(0.3 * drawn.size * share)
    with pytest.raises(ModelError, match="force"):
        scene(sprung(), arrows=["forces"])


def test_arrows_are_the_forces_that_act() -> None:
    run = sprung()
    velocity, force = scene(run, arrows=("velocity", "force")).arrows
    assert velocity.vectors[:, 0] == pytest.approx(run["bob.center_velocity"].to_numpy())
    assert force.vectors[:, 0] == pytest.approx(run["strut.force"].to_numpy())
    assert force.at[:, 0] == pytest.approx(run["bob.point(0, 0, 0.1).position"].to_numpy())


STEEL = "#8899aa"


def dressed() -> bc.System:
    system = bc.System("dressed", gravity=(0, 0, -9.81))
    arm = system.body("arm", mass=1.0, inertia=(0.1,) * 3, at=(0.5, 0, 0))
    system.revolute("pivot", system.ground, arm, at=(0, 0, 0), axis="y")
    arm.visual(Box(0.5, 0.05, 0.05), colour=STEEL, opacity=0.5)
    arm.visual(arm.cylinder(0.1, 0.2, at=(0.5, 0, 0)))
    system.ground.visual(Cylinder(0.2, 0.01), at=(0, 0, -0.3), colour="#112233")
    return system


def test_a_body_with_visuals_is_drawn_by_them_alone() -> None:
    drawn = scene(dressed().simulate(0.1, output=2))
    own = [s for k, s in drawn.solids if k == 0 and s.colour != "#3f464f"]
    assert len(own) == 2
    assert (own[0].colour, own[0].opacity) == (STEEL, 0.5)
    assert np.ptp(own[0].corners, axis=0) == pytest.approx([1.0, 0.1, 0.1])
    assert own[1].corners[:, 0].max() == pytest.approx(0.6, abs=1e-3)
    assert any(s.colour == "#112233" for k, s in drawn.solids if k < 0)


def test_visuals_stand_in_files() -> None:
    system = dressed()
    text = dumps(system)
    again = loads(text)
    assert dumps(again) == text
    first, second = again.bodies["arm"].visuals
    assert isinstance(first.shape, Box)
    assert (first.colour, first.opacity, second.colour) == (STEEL, 0.5, None)
    assert again.ground.visuals[0].frame.position == (0.0, 0.0, -0.3)


def test_visuals_from_mesh_files(tmp_path: Path) -> None:
    from trimesh import creation

    creation.box((2, 4, 6)).export(tmp_path / "part.stl")
    system = bc.System("meshed")
    body = system.body("part", mass=1.0, inertia=(0.1,) * 3)
    system.free("flight", system.ground, body)
    body.visual(tmp_path / "part.stl", colour="#123456", scale=0.1)
    drawn = scene(system.simulate(0.01, output=1))
    (part,) = (s for k, s in drawn.solids if k == 0)
    assert np.ptp(part.corners, axis=0) == pytest.approx([0.2, 0.4, 0.6], abs=1e-6)
    assert is_closed(part)
    save(system, tmp_path / "model.yaml")
    assert len(load(tmp_path / "model.yaml").bodies["part"].visuals) == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"colour": "red"}, "#3b75af"),
        ({"opacity": 1.5}, "between 0 and 1"),
        ({"scale": 2.0}, "scale belongs to mesh files"),
    ],
)
def test_wrong_visuals_say_what_to_do(given: dict[str, object], said: str) -> None:
    body = bc.System("s").body("part", mass=1.0)
    with pytest.raises(ModelError, match=said):
        body.visual(Box(1, 1, 1), **given)  # type: ignore[arg-type]
    assert body.visuals == []


def planetary() -> bc.System:
    """Sun and four planets of 17 teeth on an arm in a ring of 51: they can be put together."""
    system = bc.System("planetary gear", gravity=(0, 0, 0))
    for name, at in (("sun", 0.0), ("arm", -0.05), ("ring", 0.0)):
        system.revolute(
            f"{name} shaft", system.ground, system.body(name, 1.0, (0.01,) * 3), at=(0, 0, at), axis="z"
        )
    for k in range(4):
        at = (0.2 * np.cos(np.pi * k / 2), 0.2 * np.sin(np.pi * k / 2), 0.0)
        system.revolute(
            f"pin {k}", "arm", system.body(f"planet {k}", 0.5, (0.003,) * 3, at=at), at=at, axis="z"
        )
        for name, ratio in (("sun", -1.0), ("ring", 1.0 / 3.0)):
            turns = {f"{name} shaft": 1.0, "arm shaft": -1.0, f"pin {k}": -ratio}
            system.coupling(f"{name} and planet {k}", turns)
    return system


def test_planets_run_in_their_ring() -> None:
    drawn = scene(planetary().simulate(0.1, output=2, initial={"sun shaft": (0.0, 5.0)}))
    of = {
        name: [s for body, s in drawn.solids if body == k and len(s.corners) > 300]
        for k, name in enumerate(drawn.bodies)
        if name
    }
    ring = of["ring"][0].corners
    inside = ring[: len(ring) // 4, :2]
    module = 0.2 / 17
    angle = np.unwrap(np.arctan2(inside[:, 1], inside[:, 0]))
    for frame in range(len(drawn.time)):
        for k in range(4):
            planet = drawn.placed(drawn.bodies.index(f"planet {k}"), of[f"planet {k}"][0].corners, frame)
            turned = drawn.placed(drawn.bodies.index("ring"), np.array([[1.0, 0, 0]]), frame)[0]
            place = np.arctan2(planet[:, 1], planet[:, 0]) - np.arctan2(turned[1], turned[0])
            room = np.interp(place, angle, np.linalg.norm(inside, axis=1), period=2 * np.pi)
            reach = np.linalg.norm(planet[:, :2], axis=1)
            # Straight flanks in place of involutes overlap a little.
            assert np.all(reach < room + 0.1 * module)
            assert reach.max() > np.linalg.norm(inside, axis=1).min()


def test_bevel_gears_meet_at_their_rims() -> None:
    system = bc.System("bevel gears")
    for name, at, axis in (("pinion", (0.2, 0, 0), "x"), ("crown", (0, 0, 0.1), "z")):
        system.revolute(
            f"{name} shaft", system.ground, system.body(name, 1.0, (0.01,) * 3, at=at), at=at, axis=axis
        )
    system.gear("mesh", "pinion shaft", "crown shaft", ratio=-2.0)
    drawn = scene(system.simulate(0.1, output=1))
    pinion, crown = (
        np.vstack([s.corners for b, s in drawn.solids if b == k and len(s.corners) > 300]) + at
        for k, at in ((0, (0.2, 0, 0)), (1, (0, 0, 0.1)))
    )
    # Pitch circles of 0.1 and 0.2 m at the end of the cones, teeth half a module beyond them.
    assert np.linalg.norm(pinion[:, 1:], axis=1).max() == pytest.approx(0.1, rel=0.15)
    assert np.linalg.norm(crown[:, :2], axis=1).max() == pytest.approx(0.2, rel=0.1)


def test_a_cam_has_the_outline_of_its_curve() -> None:
    system = bc.System("cam", gravity=(0, 0, 0))
    cam = system.body("cam", 1.0, (0.01,) * 3)
    follower = system.body("follower", 1.0, (0.01,) * 3, at=(0, 0.2, 0))
    system.revolute("shaft", system.ground, cam, at=(0, 0, 0), axis="z")
    system.prismatic("guide", system.ground, follower, at=(0, 0.5, 0), axis="y")
    system.curve_on_curve(
        "pair",
        cam,
        follower,
        lambda s: (0.1 * np.cos(s), 0.15 * np.sin(s), 0),
        lambda s: (0.05 * np.cos(s), 0.05 * np.sin(s), 0),
        np.pi / 2,
        -np.pi / 2,
    )
    drawn = scene(system.simulate(0.1, output=1))
    plate = next(s for b, s in drawn.solids if b == 0 and len(s.corners) > 300)
    x, y, _ = np.abs(plate.corners).max(axis=0)
    assert (x, y) == pytest.approx((0.1, 0.15), rel=1e-3)
    assert is_closed(plate)
    # The follower is pushed to where the curves touch: half axes and radius.
    assert drawn.positions[0, 1, 1] == pytest.approx(0.2)


def test_a_cable_is_drawn_tangent_to_its_pulleys() -> None:
    """As long between them as straight lines are that touch both circles, in every frame, and no pulley for an eye."""
    system = bc.System("hoist")
    load = system.body("load", mass=1.0, inertia=(0.1,) * 3, at=(0.5, -1.0, 0.0))
    system.prismatic("rail", system.ground, load, axis="y")
    eye, top = system.ground.point(-1.0, -0.5, 0.0), system.ground.point(0.3, 0.0, 0.0)
    path = [system.ground.point(-1.0, -1.0, 0.0), eye, top, load.point(0.0, 0.1, 0.0)]
    system.cable("rope", path, (0.0, -0.2), stiffness=100.0, length=1.0)
    run = system.simulate(0.2, output=4)
    drawn = scene(run)
    first = len(drawn.bodies) - len(drawn.links)
    ropes = [k for k, link in enumerate(drawn.links, first) if link.length > 0.0]
    assert len(ropes) == 3
    for frame in range(5):
        ends = [
            drawn.placed(k, np.array([[0.0, 0.0, 0.0], drawn.links[k - first].length * Z]), frame)
            for k in ropes
        ]
        assert ends[0] == pytest.approx(np.array([[-1.0, -1.0, 0.0], [-1.0, -0.5, 0.0]]), abs=1e-12)
        centre = np.array([0.3, 0.0, 0.0])
        for touching, other in ((ends[1][1], ends[1][0]), (ends[2][0], ends[2][1])):
            assert np.linalg.norm(touching - centre) == pytest.approx(0.2, abs=1e-12)
            assert (touching - centre) @ (other - touching) == pytest.approx(0.0, abs=1e-12)
        hook = run["load.point(0, 0.1, 0).position"].to_numpy()[frame]
        assert ends[2][1] == pytest.approx(hook, abs=1e-12)
        # Clockwise round the pulley: over its top.
        assert ends[1][1][1] > 0.0
    sheaves = [
        s
        for k, s in drawn.solids
        if k == -1 and np.ptp(s.corners[:, :2], axis=0) == pytest.approx(0.4, rel=1e-2)
    ]
    assert len(sheaves) == 1


def test_a_flat_rod_is_drawn_flat_and_turned_as_its_sections_are() -> None:
    """A strip twisted by a quarter turn at rest: wide along y where it begins, along z where it ends."""
    system = bc.System("strip", gravity=(0.0, 0.0, 0.0))
    member = flexible.rod(
        "strip", 1.0, flexible.rectangle(0.1, 0.02), flexible.STEEL, curvature=(0.5 * np.pi, 0.0, 0.0)
    )
    strip = system.flexible_body("strip", member)
    system.fixed("wall", system.ground, strip.node("start"))
    (drawn,) = scene(system.simulate(1e-4, output=1)).deforming
    x = drawn.points[0]
    for arc, along, across in ((0.0, 1, 2), (1.0, 2, 1)):
        ring = x[np.abs(x[:, 0] - arc) < 1e-9]
        # Ellipses that bend as stiffly as rectangles are wider by 2 / sqrt(3).
        assert np.ptp(ring[:, along]) == pytest.approx(0.2 / np.sqrt(3.0), rel=1e-6)
        assert np.ptp(ring[:, across]) == pytest.approx(0.04 / np.sqrt(3.0), rel=1e-6)
    assert drawn.stress is not None
    assert drawn.stress.shape == drawn.points.shape[:2]
