"""Contacts that are one too many: who bears what, where a block tips, and where it begins to slide."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import linprog

from bellcrank.model import System
from bellcrank.result.result import Result
from impacts.models import TIGHT, G, ball

MASS, A, B, H, FOOT = 2.0, 0.4, 0.3, 1.0, 1e-3
CORNERS = np.array([(1, 1), (1, -1), (-1, -1), (-1, 1)]) * [A / 2, B / 2]
RATE = 5.0


def block(
    friction: float,
    push: tuple[float, float] = (0.0, 0.0),
    at: tuple[float, float, float] = (0.0, 0.0, 0.0),
    restitution: float = 0.0,
) -> System:
    """A block of 0.4 by 0.3 by 1 m on four small feet, pushed ever harder."""
    system = System("block", gravity=(0.0, 0.0, -G))
    inertia = tuple(MASS * (x * x + y * y) / 12.0 for x, y in ((B, H), (A, H), (A, B)))
    body = system.body("block", mass=MASS, inertia=inertia, at=(0.0, 0.0, 0.5 * H + FOOT))
    system.free("free", system.ground, body)
    for i, (x, y) in enumerate(CORNERS):
        foot = body.sphere(FOOT, at=(x, y, -0.5 * H))
        system.contact(f"foot {i}", system.ground.plane(), foot, restitution=restitution, friction=friction)
    if any(push):
        load = lambda t: (push[0] * RATE * t, push[1] * RATE * t, 0.0)  # noqa: E731
        system.applied_force("push", body.point(at), load)
    return system


def changes(result: Result, what: str) -> dict[str, float]:
    return {c.contact: c.time for c in result.contact_changes if c.what == what}


def normals(result: Result) -> np.ndarray:
    return np.array([result[f"foot {i}.normal_force"] for i in range(4)])


def test_a_block_at_rest_stands_on_all_its_feet() -> None:
    result = block(0.3).simulate(0.1, output=4, **TIGHT)
    assert normals(result) == pytest.approx(np.full((4, 5), MASS * G / 4.0), rel=1e-12)


@pytest.mark.parametrize(
    ("push", "tips", "lifted"),
    [
        ((1.0, 0.0), A, {2, 3}),
        ((-1.0, 0.0), A, {0, 1}),
        ((0.0, 1.0), B, {1, 2}),
        ((0.6, 0.8), B / 0.8, {1, 2}),
        ((0.9, math.sqrt(0.19)), A / 0.9, {2, 3}),
    ],
)
def test_a_block_tips_about_the_right_edge_at_the_right_force(
    push: tuple[float, float], tips: float, lifted: set[int]
) -> None:
    """Pushed at its centre of mass it tips about an edge where F (h/2 + r) = m g a/2, a being the width along F."""
    due = MASS * G * tips / 2.0 / (0.5 * H + FOOT) / RATE
    result = block(2.0, push).simulate(due + 0.1, output=50, **TIGHT)
    gone = changes(result, "release")
    assert set(gone) == {f"foot {i}" for i in lifted}
    assert list(gone.values()) == pytest.approx([due] * 2, rel=1e-10)
    assert not changes(result, "slip")
    before = result.time < due
    N = normals(result)
    assert N[:, before].min() > -1e-9
    assert N[:, before].sum(axis=0) == pytest.approx(np.full(before.sum(), MASS * G), rel=1e-11)
    # Moments about the base: the normal forces stand where the push wants them.
    force = RATE * result.time[before]
    for axis in (0, 1):
        pressed = CORNERS[:, axis] @ N[:, before]
        assert pressed == pytest.approx(push[axis] * force * (0.5 * H + FOOT), abs=1e-9)
    rise = np.array([result[f"foot {i}.gap"][-1] for i in lifted])
    assert np.all(rise > 1e-5)
    assert rise[0] == pytest.approx(rise[1], rel=1e-6)


@pytest.mark.parametrize("push", [(1.0, 0.0), (0.6, 0.8)])
def test_a_block_slides_off_on_all_its_feet(push: tuple[float, float]) -> None:
    """At F = mu m g, whatever the feet bear; then m a = F - mu m g."""
    mu = 0.1
    start = mu * MASS * G / RATE
    result = block(mu, push).simulate(1.2, output=50, tolerance=1e-10)
    assert list(changes(result, "slip").values()) == pytest.approx([start] * 4, rel=1e-9)
    way = np.hypot(*result["block.position"][-1, :2])
    assert way == pytest.approx(RATE / MASS / 6.0 * (1.2 - start) ** 3, rel=1e-8)
    direction = result["block.velocity"][-1, :2]
    assert direction / np.linalg.norm(direction) == pytest.approx(push, abs=1e-7)
    assert result.ledger.relative_residual < 1e-9


def test_a_sliding_block_stops_where_it_should() -> None:
    start = {"free": {"velocity": (1.5, 0.5, 0.0)}}
    mu, speed = 0.3, math.hypot(1.5, 0.5)
    result = block(mu).simulate(0.7, initial=start, output=50, **TIGHT)
    assert list(changes(result, "stick").values()) == pytest.approx([speed / (mu * G)] * 4, rel=1e-9)
    assert np.hypot(*result["block.position"][-1, :2]) == pytest.approx(speed**2 / (2 * mu * G), rel=1e-11)
    assert np.abs(result["block.velocity"][-1]).max() < 1e-20


def test_a_spinning_block_loses_its_energy_to_friction() -> None:
    start = {"free": {"velocity": (1.5, 0.5, 0.0), "angular_velocity": (0.0, 0.0, 3.0)}}
    result = block(0.3).simulate(0.7, initial=start, output=7000, **TIGHT)
    assert result.ledger.relative_residual < 1e-5
    N = normals(result)
    assert N.min() > -1e-9
    assert N.sum(axis=0) == pytest.approx(np.full(len(result), MASS * G), rel=1e-10)
    for i in range(4):
        rub = np.linalg.norm(result[f"foot {i}.friction_force"], axis=1)
        assert np.all(rub <= 0.3 * N[i] * (1.0 + 1e-9) + 1e-9)


def limit(mu: float, offset: float, height: float) -> float:
    """The largest push along x, off the middle, that feet with the given normal forces can hold: a linear program.

    Cones of friction with 360 sides around them; normal forces of the least norm that balance the push.
    """
    angles = np.linspace(0.0, 2.0 * np.pi, 361)[:-1]
    # Unknowns: the push, and two forces a foot; N = m g / 4 + push (0.5 H + FOOT + height) x / sum of x^2.
    lever = 0.5 * H + FOOT + height
    slope = lever * CORNERS[:, 0] / np.sum(CORNERS[:, 0] ** 2)
    rows, bounds = [], []
    for i in range(4):
        for angle in angles:
            row = np.zeros(9)
            row[0], row[1 + i], row[5 + i] = -mu * slope[i], math.cos(angle), math.sin(angle)
            rows.append(row)
            bounds.append(mu * MASS * G / 4.0)
    balance = np.zeros((3, 9))
    balance[0, 0], balance[0, 1:5] = 1.0, 1.0
    balance[1, 5:] = 1.0
    balance[2, 0], balance[2, 1:5], balance[2, 5:] = -offset, -CORNERS[:, 1], CORNERS[:, 0]
    free = [(0.0, None), *[(None, None)] * 8]
    return float(linprog([-1.0, *[0.0] * 8], rows, bounds, balance, np.zeros(3), free).x[0])


@pytest.mark.parametrize("offset", [0.05, 0.4])
def test_a_block_pushed_beside_its_middle_slides_off_at_the_limit_of_all_feet(offset: float) -> None:
    mu, height = 0.3, -0.5 * H
    due = limit(mu, offset, height) / RATE
    result = block(mu, (1.0, 0.0), (0.0, offset, height)).simulate(due + 0.05, output=20, tolerance=1e-10)
    assert list(changes(result, "slip").values()) == pytest.approx([due] * 4, rel=5e-5)
    assert abs(result["block.angular_velocity.z"][-1]) > 1e-3


def test_a_block_on_two_feet_holds_with_both() -> None:
    """In the plane, pushed low: one foot bears more and rubs more, and both let go at mu m g."""
    mu = 0.4
    system = System("block", gravity=(0.0, -G, 0.0))
    body = system.body("block", mass=MASS, inertia=(0.2,) * 3, at=(0.0, 0.2, 0.0))
    system.planar("plane", system.ground, body, axis="z")
    for name, x in (("left", -0.3), ("right", 0.3)):
        foot = body.circle(FOOT, at=(x, FOOT - 0.2, 0.0))
        system.contact(name, system.ground.line(), foot, friction=mu)
    system.applied_force("push", body.origin, lambda t: (RATE * t, 0.0, 0.0))
    due = mu * MASS * G / RATE
    result = system.simulate(due + 0.2, output=40, **TIGHT)
    assert changes(result, "slip") == pytest.approx({"left": due, "right": due}, rel=1e-10)
    held = result.time < due
    ratio = [
        result[f"{n}.friction_force.x"][held] / result[f"{n}.normal_force"][held] for n in ("left", "right")
    ]
    assert ratio[0] == pytest.approx(ratio[1], abs=1e-9)
    assert result["block.velocity.x"][-1] == pytest.approx(RATE / MASS * 0.5 * 0.2**2, rel=1e-8)


def test_two_contacts_where_one_would_do() -> None:
    system = ball(0.5)
    system.contact("twin", system.ground.plane(), system.bodies["ball"].sphere(0.2), restitution=0.5)
    result = system.simulate(2.0, output=20, **TIGHT)
    assert result["ball.position.z"][-1] == pytest.approx(0.2, abs=1e-12)
    for name in ("bounce", "twin"):
        assert result[f"{name}.normal_force"][-1] == pytest.approx(0.5 * G, rel=1e-12)
    end = math.sqrt(1.6 / G) * 3.0
    assert changes(result, "rest") == pytest.approx({"bounce": end, "twin": end}, rel=1e-9)


def test_a_block_dropped_flat_comes_to_rest_on_all_its_feet() -> None:
    start = {"free": {"position": (0.0, 0.0, 0.5 * H + FOOT + 0.5)}}
    result = block(0.3, restitution=0.5).simulate(1.2, initial=start, output=600, **TIGHT)
    assert list(changes(result, "rest").values()) == pytest.approx(
        [3.0 * math.sqrt(2 * 0.5 / G)] * 4, rel=1e-9
    )
    assert normals(result)[:, -1] == pytest.approx([MASS * G / 4.0] * 4, rel=1e-9)
    assert result.ledger.relative_residual < 1e-9
