"""Runs by steps with the other parts of a model: drivers, springs, loops with too many joints, flexible bodies."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bellcrank.contact.shapes import Box, Circle, Sphere
from bellcrank.errors import ModelError
from bellcrank.flexible import STEEL, Clamped, NormalModes, Ratios, beam, rectangle
from bellcrank.model import Body, System
from bellcrank.model.contacts import PlacedShape
from bellcrank.result.result import Result
from impacts.models import G

HALF = 0.05


def cube(system: System, at: tuple[float, float, float]) -> Body:
    """A free cube of 1 kg that collides."""
    body = system.body("cube", mass=1.0, inertia=(2.0 / 3.0 * HALF * HALF,) * 3, at=at)
    system.free("flight", system.ground, body)
    body.collides(body.box(HALF, HALF, HALF))
    return body


def run(system: System, duration: float, **more: object) -> Result:
    return system.simulate(duration, impacts="stepping", step=1e-3, **({"output": 20} | more))


def test_driven_belt_takes_a_cube_along() -> None:
    """It slips for v / (mu g), and stays behind by v^2 / (2 mu g)."""
    system = System("belt", gravity=(0.0, 0.0, -G))
    speed, mu = 0.5, 0.4
    belt = system.body("belt", mass=5.0, inertia=(1.0,) * 3, at=(0.0, 0.0, -0.1))
    guide = system.prismatic("guide", system.ground, belt, axis="x")
    system.driver(guide, lambda t: speed * t, name="motor")
    belt.collides(belt.box(2.0, 0.5, 0.1))
    cube(system, (0.0, 0.0, HALF))
    system.contacts_between(restitution=0.0, friction=mu)
    result = run(system, 0.4, initial={"guide": (0.0, speed)})
    assert result["cube.velocity.x"][-1] == pytest.approx(speed, rel=1e-4)
    assert result["cube.position.x"][-1] == pytest.approx(speed * 0.4 - speed**2 / (2.0 * mu * G), abs=1e-4)
    slipping = np.asarray(result.time) < 0.9 * speed / (mu * G)
    # The motor pays for the friction of the cube.
    assert np.asarray(result["motor.effort"])[1:][slipping[1:]] == pytest.approx(mu * G, rel=1e-3)


def test_spring_presses_a_cube_on_the_floor() -> None:
    system = System("pressed", gravity=(0.0, 0.0, -G))
    system.ground.collides(system.ground.plane())
    body = cube(system, (0.0, 0.0, HALF))
    system.spring("spring", system.ground.point(0.0, 0.0, 0.25), body, stiffness=100.0, free_length=0.3)
    system.contacts_between(restitution=0.0, friction=0.5)
    result = run(system, 0.2)
    assert np.asarray(result["cube.contact_force"])[-1] == pytest.approx([0.0, 0.0, G + 10.0], abs=1e-3)
    assert result["cube.position.z"][-1] == pytest.approx(HALF, abs=1e-7)


def test_ball_strikes_a_platform_on_three_cranks() -> None:
    """Two cranks would do; the loops stay closed, and the blow keeps the momentum of the one freedom."""
    system = System("platform", gravity=(0.0, -G, 0.0))
    table = system.body("table", mass=2.0, inertia=(0.1,) * 3, at=(0.0, 0.3, 0.0))
    for k, x in enumerate((-0.3, 0.0, 0.3)):
        crank = system.body(f"crank {k}", mass=0.1, inertia=(0.001,) * 3, at=(x - 0.15, 0.15, 0.0), angle=0.0)
        system.revolute(f"foot {k}", system.ground, crank, at=(x - 0.3, 0.0, 0.0), axis="z")
        system.revolute(f"head {k}", crank, table, at=(x, 0.3, 0.0), axis="z")
    table.collides(table.box(0.4, 0.02, 0.2))
    ball = system.body("ball", mass=0.5, inertia=(0.001,) * 3, at=(0.1, 0.4, 0.0))
    system.free("flight", system.ground, ball)
    ball.collides(ball.sphere(0.05))
    system.contacts_between(restitution=0.5, friction=0.3)
    result = run(system, 0.3, output=60)
    assert len(result.impacts) > 0
    assert np.abs(np.asarray(result["constraints.position"])).max() < 1e-10
    assert all(impact.energy_after <= impact.energy_before for impact in result.impacts)
    energy = np.asarray(result["energy.total"])
    assert np.diff(energy).max() < 1e-3 * np.ptp(np.asarray(result["energy.gravity"]))
    first = result.impacts[0].contacts[0]
    assert first.speed_after == pytest.approx(-0.5 * first.speed_before, rel=1e-5)
    assert math.isfinite(result.run.residual)


def test_flexible_blade_rests_on_a_ball() -> None:
    """Clamped, its tip on a support level with the root: the reaction of a propped cantilever, 3/8 of the weight."""
    length, section = 1.0, rectangle(0.01, 0.05)
    member = beam("blade", length, section, STEEL, elements=6, planar=True).reduce(
        NormalModes(count=3), Clamped("start"), damping=Ratios(0.5)
    )
    system = System("blade", gravity=(0.0, -G, 0.0))
    blade = system.flexible_body("blade", member)
    system.fixed("root", system.ground, blade.node("start"))
    tip = PlacedShape(blade.node("end"), Circle(0.01))
    system.contact("prop", system.ground.line(at=(0.0, -0.01, 0.0)), tip, restitution=0.0, friction=0.3)
    result = run(system, 1.0)
    assert result["prop.normal_force"][-1] == pytest.approx(0.375 * member.mass * G, rel=0.05)
    assert result["blade.end.position.y"][-1] == pytest.approx(0.0, abs=1e-6)


def test_nodes_of_a_flexible_body_collide_in_groups() -> None:
    """A clamped blade on a ball in its tip, as a group and as a contact: forces, joints and impulses agree."""
    member = beam("blade", 1.0, rectangle(0.05, 0.01), STEEL, elements=6).reduce(
        NormalModes(count=6), Clamped("start"), damping=Ratios(0.05)
    )
    found = []
    for grouped in (False, True):
        system = System("blade", gravity=(0.0, 0.0, -G))
        blade = system.flexible_body("blade", member)
        system.fixed("root", system.ground, blade.node("start"))
        tip = PlacedShape(blade.node("end"), Sphere(0.01))
        floor = system.ground.plane(at=(0.0, 0.0, -0.012))
        if grouped:
            blade.collides(tip)
            system.ground.collides(floor)
            system.contacts_between(restitution=0.3, friction=0.3)
        else:
            system.contact("prop", floor, tip, restitution=0.3, friction=0.3)
        result = run(system, 0.4)
        force = result["blade.contact_force.z"] if grouped else result["prop.normal_force"]
        (root,) = result.impacts.joint_impulses.values()
        parts = (result["root.force"], result["root.torque"], result["blade.modes"], force, root)
        found.append([np.asarray(part) for part in parts])
    assert len(result.impacts) > 0
    assert result.impacts[0].contacts[0].bodies == ("ground", "blade.end")
    for one, other in zip(*found, strict=True):
        assert one == pytest.approx(other, abs=1e-4 * np.abs(one).max())
    with pytest.raises(ModelError, match="the skin of body 'blade' presses"):
        system.contacts_between(floor, blade.skin(Box(0.5, 0.02, 0.005), at=(0.5, 0.0, 0.0)), name="skins")
