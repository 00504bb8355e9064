"""Free flexible bodies keep momentum and energy; ledgers and reactions balance."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from flexible_dynamics.members import FRAMES, LENGTH, rod, slider_crank


@pytest.mark.parametrize("stiffening", [True, False])
@pytest.mark.parametrize("frame", FRAMES)
def test_a_free_body_keeps_momentum_and_energy(frame: str, stiffening: bool) -> None:
    system = bc.System("free", gravity=(0.0, 0.0, 0.0))
    body = system.flexible_body("rod", rod(frame, 4, stiffening))
    system.free("loose", system.ground.point(0.5 * LENGTH, 0, 0), body.node("middle"))
    run = system.simulate(
        0.05,
        tolerance=1e-11,
        output=50,
        initial={
            "loose": {"velocity": (1.0, 2.0, -0.5), "angular_velocity": (3.0, 4.0, 10.0)},
            "rod": {"mode 1": (2e-3, 0.5), "mode 2": (1e-3, -0.3)},
        },
    )
    for name in ("momentum", "angular_momentum"):
        values = run[name].to_numpy()
        assert np.ptp(values, axis=0).max() < 1e-9 * np.abs(values).max()
    energy = run["energy.total"]
    assert np.ptp(energy) < 1e-9 * energy[0]
    assert np.ptp(run["rod.strain_energy"]) > 1e-4 * energy[0]


def test_a_free_planar_body_keeps_momentum_and_energy() -> None:
    system = bc.System("free", gravity=(0.0, 0.0, 0.0))
    body = system.flexible_body("rod", rod("chord", 3, planar=True))
    system.planar("loose", system.ground, body.node("start"), axis="z")
    run = system.simulate(
        0.05,
        tolerance=1e-11,
        initial={"loose": {"x": (0, 1.0), "angle": (0, 20.0)}, "rod": {"mode 1": (1e-3, 0.2)}},
    )
    assert np.ptp(run["momentum"], axis=0).max() < 1e-9
    assert np.ptp(run["angular_momentum"], axis=0).max() < 1e-9
    assert np.ptp(run["energy.total"]) < 1e-9 * run["energy.total"][0]


def test_reactions_on_nodes_balance_the_momentum_of_the_body() -> None:
    """m a_c = weight + both pins, and the ledger closes, with a driven crank."""
    member = rod("chord", 3, planar=True)
    system = slider_crank(member)
    system.driver(system.joints["main"], lambda t: 30.0 * t, name="motor")
    run = system.simulate(0.05, tolerance=1e-11, output=100)
    weight = np.array([0.0, -9.81, 0.0])
    pins = run["pin.force"] - run["wrist.force"]
    left = member.mass * (run["rod.center_acceleration"] - weight) - pins
    assert np.abs(left).max() < 1e-9 * np.abs(run["pin.force"]).max()
    assert run.ledger.relative_residual < 1e-6
    slider = 0.5 * (run["slider.acceleration"] - weight) - run["wrist.force"] - run["guide.force"]
    assert np.abs(slider).max() < 1e-9 * np.abs(run["pin.force"]).max()


def test_a_wall_carries_the_weight_of_a_cantilever() -> None:
    member = rod("clamped", 4)
    system = bc.System("cantilever", gravity=(0.0, 0.0, -9.81))
    body = system.flexible_body("rod", member)
    system.fixed("wall", system.ground.point(0, 0, 0), body.node("start"))
    rest = system.equilibrium()
    weight = member.mass * 9.81
    np.testing.assert_allclose(rest["wall.force"], [0, 0, weight], atol=1e-9 * weight)
    np.testing.assert_allclose(rest["wall.torque"], [0, -weight * LENGTH / 2, 0], atol=1e-6 * weight)
    run = system.simulate(0.02, tolerance=1e-11, output=20)
    left = member.mass * (run["rod.center_acceleration"] + np.array([0, 0, 9.81])) - run["wall.force"]
    assert np.abs(left).max() < 1e-9 * weight


def test_damping_of_modes_shows_in_the_ledger() -> None:
    from bellcrank.flexible import NormalModes, Ratios, beam, rectangle
    from flexible_dynamics.members import ALLOY

    model = beam("rod", LENGTH, rectangle(0.02, 0.03), ALLOY, 6)
    member = model.reduce(NormalModes(3), FRAMES["clamped"], damping=Ratios(0.05))
    system = bc.System("damped", gravity=(0.0, 0.0, -9.81))
    body = system.flexible_body("rod", member)
    system.fixed("wall", system.ground.point(0, 0, 0), body.node("start"))
    run = system.simulate(0.3, tolerance=1e-10, output=600)
    assert run["energy.total"][-1] < run["energy.total"][0]
    assert run.ledger.relative_residual < 1e-5
