"""Analyses with contacts, first-order states and held coordinates, against closed forms and published values."""

from __future__ import annotations

import math

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.analyses.equilibrium import NoEquilibrium

G = 9.81


def ball(height: float = 0.1, friction: float = 0.5, slope: float = 0.0) -> bc.System:
    """A homogeneous ball of 1 kg and 0.1 m on a plane that falls towards x."""
    system = bc.System("ball", gravity=(0, 0, -G))
    normal = (math.sin(slope), 0.0, math.cos(slope))
    body = system.body("ball", mass=1.0, inertia=(0.004,) * 3, at=[height * x for x in normal])
    system.free("flight", system.ground, body)
    plane = system.ground.plane(normal=normal)
    system.contact("floor", plane, body.sphere(0.1), friction=friction, restitution=0.5)
    return system


@pytest.mark.parametrize(("height", "friction"), [(0.1, 0.0), (0.1, 0.5), (0.5, 0.0), (0.5, 0.5)])
def test_a_ball_rests_on_a_plane(height: float, friction: float) -> None:
    found = ball(height, friction).equilibrium()
    assert found["ball.position"] == pytest.approx([0.0, 0.0, 0.1], abs=1e-12)
    assert found["floor.force"] == pytest.approx([0.0, 0.0, G], abs=1e-9)
    assert found.stable is None
    assert {name.split("_")[0] for name in found.neutral} == {"flight.rotation", "flight.translation"}


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_a_ball_on_a_slope_rolls_away_unless_it_is_held(friction: float) -> None:
    slope = 0.3
    system = ball(friction=friction, slope=slope)
    with pytest.raises(NoEquilibrium, match="unbalanced"):
        system.equilibrium()
    if friction == 0.0:
        found = system.equilibrium(hold=["flight.x"], initial={"flight": {"z": 0.3}})
        assert found["ball.position.x"] == pytest.approx(0.1 * math.sin(slope), abs=1e-12)
        assert found.held["flight.x"] == pytest.approx(-G * math.tan(slope), rel=1e-9)
        assert found.stable


def block(friction: float, slope: float) -> bc.System:
    """A block on two feet on a slope, in the plane."""
    system = bc.System("block", gravity=(G * math.sin(slope), -G * math.cos(slope), 0))
    body = system.body("block", mass=2.0, inertia=(0.1,) * 3, at=(0, 0.2, 0))
    system.planar("plane", system.ground, body, at=(0, 0.2, 0), axis="z")
    for side, x in (("back", -0.3), ("front", 0.3)):
        foot = body.circle(0.1, at=(x, -0.1, 0))
        system.contact(side, system.ground.line(), foot, friction=friction, restitution=0.0)
    return system


def test_a_block_sticks_on_a_slope_within_its_cone() -> None:
    slope = 0.4
    found = block(0.5, slope).equilibrium()
    feet = [np.asarray(found[f"{side}.force"]) for side in ("back", "front")]
    assert sum(feet) == pytest.approx([-2 * G * math.sin(slope), 2 * G * math.cos(slope), 0.0], abs=1e-9)
    # The moment of friction about the centre moves load to the front foot.
    lever = 0.2 / 0.3 * G * math.sin(slope)
    assert feet[1][1] - feet[0][1] == pytest.approx(2 * lever, rel=1e-9)
    assert found.stable is not False
    with pytest.raises(NoEquilibrium):
        block(0.4, slope).equilibrium()


def test_an_egg_rolls_onto_its_side() -> None:
    system = bc.System("egg", gravity=(0, 0, -G))
    body = system.body("egg", mass=0.06, inertia=(3e-5, 3e-5, 2e-5), at=(0, 0, 0.05))
    system.free("flight", system.ground, body)
    system.contact("table", system.ground.plane(), body.ellipsoid(0.02, 0.02, 0.03), friction=0.5)
    tilted = (math.cos(0.3), math.sin(0.3), 0.0, 0.0)
    found = system.equilibrium(initial={"flight": {"quaternion": tilted}})
    assert found["egg.position.z"] == pytest.approx(0.02, abs=1e-9)
    # Rocking on a curvature of radius a^2/c at the side: (J + m b^2) w^2 = m g (a^2/b - b), a = 0.03, b = 0.02.
    rocking = math.sqrt(0.06 * G * (0.03**2 / 0.02 - 0.02) / (3e-5 + 0.06 * 0.02**2))
    assert found.linear.frequencies == pytest.approx([rocking / (2 * math.pi)], rel=1e-6)


def test_a_ball_on_a_spring_rolls() -> None:
    """m (1 + 2/5) x-ddot = -k x, and friction carries 2/7 of the spring."""
    system, smooth = ball(), ball(friction=0.0)
    for each in (system, smooth):
        frame, stiffness = each.ground.frame((0, 0, 0.1)), (100.0, 100.0, 0, 0, 0, 0)
        each.bushing("spring", frame, each.bodies["ball"].origin, stiffness, (0.0,) * 6)
    linear = system.linearize(outputs=["ball.acceleration.x", "floor.force.x"])
    assert 2 * math.pi * linear.frequencies == pytest.approx([math.sqrt(100 / 1.4)] * 2)
    assert (linear.moves, len(linear.states)) == (5, 8)
    slope = dict(zip(linear.states, linear.C.T, strict=True))["flight.translation_x"]
    assert slope == pytest.approx([-100 / 1.4, 100 * 2 / 7])
    assert 2 * math.pi * smooth.linearize().frequencies == pytest.approx([10.0, 10.0])


def bicycle(speed: float, thin: float, rolling: str = "") -> bc.System:
    """The benchmark bicycle of Meijaard et al., with z up; its wheels are discs of half thickness `thin`.

    rolling: The wheel that a constraint holds instead of a contact.
    """
    system = bc.System("bicycle", gravity=(0, 0, -G))
    frame = system.body("frame", 85.0, ((9.2, 0, -2.4), (0, 11, 0), (-2.4, 0, 2.8)), at=(0.3, 0, 0.9))
    fork_inertia = ((0.05892, 0, 0.00756), (0, 0.06, 0), (0.00756, 0, 0.00708))
    fork = system.body("fork", 4.0, fork_inertia, at=(0.9, 0, 0.7))
    rear = system.body("rear", 2.0, (0.0603, 0.12, 0.0603), at=(0, 0, 0.3))
    front = system.body("front", 3.0, (0.1405, 0.28, 0.1405), at=(1.02, 0, 0.35))
    system.free("ride", system.ground, frame)
    system.revolute("rear axle", frame, rear, at=(0, 0, 0.3), axis="y")
    tilt = math.pi / 10
    system.revolute("head", frame, fork, at=(1.1, 0, 0), axis=(math.sin(tilt), 0, -math.cos(tilt)))
    system.revolute("front axle", fork, front, at=(1.02, 0, 0.35), axis="y")
    for wheel, r in ((rear, 0.3), (front, 0.35)):
        if wheel.name == rolling:
            system.rolling(f"{wheel.name} road", system.ground, wheel, r, axis="y")
            continue
        rim = wheel.ellipsoid(r, thin, r)
        system.contact(f"{wheel.name} road", system.ground.plane(), rim, friction=2.0, restitution=0.0)
        system.initial(f"{wheel.name} axle", {"angle_rate": speed / r})
    system.initial("ride", {"velocity": (speed, 0, 0)})
    return system


@pytest.mark.parametrize("rolling", ["", "rear", "front"])
def test_the_benchmark_bicycle(rolling: str) -> None:
    """Meijaard, Papadopoulos, Ruina, Schwab (2007), table 2, v = 5 m/s: weave, capsize and castering.

    Discs of half thickness e differ from knife edges by e^2: two of them extrapolate.
    """
    published = [-0.32286642900409, -0.77534188219585, -0.77534188219585, -14.07838969279822]
    found = []
    for thin in (2e-3, 1e-3):
        linear = bicycle(5.0, thin, rolling).linearize()
        found.append(np.sort(linear.eigenvalues[np.abs(linear.eigenvalues) > 1e-3].real)[::-1])
        # Rolling: seven moves, but three speeds.
        assert (linear.moves, len(linear.states)) == (7, 10)
    assert found[1] == pytest.approx(published, abs=1e-4)
    assert (4 * found[1] - found[0]) / 3 == pytest.approx(published, abs=1e-6)


def servo(rate: str) -> bc.System:
    system = bc.System("servo", gravity=(0, 0, -G))
    arm = system.body("arm", mass=1.0, inertia=(0.1,) * 3, at=(0.5, 0, 0))
    system.revolute("pin", system.ground, arm, at=(0, 0, 0), axis="y")
    lag = {"lag": lambda m: 3.0 * (0.2 - m["pin.angle"]) - m["s"], "integral": lambda m: 0.2 - m["pin.angle"]}
    state = system.state("s", lag[rate])
    system.joint_force("motor", "pin", lambda coordinate, rate, t: 10 * state - 2 * rate)
    return system


@pytest.mark.parametrize("rate", ["lag", "integral"])
def test_states_come_to_rest(rate: str) -> None:
    found = servo(rate).equilibrium()
    angle, state = found["pin.angle"], found["s"]
    # Gravity turns the arm about y by +m g l cos(angle).
    assert 10 * state + 0.5 * G * math.cos(angle) == pytest.approx(0.0, abs=1e-9)
    assert state == pytest.approx(3.0 * (0.2 - angle)) if rate == "lag" else angle == pytest.approx(0.2)


def test_inverse_dynamics_follows_states_of_a_run() -> None:
    system = servo("lag")
    run = system.simulate(0.5, output=5, tolerance=1e-10)
    assert np.asarray(system.inverse_dynamics(run)["pin.angle"]) == pytest.approx(np.zeros(6), abs=1e-9)


def test_contacts_that_stand_in_the_way_are_named() -> None:
    system = ball(0.5)
    push = system.parameter("push", 1.0)
    system.applied_force("wind", system.bodies["ball"].origin, lambda t: (push, 0.0, 0.0))
    near = system.sensitivity(0.1, outputs=["ball.position.x"])
    assert near.end["ball.position.x", "push"] == pytest.approx(0.005)
    with pytest.raises(bc.ModelError, match=r"'floor' strikes at t = 0.28"):
        system.sensitivity(0.5, outputs=["ball.position.x"])
    with pytest.raises(bc.ModelError, match="'floor' touches at the start"):
        system.sensitivity(0.1, outputs=["ball.position.x"], initial={"flight": {"z": 0.1}})
    with pytest.raises(bc.ModelError, match="'floor' touches at t"):
        system.inverse_dynamics(system.simulate(0.1, output=2, initial={"flight": {"z": 0.1}}))
    with pytest.raises(bc.ModelError, match="'floor' strikes in this state"):
        system.linearize(initial={"flight": {"z": (0.1, -1.0)}})
    lift = bc.System("lift")
    load = lift.body("load", mass=1.0, inertia=(0.004,) * 3, at=(0, 0, 0.5))
    lift.prismatic("rail", lift.ground, load, axis="z")
    lift.driver("rail", lambda t: -t)
    lift.contact("floor", lift.ground.plane(), load.sphere(0.1))
    with pytest.raises(bc.ModelError, match=r"'floor' touches at t = 0\.4"):
        lift.kinematics(1.0)


def test_groups_that_collide_are_named() -> None:
    system = bc.System("heap", gravity=(0, 0, -G))
    body = system.body("ball", mass=1.0, inertia=(0.004,) * 3, at=(0, 0, 0.1))
    system.free("flight", system.ground, body)
    system.contacts_between(system.ground.plane(), body.sphere(0.1), name="pile", restitution=0.0)
    for analysis in (system.equilibrium, system.linearize):
        with pytest.raises(bc.ModelError, match="pile"):
            analysis()


def test_what_can_be_held() -> None:
    with pytest.raises(bc.ModelError, match=r"flight\.x"):
        ball().equilibrium(hold=["flight.xx"])
    with pytest.raises(bc.ModelError, match="list of coordinates"):
        ball().equilibrium(hold="flight.x")


def test_friction_by_reaction_feels_what_a_contact_presses_with() -> None:
    """A cart on which a mass lies at a stop: its bristles have the stiffness of the whole weight, and their load
    follows what presses on the mass."""
    system = bc.System("cart", gravity=(0, 0, -G))
    push = system.parameter("push", 0.0, "N")
    cart, load = system.body("cart", 3.0, (0.1,) * 3), system.body("load", 1.0, (0.1,) * 3, at=(0, 0, 0.5))
    system.prismatic("rail", system.ground, cart, axis="x")
    system.prismatic("hoist", cart, load, axis="z", limits=(-0.2, None))
    system.applied_force("press", load, lambda t: (0.0, 0.0, -push))
    system.joint_friction("rub", "rail", bc.contact.LuGre(0.2, stiffness=1e5), lag=1e-3)
    found = system.equilibrium()
    assert found["rub.load"] == pytest.approx(4.0 * G, rel=1e-9)
    linear = system.linearize(found, inputs=["push"])
    names = linear.states
    row, bend = names.index("rail.displacement_rate"), names.index("rub bend")
    assert linear.A[row, bend] == pytest.approx(-1e5 * 4.0 * G / 4.0, rel=1e-9)
    assert linear.B[names.index("rub load"), 0] == pytest.approx(1.0 / 1e-3, rel=1e-9)
