"""Reactions of joints that weld bodies, against statics by hand."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc

G = np.array([0.0, 0.0, -9.81])


def with_a_slider(system: bc.System) -> bc.Body:
    """Something that can move, at rest: a mechanism needs a freedom."""
    body = system.body("slider", 1.0, (1.0, 1.0, 1.0), at=(0.0, 5.0, 0.0))
    system.prismatic("rail", system.ground, body, axis="x")
    return body


def reaction(run: bc.Result, joint: str) -> tuple[np.ndarray, np.ndarray]:
    """Force and torque on b at the start, in world axes."""
    return np.asarray(run[f"{joint}.force"])[0], np.asarray(run[f"{joint}.torque"])[0]


def test_a_force_on_a_body_fixed_to_the_ground_goes_into_the_ground() -> None:
    system = bc.System("held", gravity=(0.0, 0.0, 0.0))
    body = system.body("post", 2.0, (1.0, 1.0, 1.0), at=(1.0, 0.0, 0.0))
    system.fixed("weld", system.ground, body, at=(0.0, 0.0, 0.0))
    system.applied_force("push", body.point(0.0, 0.0, 0.5), lambda t: (3.0 + t, 0.0, 0.0))
    with_a_slider(system)
    run = system.simulate(1.0, output=10, progress=False)
    assert np.asarray(run["weld.force.x"]) == pytest.approx(-(3.0 + run.time))
    assert np.asarray(run["weld.torque.y"]) == pytest.approx(-0.5 * (3.0 + run.time))


def test_a_chain_of_fixed_bodies_carries_all_kinds_of_forces_and_weights() -> None:
    system = bc.System("chain", gravity=G)
    first = system.body("first", 2.0, (1.0, 1.0, 1.0), at=(1.0, 0.0, 0.0), angle=0.5 * np.pi)
    second = system.body("second", 3.0, (1.0, 1.0, 1.0), at=(2.0, 0.0, 0.5))
    system.fixed("root", system.ground, first, at=(0.0, 0.0, 0.0))
    system.fixed("tip", first, second, at=(1.5, 0.0, 0.0))
    slider = with_a_slider(system)
    system.applied_force("world", second, (3.0, -1.0, 2.0))
    # The axes of the first body stand turned by 90 degrees about z.
    system.applied_force("body", first.point(0.0, -1.0, 0.0), (4.0, 0.0, 0.0), axes="body")
    system.applied_torque("twist", second, (0.1, 0.2, 0.3))
    system.spring("spring", system.ground.point(2.0, 0.0, -1.5), second, stiffness=10.0, free_length=1.0)
    stiffness = (0.0, 7.0, 0.0, 0.0, 0.0, 0.0)
    system.bushing("bushing", slider, second, stiffness)
    system.ground_spring("tyre", second, axis="y", radius=0.6, stiffness=50.0)
    run = system.simulate(0.01, output=1, progress=False)

    one, two = np.array([1.0, 0.0, 0.0]), np.array([2.0, 0.0, 0.5])
    on_second = [
        (two, 3.0 * G),
        (two, np.array([3.0, -1.0, 2.0])),
        (two, np.array([0.0, 0.0, -10.0])),
        (two, np.array([0.0, 35.0, 0.0])),
        (two, np.array([0.0, 0.0, 50.0 * 0.1])),
    ]
    on_first = [(one, 2.0 * G), (2.0 * one, np.array([0.0, 4.0, 0.0]))]
    twist = np.array([0.1, 0.2, 0.3])
    for joint, at, loads in (
        ("tip", np.array([1.5, 0.0, 0.0]), on_second),
        ("root", np.zeros(3), on_second + on_first),
    ):
        force, torque = reaction(run, joint)
        assert force == pytest.approx(-sum(f for _, f in loads), abs=1e-9), joint
        about = twist + sum(np.cross(r - at, f) for r, f in loads)
        assert torque == pytest.approx(-about, abs=1e-9), joint


def test_a_body_fixed_to_the_ground_carries_what_hangs_on_it_and_presses_on_it() -> None:
    system = bc.System("table", gravity=G)
    table = system.body("table", 5.0, (1.0, 1.0, 1.0), at=(0.0, 0.0, 1.0))
    system.fixed("legs", system.ground, table, at=(0.0, 0.0, 0.0))
    ball = system.body("ball", 2.0, (1.0, 1.0, 1.0), at=(0.5, 0.0, 1.199))
    system.free("fall", system.ground, ball)
    law = {"treatment": "continuous", "law": "hertz", "stiffness": 1e5, "exponent": 1.0}
    system.contact("touch", table.plane(), ball.sphere(0.2), **law)
    bob = system.body("bob", 4.0, (0.0, 0.0, 0.0), at=(-1.0, 0.0, 0.5))
    system.revolute("pin", table, bob, at=(-1.0, 0.0, 1.0), axis="y")
    run = system.simulate(0.01, output=1, progress=False)
    force, torque = reaction(run, "legs")
    pressed, hung = -1e5 * 0.001, 4.0 * G[2]
    assert force == pytest.approx([0.0, 0.0, 5.0 * 9.81 - pressed - hung], abs=1e-6)
    assert torque == pytest.approx([0.0, 0.5 * pressed - hung, 0.0], abs=1e-6)
