"""Linearisations against closed forms, at rest and moving."""

from __future__ import annotations

import math

import numpy as np
import pytest

from analyses.mechanisms import cart_pole, double_pendulum, four_bar, g, pendulum
from bellcrank.errors import UnknownName
from bellcrank.model import System


def test_pendulum_frequency_and_damping() -> None:
    c, m, L = 0.8, 2.0, 1.3
    linear = pendulum(L, m, damping=c).linearize()
    omega = math.sqrt(g / L)
    assert linear.frequencies == pytest.approx([omega / (2 * math.pi)], rel=1e-12)
    assert linear.damping_ratios == pytest.approx([c / (m * L**2) / (2 * omega)], rel=1e-12)
    assert linear.states == ("pin.angle", "pin.angle_rate")


def test_double_pendulum_normal_modes() -> None:
    linear = double_pendulum().linearize()
    root = math.sqrt(2.0)
    expected = [math.sqrt(g * (2 - root)) / (2 * math.pi), math.sqrt(g * (2 + root)) / (2 * math.pi)]
    assert linear.frequencies == pytest.approx(expected, rel=1e-12)
    slow, fast = (m.shape for m in linear.modes)
    # Absolute angles go as 1 : +-sqrt 2; the elbow angle is their difference.
    assert (slow["elbow.angle"] / slow["pin.angle"]).real == pytest.approx(root - 1, rel=1e-9)
    assert (fast["elbow.angle"] / fast["pin.angle"]).real == pytest.approx(-root - 1, rel=1e-9)


def test_cart_pole_matrices() -> None:
    M, m, L = 1.5, 0.3, 0.6
    linear = cart_pole(M, m, L).linearize(
        inputs=["push"], outputs=["pole.position.x", "cart.acceleration.x", "hinge.force", "rail.force.y"]
    )
    A = np.zeros((4, 4))
    A[0, 2] = A[1, 3] = 1.0
    A[2, 1], A[3, 1] = m * g / M, (M + m) * g / (M * L)
    np.testing.assert_allclose(linear.A, A, atol=1e-12)
    np.testing.assert_allclose(linear.B, np.array([[0], [0], [1 / M], [1 / (M * L)]]), atol=1e-12)
    assert linear.outputs[2:5] == ("hinge.force.x", "hinge.force.y", "hinge.force.z")
    C = np.zeros((6, 4))
    C[0, :2], C[1, 1], C[2, 1] = (1, -L), m * g / M, -m * g
    np.testing.assert_allclose(linear.C, C, atol=1e-12)
    np.testing.assert_allclose(linear.D, np.array([[0], [1 / M], [0], [0], [0], [0]]), atol=1e-12)
    assert linear.output_values == pytest.approx([0, 0, 0, m * g, 0, (M + m) * g], abs=1e-12)
    assert linear.stable is False
    assert linear.neutral == ("rail.displacement",)


def _cross(v: tuple[float, float, float]) -> np.ndarray:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def test_free_body_in_flight() -> None:
    """In body axes: theta' = dw - W x theta, x' = dv - W x x + theta x V, dv' = -dw x V - W x dv, Euler."""
    inertia = np.diag([1.0, 2.0, 2.5])
    W, V = (0.3, -0.7, 1.1), (2.0, 0.5, -1.0)
    system = System("stone", gravity=(0, 0, 0))
    system.free("air", system.ground, system.body("stone", mass=1.0, inertia=np.diag(inertia)))
    turned = (math.cos(0.4), 0.0, math.sin(0.4), 0.0)
    w, y = turned[0], turned[2]
    R = np.array([[1 - 2 * y * y, 0, 2 * w * y], [0, 1, 0], [-2 * w * y, 0, 1 - 2 * y * y]])
    start = {"air": {"quaternion": turned, "angular_velocity": W, "velocity": R @ V}}
    linear = system.linearize(initial=start)
    W_, V_ = _cross(W), _cross(V)
    momentum = inertia @ W
    euler = np.linalg.solve(inertia, _cross(tuple(momentum)) - W_ @ inertia)
    Z, E = np.zeros((3, 3)), np.eye(3)
    expected = np.block([[-W_, Z, E, Z], [-V_, -W_, Z, E], [Z, Z, euler, Z], [Z, Z, V_, -W_]])
    np.testing.assert_allclose(linear.A, expected, atol=1e-12)


@pytest.mark.parametrize("spin", [20.0, 60.0])
def test_sleeping_top(spin: float) -> None:
    """I1 s^2 - i I3 W s - m g l = 0 seen from the ground; in axes that turn with W: s - i W."""
    m, ell, I1, I3 = 0.5, 0.1, 4e-3, 1e-3
    system = System("top")
    top = system.body("top", mass=m, inertia=(I1, I1, I3), at=(0, 0, ell))
    system.spherical("tip", system.ground, top, at=(0, 0, 0))
    linear = system.linearize(initial={"tip": {"angular_velocity": (0, 0, spin)}})
    about_tip = I1 + m * ell**2
    roots = np.roots([about_tip, -1j * I3 * spin, -m * g * ell])
    for s in roots:
        assert np.abs(linear.eigenvalues - (s - 1j * spin)).min() < 1e-9 * spin
    fast = (I3 * spin) ** 2 > 4 * m * g * ell * about_tip
    assert linear.stable is fast


def test_loop_linearisation_predicts_the_run() -> None:
    """A small disturbance of a moving four-bar evolves as exp of the integral of A."""
    system = four_bar(1.0, 0.3, 0.9, 0.8)
    base = {"A": (1.0, 3.0)}
    linear = system.linearize(initial=base)
    h, eps = 1e-3, 1e-4
    middle = system.simulate(h / 2, initial=base, tolerance=1e-12, output=[h / 2])
    midway = system.mechanism().linearize(type(linear.state)(h / 2, middle.q[0], middle.u[0]))
    step = np.eye(2) + h * midway.A + 0.5 * h * h * midway.A @ midway.A

    def end(da: float, du: float) -> np.ndarray:
        run = system.simulate(h, initial={"A": (1.0 + da, 3.0 + du)}, tolerance=1e-13, output=[h])
        return np.array([run["A.angle"][0], run["A.angle_rate"][0]])

    assert linear.states[0] == "A.angle"
    for k in range(2):
        d = eps * np.eye(2)[k]
        assert (end(*d) - end(*-d)) / (2 * eps) == pytest.approx(step[:, k], abs=2e-6)


def test_geometry_as_input_moves_the_loop() -> None:
    """A parameter in a loop: the output slope is the partial derivative at constant crank angle."""
    system = System("rod", gravity=(0, -g, 0))
    length = system.parameter("length", 0.5)
    crank = system.body("crank", mass=1.0, inertia=(0.1,) * 3, angle=math.radians(30.0))
    pin = np.array([0.2 * math.cos(math.radians(30)), 0.1, 0.0])
    lean = -math.asin(0.1 / 0.5)
    rod = system.body("rod", mass=1.0, inertia=(0.1,) * 3, at=pin, angle=lean)
    x = pin[0] + 0.5 * math.cos(lean)
    slider = system.body("slider", mass=1.0, at=(x, 0, 0))
    system.revolute("main", system.ground, crank, at=(0, 0, 0), axis="z")
    system.revolute("pin", crank, rod, at=pin, axis="z")
    system.revolute("wrist", rod.point(length, 0, 0), slider.point(0, 0, 0), axis="z")
    system.prismatic("guide", system.ground, slider, axis="x", cut=True)
    linear = system.linearize(inputs=["length"], outputs=["slider.position.x", "main.angle"])
    by_name = dict(zip(linear.outputs, linear.D[:, 0], strict=True))
    slope = {"main.angle": 0.0, "slider.position.x": 1.0 / math.cos(lean)}
    turn = linear.states[0]
    if turn == "main.angle":
        assert by_name == pytest.approx(slope, abs=1e-12)
    else:
        shift = linear.C[:, 0] / linear.C[1, 0]
        assert by_name["slider.position.x"] - shift[0] * by_name["main.angle"] == pytest.approx(
            slope["slider.position.x"], abs=1e-12
        )


def test_wrong_names_are_told() -> None:
    with pytest.raises(UnknownName, match="push"):
        cart_pole().linearize(inputs=["pusch"])
    with pytest.raises(UnknownName, match=r"pole\.position"):
        cart_pole().linearize(outputs=["pole.positon.x"])


def test_control_gets_the_same_matrices() -> None:
    control = pytest.importorskip("control")
    linear = cart_pole().linearize(inputs=["push"], outputs=["hinge.angle"])
    model = linear.to_control()
    assert isinstance(model, control.StateSpace)
    np.testing.assert_allclose(model.A, linear.A)
    assert model.state_labels[1] == "hinge_angle"
