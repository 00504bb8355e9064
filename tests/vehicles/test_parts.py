"""Struts, anti-roll bars, steering gears, power trains and the air against the same of bodies, and closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import ModelError

STRUT = {
    "damper": [(-1.0, -2000.0), (0.0, 0.0), (1.0, 3000.0)],
    "bump": [(0.0, 0.0), (0.02, 500.0), (0.05, 8000.0)],
    "rebound": [(0.0, 0.0), (0.05, 9000.0)],
}


def sprung(mass: float, **tables: object) -> bc.System:
    system = bc.System("sprung")
    body = system.body("body", mass=mass, at=(0, 0, 0.5))
    system.prismatic("rail", system.ground, body, axis="z")
    system.strut(
        "strut", system.ground, body, stiffness=2e4, free_length=0.5, bump=0.42, rebound=0.53, tables=tables
    )
    return system


def test_a_strut_keeps_its_energy_in_the_stops_and_loses_it_in_the_damper() -> None:
    elastic = {name: STRUT[name] for name in ("bump", "rebound")}
    run = sprung(100.0, **elastic).simulate(1.5, initial={"rail": (0.0, -1.5)}, output=300, tolerance=1e-11)
    assert run["strut.bump_force"].max() > 1000.0
    assert run["strut.rebound_force"].max() > 100.0
    assert run.ledger.relative_residual < 1e-8
    assert run.ledger.forces[-1] == pytest.approx(0.0, abs=1e-6)
    damped = sprung(100.0, **STRUT).simulate(3.0, initial={"rail": (0.0, -1.5)}, output=300)
    assert damped.ledger.relative_residual < 1e-5
    # The spring carries 8 cm of the weight's travel less what the stop does not reach: it rests above the stop.
    assert damped["rail.displacement"][-1] == pytest.approx(-100 * 9.81 / 2e4, abs=1e-4)
    heavy = sprung(400.0, **STRUT).equilibrium()
    depth = 0.42 - heavy["strut.length"]
    assert heavy["strut.bump_force"] == pytest.approx(400 * 9.81 - 2e4 * (0.08 + depth), rel=1e-9)


def arms(bar: str) -> bc.System:
    """Two trailing arms on springs, unequally loaded, with an anti-roll bar as one force, or of bodies."""
    system = bc.System(bar)
    ends, levers = [], []
    for name, side, load in (("left", 1.0, 0.0), ("right", -1.0, 2500.0)):
        arm = system.body(f"{name} arm", mass=10.0, inertia=(0.1,) * 3, at=(-0.2, 0.6 * side, 0.0))
        joint = system.revolute(f"{name} pivot", system.ground, arm, at=(0, 0.6 * side, 0), axis="y")
        system.torsion_spring(f"{name} spring", joint, stiffness=4e3, damping=300.0)
        system.applied_force(f"{name} load", arm.point_at((-0.4, 0.6 * side, 0)), (0.0, 0.0, load))
        ends.append(arm.point_at((-0.15, 0.58 * side, 0.02)))
        levers.append((-0.13, 0.55 * side, 0.25))
    if bar == "force":
        points = [system.ground.point(end) for end in levers]
        system.anti_roll_bar(
            "bar", system.ground.point(0.1, 0, 0.22), points, ends, stiffness=900.0, damping=5.0
        )
        return system
    halves = []
    for name, end, link in zip(("left", "right"), levers, ends, strict=True):
        half = system.body(f"{name} half", mass=1e-6, inertia=(1e-7,) * 3, at=(0.1, 0, 0.22))
        halves.append(half)
        if name == "left":
            system.revolute("bearing", system.ground, half, axis="y", at=(0.1, 0, 0.22))
        else:
            joint = system.revolute("twist", halves[0], half, axis="y", at=(0.1, 0, 0.22))
            system.torsion_spring("torsion", joint, stiffness=900.0, damping=5.0)
        system.distance(f"{name} link", half.point_at(end), link)
    return system


def test_an_anti_roll_bar_is_two_levers_on_a_torsion_spring() -> None:
    force, bodies = arms("force"), arms("bodies")
    at = [system.equilibrium() for system in (force, bodies)]
    assert at[0]["bar.twist"] == pytest.approx(-at[1]["twist.angle"], abs=1e-7)
    assert abs(at[0]["bar.twist"]) > 0.1
    start = {"left pivot": (0.05, 1.0), "right pivot": (-0.2, 0.0)}
    runs = [system.simulate(0.2, initial=start, output=20, tolerance=1e-9) for system in (force, bodies)]
    for side in ("left", "right"):
        assert runs[0][f"{side} pivot.angle"] == pytest.approx(runs[1][f"{side} pivot.angle"], abs=1e-6)
    assert runs[0].ledger.relative_residual < 1e-4
    # Where the links no longer reach, the bar pulls as near as it can, and nothing is divided by zero.
    far = force.simulate(0.1, initial={"left pivot": (2.5, 0.0), "right pivot": (-3.0, 5.0)}, output=10)
    assert np.isfinite(far["bar.torque"]).all()


def test_the_air_brakes_with_the_square_of_the_speed() -> None:
    system = bc.System("glider", gravity=(0, 0, 0))
    body = system.body("body", mass=1000.0, inertia=(500.0, 1500.0, 1600.0))
    system.free("flight", system.ground, body)
    system.aerodynamics(
        "air", body, area=2.0, drag=0.4, lift=-0.5, side=1.0, yaw=-0.2, length=2.5, wind=(-5.0, 0, 0)
    )
    start = {"flight": {"velocity": (40.0, 0.0, 0.0)}}
    run = system.simulate(10.0, initial=start, output=10, tolerance=1e-10)
    # v' = -k v^2 against the air.
    k = 0.5 * 1.2 * 2.0 * 0.4 / 1000.0
    away = 45.0 / (1.0 + k * 45.0 * np.asarray(run.time)) - 5.0
    assert run["air.force.z"][0] == pytest.approx(-0.5 * 1.2 * 2.0 * 0.5 * 45.0**2)
    assert run["body.velocity.x"][1] == pytest.approx(away[1], rel=1e-3)
    still = system.simulate(1.0, initial={"flight": {"velocity": (-5.0, 0, 0)}}, output=2)
    assert np.asarray(still["body.velocity"])[-1] == pytest.approx([-5.0, 0, 0])
    sidewind = system.simulate(0.01, initial={"flight": {"velocity": (30.0, 5.0, 0)}}, output=2)
    assert sidewind["air.force.y"][0] == pytest.approx(-0.6 * 2.0 * np.hypot(35.0, 5.0) * 5.0)
    assert sidewind.ledger.relative_residual < 1e-6


def test_a_steering_gear_yields_to_the_rack() -> None:
    system = bc.System("steered")
    turned = system.parameter("wheel", 0.5, "rad")
    rack = system.body("rack", mass=4.0)
    system.prismatic("rack guide", system.ground, rack, axis="y")
    system.torsion_spring("tyres", "rack guide", stiffness=2e5, damping=2e3)
    rows = [(-10.0, -60.0), (-1.0, 0.0), (1.0, 0.0), (10.0, 60.0)]
    system.steering("gear", "rack guide", turned, ratio=100.0, stiffness=80.0, damping=0.5, assistance=rows)
    rest = system.equilibrium()
    x, T = rest["rack guide.displacement"], rest["gear.torque"]
    assert pytest.approx(80.0 * (0.5 - 100.0 * x)) == T
    assert 1.0 < T < 10.0
    assisted = float(bc.smooth_table(*zip(*rows, strict=True), extrapolate="linear", monotone=True)(T))
    assert assisted > T
    assert 100.0 * (T + assisted) == pytest.approx(2e5 * x, rel=1e-9)


MAP = [
    (0.0, 60.0, 180.0, 200.0),
    (80.0, 20.0, 190.0, 230.0),
    (120.0, -20.0, 180.0, 240.0),
    (600.0, -60.0, 90.0, 220.0),
]


def stand(wheels: int = 2, held: bool = False, **options: object) -> bc.System:
    """Wheels on a stand, each with a resistance in proportion to its speed."""
    system = bc.System("stand", gravity=(0, 0, 0))
    throttle = system.parameter("throttle", 1.0)
    gear = system.parameter("gear", 2.0)
    body = system.body("body", mass=1000.0, inertia=(500.0, 1500.0, 1600.0))
    if held:
        system.fixed("motion", system.ground, body)
    else:
        system.planar("motion", system.ground, body, axis="y")
    hubs = []
    for k in range(wheels):
        at = (1.0 - 2.0 * (k // 2), 0.7 - 1.4 * (k % 2), 0.0)
        wheel = system.body(f"wheel {k}", mass=10.0, inertia=(1.0 + 0.5 * k,) * 3, at=at)
        hubs.append(system.revolute(f"hub {k}", body, wheel, at=at, axis="y"))
        c = system.parameter(f"resistance {k}", 5.0)
        system.joint_force(f"resistance of {k}", hubs[-1], lambda rate, c=c: -c * rate)
    system.power_train(
        "train",
        body,
        hubs,
        MAP,
        inertia=0.2,
        ratios=(3.5, 2.0, 1.2),
        final=4.0,
        throttle=throttle,
        gear=gear,
        **options,
    )
    return system


def test_a_power_train_is_an_engine_with_gears_and_an_open_differential() -> None:
    """Against bodies that a differential and a gear couple, with no slip in the clutch."""
    train = stand(held=True, slip=1e-3).simulate(
        1.0,
        initial={"train speed": 160.0, "hub 0": (0, 20.0), "hub 1": (0, 20.0)},
        output=200,
        tolerance=1e-9,
    )
    system = bc.System("coupled", gravity=(0, 0, 0))
    body = system.body("body", mass=1000.0, inertia=(500.0, 1500.0, 1600.0))
    system.fixed("motion", system.ground, body)
    joints = {}
    for name, J in (("engine", 0.2), ("cage", 1e-9), ("wheel 0", 1.0), ("wheel 1", 1.5)):
        turning = system.body(name, mass=10.0, inertia=(J,) * 3)
        joints[name] = system.revolute(f"axle of {name}", body, turning, axis="y", at=(0, 0, 0))
        if name.startswith("wheel"):
            system.joint_force(f"resistance of {name}", joints[name], lambda rate: -5.0 * rate)
    table = bc.linear_table([row[0] for row in MAP], [row[3] for row in MAP])
    system.joint_force("engine torque", joints["engine"], lambda rate: table(rate))
    system.gear("gears", joints["engine"], joints["cage"], ratio=8.0)
    system.differential("differential", joints["cage"], joints["wheel 0"], joints["wheel 1"])
    start = {"axle of engine": (0, 160.0), "axle of wheel 0": (0, 20.0), "axle of wheel 1": (0, 20.0)}
    exact = system.simulate(1.0, initial=start, output=200, tolerance=1e-9)
    for k in range(2):
        assert train[f"hub {k}.angle_rate"] == pytest.approx(exact[f"axle of wheel {k}.angle_rate"], rel=1e-5)
    assert train["train.hub_torque.left"] == pytest.approx(train["train.hub_torque.right"])
    # The clutch takes hold within the first interval of the ledger.
    assert np.ptp(train.ledger.residual[1:]) < 1e-8 * train.ledger.forces[-1]
    # The body takes the reaction of what drives its wheels.
    free = stand().simulate(0.2, initial={"train speed": 160.0}, output=5, tolerance=1e-9)
    assert free["train.hub_torque.left"][-1] > 100.0
    assert np.abs(free["angular_momentum.y"]).max() < 1e-7


def test_differentials_share_and_lock() -> None:
    def torques(kinds: tuple[str, ...], wheels: int = 2, **options: object) -> tuple[np.ndarray, np.ndarray]:
        slow = {f"resistance {k}": 40.0 for k in range(1, wheels)}
        system = stand(wheels, differentials=kinds, capacity=2000.0, **options)
        run = system.simulate(4.0, initial={"train speed": 150.0}, parameters=slow, output=4)
        speeds = np.array([run[f"hub {k}.angle_rate"][-1] for k in range(wheels)])
        return np.asarray(run["train.hub_torque"])[-1], speeds

    torque, speeds = torques(("open",))
    assert torque[0] == pytest.approx(torque[1])
    assert speeds[0] > 5.0 * speeds[1]
    torque, _ = torques(("limited_slip",), preload=50.0, locking=0.2)
    assert torque[1] - torque[0] == pytest.approx(50.0 + 0.2 * torque.sum(), rel=1e-3)
    _, speeds = torques(("locked",))
    assert speeds[0] == pytest.approx(speeds[1], rel=0.05)
    torque, _ = torques(("open", "open", "open"), 4, front=0.4)
    assert torque[:2].sum() / torque.sum() == pytest.approx(0.4)
    torque, speeds = torques(("open", "open", "locked"), 4)
    assert speeds[:2].mean() == pytest.approx(speeds[2:].mean(), rel=0.05)


def test_an_engine_idles_in_neutral_and_does_not_stall() -> None:
    system = stand()
    for gear in (0.0, 1.0):
        run = system.simulate(5.0, parameters={"throttle": 0.0, "gear": gear}, output=5)
        assert run["train speed"][-1] == pytest.approx(100.0, rel=0.01)
    back = system.simulate(1.0, parameters={"throttle": 0.5, "gear": -1.0}, output=5)
    assert back["hub 0.angle_rate"][-1] < -1.0
    assert system.equilibrium(parameters={"throttle": 0.0}).residual < 1e-8


def test_what_a_part_lacks_is_named() -> None:
    system = stand()
    body, one = system.bodies["body"], system.bodies["wheel 0"]
    with pytest.raises(ModelError, match="two or four hubs"):
        system.power_train("t", body, ["hub 0"], MAP, 0.2, (3.0,), throttle=1.0)
    with pytest.raises(ModelError, match="must rise"):
        system.power_train("t", body, ["hub 0", "hub 1"], MAP[::-1], 0.2, (3.0,), throttle=1.0)
    with pytest.raises(ModelError, match="differential of"):
        system.power_train(
            "t", body, ["hub 0", "hub 1"], MAP, 0.2, (3.0,), throttle=1.0, differentials=["torsen"]
        )
    with pytest.raises(ModelError, match="table 'bump'"):
        system.strut("s", body, one, bump=0.1)
    with pytest.raises(ModelError, match=r"begin at \(0, 0\)"):
        system.strut("s", body, one, bump=0.1, tables={"bump": [(0.0, 1.0), (0.1, 2.0)]})
    with pytest.raises(ModelError, match="ratio of"):
        system.steering("s", "hub 0", 0.1, ratio=0.0, stiffness=1.0)
    with pytest.raises(ModelError, match="give them on 'body'"):
        system.anti_roll_bar("b", body, [one, one], [one, one], 1.0)
