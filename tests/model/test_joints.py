"""Joints: conventions as identities of the start pose, and mistakes refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bellcrank.errors import ModelError, UnknownName
from bellcrank.math.arrays import QUARTER_TURN_Y, rotation_about_z, rotation_of_quaternion
from bellcrank.model import Joint, System, joints

KINDS = [kind for kind in joints.KINDS if kind.in_tree]
angles = st.floats(-3.1, 3.1)
lengths = st.floats(-2, 2)
unit_quaternions = (
    st.tuples(*[st.integers(-50, 50).map(lambda i: i / 50)] * 4)
    .map(np.array)
    .filter(lambda q: np.linalg.norm(q) > 0.1)
    .map(lambda q: q / np.linalg.norm(q))
)
vectors = st.tuples(lengths, lengths, lengths)


def transform(joint: Joint, q: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Position and rotation of frame B in A by the convention of the kind."""
    named = dict(zip(joint.coordinates, q, strict=True))
    R = np.eye(3)
    if "quaternion_w" in named:
        R = rotation_of_quaternion(np.array([named[f"quaternion_{c}"] for c in "wxyz"]))
    if "angle" in named:
        R = rotation_about_z(named["angle"])
    if "angle_a" in named:
        R = rotation_about_z(named["angle_a"]) @ QUARTER_TURN_Y @ rotation_about_z(named["angle_b"])
    along = named.get("displacement", 0.0)
    if joint.kind == "screw":
        along = joint.a.body.parameters.value(joint.pitch) * named["angle"]
    p = np.array([named.get("x", 0.0), named.get("y", 0.0), named.get("z", along)])
    return p, R


def two_bodies(qa, qb, at_a, at_b) -> System:
    system = System("pair")
    system.body("a", 1, at=at_a, quaternion=qa)
    system.body("b", 1, at=at_b, quaternion=qb)
    return system


def make(system: System, kind: type[Joint], a, b, at, axis) -> Joint:
    z = np.array(axis) / np.linalg.norm(axis)
    if kind.kind == "universal":
        x = np.cross(z, np.roll(z, 1) + np.array([0.3, 0, 0.1]))
        return system.universal("j", a, b, at=at, axis_a=z, axis_b=x)
    more = {"pitch": 0.3} if kind.kind == "screw" else {}
    if kind.has_axis:
        more["axis"] = axis
    return getattr(system, kind.kind)("j", a, b, at=at, **more)


@pytest.mark.parametrize("kind", KINDS)
@given(unit_quaternions, unit_quaternions, vectors, vectors, vectors, unit_quaternions)
def test_joints_drawn_in_the_start_pose_fit_it(kind, qa, qb, at_a, at_b, at, axis) -> None:
    system = two_bodies(qa, qb, at_a, at_b)
    joint = make(system, kind, "a", "b", at, np.array(axis[:3]) + np.array([0, 0, 2]))
    p, R = joint.start_relation()
    p_fit, R_fit = transform(joint, joint.start_coordinates())
    np.testing.assert_allclose(p, p_fit, atol=1e-12)
    np.testing.assert_allclose(R, R_fit, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_counts_of_each_kind(kind: type[Joint]) -> None:
    system = two_bodies((1, 0, 0, 0), (1, 0, 0, 0), (0, 0, 0), (0, 0, 0))
    joint = make(system, kind, "a", "b", (0, 0, 0), (0, 0, 1))
    quaternion = kind.kind in ("spherical", "free")
    assert len(joint.coordinates) == joint.dof + quaternion
    assert joint.constraints == 6 - joint.dof
    assert joint.dof == {
        "fixed": 0, "revolute": 1, "prismatic": 1, "screw": 1, "cylindrical": 2, "universal": 2,
        "planar": 3, "spherical": 3, "free": 6,
    }[kind.kind]  # fmt: skip


@given(angles, angles)
def test_angle_compares_the_axes_of_the_bodies(alpha: float, beta: float) -> None:
    system = System("planar")
    a = system.body("a", 1, angle=alpha)
    b = system.body("b", 1, at=(1, 2, 0), angle=beta)
    for joint in (
        system.revolute("hinge", a, b, at=(0.3, 0.4, 0)),
        system.revolute("points", a.point(1, 0, 0), b.point(0, 0, 0)),
        system.revolute("axis", a.point(1, 0, 0), b.point(0, 0, 0), axis="z"),
    ):
        (angle,) = joint.start_coordinates()
        assert abs(math.remainder(angle - (beta - alpha), 2 * math.pi)) < 1e-12


@given(angles)
def test_angle_about_an_axis_foreign_to_the_bodies_starts_at_zero(alpha: float) -> None:
    system = System("spatial")
    a = system.body("a", 1)
    b = system.body("b", 1, angle=0.2 + abs(alpha) / 2)
    assert system.revolute("hinge", a, b, at=(0, 0, 0), axis="x").start_coordinates() == pytest.approx((0,))


@given(angles, angles)
def test_screws_fit_the_start_pose_at_any_angle(alpha: float, beta: float) -> None:
    system = System("jack")
    pitch = system.parameter("pitch", 0.02)
    a = system.body("a", 1, angle=alpha)
    b = system.body("b", 1, at=(0, 0, 1), angle=beta)
    screw = system.screw("spindle", a, b, at=(0, 0, 0.5), pitch=pitch)
    p, R = screw.start_relation()
    p_fit, R_fit = transform(screw, screw.start_coordinates())
    np.testing.assert_allclose(p, p_fit, atol=1e-12)
    np.testing.assert_allclose(R, R_fit, atol=1e-12)


def test_guides_keep_the_start_rotation() -> None:
    system = System("guide")
    slider = system.body("slider", 1, at=(2, 0, 0), angle=0.5)
    guide = system.prismatic("x", system.ground, slider, axis="x")
    for joint in (guide, system.fixed("weld", "ground", slider)):
        p, R = joint.start_relation()
        np.testing.assert_allclose(R, np.eye(3), atol=1e-15)
        np.testing.assert_allclose(p, 0, atol=1e-15)
    np.testing.assert_allclose(system.joints["x"].a.start_rotation()[:, 2], (1, 0, 0))


def test_free_body_stands_where_it_was_drawn() -> None:
    system = System("float")
    body = system.body("b", 1, at=(1, 2, 3), angle=math.pi / 2)
    half = math.sqrt(0.5)
    free = system.free("f", system.ground, body)
    assert free.start_coordinates() == pytest.approx((1, 2, 3, half, 0, 0, half))
    corner = system.free("g", system.ground, body, at=(1, 3, 3))
    assert corner.start_coordinates()[:3] == pytest.approx((1, 3, 3))


def test_cardan_axes_are_fixed_in_their_bodies() -> None:
    system = System("cardan")
    body = system.body("b", 1, quaternion=(0.5, 0.5, 0.5, 0.5))
    joint = system.universal("u", system.ground, body, at=(0, 0, 1), axis_a="y", axis_b="x")
    np.testing.assert_allclose(joint.a.start_rotation()[:, 2], (0, 1, 0))
    np.testing.assert_allclose(joint.b.start_rotation()[:, 2], (1, 0, 0), atol=1e-15)
    assert joint.start_coordinates() == pytest.approx((0, 0))
    points = (system.ground.point(0, 0, 1), body.point_at((0, 0, 1)))
    again = system.universal("again", *points, axis_a="y", axis_b="x")
    assert (again.a.rotation, again.b.rotation) == (joint.a.rotation, joint.b.rotation)


def test_frames_on_one_side_and_on_both() -> None:
    system = System("frames")
    length = system.parameter("length", 2.0)
    a, b = system.body("a", 1), system.body("b", 1, at=(2, 0, 0))
    both = system.revolute("both", a.point(length, 0, 0), b.point(0, 0, 0))
    assert both.a.position[0] is length
    one = system.spherical("one", a.point(1, 0, 0), b)
    assert one.b.position == (-1, 0, 0)
    turned = a.frame((0, 0, 0), ((0, 0, 1), (1, 0, 0), (0, 1, 0)))
    tilted = system.revolute("tilted", turned, b)
    np.testing.assert_allclose(tilted.b.start_rotation(), tilted.a.start_rotation())
    with pytest.raises(ModelError, match=r"parameters on body 'a'.*give a point there too: b\.point"):
        system.spherical("bad", a.point(length, 0, 0), b)
    with pytest.raises(ModelError, match="placed twice, by at= and by a frame"):
        system.revolute("bad", a.point(0, 0, 0), b, at=(0, 0, 0))
    with pytest.raises(ModelError, match="turned twice"):
        system.revolute("bad", turned, b, axis="x")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s, a, b: s.revolute("j", a, a, at=(0, 0, 0)), "joins body 'a' to itself"),
        (lambda s, a, b: s.revolute("j", a, b), r"revolute joint 'j' needs its place: at=\(x, y, z\)"),
        (lambda s, a, b: s.revolute("j", a, b, at=(0, 0)), "at of revolute joint 'j' must be 3 numbers"),
        (
            lambda s, a, b: s.revolute("j", a, b, at=(0, 0, 0), axis=(0, 0, 0)),
            "axis of .* is the zero vector",
        ),
        (lambda s, a, b: s.revolute("j", a, b, at=(0, 0, 0), axis="w"), "axis of revolute joint 'j' is 'w'"),
        (lambda s, a, b: s.revolute("j", a, b, at=(0, 0, 0), axis=(0, math.nan, 0)), "is nan"),
        (lambda s, a, b: s.revolute("j", a, b, at=(0, 0, 0), cut="yes"), "cut of .*'j' must be True"),
        (lambda s, a, b: s.screw("j", a, b, at=(0, 0, 0), pitch=0), "pitch of screw joint 'j' is zero"),
        (lambda s, a, b: s.screw("j", a, b, at=(0, 0, 0)), "screw joint 'j' needs pitch="),
        (lambda s, a, b: s.universal("j", a, b, at=(0, 0, 0)), "needs axis_a="),
        (
            lambda s, a, b: s.universal("j", a, b, at=(0, 0, 0), axis_a="x", axis_b=(1, 1, 0)),
            "45 degrees apart; they must be perpendicular",
        ),
        (lambda s, a, b: s.revolute("j", a, 7, at=(0, 0, 0)), "needs a body, or a point or .*, not 7"),
        (
            lambda s, a, b: s.revolute("j", a, System("other").body("x", 1), at=(0, 0, 0)),
            "body 'x' of another system",
        ),
        (
            lambda s, a, b: s.revolute("j", a, System("other").ground.point(0, 0, 0)),
            "body 'ground' of another system",
        ),
    ],
)
def test_wrong_joints_are_refused(call, message: str) -> None:
    system = System("wrong")
    a, b = system.body("a", 1), system.body("b", 1, at=(1, 0, 0))
    with pytest.raises(ModelError, match=message):
        call(system, a, b)
    assert not system.joints


def test_coordinates_by_name() -> None:
    system = System("names")
    a, b = system.body("a", 1), system.body("b", 1)
    pair = system.cylindrical("pair", a, b, at=(0, 0, 0))
    ball = system.spherical("ball", a, b, at=(0, 0, 0))
    weld = system.fixed("weld", a, b)
    assert pair.coordinate("displacement") == "displacement"
    with pytest.raises(ModelError, match=r"'pair' has several coordinates; name one.*angle, displacement"):
        pair.coordinate()
    with pytest.raises(UnknownName, match=r"no coordinate of .* 'pair' named 'angel'; did you mean"):
        pair.coordinate("angel")
    with pytest.raises(ModelError, match="only a quaternion"):
        ball.coordinate()
    with pytest.raises(ModelError, match="part of a quaternion"):
        ball.coordinate("quaternion_w")
    with pytest.raises(ModelError, match="none at all"):
        weld.coordinate("angle")
