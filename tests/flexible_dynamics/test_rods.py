"""Rods in mechanisms: loops, formulations, energy, section forces, files and results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ellipe, ellipk

from bellcrank import files, load_result
from bellcrank.errors import AssemblyError, ModelError, SingularMechanism
from bellcrank.flexible import STEEL, Material, circle, rectangle, rod
from bellcrank.model import System
from flexible_dynamics.test_formulations import agree

RUBBER = Material(1e7, density=1000.0)


def loop() -> System:
    """A rod hung on its end and a curved one in a closed loop in space."""
    system = System("loop", gravity=(0.0, -9.81, 0.0))
    first = system.flexible_body(
        "first",
        rod("first", 1.0, circle(0.04), RUBBER, bending=2, torsion=1, stretch=1, stations={"mid": 0.4}),
    )
    member = rod("second", 1.0, circle(0.04), RUBBER, bending=2, torsion=1, curvature=(0.0, 0.0, 0.3))
    second = system.flexible_body("second", member, at=(0.0, 0.0, 0.0), angle=np.pi)
    system.revolute("wall", system.ground.point(1.0, 0.0, 0.0), first.node("end"), axis="z")
    system.spherical("joint", first.node("start"), second.node("start"))
    tip = second.node("end").start_position()
    system.distance("stay", second.node("end"), system.ground.point(*np.add(tip, (0.0, 1.0, 0.1))))
    system.applied_force("pull", first.node("mid"), lambda t: (0.0, 0.0, t), axes="body")
    return system


def test_all_formulations_agree() -> None:
    agree(loop(), spread=0.3)


def test_a_rod_that_bends_in_a_plane_flies_in_space() -> None:
    """Its plane turns with it: momentum and energy stay."""
    system = System("flight", gravity=(0.0, 0.0, 0.0))
    member = rod("rod", 1.0, circle(0.04), RUBBER, bending=(0, 3), torsion=0, curvature=(0.0, 0.0, 0.5))
    body = system.flexible_body("rod", member)
    system.free("loose", system.ground, body.node("start"))
    start = {
        "loose": {"velocity": (1.0, 2.0, -0.5), "angular_velocity": (3.0, 4.0, 5.0)},
        "rod": {"bending_z 1": (0.6, 0.5)},
    }
    run = system.simulate(0.1, tolerance=1e-11, output=10, initial=start)
    for name in ("momentum", "angular_momentum", "energy.total"):
        values = run[name].to_numpy()
        assert np.ptp(values, axis=0).max() < 1e-9 * np.abs(values).max(), name
    assert np.ptp(run["rod.strain_energy"]) > 1e-2 * run["energy.total"][0]


def cantilever(**options: object) -> System:
    """A rod on a wall."""
    system = System("cantilever", gravity=(0.0, -9.81, 0.0))
    member = rod("rod", 1.0, circle(0.01), STEEL, bending=(0, 3), torsion=0, **options)  # type: ignore[arg-type]
    body = system.flexible_body("rod", member)
    system.fixed("wall", system.ground, body.node("start"))
    return system


def test_a_straight_rod_between_two_walls_needs_stretch() -> None:
    """Without it the loop is singular, which is said; with it the rod vibrates as a clamped beam does."""

    def clamped(stretch: int) -> System:
        system = System("clamped", gravity=(0.0, 0.0, 0.0))
        member = rod("rod", 1.0, circle(0.01), STEEL, bending=(0, 6), torsion=0, stretch=stretch)
        body = system.flexible_body("rod", member)
        system.fixed("left", system.ground, body.node("start"))
        system.fixed("right", system.ground.point(1.0, 0.0, 0.0), body.node("end"))
        return system

    with pytest.raises(SingularMechanism, match=r"give rod 'rod' a coordinate of stretch \(stretch=1\)"):
        clamped(0).linearize()
    wave = np.sqrt(STEEL.young * circle(0.01).bending_z / (STEEL.density * circle(0.01).area))
    lowest = min(2.0 * np.pi * float(mode.frequency) for mode in clamped(1).linearize().modes)
    # cos k cosh k = 1.
    assert lowest == pytest.approx(4.730040745**2 * wave, rel=1e-3)


@pytest.mark.parametrize("clamped", [False, True])
def test_a_straight_rod_between_two_pins_needs_stretch(clamped: bool) -> None:
    """It cannot bend: the equation that its straight pose seems to imply is needed, whatever gravity says."""
    system = System("pinned")
    member = rod("rod", 1.0, circle(0.01), RUBBER, bending=(3, 0), torsion=0)
    body = system.flexible_body("rod", member)
    if clamped:
        system.fixed("left", system.ground, body.node("start"))
    else:
        system.revolute("left", system.ground, body.node("start"), axis="y")
    system.revolute("right", system.ground.point(1.0, 0.0, 0.0), body.node("end"), axis="y")
    with pytest.raises(SingularMechanism, match=r"give rod 'rod' a coordinate of stretch \(stretch=1\)"):
        system.simulate(0.1)


def test_rods_bend_to_close_their_loops() -> None:
    """A straight strip between pins nearer than its length: elastica, distance 2 E / K - 1; sensitivities follow."""
    system = System("arch", gravity=(0.0, 0.0, 0.0))
    width = system.parameter("width", 0.9)
    member = rod(
        "strip", 1.0, rectangle(0.02, 0.002), STEEL, bending=(0, 5), torsion=0, stations={"middle": 0.5}
    )
    body = system.flexible_body("strip", member)
    system.revolute("left", system.ground, body.node("start"), axis="z")
    system.revolute("right", system.ground.point(width, 0.0, 0.0), body.node("end"), axis="z")
    mechanism = system.mechanism()
    place = mechanism.equilibrium()["strip.middle.position"]
    m = brentq(lambda m: 2.0 * ellipe(m) / ellipk(m) - 1.0 - 0.9, 0.01, 0.9)
    assert abs(place[1]) == pytest.approx(np.sqrt(m) / ellipk(m), rel=1e-3)

    end = "strip.middle.position.y"
    found = system.sensitivity(1e-3, outputs=[end], by=["width"], tolerance=1e-9)
    apart = [
        system.simulate(1e-3, tolerance=1e-9, parameters={"width": 0.9 + h})[end].to_numpy()[-1]
        for h in (1e-5, -1e-5)
    ]
    assert float(np.ravel(found.derivatives)[-1]) == pytest.approx((apart[0] - apart[1]) / 2e-5, rel=1e-5)


def test_drivers_set_rods_in_motion_from_the_start() -> None:
    system = System("shaken", gravity=(0.0, 0.0, 0.0))
    member = rod("rod", 1.0, circle(0.01), RUBBER, bending=(3, 0), torsion=0, stretch=1)
    body = system.flexible_body("rod", member)
    system.fixed("wall", system.ground, body.node("start"))
    ram = system.body("ram", 1.0, (1e-2,) * 3, at=(0.5, 0.0, 0.0))
    system.prismatic("slide", system.ground, ram, axis="z", at=(0.5, 0.0, 0.0))
    system.spherical("ball", body.node(0.5), ram)
    system.driver("slide", lambda t: 0.2 * t)
    mechanism = system.mechanism()
    assert mechanism.start.u[-1] == pytest.approx(0.2)
    still = {f"bending_y {k}_rate": 0.0 for k in (1, 2, 3)}
    with pytest.raises(AssemblyError, match="given rates do not fit together"):
        system.simulate(0.1, initial={"rod": still})


def test_axes_that_are_said_come_before_those_of_sections() -> None:
    """The sections of a quarter of a circle, which is twisted as well, are turned; a hinge about y is one about y."""

    def swinging(said: bool) -> float:
        system = System("arc")
        member = rod("arc", 0.6, circle(0.01), RUBBER, curvature=(1.0, -2.5, 0.0), bending=1, torsion=0)
        body = system.flexible_body("arc", member)
        system.fixed("wall", system.ground, body.node("start"))
        end = body.node("end")
        bob = system.body("bob", 0.1, (1e-4, 2e-4, 3e-4), at=np.add(end.position, (0.1, 0.0, 0.0)))
        if said:
            system.revolute("pin", end, bob, axis="y")
        else:
            turned = body.frame(end.position, [[1, 0, 0], [0, 0, 1], [0, -1, 0]])
            system.revolute("pin", turned, bob.frame((-0.1, 0.0, 0.0), [[1, 0, 0], [0, 0, 1], [0, -1, 0]]))
            system.initial("pin", 0.0)
        return float(system.simulate(0.2, tolerance=1e-9)["bob.position.z"].to_numpy()[-1])

    assert swinging(True) == pytest.approx(swinging(False), abs=1e-9)
    system = System("arc")
    body = system.flexible_body("arc", rod("arc", 0.6, circle(0.01), RUBBER, curvature=(0.0, -2.5, 0.0)))
    turned = body.frame(body.node("end").position, body.node("end").rotation)
    with pytest.raises(ModelError, match="turned twice"):
        system.revolute("pin", turned, system.body("bob", 1.0, (1.0,) * 3), axis="y")


def test_files_results_and_section_forces(tmp_path: Path) -> None:
    """Of a cantilever under its weight the moment at the wall is m g L / 2; all of it comes back from files."""
    system = cantilever(damping=1e-3, stations={"mid": 0.5})
    text = files.dumps(system)
    assert files.dumps(files.loads(text)) == text
    rest = files.loads(text).equilibrium()
    weight = STEEL.density * circle(0.01).area * 9.81
    moment = float(rest["rod.start.section_force.moment_z"])
    assert moment == pytest.approx(-weight / 2.0, rel=1e-3)
    stress = np.abs(np.asarray(rest["rod.start.stress"])).max()
    assert stress == pytest.approx(abs(moment) * 0.005 / circle(0.01).bending_z, rel=1e-9)
    run = system.simulate(0.01, output=5)
    run.save(tmp_path / "run.h5")
    again = load_result(tmp_path / "run.h5")
    for name in ("rod.end.position", "rod.mid.section_force", "energy.total"):
        assert np.array_equal(run[name].to_numpy(), again[name].to_numpy())
    points, cells = run.deformed("rod")
    assert np.allclose(points[:, -1], run["rod.end.position"].to_numpy(), atol=1e-12)
    assert cells.shape == (points.shape[1] - 1, 2)


def test_a_curved_rod_keeps_its_frames_in_files() -> None:
    system = System("arc", gravity=(0.0, 0.0, 0.0))
    body = system.flexible_body("arc", rod("arc", 1.0, circle(0.01), STEEL, curvature=(0.0, 0.0, 2.0)))
    system.fixed("wall", system.ground, body.node("start"))
    system.applied_force("push", body.node(0.7), lambda: (1.0, 0.0, 0.0))
    again = files.loads(files.dumps(system))
    first, second = system.forces["push"].frames[0], again.forces["push"].frames[0]
    assert np.allclose(first.position, second.position, atol=0.0)
    assert np.allclose(first.rotation, second.rotation, atol=1e-15)


def pulled() -> System:
    """A rod of nine coordinates on a driven slide, pulled at its tip by a force that is a parameter."""
    system = System("pulled", gravity=(0.0, 0.0, 0.0))
    pull = system.parameter("pull", 0.2)
    member = rod("rod", 1.0, circle(0.04), RUBBER, bending=(3, 4), torsion=2, damping=0.01)
    body = system.flexible_body("rod", member)
    system.prismatic("slide", system.ground, body.node("start"), axis="z")
    system.driver("slide", lambda t: 0.1 * t * t)
    system.applied_force("force", body.node("end"), lambda: (0.0, pull, 0.1))
    return system


OUTPUTS = ("rod.modes", "rod.end.rotation", "rod.end.position")


def test_nine_coordinates_are_no_matrix() -> None:
    """In results, pictures and batches, whose runs are those of the single ones; a driver carries the start."""
    system = pulled()
    one = system.simulate(0.1, output=5, tolerance=1e-9)
    assert one["rod.modes"].to_numpy().shape == (6, 9)
    assert one["rod.end.rotation"].to_numpy().shape == (6, 3, 3)
    assert one.deformed("rod")[0].shape[0] == 6
    assert one["rod.start.position.z"].to_numpy() == pytest.approx(0.1 * one.time**2, abs=1e-14)
    many = system.simulate_many({"pull": [0.1, 0.2]}, 0.1, output=5, tolerance=1e-9, quantities=OUTPUTS)
    for name in OUTPUTS:
        assert np.allclose(many[name][1], one[name].to_numpy(), rtol=0.0, atol=1e-8), name


def test_sensitivity_is_the_difference_of_runs() -> None:
    system = pulled()
    found = system.sensitivity(0.1, outputs=["rod.end.position.y"], by=["pull"], output=2)
    runs = [
        pulled().simulate(0.1, parameters={"pull": p}, output=2, tolerance=1e-11)["rod.end.position.y"]
        for p in (0.19, 0.21)
    ]
    slope = (runs[1].to_numpy()[-1] - runs[0].to_numpy()[-1]) / 0.02
    assert found["rod.end.position.y", "pull"][-1] == pytest.approx(slope, rel=1e-4)
