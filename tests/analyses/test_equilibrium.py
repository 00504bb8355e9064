"""Equilibria against closed forms and the reference car."""

from __future__ import annotations

import json
import math
from importlib.resources import files

import numpy as np
import pytest

from analyses.mechanisms import four_bar, g, governor, hanging_chain, pendulum
from bellcrank.analyses.equilibrium import NoEquilibrium, equilibrium
from bellcrank.analyses.relaxation import relaxed
from bellcrank.analyses.statics import Statics
from bellcrank.model import System
from bellcrank.verify import full_car

# fullcar_reference.json, "static": from absolute coordinates with 117 multipliers.
TYRES = {"FL": 3814.84670582, "FR": 3659.52703696, "RL": 3289.95671004, "RR": 3187.45154718}
CHASSIS = (0.0, 0.015, 0.553983068729)
QUATERNION = (0.999997218104, -0.00235766230514, 7.21965974453e-05, 1.70215669881e-07)
STRUT_TOP_FORCE = (153.543834328, 1044.27078159, -3490.18541016)
UNDAMPED = (
    *(1.13616093112, 1.29794798215, 1.41213821121, 6.74294536307),
    *(12.6293224137, 12.6502663096, 13.051399306, 13.0621727972),
)
DAMPED = (
    *(-348.085086132, -321.825139136, -286.378915768, -278.050698548, -27.5831435935),
    *(-26.0601400168 + 76.5613125107j, -25.6556385158 + 77.2435775895j, -18.8816198397 + 76.344050332j),
    -2.05367184778 + 6.70921220554j,
)


def without_damping() -> System:
    data = json.loads(files("bellcrank.verify").joinpath("data/fullcar.json").read_text(encoding="utf-8"))
    for spring in data["springs"]:
        spring["damping"] = 0.0
    for tyre in data["tyres"]:
        tyre.update(damping=0.0, c_long=0.0, c_lat=0.0)
    data["rack_actuator"]["damping"] = 0.0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(full_car, "full_car_data", lambda: data)
        return full_car.full_car_system()


@pytest.fixture(scope="module")
def car():
    return full_car.full_car_system().equilibrium()


def test_car_stands_on_its_tyres(car) -> None:
    for wheel, load in TYRES.items():
        assert car[f"{wheel}_tyre.load"] == pytest.approx(load, abs=1e-7)
    assert car["chassis.position"] == pytest.approx(CHASSIS, abs=1e-11)
    assert car.residual < 1e-13
    assert not car.relaxed


def test_car_keeps_place_and_heading(car) -> None:
    R = car["chassis.rotation"]
    assert math.atan2(R[1, 0], R[0, 0]) == pytest.approx(0.0, abs=1e-14)
    w, x, y, z = QUATERNION
    assert R[2, 1] == pytest.approx(2 * (y * z + w * x), abs=1e-11)
    assert math.degrees(math.atan2(R[2, 1], R[2, 2])) == pytest.approx(-0.2702, abs=1e-4)


def test_car_is_stable_and_says_what_is_neutral(car) -> None:
    assert car.stable is True
    assert set(car.neutral) == {
        "ground to chassis.rotation_z",
        "ground to chassis.translation_x",
        "ground to chassis.translation_y",
        *(f"{wheel}_knuckle to {wheel}_wheel.angle" for wheel in TYRES),
    }


def test_car_reactions_balance_the_weight(car) -> None:
    assert sum(car[f"{w}_tyre.force.z"] for w in TYRES) == pytest.approx(13951.782, abs=1e-6)
    sizes = [np.linalg.norm(car[f"{j}.force"]) for j in car.result.mechanism.system.joints if "strut to" in j]
    assert min(abs(s - np.linalg.norm(STRUT_TOP_FORCE)) for s in sizes) < 1e-6


def test_car_damped_eigenvalues(car) -> None:
    for value in DAMPED:
        assert np.abs(car.eigenvalues - value).min() < 1e-7


def test_car_undamped_modes() -> None:
    linear = without_damping().equilibrium().linear
    assert linear.frequencies == pytest.approx(UNDAMPED, abs=1e-8)
    assert linear.damping_ratios == pytest.approx(0.0, abs=1e-9)
    steering = linear.modes[3].shape
    assert abs(steering["rack guide.displacement"]) > 0.3


@pytest.mark.parametrize(("height", "roll"), [(0.2, 0.4), (0.8, -0.3)])
def test_car_from_a_bad_start(height: float, roll: float) -> None:
    quaternion = (math.cos(roll / 2), math.sin(roll / 2), 0.0, 0.0)
    start = {"ground to chassis": {"position": (2.0, 1.0, height), "quaternion": quaternion}}
    found = full_car.full_car_system().equilibrium(initial=start)
    assert found["FL_tyre.load"] == pytest.approx(TYRES["FL"], abs=1e-6)
    assert found["chassis.position"][:2] == pytest.approx((2.0, 1.0), abs=1e-9)


@pytest.mark.parametrize("angle", [0.1, 1.6, 3.0, -3.1])
def test_pendulum_settles_hanging(angle: float) -> None:
    found = pendulum().equilibrium(initial={"pin": angle})
    assert math.remainder(found["pin.angle"], 2 * math.pi) == pytest.approx(0.0, abs=1e-12)
    assert found.stable is True
    assert found["pin.force"] == pytest.approx((0.0, 2.0 * g, 0.0), abs=1e-10)


def test_nearest_equilibrium_may_be_unstable() -> None:
    found = pendulum().equilibrium(initial={"pin": 3.0}, nearest=True)
    assert found["pin.angle"] == pytest.approx(math.pi, abs=1e-12)
    assert found.stable is False
    assert "unstable" in repr(found)


def test_chain_hangs_as_rods_in_balance() -> None:
    """tan(phi_k) = w (k - (n - 1) / 2) / H: each rod takes the mean of the pulls at its ends."""
    n, span, length = 20, 1.0, 1.6
    found = hanging_chain(n, span, length).equilibrium()
    H = -found["pin 0.force.x"]
    middle = np.arange(n) - (n - 1) / 2
    phi = np.arctan(g / n * middle / H)
    assert length / n * np.cos(phi).sum() == pytest.approx(span, abs=1e-12)
    depth = length / n * np.cumsum(np.sin(phi))[n // 2 - 1]
    assert found["link 9.position.y"] - 0.5 * length / n * abs(math.sin(phi[9])) == pytest.approx(
        depth, abs=1e-12
    )
    assert found["pin 0.force.y"] == pytest.approx(g / 2, abs=1e-10)
    assert found.stable is True


def test_dynamic_relaxation_alone_settles_the_chain() -> None:
    mechanism = hanging_chain(8, 1.0, 1.6).mechanism()
    statics = Statics(mechanism, 0.0)
    scale = statics.weight * statics.length
    q = relaxed(statics, mechanism.start.q, scale)
    assert np.abs(statics.forces(q)).max() < 1e-5 * scale
    exact = mechanism.equilibrium().state.q
    assert q == pytest.approx(exact, abs=1e-3)


def test_governor_lifts_its_balls() -> None:
    """cos(phi) = g / (omega^2 l); small swings at omega sin(phi)."""
    omega, length = 8.0, 0.3
    found = governor(length, speed=omega).equilibrium(
        drivers="moving", initial={"left hinge": 0.3, "right hinge": 0.2}
    )
    phi = math.acos(g / (omega**2 * length))
    assert found["left hinge.angle"] == pytest.approx(phi, abs=1e-12)
    assert found["right hinge.angle"] == pytest.approx(phi, abs=1e-12)
    assert found.linear.frequencies == pytest.approx([omega * math.sin(phi) / (2 * math.pi)] * 2, rel=1e-9)
    assert found.stable is True
    assert found["left hinge.force.z"] == pytest.approx(g, abs=1e-9)


def test_governor_hanging_down_is_unstable_above_the_critical_speed() -> None:
    assert governor(speed=8.0).equilibrium(drivers="moving", nearest=True).stable is False
    assert governor(speed=5.0).equilibrium(drivers="moving").stable is True


def test_drivers_are_frozen_where_they_are_at_the_time() -> None:
    system = four_bar(1.0, 0.3, 0.9, 0.8, drive=lambda t: 1.0 + 2.0 * t)
    found = system.equilibrium(t=0.5)
    assert found["A.angle"] == pytest.approx(2.0, abs=1e-12)
    assert np.abs(found.state.u).max() == 0.0
    # The motor holds the weights: virtual work with the heights' derivatives by the crank angle.
    moved = system.kinematics(1.0, output=[0.0, 0.5 - 1e-5, 0.5 + 1e-5, 1.0])
    rise = sum(
        (moved[f"{b}.position.y"][2] - moved[f"{b}.position.y"][1]) / 4e-5
        for b in ("crank", "coupler", "rocker")
    )
    assert found["motor.effort"] == pytest.approx(g * rise, rel=1e-7)


@pytest.mark.parametrize(("push", "stable"), [(0.5, True), (2.0, False), (3.0, False)])
def test_follower_force_has_no_potential(push: float, stable: bool) -> None:
    """Ziegler's column: stays straight along the force at any load, flutters above a critical one."""
    system = System("column", gravity=(0, 0, 0))
    lower = system.body("lower", mass=1.0, inertia=(0.1,) * 3, at=(0, 1, 0))
    upper = system.body("upper", mass=1.0, inertia=(0.1,) * 3, at=(0, 2, 0))
    system.revolute("foot", system.ground, lower, at=(0, 0, 0), axis="z")
    system.revolute("knee", lower, upper, at=(0, 1, 0), axis="z")
    system.torsion_spring("foot spring", "foot", stiffness=1.0, free_angle=0.2)
    system.torsion_spring("knee spring", "knee", stiffness=1.0)
    system.applied_force("thrust", upper, lambda: (0.0, -push, 0.0), axes="body")
    found = system.equilibrium()
    assert found["foot.angle"] == pytest.approx(0.2, abs=1e-12)
    assert found["knee.angle"] == pytest.approx(0.0, abs=1e-12)
    assert found.stable is stable


def test_stiff_and_soft_freedoms_together() -> None:
    """A bushing of 1e7 N/m sags by m g / k; a pendulum hangs from it."""
    system = System("bushing")
    block = system.body("block", mass=5.0, inertia=(0.1,) * 3)
    bob = system.body("bob", mass=1.0, inertia=(0.01,) * 3, at=(1, 0, 0))
    system.free("block joint", system.ground, block)
    system.bushing("rubber", system.ground.frame(), block, stiffness=(1e7,) * 3 + (1e3,) * 3)
    system.revolute("hinge", block, bob, at=(0, 0, 0), axis="y")
    found = system.equilibrium()
    assert found["hinge.angle"] == pytest.approx(math.pi / 2, abs=1e-12)
    assert found["block.position"] == pytest.approx((0, 0, -6 * g / 1e7), abs=1e-15)
    assert found.linear.frequencies[0] == pytest.approx(math.sqrt(g / 1.01) / (2 * math.pi), rel=1e-2)
    assert found.stable is True


def test_nothing_holds_a_free_body() -> None:
    system = System("stone")
    stone = system.body("stone", mass=1.0, inertia=(1, 1, 1))
    system.free("air", system.ground, stone)
    with pytest.raises(NoEquilibrium, match=r"translation_z.*9\.81 N"):
        system.equilibrium()


def test_floating_body_without_forces_is_neutral() -> None:
    system = System("stone", gravity=(0, 0, 0))
    system.free("air", system.ground, system.body("stone", mass=1.0, inertia=(1, 2, 2)))
    found = equilibrium(system)
    assert found.stable is None
    assert len(found.neutral) == 6
