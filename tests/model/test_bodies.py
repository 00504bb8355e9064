"""Bodies, frames and parameters: what is stored, and what is refused with which remedy."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bellcrank.errors import ModelError, UnknownName
from bellcrank.math.arrays import (
    is_rotation,
    quaternion_of_rotation,
    rotation_of_quaternion,
    rotation_with_z_along,
)
from bellcrank.model import Parameter, System, value

components = st.floats(-1, 1).map(lambda x: round(x, 3))


@pytest.fixture
def system() -> System:
    return System("test")


def test_inertia_in_three_forms(system: System) -> None:
    full = ((3.0, 0.1, 0.2), (0.1, 4.0, 0.3), (0.2, 0.3, 5.0))
    assert system.body("a", 1, inertia=full).inertia == full
    assert system.body("b", 1, inertia=(3, 4, 5, 0.1, 0.2, 0.3)).inertia == full
    assert system.body("c", 1, inertia=(3, 4, 5)).inertia == ((3, 0, 0), (0, 4, 0), (0, 0, 5))
    assert system.body("d", 1, inertia=np.array(full)).inertia == full


@given(st.lists(st.tuples(st.floats(0.1, 9), components, components, components), min_size=2, max_size=6))
def test_inertia_of_any_point_masses_is_accepted(points) -> None:
    m = np.array([p[0] for p in points])
    r = np.array([p[1:] for p in points])
    r = r - (m @ r) / m.sum()
    J = sum(mi * (x @ x * np.eye(3) - np.outer(x, x)) for mi, x in zip(m, r, strict=True))
    System("points").body("cloud", m.sum(), inertia=J)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mass": -1}, "mass of body 'x' is -1; it must not be negative"),
        ({"mass": math.nan}, "mass of body 'x' is nan; it must be a finite number"),
        ({"mass": "heavy"}, "mass of body 'x' must be a number"),
        ({"mass": True}, "mass of body 'x' must be a number"),
        ({"inertia": (1, 1)}, "inertia of body 'x' must be 3 numbers"),
        ({"inertia": 3.0}, "inertia of body 'x' must be 3 numbers"),
        ({"inertia": (1, 1, math.inf)}, "inertia of body 'x' is inf"),
        ({"inertia": ((1, 0.1, 0), (0, 1, 0), (0, 0, 1))}, "not symmetric: element 1,2 is 0.1 but 2,1 is 0"),
        ({"inertia": (1, 1, -1)}, "not positive semidefinite"),
        ({"inertia": (1, 1, 1, 2, 0, 0)}, "not positive semidefinite"),
        ({"inertia": (0, 0, 1)}, r"triangle inequality.*planar mechanism.*\(1, 1, 1\)"),
        ({"center_of_mass": (0, 0)}, "center_of_mass of body 'x' must be 3 numbers"),
        ({"at": (0, math.nan, 0)}, "at of body 'x' is nan"),
        ({"at": "origin"}, "at of body 'x' must be 3 numbers"),
        ({"angle": 1.0, "quaternion": (1, 0, 0, 0)}, "body 'x' is turned twice, by angle and quaternion"),
        ({"quaternion": (1, 1, 0, 0)}, "quaternion.*of body 'x' has length 1.41421; it must be 1"),
        ({"rotation": ((1, 0, 0), (0, 1, 0), (0, 0, -1))}, "rotation of body 'x' is not a rotation matrix"),
        ({"rotation": (1, 0, 0)}, "rotation of body 'x' must be a 3x3 matrix"),
    ],
)
def test_wrong_bodies_are_refused(system: System, arguments: dict, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        system.body("x", **{"mass": 1.0, **arguments})
    assert "x" not in system


def test_massless_bodies_are_legal(system: System) -> None:
    assert system.body("slider", mass=0).mass == 0.0
    assert system.body("flywheel", mass=0, inertia=(1, 1, 1)).mass == 0.0


def test_start_rotation_from_angle_matrix_and_quaternion_agree(system: System) -> None:
    angle = 0.7
    a = system.body("a", 1, angle=angle).start_rotation()
    b = system.body("b", 1, rotation=a).start_rotation()
    c = system.body("c", 1, quaternion=(math.cos(angle / 2), 0, 0, math.sin(angle / 2))).start_rotation()
    np.testing.assert_allclose(b, a, atol=1e-15)
    np.testing.assert_allclose(c, a, atol=1e-15)
    assert system.body("d", 1, angle=math.pi / 2).rotation == ((0, -1, 0), (1, 0, 0), (0, 0, 1))


def test_points_and_frames(system: System) -> None:
    body = system.body("b", 1, at=(1, 2, 3), angle=math.pi / 2)
    assert body.point(1, 2, 3).position == body.point((1, 2, 3)).position == (1, 2, 3)
    np.testing.assert_allclose(body.point_at((1, 3, 3)).position, (1, 0, 0), atol=1e-15)
    np.testing.assert_allclose(body.point(1, 0, 0).start_position(), (1, 3, 3))
    np.testing.assert_allclose(body.frame().start_rotation(), body.start_rotation())
    with pytest.raises(ModelError, match="point of body 'b' must be 3 numbers"):
        body.point(1, 2)
    with pytest.raises(ModelError, match="rotation of frame 'hook' of body 'b' is not a rotation"):
        body.frame(rotation=np.ones((3, 3)), name="hook")


def test_parameters_enter_numbers_and_have_values(system: System) -> None:
    m = system.parameter("m", 2.0, "kg")
    assert system.parameters["m"] == Parameter("m", 2.0, "kg")
    body = system.body("b", mass=2 * m, inertia=(m, m, m), center_of_mass=(m / 4, 0, 0))
    assert system.parameters.value(body.mass) == 4.0
    assert value(np.sin(m) * m**2 - 1, {"m": 3.0}) == pytest.approx(math.sin(3) * 9 - 1)
    system.gravity = (0, 0, -m)
    assert system.parameters.value(system.gravity[2]) == -2.0
    with pytest.raises(ModelError, match="mass of body 'c' is -2"):
        system.body("c", mass=-m)
    with pytest.raises(ModelError, match="break the triangle inequality"):
        system.body("c", mass=m, inertia=(m, m, 9 * m))


def test_parameters_in_the_start_pose_are_refused_with_the_remedy(system: System) -> None:
    length = system.parameter("length", 1.0)
    turned = ((length, 0, 0), (0, 1, 0), (0, 0, 1))
    for pose in (
        {"at": (length, 0, 0)},
        {"angle": length},
        {"quaternion": (length, 0, 0, 0)},
        {"rotation": turned},
    ):
        with pytest.raises(ModelError, match=r"holds the parameter 'length'.*body\.point"):
            system.body("b", 1, **pose)
    body = system.body("b", 1)
    with pytest.raises(ModelError, match=r"holds the parameter 'length'.*points of both bodies"):
        system.revolute("j", system.ground, body, at=(length, 0, 0))


def test_parameters_of_another_system_are_refused(system: System) -> None:
    other = System("other").parameter("k", 1.0)
    with pytest.raises(ModelError, match="mass of body 'b' uses 'k', which is not a parameter of"):
        system.body("b", mass=other)
    with pytest.raises(ModelError, match="uses 'k', which is not a parameter of this system"):
        system.force("f", system.body("c", 1), system.ground, lambda length: other * length)


def test_names_are_unique_words_and_found(system: System) -> None:
    body = system.body("crank", 1)
    system.parameter("stiffness", 1.0)
    assert system["crank"] is body is system.body_named("crank")
    assert system["ground"] is system.ground
    assert system["stiffness"].value == 1.0
    for make in (
        lambda name: system.body(name, 1),
        lambda name: system.parameter(name, 1),
        lambda name: system.free(name, system.ground, body),
        lambda name: system.applied_force(name, body, (0, 0, 1)),
    ):
        with pytest.raises(ModelError, match="already a body named 'crank'"):
            make("crank")
        with pytest.raises(ModelError, match="not empty"):
            make(" ")
        with pytest.raises(ModelError, match="holds a dot"):
            make("a.b")
        with pytest.raises(ModelError, match="must be a string"):
            make(3)
        with pytest.raises(ModelError, match="'ground' is the body that never moves"):
            make("ground")
    with pytest.raises(UnknownName, match="no object named 'crnak'; did you mean 'crank'"):
        system["crnak"]
    with pytest.raises(UnknownName, match=r"no body named 'pisten'.*ground, crank"):
        system.body_named("pisten")
    with pytest.raises(UnknownName, match="no body named 'krank'; did you mean 'crank'"):
        system.revolute("hinge", "ground", "krank", at=(0, 0, 0))


@given(st.tuples(components, components, components, components))
def test_quaternions_and_rotations_are_inverse(q) -> None:
    q = np.array(q)
    if np.linalg.norm(q) < 0.1:
        return
    q /= np.linalg.norm(q)
    R = rotation_of_quaternion(q)
    assert is_rotation(R)
    back = quaternion_of_rotation(R)
    assert min(abs(back - q).max(), abs(back + q).max()) < 1e-12


@given(st.tuples(components, components, components))
def test_joint_axes_are_rotations_with_exact_zeros(axis) -> None:
    z = np.array(axis)
    if np.linalg.norm(z) < 0.1:
        return
    z /= np.linalg.norm(z)
    R = rotation_with_z_along(z)
    assert is_rotation(R, 1e-14)
    np.testing.assert_allclose(R[:, 2], z, atol=1e-15)
    assert (R == 0).any()


def test_description_loads_nothing_heavy() -> None:
    heavy = "{'numba', 'llvmlite', 'matplotlib', 'scipy'}"
    code = f"import sys, bellcrank.model, bellcrank.topology; assert not {heavy} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_names_of_results_of_the_whole_mechanism_are_reserved(system: System) -> None:
    from bellcrank.quantities.whole import whole

    from bellcrank.model.registry import RESERVED

    assert {name.partition(".")[0] for name in whole(None)} == set(RESERVED)  # type: ignore[arg-type]
    for word in RESERVED:
        with pytest.raises(ModelError, match=f"'{word}' is reserved.*give the body another"):
            system.body(word, 1, inertia=(1, 1, 1))
        with pytest.raises(ModelError, match=f"'{word}' is reserved.*give the state another"):
            system.state(word, lambda t: 0.0)
    system.parameter("power", 1.0)
