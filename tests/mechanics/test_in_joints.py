"""What acts in joints: friction by the reaction, clutches, limits and motors, against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bellcrank import Limits
from bellcrank.contact import Coulomb, LuGre
from bellcrank.errors import ModelError
from bellcrank.files import dumps, loads
from bellcrank.impacts.errors import ContactError
from bellcrank.integrate import SimulationError, Status
from bellcrank.mechanism.export import export_of
from bellcrank.model import System
from bellcrank.result.result import Result

G = 9.81


def slope(angle: float, friction: object) -> System:
    """A block on a guide down a slope: the guide carries its weight across."""
    system = System("slope", gravity=(G * math.sin(angle), 0.0, -G * math.cos(angle)))
    system.prismatic("guide", system.ground, system.body("block", 2.0, (0.1, 0.1, 0.1)), axis="x")
    system.joint_friction("rub", "guide", friction)
    return system


def test_a_block_slides_where_the_slope_is_steeper_than_friction() -> None:
    law = LuGre(0.2, stiffness=1e6)
    result = slope(0.3, law).simulate(1.0, tolerance=1e-9, output=4)
    assert result["rub.load"][0] == pytest.approx(2.0 * G * math.cos(0.3), rel=1e-9)
    assert result["guide.displacement_rate"][-1] == pytest.approx(
        G * (math.sin(0.3) - 0.2 * math.cos(0.3)), rel=1e-3
    )
    # A guide does not carry along its own direction.
    assert result["rub.effort"][-1] == pytest.approx(-0.2 * result["rub.load"][-1], rel=1e-6)


def test_a_block_stays_where_it_is_flatter() -> None:
    result = slope(0.1, 0.2).simulate(20.0, tolerance=1e-8, output=4)
    where = np.asarray(result["guide.displacement"])
    assert abs(where[-1] - where[1]) < 1e-9
    assert result["rub.effort"][-1] == pytest.approx(-2.0 * G * math.sin(0.1), rel=1e-6)


def test_friction_follows_the_reaction_of_a_turning_load() -> None:
    """A rotor with its mass m at e from the axis presses on its bearing with its inertia."""
    system = System("rotor", gravity=(0, 0, 0))
    rotor = system.body("rotor", 1.0, (0.1, 0.1, 0.1), center_of_mass=(0.2, 0, 0))
    system.revolute("pin", system.ground, rotor, at=(0, 0, 0))
    system.joint_friction("rub", "pin", 0.1, radius=0.05)
    result = system.simulate(3.0, initial={"pin": (0.0, 20.0)}, tolerance=1e-9, output=6)
    # With the force that slows the centre down, N = m e sqrt(W^4 + W'^2) where W' = -mu r N / I: W' = -k W^2.
    b = 0.1 * 0.05 * 0.2 / (0.1 + 0.04)
    k = b / math.sqrt(1.0 - b * b)
    assert np.asarray(result["pin.angle_rate"])[1:] == pytest.approx(
        20.0 / (1.0 + k * 20.0 * result.time[1:]), rel=2e-6
    )
    assert result["rub.load"][1:] == pytest.approx(np.linalg.norm(result["pin.force"], axis=1)[1:], rel=1e-9)


def test_a_fixed_explicit_step_too_long_for_the_load_names_the_force() -> None:
    """The load follows in 1e-12 s: no explicit step of the motion is stable, which showed as a speed of 6e51 m/s."""
    for integrator in ("runge_kutta4", "dop853", "milne_hamming"):
        with pytest.raises(
            SimulationError, match=r"'state rub load'.*fixed step is too long.*lag="
        ) as caught:
            slope(0.3, 0.2).simulate(0.1, integrator=integrator, step=1e-3)
        assert caught.value.status is Status.UNSTABLE
    # What chooses its method goes on with an implicit one; a load that follows as slowly as the step is stable.
    result = slope(0.3, LuGre(0.2, stiffness=1e6)).simulate(1.0, integrator="auto", step=1e-3, output=4)
    assert result.run.switches[-1] == (0.0, "radau")
    speed = G * (math.sin(0.3) - 0.2 * math.cos(0.3))
    assert result["guide.displacement_rate"][-1] == pytest.approx(speed, rel=1e-3)
    system = System("slope", gravity=(G * math.sin(0.3), 0.0, -G * math.cos(0.3)))
    system.prismatic("guide", system.ground, system.body("block", 2.0, (0.1, 0.1, 0.1)), axis="x")
    system.joint_friction("rub", "guide", LuGre(0.2, stiffness=1e3), lag=1e-3)
    fixed, chosen = (
        system.simulate(1.0, integrator="runge_kutta4", step=2e-4),
        system.simulate(1.0, tolerance=1e-9),
    )
    assert fixed["guide.displacement_rate"][-1] == pytest.approx(
        chosen["guide.displacement_rate"][-1], rel=1e-5
    )


def test_friction_in_a_closed_loop_takes_the_energy_that_it_says() -> None:
    system = System("slider crank", gravity=(0, -G, 0))
    crank = system.body("crank", 1.0, (0.01,) * 3, at=(0.05, 0, 0))
    rod = system.body("rod", 1.0, (0.02,) * 3, at=(0.25, 0, 0))
    slider = system.body("slider", 2.0, (0.01,) * 3, at=(0.4, 0, 0))
    system.revolute("main", system.ground, crank, at=(0, 0, 0))
    system.revolute("crank pin", crank, rod, at=(0.1, 0, 0))
    system.revolute("wrist pin", rod, slider, at=(0.4, 0, 0))
    system.prismatic("guide", system.ground, slider, axis="x")
    system.joint_friction("rub", "main", 0.1, radius=0.02)
    result = system.simulate(0.3, initial={"main": (0.3, 15.0)}, tolerance=1e-9, output=3000)
    lost = np.trapezoid(result["rub.power"], result.time)
    energy = np.asarray(result["energy.total"])
    assert energy[-1] - energy[0] == pytest.approx(lost, rel=1e-3)
    assert result["rub.load"] == pytest.approx(np.linalg.norm(result["main.force"], axis=1), rel=1e-8)


@pytest.mark.parametrize("grouped", [False, True])
def test_what_lands_on_a_cart_presses_on_its_rail(grouped: bool) -> None:
    """The friction of 3 kg slows 4 kg down, until 1 kg has landed after sqrt(2 h / g): then that of 4 kg does."""
    system, mu, h = System("cart", gravity=(0, 0, -G)), 0.2, 0.2
    cart, load = system.body("cart", 3.0, (0.1,) * 3), system.body("load", 1.0, (0.1,) * 3, at=(0, 0, 0.5))
    system.prismatic("rail", system.ground, cart, axis="x")
    system.prismatic("hoist", cart, load, axis="z", limits=None if grouped else (-h, None))
    system.joint_friction("rub", "rail", LuGre(mu, stiffness=1e5))
    if grouped:
        # What a joint joins does not collide in groups, so a light plate is welded between.
        table = system.body("table", 1e-9, (1e-9,) * 3)
        system.fixed("weld", cart, table, at=(0, 0, 0))
        ground, ball = table.plane(at=(0, 0, 0.2)), load.sphere(0.1)
        system.contacts_between(ground, ball, name="pile", restitution=0.0)
    runs = {"impacts": "stepping", "step": 5e-4}, {"tolerance": 1e-9}
    for more, miss in zip(runs[: 2 - grouped], (2e-3, 2e-6), strict=False):
        result = system.simulate(0.6, initial={"rail": (0.0, 3.0)}, output=6, **more)  # type: ignore[arg-type]
        landed = math.sqrt(2.0 * h / G)
        expected = [3.0 - mu * G * (0.75 * min(t, landed) + max(t - landed, 0.0)) for t in result.time]
        assert result["rail.displacement_rate"] == pytest.approx(expected, abs=miss)
        assert result["rub.load"][-1] == pytest.approx(4.0 * G, rel=1e-6)


def test_an_arm_swings_over_a_block_that_stands_by_itself() -> None:
    """Many contacts share the load, corrections of overlaps take no time: by steps it is as event by event."""
    system = System("block")
    block, arm = (
        system.body("block", 2.0, (0.1,) * 3, at=(0, 0, 0.2)),
        system.body("arm", 0.5, (0.01,) * 3, at=(0, 0, 0.6)),
    )
    system.free("air", system.ground, block)
    system.revolute("pin", block, arm, at=(0, 0, 0.4), axis="y")
    system.joint_friction("rub", "pin", 0.2, radius=0.02)
    system.contact("floor", system.ground.plane(), block.box(0.3, 0.2, 0.2), friction=0.6, restitution=0.0)
    start = {"pin": {"angle_rate": 0.5}}
    found = system.simulate(1.0, initial=start, output=4)
    assert found["rub.load"] == pytest.approx(np.linalg.norm(found["pin.force"], axis=1), rel=1e-6)
    steps = system.simulate(1.0, initial=start, output=4, impacts="stepping", step=5e-4)
    assert steps["pin.angle"] == pytest.approx(found["pin.angle"], abs=3e-3)
    assert steps["rub.load"][1:] == pytest.approx(found["rub.load"][1:], rel=3e-3)


def test_plane_curves_that_share_a_load_are_named() -> None:
    system = System("block", gravity=(0, -G, 0))
    block = system.body("block", 2.0, (0.1,) * 3, at=(0, 0.2, 0))
    arm = system.body("arm", 0.5, (0.01,) * 3, at=(0, 0.6, 0))
    system.planar("plane", system.ground, block, at=(0, 0.2, 0))
    system.revolute("pin", block, arm, at=(0, 0.4, 0))
    system.joint_friction("rub", "pin", 0.2, radius=0.02)
    for side, x in (("back", -0.3), ("front", 0.3)):
        foot = block.circle(0.1, at=(x, -0.1, 0))
        system.contact(side, system.ground.line(), foot, friction=0.6, restitution=0.0)
    with pytest.raises(ModelError, match=r"contacts 'back', 'front' share their load.*impacts='stepping'"):
        system.simulate(0.1)
    result = system.simulate(0.2, impacts="stepping", step=2e-4, output=2)
    assert result["rub.load"][-1] == pytest.approx(0.5 * G, rel=1e-4)


def test_a_clutch_slips_at_its_capacity_and_locks() -> None:
    """Equal discs at 3 and 0 rad/s under 2 N m: the slip ends at 0.75 s, at the common speed."""
    system = System("clutch", gravity=(0, 0, 0))
    first, second = (system.body(name, 1.0, (1.0,) * 3) for name in ("first", "second"))
    system.revolute("shaft", system.ground, first, at=(0, 0, 0))
    system.revolute("plates", first, second, at=(0, 0, 0))
    system.clutch("clutch", "plates", lambda t: 2.0 + 0.0 * t)
    result = system.simulate(2.0, initial={"shaft": (0, 3.0), "plates": (0, -3.0)}, tolerance=1e-9, output=20)
    slip = np.asarray(result["plates.angle_rate"])
    assert slip[5] == pytest.approx(-3.0 + 4.0 * 0.5, abs=1e-3)
    assert np.abs(slip[-3:]).max() < 1e-6
    assert result["shaft.angle_rate"][-1] == pytest.approx(1.5, abs=1e-9)


def test_a_brake_stops_a_wheel_in_a_run_by_steps() -> None:
    """Bristles of 3e5 / s follow at steps of 1 ms; a brake that locks faster than a step is named."""

    def wheel(capacity: float) -> System:
        system = System("wheel", gravity=(0.0, 0.0, -G))
        system.revolute("axle", system.ground, system.body("wheel", 2.0, (0.02,) * 3), at=(0, 0, 0), axis="y")
        system.clutch("brake", "axle", capacity)
        ball = system.body("ball", 1.0, (0.004,) * 3, at=(1.0, 0.0, 0.2))
        system.free("flight", system.ground, ball)
        system.contact("floor", system.ground.plane(), ball.sphere(0.1), restitution=0.5)
        return system

    def run(capacity: float) -> Result:
        return wheel(capacity).simulate(
            1.5, impacts="stepping", step=1e-3, initial={"axle": (0.0, 30.0)}, output=15
        )

    result = run(0.5)
    slipping = result.time < 1.2
    assert result["axle.angle_rate"][slipping] == pytest.approx(30.0 - 25.0 * result.time[slipping], abs=1e-6)
    # The bristles bend by 1e-4 rad before they slip.
    assert result["axle.angle"][-1] == pytest.approx(18.0, abs=3e-4)
    assert abs(result["axle.angle_rate"][-1]) < 1e-9
    with pytest.raises(ContactError, match=r"'brake bend'.*steps cannot follow: take step="):
        run(50.0)


def test_a_brake_holds_a_weight_until_it_is_opened() -> None:
    system = System("hoist")
    system.prismatic("lift", system.ground, system.body("load", 10.0, (0.1,) * 3), axis="z")
    system.clutch("brake", "lift", lambda t: np.where(t < 1.0, 150.0, 0.0))
    result = system.simulate(1.5, tolerance=1e-8, output=[0.0, 0.5, 0.9, 1.5])
    assert abs(result["lift.displacement"][2] - result["lift.displacement"][1]) < 1e-8
    assert result["lift.displacement_rate"][-1] == pytest.approx(-G * 0.5, rel=1e-3)


def sled(**stop: object) -> System:
    system = System("sled", gravity=(0, 0, 0))
    system.prismatic("rail", system.ground, system.body("sled", 2.0, (0.1,) * 3), axis="x")
    system.limits("stop", "rail", -0.5, 1.0, **stop)  # type: ignore[arg-type]
    return system


def test_stops_are_struck_with_restitution() -> None:
    result = sled(restitution=0.5).simulate(4.5, initial={"rail": (0.0, 1.0)}, output=9)
    assert np.asarray(result["rail.displacement_rate"])[[1, 4, 9]] == pytest.approx([1.0, -0.5, 0.25])
    assert result["rail.displacement"][9] == pytest.approx(-0.5 + 0.5 * 0.25)


def test_an_angle_is_stopped_at_both_ends_and_comes_to_rest_there() -> None:
    system = System("flap")
    flap = system.body("flap", 1.0, (0.01,) * 3, at=(0, 0, -1))
    system.revolute("pin", system.ground, flap, at=(0, 0, 0), axis="y")
    system.limits("stop", "pin", 0.1, 2.0, restitution=0.3)
    result = system.simulate(6.0, initial={"pin": (1.0, 0.0)}, output=30)
    angle = np.asarray(result["pin.angle"])
    assert angle.min() > 0.1 - 1e-9
    assert angle[-1] == pytest.approx(0.1, abs=1e-9)
    # At rest it bears the weight on its arm, and is as far from the other one as they are apart.
    assert result["stop low.torque"][-1] == pytest.approx([0.0, G * math.sin(0.1), 0.0], abs=1e-9)
    assert result["stop high.angle"][-1] == pytest.approx(1.9, abs=1e-9)
    assert result["pin.force"][-1] == pytest.approx([0.0, 0.0, G], abs=1e-9)


def test_elastic_stops_give_back_what_they_took() -> None:
    result = sled(stiffness=1e5).simulate(4.0, initial={"rail": (0.0, 1.0)}, tolerance=1e-10, output=400)
    assert np.ptp(result["energy.total"]) < 1e-7
    stay = math.pi * math.sqrt(2.0 / 1e5)
    assert result["rail.displacement"][200] == pytest.approx(1.0 - (2.0 - 1.0 - stay), abs=1e-6)


def test_damped_stops_never_pull() -> None:
    result = sled(stiffness=1e4, damping=500.0).simulate(
        3.0, initial={"rail": (0.0, 1.0)}, tolerance=1e-9, output=3000
    )
    effort, x = np.asarray(result["stop.effort"]), np.asarray(result["rail.displacement"])
    assert effort[x > 1.0].max() <= 0.0
    assert effort[(x > -0.5) & (x < 1.0)].max() == 0.0
    assert np.abs(result["rail.displacement_rate"])[-1] < 0.2


def flight(time: float, low: float, high: float, x: float, v: float, e: float) -> tuple[float, float]:
    """Place and speed of what flies freely between two stops, bounce by bounce."""
    while True:
        stop = high if v > 0.0 else low
        arrival = (stop - x) / v
        if arrival > time:
            return x + v * time, v
        x, v, time = stop, -e * v, time - arrival


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("kind", ["revolute", "universal", "cylindrical", "planar", "screw"])
def test_every_angle_has_limits_in_the_tree_and_where_it_closes_a_loop(kind: str, cut: bool) -> None:
    """A rotor with equal moments turns freely about each axis, so bounces have a closed form."""
    system = System("rotor", gravity=(0, 0, 0))
    rotor = system.body("rotor", 1.0, (0.2,) * 3)
    stop = Limits(-2.5, 2.8, restitution=0.8)
    more = {"pitch": 0.0 + 1e-9} if kind == "screw" else {}
    if kind in ("revolute", "screw"):
        names = {"angle": stop}
    else:
        others = {"cylindrical": {"displacement": (-1.0, 1.0)}, "planar": {"x": (-1.0, 1.0)}}
        names = {"angle": stop, **others[kind]} if kind in others else {"angle_a": stop}
    axes = {"axis_a": "z", "axis_b": "x"} if kind == "universal" else {"axis": "z"}
    getattr(system, kind)("pin", system.ground, rotor, at=(0, 0, 0), limits=names, cut=cut, **axes, **more)
    first = next(iter(names))
    if cut:
        system.free("air", system.ground, rotor)
        result = system.simulate(3.0, initial={"air": {"angular_velocity": (0, 0, 4.0)}}, output=30)
    else:
        result = system.simulate(3.0, initial={"pin": {first: (0.0, 4.0)}}, output=30)
    expected = [flight(t, -2.5, 2.8, 0.0, 4.0, 0.8)[0] for t in result.time]
    assert result[f"pin.{first}"] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("cut", [False, True])
def test_the_second_angle_of_a_universal_joint_has_its_own_sign(cut: bool) -> None:
    system = System("cardan", gravity=(0, 0, 0))
    rotor = system.body("rotor", 1.0, (0.2,) * 3)
    system.universal("pin", system.ground, rotor, (0, 0, 0), "z", "x", cut, limits={"angle_b": (-0.3, 1.1)})
    if cut:
        system.free("air", system.ground, rotor)
    for rate, end in ((1.0, 1.1), (-1.0, -0.3)):
        start = {"air": {"angular_velocity": (rate, 0, 0)}} if cut else {"pin": {"angle_b": (0.0, rate)}}
        result = system.simulate(2.0, initial=start, output=4)
        assert result["pin.angle_b"][-1] == pytest.approx(end, abs=1e-9)


def test_stops_of_a_winch_are_several_turns_apart() -> None:
    system = System("winch", gravity=(0, 0, 0))
    drum = system.body("drum", 1.0, (0.2,) * 3)
    system.revolute("pin", system.ground, drum, at=(0, 0, 0), limits=Limits(None, 20.0, restitution=0.5))
    result = system.simulate(6.0, initial={"pin": (0.0, 5.0)}, output=[0.0, 3.9, 6.0])
    assert result["pin.angle"] == pytest.approx([0.0, 19.5, 20.0 - 2.5 * 2.0])
    steps = system.simulate(6.0, initial={"pin": (0.0, 5.0)}, output=6, impacts="stepping", step=1e-3)
    assert steps["pin.angle"][-1] == pytest.approx(15.0, abs=5e-3)
    assert steps["pin.angle_rate"][-1] == pytest.approx(-2.5, abs=1e-9)


def test_an_angle_counted_over_turns_stays_in_the_tree_of_a_loop() -> None:
    """Four bars whose crank, described last, would be cut but for its stop; it turns twice until it is there."""

    def four_bars(limits: Limits | None) -> System:
        system = System("crank", gravity=(0, 0, 0))
        crank = system.body("crank", 1.0, (0.02,) * 3, at=(0.0, 0.05, 0.0))
        rod = system.body("rod", 0.1, (1e-3,) * 3, at=(0.2, 0.1, 0.0))
        rocker = system.body("rocker", 0.1, (1e-3,) * 3, at=(0.4, 0.05, 0.0))
        system.revolute("rocking", system.ground, rocker, at=(0.4, -0.2, 0))
        system.revolute("wrist", rocker, rod, at=(0.4, 0.1, 0))
        system.revolute("knee", rod, crank, at=(0.0, 0.1, 0), limits=limits)
        system.revolute("main", crank, system.ground, at=(0, 0, 0))
        return system

    def cuts(system: System) -> set[str]:
        return {joint.name for joint in system.mechanism().tree.cuts}

    assert cuts(four_bars(None)) == {"knee"}
    system = four_bars(Limits(None, 14.0))
    assert "knee" not in cuts(system)
    result = system.simulate(4.0, initial={"main": (0.0, -5.0)}, output=40, impacts="stepping", step=2e-3)
    assert result["knee.angle"][-1] == pytest.approx(14.0, abs=1e-6)


def test_the_stop_of_a_planar_joint_is_a_couple() -> None:
    """A plate that drifts and turns about its centre of mass: a stop of its angle leaves the centre alone."""
    system = System("plate", gravity=(0, 0, 0))
    plate = system.body("plate", 2.0, (0.1,) * 3, center_of_mass=(0.3, 0, 0))
    system.planar("table", system.ground, plate, limits={"angle": Limits(None, 1.0, restitution=0.5)})
    start = {"table": {"x_rate": 0.2, "y_rate": -0.3 * 2.0, "angle_rate": 2.0}}
    for more, miss in (({"tolerance": 1e-10}, 1e-9), ({"impacts": "stepping", "step": 1e-3}, 1e-6)):
        result = system.simulate(1.0, initial=start, output=10, **more)  # type: ignore[arg-type]
        assert result["plate.center_position"][-1] == pytest.approx([0.3 + 0.2, 0.0, 0.0], abs=miss)
        assert result["table.angle_rate"][-1] == pytest.approx(-1.0)


def test_runs_by_steps_stop_at_limits() -> None:
    system = System("flap")
    flap = system.body("flap", 1.0, (0.01,) * 3, at=(0, 0, -1))
    system.revolute("pin", system.ground, flap, at=(0, 0, 0), axis="y", limits=(-2.0, 2.0))
    result = system.simulate(3.0, initial={"pin": (1.5, 6.0)}, output=30, impacts="stepping", step=1e-3)
    angle = np.asarray(result["pin.angle"])
    assert angle.max() == pytest.approx(2.0, abs=2e-3)
    assert np.ptp(angle[8:]) > 1.0


@pytest.mark.parametrize("how", [{}, {"impacts": "stepping", "step": 1e-3}])
def test_a_stop_of_an_angle_goes_with_plane_curves(how: dict[str, object]) -> None:
    """A disc that falls on a line after its turning was stopped comes to lie there, at the stop."""
    system = System("disc", gravity=(0, -G, 0))
    disc = system.body("disc", 1.0, (0.1,) * 3, at=(0, 0.5, 0))
    system.planar("plane", system.ground, disc, limits={"angle": (-0.5, None)})
    system.contact("floor", system.ground.line(), disc.circle(0.2), restitution=0.0, friction=0.5)
    result = system.simulate(1.0, initial={"plane": {"angle_rate": -3.0}}, output=4, **how)  # type: ignore[arg-type]
    assert result["plane.angle"][-1] == pytest.approx(-0.5, abs=1e-6)
    assert result["disc.position"][-1] == pytest.approx([0.0, 0.2, 0.0], abs=1e-6)


def test_limits_of_joints_are_in_model_files() -> None:
    text = """
bellcrank: 1
name: sleeve
gravity: [0, 0, 0]
bodies: {sleeve: {mass: 1, inertia: [1, 1, 1]}, ram: {mass: 1, inertia: [1, 1, 1]}}
joints:
  shaft: {kind: cylindrical, a: ground, b: sleeve, at: [0, 0, 0],
          limits: {angle: [-1, null], displacement: {low: 0, high: 0.5, stiffness: 1e4, damping: 3}}}
  guide: {kind: prismatic, a: ground, b: ram, limits: [-0.1, 0.2]}
"""
    system = loads(text)
    assert set(system.contacts) == {"shaft angle limits low", "guide limits low", "guide limits high"}
    again = loads(dumps(system))
    assert list(again.contacts) == list(system.contacts)
    elastic = again.forces["shaft displacement limits"]
    assert (elastic.low, elastic.high, elastic.stiffness, elastic.damping) == (0.0, 0.5, 1e4, 3.0)  # type: ignore[union-attr]
    result = again.simulate(1.0, initial={"guide": (0.0, 1.0), "shaft": {"angle_rate": -2.0}}, output=4)
    assert result["guide.displacement"][-1] == pytest.approx(0.2)
    assert result["shaft.angle"][-1] == pytest.approx(-1.0)


def test_a_motor_runs_up_by_its_curve() -> None:
    """A straight curve from T to zero at W: the speed nears W as exp(-T t / (W I))."""
    system = System("motor", gravity=(0, 0, 0))
    system.revolute("shaft", system.ground, system.body("rotor", 1.0, (0.5,) * 3), at=(0, 0, 0))
    system.motor("motor", "shaft", [(0.0, 10.0), (50.0, 5.0), (100.0, 0.0)], throttle=lambda t: 2.0 + 0.0 * t)
    result = system.simulate(3.0, tolerance=1e-10, output=6)
    assert result["shaft.angle_rate"] == pytest.approx(100.0 * (1.0 - np.exp(-0.4 * result.time)), rel=1e-8)


def test_mistakes_are_named() -> None:
    system = sled(restitution=0.5)
    with pytest.raises(ModelError, match=r"force 'f' sticks, which takes bristles"):
        system.joint_friction("f", "rail", Coulomb(0.2))
    with pytest.raises(
        ModelError, match=r"limits 'l' are struck with restitution= or pressed with stiffness="
    ):
        system.limits("l", "rail", 0.0, 1.0, restitution=0.5, stiffness=1e5)
    with pytest.raises(
        ModelError, match=r"displacement of joint 'rail' starts 0.5 m beyond its limit 'stop high'"
    ):
        system.simulate(1.0, initial={"rail": 1.5})
    with pytest.raises(ModelError, match=r"'stop low' strikes, .* give the limits stiffness="):
        export_of(sled(restitution=0.5).mechanism())
    other = System("turning")
    body = other.body("b", 1.0, (1, 1, 1))
    with pytest.raises(ModelError, match=r"limits of revolute joint 'pin' must be \(low, high\)"):
        other.revolute("pin", other.ground, body, at=(0, 0, 0), limits=2.0)
    with pytest.raises(ModelError, match=r"spherical joint 'hip' has several angles; name one: turn, tilt"):
        other.spherical("hip", other.ground, body, at=(0, 0, 0), limits=(0.1, 0.2))
    with pytest.raises(ModelError, match=r"the angle 'tilt' lies between 0 and pi, and so do its limits"):
        other.spherical("hip", other.ground, body, at=(0, 0, 0), limits={"tilt": (-0.5, 0.5)})
    assert not other.joints
    assert not other.contacts


@pytest.mark.parametrize("angle", ["turn", "tilt"])
def test_a_ball_joint_has_limits_of_its_whole_rotation_and_of_its_cone(angle: str) -> None:
    """About an axis across z both angles are that of the rotation, so bounces have a closed form."""

    def bounced(limit: Limits, cut: bool, **how: object) -> Result:
        system = System("ball", gravity=(0, 0, 0))
        ball = system.body("ball", 1.0, (0.3,) * 3)
        system.spherical("hip", system.ground, ball, at=(0, 0, 0), cut=cut, limits={angle: limit})
        if cut:
            system.free("air", system.ground, ball)
        start = {"air" if cut else "hip": {"angular_velocity": (0.6, 0.8, 0.0)}}
        return system.simulate(1.1, initial=start, output=11, **how)  # type: ignore[arg-type]

    for cut in (False, True):
        for how, miss in (({"tolerance": 1e-9}, 1e-8), ({"impacts": "stepping", "step": 1e-3}, 1e-3)):
            result = bounced(Limits(None, 0.8, restitution=0.5), cut, **how)
            expected = [flight(t, -9.0, 0.8, 0.0, 1.0, 0.5)[0] for t in result.time]
            assert result[f"hip.{angle}"] == pytest.approx(expected, abs=miss)
    elastic = bounced(Limits(None, 0.8, stiffness=1e4), False, tolerance=1e-10)
    assert np.ptp(elastic["energy.total"]) < 1e-9
    stay = math.pi * math.sqrt(0.3 / 1e4)
    assert elastic[f"hip.{angle}"][-1] == pytest.approx(0.8 - (1.1 - 0.8 - stay), abs=1e-8)
