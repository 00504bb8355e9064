"""Every analysis with all that a model may hold: it follows it, as runs tell, or names it in an error."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.linalg import expm

import bellcrank as bc

PUSH, WALL = 3.0, 0.02
"""Force on the cart [N], and how far it may go [m] until it meets what stands there; the spring alone would let it go
three times as far."""


def cart(add: Callable[[bc.System, bc.Body], None], at: float = 0.0) -> bc.System:
    """A cart on a rail, pushed against a spring, with something added."""
    system = bc.System("cart", gravity=(0, 0, -9.81))
    push = system.parameter("push", PUSH, "N")
    body = system.body("cart", mass=2.0, inertia=(0.01,) * 3, at=(at, 0, 0))
    system.prismatic("rail", system.ground, body, axis="x")
    system.joint_force("spring", "rail", lambda coordinate, rate, t: push - 50.0 * coordinate - 0.5 * rate)
    add(system, body)
    return system


def state(system: bc.System, body: bc.Body) -> None:
    behind = system.state("behind", lambda m: (m["rail.displacement"] - m["behind"]) / 0.1)
    system.joint_force("servo", "rail", lambda coordinate, rate, t: -10.0 * behind)


def wall(system: bc.System, body: bc.Body, **options: object) -> None:
    plane = system.ground.plane(at=(WALL + 0.1, 0, 0), normal=(-1, 0, 0))
    system.contact("wall", plane, body.sphere(0.1), **options)


def rigid(system: bc.System, body: bc.Body) -> None:
    wall(system, body, restitution=0.0)


def soft(system: bc.System, body: bc.Body) -> None:
    wall(system, body, treatment="continuous", stiffness=1e6, restitution=0.9)


def stop(system: bc.System, body: bc.Body) -> None:
    system.limits("stop", "rail", high=WALL)


def buffer(system: bc.System, body: bc.Body) -> None:
    system.limits("stop", "rail", high=WALL, stiffness=2e3, damping=5.0)


def rolling(system: bc.System, body: bc.Body) -> None:
    wheel = system.body("wheel", mass=1.0, inertia=(0.004, 0.005, 0.004), at=(0, 0, 0.1))
    system.revolute("axle", body, wheel, at=(0, 0, 0.1), axis="y")
    system.rolling("tread", system.ground, wheel, radius=0.1, axis="y")


def stick(system: bc.System, body: bc.Body) -> None:
    system.joint_friction("rub", "rail", bc.contact.LuGre(0.5, stiffness=1e3))


def brake(system: bc.System, body: bc.Body) -> None:
    system.clutch("brake", "rail", 10.0, stiffness=1e2)


def group(system: bc.System, body: bc.Body) -> None:
    plane = system.ground.plane(at=(WALL + 0.1, 0, 0), normal=(-1, 0, 0))
    system.contacts_between(plane, body.sphere(0.1), name="pile", restitution=0.0)


def check_equilibrium(system: bc.System) -> None:
    found = system.equilibrium()
    run = system.simulate(0.5, start=found, output=5, tolerance=1e-9)
    assert run["rail.displacement"] == pytest.approx(found["rail.displacement"], abs=1e-8)


def check_linearize(system: bc.System) -> None:
    """Small motions are those of a run that begins with a little speed."""
    found = system.equilibrium()
    linear = system.linearize(found)
    if linear.freedoms == 0:
        assert found["rail.displacement"] == pytest.approx(WALL)
        return
    speed, T = 1e-6, 0.1
    begin = np.zeros(len(linear.states))
    begin[[linear.states.index(s) for s in linear.states if "rail" in s][-1]] = speed
    moved = expm(linear.A * T) @ begin
    run = system.simulate(
        T, start=found, initial={"rail": {"displacement_rate": speed}}, output=1, tolerance=1e-11
    )
    assert run["rail.displacement"][-1] - found["rail.displacement"] == pytest.approx(moved[0], rel=1e-3)


def check_sensitivity(system: bc.System) -> None:
    there = "rail.displacement"
    found = system.sensitivity(0.4, outputs=[there], by=["push"])
    ends = [
        system.simulate(0.4, parameters={"push": PUSH + d}, output=1, tolerance=1e-11)[there][-1]
        for d in (-1e-4, 1e-4)
    ]
    assert found.end[there, "push"] == pytest.approx((ends[1] - ends[0]) / 2e-4, rel=1e-3)


def driven(system: bc.System) -> bc.System:
    system.driver("rail", lambda t: 0.2 * t * t, name="drive")
    return system


def check_kinematics(system: bc.System) -> None:
    system = driven(system)
    found = system.kinematics(0.5, output=5)
    run = system.simulate(0.5, output=5, tolerance=1e-10)
    assert found["drive.effort"] == pytest.approx(np.asarray(run["drive.effort"]), abs=1e-6)


def check_inverse(system: bc.System) -> None:
    """What moved by itself needs no effort."""
    steps = {"impacts": "stepping", "step": 1e-3} if system.collisions else {}
    run = system.simulate(0.5, output=20, tolerance=1e-10, **steps)
    assert np.asarray(system.inverse_dynamics(run)["rail.displacement"]) == pytest.approx(
        np.zeros(21), abs=1e-6
    )


ANALYSES = (check_equilibrium, check_linearize, check_sensitivity, check_kinematics, check_inverse)
STATES, STRIKES = r"first-order states, here '{}'", r"contact '{}' (strikes|touches)"
NAMED = {
    state: ("", "", "", STATES.format("behind"), ""),
    rigid: ("", "", *[STRIKES.format("wall")] * 3),
    soft: ("", None, "", None, None),
    stop: ("", "", *[STRIKES.format("stop high")] * 3),
    buffer: ("", "", None, "", ""),
    rolling: ("", None, "", "'tread' holds velocities", None),
    stick: ("", "", "", STATES.format("rub bend"), ""),
    brake: ("", "", "", STATES.format("brake bend"), ""),
    group: ["does not follow contacts_between 'pile'"] * 5,
}
"""By kind: what the error of each analysis says, nothing where it follows; None is not looked at here."""
CELLS = [
    pytest.param(kind, check, said, id=f"{kind.__name__}-{check.__name__.removeprefix('check_')}")
    for kind, row in NAMED.items()
    for check, said in zip(ANALYSES, row, strict=True)
    if said is not None
]


@pytest.mark.parametrize(("kind", "check", "said"), CELLS)
def test_analyses_follow_it_or_name_it(
    kind: Callable[[bc.System, bc.Body], None], check: Callable[[bc.System], None], said: str
) -> None:
    system = cart(kind)
    if said:
        with pytest.raises(bc.ModelError, match=said):
            check(system)
    else:
        check(system)
